"""The seam between the journal and the disk: the only file operations a memory makes, each one a method.

Tests put a double in here that fails, tears or loses a write at any of them.
"""

import os
from pathlib import Path
from typing import BinaryIO


class Files:
    """Real files. Every method may raise OSError; the journal turns it into a KipError."""

    def exists(self, path: Path) -> bool:
        """Whether there is a file or folder."""
        return path.exists()

    def make_folder(self, path: Path) -> None:
        """Make a folder and its parents; one that is there is fine."""
        path.mkdir(parents=True, exist_ok=True)

    def names(self, path: Path) -> list[str]:
        """The names in a folder."""
        return sorted(entry.name for entry in path.iterdir())

    def read(self, path: Path) -> bytes:
        """The whole file."""
        return path.read_bytes()

    def open(self, path: Path, *, create: bool = False) -> BinaryIO:
        """A file to write, unbuffered, positioned at its end; `create` starts it empty."""
        file = path.open("w+b" if create else "r+b", buffering=0)
        file.seek(0, os.SEEK_END)
        return file

    def write(self, file: BinaryIO, data: bytes) -> None:
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
