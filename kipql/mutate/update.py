"""UPDATE: mutable state of existing elements, never history (§58).

Every expression and every WHERE reads the state from before the statement. What a kind keeps forever is refused with
the code that says how to proceed instead: a new Assertion, a correction, another record.
"""

from collections.abc import Iterable

from kipql.errors import KipError
from kipql.lang import ast
from kipql.model import ACTIVITY, ASSERTION, CONCEPT, EVIDENCE, KIND_NAMES, PROPOSITION, Activity
from kipql.mutate import actions, guards
from kipql.mutate.draft import Draft
from kipql.mutate.fields import TERMINAL
from kipql.mutate.inputs import Scope
from kipql.mutate.plan import Plan
from kipql.mutate.targets import Selected, select


def plan_update(plan: Plan, statement: ast.Update) -> None:
    """Plan an UPDATE on every element that it selects."""
    for selected in select(plan, statement.target, statement.where, statement.limit, statement.actions):
        _update(plan, statement, selected)


def _update(plan: Plan, statement: ast.Update, selected: Selected) -> None:
    direct = not isinstance(statement.target, ast.Var)
    target = plan.survivor(selected.target, "target") if direct else selected.target
    draft = plan.draft(target, statement.span)
    guards.check(plan, statement.guards, draft.base, plan.describe(target), draft.code)
    refuse(draft, statement.actions)
    name = statement.target.name if isinstance(statement.target, ast.Var) else None
    for row in selected.rows:
        actions.plan(Scope(plan, row, name, draft.code), draft, statement.actions)
    plan.attribute(draft.target)


def refuse(draft: Draft, given: Iterable[ast.Action]) -> None:
    """Raise for an action that the element's kind or state does not allow (§58.1, §17.5)."""
    if draft.base is not None and draft.base.state == "purged":
        raise KipError("ImmutableField", f"{draft.name} was purged; only its stub is left", span=draft.span)
    for action in given:
        if isinstance(action, ast.SetFacet | ast.UnsetFacet):
            continue  # a Facet's own rules decide (§18.2)
        error = _REFUSALS[draft.kind](draft, action)
        if error is not None:
            error.span = error.span or action.span
            raise error


def _concept(draft: Draft, action: ast.Action) -> KipError | None:
    return None


def _proposition(draft: Draft, action: ast.Action) -> KipError | None:
    return KipError(
        "ImmutableField",
        "a Proposition is its tuple and nothing else",
        hint="ENSURE another tuple, or assert something about this one",
    )


def _assertion(draft: Draft, action: ast.Action) -> KipError | None:
    return KipError(
        "EpistemicRevisionRequired",
        "an Assertion says forever what its actor said",
        hint="write a new Assertion; SUPERSEDING the old one if that was wrong (§57.1)",
    )


def _evidence(draft: Draft, action: ast.Action) -> KipError | None:
    return KipError(
        "EvidenceCorrectionRequired",
        "Evidence is never edited",
        hint='CREATE EVIDENCE anew and TRANSITION the old TO "corrected" BY it (§57.2)',
    )


def _activity(draft: Draft, action: ast.Action) -> KipError | None:
    status = draft.base.status if isinstance(draft.base, Activity) else "pending"
    if status in TERMINAL:
        return KipError(
            "ActivityTerminal",
            f"a {status} Activity no longer changes",
            hint="record what is different in another Activity (§16.6)",
        )
    if isinstance(action, ast.SetFields):
        frozen = {"status", "activity_class"} & {member.name for member in action.values.members}
        if not frozen:
            return None
        return KipError("ImmutableField", f"{min(frozen)} is not written by UPDATE", hint=_MOVE)
    return KipError("ImmutableField", f"an {KIND_NAMES[ACTIVITY]}'s references are not written by UPDATE", hint=_MOVE)


_MOVE = 'TRANSITION it, with SET FIELDS or SET STRUCTURAL, for example TO "completed" (§52.5)'

_REFUSALS = {
    CONCEPT: _concept,
    PROPOSITION: _proposition,
    ASSERTION: _assertion,
    EVIDENCE: _evidence,
    ACTIVITY: _activity,
}
