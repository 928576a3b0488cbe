"""The folder of one Space: its journal and its writer's lock.

A folder that is missing or empty becomes a Space when a writer opens it; one that holds anything else but no
journal is not ours and is left alone.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kipql.errors import KipError
from kipql.store import frames
from kipql.store.changes import Entry
from kipql.store.codec import Invalid
from kipql.store.erasure import Erasure
from kipql.store.files import Files
from kipql.store.graph import Graph
from kipql.store.journal import NAME, Frame, Journal, Tail
from kipql.store.lock import NAME as LOCK
from kipql.store.lock import WriterLock
from kipql.store.states import sequences

_OURS = {LOCK, "journal.tmp"}  # what a crash before the first journal leaves
DURABILITIES = ("fsync", "buffered")


class Disk:
    """An open Space folder.

    Raises NotAMemory, MemoryLocked, MemoryUnavailable; `load` MemoryDamaged and MemoryFormatUnsupported.
    """

    def __init__(self, folder: Path, files: Files, durability: str, most: int, *, readonly: bool) -> None:
        if durability not in DURABILITIES:
            raise KipError("ConstraintViolation", f"{durability!r} is no durability", hint="fsync or buffered")
        self._folder = folder
        self._readonly = readonly
        self._lock: WriterLock | None = None
        self._journal = Journal(folder, files, durability, most, readonly=readonly)
        try:
            fresh = self._is_fresh(files)
            if not readonly:
                files.make_folder(folder)
                self._lock = WriterLock(folder)
        except OSError as error:
            raise _unavailable(folder, error) from error
        if fresh and not readonly:
            try:
                self._journal.create()
            except BaseException:
                self.close()
                raise

    @property
    def tail(self) -> Tail | None:
        """The torn tail found by `load`."""
        return self._journal.tail

    def load(self, apply: Callable[[int, memoryview], None]) -> None:
        """Replay every frame, then be ready to write."""
        try:
            for frame in self._journal.frames():
                self._replay(frame, apply)
            if not self._readonly:
                self._journal.start()
        except BaseException:
            self.close()
            raise

    def check(self) -> None:
        """Raises MemoryUnavailable when nothing more can be written."""
        self._journal.check()

    def append(self, seq: int, payload: bytes) -> None:
        """Write one frame durably."""
        self._journal.append(seq, payload)

    def rewrite(
        self,
        graph: Graph,
        erased: Sequence[Erasure],
        kept: Mapping[tuple[int, int], Entry],
        last: tuple[int, bytes],
    ) -> None:
        """Commit by replacing the journal: the older frames lose what is erased, the new one is added."""
        by_code = {each.code: each for each in erased}
        touched: dict[int, dict[int, int]] = {}  # sequence -> {code created there: its position among its kind}
        for code in by_code:
            first, *later = sequences(graph, code)
            if first >= last[0]:
                continue
            position = (code >> 3) - graph.history.bounds(first - 1)[code & 7]
            touched.setdefault(first, {})[code] = position
            for seq in (
                *later,
                *(reference.seq for reference in graph.inputs.get(code, ()) if reference.seq < last[0]),
            ):
                touched.setdefault(seq, {})

        def change(frame: Frame) -> bytes | None:
            rows = touched.get(frame.seq) if frame.seq else None
            if rows is None:
                return None
            try:
                return frames.stripped(frame.payload, frame.seq, graph, by_code, rows, kept)
            except Invalid as error:
                self._journal.damaged(frame.offset, str(error))

        self._journal.rewrite(change, last)

    def close(self) -> None:
        """Let go of the file and the lock."""
        self._journal.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _replay(self, frame: Frame, apply: Callable[[int, memoryview], None]) -> None:
        try:
            apply(frame.seq, frame.payload)
        except Invalid as error:
            self._journal.damaged(frame.offset, str(error))
        except KipError as error:
            if error.code in ("MemoryDamaged", "ResourceExhausted"):
                raise
            self._journal.damaged(frame.offset, error.message)

    def _is_fresh(self, files: Files) -> bool:
        folder = self._folder
        if files.exists(folder / NAME):
            return False
        if files.exists(folder):
            if not self._readonly and folder.is_dir() and set(files.names(folder)) <= _OURS:
                return True
            raise _not_ours(folder, f"{folder} holds no journal")
        if self._readonly:
            raise _not_ours(folder, f"there is no Space at {folder}")
        return True


def _not_ours(folder: Path, message: str) -> KipError:
    return KipError(
        "NotAMemory",
        message,
        hint="give a folder that kipql made; opened writable, a missing or empty folder becomes a memory",
        details={"path": str(folder)},
    )


def _unavailable(folder: Path, error: OSError) -> KipError:
    return KipError(
        "MemoryUnavailable",
        f"{folder} can not be opened: {error.strerror or error}",
        details={"path": str(folder)},
    )
