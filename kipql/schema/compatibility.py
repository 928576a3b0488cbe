"""What changes for data and readers from one Schema Package to another (specification §20.14, §65).

Symbols are compared by local name, declared renames followed. A change *breaks* when something that was legal to
write is refused, or when what is stored reads with another meaning: a closed world, another conflict set. Texts and
model hints never break anything.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kipql.model import CONCEPT, KINDS
from kipql.schema.definitions import (
    LITERAL_TYPES,
    ConceptType,
    Definition,
    Endpoint,
    FacetDefinition,
    FieldDefinition,
    PredicateType,
    Shape,
    StructuralField,
)
from kipql.schema.packages import Package, endpoints_of
from kipql.schema.refs import written_lineage
from kipql.values import Json

_TEXTS = ("ref", "description", "model_hints")
_EVERYTHING = frozenset({"*"})
_DECLARED = {
    PredicateType: (
        "functional", "functional_by", "open_world", "complete", "boolean_completeness", "temporal_conflict",
    ),
    StructuralField: ("ordered", "computed"),
    FacetDefinition: ("activity_classes", "terminal_only", "computed"),
    ConceptType: (),
}  # fmt: skip


def changes(old: Package, new: Package) -> list[dict[str, Json]]:
    """Every symbol that differs: `{symbol, symbol_kind, change, breaks}` in the order of kind and name.

    change  "added", "removed", "retired", "renamed" (with `to`) or "changed" (with `members`, what differs)
    breaks  the members whose change breaks something; of a symbol that is gone, `["symbol"]`
    """
    renamed = {(rename.group, _local(rename.old)): _local(rename.new) for rename in new.renames}
    retired = {(group, _local(lineage)) for group, lineage in new.retired}
    found: list[dict[str, Json]] = []
    for group, before in old.definitions.items():
        after = new.definitions[group]
        for name in sorted(before):
            to = renamed.get((group, name), name)
            found += _symbol(name, to, before[name], after.get(to), gone=(group, name) in retired)
        kept = {renamed.get((group, name), name) for name in before}
        found += [_entry(after[name], name, "added") for name in sorted(after.keys() - kept)]
    return found


def _symbol(name: str, to: str, old: Definition, new: Definition | None, *, gone: bool) -> Iterator[dict[str, Json]]:
    if new is None or gone:
        yield _entry(old, name, "retired" if gone else "removed", breaks=["symbol"])
        return
    members = sorted(_differing(old.raw, new.raw))
    breaks = sorted(set(_breaking(old, new)))
    if to != name:
        yield {**_entry(old, name, "renamed", members=members, breaks=breaks), "to": to}
    elif members or breaks:
        yield _entry(old, name, "changed", members=members, breaks=breaks)


def _entry(definition: Definition, name: str, change: str, **more: list[str]) -> dict[str, Json]:
    return {"symbol": name, "symbol_kind": definition.KIND, "change": change, "breaks": [], **more}


def _local(lineage: str) -> str:
    return lineage.rpartition("/")[2]


def _differing(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[str]:
    """The members that differ, down to the single declared field."""
    for name in old.keys() | new.keys():
        before, after = old.get(name), new.get(name)
        if name in _TEXTS or before == after:
            continue
        if name in ("attributes", "fields") and isinstance(before, Mapping) and isinstance(after, Mapping):
            inner = _differing(before, after)
            yield from (each if name == "attributes" else f"fields.{each}" for each in inner)
        elif isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from (f"{name}.{each}" for each in _differing(before, after))
        elif _plain(name, before) != _plain(name, after):
            yield name


def _plain(name: str, value: Json) -> Json:
    """A list of type names without their versions: a new version of a package is not a new type (§20.14)."""
    if name == "concept_types" and isinstance(value, list):
        return sorted(written_lineage(str(each)) or str(each) for each in value)
    return value


def _breaking(old: Definition, new: Definition) -> Iterator[str]:
    for name in _DECLARED[type(old)]:
        if getattr(old, name) != getattr(new, name):
            yield name
    ends = dict(endpoints_of(new))
    yield from (side for side, endpoint in endpoints_of(old) if _narrower(endpoint, ends[side]))
    match old, new:
        case ConceptType(), ConceptType():
            yield from _shape(old.shape, new.shape)
        case FacetDefinition(), FacetDefinition():
            yield from _shape(old.shape, new.shape)
        case StructuralField(), StructuralField():
            yield from _cardinality(old, new)
        case PredicateType(), PredicateType():
            if new.raw.get("value_schema") not in (None, old.raw.get("value_schema")):
                yield "value_schema"


def _cardinality(old: StructuralField, new: StructuralField) -> Iterator[str]:
    if new.min > old.min:
        yield "cardinality.min"
    if new.max is not None and (old.max is None or new.max < old.max):
        yield "cardinality.max"
    if new.unique and not old.unique:
        yield "unique"


def _narrower(old: Endpoint, new: Endpoint) -> bool:
    """Whether something that could stand at an endpoint no longer may."""
    if old.nullable and not new.nullable:
        return True
    if new.format is not None and new.format != old.format:
        return True
    pairs = ((_kinds(old), _kinds(new)), (_types(old), _types(new)), (_literals(old), _literals(new)))
    return any(after != _EVERYTHING and not before <= after for before, after in pairs)


def _declares(endpoint: Endpoint) -> bool:
    return bool(endpoint.kinds or endpoint.concept_types or endpoint.literal_types)


def _kinds(endpoint: Endpoint) -> frozenset[str]:
    if not _declares(endpoint):
        return _EVERYTHING
    typed = {CONCEPT} if endpoint.concept_types else set()
    return frozenset(KINDS[kind] for kind in endpoint.kinds | typed)


def _types(endpoint: Endpoint) -> frozenset[str]:
    if endpoint.concept_types:
        return frozenset(written_lineage(name) or name for name in endpoint.concept_types)
    return _EVERYTHING if not _declares(endpoint) or CONCEPT in endpoint.kinds else frozenset()


def _literals(endpoint: Endpoint) -> frozenset[str]:
    return endpoint.literal_types if _declares(endpoint) else LITERAL_TYPES - {"null"}


def _shape(old: Shape, new: Shape) -> Iterator[str]:
    if old.open and not new.open:
        yield "open"
    for name in sorted(old.fields.keys() - new.fields.keys()):
        if not new.open:
            yield f"fields.{name}"
    for name, field in new.fields.items():
        known = old.fields.get(name)
        if known is not None or old.open:  # an open shape admitted any value under a name it does not declare
            yield from (f"fields.{name}.{each}" for each in _field(known or FieldDefinition(name=name), field))
        elif field.required:
            yield f"fields.{name}.required"
    yield from (f"fields.{name}.required" for name in new.required if name not in old.required)


def _field(old: FieldDefinition, new: FieldDefinition) -> Iterator[str]:
    checks: tuple[tuple[str, bool], ...] = (
        ("required", new.required and not old.required),
        ("mutable", old.mutable and not new.mutable),
        ("computed", new.computed and not old.computed),
        ("type", bool(new.types) and not (old.types and set(old.types) <= set(new.types))),
        ("enum", new.enum is not None and not (old.enum is not None and _within(old.enum, new.enum))),
        ("minimum", new.minimum is not None and (old.minimum is None or old.minimum < new.minimum)),
        ("maximum", new.maximum is not None and (old.maximum is None or old.maximum > new.maximum)),
        ("format", new.format is not None and new.format != old.format),
        ("value_schema", new.value_schema is not None and old.value_schema is None),
    )
    yield from (name for name, breaks in checks if breaks)


def _within(values: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    return all(value in others for value in values)
