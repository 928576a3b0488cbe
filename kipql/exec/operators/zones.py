"""Zones: what a part of the packed Assertions holds, so that a count need not read it again (architecture §4.4).

Claims are recorded roughly in the order of their time, so that an instant splits few parts: the others pass whole or
not at all, by the least and the largest value in them, and what passes whole is counted by the numbers of its
Predicates and flags. A zone is of a full part of committed records: of those only the `ended` mark ever changes, and no
count looks at it. What is erased has columns that say nothing (`columns._erased`): it is asked before.
"""

from copy import copy
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from kipql.store.records import CONTEXT

if TYPE_CHECKING:
    from kipql.store.graph import Graph

FLAGS = CONTEXT  # flags below this bit: stance, mode and the forms of both ends
MOST_LINEAGES = 256  # with more, too many kinds of claims would be told apart
VALUES = ("from", "until", "asserted_at", "confidence")


class Zones:
    """The zones of one Space, made part after part as they are asked for.

    least, most  by column, an array with a value per zone
    zone, kind, count  three arrays: in a zone, how many claims of a kind (`predicate * FLAGS + flags`) there are
    """

    def __init__(self, np: Any) -> None:
        self._np = np
        self._lock = Lock()
        self.made = 0
        self.least: dict[str, Any] = {name: np.zeros(0) for name in VALUES}
        self.most: dict[str, Any] = {name: np.zeros(0) for name in VALUES}
        self.zone = self.kind = self.count = np.zeros(0, np.int64)

    def upto(self, records: Any, beside: dict[str, Any], size: int) -> "Zones":
        """The zones of every full part of `records`."""
        full = len(records) // size
        with self._lock:
            if full > self.made:
                self._make(records, beside, size, full)
            found = copy(self)
        if full < found.made:
            held = slice(0, int(self._np.searchsorted(found.zone, full)))
            found.zone, found.kind, found.count = found.zone[held], found.kind[held], found.count[held]
            found.least = {name: values[:full] for name, values in found.least.items()}
            found.most = {name: values[:full] for name, values in found.most.items()}
        found.made = full
        return found

    def _make(self, records: Any, beside: dict[str, Any], size: int, full: int) -> None:
        np = self._np
        lists: dict[str, tuple[list[Any], list[Any]]] = {name: ([], []) for name in VALUES}
        zones, kinds, counts = [self.zone], [self.kind], [self.count]
        for number in range(self.made, full):
            part = records[number * size : (number + 1) * size]
            for name, (least, most) in lists.items():
                values = part[name] if name in ("from", "until") else beside[name][number * size : (number + 1) * size]
                least.append(values.min())
                most.append(values.max())
            found = np.bincount(part["predicate"].astype(np.intp) * FLAGS + (part["flags"] & FLAGS - 1))
            held = np.flatnonzero(found)
            zones.append(np.full(len(held), number, np.int64))
            kinds.append(held)
            counts.append(found[held])
        for name, (least, most) in lists.items():
            self.least = {
                **self.least,
                name: np.concatenate((self.least[name], least)) if self.made else np.array(least),
            }
            self.most = {**self.most, name: np.concatenate((self.most[name], most)) if self.made else np.array(most)}
        self.zone, self.kind, self.count = map(np.concatenate, (zones, kinds, counts))
        self.made = full


_zones: "WeakKeyDictionary[Graph, Zones]" = WeakKeyDictionary()


def zones_of(graph: "Graph", np: Any) -> Zones | None:
    """The zones of a Space; None where there are too many Predicates."""
    if len(graph.symbols.lineages) > MOST_LINEAGES:
        return None
    found = _zones.get(graph)
    if found is None:
        found = _zones[graph] = Zones(np)
    return found
