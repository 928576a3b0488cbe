"""Structural References: SET adds or moves, UNSET removes, order stays dense (§17.4, §17.5).

A field is addressed as the source's kind says: the Core fields of a record by plain name, everything else by its
resolved symbol (§20.13). One reference stands once in a field, however often it is written.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kipql.errors import KipError
from kipql.lang import ast
from kipql.model import A_KIND, KIND_NAMES, Edge, kind_of
from kipql.mutate.context import placed
from kipql.mutate.draft import REMOVED, Draft, Placement, Target
from kipql.mutate.fields import ROLES
from kipql.mutate.inputs import Scope, count, text
from kipql.mutate.references import named
from kipql.schema.core import CoreField
from kipql.schema.definitions import StructuralField


def field_of(scope: Scope, kind: int, node: ast.Value) -> CoreField | StructuralField:
    """The field that an entry names on an element of `kind`. Raises SchemaSymbolNotFound for an unknown one."""
    name = text(scope.evaluate(node), "a structural field", node)
    try:
        return scope.plan.environment.structural_field_of(kind, name)
    except KipError as error:
        raise placed(error, node.span) from None


def key_of(field: CoreField | StructuralField) -> str:
    """How a record keys the field: a Core field by its plain name, another by its exact ref."""
    return field.name if isinstance(field, CoreField) else field.ref


def assign(scope: Scope, draft: Draft, entry: ast.StructuralEntry) -> None:
    """Plan one SET STRUCTURAL entry; on a field that holds one reference it replaces the other (§17.5)."""
    field = field_of(scope, draft.kind, entry.field_)
    _refuse_computed(field, entry)
    target = _target(scope, field, entry)
    draft.assign(("edges", key_of(field), target), _placement(scope, field, entry), entry.span)
    if field.single:
        draft.assign(("single", key_of(field)), target, entry.span)


def remove(scope: Scope, draft: Draft, entry: ast.StructuralEntry) -> None:
    """Plan one UNSET STRUCTURAL entry; a reference that is not there is removed without effect."""
    field = field_of(scope, draft.kind, entry.field_)
    _refuse_computed(field, entry)
    target = named(scope.plan.view, scope.evaluate(entry.target), entry.target)
    draft.assign(("edges", key_of(field), target), REMOVED, entry.span)


def _refuse_computed(field: CoreField | StructuralField, entry: ast.StructuralEntry) -> None:
    """A computed field is read-only, also for UNSET (§18.2)."""
    if isinstance(field, StructuralField) and field.computed:
        message = f"{field.local_name} is computed; nothing writes it"
        raise KipError("ConstraintViolation", message, span=entry.field_.span)


def _target(scope: Scope, field: CoreField | StructuralField, entry: ast.StructuralEntry) -> Target:
    target = named(scope.plan.view, scope.evaluate(entry.target), entry.target)
    if isinstance(field, CoreField):
        found = target.kind if isinstance(target, Draft) else kind_of(target)
        if found not in field.targets:
            allowed = " or ".join(KIND_NAMES[kind] for kind in sorted(field.targets))
            message = f"{field.name} refers to {allowed}, not to {A_KIND[found]}"
            raise KipError("ConstraintViolation", message, span=entry.target.span)
        if field.name in ("inputs", "outputs"):
            return target  # provenance names exactly what took part; all else lands on the survivor (§11.3)
    return scope.plan.survivor(target, key_of(field).rpartition("/")[2])


def _placement(scope: Scope, field: CoreField | StructuralField, entry: ast.StructuralEntry) -> Placement:
    cited = isinstance(field, CoreField) and field.cited
    ordered = isinstance(field, StructuralField) and field.ordered
    role: str | None = "support" if cited else None
    index: int | None = None
    for member in () if entry.options is None else entry.options.members:
        value = scope.evaluate(member.value)
        if member.name == "role" and cited:
            role = _role(value, member.value)
        elif member.name == "index" and ordered:
            index = count(value, "index", member.value)
        else:
            name = key_of(field).rpartition("/")[2]
            message = f"{name} takes no option {member.name!r}"
            raise KipError("ConstraintViolation", message, span=member.span)
    return Placement(role, index)


def _role(value: Any, node: ast.Node) -> str:
    if not isinstance(value, str):
        raise KipError("TypeMismatch", "a role must be a string", span=node.span)
    if value not in ROLES:
        hint = f"one of {', '.join(ROLES)}"
        raise KipError("ConstraintViolation", f"{value!r} is no role of a citation", span=node.span, hint=hint)
    return value


def place(
    held: Sequence[Edge], changes: Mapping[int, Placement | object], ordered: bool, single: bool
) -> tuple[Edge, ...]:
    """The references of one field after a plan: `changes` by target code, in mutation order.

    Explicit positions are positions in the result; the others keep their order around them (§17.4).
    Raises ConstraintViolation for two references at one position or a position outside the result.
    """
    kept = [edge for edge in held if changes.get(edge.target) is not REMOVED]
    added = {code: placement for code, placement in changes.items() if isinstance(placement, Placement)}
    if single and added:
        kept = [edge for edge in kept if edge.target in added]
    present = {edge.target for edge in kept}
    edges = [_replaced(edge, added.get(edge.target)) for edge in kept]
    edges += [Edge(code, placement.role) for code, placement in added.items() if code not in present]
    positions = {code: placement.index for code, placement in added.items() if placement.index is not None}
    return tuple(_positioned(edges, positions) if ordered and positions else edges)


def _replaced(edge: Edge, placement: Placement | None) -> Edge:
    return edge if placement is None else Edge(edge.target, placement.role)


def _positioned(edges: list[Edge], positions: Mapping[int, int]) -> list[Edge]:
    slots: list[Edge | None] = [None] * len(edges)
    for edge in edges:
        index = positions.get(edge.target)
        if index is None:
            continue
        if index >= len(slots):
            message = f"index {index} lies outside 0..{len(slots) - 1}"
            raise KipError("ConstraintViolation", message, hint="positions are dense; leave the index out to append")
        if slots[index] is not None:
            raise KipError("ConstraintViolation", f"two references claim index {index}")
        slots[index] = edge
    rest = iter([edge for edge in edges if edge.target not in positions])
    return [next(rest) if slot is None else slot for slot in slots]
