"""Running one query in one mode, below the facade."""

from typing import Any

import kipql
from kipql import lang
from kipql.errors import KipError
from kipql.exec import prepare
from kipql.exec.rows import Rows
from kipql.lang import ast
from kipql.limits import DEFAULT_LIMITS, Budget, Limits
from kipql.plan.parameters import bind

MODES = ("compiled", "closures", "unoptimised")


def run(
    nexus: kipql.Nexus,
    text: str,
    parameters: dict[str, Any] | None = None,
    mode: str = "compiled",
    limits: Limits = DEFAULT_LIMITS,
) -> Rows:
    """The rows of a query at the head. Raises KipError that knows its text."""
    view = nexus._session.view()
    try:
        find = lang.parse(text)
        assert isinstance(find, ast.Find)
        given = bind(find, parameters or {})
        return prepare(find, view.environment).run(view, given, Budget(limits), mode=mode)
    except KipError as error:
        raise error.in_text(text) from None


def rows_of(found: Rows) -> list[list[Any]]:
    """Rows as lists of cells, one cell each for a single FIND item."""
    if len(found.columns) == 1:
        return [[cell] for cell in found.rows]
    return [list(row) for row in found.rows]
