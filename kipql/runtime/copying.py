"""`nexus.backup`: a copy of the folder, every Space at a commit boundary (§41.1).

Writers wait while the files are copied; readers do not. The copy appears under its name only when it is whole and on
the disk. Of each Space the journal is copied before the snapshots, because a writer in another process makes them in
the other order: so there is always a snapshot that the copied journal continues.
"""

import shutil
from contextlib import ExitStack
from pathlib import Path

from kipql.errors import KipError
from kipql.runtime.arriving import new_folder
from kipql.runtime.folder import space_folder
from kipql.runtime.memory import Memory

_LEFT_OUT = ("lock", "*.lock", "*.tmp")
_JOURNAL, _SNAPSHOTS = "journal", "snapshot-*"
_TRIES = 5


def backup(memory: Memory, target: Path) -> None:
    """Copy an open memory to a folder that does not exist yet.

    Raises UnsupportedCapability for a memory without a folder, MemoryUnavailable when the target exists or the
    disk refuses.
    """
    if memory.path is None:
        raise KipError(
            "UnsupportedCapability", "a memory without a folder has no files to copy", hint="open it with a path"
        )
    if target.resolve().is_relative_to(memory.path.resolve()):
        raise KipError("MemoryUnavailable", f"{target} is inside the memory", hint="name a folder beside it")
    try:
        with new_folder(target) as draft, ExitStack() as stack:
            ids = memory.ids()
            for space_id in ids:
                space = memory.space(space_id, create=False)
                stack.enter_context(space.still())
                space.store.settle()
            rest = shutil.ignore_patterns(*_LEFT_OUT, _JOURNAL, _SNAPSHOTS)
            shutil.copytree(memory.path, draft, ignore=rest, dirs_exist_ok=True)
            for space_id in ids:
                _copy_space(space_folder(memory.path, space_id), space_folder(draft, space_id))
    except OSError as error:
        raise KipError(
            "MemoryUnavailable", f"the backup could not be written: {error}", details={"path": str(target)}
        ) from error


def _copy_space(source: Path, target: Path) -> None:
    for left in reversed(range(_TRIES)):
        try:
            shutil.copyfile(source / _JOURNAL, target / _JOURNAL)
            for path in sorted(source.glob(_SNAPSHOTS)):
                shutil.copyfile(path, target / path.name)
        except FileNotFoundError:  # a writer in another process has a newer snapshot
            if not left:
                raise
            for path in target.glob(_SNAPSHOTS):
                path.unlink()
        else:
            return
