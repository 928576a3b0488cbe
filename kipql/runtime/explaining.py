"""`nexus.explain`: how a query will run, and what it cost when it is run (§45)."""

from collections.abc import Mapping

from kipql.errors import KipError
from kipql.lang import ast
from kipql.runtime.parsed import Parsed
from kipql.runtime.session import Session


def explain(session: Session, parsed: Parsed, parameters: Mapping[str, object] | None) -> str:
    """The plan of a FIND as text; with parameters also its counters. Raises UnsupportedCapability for others."""
    from kipql import exec as execution

    if not isinstance(parsed.node, ast.Find):
        raise KipError("UnsupportedCapability", f"only a query has a plan; this is {parsed.language}")
    parsed.admit(session.authority)
    view = session.view()
    given = parsed.bind(parameters, session.limits) if parameters is not None else None
    prepared = parsed.prepared(view.environment)
    return execution.explain(prepared, view, given, session.budget(), projections=session.projections)
