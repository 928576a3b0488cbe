"""`nexus.backup`: a copy of the folder, every Space at a commit boundary (§41.1).

Writers wait while the files are opened, not while they are copied: a journal only grows, and any other change puts a
file in the place of another, which leaves an open one as it is. The copy appears under its name only when it is whole
and on the disk. Of each Space the journal is opened before the snapshots, because a writer makes them in the other
order: so there is always a snapshot that the copied journal continues.
"""

import os
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, NamedTuple

from kipql.errors import KipError
from kipql.limits import Cancel
from kipql.runtime.arriving import new_folder
from kipql.runtime.folder import space_folder
from kipql.runtime.memory import Memory
from kipql.store.files import Files

_LEFT_OUT = ("lock", "*.lock", "*.tmp")
_JOURNAL, _SNAPSHOTS = "journal", "snapshot-*"
_TRIES = 5
_PIECE = 1 << 20
_OPEN_FILES_STAY = os.name != "nt"  # where an open file can not be replaced, writers wait for the whole copy


class _Source(NamedTuple):
    """A file to copy, and how many bytes of it."""

    file: BinaryIO
    length: int
    target: Path


def backup(memory: Memory, target: Path, cancel: Cancel) -> None:
    """Copy an open memory to a folder that does not exist yet.

    Raises ExecutionTimeout, UnsupportedCapability for a memory without a folder, MemoryUnavailable when the target
    exists or the disk refuses.
    """
    if memory.path is None:
        raise KipError(
            "UnsupportedCapability", "a memory without a folder has no files to copy", hint="open it with a path"
        )
    if target.resolve().is_relative_to(memory.path.resolve()):
        raise KipError("MemoryUnavailable", f"{target} is inside the memory", hint="name a folder beside it")
    try:
        with new_folder(target) as draft, ExitStack() as opened:
            with ExitStack() as still:
                ids = memory.ids()
                for space_id in ids:
                    space = memory.space(space_id, create=False)
                    if memory.follows:
                        space.look()
                    still.enter_context(space.still())
                    space.store.settle()
                rest = shutil.ignore_patterns(*_LEFT_OUT, _JOURNAL, _SNAPSHOTS)
                shutil.copytree(memory.path, draft, ignore=rest, dirs_exist_ok=True)
                sources = [
                    source
                    for space_id in ids
                    for source in _opened(space_folder(memory.path, space_id), space_folder(draft, space_id), opened)
                ]
                if not _OPEN_FILES_STAY:
                    _copy(sources, cancel)
            if _OPEN_FILES_STAY:
                _copy(sources, cancel)
    except OSError as error:
        raise KipError(
            "MemoryUnavailable",
            f"the backup could not be written: {error.strerror or error}",
            details={"path": str(target)},
        ) from error


def _opened(source: Path, target: Path, opened: ExitStack) -> list[_Source]:
    """The files of a Space, as long as they are now."""
    for left in reversed(range(_TRIES)):
        with ExitStack() as trying:
            try:
                found = [_open(source / _JOURNAL, target, trying)]
                found += [_open(path, target, trying) for path in sorted(source.glob(_SNAPSHOTS))]
            except FileNotFoundError:  # a newer snapshot has taken its place
                if not left:
                    raise
            else:
                opened.push(trying.pop_all())
                return found
    raise AssertionError


def _open(path: Path, folder: Path, opened: ExitStack) -> _Source:
    file = opened.enter_context(Files().open_to_read(path))
    return _Source(file, os.fstat(file.fileno()).st_size, folder / path.name)


def _copy(sources: list[_Source], cancel: Cancel) -> None:
    for source in sources:
        left = source.length
        with source.target.open("wb") as file:
            while left and (piece := source.file.read(min(left, _PIECE))):
                cancel.look()
                file.write(piece)
                left -= len(piece)
