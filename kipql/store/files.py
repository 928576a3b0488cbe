"""The seam between the journal and the disk: the only file operations a memory makes, each one a method.

Tests put a double in here that fails, tears or loses a write at any of them. A name in the folder of a memory is a
regular file or an error: a link would lead out of the folder, and a pipe or a device would not end.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, Protocol

from kipql.store.lock import WriterLock

_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Held(Protocol):
    """A writer's lock that is held."""

    def release(self) -> None:
        """Let the next writer in."""
        ...


class Files:
    """Real files. Every method may raise OSError; the journal turns it into a KipError."""

    def exists(self, path: Path) -> bool:
        """Whether there is a file or folder."""
        return path.exists()

    def is_folder(self, path: Path) -> bool:
        """Whether there is a folder."""
        return path.is_dir()

    def lock(self, folder: Path) -> Held:
        """Be the one writer of a folder. Raises MemoryLocked, OSError."""
        return WriterLock(folder)

    def make_folder(self, path: Path) -> None:
        """Make a folder and its parents; one that is there is fine."""
        path.mkdir(parents=True, exist_ok=True)

    def names(self, path: Path) -> list[str]:
        """The names in a folder."""
        return sorted(entry.name for entry in path.iterdir())

    def read(self, path: Path) -> bytes:
        """The whole file."""
        with os.fdopen(_descriptor(path, os.O_RDONLY), "rb", buffering=0) as file:
            return file.read()

    def open(self, path: Path, *, create: bool = False) -> BinaryIO:
        """A file to write, unbuffered, positioned at its end; `create` starts it empty."""
        flags = os.O_RDWR | (os.O_CREAT if create else 0)
        file = os.fdopen(_descriptor(path, flags), "r+b", buffering=0)
        if create:
            file.truncate(0)
        file.seek(0, os.SEEK_END)
        return file

    def stamp(self, path: Path) -> tuple[int, ...]:
        """What is another one after each change of a file: its number, size and time."""
        found = os.lstat(path)
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def open_to_read(self, path: Path) -> BinaryIO:
        """A file to read piece by piece, unbuffered."""
        return os.fdopen(_descriptor(path, os.O_RDONLY), "rb", buffering=0)

    def size(self, file: BinaryIO) -> int:
        """How many bytes an open file has."""
        return os.fstat(file.fileno()).st_size

    def read_into(self, file: BinaryIO, buffer: bytearray, offset: int | None = None) -> int:
        """Fill `buffer` from where the file stands, or from an offset; how many bytes there were."""
        if offset is not None:
            file.seek(offset)
        rest, found = memoryview(buffer), 0
        while rest and (length := file.readinto(rest)):  # type: ignore[attr-defined]
            found += length
            rest = rest[length:]
        return found

    def write(self, file: BinaryIO, data: bytes | memoryview) -> None:
        """Write all of `data`."""
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]

    def linked(self, file: BinaryIO) -> bool:
        """Whether the file still has a name: what is written to a deleted file is lost."""
        return os.fstat(file.fileno()).st_nlink > 0

    def fsync(self, file: BinaryIO) -> None:
        """Until this returns, nothing written is durable."""
        os.fsync(file.fileno())

    def truncate(self, file: BinaryIO, length: int) -> None:
        """Cut the file and stand at its new end."""
        file.truncate(length)
        file.seek(length)

    def close(self, file: BinaryIO) -> None:
        """Close."""
        file.close()

    def rename(self, source: Path, target: Path) -> None:
        """Put `source` in the place of `target`, whole or not at all."""
        source.replace(target)

    def remove(self, path: Path) -> None:
        """Delete a file; one that is not there is fine."""
        path.unlink(missing_ok=True)

    def sync_folder(self, path: Path) -> None:
        """Make the entries of a folder durable, where the platform can."""
        if os.name == "nt":
            return
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _descriptor(path: Path, flags: int) -> int:
    descriptor = os.open(path, flags | _PLAIN, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return descriptor
