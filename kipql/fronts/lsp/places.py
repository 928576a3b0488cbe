"""Places of a text as the protocol counts them: lines that end with LF, CR or CRLF and nothing else, and within a line
code units of the encoding that client and server agreed on, UTF-16 unless said.

(pygls counts every character that Python takes for a line break, and a U+2028 in a string would shift all below it.)
"""

import re
from bisect import bisect_right

from lsprotocol import types

from kipql.spans import Span

_BREAK = re.compile(r"\r\n|\r|\n")


class Places:
    """Offsets of one text in code points, and positions."""

    __slots__ = ("_ends", "_starts", "_text", "_units")

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self._text = text
        breaks = [match.span() for match in _BREAK.finditer(text)]
        self._starts = [0, *(end for _, end in breaks)]
        self._ends = [*(start for start, _ in breaks), len(text)]
        self._units = {"utf-8": _utf8, "utf-32": _utf32}.get(encoding, _utf16)

    def offset(self, position: types.Position) -> int:
        """The offset of a position; one behind the end of its line, or of the text, is that end."""
        if position.line < 0:
            return 0
        if position.line >= len(self._starts):
            return len(self._text)
        at, end = self._starts[position.line], self._ends[position.line]
        if position.character >= end - at and self._text[at:end].isascii():
            return end
        units = max(0, position.character)
        if self._text[at : min(end, at + units)].isascii():
            return min(end, at + units)
        while at < end and units >= (width := self._units(self._text[at])):
            units -= width
            at += 1
        return at

    def position(self, offset: int) -> types.Position:
        """The position of an offset."""
        offset = max(0, min(offset, len(self._text)))
        line = bisect_right(self._starts, offset) - 1
        before = self._text[self._starts[line] : min(offset, self._ends[line])]
        return types.Position(line, len(before) if before.isascii() else sum(map(self._units, before)))

    def range(self, span: Span) -> types.Range:
        """The range of a span."""
        return types.Range(self.position(span.start), self.position(span.end))

    def whole(self) -> types.Range:
        """The range of the whole text."""
        return self.range(Span(0, len(self._text)))


def _utf16(character: str) -> int:
    return 2 if ord(character) > 0xFFFF else 1


def _utf8(character: str) -> int:
    return len(character.encode("utf-8", "surrogatepass"))


def _utf32(character: str) -> int:
    return 1
