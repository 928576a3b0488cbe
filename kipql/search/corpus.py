"""What a search may find at one snapshot for one caller, and the statistics of exactly that (specification §66.4).

A hidden row, one that default recall leaves out, and a text of another time take part in nothing: not in the
number of documents, not in how many have a word, not in the average length. With full rights at a commit this is
a mask over the index, computed once per commit. A caller from whom something is withheld, and a transaction that
reads its own writes, have the rows that differ in a segment of their own, made for one search.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from kipql.model import ACTIVITY, CONCEPT, EVIDENCE
from kipql.search.documents import NOTHING, document
from kipql.search.segment import Segment

if TYPE_CHECKING:
    from kipql.limits import Budget
    from kipql.search.index import KindIndex
    from kipql.store.view import View

K1, B = 0.9, 0.4
_ALONE = (CONCEPT, EVIDENCE, ACTIVITY)  # kinds whose documents are made of the record alone

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


class Layer(NamedTuple):
    """The first `length` entries of a segment, those of `alive` (None: all of them)."""

    segment: Segment
    length: int
    alive: Mask | None
    norms: Floats
    own: bool  # made for one search


class Corpus(NamedTuple):
    """The documents that can be found. `size` is their number."""

    size: int
    layers: tuple[Layer, ...]


def corpus_of(kind_index: "KindIndex", view: "View", stored: "View", budget: "Budget") -> Corpus:
    """The corpus of a view; `stored` is the store's own at its last commit: `view` itself with full rights."""
    kind_index.advance(stored, budget)
    settled = view is stored or (view.graph is not stored.graph and view.seq == stored.seq)
    known = kind_index.kept(view) if settled else None
    if known is None:
        known = _whole(kind_index, view) if view is stored else _narrowed(kind_index, view, stored, budget)
        if settled:
            kind_index.keep(view, known)
    return known


def _whole(kind_index: "KindIndex", view: "View") -> Corpus:
    segment = kind_index.segment
    alive = _alive(segment, view.seq)
    out = view.left_out(kind_index.kind)
    if out:
        alive &= ~_rows_in(segment, out)
    return _weighed([(segment, alive, False)])


def _narrowed(kind_index: "KindIndex", view: "View", stored: "View", budget: "Budget") -> Corpus:
    """Rows whose text the index knows as the caller sees it stay in its segment; the others get one of their own."""
    kind, base, own = kind_index.kind, kind_index.segment, Segment()
    out = view.left_out(kind) or frozenset()
    shown = []
    for row in view.rows(kind):
        budget.spend(8)
        code = row * 8 + kind
        if row in out or not view.exists(code):
            continue
        seen = view.record(code)
        held = stored.record(code) if stored.exists(code) else None
        made = None if seen is held and kind in _ALONE else document(view, seen)
        if held is not None and (made is None or made == document(stored, held)):
            shown.append(row)
        else:
            own.add(row, view.seq, made or NOTHING, kind_index.analyzer)
    alive = _alive(base, stored.seq) & _rows_in(base, shown)
    parts = [(base, alive, False)]
    if len(own):
        parts.append((own, np.ones(len(own), dtype=np.bool_), True))
    return _weighed(parts)


def _alive(segment: Segment, seq: int) -> Mask:
    """Which entries hold at a sequence."""
    starts = np.frombuffer(segment.starts, dtype=np.int64)
    ends = np.frombuffer(segment.ends, dtype=np.int64)
    alive: Mask = (starts <= seq) & (ends > seq)
    return alive


def _rows_in(segment: Segment, rows: Collection[int]) -> Mask:
    """Which entries are of these rows."""
    return np.isin(np.frombuffer(segment.rows, dtype=np.int32), np.fromiter(rows, np.int32, len(rows)))


def _weighed(parts: list[tuple[Segment, Mask, bool]]) -> Corpus:
    """The corpus with its length norms: `k1 * (1 - b + b * length / average length)`."""
    lengths = [np.frombuffer(segment.lengths, dtype=np.int32) for segment, _, _ in parts]
    size = sum(int(mask.sum()) for _, mask, _ in parts)
    words = sum(int(length[mask].sum()) for (_, mask, _), length in zip(parts, lengths, strict=True))
    average = words / size if words else 1.0
    layers = []
    for (segment, mask, own), length in zip(parts, lengths, strict=True):
        norms: Floats = (K1 * (1 - B + B * length / average)).astype(np.float64)
        layers.append(Layer(segment, len(mask), None if mask.all() else mask, norms, own))
    return Corpus(size, tuple(layers))
