"""Rows that a caller names by a key, or by the id of a subject, as one head has them (`heads.Memory`).

A look-up of this kind goes through four to six tables, each in a page of memory of its own; asked again it is one.
"""

from kipql.exec.heads import Memory
from kipql.exec.unready import CODES, admitted
from kipql.store.postings import NO_ROWS, Rows

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

    def find(self, text: str) -> Rows:
        key, graph = admitted(text), self.head.graph
        if key.__class__ is not str:
            return NO_ROWS
        types, lineages = graph.types, graph.symbols.lineage_of
        rows = graph.keyed.get(key, self.head.bounds[0])
        return tuple([row for row in rows if lineages[types[row]] == self.number])
