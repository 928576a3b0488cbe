"""A snapshot file: named sections, each with its digest, as the store will use them (docs/storage.md).

    header     8 bytes magic, u32 format, u32 CRC-32C of those 12 bytes
    sections   one after the other, nothing between them
    directory  msgpack: {seq, notes, sections: [[name, kind, length, CRC-32C], ...]}
    footer     u64 offset and u32 length of the directory, its CRC-32C, SHA-256 of all before the footer, u32 CRC-32C
               of the footer so far

A section is numbers (kind i, I, q, Q or d, little-endian), bytes (b) or msgpack (m). Opening checks every CRC; the
SHA-256 is for `doctor`. What a snapshot says is in `freeze` and `thaw`.
"""

import struct
import sys
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

from kipql.errors import KipError
from kipql.store.checksum import crc32c
from kipql.store.codec import Invalid, pack, unpack
from kipql.store.files import Files
from kipql.values import Json

MAGIC = b"KIPSS\r\n\x1a"
FORMAT = 1
PREFIX = "snapshot-"
DRAFT = "snapshot.tmp"
_HEADER = struct.Struct("<8sII")
_PLACE = struct.Struct("<QII")
_FOOTER = _PLACE.size + 32 + 4
_NUMBERS = {"i": 4, "I": 4, "q": 8, "Q": 8, "d": 8}
_PIECE = 1 << 22  # written and digested at once, so that other threads get their turn


class Section(NamedTuple):
    """One section to write."""

    name: str
    kind: str
    content: Any


class Snapshot(NamedTuple):
    """A snapshot as read: the commits and notes it covers, its length, its sections by name, and the kind of each."""

    path: Path
    seq: int
    notes: int
    size: int
    sections: dict[str, Any]
    kinds: dict[str, str] = {}  # noqa: RUF012  # never changed


def name_of(seq: int) -> str:
    """The file name of a snapshot; names sort as their sequences do."""
    return f"{PREFIX}{seq:012d}"


def seq_of(name: str) -> int | None:
    """The sequence that a file name says, None when it names no snapshot."""
    digits = name.removeprefix(PREFIX)
    return int(digits) if digits != name and len(digits) == 12 and digits.isascii() and digits.isdecimal() else None


def publish(files: Files, folder: Path, seq: int) -> None:
    """Give a draft its name. Raises OSError."""
    files.rename(folder / DRAFT, folder / name_of(seq))
    files.sync_folder(folder)


def write_draft(files: Files, folder: Path, seq: int, notes: int, sections: Iterable[Section]) -> int:
    """Write a snapshot durably under the name of a draft; its length. Raises OSError."""
    file = files.open(folder / DRAFT, create=True)
    try:
        out = _Out(files, file)
        start = struct.pack("<8sI", MAGIC, FORMAT)
        out.put(start + struct.pack("<I", crc32c(start)))
        listed: list[Json] = [out.section(section) for section in sections]
        directory = pack({"seq": seq, "notes": notes, "sections": listed})
        offset = out.length
        out.put(directory)
        end = _PLACE.pack(offset, len(directory), crc32c(directory)) + out.digest.digest()
        out.put(end + struct.pack("<I", crc32c(end)))
        files.fsync(file)
    finally:
        files.close(file)
    return out.length


def read(files: Files, path: Path, broken: list[str] | None = None) -> Snapshot:
    """A snapshot, every section checked. Raises MemoryDamaged, MemoryFormatUnsupported for a newer format, OSError.

    broken  where given, sections that do not match their checksum are named there, and are there as they are
    """
    file = files.open_to_read(path)
    try:
        return _Reader(files, file, path, broken).snapshot()
    finally:
        files.close(file)


def verify(files: Files, path: Path) -> None:
    """Check the SHA-256 of the whole file as well. Raises as `read` does."""
    from hashlib import sha256

    read(files, path)
    data = memoryview(files.read(path))
    if sha256(data[:-_FOOTER]).digest() != data[-36:-4]:
        damaged(path, "its SHA-256 does not match")


def damage(path: Path, what: str) -> KipError:
    """MemoryDamaged for a snapshot."""
    return KipError(
        "MemoryDamaged",
        f"{path} is damaged: {what}",
        hint="nothing was changed; restore the folder from a backup",
        details={"path": str(path)},
    )


def damaged(path: Path, what: str) -> NoReturn:
    """Raise MemoryDamaged for a snapshot."""
    raise damage(path, what)


class _Out:
    """Writes, counts and digests."""

    def __init__(self, files: Files, file: BinaryIO) -> None:
        from hashlib import sha256

        self._files = files
        self._file = file
        self.length = 0
        self.digest = sha256()

    def put(self, data: bytes) -> None:
        """Write some bytes."""
        self._files.write(self._file, data)
        self.digest.update(data)
        self.length += len(data)

    def section(self, section: Section) -> Json:
        """Write a section; its entry of the directory."""
        checksum = 0
        with memoryview(_bytes_of(section)) as whole, whole.cast("B") as data:
            for at in range(0, len(data), _PIECE):
                piece = bytes(data[at : at + _PIECE])  # a view kept by a traceback would stop its table from growing
                checksum = crc32c(piece, before=checksum)
                self.put(piece)
            return [section.name, section.kind, len(data), checksum]


class _Reader:
    """Reads one file."""

    def __init__(self, files: Files, file: BinaryIO, path: Path, broken: list[str] | None = None) -> None:
        self._broken = broken
        self._files = files
        self._file = file
        self._path = path
        self._size = files.size(file)

    def snapshot(self) -> Snapshot:
        self._check_header()
        directory, end = self._directory()
        try:
            seq, notes = directory["seq"], directory["notes"]
            listed = [
                (str(name), str(kind), int(length), int(crc)) for name, kind, length, crc in directory["sections"]
            ]
        except (TypeError, ValueError, KeyError):
            damaged(self._path, "its directory is not what kipql writes")
        counts = (seq, notes)
        if any(isinstance(count, bool) or not isinstance(count, int) or count < 0 for count in counts):
            damaged(self._path, "its directory has no sequence")
        lengths = [length for _, _, length, _ in listed]
        if min(lengths, default=0) < 0 or _HEADER.size + sum(lengths) != end:
            damaged(self._path, "its sections do not fill it")
        sections = {name: self._section(name, kind, length, crc) for name, kind, length, crc in listed}
        kinds = {name: kind for name, kind, _, _ in listed}
        return Snapshot(self._path, seq, notes, self._size, sections, kinds)

    def _check_header(self) -> None:
        if self._size < _HEADER.size + _FOOTER:
            damaged(self._path, "it is too short")
        start = self._take(_HEADER.size, 0)
        magic, version, checksum = _HEADER.unpack(start)
        if magic != MAGIC or crc32c(start[:12]) != checksum:
            damaged(self._path, "it does not begin like a snapshot")
        if version > FORMAT:
            raise KipError(
                "MemoryFormatUnsupported",
                f"{self._path} has format {version}, this kipql knows {FORMAT}",
                hint="use a newer kipql",
                details={"found": version, "supported": FORMAT},
            )

    def _directory(self) -> tuple[Any, int]:
        footer = self._take(_FOOTER, self._size - _FOOTER)
        if crc32c(footer[:-4]) != int.from_bytes(footer[-4:], "little"):
            damaged(self._path, "its end does not match its checksum")
        offset, length, checksum = _PLACE.unpack_from(footer)
        if offset < _HEADER.size or offset + length != self._size - _FOOTER:
            damaged(self._path, "its directory is not where it should be")
        data = self._take(length, offset)
        if crc32c(data) != checksum:
            damaged(self._path, "its directory does not match its checksum")
        try:
            found = unpack(bytes(data))
        except Invalid as error:
            damaged(self._path, f"its directory is {error}")
        self._take(0, _HEADER.size)
        return found, offset

    def _section(self, name: str, kind: str, length: int, checksum: int) -> Any:
        data = self._take(length)
        if crc32c(data) != checksum:
            if self._broken is None:
                damaged(self._path, f"section {name} does not match its checksum")
            self._broken.append(name)
            return data
        if kind == "b":
            return data
        if kind == "m":
            try:
                return unpack(bytes(data))
            except Invalid as error:
                damaged(self._path, f"section {name} is {error}")
        if kind not in _NUMBERS or length % _NUMBERS[kind]:
            damaged(self._path, f"section {name} is no table of numbers")
        numbers: array[Any] = array(kind)
        numbers.frombytes(data)
        if sys.byteorder == "big":
            numbers.byteswap()
        return numbers

    def _take(self, length: int, offset: int | None = None) -> bytearray:
        data = bytearray(length)
        if self._files.read_into(self._file, data, offset) != length:
            damaged(self._path, "it ends too early")
        return data


def _bytes_of(section: Section) -> Any:
    if section.kind == "m":
        return pack(section.content)
    if section.kind == "b" or sys.byteorder == "little":
        return section.content
    swapped = array(section.kind, section.content)
    swapped.byteswap()
    return swapped
