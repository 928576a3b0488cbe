"""Which Assertions of a large slot have not ended, at any sequence (specification §14, §25.4).

A slot whose value changed ten thousand times has ten thousand rows and a handful that count. Past `LARGE` rows
a slot keeps (rows not ended, rows ended in the order they ended): what had not ended at k is the first part plus
the tail of the second whose mark is after k. The pair is replaced, never changed, so readers need no lock.
"""

import threading
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple

from kipql.store.columns import Assertions
from kipql.store.postings import Dense, Rows, inserted
from kipql.store.records import NEVER

LARGE = 32
_ALL = 1 << 60


class Split(NamedTuple):
    """The rows of one slot; `ended[:ended_count]` is what this pair knows of."""

    live: "array[int]"
    ended: "array[int]"
    ended_count: int


class LiveRows:
    """The splits of the large slots, by the slot's first Proposition row.

    After a memory opens a split is made again when it is asked for. One mutex orders that against the writer.
    """

    __slots__ = ("_assertions", "_lock", "_slots", "_splits")

    def __init__(self, assertions: Assertions, slots: Dense) -> None:
        self._assertions = assertions
        self._slots = slots
        self._splits: dict[int, Split] = {}
        self._lock = threading.Lock()

    def added(self, slot: int, row: int) -> None:
        """A new Assertion is in a large slot."""
        with self._lock:
            split = self._splits.get(slot)
            if split is not None:
                self._splits[slot] = split._replace(live=inserted(split.live, row))

    def dropped(self, slot: int, row: int) -> None:
        """The newest Assertion of the slot was taken back."""
        with self._lock:
            split = self._splits.get(slot)
            if split is not None:
                self._splits[slot] = split._replace(live=_without(split.live, row))

    def ended(self, slot: int, row: int) -> None:
        """A row of the slot has ended now."""
        with self._lock:
            split = self._splits.get(slot)
            if split is None or not _holds(split.live, row):
                return  # or whoever made the split saw the mark already
            ended = split.ended[: split.ended_count]
            ended.append(row)
            self._splits[slot] = Split(_without(split.live, row), ended, len(ended))

    def revived(self, slot: int, row: int) -> None:
        """The newest ending of the slot was taken back."""
        with self._lock:
            split = self._splits.get(slot)
            if split is not None:
                ended = _without(split.ended, row)
                self._splits[slot] = Split(inserted(array("i", split.live), row), ended, len(ended))

    def forget(self, slot: int) -> None:
        """Marks were changed out of order (a purge): split again when asked."""
        with self._lock:
            self._splits.pop(slot, None)

    def get(self, slot: int, rows: Rows, seq: int, bound: int) -> Rows:
        """The rows not ended at `seq`, ascending; `rows` are all of the slot's."""
        mark = self._assertions.ended
        split = self._splits.get(slot)
        if split is None:
            if len(rows) <= LARGE:
                return [row for row in rows if mark(row) > seq]
            split = self._make(slot)
        live = split.live[: bisect_left(split.live, bound)]
        later = []
        for row in reversed(split.ended[: split.ended_count]):
            if mark(row) <= seq:
                break
            if row < bound:
                later.append(row)
        return sorted([*live, *later]) if later else live

    def _make(self, slot: int) -> Split:
        with self._lock:
            return self._splits.setdefault(slot, self._split(self._slots.get(slot, _ALL)))

    def _split(self, rows: Iterable[int]) -> Split:
        mark = self._assertions.ended
        live, ended = array("i"), []
        for row in rows:
            if mark(row) == NEVER:
                live.append(row)
            else:
                ended.append(row)
        ended.sort(key=mark)
        return Split(live, array("i", ended), len(ended))


def _without(rows: "array[int]", row: int) -> "array[int]":
    return array("i", [other for other in rows if other != row])


def _holds(rows: "array[int]", row: int) -> bool:
    at = bisect_left(rows, row)
    return at < len(rows) and rows[at] == row
