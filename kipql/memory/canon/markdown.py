"""Markdown files with front matter, as a canon folder holds them.

Front matter is read for what a canon needs, not as YAML: `name: value` lines between two lines `---`, values plain or
quoted, lists as `[a, "b, c"]` or as `- item` lines. Whatever else stands there is carried along as it is. A file whose
front matter does not end has none: all of it is body.
"""

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import kipql

LARGEST = 1_048_576  # bytes of a file
_FRONT = 500  # lines
_MEMBER = re.compile(r"([A-Za-z_][\w.-]{0,80})\s*:(?:\s+(.*))?", re.DOTALL)
_ITEM = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^,\]]*?))\s*(?:,|$)""", re.DOTALL)
Value = str | list[str]


@dataclass(frozen=True, slots=True)
class Document:
    """A file: its front matter, in order, and what follows."""

    front: Mapping[str, Value]
    body: str

    def text(self, name: str) -> str:
        """A member as text, "" where it is missing or a list."""
        value = self.front.get(name, "")
        return value if isinstance(value, str) else ""

    def texts(self, name: str) -> list[str]:
        """A member as a list; one text is a list of one."""
        value = self.front.get(name, [])
        return value if isinstance(value, list) else [value] if value else []


def read_file(path: Path, root: Path) -> Document:
    """A Markdown file below a root.

    Raises ArtifactUnavailable for what can not be read, is no file or leads out of the root, ArtifactTooLarge for more
    than 1 MiB, ArtifactParseError for what is not UTF-8.
    """
    try:
        if not path.resolve().is_relative_to(root.resolve()):
            raise kipql.KipError("ArtifactUnavailable", f"{path} leads out of {root}")
        if not stat.S_ISREG(path.stat().st_mode):
            raise kipql.KipError("ArtifactUnavailable", f"{path} is no file")
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except (OSError, RuntimeError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise kipql.KipError("ArtifactUnavailable", f"{path}: {reason}") from None
    if len(content) > LARGEST:
        raise kipql.KipError("ArtifactTooLarge", f"{path} has more than {LARGEST} bytes")
    try:
        return parse(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise kipql.KipError("ArtifactParseError", f"{path} is not UTF-8: byte {error.start}") from None


def parse(text: str) -> Document:
    """The front matter and the body of a text."""
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].rstrip() != "---":
        return Document({}, text)
    for at, line in enumerate(lines[1 : _FRONT + 1], 1):
        if line.rstrip() in ("---", "..."):
            return Document(_members(lines[1:at]), "".join(lines[at + 1 :]).lstrip("\r\n"))
    return Document({}, text)


def _members(lines: list[str]) -> dict[str, Value]:
    front: dict[str, Value] = {}
    name = ""
    for raw in lines:
        line = raw.rstrip()
        item = re.fullmatch(r"\s*-\s+(.*)", line)
        member = _MEMBER.fullmatch(line)
        held = front.get(name, "") if item and name else None
        if item and held is not None and (not held or isinstance(held, list)):
            front[name] = [*held, _scalar(item[1])]
        elif member:
            name = member[1]
            front[name] = _value(member[2] or "")
        elif line.strip() and name and isinstance(held := front[name], str):
            front[name] = f"{held}\n{line}" if held else line
    return front


def _value(text: str) -> Value:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return _items(text[1:-1])
    return _scalar(text)


def _items(text: str) -> list[str]:
    """The items of a flow list; a quoted one may hold commas."""
    found, at = [], 0
    while at < len(text):
        match = _ITEM.match(text, at)
        if match is None or match.end() == at:
            return [part.strip() for part in text.split(",") if part.strip()]
        if item := _unquoted(match):
            found.append(item)
        at = match.end()
    return found


def _unquoted(match: re.Match[str]) -> str:
    if match[1] is not None:
        return re.sub(r"\\(.)", r"\1", match[1])
    return match[2].replace("''", "'") if match[2] is not None else match[3].strip()


def _scalar(text: str) -> str:
    match = re.fullmatch(r""""((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|(.*)""", text.strip(), re.DOTALL)
    return _unquoted(match) if match else text
