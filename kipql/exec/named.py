"""Rows that a caller names by a key, or by the id of a subject, as one head has them (`heads.Memory`).

A look-up of this kind goes through four to six tables, each in a page of memory of its own; asked again it is one.
"""

from typing import TYPE_CHECKING

from kipql.exec.heads import Memory, Shared
from kipql.exec.unready import CODES, admitted
from kipql.store.postings import NO_ROWS, Rows

if TYPE_CHECKING:
    from kipql.store.view import View

FEW = 64  # rows of a posting that are held


class SubjectRows(Memory[Rows | None]):
    """Propositions of a Predicate by the id of their subject; None where there are many."""

    def find(self, text: str) -> Rows | None:
        graph = self.head.graph
        slot = graph.slots.look(CODES[text], self.number)
        rows = NO_ROWS if slot < 0 else graph.slot_propositions.get(slot, self.head.bounds[1])
        return tuple(rows) if len(rows) <= FEW else None


class KeyRows(Memory[Rows]):
    """Concepts of a Type by their key."""

    def __init__(self, shared: Shared, head: "View", number: int) -> None:
        super().__init__(shared, head, number)
        graph = head.graph
        self._table, self._types, self._lineages = graph.keyed.table(), graph.types, graph.symbols.lineage_of

    def find(self, text: str) -> Rows:
        row = self._table.get(text)
        if row.__class__ is int:
            is_it = row < self.head.bounds[0] and self._lineages[self._types[row]] == self.number
            return (row,) if is_it else NO_ROWS
        key = admitted(text)
        if key.__class__ is not str:
            return NO_ROWS
        rows = self.head.graph.keyed.get(key, self.head.bounds[0])
        return tuple([row for row in rows if self._lineages[self._types[row]] == self.number])
