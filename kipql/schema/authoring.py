"""Help for people who write a Schema Package: a skeleton to start from, and notes on what loads but reads badly.

What is wrong is refused by loading (`packages`, `environment`); a note is advice, and the package works without it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kipql.schema import refs
from kipql.schema.contracts import canonical_digest
from kipql.schema.definitions import (
    ConceptType,
    Definition,
    FacetDefinition,
    FieldDefinition,
    Fielded,
    PredicateType,
    StructuralField,
)
from kipql.schema.environment import Environment
from kipql.schema.fields import check_value
from kipql.schema.packages import Package, endpoints_of
from kipql.schema.reading import GROUPS
from kipql.schema.resolution import Table
from kipql.values import Json

PROFILE = "kip-jcs-safe-v1"


def skeleton(package_id: str, version: str, names: Mapping[str, Sequence[str]]) -> dict[str, Json]:
    """A package artifact with these symbols by group (`concept_types`, ...), complete and ready to edit."""
    package_ref = f"{package_id}@{version}"
    wanted = names if any(names.values()) else {"concept_types": ("Thing",), "predicates": ("relates_to",)}
    types = [f"{package_ref}/{name}" for name in wanted.get("concept_types", ())]
    definitions = {
        group: {name: {"ref": f"{package_ref}/{name}", **_BODIES[group](name, types)} for name in wanted[group]}
        for group in GROUPS
        if wanted.get(group)
    }
    core = {
        "package_id": refs.CORE_PACKAGE,
        "version": refs.CORE_VERSION,
        "package_ref": refs.CORE_REF,
        "required": True,
    }
    artifact: dict[str, Json] = {
        "format": "KIP-Schema-Package",
        "format_version": "2.0-draft",
        "manifest": {"package_id": package_id, "version": version, "package_ref": package_ref},
        "dependencies": [core],
        "definitions": definitions,
        "aliases": {},
    }
    return sealed(artifact)


def sealed(artifact: Mapping[str, Json]) -> dict[str, Json]:
    """The artifact with the digest of its content."""
    content = {name: value for name, value in artifact.items() if name != "integrity"}
    integrity = {"digest_profile": PROFILE, "content_digest": canonical_digest(content)}
    return {**content, "integrity": integrity}


def _type(name: str, types: Sequence[str]) -> dict[str, Json]:
    fields = {"summary": {"type": "string", "required": False, "mutable": True}}
    return {
        "kind": ConceptType.KIND,
        "description": f"What a {name} is.",
        "attributes": {"open": False, "fields": fields},
    }


def _predicate(name: str, types: Sequence[str]) -> dict[str, Json]:
    end = {"concept_types": list(types)} if types else {"kinds": ["Concept"]}
    return {
        "kind": PredicateType.KIND,
        "description": f"What it means that a subject {name} an object.",
        "subject": end,
        "object": dict(end),
        "functional": False,
    }


def _facet(name: str, types: Sequence[str]) -> dict[str, Json]:
    carrier = {"concept_types": list(types)} if types else {"kinds": ["Concept"]}
    return {
        "kind": FacetDefinition.KIND,
        "description": f"What {name} adds to an element.",
        "closed": True,
        "applicable_to": carrier,
        "fields": {"note": {"type": "string", "required": False, "mutable": True}},
    }


def _structural(name: str, types: Sequence[str]) -> dict[str, Json]:
    return {
        "kind": StructuralField.KIND,
        "description": f"What a reference in {name} points at.",
        "source": {"concept_types": list(types)} if types else {"kinds": ["Concept"]},
        "target": {"kinds": ["Concept"]},
        "cardinality": {"min": 0, "max": None},
        "ordered": False,
        "unique": True,
    }


_BODIES = {"concept_types": _type, "predicates": _predicate, "facets": _facet, "structural_fields": _structural}


# --- notes --------------------------------------------------------------------------------------------


def notes(package: Package, environment: Environment) -> list[str]:
    """What a writer may want to change; `environment` holds the package beside what it is used with."""
    found = [*_package_notes(package)]
    for members in package.definitions.values():
        for definition in members.values():
            found += [f"{definition.local_name}: {note}" for note in _notes(definition, package)]
    found += _name_notes(package, environment)
    return found


def _package_notes(package: Package) -> Iterator[str]:
    if not any(package.definitions.values()):
        yield "the package defines nothing"
    integrity = package.artifact.get("integrity")
    if not isinstance(integrity, Mapping) or "content_digest" not in integrity:
        yield "it states no content_digest; `kipql package check --seal` writes one"


def _notes(definition: Definition, package: Package) -> Iterator[str]:
    if not (definition.description or "").strip():
        yield "has no description; models read it to decide what to write"
    if isinstance(definition, Fielded):
        for field in definition.fields.values():
            yield from _field_notes(field, package)
        if isinstance(definition, FacetDefinition) and not definition.fields and not definition.open:
            yield "is closed and has no fields, so it can hold nothing"
    if isinstance(definition, PredicateType):
        yield from _predicate_notes(definition)
    for side, endpoint in endpoints_of(definition):
        if not (endpoint.kinds or endpoint.concept_types or endpoint.literal_types):
            yield f"does not constrain its {side}: anything may stand there"
        if endpoint.format is not None and not _known_format(endpoint.format, package):
            yield f"names the format {str(endpoint.format)!r}, which nothing defines: it constrains nothing"


def _predicate_notes(predicate: PredicateType) -> Iterator[str]:
    if predicate.complete and not (predicate.functional or predicate.functional_by):
        yield "is complete but not functional: there is no slot whose values exclude one another"
    if predicate.boolean_completeness and not predicate.object.literal_types:
        yield "declares boolean_completeness, but not that its object is a boolean"


def _field_notes(field: FieldDefinition, package: Package) -> Iterator[str]:
    if not field.types and field.value_schema is None and field.enum is None:
        yield f"its field {field.name} takes any value; say a type"
    if field.format is not None and not _known_format(field.format, package):
        yield f"its field {field.name} has the format {str(field.format)!r}, which nothing defines"
    if field.required and field.computed:
        yield f"its field {field.name} is required and computed; a computed one is never written"
    for value in field.enum or ():
        if not _fits(field, value):
            yield f"its field {field.name} lists {value!r}, which is not of its type"


def _fits(field: FieldDefinition, value: Json) -> bool:
    from kipql.errors import KipError

    try:
        check_value(field, value, field.name)
    except KipError:
        return False
    return True


def _known_format(name: str, package: Package) -> bool:
    defined = package.artifact.get("definitions", {}).get("formats", {})
    return name in ("timestamp", "uri") or name in defined


def _name_notes(package: Package, environment: Environment) -> Iterable[str]:
    """Local names that several packages would export (§20.7)."""
    tables: Mapping[str, Table[Any]] = {
        "concept_types": environment.types,
        "predicates": environment.relations,
        "facets": environment.facet_table,
        "structural_fields": environment.field_table,
    }
    for group, members in package.definitions.items():
        for name in members:
            if name in tables[group].ambiguous:
                yield f"{name}: another package exports this name too, so it must be written as an exact ref"
