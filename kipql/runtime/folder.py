"""A memory on disk: a folder with `nexus/` (control state) and `spaces/<id>/` (one store each).

`nexus/memory.json` makes a folder a memory and carries the format number of the layout. It is written once,
whole: a temporary file, fsync, rename, fsync of the folder. `nexus/spaces/<id>` remembers that a Space was made,
so that one whose journal has vanished is damage and never a new, empty Space. `nexus/governed` says that rules
decide in a Space, so that the others are not open to everybody while that one is closed.

Making a memory ends with the rename of that file: what a crash before leaves is no memory yet, and is made anew.
"""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from kipql.errors import KipError

if TYPE_CHECKING:
    from kipql.store.files import Files

FORMAT = 1
_MARK = "kipql-memory"
_LONGEST = 255  # characters of a name in the usual file systems


def path_of(value: object) -> Path:
    """The path of a memory as a caller gives it. Raises TypeMismatch or NotAMemory for what is none."""
    if not isinstance(value, str | os.PathLike):
        raise KipError("TypeMismatch", f"a path is a string or a Path, not {type(value).__name__}")
    text = os.fspath(value)
    if not isinstance(text, str):
        raise KipError("TypeMismatch", f"a path is a string or a Path, not {type(text).__name__}")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise KipError("NotAMemory", f"{text!r} is no path: it holds half of a surrogate pair") from None
    if not text or "\0" in text:
        raise KipError("NotAMemory", f"{text!r} is no path", hint="give the folder of the memory")
    return Path(text)


def open_folder(path: Path, *, readonly: bool) -> None:
    """Make sure that `path` is a memory; a missing or empty folder becomes one.

    Raises NotAMemory for anything else (and for what is missing, when only reading), MemoryFormatUnsupported
    for a newer layout, MemoryUnavailable when the disk refuses.
    """
    try:
        mark = path / "nexus" / "memory.json"
        if mark.is_file():
            _check(mark)
        elif readonly or (path.exists() and not (path.is_dir() and _is_unmade(path))):
            raise KipError(
                "NotAMemory",
                f"{path} is no memory" if path.exists() else f"there is no memory at {path}",
                hint="give the folder that kipql made; opened writable, a missing or empty folder becomes a memory",
                details={"path": str(path)},
            )
        else:
            _create(mark)
    except OSError as error:
        raise KipError(
            "MemoryUnavailable", f"{path} can not be opened: {error.strerror or error}", details={"path": str(path)}
        ) from error


def space_folder(path: Path, space_id: str) -> Path:
    """Where a Space lives; its id is percent-encoded, so that every file system can hold it."""
    return path / "spaces" / _named(space_id)


def space_ids(path: Path) -> list[str]:
    """The Spaces of a memory, ordered by id: those that were made, and any folder with a journal. A folder that no
    Space wrote is none."""
    names = {each.parent.name for each in (path / "spaces").glob("*/journal")}
    names |= {each.name for each in (path / "nexus" / "spaces").glob("*")}
    return sorted(unquote(name) for name in names if _named(unquote(name)) == name)


def check_space(path: Path, space_id: str) -> None:
    """Raises MemoryUnavailable when the folder is no memory any more, MemoryDamaged when a Space was made and its
    journal is gone."""
    if not (path / "nexus" / "memory.json").is_file():
        raise KipError(
            "MemoryUnavailable",
            f"the memory {path} is gone",
            hint="it was moved or removed while it was open; restore it",
            details={"path": str(path)},
        )
    if _space_mark(path, space_id).exists() and not (space_folder(path, space_id) / "journal").exists():
        raise KipError(
            "MemoryDamaged",
            f"the Space {space_id!r} was made here, and its journal is gone",
            hint="restore the folder from a backup",
            details={"path": str(space_folder(path, space_id))},
        )


def remember_space(path: Path, space_id: str) -> None:
    """Record durably that a Space was made. Raises MemoryUnavailable."""
    mark = _space_mark(path, space_id)
    if mark.exists():
        return
    try:
        _mark(mark)
    except OSError as error:
        raise KipError("MemoryUnavailable", f"{mark} can not be written: {error.strerror or error}") from error


def is_governed(path: Path) -> bool:
    """Whether rules decide in some Space of the memory, opened or not (§30.2)."""
    return (path / "nexus" / "governed").exists()


def remember_governed(path: Path) -> None:
    """Record durably that rules decide in the memory. Raises MemoryUnavailable."""
    mark = path / "nexus" / "governed"
    if mark.exists():
        return
    try:
        _mark(mark)
    except OSError as error:
        raise KipError("MemoryUnavailable", f"{mark} can not be written: {error.strerror or error}") from error


def _space_mark(path: Path, space_id: str) -> Path:
    return path / "nexus" / "spaces" / _named(space_id)


def _named(space_id: str) -> str:
    """The name of a folder for a Space id. Raises ConstraintViolation for an id that no file system holds."""
    try:
        name = quote(space_id, safe="")
    except UnicodeEncodeError:
        raise KipError("ConstraintViolation", f"the Space id {space_id!r} holds half of a surrogate pair") from None
    if len(name) > _LONGEST:
        raise KipError(
            "ConstraintViolation",
            f"the Space id has {len(name)} characters when it is written as a folder's name; {_LONGEST} is the most",
            hint="give the Space a shorter id",
        )
    return name.replace(".", "%2E") if name in (".", "..") else name  # which are other folders


def sync_folder(path: Path) -> None:
    """Make the entries of a folder durable, where the platform can."""
    _files().sync_folder(path)


def _files() -> "Files":
    from kipql.store.files import Files

    return Files()


def _is_unmade(path: Path) -> bool:
    """Whether a folder is empty, or holds what a crash left of a memory that was being made."""
    allowed = {"": {"nexus", "spaces"}, "nexus": {"memory.tmp"}, "spaces": set[str]()}
    return all(
        {each.name for each in (path / folder).iterdir()} <= names
        for folder, names in allowed.items()
        if not folder or (path / folder).exists()
    )


def _create(mark: Path) -> None:
    files = _files()
    files.make_folder(mark.parent)
    files.make_folder(mark.parent.parent / "spaces")
    draft = mark.with_suffix(".tmp")
    file = files.open(draft, create=True)
    try:
        files.write(file, json.dumps({"format": _MARK, "version": FORMAT}).encode() + b"\n")
        files.fsync(file)
    finally:
        files.close(file)
    files.rename(draft, mark)
    for folder in (mark.parent, mark.parent.parent):
        files.sync_folder(folder)


def _mark(path: Path) -> None:
    """Make an empty file, durably."""
    files = _files()
    files.make_folder(path.parent)
    files.close(files.open(path, create=True))
    for folder in (path.parent, path.parent.parent):
        files.sync_folder(folder)


def _check(mark: Path) -> None:
    try:
        control = json.loads(_files().read(mark))
        version = control["version"] if control["format"] == _MARK else None
    except (ValueError, KeyError, TypeError, RecursionError):
        version = None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise KipError("MemoryDamaged", f"{mark} is not what kipql wrote", details={"path": str(mark)})
    if version > FORMAT:
        raise KipError(
            "MemoryFormatUnsupported",
            f"the memory has layout {version}, this kipql knows {FORMAT}",
            hint="use a newer kipql",
            details={"found": version, "supported": FORMAT},
        )
