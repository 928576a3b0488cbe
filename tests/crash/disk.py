"""A disk in memory behind the seam `kipql.store.files`: a call can fail, and the power can go.

What was written is in the cache until a sync; a rename or a new name until its folder is synced. `after_power_loss` is
what a machine may find afterwards: of each file what was synced and some prefix of the rest, of the names those that
were synced or those of the end.
"""

import errno
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from kipql.errors import KipError
from kipql.store.files import Files, Held

FAILS = ("open", "open_to_read", "read", "read_into", "write", "fsync", "truncate", "close", "rename", "remove",
         "names", "make_folder", "sync_folder", "linked", "size", "lock")  # fmt: skip


@dataclass
class Inode:
    """A file: its bytes, those that are on the disk, and how many names it has."""

    data: bytearray = field(default_factory=bytearray)
    durable: bytes = b""
    names: int = 1


@dataclass
class Open:
    """An open file."""

    inode: Inode
    at: int = 0


class _Lock:
    def __init__(self, held: set[Path], folder: Path) -> None:
        self._held, self._folder = held, folder

    def release(self) -> None:
        self._held.discard(self._folder)


class MemoryDisk(Files):
    """Files in memory. `fail_at` is the number of the call that fails, `error` with what; `short` writes half first."""

    def __init__(self, held: dict[str, bytes] | None = None) -> None:
        self.folders: dict[Path, dict[str, Inode]] = {}
        self.durable: dict[Path, dict[str, Inode]] = {}
        self.locks: set[Path] = set()
        self.calls = 0
        self.fail_at = 0
        self.error = errno.ENOSPC
        self.failed = ""  # the call that failed
        if held is not None:
            names = {name: Inode(bytearray(data), data) for name, data in held.items()}
            self.folders[FOLDER], self.durable[FOLDER] = names, dict(names)

    # the calls

    def exists(self, path: Path) -> bool:
        return path in self.folders or path.name in self.folders.get(path.parent, ())

    def is_folder(self, path: Path) -> bool:
        return path in self.folders

    def make_folder(self, path: Path) -> None:
        self.folders.setdefault(path, {})
        self.durable.setdefault(path, {})

    def lock(self, folder: Path) -> Held:
        if folder in self.locks:
            raise KipError("MemoryLocked", "another writer has it open")
        self.locks.add(folder)
        return _Lock(self.locks, folder)

    def names(self, path: Path) -> list[str]:
        return sorted(self.folders[path])

    def read(self, path: Path) -> bytes:
        return bytes(self._inode(path).data)

    def open(self, path: Path, *, create: bool = False) -> BinaryIO:
        if create:
            self.folders[path.parent].setdefault(path.name, Inode())
        inode = self._inode(path)
        if create:
            inode.data = bytearray()
        return Open(inode, len(inode.data))  # type: ignore[return-value]

    def open_to_read(self, path: Path) -> BinaryIO:
        return Open(self._inode(path))  # type: ignore[return-value]

    def size(self, file: Any) -> int:
        return len(file.inode.data)

    def read_into(self, file: Any, buffer: bytearray, offset: int | None = None) -> int:
        if offset is not None:
            file.at = offset
        found = file.inode.data[file.at : file.at + len(buffer)]
        buffer[: len(found)] = found
        file.at += len(found)
        return len(found)

    def write(self, file: Any, data: bytes | memoryview) -> None:
        file.inode.data[file.at : file.at + len(data)] = data
        file.at += len(data)

    def linked(self, file: Any) -> bool:
        return bool(file.inode.names)

    def fsync(self, file: Any) -> None:
        file.inode.durable = bytes(file.inode.data)

    def truncate(self, file: Any, length: int) -> None:
        del file.inode.data[length:]
        file.at = length

    def close(self, file: Any) -> None:
        pass

    def rename(self, source: Path, target: Path) -> None:
        names = self.folders[source.parent]
        if target.name in names:
            names[target.name].names = 0
        names[target.name] = names.pop(source.name)

    def remove(self, path: Path) -> None:
        inode = self.folders[path.parent].pop(path.name, None)
        if inode is not None:
            inode.names = 0

    def sync_folder(self, path: Path) -> None:
        self.durable[path] = dict(self.folders[path])

    # what a test does

    def _inode(self, path: Path) -> Inode:
        try:
            return self.folders[path.parent][path.name]
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path)) from None

    def counted(self, name: str, file: Any, data: bytes) -> None:
        """Count a call and let it fail when it is its turn."""
        self.calls += 1
        if self.calls == self.fail_at:
            self.failed = name
            if name == "write" and self.error == SHORT:
                MemoryDisk.write(self, file, data[: len(data) // 2])
            raise OSError(errno.ENOSPC if self.error == SHORT else self.error, os.strerror(abs(self.error)))

    def failing(self, *_: object) -> None:
        """A call that fails."""
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def after_power_loss(self, seed: int) -> "MemoryDisk":
        """What another start of the machine finds."""
        own, found = random.Random(seed), MemoryDisk()
        for folder, now in self.folders.items():
            names = now if own.random() < 0.5 else self.durable.get(folder, {})
            found.make_folder(folder)
            for name, inode in names.items():
                data, rest = inode.durable, bytes(inode.data)[len(inode.durable) :]
                if bytes(inode.data[: len(data)]) == data:
                    data += rest[: own.randrange(len(rest) + 1)]
                elif own.random() < 0.5:
                    data = bytes(inode.data)
                found.folders[folder][name] = Inode(bytearray(data), data)
            found.durable[folder] = dict(found.folders[folder])
        return found

    def copied(self) -> "MemoryDisk":
        """The same disk for another process, whose locks are gone."""
        found = MemoryDisk()
        for folder, names in self.folders.items():
            found.folders[folder] = {
                name: Inode(bytearray(each.data), bytes(each.data)) for name, each in names.items()
            }
            found.durable[folder] = dict(found.folders[folder])
        return found


SHORT = -errno.ENOSPC
FOLDER = Path("space")


def _counting(name: str) -> Callable[..., Any]:
    call = getattr(MemoryDisk, name)

    def counted(self: MemoryDisk, *args: Any, **options: Any) -> Any:
        self.counted(name, args[0] if args else None, args[1] if name == "write" else b"")
        return call(self, *args, **options)

    return counted


class FailingDisk(MemoryDisk):
    """A MemoryDisk that counts."""


for _name in FAILS:
    setattr(FailingDisk, _name, _counting(_name))
