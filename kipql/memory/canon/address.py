"""Addresses: where what is known about a file or directory is kept.

An address is the asset's path within its project: `\\` becomes `/`, empty and `.` segments are dropped, `..` goes up
and stops at the root, and one file extension is dropped, so that `sync.py` and `sync.ts` share an article. Nothing
else is folded: case and look-alike characters stay as they are, and only `/` and `\\` separate.
"""

import os
import re
from typing import TypeAlias

import kipql

PathText: TypeAlias = str | os.PathLike[str]
LONGEST = 4_096
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def address(path: PathText, root: PathText | None = None) -> str:
    """The address of a path.

    path  a path within the project, or an absolute one
    root  the project's folder; it is taken off at a path boundary

    Raises KipError: TypeMismatch for what is no path, InvalidIdentifier for controls and for more than 4,096
    characters.

    >>> address("src/core/config.test.ts"), address("../../journal/x"), address(".env")
    ('src/core/config.test', 'journal/x', '.env')
    """
    return without_extension(normal(path, root))


def normal(path: PathText, root: PathText | None = None) -> str:
    """The path as an address would be, with its extension."""
    text = _text(path)
    if root is not None:
        text = _within(text, _text(root))
    kept: list[str] = []
    for segment in text.split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment not in ("", "."):
            kept.append(segment)
    return "/".join(kept)


def without_extension(normalised: str) -> str:
    """A normal path with one extension dropped: what follows the last dot of its last segment, if something but dots
    precedes it."""
    folder, slash, name = normalised.rpartition("/")
    stem, dot, _ = name.rpartition(".")
    return f"{folder}{slash}{stem}" if dot and stem.strip(".") else normalised


def ancestor_chain(path: PathText, root: PathText | None = None) -> list[str]:
    """The address of a path and those above it, nearest first.

    >>> ancestor_chain("src/feed/client.py")
    ['src/feed/client', 'src/feed', 'src']
    """
    return above(address(path, root))


def canon_chain(path: PathText, mount: str = "") -> list[str]:
    """The same as keys of a mount: what the query `resolve` takes as `:keys`.

    >>> canon_chain("src/feed.py")
    [':src/feed', ':src']
    """
    return [key(mount, one) for one in ancestor_chain(path)]


def above(one: str) -> list[str]:
    """An address and those above it, nearest first."""
    segments = one.split("/") if one else []
    return ["/".join(segments[:count]) for count in range(len(segments), 0, -1)]


def key(mount: str, one: str) -> str:
    """The key of an article, and of the asset it is about."""
    return f"{mount}:{one}"


def shown(mount: str, one: str) -> str:
    """An address for people: with its mount, where it has one."""
    return f"{mount}:{one}" if mount else one


def check_mount(mount: str) -> str:
    """A mount's name. Raises InvalidIdentifier for one that a key could not hold."""
    if not isinstance(mount, str) or _UNPRINTABLE.search(mount) or {":", "/", "\\"} & set(mount):
        raise kipql.KipError("InvalidIdentifier", f"{mount!r} is no name of a mount", hint="use letters and digits")
    return mount


def _text(path: PathText) -> str:
    try:
        text = os.fspath(path)
    except TypeError:
        text = None
    if not isinstance(text, str):
        raise kipql.KipError("TypeMismatch", f"a path is text, not {type(path).__name__}")
    if len(text) > LONGEST:
        raise kipql.KipError("InvalidIdentifier", f"a path has at most {LONGEST} characters, not {len(text)}")
    if _UNPRINTABLE.search(text):
        raise kipql.KipError("InvalidIdentifier", f"{text[:80]!r} is no path: it holds control characters")
    return text.replace("\\", "/")


def _within(text: str, root: str) -> str:
    root = root.rstrip("/")
    return text[len(root) :] if root and (text == root or text.startswith(f"{root}/")) else text
