"""Source spans: where in a text something stands.

Offsets count Unicode code points from 0. Lines and columns count from 1, as people and editors do; a
UTF-16 column is offered beside it for editors that count code units (LSP).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True, init=False)
class Span:
    """A half-open range of code points, `[start, end)`."""

    start: int
    end: int

    def __init__(self, start: int, end: int) -> None:
        _set_start(self, start)
        _set_end(self, end)

    def to(self, other: "Span") -> "Span":
        """The smallest span that covers this one and `other`."""
        return Span(min(self.start, other.start), max(self.end, other.end))


# A parser makes one for each node: storing through the slots takes half the time of a frozen class's own way.
_set_start, _set_end = Span.__dict__["start"].__set__, Span.__dict__["end"].__set__
NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Position:
    """A place for people: `line` and `column` from 1 in code points, `column_utf16` in UTF-16 units."""

    line: int
    column: int
    column_utf16: int


def position(text: str, offset: int) -> Position:
    """The line and column of `offset` in `text`; an offset past the end is the end."""
    offset = min(offset, len(text))
    start = text.rfind("\n", 0, offset) + 1
    before = text[start:offset]
    wide = sum(1 for character in before if ord(character) > 0xFFFF)
    return Position(text.count("\n", 0, offset) + 1, len(before) + 1, len(before) + wide + 1)


def caret(text: str, span: Span) -> str:
    """The line that `span` starts on, with a row of carets under it."""
    start = text.rfind("\n", 0, min(span.start, len(text))) + 1
    end = text.find("\n", start)
    line = text[start:] if end < 0 else text[start:end]
    indent = "".join("\t" if character == "\t" else " " for character in line[: span.start - start])
    width = max(1, min(span.end, start + len(line)) - span.start)
    return f"{line}\n{indent}{'^' * width}"
