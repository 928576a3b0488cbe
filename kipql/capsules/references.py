"""The references in a record of a Capsule: to what, where, and whether the record can do without (§40.1, §41.7).

References stand in the members that Core names and, inside attributes and Facets, at the `reference_paths` that a
package declares. Any other text that looks like an id is text: it is never followed and never mapped.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from kipql.capsules.artifact import escaped
from kipql.model import KINDS
from kipql.schema.definitions import Shape
from kipql.schema.environment import Environment
from kipql.values import Json

REQUIRED, PROVENANCE, LINK = "required", "provenance", "link"
"""What a reference is to its record: it can not stand without; it says where it comes from; it is a relation."""

_CONCEPT = frozenset({"concept"})
_PROPOSITION = frozenset({"proposition"})
_ASSERTION = frozenset({"assertion"})
_EVIDENCE = frozenset({"evidence"})
_ACTIVITY = frozenset({"activity"})
_ANY = frozenset(KINDS)


class Reference(NamedTuple):
    """One reference. `path` is a JSON Pointer below the record; `kinds` is what it may name."""

    id: str
    path: str
    need: str
    kinds: frozenset[str] = _ANY


_SINGLE: Mapping[str, tuple[tuple[str, str, frozenset[str]], ...]] = {
    "concept": (("merged_into", REQUIRED, _CONCEPT),),
    "proposition": (("subject", REQUIRED, _ANY), ("object", REQUIRED, _ANY)),
    "assertion": (("proposition", REQUIRED, _PROPOSITION), ("asserted_by", REQUIRED, _CONCEPT)),
    "evidence": (("generated_by", PROVENANCE, _ACTIVITY),),
    "activity": (),
}
_LISTED: Mapping[str, tuple[tuple[str, str, frozenset[str]], ...]] = {
    "concept": (),
    "proposition": (),
    "assertion": (("context_refs", REQUIRED, _CONCEPT), ("evidence", PROVENANCE, _EVIDENCE)),
    "evidence": (("source", PROVENANCE, _CONCEPT | _EVIDENCE),),
    "activity": (
        ("inputs", PROVENANCE, _ANY), ("outputs", LINK, _ANY), ("associated_actors", PROVENANCE, _CONCEPT),
    ),
}  # fmt: skip
_LIFECYCLE: Mapping[str, tuple[tuple[str, frozenset[str]], ...]] = {
    "assertion": (("supersedes", _ASSERTION), ("superseded_by", _ASSERTION)),
    "evidence": (("corrects", _EVIDENCE), ("corrected_by", _EVIDENCE)),
}


def of(record: Mapping[str, Any], environment: Environment) -> Iterator[Reference]:
    """Every reference of a record; package-declared ones as far as the Environment knows the package."""
    kind = record["kind"]
    for name, need, kinds in _SINGLE[kind]:
        value = record.get(name)
        if isinstance(value, Mapping):
            yield Reference(value["id"], f"/{name}", need, kinds)
    for name, need, kinds in _LISTED[kind]:
        for at, value in enumerate(record.get(name, ())):
            yield Reference(value["id"], f"/{name}/{at}", need, kinds)
    for name, kinds in _LIFECYCLE.get(kind, ()):
        for at, value in enumerate(record["lifecycle"].get(name, ()) if "lifecycle" in record else ()):
            yield Reference(value["id"], f"/lifecycle/{name}/{at}", LINK, kinds)
    for ref, edges in record.get("structural", {}).items():
        for at, value in enumerate(edges):
            yield Reference(value["id"], f"/structural/{escaped(ref)}/{at}", LINK)
    for where, value, shape in _shaped(record, environment):
        for steps in shape.references:
            for path, named in _reached(value, steps, where):
                if isinstance(named, str):
                    yield Reference(named, path, REQUIRED)
    repair = record["_system"].get("recording_validity", {}).get("repair_ref")
    if repair is not None:
        yield Reference(repair, "/_system/recording_validity/repair_ref", PROVENANCE, _ACTIVITY)


def mapped(value: Json, shape: Shape | None, resolve: Callable[[str], str]) -> Any:
    """An object with the text at its declared reference paths replaced; everything else word for word."""
    for steps in shape.references if shape is not None else ():
        value = _replaced(value, steps, resolve)
    return value


def shape_of_facet(environment: Environment, ref: str) -> Shape | None:
    """What a Facet declares, None when its package is not here."""
    known = environment.find_facet(ref)
    return None if known is None else known.shape


def shape_of_type(environment: Environment, ref: str) -> Shape | None:
    """What a Concept Type declares, None when its package is not here."""
    known = environment.find_concept_type(ref)
    return None if known is None else known.shape


def _shaped(record: Mapping[str, Any], environment: Environment) -> Iterator[tuple[str, Json, Shape]]:
    if record["kind"] == "concept" and "attributes" in record:
        shape = shape_of_type(environment, record["schema_ref"])
        if shape is not None and shape.references:
            yield "/attributes", record["attributes"], shape
    for ref, members in record.get("facets", {}).items():
        shape = shape_of_facet(environment, ref)
        if shape is not None and shape.references:
            yield f"/facets/{escaped(ref)}", members, shape


def _reached(value: Json, steps: tuple[str, ...], path: str) -> Iterator[tuple[str, Json]]:
    if not steps:
        yield path, value
        return
    step, rest = steps[0], steps[1:]
    if step == "*" and isinstance(value, list):
        for at, item in enumerate(value):
            yield from _reached(item, rest, f"{path}/{at}")
    elif isinstance(value, Mapping) and step in value:
        yield from _reached(value[step], rest, f"{path}/{escaped(step)}")


def _replaced(value: Json, steps: tuple[str, ...], resolve: Callable[[str], str]) -> Json:
    if not steps:
        return resolve(value) if isinstance(value, str) else value
    step, rest = steps[0], steps[1:]
    if step == "*" and isinstance(value, list):
        return [_replaced(item, rest, resolve) for item in value]
    if isinstance(value, Mapping) and step in value:
        return {**value, step: _replaced(value[step], rest, resolve)}
    return value
