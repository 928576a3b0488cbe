"""Second look-ups where one key has many Propositions: the objects of a large slot, the lineages at a popular object.

Up to `FEW` rows are scanned. Beyond, a slot gets a dict from object to row, an object one from lineage to rows;
after a memory opens they are made again for the keys that are asked for. One mutex orders the making, which a reader
may do, against the writer; looking up needs none.
"""

import threading
from array import array

from kipql.store.columns import Propositions
from kipql.store.postings import Dense, Rows, Terms, appended, truncated
from kipql.store.symbols import Symbols

FEW = 16
_ALL = 1 << 60


class Crowds:
    """`objects` by slot and `lineages` by term, of those that have one already."""

    __slots__ = ("_incoming", "_lock", "_slots", "_symbols", "_tables", "lineages", "objects")

    def __init__(self, tables: Propositions, symbols: Symbols, slots: Dense, incoming: Terms) -> None:
        self._tables = tables
        self._symbols = symbols
        self._slots = slots
        self._incoming = incoming
        self._lock = threading.Lock()
        self.objects: dict[int, dict[int, int]] = {}
        self.lineages: dict[int, dict[int, array[int]]] = {}

    def objects_of(self, slot: int, rows: Rows) -> dict[int, int] | None:
        """Object -> its first Proposition in the slot; None for one with few `rows`."""
        known = self.objects.get(slot)
        return known if known is not None or len(rows) <= FEW else self._make_objects(slot)

    def lineages_of(self, term: int, rows: Rows) -> "dict[int, array[int]] | None":
        """Lineage -> the Propositions that have the term as their object; None for one with few `rows`."""
        known = self.lineages.get(term)
        return known if known is not None or len(rows) <= FEW else self._make_lineages(term)

    def noted(self, slot: int, term: int, lineage: int, row: int, beside: int, around: int) -> None:
        """A new Proposition is in the postings, one of `beside` in its slot and of `around` at its object."""
        if beside > FEW:
            with self._lock:
                known = self.objects.get(slot)
                if known is not None:
                    known.setdefault(term, row)
        if around > FEW:
            with self._lock:
                held = self.lineages.get(term)
                if held is not None:
                    _append(held, lineage, row)

    def dropped(self, slot: int, term: int, lineage: int, row: int) -> None:
        """The newest Proposition is out of the postings."""
        with self._lock:
            known = self.objects.get(slot)
            if known is not None and known.get(term) == row:
                del known[term]
            held = self.lineages.get(term)
            if held is not None and lineage in held and held[lineage] and held[lineage][-1] == row:
                held[lineage] = truncated(held[lineage], len(held[lineage]) - 1)

    def blanked(self, slot: int, term: int, lineage: int, row: int) -> None:
        """A purge takes the object of a Proposition away."""
        with self._lock:
            if self.objects.get(slot, {}).get(term) == row:
                del self.objects[slot][term]
            held = self.lineages.get(term)
            if held is not None and lineage in held:
                held[lineage] = array("i", [other for other in held[lineage] if other != row])

    def _make_objects(self, slot: int) -> dict[int, int]:
        with self._lock:
            objects, made = self._tables.objects, dict[int, int]()
            for row in self._slots.get(slot, _ALL):
                made.setdefault(objects[row], row)
            return self.objects.setdefault(slot, made)

    def _make_lineages(self, term: int) -> "dict[int, array[int]]":
        with self._lock:
            predicates, lineage_of = self._tables.predicates, self._symbols.lineage_of
            made: dict[int, array[int]] = {}
            for row in self._incoming.get(term, _ALL):
                _append(made, lineage_of[predicates[row]], row)
            return self.lineages.setdefault(term, made)


def _append(held: "dict[int, array[int]]", lineage: int, row: int) -> None:
    rows = held.get(lineage)
    if rows is None:
        held[lineage] = array("i", (row,))
    elif not rows or rows[-1] < row:
        held[lineage] = appended(rows, row)
