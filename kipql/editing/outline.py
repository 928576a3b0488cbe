"""The statements of a text as an outline: checks by their name, others by their first line."""

from collections.abc import Iterator
from dataclasses import dataclass

from kipql.editing.findings import pieces
from kipql.lang import split
from kipql.spans import Span

_WIDE = 60  # characters of a statement's first line


@dataclass(frozen=True, slots=True)
class Entry:
    """A statement: its name, KQL, KML, META or "check", a word on it, all of it, and what to go to."""

    name: str
    kind: str
    detail: str
    span: Span
    head: Span


def outline(path: str, text: str) -> Iterator[Entry]:
    """The statements that can be read, in order."""
    for script in pieces(path, text):
        if isinstance(script, list):
            continue
        named = {step.start: step for step in script.steps}
        for part in split(script.text):
            step = named.get(part.span.start)
            start = part.comments[0].span.start if part.comments else part.span.start
            first = " ".join(part.text.split("\n", 1)[0].split())
            name = first if len(first) <= _WIDE else f"{first[: _WIDE - 1]}…"
            kind: str = part.language
            detail: str = part.language
            if step is not None and step.directives.is_check:
                said = step.directives
                kind, name, detail = "check", said.check or name, said.title or said.severity
            head = Span(part.span.start, part.span.start + len(part.text.split("\n", 1)[0].rstrip("\r")))
            yield Entry(name, kind, detail, Span(start, part.span.end), head)
