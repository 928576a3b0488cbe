"""The folder of a lake while an export writes: that it is one, that nothing leads out of it, and what goes.

Only what an export made is ever removed, by its name; what a link leads to is no file of the lake.
"""

import re
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from kipql.errors import KipError
from kipql.lake import layout
from kipql.lake.door import damaged
from kipql.lake.naming import FOLDER, partition, path_of

_NAMES = frozenset((FOLDER, *(table.name for table in layout.TABLES)))
_DESKTOP = frozenset((".DS_Store", "Thumbs.db", "desktop.ini"))  # what a desktop leaves in a folder that it shows
_PART = re.compile(r"part-[0-9]+-[0-9]+-[0-9a-f]{8}\.parquet", re.ASCII)
_MANIFESTS = re.compile(r".+\.(json|lock|json\.[0-9a-f]{8}\.tmp)", re.DOTALL)


def check(lake: Path, name: str) -> None:
    """Raises NotAMemory for a folder with something else than a lake in it, MemoryDamaged where a link leads out of it
    or a folder is none, OSError."""
    if not lake.exists():
        return
    if not lake.is_dir():
        raise _is_none(lake, "is no folder")
    held = {path.name for path in lake.iterdir()}
    for other in sorted(held - _NAMES - _DESKTOP):
        raise _is_none(lake, f"holds {other!r} and is no lake")
    if held & _NAMES and FOLDER not in held:
        raise _is_none(lake, f"has no folder {FOLDER!r} and is no lake")
    _check_folder(lake, lake / FOLDER)
    for table in layout.TABLES:
        _check_folder(lake, lake / table.name)
        _check_folder(lake, lake / table.name / partition(name))
    if FOLDER in held:
        _check_manifests(lake)


def _check_folder(lake: Path, folder: Path) -> None:
    if folder.is_symlink():
        raise damaged(lake, folder, "it is a link, which leads out of the lake", "put the folder in its place")
    if folder.exists() and not folder.is_dir():
        raise damaged(lake, folder, "it is no folder", "move it out of the lake")


def _check_manifests(lake: Path) -> None:
    for name in sorted(path.name for path in (lake / FOLDER).iterdir()):
        if not _MANIFESTS.fullmatch(name) and name not in _DESKTOP:
            raise _is_none(lake, f"holds {f'{FOLDER}/{name}'!r} and is no lake")


def _is_none(lake: Path, problem: str) -> KipError:
    return KipError(
        "NotAMemory",
        f"{lake} {problem}",
        hint="give a lake, or a folder that is empty or does not exist",
        details={"path": str(lake)},
    )


@contextmanager
def alone(lake: Path, name: str) -> Iterator[None]:
    """While nobody else exports under the name. Raises MemoryLocked, OSError."""
    path = path_of(lake, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(path.with_suffix(".lock"), timeout=0):
            yield
    except Timeout:
        raise KipError("MemoryLocked", f"another export of {name!r} into this lake is running") from None


def tidy(lake: Path, name: str, named: Set[str]) -> None:
    """Remove what exports of a Space made and is not `named`: also what one left that was killed. Raises OSError."""
    for table in layout.TABLES:
        folder = lake / table.name / partition(name)
        if folder.is_symlink() or folder.parent.is_symlink() or not folder.is_dir():
            continue
        for path in [*folder.iterdir()]:
            if _PART.fullmatch(path.name) and path.relative_to(lake).as_posix() not in named:
                path.unlink(missing_ok=True)
        drop_empty(folder)
    held = path_of(lake, name)
    draft = re.compile(re.escape(held.name) + r"\.[0-9a-f]{8}\.tmp")
    for path in [*held.parent.iterdir()]:
        if draft.fullmatch(path.name):
            path.unlink(missing_ok=True)


def drop_empty(folder: Path) -> None:
    """Remove the folder of a Space within a table, and that of the table, where they are empty."""
    with suppress(OSError):
        folder.rmdir()
        folder.parent.rmdir()
