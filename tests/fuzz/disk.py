"""A memory folder in memory, to be read only; and checksums put right, so that the fuzzer gets past them."""

import io
import struct
from pathlib import Path
from typing import BinaryIO

from kipql.store.checksum import crc32c
from kipql.store.files import Files

FOLDER = Path("space")
_FRAME = struct.Struct("<IQI")
_FOOTER = 16 + 32 + 4


class Held(Files):
    """A folder with these files."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._held = files

    def exists(self, path: Path) -> bool:
        return path == FOLDER or path.name in self._held

    def names(self, path: Path) -> list[str]:
        return sorted(self._held)

    def read(self, path: Path) -> bytes:
        return self._held[path.name]

    def open_to_read(self, path: Path) -> BinaryIO:
        return io.BytesIO(self._held[path.name])

    def size(self, file: BinaryIO) -> int:
        assert isinstance(file, io.BytesIO)
        return len(file.getbuffer())


def journal_mended(data: bytes) -> bytes:
    """The same journal, every checksum right as far as the lengths lead."""
    mended = bytearray(data)
    start = 12 + (16 if data[8:12] == b"\2\0\0\0" else 0)
    mended[start : start + 4] = crc32c(mended[:start]).to_bytes(4, "little")
    at = start + 4
    while at + _FRAME.size <= len(mended):
        length, seq, _ = _FRAME.unpack_from(mended, at)
        end = at + _FRAME.size + length
        if end > len(mended):
            break
        right = crc32c(struct.pack("<IQ", length, seq), mended[at + _FRAME.size : end])
        _FRAME.pack_into(mended, at, length, seq, right)
        at = end
    return bytes(mended)


def snapshot_mended(data: bytes) -> bytes:
    """The same snapshot, every checksum right that can be found: the header's, each section's, the directory's."""
    from kipql.store.codec import Invalid, pack, unpack

    if len(data) < 16 + _FOOTER:
        return data
    body, footer = bytearray(data[:-_FOOTER]), data[-_FOOTER:]
    body[12:16] = crc32c(body[:12]).to_bytes(4, "little")
    offset, length = struct.unpack_from("<QI", footer)
    if offset + length != len(body):
        return data
    listed = bytes(body[offset:])
    try:
        directory = unpack(listed)
        at = 16
        for section in directory["sections"]:  # type: ignore[index,call-overload]
            end = at + section[2]
            section[3] = crc32c(body[at:end])
            at = end
        listed = pack(directory)
    except (Invalid, TypeError, KeyError, IndexError):
        pass
    body[offset:] = listed
    end_ = struct.pack("<QII", offset, len(listed), crc32c(listed)) + footer[16:48]
    return bytes(body) + end_ + crc32c(end_).to_bytes(4, "little")
