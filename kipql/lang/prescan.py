"""What is checked before a text is parsed: its size, its nesting, its number of lexemes (`Limits`).

A text that is too deep must not reach the code that walks trees. The common case costs three counts: a text
with few opening brackets needs no closer look.
"""

import re

from kipql.errors import KipError
from kipql.lang import ast, walk
from kipql.lang.scanner import LEXEME
from kipql.limits import Limits, exhausted
from kipql.spans import Span

# Outside strings and comments, brackets. An unclosed string runs to the end of its line.
_BRACKET = r'"(?:[^"\\\r\n]|\\.)*"?|//[^\r\n]*+|([(\[{])|([)\]}])'


# Up to this depth of brackets no tree is too deep to walk, whatever stands between them.
SHALLOW = 24


def prescan(text: str, limits: Limits) -> bool:
    """Raises ResourceExhausted when `text` exceeds a limit, InvalidSyntax when it is not Unicode text.

    True when brackets nest so deep that the tree has to be measured too (`check_tree`).
    """
    size = len(text) if text.isascii() else _encoded(text)
    if size > limits.text:
        exhausted("text", limits.text, f"the text has {size} bytes")
    if len(text) > limits.tokens:
        _check_lexemes(text, limits.tokens)
    if text.count("(") + text.count("[") + text.count("{") <= min(limits.depth, SHALLOW):
        return False
    return _check_brackets(text, limits.depth) > SHALLOW


def _encoded(text: str) -> int:
    """The size in UTF-8."""
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise KipError(
            "InvalidSyntax",
            "the text holds half of a surrogate pair",
            span=Span(error.start, error.start + 1),
            hint="decode the text as UTF-8 before it is parsed",
        ) from None


def _check_brackets(text: str, limit: int) -> int:
    """How deep brackets nest."""
    depth = deepest = 0
    for bracket in re.finditer(_BRACKET, text):
        if bracket[1]:
            depth += 1
            deepest = max(deepest, depth)
            if depth > limit:
                raise _too_deep(limit, Span(bracket.start(), bracket.end()))
        elif bracket[2]:
            depth = max(0, depth - 1)
    return deepest


def check_tree(root: ast.Node, limit: int) -> None:
    """Raises ResourceExhausted for a tree of more than four levels for each level of brackets allowed."""
    level: list[ast.Node] = [root]
    depth = 0
    while level:
        depth += 1
        if depth > 4 * limit:
            raise _too_deep(limit, level[0].span)
        level = [child for node in level for child in walk.children(node)]


def _too_deep(limit: int, span: Span) -> KipError:
    return KipError(
        "ResourceExhausted",
        f"the text nests too deep; the limit depth is {limit}",
        span=span,
        hint="nest less, or open the memory with Limits(depth=...)",
        details={"limit": "depth", "value": limit},
    )


def _check_lexemes(text: str, limit: int) -> None:
    """Count up to the first character that begins no lexeme: nothing behind it is ever read."""
    for count, lexeme in enumerate(LEXEME.finditer(text), 1):
        if lexeme.lastgroup in ("BAD", "END"):
            return
        if count > limit:
            exhausted("tokens", limit, f"the text has more than {limit} words and signs")
