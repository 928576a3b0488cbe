"""Structural References of packages (specification §17): ends, cardinality, uniqueness, computed fields.

Order needs no check: the references of a field are a tuple, dense from 0 by construction.
"""

from kipql.errors import KipError
from kipql.model import AnyRecord, Concept, Edge, element_id
from kipql.schema.definitions import StructuralField
from kipql.schema.elements import Elements, admitted, check_element
from kipql.schema.environment import Environment


def check_structural(env: Environment, kind: int, new: AnyRecord, old: AnyRecord | None, elements: Elements) -> None:
    """The final state of every Structural Field of a record. Raises ConstraintViolation, or NotFoundOrNotVisible
    for a reference to nothing."""
    before = old.structural if old is not None else {}
    if old is not None and new.structural is before:
        return
    concept_type = new.schema if isinstance(new, Concept) else None
    for ref, edges in new.structural.items():
        if edges == before.get(ref):
            continue
        field = env.structural_field(ref)
        what = f"Structural Field {field.local_name}"
        if field.computed:
            raise KipError("ConstraintViolation", f"{what} is computed and can not be written")
        if edges and not field.source.admits(kind, concept_type):
            raise KipError("ConstraintViolation", f"{what} does not start here", hint=admitted(field.source))
        _check_edges(field, edges, before.get(ref, ()), elements, what)
    demands = env.demands.get(concept_type, ()) if concept_type else env.record_demands.get(kind, ())
    for field in demands:
        _check_minimum(env, field, new)


def _check_edges(
    field: StructuralField, edges: tuple[Edge, ...], before: tuple[Edge, ...], elements: Elements, what: str
) -> None:
    if field.max is not None and len(edges) > field.max:
        raise KipError("ConstraintViolation", f"{what} holds at most {field.max}, not {len(edges)}")
    if field.unique and len({edge.target for edge in edges}) != len(edges):
        raise KipError("ConstraintViolation", f"{what} holds one target twice")
    known = set(before)
    for edge in edges:
        if edge in known:
            continue
        if edge.role is not None:
            raise KipError("ConstraintViolation", f"{what} takes no role", hint="only a citation of Evidence has one")
        if not elements.exists(edge.target):
            raise KipError("NotFoundOrNotVisible", f"{what} points to {element_id(edge.target)}, which is not here")
        check_element(field.target, edge.target, elements, f"the target of {what}")


def _check_minimum(env: Environment, field: StructuralField, record: AnyRecord) -> None:
    """Counted over the lineage: references written under an earlier version of the field still count."""
    found = len(record.structural.get(field.ref, ()))
    if found < field.min:
        found = sum(
            len(edges) for ref, edges in record.structural.items() if env.lineage(ref, StructuralField) == field.lineage
        )
    if found < field.min:
        raise KipError("ConstraintViolation", f"Structural Field {field.local_name} needs at least {field.min}")
