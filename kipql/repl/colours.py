"""A text in pieces with the class of each: what the parser took a lexeme for, not what it looks like."""

import re
from collections.abc import Iterator

from kipql.lang.expected import lexemes
from kipql.lang.scanner import CLASSES as PLAIN

_KIND = {"VAR": "variable", "PARAM": "parameter", "STRING": "string", "NUMBER": "number", "UINT": "number"}
_COMMENT = re.compile(r"//[^\r\n]*")
_MOST = 20_000  # characters; a longer text is shown plain, so that typing in it stays quick


def coloured(text: str) -> Iterator[tuple[str, str]]:
    """The pieces of a text, all of it, with their classes; "" is plain."""
    if text.lstrip().startswith("."):
        head = re.match(r"\s*\.\S*", text)
        end = head.end() if head else 0
        yield "command", text[:end]
        yield "", text[end:]
        return
    at = 0
    for lexeme in lexemes(text) if len(text) <= _MOST else ():
        yield from _between(text[at : lexeme.start])
        yield _class(lexeme.terminal), text[lexeme.start : lexeme.end]
        at = lexeme.end
    yield from _between(text[at:])


def _class(terminal: str) -> str:
    if terminal == "BAD":
        return "wrong"
    return _KIND.get(terminal, "" if terminal in PLAIN else "keyword")


def _between(text: str) -> Iterator[tuple[str, str]]:
    """Blanks and comments."""
    at = 0
    for found in _COMMENT.finditer(text):
        yield "", text[at : found.start()]
        yield "comment", found[0]
        at = found.end()
    if text[at:]:
        yield "", text[at:]
