"""A text in pieces with the class of each: what the parser took a lexeme for, not what it looks like.

The shell, the Pygments lexer and the TextMate grammar name their colours by these classes, so a word has one class.
"""

import re
from collections.abc import Iterator

from kipql.lang.expected import lexemes
from kipql.lang.scanner import CLASSES as PLAIN

KINDS = {"VAR": "variable", "PARAM": "parameter", "STRING": "string", "NUMBER": "number", "UINT": "number"}
CLASSES = ("keyword", *dict.fromkeys(KINDS.values()), "comment", "directive", "wrong")
_COMMENT = re.compile(r"//[^\r\n]*")
_MOST = 20_000  # characters; a longer text is shown plain, so that typing in it stays quick


def coloured(text: str) -> Iterator[tuple[str, str]]:
    """The pieces of an entry at the prompt, all of it, with their classes; "" is plain."""
    if text.lstrip().startswith("."):
        head = re.match(r"\s*\.\S*", text)
        end = head.end() if head else 0
        yield "command", text[:end]
        yield "", text[end:]
    elif len(text) > _MOST:
        yield "", text
    else:
        yield from pieces(text)


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """The pieces of a script, all of it, with their classes; "" is plain."""
    at = 0
    for lexeme in lexemes(text):
        yield from _between(text[at : lexeme.start])
        yield class_of(lexeme.terminal), text[lexeme.start : lexeme.end]
        at = lexeme.end
    yield from _between(text[at:])


def class_of(terminal: str) -> str:
    """The class of a terminal of the grammar."""
    if terminal == "BAD":
        return "wrong"
    return KINDS.get(terminal, "" if terminal in PLAIN else "keyword")


def _between(text: str) -> Iterator[tuple[str, str]]:
    """Blanks and comments."""
    at = 0
    for found in _COMMENT.finditer(text):
        if found.start() > at:
            yield "", text[at : found.start()]
        yield "directive" if found[0].startswith("//!") else "comment", found[0]
        at = found.end()
    if text[at:]:
        yield "", text[at:]
