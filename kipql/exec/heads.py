"""What a ready path remembers of one head: names that callers use, and views of its past. Gone with the next commit."""

from array import array
from typing import TYPE_CHECKING, Any, TypeVar

from kipql.exec.terms import symbol_number
from kipql.exec.unready import Unready
from kipql.store.view import past

if TYPE_CHECKING:
    from kipql.store.view import View

_MOST = 1_024
_SHARED = 1 << 14
_LONG = 64  # characters of a text that is worth holding
V = TypeVar("V")
M = TypeVar("M", bound="Memory[Any]")


class Names(dict[str, int]):
    """Lineage numbers by what callers name, at one head."""

    def __init__(self, head: "View", group: str) -> None:
        super().__init__()
        self._head, self._group = head, group

    def __missing__(self, name: str) -> int:
        if name.__class__ is not str:
            raise Unready
        number = symbol_number(self._head, self._group, name)
        if len(self) < _MOST:
            self[name] = number
        return number


class SlotTables(dict[int, "array[int]"]):
    """The tables of slots by lineage number (`store.slots`): a place for each Concept of a head, or none."""

    def __init__(self, head: "View") -> None:
        super().__init__()
        self._graph, self._bound = head.graph, head.bounds[0]

    def __missing__(self, lineage: int) -> "array[int]":
        graph, bound = self._graph, self._bound
        found: array[int] = array("i")
        if lineage < len(graph.symbols.lineages):
            found = graph.slots.table(lineage, bound)
        if len(found) < bound:
            found = array("i")
        if len(self) < _MOST:
            self[lineage] = found
        return found


class Memory(dict[str, V]):
    """What a head says of a lineage, by the text that a caller names something with; found when it is first asked for.

    A memory belongs to the head and not to a statement: together they hold so many texts at most, and are emptied then.
    """

    def __init__(self, shared: "Shared", head: "View", number: int) -> None:
        super().__init__()
        self._shared, self.head, self.number = shared, head, number

    def __missing__(self, text: str) -> V:
        found = self.find(text)
        if len(text) <= _LONG:
            shared = self._shared
            shared.room -= 1
            if shared.room < 0:
                shared.empty()
            self[text] = found
        return found

    def find(self, text: str) -> V:
        """What the text comes to. Raises Unready for one that is not in order."""
        raise NotImplementedError


class Shared:
    """The memories of a head."""

    def __init__(self, head: "View") -> None:
        self.head = head
        self._held: dict[tuple[type, int], Memory[Any]] = {}
        self.room = _SHARED  # texts that may still be held

    def of(self, kind: type[M], number: int) -> M:
        """The memory of a kind for a lineage number."""
        found: Any = self._held.get((kind, number))
        if found is None:
            found = self._held.setdefault((kind, number), kind(self, self.head, number))
        made: M = found
        return made

    def empty(self) -> None:
        """Forget every text; one is about to be held."""
        self.room = _SHARED - 1
        for held in tuple(self._held.values()):
            held.clear()


def shared(head: "View") -> Shared:
    """What the statements that run on a head share; the graph keeps it, and takes it along when it goes."""
    found = head.graph.remembered
    if not isinstance(found, Shared) or found.head is not head:
        found = head.graph.remembered = Shared(head)
    return found


class Memories(dict[int, M]):
    """The memories of a kind by lineage number."""

    def __init__(self, head: "View", kind: type[M]) -> None:
        super().__init__()
        self._shared, self._kind = shared(head), kind

    def __missing__(self, number: int) -> M:
        found = self[number] = self._shared.of(self._kind, number)
        return found


class Pasts(dict[int, "View"]):
    """The views of a head's past that were asked for, by their sequence."""

    def __init__(self, head: "View") -> None:
        super().__init__()
        self._head = head
        self._since = head.environment_since
        self[head.seq] = head

    def __missing__(self, seq: int) -> "View":
        if not self._since <= seq <= self._head.seq:
            raise Unready
        view = past(self._head, seq)
        if len(self) < _MOST:
            self[seq] = view
        return view
