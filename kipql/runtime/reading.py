"""Running what only reads: a FIND on compiled plans here, a META statement in `describing`."""

from collections.abc import Mapping
from threading import Event
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.exec.reading import Projections
from kipql.exec.unready import Unready
from kipql.govern.principals import OWNER
from kipql.govern.view import authorized
from kipql.lang import ast
from kipql.limits import Budget, Limits
from kipql.runtime.parsed import Parsed
from kipql.runtime.result import Answered, Result
from kipql.runtime.session import Session
from kipql.runtime.work import Work

if TYPE_CHECKING:
    from kipql.store.view import View

_PROVISIONAL = ("snapshot_seq", "index_seq", "current_space_seq")


def answer(
    session: Session,
    parsed: Parsed,
    parameters: Mapping[str, object] | None,
    limits: Limits | None = None,
    cancel: Event | None = None,
) -> Result:
    """Run one KQL or META statement, by its ready path where it has one. Raises as `read`."""
    ready, given = parsed.ready, parameters
    if ready is None and limits is None and cancel is None:
        shared = parsed.shared(parameters, session.space.view().environment)
        if shared is not None:
            ready, given = shared
    if ready is not None and limits is None and cancel is None:
        space = session.space
        head = space.view()
        projections = session.projecting if session.principal is OWNER else _undivided(session, parsed, head)
        if projections is not None and session.pinned is None:
            settled = ready.state
            if settled is None or settled.head is not head or settled.limits is not session.limits:
                settled = ready.settle(head, session.limits, Result)
            if settled.run is not None:
                try:
                    found: Result = settled.run(given, projections, space.cursors)
                    return found
                except Unready:
                    pass
                except KipError as error:
                    raise parsed.locate(error, head.environment) from None
    return read(session, parsed, parameters, session.budget(limits, cancel))


def _undivided(session: Session, parsed: Parsed, head: "View") -> Projections | None:
    """What a caller who is withheld nothing of the head reads beliefs with, None for any other one; rights are looked
    up at each call (§28.6). Raises NotAuthorized."""
    authority = session.authority
    parsed.admit(authority)
    return session.projections if authority.full or authorized(head, authority) is head else None


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
    from kipql.runtime.describing import describe  # META is not loaded for a query

    return describe(session, parsed, given, parameters or {}, budget, view)


def read_inside(work: Work, parsed: Parsed, parameters: Mapping[str, object] | None) -> Result:
    """Run a read on the own state of a transaction under way (§32.6). Raises as `read`.

    Everything is built at once, because that state is provisional; for the same reason there is no cursor. A SEARCH
    finds the transaction's own writes too (§79); the rest of META knows commits only, so it reads the head.
    """
    session, budget, view = work.session, work.budget, work.view()
    parsed.refuse_mutation()
    if not isinstance(parsed.node, ast.Find | ast.Search):
        return read(session, parsed, parameters, budget)
    parsed.admit(session.authority)
    given = parsed.bind(parameters, budget.limits)
    if isinstance(parsed.node, ast.Search):
        from kipql.runtime.describing import describe

        hits = describe(session, parsed, given, parameters or {}, budget, view)
        seqs = {name: min(seq, view.seq - 1) for name, seq in hits.context.items() if name in _PROVISIONAL}
        return Result(Answered(hits.columns, list(hits.rows), {**hits.context, **seqs}, None, hits.truncated))

    def at(seq: int) -> "View":
        return view if seq == view.seq else session.at(seq)

    rows = parsed.prepared(view.environment).run(view, given, budget, at=at, projections=session.projections)
    context = rows.context
    context["snapshot_seq"] = min(context["snapshot_seq"], view.seq - 1)
    return Result(Answered(rows.columns, rows.rows, context, None, rows.truncated, parsed.caveats))
