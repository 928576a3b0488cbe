"""ENSURE PROPOSITION: the one Proposition of a tuple, made if it is not there (§12.3, §52.2, §55).

Endpoints resolve to the survivors of merges, and only a tuple stored with exactly those endpoints is reused (§11.3).
A Predicate is compared by lineage and stored as the exact ref in force. Resolving is structural, so the id form of a
tuple is refused.
"""

from typing import Any, NamedTuple, TypeAlias

from kipql.errors import KipError
from kipql.lang import ast
from kipql.model import PROPOSITION, element_code, kind_of, parse_id
from kipql.mutate import guards, references
from kipql.mutate.context import placed
from kipql.mutate.draft import Draft, Handle, Target
from kipql.mutate.inputs import Scope, text
from kipql.mutate.plan import Plan
from kipql.schema.definitions import PredicateType
from kipql.values import CanonicalReference, canonical_literal, json_type, literal_key


class LiteralTerm(NamedTuple):
    """A canonical Literal in object position (§9.6), or `{canonical_id}` that no element here carries (§8.2)."""

    value: Any  # a Scalar or a CanonicalReference

    @property
    def key(self) -> object:
        """Its identity: true is not 1."""
        return self.value if isinstance(self.value, CanonicalReference) else literal_key(self.value)


Term: TypeAlias = Target | LiteralTerm


def resolve(plan: Plan, statement: ast.EnsureProposition) -> Target:
    """The Proposition that an ENSURE stands for. Its guards are checked here."""
    target = statement.target
    proposition = of_tuple(plan, target)
    stored = plan.view.record(proposition) if isinstance(proposition, int) else None
    guards.check(plan, statement.guards, stored, "the Proposition")
    return proposition


def of_tuple(plan: Plan, node: ast.Tuple | ast.PropositionId) -> Target:
    """The Proposition of a tuple, stored or planned; a new one is added to the plan."""
    if not isinstance(node, ast.Tuple):
        raise KipError(
            "InvalidSyntax",
            "(id: ...) only matches; a Proposition is made from its tuple",
            span=node.span,
            hint='write (subject, "predicate", object)',
        )
    scope = Scope(plan)
    predicate = predicate_of(scope, node.predicate)
    subject = subject_of(scope, node.subject)
    object_ = object_of(scope, node.object, predicate)
    found = find(plan, subject, predicate, object_)
    if found is not None:
        return found
    draft = plan.add(PROPOSITION, node.span)
    draft.assign(("fields", "subject"), subject, node.subject.span)
    draft.assign(("fields", "predicate"), predicate.ref, node.predicate.span)
    draft.assign(("fields", "object"), object_, node.object.span)
    plan.tuples[_key(subject, predicate, object_)] = draft
    return draft


def find(plan: Plan, subject: Target, predicate: PredicateType, object_: Term) -> Target | None:
    """The Proposition that holds exactly this tuple, None when neither the view nor the plan has one."""
    planned = plan.tuples.get(_key(subject, predicate, object_))
    if planned is not None or isinstance(subject, Draft) or isinstance(object_, Draft):
        return planned
    view = plan.view
    lineage = view.lineage_number(predicate.lineage)
    if lineage is None:
        return None
    term = view.literal_code(object_.value) if isinstance(object_, LiteralTerm) else object_
    if term is None:
        return None
    row = view.tuple_row(subject, lineage, term)
    return None if row is None else references.living(view, element_code(PROPOSITION, row))


def _key(subject: Target, predicate: PredicateType, object_: Term) -> tuple[Any, ...]:
    return (subject, predicate.lineage, object_.key if isinstance(object_, LiteralTerm) else object_)


# --- endpoints ----------------------------------------------------------------------------------------


def predicate_of(scope: Scope, node: ast.Expression | ast.PredicatePath) -> PredicateType:
    """The exact Predicate of a tuple."""
    if not isinstance(node, ast.Literal | ast.Param):
        raise KipError("InvalidSyntax", "a mutation names one exact Predicate", span=node.span)
    name = text(scope.evaluate(node), "a Predicate", node)
    try:
        environment = scope.plan.environment
        return environment.write_version(environment.predicate(name))
    except KipError as error:
        raise placed(error, node.span) from None


def subject_of(scope: Scope, node: ast.Term) -> Target:
    """The element in subject position: never a Literal (§8.4)."""
    if isinstance(node, ast.Tuple | ast.PropositionId):
        return stated(scope, node)
    return scope.plan.survivor(scope.target(node), "subject")


def object_of(scope: Scope, node: ast.Term, predicate: PredicateType) -> Term:
    """The term in object position."""
    if isinstance(node, ast.Tuple | ast.PropositionId):
        return stated(scope, node)
    value = scope.evaluate(node)
    try:
        return object_value(scope.plan, value, predicate)
    except KipError as error:
        raise placed(error, node.span) from None


def object_value(plan: Plan, value: Any, predicate: PredicateType) -> Term:
    """The term that an evaluated object stands for: an element, or a canonical Literal."""
    if isinstance(value, Handle):
        return plan.survivor(value.target, "object")
    if isinstance(value, dict):
        code = references.lookup(plan.view, value)
        if code is not None:
            return plan.survivor(code, "object")
        if set(value) == {"canonical_id"}:
            return LiteralTerm(canonical_literal(value))  # type: ignore[arg-type]
        raise KipError("NotFoundOrNotVisible", f"{references.named_by(value)} is not there or not visible")
    if isinstance(value, str) and predicate.object.admits_elements:
        code = references.lookup(plan.view, value)
        if code is not None:
            return plan.survivor(code, "object")
        if not predicate.object.admits_literals and parse_id(value) is not None:
            raise KipError("NotFoundOrNotVisible", f"{value} is not there or not visible")
    if isinstance(value, list):
        raise KipError("TypeMismatch", f"an object of a tuple must not be an {json_type(value)}")
    return LiteralTerm(canonical_literal(value))


def stated(scope: Scope, node: ast.Tuple | ast.PropositionId) -> Target:
    """A Proposition in an endpoint: it must be stored, or ensured by the same plan (§43.1, §43.2)."""
    plan = scope.plan
    if isinstance(node, ast.PropositionId):
        found: Target | None = references.named(plan.view, scope.evaluate(node.id), node)
        if isinstance(found, int) and kind_of(found) != PROPOSITION:
            raise KipError("ConstraintViolation", "(id: ...) names a Proposition", span=node.span)
    else:
        predicate = predicate_of(scope, node.predicate)
        subject = subject_of(scope, node.subject)
        found = find(plan, subject, predicate, object_of(scope, node.object, predicate))
    if found is None:
        raise KipError(
            "NotFoundOrNotVisible",
            "this Proposition is not stored, and an endpoint does not make one",
            span=node.span,
            hint="ENSURE PROPOSITION ?p (...) first, then refer to ?p",
        )
    return found
