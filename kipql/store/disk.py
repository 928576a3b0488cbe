"""The folder of one Space: its journal, its snapshots and its writer's lock.

Opening takes the newest snapshot that is whole and that the journal continues, then the frames after it. A snapshot
is durable before the journal is cut down to what follows it, and the older ones are removed last, so that every crash
between leaves a snapshot with its journal, or the journal from the start.

A folder that is missing or empty becomes a Space when a writer opens it; one that holds anything else but no
journal is not ours and is left alone.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from kipql.errors import KipError
from kipql.store import frames, snapshot
from kipql.store.changes import Entry
from kipql.store.codec import Invalid
from kipql.store.erasure import Erasure
from kipql.store.files import Files, Held
from kipql.store.following import Follower
from kipql.store.graph import Graph
from kipql.store.journal import NAME, START, Base, Frame, Journal, Tail
from kipql.store.lock import NAME as LOCK
from kipql.store.snapshot import Section, Snapshot
from kipql.store.states import sequences

_OURS = {LOCK, "journal.tmp"}  # what a crash before the first journal leaves
_ATTEMPTS = 100  # to find the snapshot that a writer replaces meanwhile
DURABILITIES = ("fsync", "os", "none")


class Place(NamedTuple):
    """A moment of a Space: what came before it, and where the journal ended."""

    base: Base
    end: int


class Disk:
    """An open Space folder.

    Raises NotAMemory, MemoryLocked, MemoryUnavailable; `load` MemoryDamaged and MemoryFormatUnsupported.
    """

    def __init__(self, folder: Path, files: Files, durability: str, most: int, *, readonly: bool) -> None:
        if durability not in DURABILITIES:
            raise KipError("ConstraintViolation", f"{durability!r} is no durability", hint=" or ".join(DURABILITIES))
        self._folder = folder
        self._files = files
        self._newest: tuple[str, int] | None = None  # the snapshot in use: its name and length
        self._wrong: KipError | None = None  # what was the matter with a snapshot
        self._readonly = readonly
        self._lock: Held | None = None
        self._exchanging = threading.Lock()  # held while files take the place of others
        self._purged = 0  # how often the journal was to be rewritten without something
        self._rewrites = 0  # how often it was, or may have been
        self._follower: Follower | None = None  # of a reader
        self._journal = Journal(folder, files, durability, most, readonly=readonly)
        try:
            fresh = self._is_fresh(files)
            if not readonly:
                files.make_folder(folder)
                self._lock = files.lock(folder)
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

    @property
    def pending(self) -> int:
        """Bytes of the journal that no snapshot covers."""
        return self._journal.size

    @property
    def snapshot_size(self) -> int:
        """Bytes of the newest snapshot, 0 without one."""
        return self._newest[1] if self._newest is not None else 0

    def snapshots(self) -> Iterator[Snapshot | None]:
        """The snapshots to start from, best first, None for the journal alone; `passed_over` says what was wrong with
        one, `load` goes on from the one that was right. Raises MemoryDamaged when there is nothing left."""
        try:
            for _ in range(_ATTEMPTS):
                base, vanished = self._journal.read(), False
                for name in self._names():
                    try:
                        found = snapshot.read(self._files, self._folder / name)
                    except FileNotFoundError:
                        vanished = True  # a writer has a newer one
                        continue
                    except KipError as error:
                        if error.code != "MemoryDamaged":
                            raise
                        self.passed_over(error)
                        continue
                    except OSError as error:
                        raise _unavailable(self._folder / name, error) from error
                    if found.seq >= base.seq and found.notes >= base.notes:
                        self._newest = (name, found.size)
                        yield found
                self._newest = None
                if base == START:
                    yield None
                if not vanished:
                    break
            raise self._wrong or _lost(self._folder, base)
        except GeneratorExit:
            raise
        except BaseException:
            self.close()
            raise

    def passed_over(self, error: KipError) -> None:
        """A snapshot was damaged; an older one or the journal has to do."""
        self._wrong = error
        import logging

        logging.getLogger("kipql").warning("a snapshot was passed over: %s", error.message)

    def load(self, covered: Snapshot | None, apply: Callable[[int, memoryview], None]) -> None:
        """Replay every frame that the snapshot does not cover, then be ready to write."""
        try:
            after = START if covered is None else Base(covered.seq, covered.notes)
            for frame in self._journal.frames(after):
                self._replay(frame, apply)
            if self._readonly:
                self._follower = Follower(self._folder, self._files, self._journal)
            else:
                self._files.remove(self._folder / snapshot.DRAFT)
                self._journal.start()
                if self._newest is not None:  # what a crash left after the newest was durable
                    self._remove([name for name in self._names() if name < self._newest[0]])
        except OSError as error:
            self.close()
            raise _unavailable(self._folder, error) from error
        except BaseException:
            self.close()
            raise

    def changed(self) -> bool:
        """Whether a writer may have committed since the last look. Raises OSError."""
        return self._follower is not None and self._follower.changed()

    def follow(self, seq: int, instant: int, apply: Callable[[int, memoryview], None]) -> bool:
        """Replay what a writer committed after the head, a sequence and its instant; False when the Space has to be
        read anew. Raises MemoryDamaged, OSError."""
        assert self._follower is not None
        found = self._follower.frames(seq, instant)
        for frame in found or ():
            self._replay(frame, apply)
        return found is not None

    @property
    def continued(self) -> int:
        """The sequence that the journal continues, as a reader saw it last."""
        return self._follower.base.seq if self._follower is not None else 0

    def place(self, seq: int) -> Place:
        """Where a snapshot of the head, `seq`, will end the journal before it. The caller keeps writers out."""
        self._journal.check()
        return Place(Base(seq, self._journal.notes), self._journal.end)

    def snapshot(self, place: Place, sections: Iterable[Section]) -> int | None:
        """Write a snapshot of the Space as it was at a place, cut the journal down to the frames since, and remove what
        is older; its length, None when a purge came between. Commits are written meanwhile.

        Raises MemoryUnavailable when it could not be written: then nothing changed, or the journal takes nothing more.
        """
        self._journal.check()
        base, purged = place.base, self._purged
        name = snapshot.name_of(base.seq)
        wanted = takewhile(lambda _: self._purged == purged, sections)
        try:
            length = snapshot.write_draft(self._files, self._folder, base.seq, base.notes, wanted)
            with self._exchanging:
                if self._purged != purged:
                    self._files.remove(self._folder / snapshot.DRAFT)
                    return None
                snapshot.publish(self._files, self._folder, base.seq)
                self._newest = (name, length)
                self._journal.restart(base, place.end)
                self._remove([other for other in self._names() if other != name])
        except OSError as error:
            raise _unwritten(self._folder / name, error) from error
        return length

    def has_snapshots(self) -> bool:
        """Whether any snapshot file is there, also one that is not in use; where the folder can not be read, maybe."""
        try:
            return bool(self._names())
        except KipError:
            return True

    @property
    def is_forked(self) -> bool:
        """Whether this is a child of the process that opened the folder."""
        return self._journal.is_forked

    def check_process(self) -> None:
        """Raises MemoryUnavailable in a forked child."""
        self._journal.check_process()

    def check(self) -> None:
        """Raises MemoryUnavailable when nothing more can be written."""
        self._journal.check()

    def append(self, seq: int, payload: bytes) -> None:
        """Write one frame durably."""
        self._journal.append(seq, payload)

    def write(self, seq: int, payload: bytes) -> int:
        """Write one frame; what `sync` takes to make it durable."""
        return self._journal.write(seq, payload)

    @property
    def written(self) -> int:
        """Grows with every frame that was written, and when the journal was rewritten."""
        return self._journal.written + self._rewrites

    def give_up(self, reason: str) -> None:
        """Write nothing more: what is on the disk may be more than what this session knows."""
        self._journal.give_up(reason)

    def sync(self, mark: int) -> None:
        """Make every frame up to a mark durable, for all who wait."""
        self._journal.sync(mark)

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

        with self._exchanging:
            self._purged += 1  # a snapshot that is being written holds what goes
            self._rewrites += 1
            try:
                self._journal.rewrite(change, last)
            except KipError as error:
                if error.code != "OutcomeUnknown":  # the old file stands
                    self._rewrites -= 1
                raise

    def flush(self) -> None:
        """Hand every frame to the file, for who reads it."""
        self._journal.flush()

    def close(self) -> None:
        """Let go of the file and the lock."""
        self._journal.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _remove(self, names: Sequence[str]) -> None:
        for name in names:
            self._files.remove(self._folder / name)
        if names:
            self._files.sync_folder(self._folder)

    def _names(self) -> list[str]:
        """The snapshot files, newest first."""
        try:
            found = self._files.names(self._folder)
        except OSError as error:
            raise _unavailable(self._folder, error) from error
        return sorted((name for name in found if snapshot.seq_of(name) is not None), reverse=True)

    def _replay(self, frame: Frame, apply: Callable[[int, memoryview], None]) -> None:
        try:
            apply(frame.seq, frame.payload)
        except Invalid as error:
            self._journal.damaged(frame.offset, str(error))
        except KipError as error:
            if error.code in ("MemoryDamaged", "ResourceExhausted"):
                raise
            self._journal.damaged(frame.offset, error.message)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            self._journal.damaged(frame.offset, f"it says what no commit says ({type(error).__name__}: {error})"[:300])

    def _is_fresh(self, files: Files) -> bool:
        folder = self._folder
        if files.exists(folder / NAME):
            return False
        if files.exists(folder):
            if not self._readonly and files.is_folder(folder) and set(files.names(folder)) <= _OURS:
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


def _unwritten(path: Path, error: OSError) -> KipError:
    return KipError(
        "MemoryUnavailable",
        f"the snapshot {path} could not be written: {error.strerror or error}",
        hint="no commit is lost; make room on the disk and try again",
        details={"path": str(path)},
    )


def _lost(folder: Path, base: Base) -> KipError:
    return KipError(
        "MemoryDamaged",
        f"the journal in {folder} continues a snapshot of sequence {base.seq} that is not there",
        hint="restore the folder from a backup",
        details={"path": str(folder)},
    )
