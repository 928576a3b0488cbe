"""A text cut at its strings, numbers and comments, without parsing it.

Two texts with the same rest, whose strings stand where strings stood and whose numbers where numbers did, are the same
lexemes but for those values: a string ends itself, and a number ends before the same character. So wherever the grammar
takes a literal, they have the same tree but for its value (`kipql.plan.forms`).

A text with a string that does not end is none, and is left whole: to look on behind each of its quotes would take time
that grows with their square.
"""

import re

from kipql.lang.scanner import NUMBER, STRING

PIECE = re.compile(rf"({STRING}|//[^\n\r]*+|(?<![A-Za-z0-9_.]){NUMBER})" r'|".*+', re.ASCII | re.DOTALL)


def cut(text: str) -> tuple[tuple[str, ...], list[str]]:
    """What stands between the pieces, one more than there are pieces, and the pieces."""
    parts = PIECE.split(text)
    if len(parts) > 1 and parts[-2] is None:
        return (text,), []
    return tuple(parts[::2]), parts[1::2]
