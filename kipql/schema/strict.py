"""What a package may not say when it is activated, whatever else it says (specification §20.5, §20.13, §20.16).

The wire schema leaves definitions open: what is beside the members that decide is description, kept and not read. So a
decision under a misspelt name would be passed over. A name that is nearly one that decides is refused, and so is a
declaration that no value could ever meet. Packages that were activated before are read without this.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kipql.errors import KipError
from kipql.lang.words import listed, near
from kipql.schema import refs
from kipql.schema.core import CORE_FIELDS
from kipql.schema.definitions import (
    ConceptType,
    Definition,
    FieldDefinition,
    Fielded,
    PredicateType,
    StructuralField,
)
from kipql.schema.shapes import refuse
from kipql.values import Json, json_type, value_key

_LOCAL = "kip://local/"
_COMMON = ("ref", "kind", "description", "model_hints", "identity_hints", "extensions")
_FIELD = (
    "type", "required", "mutable", "computed", "enum", "minimum", "maximum", "format", "value_schema", "description",
)  # fmt: skip
_ATTRIBUTES = ("open", "fields", "value_schema")
_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "concept_types": (*_COMMON, "attributes", "fields", "value_schema", "reference_paths", "computed"),
    "predicates": (
        *_COMMON, "subject", "object", "functional", "functional_by", "open_world", "complete", "boolean_completeness",
        "temporal_conflict", "value_schema", "symmetric",
    ),
    "facets": (
        *_COMMON, "applicable_to", "attachment", "fields", "closed", "computed", "value_schema", "reference_paths",
    ),
    "structural_fields": (*_COMMON, "source", "target", "cardinality", "ordered", "unique", "computed"),
}  # fmt: skip
_MANIFEST = (
    "package_id", "version", "package_ref", "name", "description", "purpose", "publisher", "stability", "executable",
    "source_document", "validation_schemas",
)  # fmt: skip
_DEPENDENCY = ("package_id", "version", "package_ref", "required", "content_digest", "digest")
_KINDS = ("rename", "retire")
# A member of a part, written beside it.
_INSIDE: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "concept_types": {"attributes": ("open",)},
    "predicates": {"object": ("kinds", "concept_types", "literal_types", "nullable", "format")},
    "facets": {"attachment": ("activity_classes", "terminal_only"), "applicable_to": ("kinds", "concept_types")},
    "structural_fields": {"cardinality": ("min", "max"), "target": ("kinds", "concept_types")},
}
_NUMBERS = {"number", "integer"}


def check(artifact: Mapping[str, Json], definitions: Mapping[str, Mapping[str, Definition]], what: str) -> None:
    """Look at an artifact whose form is right. Raises ConstraintViolation with what was probably meant."""
    manifest = artifact["manifest"]
    if f"{manifest['package_id']}@{manifest['version']}" != refs.DRAFT_REF:
        check_path(manifest["package_id"])
    _near(manifest, _MANIFEST, f"{what}: the manifest")
    for dependency in artifact.get("dependencies", ()):
        _near(dependency, _DEPENDENCY, f"{what}: a dependency")
        if dependency.get("package_id") == manifest["package_id"]:
            raise refuse(what, "depends on itself")
    _check_migrations(artifact.get("migrations", ()), what)
    _check_extensions(artifact.get("definitions", {}), what)
    formats = [*artifact.get("definitions", {}).get("formats", ()), "timestamp", "uri"]
    for group, members in definitions.items():
        for definition in members.values():
            _check(group, definition, formats)


def check_path(package_id: str) -> None:
    """Raise ConstraintViolation for a path that is kept for what a Space defines itself (§20.16)."""
    if package_id.startswith(_LOCAL):
        raise refuse(
            f"the path {_LOCAL}",
            "is kept for what a Space defines itself",
            "publish the package under a path of your own; DEFINE makes draft symbols",
        )


def _near(source: Mapping[str, Json], known: Iterable[str], what: str) -> None:
    """Refuse a name that is nearly a known one."""
    for name in source:
        if name not in known and (close := near(name, known)):
            raise refuse(what, f"has a member {name!r}, which nothing reads", f"did you mean {close}?")


def _only(source: Mapping[str, Json], known: tuple[str, ...], what: str) -> None:
    """Refuse any other name, where the schema admits none."""
    for name in source:
        if name not in known:
            close = near(name, known)
            hint = f"did you mean {close}?" if close else f"it has {listed(list(known))}"
            raise refuse(what, f"has an unknown member {name!r}", hint)


def _check(group: str, definition: Definition, formats: list[str]) -> None:
    raw, ref = definition.raw, definition.ref
    _near(raw, _MEMBERS[group], ref)
    for part, names in _INSIDE[group].items():
        for name in names:
            if name in raw:
                raise refuse(ref, f"has a member {name!r}, which nothing reads", f"did you mean {part}.{name}?")
    if isinstance(definition, ConceptType):
        _only(raw.get("attributes", {}), _ATTRIBUTES, f"{ref}.attributes")
    if isinstance(definition, Fielded):
        written = raw.get("attributes", raw).get("fields", {})
        for name, field in definition.fields.items():
            _near(written[name], _FIELD, f"{ref}.{name}")
            _check_field(field, written[name], f"{ref}.{name}", formats)
    if isinstance(definition, StructuralField):
        _only(raw.get("cardinality", {}), ("min", "max", "description"), f"{ref}.cardinality")
        _check_shadow(definition)
    if isinstance(definition, PredicateType):
        if definition.boolean_completeness and not definition.object.admits_literals:
            raise refuse(ref, "declares boolean_completeness, but its object is never a boolean")
        _check_format(definition.object.format, f"{ref}: the object", formats)


def _check_field(field: FieldDefinition, written: Mapping[str, Json], what: str, formats: list[str]) -> None:
    if not field.name.strip():
        raise refuse(what, "has no name")
    if written.get("type") == []:
        raise refuse(f"{what}.type", "names no type", "leave it out where any value is allowed")
    bounded = field.minimum is not None or field.maximum is not None
    if bounded and field.types and not _NUMBERS.intersection(field.types):
        raise refuse(
            what, f"has bounds, and no {listed(list(field.types))} has any", "minimum and maximum bound numbers"
        )
    _check_format(field.format, what, formats)
    keys = [value_key(value) for value in field.enum or ()]
    if len(set(keys)) != len(keys):
        raise refuse(f"{what}.enum", "names something twice")


def _check_format(name: str | None, what: str, formats: list[str]) -> None:
    """A format that nothing defines constrains nothing (§20.15); one that is nearly a known one was meant to."""
    if name and name not in formats and (close := near(name, formats)):
        raise refuse(what, f"has the format {str(name)!r}, which nothing defines", f"did you mean {close}?")


def _check_shadow(field: StructuralField) -> None:
    """A reserved Core field is resolved by the kind of its source (§20.13): none of that kind may have another one."""
    for (kind, name), core in CORE_FIELDS.items():
        if name == field.local_name and field.source.admits(kind, None):
            raise KipError(
                "SchemaSymbolConflict",
                f"{field.ref} would shadow the Core field {core.name!r}",
                hint="say which Concepts are its source, or give it another name",
            )


def _check_migrations(migrations: Iterable[Json], what: str) -> None:
    for entry in migrations:
        if not isinstance(entry, Mapping):
            raise refuse(f"{what}: a migration", f"must be an object, not {json_type(entry)}")
        kind = entry.get("kind")
        if isinstance(kind, str) and kind not in _KINDS and (close := near(kind, _KINDS)):
            raise refuse(f"{what}: a migration", f"is of kind {kind!r}, which nothing reads", f"did you mean {close}?")


def _check_extensions(definitions: Mapping[str, Any], what: str) -> None:
    for name, value in _objects(definitions, ("enums", "registry_extensions"), what):
        if name == "registry_extensions":
            _near(value, ("activity_classes", "evidence_classes"), f"{what}: registry_extensions")


def _objects(source: Mapping[str, Any], names: Iterable[str], what: str) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for name in names:
        value = source.get(name, {})
        if not isinstance(value, Mapping):
            raise refuse(f"{what}: {name}", f"must be an object, not {json_type(value)}")
        yield name, value
