"""The `.kqt` format: queries beside the rows or the error that the rule gives.

    fixture lab                       the memory that the following cases read (tests/exec/memories.py)

    # why (§)                         comments stand before the case they explain
    query
    FIND(...) WHERE { ... }
    with {"p": 1}                     parameters, one JSON object
    rows [unordered]                  then one row a line: its cells as JSON, separated by blanks
    "r1" "leg"

    error InvalidSyntax @1:44 hint "bind ?z"
    FIND(...) WHERE { ... }

Cases are separated by empty lines. `@line:column` and `hint "part of the hint"` are optional.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_ERROR = re.compile(r'error (?P<code>\w+)(?: @(?P<line>\d+):(?P<column>\d+))?(?: hint (?P<hint>".*"))?$')
_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class Case:
    """One query and what it must answer."""

    file: str
    line: int
    memory: str
    title: str
    text: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    rows: list[list[Any]] | None = None
    ordered: bool = True
    code: str | None = None
    position: tuple[int, int] | None = None
    hint: str | None = None

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line} {self.title}"


def cells(text: str) -> list[Any]:
    """The JSON values of a row line."""
    found = []
    at = 0
    while at < len(text):
        value, at = _DECODER.raw_decode(text, at)
        found.append(value)
        while at < len(text) and text[at].isspace():
            at += 1
    return found


def read(path: Path) -> Iterator[Case]:
    """The cases of a file."""
    memory, title = "", ""
    lines = path.read_text(encoding="utf-8").splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("#"):
            title = line.lstrip("# ")
        elif line.startswith("fixture "):
            memory = line.split()[1]
        elif line == "query" or line.startswith("error "):
            end = at + 1
            while end < len(lines) and lines[end].strip():
                end += 1
            yield _case(Case(path.stem, at + 1, memory, title), line, lines[at + 1 : end])
            title, at = "", end
        elif line.strip():
            raise ValueError(f"{path.name}:{at + 1}: {line!r} is neither a case nor a comment")
        at += 1


def _case(case: Case, head: str, body: list[str]) -> Case:
    if head != "query":
        match = _ERROR.fullmatch(head)
        assert match is not None, head
        case.code = match["code"]
        if match["line"]:
            case.position = (int(match["line"]), int(match["column"]))
        case.hint = json.loads(match["hint"]) if match["hint"] else None
    text: list[str] = []
    for number, line in enumerate(body):
        if line.startswith("with "):
            case.parameters = json.loads(line[5:])
        elif line in ("rows", "rows unordered"):
            case.ordered = line == "rows"
            case.rows = [cells(row) for row in body[number + 1 :]]
            break
        else:
            text.append(line)
    case.text = "\n".join(text)
    return case
