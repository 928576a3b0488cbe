"""TRANSITION: one statement for every lifecycle move (§52.5, §57).

The quoted state names the move; the target's kind and present state decide whether it is legal. A move to the state
already held changes nothing. Supersession and correction link both records, and supersession is checked when the
whole plan is in place: same canonical actor, same context set, same slot (§14.2).
"""

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.words import near
from kipql.model import A_KIND, ACTIVITY, ASSERTION, EVIDENCE, KIND_NAMES, Activity, Assertion, Evidence, Proposition
from kipql.mutate import actions, guards
from kipql.mutate.draft import Draft, Target
from kipql.mutate.fields import TERMINAL
from kipql.mutate.inputs import Scope, text
from kipql.mutate.plan import Plan, code_of
from kipql.mutate.references import named
from kipql.mutate.targets import Selected, select

ACTIVITY_STATES = ("running", *TERMINAL)
LINKED = {"superseded": ASSERTION, "corrected": EVIDENCE}
STATES = ("retracted", *LINKED, *ACTIVITY_STATES, "archived", "tombstoned")
_FROM = {"archived": ("active",), "tombstoned": ("active", "archived")}


def plan_transition(plan: Plan, statement: ast.Transition) -> None:
    """Plan a TRANSITION of every element that it selects."""
    state = _state(plan, statement)
    used = [*statement.actions] if statement.by is None else [statement.by, *statement.actions]
    for selected in select(plan, statement.target, statement.where, statement.limit, used):
        draft = plan.draft(selected.target, statement.span)
        guards.check(plan, statement.guards, draft.base, plan.describe(selected.target))
        _move(plan, statement, state, draft, selected)


def _state(plan: Plan, statement: ast.Transition) -> str:
    node = statement.state
    state = text(Scope(plan).evaluate(node), "a lifecycle state", node)
    if state not in STATES:
        close = near(state, STATES)
        hint = f"did you mean {close!r}?" if close else f"one of {', '.join(STATES)}"
        raise KipError("InvalidLifecycleTransition", f"{state!r} is no state to move to", span=node.span, hint=hint)
    if (state in LINKED) != (statement.by is not None):
        word = "needs BY and the newer record" if state in LINKED else "takes no BY"
        raise KipError("InvalidSyntax", f'TRANSITION TO "{state}" {word}', span=(statement.by or node).span)
    if statement.actions and state not in ACTIVITY_STATES:
        message = f'TRANSITION TO "{state}" takes no SET'
        raise KipError("InvalidSyntax", message, span=statement.actions[0].span)
    return state


def _move(plan: Plan, statement: ast.Transition, state: str, draft: Draft, selected: Selected) -> None:
    if draft.base is not None and draft.base.state == "purged":
        raise _illegal(draft, state, "purged")
    if state in _FROM:
        archive(draft, state)
    elif state in ACTIVITY_STATES:
        _advance(plan, statement, state, draft, selected)
    elif state == "retracted":
        _retract(plan, draft)
    else:
        assert statement.by is not None
        for row in selected.rows:
            by = named(plan.view, Scope(plan, row).evaluate(statement.by), statement.by)
            (supersede if state == "superseded" else correct)(plan, selected.target, by, statement.by)


# --- any element --------------------------------------------------------------------------------------


def archive(draft: Draft, state: str) -> None:
    """Plan `archived` or `tombstoned` (§60.1, §60.2)."""
    held = "active" if draft.base is None else draft.base.state
    if held == state:
        return
    if held not in _FROM[state]:
        raise _illegal(draft, state, held)
    draft.assign(("state",), state, draft.span)


# --- Activity -----------------------------------------------------------------------------------------


def _advance(plan: Plan, statement: ast.Transition, state: str, draft: Draft, selected: Selected) -> None:
    if draft.kind != ACTIVITY:
        raise _illegal(draft, state, None)
    held = _status(draft, "pending")
    if held in TERMINAL:
        if held != state:
            raise _illegal(draft, state, held)
        if statement.actions:
            message = f"a {held} Activity no longer changes"
            raise KipError("ActivityTerminal", message, span=statement.actions[0].span)
        return
    for action in statement.actions:
        if isinstance(action, ast.SetFields):
            _refuse_fields(action)
    if held != state:
        draft.assign(("fields", "status"), state, statement.state.span)
    for row in selected.rows:
        actions.plan(Scope(plan, row), draft, statement.actions)


def _refuse_fields(action: ast.SetFields) -> None:
    for member in action.values.members:
        if member.name in ("status", "activity_class"):
            message = f"{member.name} is not set beside a TRANSITION"
            raise KipError("ImmutableField", message, span=member.span)


# --- Assertion and Evidence ---------------------------------------------------------------------------


def _retract(plan: Plan, draft: Draft) -> None:
    if draft.kind != ASSERTION:
        raise _illegal(draft, "retracted", None)
    if _leaves(draft, "retracted"):
        draft.assign(("lifecycle", "status"), "retracted", draft.span)
        draft.assign(("lifecycle", "retracted_at"), plan.tx.at, draft.span)


def supersede(plan: Plan, old: Target, by: Target, node: ast.Node) -> None:
    """Plan that Assertion `by` says `old` was wrong (§57.4)."""
    target = _linked(plan, old, by, "superseded", node)
    if target is None:
        return
    plan.checks.append(lambda final: _compatible(final, code_of(old), code_of(by), node))


def correct(plan: Plan, old: Target, by: Target, node: ast.Node) -> None:
    """Plan that Evidence `by` records what `old` recorded wrongly (§57.2)."""
    _linked(plan, old, by, "corrected", node)


def _linked(plan: Plan, old: Target, by: Target, state: str, node: ast.Node) -> Draft | None:
    kind = LINKED[state]
    draft = plan.draft(old, node.span)
    if draft.kind != kind:
        raise _illegal(draft, state, None)
    if not _leaves(draft, state):
        return None
    newer = plan.draft(by, node.span)
    mismatch = "SupersessionMismatch" if kind == ASSERTION else "EvidenceCorrectionConflict"
    if newer.kind != kind:
        message = f"BY names the newer {KIND_NAMES[kind]}, not {A_KIND[newer.kind]}"
        raise KipError(mismatch, message, span=node.span)
    if newer is draft or _descends(plan, newer, old):
        raise KipError(mismatch, f"{draft.name} can not be {state} by itself", span=node.span)
    forward, back = ("superseded_by", "supersedes") if kind == ASSERTION else ("corrected_by", "corrects")
    draft.assign(("lifecycle", "status"), state, node.span)
    draft.assign(("links", forward, by), True, node.span)
    newer.assign(("links", back, old), True, node.span)
    return newer


def _descends(plan: Plan, newer: Draft, old: Target) -> bool:
    """Whether `old` already stands, directly or through others, in for `newer`: a link back would be a cycle."""
    seen: set[Target] = set()
    pending: list[Target] = [newer.target]
    while pending:
        target = pending.pop()
        if target == old:
            return True
        if target not in seen:
            seen.add(target)
            pending.extend(_successors(plan, target))
    return False


def _successors(plan: Plan, target: Target) -> list[Target]:
    planned = target if isinstance(target, Draft) else plan.existing.get(target)
    found: list[Target] = []
    if planned is not None:
        found += [path[2] for name in ("superseded_by", "corrected_by") for path, _ in planned.under("links", name)]
    if isinstance(target, int):
        record = plan.view.record(target)
        if isinstance(record, Assertion):
            found += record.superseded_by
        elif isinstance(record, Evidence):
            found += record.corrected_by
    return found


def _compatible(plan: Plan, old: int, new: int, node: ast.Node) -> None:
    """Raise SupersessionMismatch unless both claims are one actor's, in one scope, about one slot (§14.2)."""
    view = plan.tx.view
    before, after = view.record(old), view.record(new)
    assert isinstance(before, Assertion) and isinstance(after, Assertion)
    reason = None
    if view.canonical(before.asserted_by) != view.canonical(after.asserted_by):
        reason = "another actor's claim is contradicted, not superseded"
    elif {view.canonical(code) for code in before.context} != {view.canonical(code) for code in after.context}:
        reason = "the two claims have different contexts"
    elif not _same_slot(plan, before.proposition, after.proposition):
        reason = "the two claims are about different subjects or Predicates"
    if reason is not None:
        hint = "a change in the world is just a new Assertion with its own valid time (§14.2)"
        raise KipError("SupersessionMismatch", reason, span=node.span, hint=hint)


def _same_slot(plan: Plan, left: int, right: int) -> bool:
    if left == right:
        return True
    view = plan.tx.view
    one, other = view.record(left), view.record(right)
    assert isinstance(one, Proposition) and isinstance(other, Proposition)
    return view.canonical(one.subject) == view.canonical(other.subject) and plan.lineage(one.predicate) == plan.lineage(
        other.predicate
    )


# --- what is held -------------------------------------------------------------------------------------


def _leaves(draft: Draft, state: str) -> bool:
    """Whether the move changes anything: False when the state is held already. Only `active` may be left."""
    if draft.base is not None and draft.base.state == "tombstoned":
        raise _illegal(draft, state, "tombstoned")
    held = _status(draft, "active")
    if held == state:
        return False
    if held != "active":
        raise _illegal(draft, state, held)
    return True


def _status(draft: Draft, fresh: str) -> str:
    base = draft.base
    if base is None:
        return str(draft.value("fields", "status") or fresh)
    assert isinstance(base, Assertion | Evidence | Activity)
    return base.status


def _illegal(draft: Draft, state: str, held: str | None) -> KipError:
    kind = KIND_NAMES[draft.kind]
    message = f"{draft.name} is {held} and can not become {state}" if held else f"a {kind} has no state {state!r}"
    return KipError("InvalidLifecycleTransition", message, span=draft.span)
