"""Which files a tool call is about: what stands in its *input*, never in results or prose.

A whole string of less than 512 characters on one line counts when it exists below the root, or is a name in a folder
that exists; inside longer strings only tokens with a slash count. So `{"command": "ls src/feed"}` is about src/feed,
and `cat package.json` is about nothing. Only the file system is asked, nothing is opened, and what leads out of the
root (absolute paths, `..`, links) is left out.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import kipql
from kipql.memory.canon.address import PathText, normal, without_extension

WHOLE = 512
SCANNED = 65_536
MOST = 256
MOST_STRINGS = 10_000
_TOKEN = re.compile(r"[^\s\"'`<>|;&(){}\[\],=*?]*[/\\][^\s\"'`<>|;&(){}\[\],=*?]*")
_FILE = re.compile(r"[^\s/\\]*[^\s/\\.]\.\w{1,10}")


class Files:
    """Whether the project has a file of a name; without a root nobody knows, and none does."""

    def __init__(self, root: PathText | None) -> None:
        self.root = None if root is None else os.fspath(root)

    def has(self, normalised: str) -> bool:
        """Whether there is a file at a normal path."""
        if self.root is None:
            return False
        try:
            return Path(self.root, normalised).is_file()
        except (OSError, ValueError):
            return False

    def stands(self, address: str) -> bool | None:
        """Whether there is a file or folder of an address; None without a root."""
        if self.root is None:
            return None
        path = Path(self.root, address)
        try:
            names = [entry.name for entry in os.scandir(path.parent)]
        except (OSError, ValueError):
            return False
        return any(path.name in (name, without_extension(name)) for name in names)


def paths_in(tool_input: Any, root: PathText) -> list[str]:
    """The paths below a root that a tool's input names, each once, in order, relative to the root.

    tool_input  the JSON arguments of a call; strings at any depth count, member names do not
    root        the project's folder

    At most 256 paths are found. Raises KipError TypeMismatch for a root that is no path.
    """
    try:
        top = Path(os.fspath(root)).resolve()
    except (TypeError, OSError, ValueError):
        raise kipql.KipError("TypeMismatch", f"{root!r} is no folder") from None
    found: dict[str, None] = {}
    for text in _strings(tool_input):
        for candidate, whole in _candidates(text):
            path = _inside(candidate, top, os.fspath(root))
            if path and path not in found and _counts(top, path, candidate, whole):
                found[path] = None
                if len(found) == MOST:
                    return list(found)
    return list(found)


def _strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value, in order."""
    stack, left = [value], MOST_STRINGS
    while stack and left:
        one = stack.pop()
        if isinstance(one, str):
            left -= 1
            yield one
        elif isinstance(one, Mapping):
            stack += reversed(list(one.values()))
        elif isinstance(one, list | tuple):
            stack += reversed(one)


def _candidates(text: str) -> Iterator[tuple[str, bool]]:
    """What may be a path, and whether it is the whole string."""
    if len(text) < WHOLE and text.strip() and not re.search(r"[\r\n]", text):
        yield text.strip(), True
    for match in _TOKEN.finditer(text[:SCANNED]):
        if len(match.group()) < WHOLE:
            yield match.group(), False


def _inside(candidate: str, top: Path, root: str) -> str | None:
    """The path below the root, None for one that is not below it."""
    path = candidate.replace("\\", "/")
    for prefix in (str(top), root.rstrip("/\\") or "/"):
        if path == prefix or path.startswith(f"{prefix.rstrip('/')}/"):
            path = path[len(prefix) :].lstrip("/")
            break
    else:
        if path.startswith(("/", "~")) or re.match(r"[A-Za-z]:/", path):
            return None
    if _leaves(path):
        return None
    try:
        return normal(path)
    except kipql.KipError:
        return None


def _leaves(path: str) -> bool:
    """Whether `..` goes above the root on the way."""
    depth = 0
    for segment in path.split("/"):
        depth += -1 if segment == ".." else segment not in ("", ".")
        if depth < 0:
            return True
    return False


def _counts(top: Path, path: str, candidate: str, whole: bool) -> bool:
    """Whether there is such a file, or one could be made in a folder that is there."""
    try:
        real = (top / path).resolve()
        if not real.is_relative_to(top):
            return False
        if real.exists():
            return True
        named = "/" in path or "\\" in candidate or (whole and _FILE.fullmatch(path) is not None)
        return named and real.parent.is_dir()
    except (OSError, ValueError, RuntimeError):
        return False
