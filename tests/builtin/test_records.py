"""Our record schemas accept and reject what the published ones do.

For each published definition a full valid instance is made; then every place in it is changed in every
way that a schema could notice, and both verdicts are compared. One difference is meant: a day that does
not exist is no Timestamp here, while the published pattern leaves it to `format`.
"""

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tests.conftest import SHARED

RECORDS = Path(__file__).resolve().parents[2] / "kipql" / "schema" / "builtin" / "records"
FILES = {"common": "kip-common", "projection": "kip-projection", "cognitive-records": "kip-cognitive-records"}
LEFT_OUT = {("projection", "Projection"), ("projection", "Slot")}  # no record holds one
DIGEST = "sha256:" + "0f" * 32
WHEN = "2026-03-01T08:30:00.250Z"
MISSING = object()
REPLACEMENTS: tuple[object, ...] = (
    MISSING, None, True, False, "", "x", DIGEST, DIGEST[:-1], WHEN, WHEN[:-1], "2026-13-01T00:00:00.000Z",
    -1, 0, 1, 2, 0.5, 1.5, 2**53, [], ["x"], ["x", "x"], ["x", "y"], [""], [1], {}, {"unknown": 1},
)  # fmt: skip


def documents(ours: bool) -> dict[str, Any]:
    folder = RECORDS if ours else SHARED / "kip" / "schemas"
    return {
        name: json.loads((folder / (f"{name}.json" if ours else f"{published}.schema.json")).read_text("utf-8"))
        for name, published in FILES.items()
    }


@cache
def registry(ours: bool) -> Registry[Any]:
    resources = [Resource.from_contents(document) for document in documents(ours).values()]
    return Registry().with_resources((resource.id() or "", resource) for resource in resources)


@cache
def validator(ours: bool, name: str, definition: str) -> Draft202012Validator:
    ref = f"{documents(ours)[name]['$id']}#/$defs/{definition}"
    return Draft202012Validator({"$ref": ref}, registry=registry(ours))


def definitions() -> list[tuple[str, str]]:
    if not SHARED.is_dir():
        return []
    return [
        (name, definition)
        for name, document in documents(ours=False).items()
        for definition in document["$defs"]
        if (name, definition) not in LEFT_OUT
    ]


def valid(schema: dict[str, Any], document: str) -> Any:
    """One instance of a published schema, with every property present."""
    if "$ref" in schema:
        where, _, pointer = schema["$ref"].partition("#/$defs/")
        name = where.rpartition(":")[2] or document
        return valid(documents(ours=False)[name]["$defs"][pointer], name)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema and "properties" not in schema:
        return valid(schema["anyOf"][0], document)
    match schema.get("type"):
        case "object":
            members = {name: valid(member, document) for name, member in schema.get("properties", {}).items()}
            extra = schema.get("additionalProperties")
            if isinstance(extra, dict):
                for name in [*schema.get("required", ()), "extra"]:
                    members.setdefault(name, valid(extra, document))
            return members
        case "array":
            return [valid(schema["items"], document) for _ in range(max(1, schema.get("minItems", 0)))]
        case "string":
            pattern = schema.get("pattern", "")
            return DIGEST if "sha256" in pattern else WHEN if pattern else "text"
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case ["string", "null"]:
            return "text"
        case _:
            return {"any": ["thing"]}


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in items:
        yield from places(member, (*path, name))


def changed(value: Any, path: tuple[str | int, ...], replacement: object) -> Any:
    """A copy of the value with one place replaced, or removed."""
    if not path:
        return {} if replacement is MISSING else replacement
    value = copy.deepcopy(value)
    holder = value
    for step in path[:-1]:
        holder = holder[step]
    if replacement is MISSING:
        del holder[path[-1]]
    else:
        holder[path[-1]] = replacement
    return value


def choices(schema: object) -> set[str]:
    """Every text that a schema names in an enum or a const."""
    if isinstance(schema, dict):
        named = [schema["const"]] if "const" in schema else schema.get("enum", [])
        return {text for text in named if isinstance(text, str)}.union(*(choices(member) for member in schema.values()))
    if isinstance(schema, list):
        return set().union(*(choices(item) for item in schema))
    return set()


def agree(name: str, definition: str, instance: Any) -> bool:
    published = bool(validator(False, name, definition).is_valid(instance))
    assert validator(True, name, definition).is_valid(instance) == published, instance
    return published


@pytest.mark.shared
@pytest.mark.parametrize(("name", "definition"), definitions())
def test_one_change_anywhere_gets_the_same_verdict(name: str, definition: str) -> None:
    schema = documents(ours=False)[name]["$defs"][definition]
    instance = valid(schema, name)
    assert agree(name, definition, instance)
    verdicts = set()
    for path in places(instance):
        for replacement in (*REPLACEMENTS, *choices(schema)):
            verdicts.add(agree(name, definition, changed(instance, path, replacement)))
    assert False in verdicts


@pytest.mark.shared
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_several_changes_at_once_get_the_same_verdict(data: st.DataObject) -> None:
    name, definition = data.draw(st.sampled_from(definitions()))
    schema = documents(ours=False)[name]["$defs"][definition]
    instance = valid(schema, name)
    for _ in range(data.draw(st.integers(1, 4))):
        path = data.draw(st.sampled_from(list(places(instance))))
        instance = changed(instance, path, data.draw(st.sampled_from([*REPLACEMENTS, *sorted(choices(schema))])))
    agree(name, definition, instance)


def test_a_day_that_does_not_exist_is_no_timestamp() -> None:
    stamp = validator(True, "common", "Timestamp")
    assert stamp.is_valid("2024-02-29T00:00:00.000Z")
    assert stamp.is_valid("2000-02-29T23:59:59.999Z")
    for text in ("2023-02-29", "1900-02-29", "2023-02-30", "2023-04-31", "0000-01-01"):
        assert not stamp.is_valid(f"{text}T00:00:00.000Z"), text
    assert not stamp.is_valid("2024-02-29T00:00:00.000Z\n")
