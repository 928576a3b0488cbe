"""The search index of one Space: a segment per kind, made when first searched, then kept up (specification §66.5).

It follows the commits: rows that are new, and older ones whose text a commit changed. A search brings it to its
own snapshot first, so it never lags (`index_seq` is the snapshot). What an erasure takes out of the store leaves
the index at once: the segments that could hold it are dropped and made again from what is left, and so are its
vectors (§60.3).
"""

from array import array
from collections.abc import Iterable, Iterator
from itertools import takewhile
from threading import RLock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, ref

from kipql.model import ASSERTION, PROPOSITION, AnyRecord
from kipql.search.analysis import Analyzer
from kipql.search.documents import Document, document
from kipql.search.segment import Segment
from kipql.search.vectors import Embedder, Vectors
from kipql.store.postings import appended

if TYPE_CHECKING:
    from kipql.limits import Budget
    from kipql.search.corpus import Corpus
    from kipql.store.graph import Graph
    from kipql.store.view import View

_QUOTING = {PROPOSITION: (ASSERTION,)}  # kinds whose documents hold the text of another
_CORPORA = 8  # snapshots whose statistics are kept


class KindIndex:
    """The documents of one kind up to commit `seq`. Use it while holding `lock`."""

    __slots__ = ("_bound", "_corpora", "_latest", "_seq", "analyzer", "kind", "lock", "segment")

    def __init__(self, kind: int) -> None:
        self.kind = kind
        self.segment = Segment()
        self.analyzer = Analyzer()
        self._corpora: dict[tuple[int, int], tuple[ref[Graph], Corpus]] = {}
        self.lock = RLock()
        self._bound = 0
        self._seq = 0
        self._latest: array[int] = array("i")  # row -> the entry of its newest text

    def advance(self, view: "View", budget: "Budget") -> None:
        """Take in everything up to the commit `view` is at. Raises ExecutionTimeout; then a next call goes on."""
        if view.seq <= self._seq:
            return
        bound = view.bounds[self.kind]
        for row in self._changed(view):
            self._change(view, row)
        fresh = not self._bound
        try:
            for row in range(self._bound, bound):
                budget.spend(8)
                self._add(view, row, fresh)
                self._bound = row + 1
        finally:
            if fresh:
                self.segment.names.sort()
        self._seq = view.seq

    def kept(self, view: "View") -> "Corpus | None":
        """The statistics of a snapshot as one caller sees it, where they are still known."""
        found = self._corpora.get((id(view.graph), view.seq))
        return found[1] if found is not None and found[0]() is view.graph else None

    def keep(self, view: "View", corpus: "Corpus") -> None:
        """Remember the statistics of a snapshot as one caller sees it: whose it is, its graph tells."""
        if len(self._corpora) >= _CORPORA:
            del self._corpora[next(iter(self._corpora))]
        self._corpora[id(view.graph), view.seq] = (ref(view.graph), corpus)

    def _add(self, view: "View", row: int, fresh: bool) -> None:
        graph, kind = view.graph, self.kind
        states = list(_states(view, row * 8 + kind))[::-1]
        created = graph.history.created_in(kind, row)
        known = document(view, states[0])
        entry = self.segment.add(row, created, known, self.analyzer, fresh=fresh)
        for state in states[1:]:
            found = document(view, state)
            if found != known:
                known, entry = found, self._replace(entry, row, state.seq, found, fresh)
        self._latest = appended(self._latest, entry)

    def _changed(self, view: "View") -> Iterable[int]:
        """The rows known here that changed since the index last moved, each once."""
        if not self._bound:
            return ()
        changed = view.graph.history.changed
        codes = (code for seq in range(self._seq + 1, view.seq + 1) for code in changed(seq))
        return dict.fromkeys(code >> 3 for code in codes if code & 7 == self.kind and code >> 3 < self._bound)

    def _change(self, view: "View", row: int) -> None:
        """Take in the states of a row since the index last moved; what an interrupted move took in stays."""
        entry = self._latest[row]
        since = max(self._seq, self.segment.starts[entry])
        states = list(takewhile(lambda state: state.seq > since, _states(view, row * 8 + self.kind)))[::-1]
        before: AnyRecord | None = states[0].prev if states else None  # type: ignore[assignment]
        known = None if before is None else document(view, before)
        for state in states:
            found = document(view, state)
            if found != known:
                known, entry = found, self._replace(entry, row, state.seq, found, False)
        self._latest[row] = entry

    def _replace(self, entry: int, row: int, seq: int, found: Document, fresh: bool) -> int:
        self.segment.ends[entry] = seq
        return self.segment.add(row, seq, found, self.analyzer, fresh=fresh)


class Index:
    """The search index of one Space. `embedder` makes it able to search by meaning."""

    __slots__ = ("__weakref__", "_kinds", "embedder", "vectors")

    def __init__(self) -> None:
        self.embedder: Embedder | None = None
        self.vectors = Vectors()
        self._kinds: dict[int, KindIndex] = {}

    def of_kind(self, kind: int) -> KindIndex:
        """The index of a kind, possibly empty."""
        return self._kinds.setdefault(kind, KindIndex(kind))

    def erased(self, code: int) -> None:
        """The store has erased an element, or its payload. A search that is under way keeps what it holds; it
        ends, and with it the last reference."""
        self._kinds.pop(code & 7, None)
        self.vectors.forget(code & 7, code >> 3)
        for kind in _QUOTING.get(code & 7, ()):
            self._kinds.pop(kind, None)
            self.vectors.forget(kind)

    def drop(self, kind: int) -> None:
        """Forget the documents of a kind; the next search makes them again."""
        self._kinds.pop(kind, None)


_INDEXES: "WeakKeyDictionary[Graph, Index]" = WeakKeyDictionary()
_MAKING = RLock()


def index_of(graph: "Graph") -> Index:
    """The index of a Space's graph, made when there is none yet."""
    found = _INDEXES.get(graph)
    if found is None:
        with _MAKING:
            found = _INDEXES.get(graph)
            if found is None:
                found = _INDEXES[graph] = Index()
                graph.on_erasure.append(found.erased)
    return found


def _states(view: "View", code: int) -> Iterator[AnyRecord]:
    """The states of an element up to the view's commit, newest first."""
    record: AnyRecord | None = view.record(code)
    while record is not None:
        yield record
        record = record.prev  # type: ignore[assignment]
