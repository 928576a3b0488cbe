"""Running what only reads: a FIND on compiled plans, a META statement on its handlers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kipql.lang import ast
from kipql.limits import Budget
from kipql.runtime.parsed import Parsed
from kipql.runtime.result import Answered, Result
from kipql.runtime.session import Session
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View


def read(session: Session, parsed: Parsed, parameters: Mapping[str, object] | None, budget: Budget) -> Result:
    """Run one KQL or META statement on the head, or on the past that it names.

    Raises KipError; ReadonlyViolation for a mutation. The error's span is in `parsed.text`.
    """
    parsed.refuse_mutation()
    parsed.admit(session.authority)
    given = parsed.bind(parameters, budget.limits)
    view = session.view()
    if isinstance(parsed.node, ast.Find):
        prepared = parsed.prepared(view.environment)
        cursors, projections = session.space.cursors, session.projections
        return Result(prepared.run(view, given, budget, cursors=cursors, at=session.at, projections=projections))
    return _meta(session, parsed, given, parameters or {}, budget, view)


def read_inside(
    session: Session, parsed: Parsed, parameters: Mapping[str, object] | None, budget: Budget, view: "View"
) -> Result:
    """Run a statement inside a transaction whose own state is `view` (§32.6).

    Everything is built at once, because that state is provisional; for the same reason there is no cursor. META
    knows commits only, so it reads the head.
    """
    parsed.refuse_mutation()
    if not isinstance(parsed.node, ast.Find):
        return read(session, parsed, parameters, budget)
    parsed.admit(session.authority)
    given = parsed.bind(parameters, budget.limits)

    def at(seq: int) -> "View":
        return view if seq == view.seq else session.at(seq)

    rows = parsed.prepared(view.environment).run(view, given, budget, at=at, projections=session.projections)
    context = rows.context
    context["snapshot_seq"] = min(context["snapshot_seq"], view.seq - 1)
    return Result(Answered(rows.columns, rows.rows, context, None, rows.truncated))


def _meta(
    session: Session,
    parsed: Parsed,
    given: Mapping[str, Json],
    every: Mapping[str, object],
    budget: Budget,
    view: "View",
) -> Result:
    """`every` also holds the parameters of a statement that is itself an operand (PREVIEW KML :text)."""
    from kipql import meta
    from kipql.runtime import checking

    answer = meta.run(
        parsed.node,  # type: ignore[arg-type]  # neither a mutation nor a FIND
        meta.MetaSession(
            view=view,
            at=session.at,
            store=session.space.store,
            control=session.space.control,
            authority=session.authority,
            limits=budget.limits,
            budget=budget,
            cursors=session.space.cursors,
            capabilities=session.capabilities,
            spaces=session.spaces,
            outcome=lambda key: session.space.outcomes.find(session.authority.principal.id, key),
            validate=lambda language, text: checking.validate(session, language, text, every, budget),
            preview=lambda text: checking.preview(session, text, every, budget),
            readonly=session.readonly,
            self_id=session.space.governance.policy.self_id,
            parameters=given,
        ),
    )
    listed = isinstance(answer.result, list)
    rows = answer.result if listed else [answer.result]
    context = {
        "space_id": view.space_id,
        "snapshot_seq": view.seq,
        "schema_environment_version": view.environment.version,
        **answer.context,
    }
    answered = Answered(("result",), rows, context, answer.next_cursor, answer.truncated)
    return Result(answered, described=not listed)
