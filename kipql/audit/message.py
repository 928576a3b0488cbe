"""`message:` of a check: a sentence with `{column}` names, filled from the row that was found.

A name is a FIND item as written (`{?r.key}`), the same without `?`, its last step when no other column ends
alike (`{key}`), or its number from 1. `{{` and `}}` are braces.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kipql.errors import KipError
from kipql.render.people import show
from kipql.spans import Span
from kipql.values import Json

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+")


@dataclass(frozen=True, slots=True)
class Message:
    """Text pieces and column numbers (from 0) in order."""

    pieces: tuple[str | int, ...]

    def fill(self, row: Sequence[Json]) -> str:
        """The sentence about one row."""
        return "".join(piece if isinstance(piece, str) else show(row[piece]) for piece in self.pieces)


def parse_message(text: str, columns: Sequence[str], start: int = 0) -> Message:
    """A message template over the columns of a query. Raises InvalidSyntax with a span from `start` on."""
    names = column_names(columns)
    pieces: list[str | int] = []
    for match in _PIECE.finditer(text):
        piece, name = match.group(), match.group(1)
        if name is not None:
            pieces.append(_column(name, names, columns, Span(start + match.start(), start + match.end())))
        elif piece in ("{", "}"):
            span = Span(start + match.start(), start + match.end())
            raise KipError("InvalidSyntax", f"a lone {piece} in the message", span=span, hint=f"write {piece}{piece}")
        else:
            pieces.append(piece[0] if piece in ("{{", "}}") else piece)
    return Message(tuple(pieces))


def column_names(columns: Sequence[str]) -> dict[str, int]:
    """Every name that a message may use for a column, and the column's number from 0."""
    names = {str(index + 1): index for index in range(len(columns))}
    ends = Counter(_end(column) for column in columns)
    for index, column in enumerate(columns):
        if ends[_end(column)] == 1:
            names.setdefault(_end(column), index)
    for index, column in enumerate(columns):
        names[column.removeprefix("?")] = index
        names[column] = index
    return names


def _column(name: str, names: dict[str, int], columns: Sequence[str], span: Span) -> int:
    index = names.get(name.strip())
    if index is None:
        known = ", ".join(f"{{{column.removeprefix('?')}}}" for column in columns)
        hint = f"this query has {known}" if columns else "this statement has no columns"
        raise KipError(
            "InvalidSyntax", f"the message names a column {{{name}}} that is not there", span=span, hint=hint
        )
    return index


def _end(column: str) -> str:
    """The last step of a path: `key` of `?r.key`."""
    return column.removeprefix("?").rpartition(".")[2]
