"""A Result as columns and rows of equal length, whatever the statement was.

A KQL row of one item is wrapped; the objects that a META statement lists become columns, their members in
order of first appearance; a description becomes rows of member and value.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kipql.values import Json

if TYPE_CHECKING:
    from kipql.runtime.result import Result

Grid = tuple[tuple[str, ...], list[tuple[Json, ...]]]


def grid(result: "Result", language: str = "KQL") -> Grid:
    """Columns and rows of a Result; `language` is the statement's, KQL or META."""
    if language == "KQL":
        if len(result.columns) == 1:
            return result.columns, [(row,) for row in result.rows]
        return result.columns, [tuple(row) for row in result.rows]
    answer = result.result
    if isinstance(answer, Mapping):
        return ("member", "value"), list(answer.items())
    rows = answer if isinstance(answer, list) else [answer]
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        return ("result",), [(row,) for row in rows]
    columns = tuple(dict.fromkeys(member for row in rows for member in row))
    return columns, [tuple(row.get(column) for column in columns) for row in rows]
