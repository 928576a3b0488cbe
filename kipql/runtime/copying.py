"""`nexus.backup`: a copy of the folder, every Space at a commit boundary (§41.1).

Writers wait while the files are copied; readers do not. The copy appears under its name only when it is whole.
"""

import shutil
from contextlib import ExitStack
from pathlib import Path

from kipql.errors import KipError
from kipql.runtime.folder import sync_folder
from kipql.runtime.memory import Memory

_LEFT_OUT = ("lock", "*.lock", "*.tmp")


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
    draft = target.with_name(f"{target.name}.tmp")
    try:
        if target.exists():
            raise FileExistsError(f"{target} exists")
        with ExitStack() as stack:
            for space_id in memory.ids():
                stack.enter_context(memory.space(space_id, create=False).still())
            shutil.copytree(memory.path, draft, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        draft.rename(target)
        sync_folder(target.parent)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        raise KipError(
            "MemoryUnavailable", f"the backup could not be written: {error}", details={"path": str(target)}
        ) from error
