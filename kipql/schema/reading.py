"""From the JSON of a package to its definitions (specification §20.5, §20.13, §20.15)."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from kipql.errors import KipError
from kipql.model import CONCEPT
from kipql.schema.contracts import Contract
from kipql.schema.core import RESERVED_TYPE_NAMES
from kipql.schema.definitions import (
    OVERLAPPING,
    ConceptType,
    Definition,
    FacetDefinition,
    Fielded,
    PredicateType,
    StructuralField,
)
from kipql.schema.refs import is_symbol_name
from kipql.schema.shapes import (
    Formats,
    json_object,
    member,
    names,
    read_contract,
    read_endpoint,
    read_formats,
    read_shape,
    refuse,
)
from kipql.values import Json

GROUPS = ("concept_types", "predicates", "facets", "structural_fields")
_OTHER_GROUPS = {"enums", "formats", "registry_extensions"}


def read_definitions(value: Json, package_id: str, version: str) -> dict[str, dict[str, Definition]]:
    """Every definition by group and local name."""
    package_ref = f"{package_id}@{version}"
    what = f"package {package_ref}"
    source = json_object(value, f"{what}: definitions")
    if unknown := set(source) - set(GROUPS) - _OTHER_GROUPS:
        raise refuse(what, f"has an unknown kind of definition {min(unknown)!r}", f"kinds are {', '.join(GROUPS)}")
    formats = read_formats(source.get("formats", {}), f"{what}: formats")
    found: dict[str, dict[str, Definition]] = {}
    for group in GROUPS:
        members = json_object(source.get(group, {}), f"{what}: {group}")
        found[group] = {
            name: _read(group, name, raw, package_id, package_ref, formats) for name, raw in members.items()
        }
    return found


def _read(group: str, name: str, value: Json, package_id: str, package_ref: str, formats: Formats) -> Definition:
    reader, kind = _READERS[group]
    ref = f"{package_ref}/{name}"
    raw = json_object(value, ref)
    if not is_symbol_name(name):
        raise refuse(ref, "is not a symbol name", "a name is a letter or _ followed by letters, digits, _ and -")
    if raw.get("ref", ref) != ref:
        raise refuse(ref, f"calls itself {raw['ref']!r}")
    if raw.get("kind", kind) != kind:
        raise refuse(ref, f"is of kind {raw['kind']!r} among {group}", f"there it must be {kind}")
    common: dict[str, Any] = {
        "ref": ref,
        "lineage": f"{package_id}/{name}",
        "local_name": name,
        "package_ref": package_ref,
        "raw": MappingProxyType(dict(raw)),
        "description": member(raw, "description", str, "", ref) or None,
    }
    return reader(raw, common, formats)


def _concept_type(raw: Mapping[str, Json], common: dict[str, Any], formats: Formats) -> ConceptType:
    """`attributes: {open, fields}`; without it a type has no attributes, and it is closed (§20.5)."""
    ref: str = common["ref"]
    if common["local_name"] in RESERVED_TYPE_NAMES:
        raise KipError("SchemaSymbolConflict", f"{ref} would shadow a Core kind", hint="give the type another name")
    attributes = json_object(raw.get("attributes", raw if "fields" in raw else {}), f"{ref}.attributes")
    contract = read_contract(raw, ref) or read_contract(attributes, f"{ref}.attributes")
    shape = read_shape(
        attributes.get("fields", {}),
        ref,
        is_open=member(attributes, "open", bool, False, ref),
        contract=contract,
        paths=member(raw, "reference_paths", list, [], ref),
        formats=formats,
    )
    return ConceptType(**common, shape=shape)


def _predicate(raw: Mapping[str, Json], common: dict[str, Any], formats: Formats) -> PredicateType:
    ref: str = common["ref"]
    flags: dict[str, Any] = {
        key: member(raw, key, bool, default, ref)
        for key, default in (
            ("functional", False),
            ("open_world", True),
            ("complete", False),
            ("boolean_completeness", False),
        )
    }
    predicate = PredicateType(
        **common,
        **flags,
        subject=read_endpoint(raw.get("subject"), f"{ref}: the subject"),
        object=read_endpoint(raw.get("object"), f"{ref}: the object", literals=True, formats=formats),
        value_schema=read_contract(raw, ref),
        functional_by=member(raw, "functional_by", str, "", ref) or None,
        temporal_conflict=member(raw, "temporal_conflict", str, OVERLAPPING, ref),
    )
    _refuse_members(raw, ref, "reference_paths")
    _check_predicate(predicate)
    return predicate


def _refuse_members(raw: Mapping[str, Json], ref: str, *names: str) -> None:
    """A contract that nothing here could honour fails activation, it is never ignored (§20.5)."""
    for name in names:
        if name in raw:
            raise refuse(ref, f"declares {name}, which has no meaning there")


def _check_predicate(predicate: PredicateType) -> None:
    """The combinations that §20.15 rules out."""
    target = predicate.object
    if predicate.temporal_conflict not in (OVERLAPPING, "none"):
        raise refuse(predicate.ref, f"has an unknown temporal_conflict {predicate.temporal_conflict!r}")
    if predicate.boolean_completeness and target.literal_types and "boolean" not in target.literal_types:
        raise refuse(predicate.ref, "declares boolean_completeness, but its object is never a boolean")
    if predicate.functional_by is None:
        return
    if predicate.functional_by != "object_type":
        raise refuse(predicate.ref, f"has an unknown functional_by {predicate.functional_by!r}", 'use "object_type"')
    if predicate.functional:
        raise refuse(predicate.ref, "declares both functional: true and functional_by", "declare one of them")
    if target.literal_types or target.kinds - {CONCEPT} or not (target.kinds or target.concept_types):
        raise refuse(
            predicate.ref,
            "declares functional_by, but its object is not declared as Concepts",
            'a Literal has no type to partition by: declare {kinds: ["Concept"]} or {concept_types: [...]}',
        )


def _facet(raw: Mapping[str, Json], common: dict[str, Any], formats: Formats) -> FacetDefinition:
    """A Facet is closed unless it says `closed: false`."""
    ref: str = common["ref"]
    attachment = json_object(raw.get("attachment", {}), f"{ref}.attachment")
    if unknown := set(attachment) - {"activity_classes", "terminal_only"}:
        raise refuse(f"{ref}.attachment", f"has a constraint that is not supported: {min(unknown)!r}")
    shape = read_shape(
        raw.get("fields", {}),
        ref,
        is_open=not member(raw, "closed", bool, True, ref),
        contract=read_contract(raw, ref),
        paths=member(raw, "reference_paths", list, [], ref),
        formats=formats,
    )
    return FacetDefinition(
        **common,
        shape=shape,
        applicable_to=read_endpoint(raw.get("applicable_to"), f"{ref}: applicable_to"),
        activity_classes=frozenset(names(attachment.get("activity_classes", ()), f"{ref}.attachment")),
        terminal_only=member(attachment, "terminal_only", bool, False, ref),
        computed=member(raw, "computed", bool, False, ref),
    )


def _structural_field(raw: Mapping[str, Json], common: dict[str, Any], formats: Formats) -> StructuralField:
    ref: str = common["ref"]
    _refuse_members(raw, ref, "reference_paths", "value_schema")
    cardinality = json_object(raw.get("cardinality", {}), f"{ref}.cardinality")
    least = member(cardinality, "min", int, 0, f"{ref}.cardinality")
    most = None if cardinality.get("max") is None else member(cardinality, "max", int, 0, f"{ref}.cardinality")
    if least < 0 or (most is not None and most < max(least, 1)):
        raise refuse(f"{ref}.cardinality", f"is impossible: min {least}, max {most}")
    return StructuralField(
        **common,
        source=read_endpoint(raw.get("source"), f"{ref}: the source"),
        target=read_endpoint(raw.get("target"), f"{ref}: the target"),
        min=least,
        max=most,
        ordered=member(raw, "ordered", bool, False, ref),
        unique=member(raw, "unique", bool, False, ref),
        computed=member(raw, "computed", bool, False, ref),
    )


_Reader = Callable[[Mapping[str, Json], dict[str, Any], Formats], Definition]
_READERS: Mapping[str, tuple[_Reader, str]] = {
    "concept_types": (_concept_type, ConceptType.KIND),
    "predicates": (_predicate, PredicateType.KIND),
    "facets": (_facet, FacetDefinition.KIND),
    "structural_fields": (_structural_field, StructuralField.KIND),
}


def contracts_of(definition: Definition) -> Iterator[tuple[str, Contract]]:
    """Every value_schema of a definition, with a phrase that says where it stands."""
    if isinstance(definition, PredicateType) and definition.value_schema is not None:
        yield definition.ref, definition.value_schema
    if not isinstance(definition, Fielded):
        return
    if definition.shape.value_schema is not None:
        yield definition.ref, definition.shape.value_schema
    for field in definition.fields.values():
        if field.value_schema is not None:
            yield f"{definition.ref}.{field.name}", field.value_schema
