"""One Space as lines, and a journal made from lines (docs/storage.md, "The dump").

The lines of a Space: what was set up before the first commit, every commit, the retained outcomes. They say what the
store knows now, so what was purged is not in them, at any sequence. The journal that they become is read like any
other, with every check; nothing in a line is trusted.
"""

import os
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kipql.limits import DEFAULT_LIMITS
from kipql.store import frames, journal
from kipql.store.codec import Invalid
from kipql.store.store import Store
from kipql.store.written import Commits, Line, frame
from kipql.values import Json

SETUP, COMMIT, OUTCOME = "setup", "commit", "outcome"


def lines(store: Store, *, without: Sequence[str] = ()) -> Iterator[Line]:
    """A Space up to its head. The caller keeps writers out; `without` are kinds of notes to leave out."""
    head = store.head
    for kind, payloads in store.notes.items():
        if kind not in without:
            for payload in payloads:
                yield {SETUP: kind, "payload": payload}
    commits = Commits(store.graph, head)
    for seq in range(1, head + 1):
        yield commits.line(seq)
    for key in sorted(store.idempotency):
        yield {OUTCOME: store.idempotency[key]}


class Rebuilt:
    """A new journal in a folder, frame by frame from lines; it knows which line a frame is from."""

    def __init__(self, folder: Path, most: int = DEFAULT_LIMITS.frame) -> None:
        folder.mkdir(parents=True)
        self.head = 0
        self._most = most
        self._counts = [0] * 5
        self._numbers = array("q")
        self._offsets = array("q")
        self._commits = array("q")
        self._file = (folder / journal.NAME).open("wb")
        self._length = self._file.write(journal.header())

    def put(self, line: Mapping[str, Json], number: int) -> None:
        """One line. Raises Invalid, ConstraintViolation, OSError."""
        if COMMIT in line:
            if line[COMMIT] != self.head + 1 or isinstance(line[COMMIT], bool):
                raise Invalid(f"commit {self.head + 1} is expected")
            self.head += 1
            self._commits.append(number)
            self._write(self.head, frame(line, self._counts), number)
        elif OUTCOME in line:
            if line.keys() != {OUTCOME}:
                raise Invalid("an outcome stands alone")
            self._write(0, frames.note("idempotency", line[OUTCOME]), number)
        elif line.keys() == {SETUP, "payload"} and isinstance(line[SETUP], str):
            if self.head:
                raise Invalid("what is set up comes before the first commit")
            self._write(0, frames.note(line[SETUP], line["payload"]), number)
        else:
            raise Invalid("this line is of no kind that is known")

    def close(self, *, durable: bool) -> None:
        """The journal is whole, or given up."""
        try:
            if durable:
                self._file.flush()
                os.fsync(self._file.fileno())
        finally:
            self._file.close()

    def line_at(self, offset: int) -> int | None:
        """The number of the line whose frame is at an offset."""
        at = bisect_right(self._offsets, offset)
        return self._numbers[at - 1] if at else None

    def line_of(self, seq: int) -> int | None:
        """The number of the line of a commit."""
        return self._commits[seq - 1] if 0 < seq <= len(self._commits) else None

    def _write(self, seq: int, payload: bytes, number: int) -> None:
        if len(payload) > self._most:
            raise Invalid(f"a commit of {len(payload)} bytes; the limit frame is {self._most}")
        self._numbers.append(number)
        self._offsets.append(self._length)
        self._length += self._file.write(journal.frame(seq, payload))
