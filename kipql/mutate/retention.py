"""SET RETENTION: the storage lifecycle of an element, and nothing else about it (§19, §60).

The block replaces the whole record: a member it omits is cleared. An expiry that has passed changes nothing by
itself; a hold blocks erasure for everyone (§60.3).
"""

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.words import near
from kipql.model import Retention
from kipql.mutate import fields, guards
from kipql.mutate.inputs import Scope, kind_of
from kipql.mutate.plan import Plan
from kipql.mutate.targets import select

MEMBERS = ("retention_class", "expires_at", "legal_hold")


def plan_retention(plan: Plan, statement: ast.SetRetention) -> None:
    """Plan a SET RETENTION on every element that it selects."""
    retention = block(Scope(plan), statement.values)
    for selected in select(plan, statement.target, statement.where, statement.limit):
        draft = plan.draft(selected.target, statement.span)
        guards.check(plan, statement.guards, draft.base, plan.describe(selected.target))
        if draft.base is not None and draft.base.state == "purged":
            raise KipError("ImmutableField", f"{draft.name} was purged; only its stub is left", span=statement.span)
        draft.assign(("retention",), retention, statement.values.span)


def block(scope: Scope, values: ast.Object) -> Retention:
    """The retention record that a block writes.

    Raises ConstraintViolation for a member outside §19.1 and TypeMismatch for one of the wrong type.
    """
    held: dict[str, object] = {}
    for member in values.members:
        value = scope.evaluate(member.value)
        if member.name not in MEMBERS:
            close = near(member.name, MEMBERS)
            hint = f"did you mean {close}?" if close else f"it has {', '.join(MEMBERS)}"
            raise KipError("ConstraintViolation", f"retention has no {member.name!r}", span=member.span, hint=hint)
        held[member.name] = _parsed(scope, member, value)
    return Retention(**held)  # type: ignore[arg-type]


def _parsed(scope: Scope, member: ast.Member, value: object) -> object:
    if member.name == "legal_hold":
        if not isinstance(value, bool):
            message = f"legal_hold must be a boolean, not {kind_of(value)}"
            raise KipError("TypeMismatch", message, span=member.value.span)
        return value
    if value is None:
        return None
    if member.name == "expires_at":
        return fields.instant(scope, value, member.value, "expires_at")
    return fields.string(scope, value, member.value, "retention_class")
