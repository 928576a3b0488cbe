"""ASSERT: the everyday write (§55.1).

It is sugar, planned as its long form is: ENSURE PROPOSITION, CREATE ASSERTION and, with SUPERSEDING, TRANSITION to
"superseded" BY the new Assertion.
"""

from collections.abc import Mapping
from typing import Any

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.words import near
from kipql.model import ASSERTION, EVIDENCE
from kipql.mutate import fields, proposition, transition
from kipql.mutate.draft import Draft, Placement, Target
from kipql.mutate.inputs import Scope, text
from kipql.mutate.plan import Plan

FIELD_OF: Mapping[str, str] = {
    "by": "asserted_by",
    "mode": "mode",
    "stance": "stance",
    "confidence": "confidence",
    "at": "asserted_at",
    "valid": "valid_time",
    "context": "context_refs",
}
MEMBERS = (*FIELD_OF, "evidence", "key")


def make(plan: Plan, statement: ast.Assert) -> Target:
    """The Assertion that an ASSERT stands for."""
    key = statement.members.get("key")
    client_key = None if key is None else text(Scope(plan).evaluate(key), "key", key)
    return plan.opened(statement, ASSERTION, client_key)


def fill(plan: Plan, statement: ast.Assert, draft: Draft) -> None:
    """Plan what an ASSERT makes and moves."""
    check_members(statement)
    target = proposition.of_tuple(plan, statement.target)
    draft.assign(("fields", "proposition"), target, statement.target.span)
    scope = Scope(plan)
    for member in statement.members.members:
        value = scope.evaluate(member.value)
        if member.name == "evidence":
            cite(scope, draft, value, member.value)
        elif member.name != "key":
            fields.assign(scope, draft, FIELD_OF[member.name], value, member.value)
    if statement.members.get("stance") is None:
        draft.assign(("fields", "stance"), "support", statement.span)


def supersede(plan: Plan, statement: ast.Assert, target: Target) -> None:
    """Plan the SUPERSEDING of an ASSERT."""
    if statement.superseding is not None:
        old = Scope(plan).target(statement.superseding)
        transition.supersede(plan, old, target, statement.superseding)


def cite(scope: Scope, draft: Draft, value: Any, node: ast.Expression) -> None:
    """Plan the citations of an ASSERT: a reference or an array of them, each with the role "support"."""
    items = value if isinstance(value, list) else [value]
    nodes = node.items if isinstance(node, ast.Array) else [node] * len(items)
    for item, at in zip(items, nodes, strict=True):
        target = fields.referenced(scope, item, at, "evidence", EVIDENCE)
        draft.assign(("edges", "evidence", target), Placement("support"), at.span)


def check_members(statement: ast.Assert) -> None:
    """Raise InvalidSyntax for a member ASSERT does not have, or without `by` and `mode`."""
    names = [member.name for member in statement.members.members]
    for member in statement.members.members:
        if member.name not in MEMBERS:
            close = near(member.name, MEMBERS)
            hint = f"did you mean {close}?" if close else f"it takes {', '.join(MEMBERS)}"
            raise KipError("InvalidSyntax", f"ASSERT has no member {member.name!r}", span=member.span, hint=hint)
    for name in ("by", "mode"):
        if name not in names:
            raise KipError("InvalidSyntax", f"ASSERT needs {name}", span=statement.members.span)
