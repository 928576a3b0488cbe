"""Postings on the scalars at a path of Concepts, Evidence and Activities, made when first asked for.

A path (`attributes.status`, `payload.inline.dia_id`, `evidence_class`) gets a posting the first time a query asks
for one; from then on the writer keeps it. Its rows are those that ever had the value: the reader verifies. One
short mutex orders the making against the writer; a reader that does not get it scans instead of waiting.
"""

import threading
from collections.abc import Callable, Iterable
from typing import Any

from kipql.model import ACTIVITY, CONCEPT, EVIDENCE, AnyRecord
from kipql.store.postings import Keyed, Rows
from kipql.values import Json, Scalar, literal_key

MOST_PATHS = 64
KINDS = frozenset((CONCEPT, EVIDENCE, ACTIVITY))
Read = Callable[[AnyRecord], Json]
Path = tuple[int, tuple[str, ...]]


class ValuePaths:
    """The postings that exist, by (kind, steps)."""

    __slots__ = ("_paths", "lock")

    def __init__(self) -> None:
        self._paths: dict[int, tuple[tuple[tuple[str, ...], Read, Keyed], ...]] = {}
        self.lock = threading.Lock()

    def find(self, kind: int, steps: tuple[str, ...]) -> Keyed | None:
        """The posting of a path, if it was made."""
        for known, _, posting in self._paths.get(kind, ()):
            if known == steps:
                return posting
        return None

    def make(
        self, kind: int, steps: tuple[str, ...], read: Read, states: Iterable[tuple[int, AnyRecord]]
    ) -> Keyed | None:
        """Make the posting of a path from every state of every row; None when it can not be made now."""
        if kind not in KINDS or len(self._paths.get(kind, ())) >= MOST_PATHS or not self.lock.acquire(blocking=False):
            return None
        try:
            posting = Keyed()
            for row, record in states:
                _put(posting, row, read(record))
            self._paths[kind] = (*self._paths.get(kind, ()), (steps, read, posting))
            return posting
        finally:
            self.lock.release()

    def note(self, kind: int, row: int, record: AnyRecord) -> None:
        """The row has this state now. The writer holds `lock`."""
        for _, read, posting in self._paths.get(kind, ()):
            _put(posting, row, read(record))

    def forget(self) -> None:
        """Drop every posting; they are made again from what is left (§60.3: erased values are gone here too)."""
        self._paths = {}


def rows_with(posting: Keyed, value: Scalar, bound: int) -> Rows:
    """The rows below `bound` that ever had `value`."""
    return posting.get(literal_key(value), bound)


def _put(posting: Keyed, row: int, value: Any) -> None:
    if value is None or isinstance(value, str | int | float | bool):
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        posting.add(literal_key(value), row)
