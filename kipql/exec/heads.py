"""What a ready path remembers of one head: names that callers use, and views of its past. Gone with the next commit."""

from typing import TYPE_CHECKING

from kipql.exec.terms import symbol_number
from kipql.exec.unready import Unready
from kipql.store.view import past

if TYPE_CHECKING:
    from kipql.store.view import View

_MOST = 1_024


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
