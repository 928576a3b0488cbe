"""Scores in [0, 1] and their order (specification §66.4).

Keyword: the BM25 sum of the query's tokens, divided by what a document would get that had each of them without
end, so that it is a share of the query. It fills [0, 0.7]; a name, alias or key that begins with the query, at
one of its words, is above that, and one that is the query is above those. Semantic: the cosine. Hybrid: the mean
of both. Equal scores stand in the order of creation.
"""

from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from kipql.search.fold import phrase

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kipql.limits import Budget
    from kipql.search.corpus import Corpus, Layer

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int32]

WORDS, PREFIX = 0.7, 0.9  # where the tiers begin that lie above matching words
DIGITS = 6


class Hits(NamedTuple):
    """Rows and scores, best first: the first of `total`."""

    rows: "Sequence[int]"
    scores: "Sequence[float]"
    total: int
    mode: str


def keyword_scores(corpus: "Corpus", weights: "Mapping[str, float]", term: str, budget: "Budget") -> list[Floats]:
    """The keyword score of every entry, layer by layer; 0 where nothing of the query is found."""
    found = [np.zeros(layer.length) for layer in corpus.layers]
    whole = 0.0
    for token, weight in weights.items():
        matches = [_matches(layer, token) for layer in corpus.layers]
        frequency = sum(len(entries) for entries, _ in matches)
        budget.spend(frequency + 1)
        rarity = weight * log(1 + (corpus.size - frequency + 0.5) / (frequency + 0.5))
        whole += rarity
        for scores, layer, (entries, counts) in zip(found, corpus.layers, matches, strict=True):
            scores[entries] += rarity * counts / (counts + layer.norms[entries])
    name = phrase(term)
    for scores, layer in zip(found, corpus.layers, strict=True):
        if whole:
            scores *= WORDS / whole
        if name:
            _lift(scores, layer, name, budget)
    return found


def _matches(layer: "Layer", token: str) -> tuple[Rows, Rows]:
    """The entries that have a token, and how often."""
    posting = layer.segment.postings.get(token)
    if posting is None:
        return _NONE, _NONE
    entries = np.frombuffer(posting.entries, dtype=np.int32)
    counts = np.frombuffer(posting.counts, dtype=np.int32)
    if len(entries) and entries[-1] >= layer.length:
        known = int(np.searchsorted(entries, layer.length))
        entries, counts = entries[:known], counts[:known]
    if layer.alive is None:
        return entries, counts
    alive = layer.alive[entries]
    return entries[alive], counts[alive]


def _lift(scores: Floats, layer: "Layer", name: str, budget: "Budget") -> None:
    """Put exact and prefix matches of names above the rest, in the order of their words' score."""
    names = layer.segment.names
    exact = _entries(layer, [names.exact(name)])
    starting = names.starting(name)
    budget.spend(sum(map(len, starting)))
    prefixed = np.setdiff1d(_entries(layer, starting), exact)
    scores[prefixed] = WORDS + scores[prefixed] / WORDS * (PREFIX - WORDS)
    scores[exact] = PREFIX + scores[exact] / WORDS * (1 - PREFIX)


def _entries(layer: "Layer", lists: "Sequence[Sequence[int]]") -> Rows:
    """The distinct alive entries of several postings."""
    if not lists:
        return _NONE
    found = np.unique(np.concatenate([np.frombuffer(part, dtype=np.int32) for part in lists]))  # type: ignore[call-overload]
    found = found[: int(np.searchsorted(found, layer.length))]
    return found if layer.alive is None else found[layer.alive[found]]


def best(
    corpus: "Corpus", found: "Sequence[Floats]", mode: str, *, only: Rows | None, least: float, most: int | None
) -> Hits:
    """The hits in order: those above 0, of rows in `only`, of at least `least`; `most` of them.

    Scores are rounded before they are compared with anything, so that what is shown is what decides.
    """
    rows, scores = _candidates(corpus, found)
    if only is not None:
        wanted = np.isin(rows, only)
        rows, scores = rows[wanted], scores[wanted]
    if least > 0:
        enough = scores >= least
        rows, scores = rows[enough], scores[enough]
    total = len(scores)
    if most is not None and 0 < most < total:
        last = np.partition(scores, total - most)[total - most]
        kept = scores >= last
        rows, scores = rows[kept], scores[kept]
    order = np.lexsort((rows, -scores))[:most]
    return Hits(rows[order].tolist(), scores[order].tolist(), total, mode)


def _candidates(corpus: "Corpus", found: "Sequence[Floats]") -> tuple[Rows, Floats]:
    rows, scores = [], []
    for layer, values in zip(corpus.layers, found, strict=True):
        rounded = np.round(values, DIGITS)
        entries = np.flatnonzero(rounded > 0)
        if layer.alive is not None:
            entries = entries[layer.alive[entries]]
        rows.append(np.frombuffer(layer.segment.rows, dtype=np.int32)[entries])
        scores.append(rounded[entries])
    return np.concatenate(rows), np.concatenate(scores)


_NONE: Rows = np.zeros(0, dtype=np.int32)
