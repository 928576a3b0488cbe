"""The journal: an append-only file of frames.

    header   8 bytes magic, u32 format, u32 CRC-32C of those 12 bytes
    frame    u32 length of the payload, u64 sequence (0 for a note), u32 CRC-32C of length, sequence and payload,
             then the payload

A frame is written whole, then synced, then visible. A tail that a crash tore is cut when a writer opens the
memory; damage anywhere else is refused with its offset, because cutting there would lose commits in silence.
"""

import contextlib
import logging
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

from kipql.errors import KipError
from kipql.store.files import Files

MAGIC = b"KIPQL\r\n\x1a"
FORMAT = 1
NAME = "journal"
_DRAFT = "journal.tmp"
_HEADER = struct.Struct("<8sII")
_FRAME = struct.Struct("<IQI")
_ZEROS = 64  # this many zero bytes up to the end of the file are space that a crash left unwritten
_log = logging.getLogger("kipql")


class Frame(NamedTuple):
    """One frame as read: where it starts, its sequence and its payload."""

    offset: int
    seq: int
    payload: memoryview


class Tail(NamedTuple):
    """A torn tail: where it starts and how many bytes it has."""

    offset: int
    length: int


def crc32c(*parts: bytes | memoryview) -> int:
    """The CRC-32C of the parts together."""
    import crc32c as library

    value = 0
    for part in parts:
        value = library.crc32c(part, value)
    return value


def header() -> bytes:
    """The first bytes of a journal."""
    start = struct.pack("<8sI", MAGIC, FORMAT)
    return start + struct.pack("<I", crc32c(start))


def frame(seq: int, payload: bytes) -> bytes:
    """The bytes of a frame."""
    return _FRAME.pack(len(payload), seq, crc32c(struct.pack("<IQ", len(payload), seq), payload)) + payload


class Journal:
    """The journal of one Space folder: `create` for a new one, then read `frames` to the end, then `start` to write."""

    def __init__(self, folder: Path, files: Files, durability: str, most: int, *, readonly: bool) -> None:
        self.path = folder / NAME
        self.tail: Tail | None = None
        self._folder = folder
        self._files = files
        self._sync = durability == "fsync"
        self._most = most
        self._readonly = readonly
        self._file: BinaryIO | None = None
        self._length = 0
        self._broken: str | None = None
        self._lock = threading.Lock()

    def create(self) -> None:
        """Start a new journal: its header, whole or not at all."""
        with self._errors("made"):
            self._replace([header()])

    def frames(self) -> Iterator[Frame]:
        """Every frame of the file, checked; afterwards `tail` says whether the end was torn.

        Raises MemoryDamaged with the offset, MemoryFormatUnsupported for a newer format.
        """
        with self._errors("read"):
            data = self._files.read(self.path)
        self._check_header(data)
        view = memoryview(data)
        offset, last = _HEADER.size, 0
        while offset < len(data):
            found = _frame_at(view, offset)
            if found is None:
                self._torn_or_damaged(data, offset)
                break
            if found.seq not in (0, last + 1):
                self.damaged(offset, f"commit {found.seq} follows commit {last}")
            last = found.seq or last
            yield found
            offset += _FRAME.size + len(found.payload)
        self._length = offset

    def start(self) -> None:
        """Ready to append, after every frame was read: a torn tail is cut and reported."""
        with self._errors("opened"):
            self._files.remove(self._folder / _DRAFT)
            self._file = self._files.open(self.path)
            if self.tail is not None:
                self._files.truncate(self._file, self.tail.offset)
                self._flush(self._file)
                _log.warning("%s: cut a torn tail of %d bytes at %d", self.path, self.tail.length, self.tail.offset)

    def append(self, seq: int, payload: bytes) -> None:
        """Write one frame and make it durable.

        Raises MemoryUnavailable when nothing was written, OutcomeUnknown when the sync failed: from then on the
        journal takes nothing more.
        """
        data = self._whole(seq, payload)
        with self._lock:
            file = self._ready()
            self._check_linked(file)
            try:
                self._files.write(file, data)
            except OSError as error:
                self._take_back(file, error)
            try:
                self._flush(file)
            except OSError as error:
                self._broken = f"a sync failed: {error.strerror or error}"
                with contextlib.suppress(OSError):
                    self._files.truncate(file, self._length)
                raise KipError(
                    "OutcomeUnknown",
                    f"the disk did not confirm the commit: {error.strerror or error}",
                    hint="nothing more is written here; close the memory and open it again to see what was kept",
                    details={"path": str(self.path)},
                ) from error
            self._length += len(data)

    def rewrite(self, change: Callable[[Frame], bytes | None], last: tuple[int, bytes] | None) -> None:
        """Replace the journal by one in which `change` gives frames other payloads (None leaves one as it is),
        with one more frame at its end. The old file stands until the new one is whole and durable."""
        with self._lock:
            old = self._ready()
            with self._errors("rewritten"):
                parts = self._changed(change)
                self._replace([*parts, *([self._whole(*last)] if last is not None else [])])
            with contextlib.suppress(OSError):
                self._files.close(old)
            with self._errors("opened"):
                self._file = self._files.open(self.path)

    def check(self) -> None:
        """Raises MemoryUnavailable when nothing more can be written."""
        self._ready()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
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

    def _ready(self) -> BinaryIO:
        if self._broken is not None or self._file is None or self._readonly:
            reason = self._broken or "it is not open for writing"
            raise KipError(
                "MemoryUnavailable",
                f"{self.path} takes no more writes: {reason}",
                hint="close the memory and open it again",
                details={"path": str(self.path)},
            )
        return self._file

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
        data = self._files.read(self.path)
        yield header()
        view = memoryview(data)
        offset = _HEADER.size
        while offset < self._length:
            found = _frame_at(view, offset)
            if found is None:
                self.damaged(offset, "the frame does not match its checksum")
            end = offset + _FRAME.size + len(found.payload)
            payload = change(found)
            yield data[offset:end] if payload is None else self._whole(found.seq, payload)
            offset = end

    def _replace(self, parts: Iterable[bytes]) -> None:
        draft = self._folder / _DRAFT
        file = self._files.open(draft, create=True)
        length = 0
        try:
            for part in parts:
                self._files.write(file, part)
                length += len(part)
            self._files.fsync(file)
        finally:
            self._files.close(file)
        self._files.rename(draft, self.path)
        self._files.sync_folder(self._folder)
        self._length = length

    def _check_header(self, data: bytes) -> None:
        if len(data) < _HEADER.size or data[:8] != MAGIC:
            self.damaged(0, "it does not begin like a journal")
        _, version, checksum = _HEADER.unpack_from(data)
        if crc32c(data[:12]) != checksum:
            self.damaged(0, "its header does not match its checksum")
        if version > FORMAT:
            raise KipError(
                "MemoryFormatUnsupported",
                f"{self.path} has format {version}, this kipql knows {FORMAT}",
                hint="use a newer kipql",
                details={"found": version, "supported": FORMAT},
            )

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


def _is_unwritten(data: bytes, offset: int) -> bool:
    rest = data[offset:]
    return not rest.strip(b"\0") or rest.endswith(bytes(_ZEROS))


def _follows(data: memoryview, start: int) -> bool:
    """Whether a whole frame stands anywhere from `start` on."""
    for offset in range(start, len(data) - _FRAME.size):
        length, seq, _ = _FRAME.unpack_from(data, offset)
        if 0 < length <= len(data) - offset - _FRAME.size and seq < 1 << 48 and _frame_at(data, offset) is not None:
            return True
    return False
