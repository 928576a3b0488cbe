"""A memory on disk: a folder with `nexus/` (control state) and `spaces/<id>/` (one store each).

`nexus/memory.json` makes a folder a memory and carries the format number of the layout. It is written once,
whole: a temporary file, fsync, rename, fsync of the folder. `nexus/spaces/<id>` remembers that a Space was made,
so that one whose journal has vanished is damage and never a new, empty Space. `nexus/governed` says that rules
decide in a Space, so that the others are not open to everybody while that one is closed.
"""

import json
import os
from pathlib import Path
from urllib.parse import quote, unquote

from kipql.errors import KipError

FORMAT = 1
_MARK = "kipql-memory"


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
        elif readonly or (path.exists() and (not path.is_dir() or any(path.iterdir()))):
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
    return path / "spaces" / quote(space_id, safe="")


def space_ids(path: Path) -> list[str]:
    """The Spaces of a memory, ordered by id: those that were made, and any folder with a journal. A folder that no
    Space wrote is none."""
    names = {each.parent.name for each in (path / "spaces").glob("*/journal")}
    names |= {each.name for each in (path / "nexus" / "spaces").glob("*")}
    return sorted(unquote(name) for name in names if quote(unquote(name), safe="") == name)


def check_space(path: Path, space_id: str) -> None:
    """Raises MemoryDamaged when a Space was made and its journal is gone."""
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
        mark.parent.mkdir(exist_ok=True)
        mark.touch()
        sync_folder(mark.parent)
        sync_folder(mark.parent.parent)
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
        mark.touch()
        sync_folder(mark.parent)
    except OSError as error:
        raise KipError("MemoryUnavailable", f"{mark} can not be written: {error.strerror or error}") from error


def _space_mark(path: Path, space_id: str) -> Path:
    return path / "nexus" / "spaces" / quote(space_id, safe="")


def sync_folder(path: Path) -> None:
    """Make the entries of a folder durable, where the platform can."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _create(mark: Path) -> None:
    mark.parent.mkdir(parents=True, exist_ok=True)
    (mark.parent.parent / "spaces").mkdir(exist_ok=True)
    draft = mark.with_suffix(".tmp")
    with draft.open("w", encoding="utf-8") as file:
        json.dump({"format": _MARK, "version": FORMAT}, file)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(mark)
    sync_folder(mark.parent)
    sync_folder(mark.parent.parent)


def _check(mark: Path) -> None:
    try:
        control = json.loads(mark.read_text(encoding="utf-8"))
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
