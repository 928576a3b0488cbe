"""The rules that a host writes, checked and brought to the form that is kept (specification §28.5, §29, §29.6).

A rule that nothing would enforce is refused: a permission that nothing asks for, a Type or a Predicate that is not
in force, an element that is not there, a field that no rule can withhold.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kipql.errors import KipError
from kipql.exec.references import resolve
from kipql.govern.permissions import checked, offered, texts
from kipql.govern.policy import EVERYONE, Grant, Policy
from kipql.govern.principals import principal_of
from kipql.govern.scopes import Scope, kinds_of, names_of
from kipql.govern.shown import FIELDS
from kipql.lang.words import near
from kipql.model import element_id
from kipql.runtime.session import Session
from kipql.values import Json, json_type

Operation = dict[str, Json]
Names = Collection[str] | str
_READABLE = frozenset(name for names in FIELDS.values() for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """The conditions of a rule as a host gives them; see `Govern.grant`."""

    kinds: Names | None = None
    types: Names | None = None
    predicates: Names | None = None
    classification: Names | None = None
    up_to: str | None = None
    ids: Sequence[object] | str | None = None
    facets: Names | None = None
    fields: Names | None = None


def allowed(session: Session) -> frozenset[str]:
    """The permissions that a rule may name here."""
    return offered({name for name, entry in session.registry.items() if entry["supported"]})


def rule(
    session: Session, effect: str, subject: object, permissions: Sequence[str], conditions: Conditions
) -> Operation:
    """The operation that adds a rule. Raises ConstraintViolation, TypeMismatch, Unauthenticated, the errors of
    symbols, and NotFoundOrNotVisible."""
    policy = session.space.governance.policy
    names = _permissions(permissions, policy, allowed(session))
    scope = _scope(session, conditions, policy)
    return granting(policy.issued + 1, effect, _subject(subject), names, scope.to_dict(), _fields(conditions, names))


def granting(
    number: int,
    effect: str,
    subject: str,
    permissions: Sequence[str],
    scope: Mapping[str, Json] | None = None,
    fields: Sequence[str] | None = None,
) -> Operation:
    """The operation that adds a rule whose parts are checked."""
    return {
        "op": "grant",
        "id": f"g-{number}",
        "effect": effect,
        "subject": subject,
        "permissions": list(permissions),
        "scope": dict(scope or {}),
        "fields": None if fields is None else list(fields),
    }


def same(known: Grant, wanted: Operation) -> bool:
    """Whether a rule that holds says what is wanted."""
    said = {"fields": None, **known.to_dict()}
    return all(said[name] == wanted[name] for name in wanted if name not in ("op", "id"))


def concept(session: Session, reference: object) -> str:
    """The id of the Concept that a reference names. Raises NotFoundOrNotVisible, ConstraintViolation."""
    (code,) = codes(session, [reference])
    if code & 7:
        raise KipError("ConstraintViolation", f"{element_id(code)} is no Concept", hint="an actor is a Concept")
    return element_id(code)


def codes(session: Session, targets: object) -> list[int]:
    """The elements that a reference, or a list of them, names. Raises NotFoundOrNotVisible."""
    view = session.view()
    every = targets if isinstance(targets, list | tuple | set | frozenset) else [targets]
    found = []
    for target in every:
        code = resolve(view, target)
        if code is None:
            raise KipError("NotFoundOrNotVisible", f"{target!r} names no element to see")
        found.append(code)
    return found


def named(value: object, what: str) -> str:
    """The name of a role or a group. Raises ConstraintViolation."""
    if isinstance(value, str) and 0 < len(value) <= 128:
        return value
    raise KipError("ConstraintViolation", f"the name of {what} is a string of 1 to 128 characters")


def check_label(policy: Policy, label: str) -> None:
    """Raise ConstraintViolation for a label that is not declared."""
    order = policy.labels.order
    if not isinstance(label, str):
        raise KipError("TypeMismatch", f"a classification label is a string, not {json_type(label)}")
    if label not in order:
        close = near(label, order)
        hint = f"did you mean {close!r}?" if close else "nexus.govern.labels declares them"
        raise KipError("ConstraintViolation", f"{label!r} is no classification label here", hint=hint)


def _subject(subject: object) -> str:
    if isinstance(subject, str) and (subject == EVERYONE or subject.startswith(("group:", "principal:"))):
        return subject
    return f"principal:{principal_of(subject).id}"


def _permissions(names: Sequence[str], policy: Policy, known: frozenset[str]) -> list[str]:
    if not texts(names):
        raise KipError("ConstraintViolation", "a rule names at least one permission")
    roles = {name for name in names if name.startswith("role:")}
    for role in sorted(roles):
        if role.removeprefix("role:") not in policy.roles:
            raise KipError("ConstraintViolation", f"there is no role {role.removeprefix('role:')!r}")
    return sorted(roles | checked(set(names) - roles, known))


def _scope(session: Session, conditions: Conditions, policy: Policy) -> Scope:
    environment = session.space.view().environment
    if conditions.up_to is not None:
        check_label(policy, conditions.up_to)
    labels = names_of(conditions.classification, "classification labels")
    for label in sorted(labels or ()):
        if label:
            check_label(policy, label)
    ids = conditions.ids
    return Scope(
        kinds_of(conditions.kinds),
        _lineages(names_of(conditions.types, "types"), environment.concept_type),
        _lineages(names_of(conditions.predicates, "predicates"), environment.predicate),
        labels,
        conditions.up_to,
        None if ids is None else frozenset(element_id(code) for code in codes(session, ids)),
        _lineages(names_of(conditions.facets, "facets"), environment.facet),
    )


def _fields(conditions: Conditions, permissions: Sequence[str]) -> list[str] | None:
    names = names_of(conditions.fields, "fields")
    if names is None:
        return None
    if list(permissions) != ["read"]:
        raise KipError("ConstraintViolation", "fields belong to a rule about read alone")
    for name in sorted(names):
        if name.partition(".")[0] not in _READABLE:
            hint = f"one of {', '.join(sorted(_READABLE))}, or a member of one"
            raise KipError("ConstraintViolation", f"no rule can name the field {name!r}", hint=hint)
    return sorted(names)


def _lineages(names: frozenset[str] | None, find: Callable[[str], Any]) -> frozenset[str] | None:
    return None if names is None else frozenset(find(name).lineage for name in names)
