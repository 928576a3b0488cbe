"""`nexus.explain`: how a query will run, and what it cost when it is run (§45)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.lang import ast
from kipql.limits import Limits
from kipql.runtime.parsed import Parsed
from kipql.runtime.session import Session
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.exec.examine import Examined
    from kipql.exec.prepared import Prepared
    from kipql.store.view import View


def explain(session: Session, parsed: Parsed, parameters: Mapping[str, object] | None) -> str:
    """The plan of a FIND as text; with parameters also its counters. Raises UnsupportedCapability for others."""
    from kipql import exec as execution

    prepared, view, given = _planned(session, parsed, parameters)
    return execution.explain(prepared, view, given, session.budget(), projections=session.projections)


def examine(
    session: Session, parsed: Parsed, parameters: Mapping[str, object] | None, limits: Limits | None
) -> "Examined":
    """The same as data, with what was expected of each operator."""
    from kipql.exec.examine import examine

    prepared, view, given = _planned(session, parsed, parameters)
    try:
        return examine(prepared, view, given, session.budget(limits), session.projections)
    except KipError as error:
        raise prepared.locate(error) from None


def _planned(
    session: Session, parsed: Parsed, parameters: Mapping[str, object] | None
) -> "tuple[Prepared, View, dict[str, Json] | None]":
    if not isinstance(parsed.node, ast.Find):
        raise KipError("UnsupportedCapability", f"only a query has a plan; this is {parsed.language}")
    parsed.admit(session.authority)
    view = session.view()
    given = parsed.bind(parameters, session.limits) if parameters is not None else None
    return parsed.prepared(view.environment), view, given
