"""The commits of a Space as arrays: compact enough for one commit per Assertion (specification §33.1).

Sequence k is entry k - 1. A commit knows the number of rows per kind after it, so "the Space as it was after
k" is a lookup, and a row's creating commit is a bisection. What a commit changed in older elements is a list of
codes; its change entries are computed again from the states when someone asks (`changes`).
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kipql.model import Origin

Bounds = tuple[int, int, int, int, int]
NO_BOUNDS: Bounds = (0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit as a caller sees it; `at` is an instant."""

    space_id: str
    seq: int
    at: int
    transaction_class: str
    environment_version: int
    origin: Origin
    control_changes: Sequence[Mapping[str, str]]
    entries: Callable[[], list[dict[str, Any]]] = field(repr=False, compare=False)

    @property
    def tx_id(self) -> str:
        """`space_id#seq`."""
        return f"{self.space_id}#{self.seq}"

    @property
    def snapshot_seq(self) -> int:
        """The state the transaction started from."""
        return self.seq - 1

    @property
    def changes(self) -> list[dict[str, Any]]:
        """The change-envelope entries, made for this call."""
        return self.entries()


class History:
    """Per-commit arrays; the writer appends, entries never change."""

    __slots__ = ("_at", "_bounds", "_changed", "_changed_end", "_changed_in", "_makers", "_makers_from", "controls")

    def __init__(self) -> None:
        self._at: array[int] = array("q")
        self._bounds: tuple[array[int], ...] = tuple(array("i") for _ in range(5))
        self._changed: array[int] = array("i")  # codes, commit after commit
        self._changed_in: array[int] = array("q")  # the commits that have any
        self._changed_end: array[int] = array("q")  # where theirs end in `_changed`
        self._makers: list[tuple[Origin, str]] = []  # (origin, transaction class), kept when it differs
        self._makers_from: array[int] = array("q")  # the commit from which it holds
        self.controls: dict[int, tuple[Mapping[str, str], ...]] = {}

    def __len__(self) -> int:
        return len(self._at)

    def append(self, at: int, bounds: Bounds, changed: Sequence[int], origin: Origin, transaction_class: str) -> None:
        """Add the next commit. `_at` last: a commit exists once its time does."""
        seq = len(self._at) + 1
        one, two, three, four, five = self._bounds
        one.append(bounds[0])
        two.append(bounds[1])
        three.append(bounds[2])
        four.append(bounds[3])
        five.append(bounds[4])
        if changed:
            self._changed.extend(changed)
            self._changed_end.append(len(self._changed))
            self._changed_in.append(seq)
        if not self._makers or self._makers[-1] != (origin, transaction_class):
            self._makers.append((origin, transaction_class))
            self._makers_from.append(seq)
        self._at.append(at)

    def trim(self) -> None:
        """Drop what `append` left of a commit in the middle of which it was interrupted."""
        head = len(self._at)
        for column in self._bounds:
            del column[head:]
        for column in (self._changed_in, self._makers_from):
            while column and column[-1] > head:
                column.pop()
        del self._changed_end[len(self._changed_in) :]
        del self._changed[self._changed_end[-1] if self._changed_end else 0 :]
        del self._makers[len(self._makers_from) :]

    def at(self, seq: int) -> int:
        """The instant of a commit."""
        return self._at[seq - 1]

    def bounds(self, seq: int) -> Bounds:
        """Rows per kind after commit `seq`."""
        if seq == 0:
            return NO_BOUNDS
        one, two, three, four, five = self._bounds
        at = seq - 1
        return one[at], two[at], three[at], four[at], five[at]

    def changed(self, seq: int) -> Sequence[int]:
        """Codes of older elements that commit `seq` changed."""
        at = bisect_left(self._changed_in, seq)
        if at == len(self._changed_in) or self._changed_in[at] != seq:
            return ()
        return self._changed[self._changed_end[at - 1] if at else 0 : self._changed_end[at]]

    def transaction_class(self, seq: int) -> str:
        """The class of a commit."""
        return self._makers[bisect_right(self._makers_from, seq) - 1][1]

    def origin(self, seq: int) -> Origin:
        """Who made a commit."""
        return self._makers[bisect_right(self._makers_from, seq) - 1][0]

    def created_in(self, kind: int, row: int) -> int:
        """The commit that created a row; one past the head for a provisional row."""
        return bisect_right(self._bounds[kind], row) + 1

    def snapshot_at(self, instant: int) -> int:
        """The last sequence whose commit time is not after `instant`, 0 when there is none (§48)."""
        seq = bisect_right(self._at, instant)  # only a guess where a clock stepped back
        while seq < len(self._at) and self._at[seq] <= instant:
            seq += 1
        while seq and self._at[seq - 1] > instant:
            seq -= 1
        return seq

    def still(self) -> "History":
        """The commits up to now, whatever is appended from now on."""
        found = History()
        found._at, found._bounds = self._at[:], tuple(column[:] for column in self._bounds)
        found._changed, found._changed_in = self._changed[:], self._changed_in[:]
        found._changed_end, found._makers_from = self._changed_end[:], self._makers_from[:]
        found._makers, found.controls = self._makers[:], dict(self.controls)
        return found

    def freeze(self) -> "tuple[list[tuple[str, str, array[int]]], tuple[array[int], ...], list[tuple[Origin, str]]]":
        """(name, typecode, column) of the columns, the bounds per kind, the makers; for a snapshot."""
        columns = [
            ("at", "q", self._at),
            ("changed", "i", self._changed),
            ("changed_in", "q", self._changed_in),
            ("changed_end", "q", self._changed_end),
            ("makers_from", "q", self._makers_from),
        ]
        return columns, self._bounds, self._makers

    def thaw(
        self, columns: "Mapping[str, array[int]]", bounds: "tuple[array[int], ...]", makers: list[tuple[Origin, str]]
    ) -> None:
        """Take up the tables of a snapshot."""
        self._at = columns["at"]
        self._changed, self._changed_in = columns["changed"], columns["changed_in"]
        self._changed_end, self._makers_from = columns["changed_end"], columns["makers_from"]
        self._bounds, self._makers = bounds, makers


def bounds_at(history: History, seq: int) -> Bounds:
    """The same as `History.bounds`, for readers of the past by the hundred thousand."""
    if seq == 0:
        return NO_BOUNDS
    one, two, three, four, five = history._bounds
    at = seq - 1
    return one[at], two[at], three[at], four[at], five[at]
