"""Scripts: the statements of a text with their places and the comments before them."""

import re
from dataclasses import dataclass

from kipql.lang import ast
from kipql.lang.classify import Language, language
from kipql.lang.parser import parse_script
from kipql.limits import DEFAULT_LIMITS, Limits
from kipql.spans import Span

# A comment alone on its line. Only applied between statements, where no string can hold one.
_COMMENT = re.compile(r"(?:^|(?<=[\r\n]))[ \t\ufeff]*(//([^\r\n]*))")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on its own line; `text` is what follows the `//`, as written."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Part:
    """One statement of a script: its own text (without a `;`), and the comments between it and the one before."""

    text: str
    span: Span
    language: Language
    statement: ast.Statement
    comments: tuple[Comment, ...]


def split(text: str, limits: Limits = DEFAULT_LIMITS) -> tuple[Part, ...]:
    """The statements of a script, in order.

    Each part has the comments that stand on their own lines between the previous statement and this one;
    a comment behind a statement on the same line belongs to no part. Raises as `parse_script`.

    >>> [part.language for part in split('DESCRIBE PROTOCOL; FIND(?x) WHERE { ?x {} }')]
    ['META', 'KQL']
    """
    parts: list[Part] = []
    before = 0
    for statement in parse_script(text, limits).statements:
        span = statement.span
        comments = tuple(
            Comment(found[2], Span(found.start(1), found.end(1)))
            for found in _COMMENT.finditer(text, before, span.start)
        )
        parts.append(Part(text[span.start : span.end], span, language(statement), statement, comments))
        before = span.end
    return tuple(parts)
