"""Slots: from a subject and a Predicate lineage to the first Proposition row, which names the slot (§25.1).

The slots of a subject are a chain through two int arrays, newest first: eight bytes a slot, and a snapshot holds
them as they are. The dict is only a memory of look-ups: `slots[key]` finds what was asked before at the speed of a
dict, anything else walks the chain. A subject with a long chain gets a dict of its own.

Generated readers remember in tables besides, an int array for a Predicate lineage by the row of a Concept: one line of
memory where the dict takes four. They are filled by what is asked for and come to eight bytes a Proposition at most.
"""

import threading
from array import array
from typing import TYPE_CHECKING

from kipql.store.postings import appended, truncated

if TYPE_CHECKING:
    from kipql.store.columns import Propositions
    from kipql.store.symbols import Symbols

LINEAGES = 20  # bits of a lineage number in a key
_LINEAGE = (1 << LINEAGES) - 1
_LONG = 24  # slots of one subject beyond which it gets a dict
_MOST = 1 << 16  # look-ups that are remembered
_KINDS = 5
UNKNOWN = -2  # in a table: not asked for yet
_CELLS = 1 << 18  # of all tables, however few Propositions there are


class Slots(dict[int, int]):
    """`slots[key]` is the row, -1 when there is no such slot; a key is `subject << LINEAGES | lineage`.

    A row past what a reader may see can come out: it has no rows below the reader's bound. `settled` is how many
    Propositions are committed: only those are remembered, since a rollback takes the others back.
    """

    __slots__ = ("_epoch", "_firsts", "_lock", "_made", "_nexts", "_rows", "_symbols", "_tables", "_wide", "settled")

    def __init__(self, tables: "Propositions", symbols: "Symbols") -> None:
        super().__init__()
        self._tables = tables
        self._symbols = symbols
        self._firsts: list[array[int]] = [array("i") for _ in range(_KINDS)]  # subject row -> its newest slot
        self._nexts: array[int] = array("i")  # slot -> the next older one of its subject; -1 ends
        self._wide: dict[int, dict[int, int]] = {}
        self._epoch = 0  # rollbacks
        self._made = 0  # slots ever made
        self._rows: dict[int, array[int]] = {}  # lineage -> Concept row -> slot
        self._lock = threading.Lock()
        self.settled = 0

    def __missing__(self, key: int) -> int:
        made = self._made
        row = self.find(key >> LINEAGES, key & _LINEAGE)
        if row < self.settled:
            with self._lock:
                if row >= 0 or made == self._made:  # nothing was found, and nothing was made meanwhile
                    if len(self) >= _MOST:
                        self.clear()
                    self[key] = row
        return row

    def get(self, key: int, default: int | None = None) -> int | None:  # type: ignore[override]
        """The row, or the default."""
        row = self[key]
        return default if row < 0 else row

    def find(self, subject: int, lineage: int) -> int:
        """The row of a slot, -1 when there is none."""
        while True:
            epoch = self._epoch
            try:
                row = self.walk(subject, lineage)
            except IndexError:
                if epoch == self._epoch:
                    raise
                continue  # a rollback took the rows away meanwhile
            if epoch == self._epoch:
                return row

    def table(self, lineage: int, bound: int) -> "array[int]":
        """The slots of a lineage by the row of a Concept, for generated readers: UNKNOWN until `look` was asked.
        Shorter than `bound` where it would take too much room."""
        with self._lock:
            rows = self._rows.get(lineage, array("i"))
            missing = bound - len(rows)
            most = max(_CELLS, 2 * len(self._tables.subjects))
            if missing > 0 and sum(map(len, self._rows.values())) + missing <= most:
                rows.extend(array("i", (UNKNOWN,)) * missing)
                self._rows[lineage] = rows
            return rows

    def look(self, subject: int, lineage: int) -> int:
        """`find` for a Concept, remembered in the table of the lineage."""
        made = self._made
        row = self.find(subject, lineage)
        if row < self.settled and not subject & 7:
            with self._lock:
                if row >= 0 or made == self._made:
                    self._note(subject, lineage, row)
        return row

    def _note(self, subject: int, lineage: int, row: int) -> None:
        rows = self._rows.get(lineage)
        if rows is not None and not subject & 7 and subject >> 3 < len(rows):
            rows[subject >> 3] = row

    def put(self, subject: int, lineage: int, row: int, slot: int) -> int:
        """The slot of a new Proposition: the one that `find` found, or `row` itself when it is the first."""
        if slot >= 0:
            self._nexts = appended(self._nexts, -1)
            return slot
        firsts, at = self._firsts[subject & 7], subject >> 3
        with self._lock:
            if at >= len(firsts):
                firsts.extend(array("i", (-1,)) * (at + 1 - len(firsts)))
            self._nexts = appended(self._nexts, firsts[at])
            firsts[at] = row
            self._made += 1
            if self:
                self.pop(subject << LINEAGES | lineage, None)
            if self._rows:
                self._note(subject, lineage, row)
            if self._wide and (wide := self._wide.get(subject)) is not None:
                wide[lineage] = row
        return row

    def drop(self, subject: int, lineage: int, row: int) -> None:
        """The newest Proposition is taken back."""
        with self._lock:
            self._epoch += 1
            firsts, at = self._firsts[subject & 7], subject >> 3
            if firsts[at] == row:
                firsts[at] = self._nexts[row]
                self._wide.get(subject, {}).pop(lineage, None)
                self._note(subject, lineage, UNKNOWN)
            self.pop(subject << LINEAGES | lineage, None)
            self._nexts = truncated(self._nexts, row)

    def freeze(self) -> "tuple[list[array[int]], array[int]]":
        """The arrays, for a snapshot."""
        return self._firsts, self._nexts

    def thaw(self, firsts: "list[array[int]]", nexts: "array[int]") -> None:
        """Take up the arrays of a snapshot."""
        self._firsts, self._nexts, self.settled = firsts, nexts, len(nexts)

    def walk(self, subject: int, lineage: int) -> int:
        """`find` for the writer, whom no rollback overtakes."""
        kind = subject & 7
        if subject < 0 or kind >= _KINDS:
            return -1
        firsts, at = self._firsts[kind], subject >> 3
        if at >= len(firsts):
            return -1
        row = firsts[at]
        predicates, lineages, nexts = self._tables.predicates, self._symbols.lineage_of, self._nexts
        steps = _LONG
        while row >= 0 and lineages[predicates[row]] != lineage:
            row = nexts[row]
            steps -= 1
            if not steps:
                return self._indexed(subject).get(lineage, -1)
        return row

    def _indexed(self, subject: int) -> dict[int, int]:
        found = self._wide.get(subject)
        if found is not None:
            return found
        with self._lock:
            predicates, lineages = self._tables.predicates, self._symbols.lineage_of
            made: dict[int, int] = {}
            row = self._firsts[subject & 7][subject >> 3]
            while row >= 0:
                made[lineages[predicates[row]]] = row
                row = min(self._nexts[row], row - 1)  # older ones have lower rows
            return self._wide.setdefault(subject, made)
