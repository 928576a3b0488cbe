"""CREATE CONCEPT and UPSERT CONCEPT (§54).

CREATE makes a historically distinct Concept. UPSERT addresses one by id, or by key within a type, and makes it when
the key is free; the MATCH selects, it does not seed. A key held by a merged Concept addresses its survivor.
"""

from typing import Any

from kipql.errors import KipError
from kipql.lang import ast
from kipql.model import CONCEPT, kind_of
from kipql.mutate import actions, guards, references
from kipql.mutate.context import placed
from kipql.mutate.draft import Draft, Redirected, Target
from kipql.mutate.inputs import Scope, text
from kipql.mutate.plan import Plan

# --- CREATE -------------------------------------------------------------------------------------------


def make(plan: Plan, statement: ast.CreateConcept) -> Target:
    """The Concept that a CREATE stands for, its content planned."""
    scope = Scope(plan)
    key = statement.client_key
    client_key = None if key is None else text(scope.evaluate(key), "CLIENT KEY", key)
    target = plan.opened(statement, CONCEPT, client_key)
    if statement.type is None:
        hint = 'name one: CREATE CONCEPT ?c { TYPE "Person" ... }'
        raise KipError("InvalidSyntax", "a new Concept needs a TYPE", span=statement.span, hint=hint)
    set_type(scope, plan.contents[id(statement)], scope.evaluate(statement.type), statement.type)
    return target


def fill(plan: Plan, statement: ast.CreateConcept, draft: Draft) -> None:
    """Plan what a CREATE assigns."""
    scope = Scope(plan, name=statement.handle.name)
    if statement.name is not None:
        name = scope.evaluate(statement.name)
        draft.assign(("fields", "name"), text(name, "NAME", statement.name), statement.name.span)
    actions.plan(scope, draft, statement.actions)


def set_type(scope: Scope, draft: Draft, value: Any, node: ast.Node) -> None:
    """Bind a new Concept to the write version of its type's lineage (§54.4)."""
    name = text(value, "a Concept Type", node)
    try:
        environment = scope.plan.environment
        definition = environment.write_version(environment.concept_type(name))
    except KipError as error:
        raise placed(error, node.span) from None
    draft.assign(("fields", "schema"), definition.ref, node.span)


def claim_key(plan: Plan, draft: Draft) -> None:
    """Reserve a new Concept's key. Raises IdentityConflict when another Concept of its type has it (§7.3)."""
    key = draft.assigned.get(("fields", "key"))
    if key is None:
        return
    schema = draft.value("fields", "schema")
    slot = (plan.lineage(schema), key.value)
    if plan.keys.setdefault(slot, draft) is not draft or references.keyed(plan.view, key.value, schema) is not None:
        raise taken(key.value, key.span)


def taken(key: str, span: Any) -> KipError:
    """The error for a key that another Concept of the type carries."""
    hint = "UPSERT CONCEPT addresses the one that is there"
    return KipError("IdentityConflict", f"the key {key!r} is taken in this Concept Type", span=span, hint=hint)


# --- UPSERT -------------------------------------------------------------------------------------------


def resolve(plan: Plan, statement: ast.UpsertConcept) -> Target:
    """The Concept that a MATCH addresses, or a new one under its key. Its guards are checked here."""
    scope = Scope(plan)
    selector = _selector(scope, statement.match)
    code = _addressed(plan, selector, statement)
    if code is not None:
        given, code = code, plan.view.canonical(code)
        draft = plan.draft(code, statement.span)
        guards.check(plan, statement.guards, draft.base, plan.describe(code), code)
        return Redirected(code, given) if given != code else code
    return _fresh(plan, statement, selector)


def fill_upsert(plan: Plan, statement: ast.UpsertConcept, target: Target) -> None:
    """Plan what an UPSERT assigns."""
    code = target if isinstance(target, int) else None
    scope = Scope(plan, name=statement.handle.name, code=code)
    draft = plan.draft(target, statement.span)
    actions.plan(scope, draft, statement.actions)


def _selector(scope: Scope, match: ast.Object) -> dict[str, str]:
    selector: dict[str, str] = {}
    for member in match.members:
        value = scope.evaluate(member.value)
        if member.name not in ("type", "key", "id", "name", "canonical_id"):
            message = f"MATCH takes type, key, id, name and canonical_id, not {member.name!r}"
            raise KipError("ConstraintViolation", message, span=member.span)
        selector[member.name] = text(value, member.name, member.value)
    if "id" not in selector and "key" not in selector:
        raise KipError(
            "IdentitySelectorRequired",
            "MATCH needs an id or a key",
            span=match.span,
            hint="a name is not identity (§7.2)",
        )
    return selector


def _addressed(plan: Plan, selector: dict[str, str], statement: ast.UpsertConcept) -> int | None:
    match = statement.match
    try:
        if "id" in selector:
            code = references.living(plan.view, plan.view.code(selector["id"]))
            if code is None or kind_of(code) != CONCEPT or not references.fits(plan.view, code, selector):
                raise references.missing(selector["id"], match)
            return code
        code = references.keyed(plan.view, selector["key"], selector.get("type"))
    except KipError as error:
        raise placed(error, match.span) from None
    if code is not None and not references.fits(plan.view, code, selector):
        raise KipError(
            "IdentityConflict",
            f"the Concept with the key {selector['key']!r} does not meet the rest of the MATCH",
            span=match.span,
            hint="match by type and key alone; write other values with SET",
        )
    return code


def _fresh(plan: Plan, statement: ast.UpsertConcept, selector: dict[str, str]) -> Target:
    match = statement.match
    key = selector["key"]
    if "type" not in selector:
        raise KipError(
            "SchemaSymbolNotFound",
            f"no Concept has the key {key!r}, and without a type none can be made",
            span=match.span,
            hint='say which: MATCH {type: "...", key: ...}',
        )
    guards.check(plan, statement.guards, None, f"the Concept with the key {key!r}")
    lineage = plan.environment.concept_type(selector["type"]).lineage
    known = plan.keys.get((lineage, key))
    if known is not None:
        return known
    draft = plan.add(CONCEPT, statement.span)
    scope = Scope(plan)
    set_type(scope, draft, selector["type"], match)
    draft.assign(("fields", "key"), key, match.span)
    plan.keys[lineage, key] = draft
    return draft
