"""Spaces of a lake by name, and the files their names stand in (docs/scale.md, "Export").

A Space's manifest is `spaces/NAME.json`, the name percent-encoded; one that is too long for a path is `%%` and its
SHA-256, and stands in the manifest. A file that no name is written as is listed as it is called: asked for, it is
damage, and no reason to hide the Spaces beside it.
"""

import hashlib
import json
import os
import stat
from pathlib import Path
from urllib.parse import quote, unquote

from kipql.errors import KipError
from kipql.lake.door import damaged, unread
from kipql.values import Json

FOLDER = "spaces"
LONGEST = 512
"""Characters of a name."""
_FITS = 200  # characters of a name as it is in a path; the longest in the usual file systems is 255
_SHORT = "%%"  # begins what stands for a longer name; no name reads so, since `%` itself is `%25`


def partition(name: str) -> str:
    """The folder of a Space within a table."""
    return f"space_id={_filed(name)}"


def path_of(lake: Path, name: str) -> Path:
    """Where the manifest of a Space is."""
    return lake / FOLDER / f"{_filed(name)}.json"


def is_name(name: object) -> str:
    """A name of a Space in a lake. Raises TypeMismatch, ConstraintViolation."""
    if not isinstance(name, str):
        raise KipError("TypeMismatch", f"a name in a lake is a string, not {type(name).__name__}")
    if not 0 < len(name) <= LONGEST:
        raise KipError("ConstraintViolation", f"a name in a lake has 1 to {LONGEST} characters, not {len(name)}")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise KipError("ConstraintViolation", f"{name!r} is no name: it holds half of a surrogate pair") from None
    return name


def names(lake: Path) -> list[str]:
    """The Spaces of a lake, ordered, and the files beside their manifests that are none of a name. Raises
    MemoryUnavailable."""
    return sorted(_listed(lake))


def stray(lake: Path, name: str) -> Path | None:
    """The file that is listed under a name and is not the manifest of it. Raises MemoryUnavailable."""
    found = _listed(lake).get(name)
    return found if found is not None and found != path_of(lake, name) else None


def loaded(lake: Path, path: Path) -> Json:
    """The JSON of a manifest. Raises FileNotFoundError, MemoryDamaged, MemoryUnavailable."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a FIFO would be waited for
            raise damaged(lake, path, "it is no file")
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise unread(lake, path, error) from error
    except RecursionError as error:
        raise damaged(lake, path, "it is nested too deeply") from error


def _listed(lake: Path) -> dict[str, Path]:
    """The files of manifests by what each is listed as; one of its own name goes before one that is called alike."""
    folder = lake / FOLDER
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise unread(lake, folder, error) from error
    called = [(_called(lake, path), path) for path in paths]
    found = {_plain(path): path for name, path in called if name is None}
    return found | {name: path for name, path in called if name is not None}


def _called(lake: Path, path: Path) -> str | None:
    """The name that a file is called by; None where it is called by none."""
    name = _said(lake, path) if path.stem.startswith(_SHORT) else unquote(path.stem, errors="surrogateescape")
    try:
        return name if name is not None and _filed(name) == path.stem else None
    except UnicodeEncodeError:
        return None


def _said(lake: Path, path: Path) -> str | None:
    """The name that a manifest says; None where it can not be read."""
    try:
        data = loaded(lake, path)
    except (KipError, OSError):
        return None
    name = data.get("name") if isinstance(data, dict) else None
    return name if isinstance(name, str) else None


def _plain(path: Path) -> str:
    """What a file is called, as a text that can be written anywhere."""
    return os.fsencode(path.stem).decode("utf-8", "backslashreplace")


def _filed(name: str) -> str:
    """A name as part of a path: itself, or what stands for one that is too long for a path."""
    written = quote(name, safe="")
    return written if len(written) <= _FITS else _SHORT + hashlib.sha256(name.encode()).hexdigest()
