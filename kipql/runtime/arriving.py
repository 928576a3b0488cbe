"""A new folder or file that is there whole or not at all: made under a name of its own, synced, then renamed."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kipql.runtime.folder import sync_folder


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """The draft of a folder that does not exist yet; it becomes `target` when the block ends. Raises OSError."""
    if target.exists() or target.is_symlink():
        raise FileExistsError(f"{target} exists")
    draft = _draft(target)
    draft.mkdir()
    try:
        yield draft
        _sync_tree(draft)
        if target.exists() or target.is_symlink():  # an empty folder would be replaced
            raise FileExistsError(f"{target} exists")
        draft.rename(target)
        sync_folder(target.parent)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """The draft of a file, which takes the place of `target` when the block ends. Raises OSError."""
    draft = _draft(target)
    try:
        yield draft
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(target)
        sync_folder(target.parent)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def _draft(target: Path) -> Path:
    """A name beside the target that nobody else uses."""
    return target.with_name(f"{target.name}.{os.urandom(4).hex()}.tmp")


def _sync_tree(folder: Path) -> None:
    for path in [*folder.rglob("*")]:
        if path.is_dir():
            sync_folder(path)
        elif path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
    sync_folder(folder)
