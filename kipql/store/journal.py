"""The journal: an append-only file of frames.

    header   8 bytes magic, u32 format, u32 CRC-32C of those 12 bytes
    header   of format 2, which continues a snapshot: 8 bytes magic, u32 format, u64 sequence and u64 number of notes
             before it, u32 CRC-32C of those 28 bytes
    frame    u32 length of the payload, u64 sequence (0 for a note), u32 CRC-32C of length, sequence and payload,
             then the payload

A frame is written whole, then synced, then visible. A tail that a crash tore is cut when a writer opens the
memory; damage anywhere else is refused with its offset, because cutting there would lose commits in silence.

Only the process that opened a journal writes it: a forked child would write at the same place as its parent.
"""

import contextlib
import os
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

from kipql.errors import KipError
from kipql.store.checksum import crc32c
from kipql.store.files import Files

MAGIC = b"KIPQL\r\n\x1a"
FORMAT = 2
NAME = "journal"
_DRAFT = "journal.tmp"
_FIRST = struct.Struct("<8sI")
_BASE = struct.Struct("<QQ")
_FRAME = struct.Struct("<IQI")
FRAME_HEADER = _FRAME.size
_ENOUGH = 1 << 20  # bytes of frames that durability "none" writes at once
_LOOKED_THROUGH = 1 << 29  # bytes digested at most to find out whether a frame follows a broken one
_ZEROS = 64  # this many zero bytes up to the end of the file are space that a crash left unwritten


class Frame(NamedTuple):
    """One frame as read: where it starts, its sequence and its payload."""

    offset: int
    seq: int
    payload: memoryview


class Tail(NamedTuple):
    """A torn tail: where it starts and how many bytes it has."""

    offset: int
    length: int


class Mark(NamedTuple):
    """Where reading stopped: the offset, the file's header, and where the last frame before it begins and with what."""

    end: int
    header: bytes
    anchor: int
    last: bytes


class Base(NamedTuple):
    """What came before a journal: the commits up to a sequence, and so many notes."""

    seq: int
    notes: int


START = Base(0, 0)


def header(base: Base = START) -> bytes:
    """The first bytes of a journal; one that holds everything has format 1."""
    start = _FIRST.pack(MAGIC, 1) if base == START else _FIRST.pack(MAGIC, 2) + _BASE.pack(*base)
    return start + struct.pack("<I", crc32c(start))


def frame(seq: int, payload: bytes) -> bytes:
    """The bytes of a frame."""
    return _FRAME.pack(len(payload), seq, crc32c(struct.pack("<IQ", len(payload), seq), payload)) + payload


class Journal:
    """The journal of one Space folder: `create` for a new one, then read `frames` to the end, then `start` to write."""

    def __init__(self, folder: Path, files: Files, durability: str, most: int, *, readonly: bool) -> None:
        self.path = folder / NAME
        self.tail: Tail | None = None
        self.base = START
        self.notes = 0  # how many there were so far, those before the journal included
        self._data = b""
        self._mark = Mark(0, b"", 0, b"")
        self._behind = False
        self._covered = START
        self._start = 0  # where the frames begin
        self._folder = folder
        self._files = files
        self._sync = durability == "fsync"
        self._lazy = durability == "none"
        self._written = 0  # bytes ever handed to the file, and how many of them are durable
        self._synced = 0
        self._waiting: list[bytes] = []  # frames that are not written yet
        self._waiting_bytes = 0
        self._most = most
        self._readonly = readonly
        self._process = os.getpid()
        self._file: BinaryIO | None = None
        self._length = 0
        self._durable = 0  # up to here the file is synced
        self._broken: str | None = None
        self._lock = threading.Lock()
        self._syncing = threading.Lock()  # taken before `_lock`

    def create(self) -> None:
        """Start a new journal: its header, whole or not at all."""
        with self._errors("made"):
            self._start = self._length = self._durable = self._draft([header()])
            self._files.rename(self._folder / _DRAFT, self.path)
            self._files.sync_folder(self._folder)

    @property
    def mark(self) -> Mark:
        """Where reading `frames` to the end stopped."""
        return self._mark

    @property
    def size(self) -> int:
        """How many bytes of frames there are."""
        return max(0, self._length - self._start) + self._waiting_bytes

    def read(self) -> Base:
        """Read the file and its header: what came before. Raises MemoryDamaged, MemoryFormatUnsupported."""
        with self._errors("read"):
            self._data = self._files.read(self.path)
        self.base = self._read_header(self._data)
        return self.base

    def frames(self, covered: Base = START) -> Iterator[Frame]:
        """Every frame that was `read` and that a snapshot has not covered, checked; afterwards `tail` says whether
        the end was torn.

        Raises MemoryDamaged with the offset.
        """
        data, self._data = self._data, b""
        view = memoryview(data)
        offset, last, self.notes = self._start, self.base.seq, self.base.notes
        anchor = offset
        while offset < len(data):
            found = _frame_at(view, offset)
            if found is None:
                self._torn_or_damaged(data, offset)
                break
            if found.seq not in (0, last + 1):
                self.damaged(offset, f"commit {found.seq} follows commit {last}")
            last = found.seq or last
            self.notes += not found.seq
            if found.seq > covered.seq or (not found.seq and self.notes > covered.notes):
                yield found
            anchor = offset
            offset += _FRAME.size + len(found.payload)
        end_of_last = min(offset, anchor + _FRAME.size)
        self._mark = Mark(offset, data[: self._start], anchor, data[anchor:end_of_last])
        self._durable = offset
        self._behind = last < covered.seq or self.notes < covered.notes
        self._covered = Base(max(last, covered.seq), max(self.notes, covered.notes))
        self.notes = self._covered.notes
        self._length = offset

    def start(self) -> None:
        """Ready to append, after every frame was read: a torn tail is cut and reported."""
        with self._errors("opened"):
            self._files.remove(self._folder / _DRAFT)
            self._file = self._files.open(self.path)
            if self.tail is not None:
                self._files.truncate(self._file, self.tail.offset)
                self._flush(self._file)
                import logging

                logging.getLogger("kipql").warning(
                    "%s: cut a torn tail of %d bytes at %d", self.path, self.tail.length, self.tail.offset
                )
        if self._behind:  # written without a sync, and lost; the snapshot has it all
            self.restart(self._covered)

    def append(self, seq: int, payload: bytes) -> None:
        """Write one frame and make it durable.

        Raises MemoryUnavailable when nothing was written, OutcomeUnknown when the sync failed: from then on the
        journal takes nothing more.
        """
        self.sync(self.write(seq, payload))

    def write(self, seq: int, payload: bytes) -> int:
        """Write one frame; what `sync` takes to make it durable. Raises MemoryUnavailable when nothing was written."""
        data = self._whole(seq, payload)
        with self._lock:
            if self._lazy:
                self._put_off(data)
            else:
                self._write(data)
            self.notes += not seq
            return self._written

    def sync(self, mark: int) -> None:
        """Make every frame up to a mark durable. One sync serves all threads that wait for it.

        Raises OutcomeUnknown when it failed, for each of them: from then on the journal takes nothing more.
        """
        if not self._sync:
            return
        with self._syncing:
            if self._synced >= mark:
                return
            with self._lock:
                if self._broken is not None:
                    raise _unknown(self.path, self._broken)
                file, written, length = self._ready(), self._written, self._length
            try:
                self._files.fsync(file)
            except OSError as error:
                with self._lock:
                    self._broken = f"a sync failed: {error.strerror or error}"
                    with contextlib.suppress(OSError):
                        self._files.truncate(file, self._durable)
                raise _unknown(self.path, error.strerror or error) from error
            self._synced, self._durable = written, length

    @property
    def end(self) -> int:
        """Where the next frame will begin."""
        with self._lock:
            return self._length + self._waiting_bytes

    def restart(self, base: Base, end: int | None = None) -> None:
        """Replace the journal by one that continues a snapshot: with the frames from `end` on, or empty. The old file
        stands until the new one is durable."""
        with self._syncing, self._lock:
            start, rest = header(base), b""
            if end is not None and end < self._length + self._waiting_bytes:
                self._spill()
                rest = self._rest(end)
            self._exchange([start, rest] if rest else [start])
            self.base, self._start = base, len(start)
            if not rest:
                self.notes = base.notes

    def rewrite(self, change: Callable[[Frame], bytes | None], last: tuple[int, bytes] | None) -> None:
        """Replace the journal by one in which `change` gives frames other payloads (None leaves one as it is),
        with one more frame at its end. The old file stands until the new one is whole and durable."""
        with self._syncing, self._lock:
            self._spill()
            self._exchange([*self._changed(change), *([self._whole(*last)] if last is not None else [])])

    @property
    def written(self) -> int:
        """Bytes of frames so far, those that wait to be written included."""
        return self._written + self._waiting_bytes

    def give_up(self, reason: str) -> None:
        """Take no more frames."""
        self._broken = self._broken or reason

    def flush(self) -> None:
        """Write the frames that wait to be written. Raises MemoryUnavailable."""
        with self._lock:
            self._spill()

    def check(self) -> None:
        """Raises MemoryUnavailable when nothing more can be written. Waits while another file takes its place."""
        self.check_process()
        with self._lock:
            self._ready()

    @property
    def is_forked(self) -> bool:
        """Whether this is a child of the process that opened the journal."""
        return self._process != os.getpid()

    def check_process(self) -> None:
        """Raises MemoryUnavailable in a forked child."""
        if self.is_forked:
            raise KipError(
                "MemoryUnavailable",
                f"{self.path} was opened by another process, of which this one was forked",
                hint="open the memory in the process that writes",
                details={"path": str(self.path)},
            )

    def close(self) -> None:
        """Write what waits and close the file."""
        if self.is_forked:  # what waits is the parent's, and a lock may be held by a thread that is not here
            self._close_forked()
            return
        if self._waiting:
            try:
                with self._lock:
                    self._spill()
            except KipError as error:
                import logging

                logging.getLogger("kipql").error("%s: commits were lost at close: %s", self.path, error.message)
        with self._syncing, self._lock:
            if self._file is not None:
                with contextlib.suppress(OSError):
                    if self._sync and self._broken is None and self._synced < self._written:
                        self._files.fsync(self._file)  # of threads that wait for it
                        self._synced = self._written
                with contextlib.suppress(OSError):
                    self._files.close(self._file)
                self._file = None

    def damaged(self, offset: int, what: str) -> NoReturn:
        """Raise MemoryDamaged for a frame."""
        raise KipError(
            "MemoryDamaged",
            f"{self.path} is damaged at offset {offset}: {what}",
            hint="nothing was changed; work on a copy of the folder",
            details={"path": str(self.path), "offset": offset},
        )

    # inside

    def _rest(self, start: int) -> bytes:
        """The file from an offset to its end, as it was written."""
        rest = bytearray(self._length - start)
        with self._errors("read"):
            file = self._files.open_to_read(self.path)
            try:
                found = self._files.read_into(file, rest, start)
            finally:
                self._files.close(file)
        if found != len(rest):
            self.damaged(start + found, "it is shorter than what was written")
        return bytes(rest)

    def _close_forked(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                self._files.close(file)

    def _exchange(self, parts: Iterable[bytes]) -> None:
        old = self._ready()
        with self._errors("rewritten"):
            length = self._draft(parts)
            self._broken = "it was interrupted while a new file took its place"
            try:
                self._files.rename(self._folder / _DRAFT, self.path)
            except OSError:
                self._broken = None
                raise
        self._file = None
        self._waiting, self._waiting_bytes = [], 0  # a snapshot has them, or they were written before
        with contextlib.suppress(OSError):
            self._files.close(old)
        try:
            self._files.sync_folder(self._folder)
            self._file = self._files.open(self.path)
        except OSError as error:
            self._broken = f"the new file was not confirmed: {error.strerror or error}"
            raise _unknown(self.path, error.strerror or error) from error
        self._length = self._durable = length
        self._synced = self._written  # in the new file, or in the snapshot before it
        self._broken = None

    def _ready(self) -> BinaryIO:
        self.check_process()
        if self._broken is not None or self._file is None or self._readonly:
            reason = self._broken or "it is not open for writing"
            raise KipError(
                "MemoryUnavailable",
                f"{self.path} takes no more writes: {reason}",
                hint="close the memory and open it again",
                details={"path": str(self.path)},
            )
        return self._file

    def _write(self, data: bytes) -> None:
        file = self._ready()
        self._check_linked(file)
        try:
            self._files.write(file, data)
            self._length += len(data)
            self._written += len(data)
        except OSError as error:
            self._take_back(file, error)
        except BaseException:
            self._broken = "a write was interrupted"
            raise

    def _put_off(self, data: bytes) -> None:
        """Keep a frame until there is enough to write."""
        self._ready()
        self._waiting.append(data)
        self._waiting_bytes += len(data)
        if self._waiting_bytes >= _ENOUGH:
            self._spill()

    def _spill(self) -> None:
        """Write the frames that wait. What can not be written stops the journal: its commits are visible already."""
        if not self._waiting:
            return
        data = b"".join(self._waiting)
        self._waiting, self._waiting_bytes = [], 0
        try:
            self._write(data)
        except KipError as error:
            self._broken = error.message
            raise

    def _check_linked(self, file: BinaryIO) -> None:
        with self._errors("written"):
            linked = self._files.linked(file)
        if not linked:
            self._broken = "the file was deleted"
            self._ready()

    def _whole(self, seq: int, payload: bytes) -> bytes:
        if len(payload) > self._most:
            raise KipError(
                "TransactionTooLarge",
                f"the commit has {len(payload)} bytes; the limit frame is {self._most}",
                hint="split it, or open the memory with Limits(frame=...)",
                details={"limit": "frame", "value": self._most},
            )
        return frame(seq, payload)

    def _take_back(self, file: BinaryIO, error: OSError) -> NoReturn:
        try:
            self._files.truncate(file, self._length)
        except OSError as second:
            self._broken = f"a write could not be taken back: {second.strerror or second}"
        raise KipError(
            "MemoryUnavailable",
            f"the commit could not be written: {error.strerror or error}",
            hint="nothing was changed; make room on the disk and try again",
            details={"path": str(self.path)},
        ) from error

    def _flush(self, file: BinaryIO) -> None:
        if self._sync:
            self._files.fsync(file)

    def _changed(self, change: Callable[[Frame], bytes | None]) -> Iterator[bytes]:
        with self._errors("read"):
            data = self._files.read(self.path)
        yield data[: self._start]
        view = memoryview(data)
        offset = self._start
        while offset < self._length:
            found = _frame_at(view, offset)
            if found is None:
                self.damaged(offset, "the frame does not match its checksum")
            end = offset + _FRAME.size + len(found.payload)
            payload = change(found)
            yield data[offset:end] if payload is None else self._whole(found.seq, payload)
            offset = end

    def _draft(self, parts: Iterable[bytes]) -> int:
        """Write a whole file under the draft's name; its length."""
        file = self._files.open(self._folder / _DRAFT, create=True)
        length = 0
        try:
            for part in parts:
                self._files.write(file, part)
                length += len(part)
            self._files.fsync(file)
        finally:
            self._files.close(file)
        return length

    def _read_header(self, data: bytes) -> Base:
        if len(data) < _FIRST.size or data[:8] != MAGIC:
            self.damaged(0, "it does not begin like a journal")
        _, version = _FIRST.unpack_from(data)
        end = _FIRST.size + (_BASE.size if version == 2 else 0)
        if len(data) < end + 4 or crc32c(data[:end]) != int.from_bytes(data[end : end + 4], "little"):
            self.damaged(0, "its header does not match its checksum")
        if version > FORMAT:
            raise KipError(
                "MemoryFormatUnsupported",
                f"{self.path} has format {version}, this kipql knows {FORMAT}",
                hint="use a newer kipql",
                details={"found": version, "supported": FORMAT},
            )
        self._start = end + 4
        return Base(*_BASE.unpack_from(data, _FIRST.size)) if version == 2 else START

    def _torn_or_damaged(self, data: bytes, offset: int) -> None:
        """A crash leaves a prefix of the last frame, or unwritten space; anything else is damage."""
        rest = memoryview(data)[offset:]
        if not (_is_prefix(rest) or _is_unwritten(data, offset)):
            self.damaged(offset, "the frame does not match its checksum")
        if _follows(memoryview(data), offset + 1):
            self.damaged(offset, "a frame is broken and others follow it")
        self.tail = Tail(offset, len(rest))

    def _errors(self, what: str) -> "contextlib.AbstractContextManager[None]":
        return _unavailable(self.path, what)


def _unknown(path: Path, error: object) -> KipError:
    return KipError(
        "OutcomeUnknown",
        f"the disk did not confirm the commit: {error}",
        hint="nothing more is written here; close the memory and open it again to see what was kept",
        details={"path": str(path)},
    )


@contextlib.contextmanager
def _unavailable(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise KipError(
            "MemoryUnavailable",
            f"{path} could not be {what}: {error.strerror or error}",
            details={"path": str(path)},
        ) from error


def _frame_at(data: memoryview, offset: int) -> Frame | None:
    """The frame at an offset, None when there is no whole and right one."""
    if len(data) - offset < _FRAME.size:
        return None
    length, seq, checksum = _FRAME.unpack_from(data, offset)
    start = offset + _FRAME.size
    if length > len(data) - start:
        return None
    payload = data[start : start + length]
    return Frame(offset, seq, payload) if crc32c(data[offset : offset + 12], payload) == checksum else None


def whole_frames(data: memoryview, offset: int) -> tuple[list[Frame], int]:
    """The whole and right frames from an offset on, and where they end."""
    found: list[Frame] = []
    while (each := _frame_at(data, offset)) is not None:
        found.append(each)
        offset += _FRAME.size + len(each.payload)
    return found, offset


def torn(data: bytes | bytearray, offset: int) -> bool:
    """Whether what stands from an offset to the end may be a frame that is being written."""
    return _is_prefix(memoryview(data)[offset:]) or _is_unwritten(data, offset)


def _is_prefix(rest: memoryview) -> bool:
    """Whether these bytes can be the first ones of a frame that was being written."""
    if len(rest) < _FRAME.size:
        return True
    length, seq, checksum = _FRAME.unpack_from(rest)
    payload = rest[_FRAME.size :]
    if length <= len(payload):
        return False
    # a whole frame whose length alone was damaged would match with the length it has
    shorter = crc32c(struct.pack("<IQ", len(payload), seq), payload)
    return shorter != int(checksum)


def _is_unwritten(data: bytes | bytearray, offset: int) -> bool:
    rest = data[offset:]
    return not rest.strip(b"\0") or rest.endswith(bytes(_ZEROS))


def _follows(data: memoryview, start: int) -> bool:
    """Whether a whole frame stands anywhere from `start` on, as far as can be told: when that takes too long, something
    was made to look like it."""
    left = _LOOKED_THROUGH
    for offset in range(start, len(data) - _FRAME.size):
        length, seq, _ = _FRAME.unpack_from(data, offset)
        if 0 < length <= len(data) - offset - _FRAME.size and seq < 1 << 48:
            left -= length
            if left < 0 or _frame_at(data, offset) is not None:
                return True
    return False
