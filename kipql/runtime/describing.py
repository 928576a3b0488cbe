"""Running a META statement: what its handlers are given of the runtime, and their answer as a Result (§63-§69)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kipql import meta
from kipql.limits import Budget
from kipql.runtime import capsules, checking
from kipql.runtime.parsed import Parsed
from kipql.runtime.result import Answered, Result
from kipql.runtime.session import Session
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View


def describe(
    session: Session,
    parsed: Parsed,
    given: Mapping[str, Json],
    every: Mapping[str, object],
    budget: Budget,
    view: "View",
) -> Result:
    """Run one META statement. Raises KipError.

    given  the values of its own parameters
    every  all that the caller passed: a text that is itself an operand (PREVIEW KML :text) may use the others
    """
    answer = meta.run(parsed.node, _session(session, given, every, budget, view))  # type: ignore[arg-type]  # META
    listed = isinstance(answer.result, list)
    rows = answer.result if listed else [answer.result]
    context = {
        "space_id": view.space_id,
        "snapshot_seq": view.seq,
        "schema_environment_version": view.environment.version,
        **answer.context,
    }
    answered = Answered(("result",), rows, context, answer.next_cursor, answer.truncated, parsed.caveats)
    return Result(answered, described=not listed)


def _session(
    session: Session, given: Mapping[str, Json], every: Mapping[str, object], budget: Budget, view: "View"
) -> meta.MetaSession:
    return meta.MetaSession(
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
        validate=lambda language, text, own: checking.validate(
            session, language, text, every if own is None else own, budget
        ),
        preview=lambda text: checking.preview(session, text, every, budget),
        exporting=lambda seq: capsules.exporting(session, seq),
        seal=lambda seen, roots, asked: capsules.seal(session, seen, roots, asked, budget),
        preview_import=lambda capsule, plan: capsules.preview(session, capsule, plan, budget),
        readonly=session.readonly,
        self_id=session.space.governance.policy.self_id,
        parameters=given,
    )
