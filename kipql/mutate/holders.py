"""Who refers to an element: ends, claims, actors, citations, provenance, links, structure, and ids inside values.

`required` tells the references that their holder can not stand without (§60.3): an end of a Proposition, the
Proposition and the actor of an Assertion, the last target of a Structural Field with a minimum. All others are
kept beside a purged element: they name its stub.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kipql.model import (
    ASSERTION,
    CONCEPT,
    CORE_STRUCTURAL,
    PROPOSITION,
    AnyRecord,
    Assertion,
    Concept,
    Evidence,
    element_code,
    element_id,
    parse_id,
)
from kipql.schema.definitions import Shape, StructuralField
from kipql.schema.environment import Environment
from kipql.schema.fields import reached
from kipql.store.view import View
from kipql.values import Json


class Holder(NamedTuple):
    """An element that refers to another one."""

    code: int
    required: bool


class Holders:
    """Look-up of holders in one view; ids inside Facets and attributes are found by one scan, on demand."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._nested: dict[int, list[int]] | None = None

    def of(self, code: int) -> Iterator[Holder]:
        """Every element, purged ones aside, that refers to this one; one may come more than once."""
        for holder in self._all(code):
            if holder.code != code and self.view.state(holder.code) != "purged":
                yield holder

    def _all(self, code: int) -> Iterator[Holder]:
        view, kind = self.view, code & 7
        for row in (*view.outgoing(code), *view.incoming(code)):
            yield Holder(element_code(PROPOSITION, row), True)
        if kind == PROPOSITION:
            for row in view.assertions_of(code >> 3):
                yield Holder(element_code(ASSERTION, row), True)
        if kind == CONCEPT:
            for row in view.assertions_by(code):
                yield Holder(element_code(ASSERTION, row), True)
            yield from self._forwarding(code)
        yield from self._structural(code)
        yield from (Holder(linked, False) for linked in _linked(view.record(code)))
        if self._nested is None:
            self._nested = _nested(view)
        yield from (Holder(holder, False) for holder in self._nested.get(code, ()))

    def _forwarding(self, code: int) -> Iterator[Holder]:
        for row in self.view.graph.merged_from.get(code, ()):
            source = element_code(CONCEPT, row)
            if self.view.exists(source) and getattr(self.view.record(source), "merged_into", None) == code:
                yield Holder(source, False)

    def _structural(self, code: int) -> Iterator[Holder]:
        view = self.view
        for name in CORE_STRUCTURAL:
            yield from (Holder(holder, False) for holder in view.referrers(code, name))
        for name in list(view.graph.fields):
            if name in CORE_STRUCTURAL:
                continue
            field = view.environment.find_structural_field(name)
            for holder in view.referrers(code, name):
                yield Holder(holder, field is not None and self._starved(holder, name, field))

    def _starved(self, holder: int, name: str, field: StructuralField) -> bool:
        """Whether a field of a holder has fewer living targets than its minimum."""
        living = [edge for edge in self.view.edges(holder, name) if self.view.state(edge.target) != "purged"]
        return len(living) < max(field.min, 0)


def _linked(record: AnyRecord) -> Iterator[int]:
    """Revision and correction link both records, so a record knows who refers to it."""
    if isinstance(record, Assertion):
        yield from (*record.supersedes, *record.superseded_by)
    elif isinstance(record, Evidence):
        yield from (*record.corrects, *record.corrected_by)


def _nested(view: View) -> dict[int, list[int]]:
    """Target code -> holders, for the declared `reference_paths` of Facets and types (§20.5)."""
    found: dict[int, list[int]] = {}
    facets, types = _declaring(view.environment)
    for code in _carriers(view, bool(types)):
        record = view.record(code)
        for ref, members in record.facets.items():
            _collect(facets.get(ref), members, code, found)
        if isinstance(record, Concept):
            _collect(types.get(record.schema), record.attributes, code, found)
    return found


def _declaring(environment: Environment) -> tuple[dict[str, Shape], dict[str, Shape]]:
    """The shapes that declare nested references, by exact ref: of Facets and of types."""
    facets = {ref: environment.facet(ref).shape for ref in environment.facet_table.exact}
    types = {ref: environment.concept_type(ref).shape for ref in environment.types.exact}
    kept = ({ref: shape for ref, shape in each.items() if shape.references} for each in (facets, types))
    one, other = kept
    return one, other


def _carriers(view: View, with_attributes: bool) -> Iterator[int]:
    """Elements that carry a Facet, and with `with_attributes` every Concept."""
    for kind, side in view.graph.side.items():
        yield from (element_code(kind, row) for row in list(side) if view.exists(element_code(kind, row)))
    for kind in view.graph.objects:
        for row in view.rows(kind):
            code = element_code(kind, row)
            if (with_attributes and kind == CONCEPT) or view.record(code).facets:
                yield code


def _collect(shape: Shape | None, members: Mapping[str, Json], holder: int, found: dict[int, list[int]]) -> None:
    for path in () if shape is None else shape.references:
        for value in reached(members, path):
            code = parse_id(value) if isinstance(value, str) else None
            if code is not None:
                found.setdefault(code, []).append(holder)


def named(codes: "list[int]") -> str:
    """Ids for a message, the first few."""
    shown = ", ".join(element_id(code) for code in codes[:5])
    return f"{shown} and {len(codes) - 5} more" if len(codes) > 5 else shown
