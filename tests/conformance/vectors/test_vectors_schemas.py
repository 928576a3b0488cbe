"""Scenarios of shapes: elements and packages against the published schemas and their digest-pinned closure."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

import kipql
from tests.conformance.vectors.registry import observe
from tests.conformance.vectors.scene import Scene, accepted, fixture, refused, scene
from tests.shared import shared_path


def payload_digest(given: Scene, payload: object) -> str:
    made = given.do('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "note", payload: :p} }', p=payload)["e"]
    return str(given.element(made)["content_digest"])


def schema_registry(pins: list[dict[str, str]]) -> tuple[Registry, list[str]]:
    """Only the schemas that a manifest pins, each verified by its digest; nothing else can be resolved."""
    folder = shared_path("kip/schemas")
    assert folder is not None
    by_id = {schema["$id"]: schema for schema in (json.loads(path.read_text()) for path in folder.glob("*.json"))}
    registry: Registry = Registry()
    for each in pins:
        schema = by_id[each["id"]]
        assert payload_digest(Scene(kipql.open(), None), schema) == each["content_digest"]  # type: ignore[arg-type]
        registry = registry.with_resource(each["id"], Resource.from_contents(schema))
    return registry, [each["id"] for each in pins]


def test_mem_012_shapes_are_the_published_ones_and_packages_close_over_their_pins() -> None:
    path = shared_path("kip/profiles/cognitive-memory-2.0.0.schema.json")
    if path is None:
        pytest.skip("shared: absent")
    profile = json.loads(path.read_text())
    pins = profile["manifest"]["validation_schemas"]
    registry, roots = schema_registry(pins)

    def valid(schema: str, value: object) -> bool:
        return Draft202012Validator({"$ref": schema}, registry=registry).is_valid(value)

    closed = [_compiles(registry, root) for root in roots]
    without = schema_registry([each for each in pins if not each["id"].endswith(":change-envelope")])[0]
    assert not all(_compiles(without, root) for root in roots if not root.endswith(":change-envelope"))

    given = scene(now="2026-09-06T12:00:00.000Z")
    elements = [present(given.element(id_)) for id_ in given.ids.values()]
    assert all(valid("urn:kip:2.0:schema:element", each) for each in elements)
    belief = given.belief(given.ids["alice"], "test/prefers", given.ids["dark_mode"])
    slot = given.slot(given.ids["alice"], "test/prefers")
    assert valid("urn:kip:2.0:schema:projection", projected(belief))
    candidates = [projected(each) for each in slot["candidate_projections"]]
    assert valid("urn:kip:2.0:schema:projection#/$defs/Slot", present({**slot, "candidate_projections": candidates}))
    assert valid("urn:kip:2.0:schema:schema-package", profile)
    snapshot = fixture("capsules/valid-snapshot")
    assert valid("urn:kip:2.0:schema:capsule", snapshot)
    (envelope,) = given.nexus.query("CHANGES AFTER SEQ 0").rows
    assert valid("urn:kip:2.0:schema:change-envelope", envelope)

    proposition = present(given.element(given.ids["p_alice_tz"]))
    invalid = [valid("urn:kip:2.0:schema:element", {**proposition, "confidence": 0.5})]
    for text in (
        'ENSURE PROPOSITION ?p (:alice, "test/timezone", "x") {confidence: 0.5}',
        "UPDATE :p_alice_tz SET FIELDS {confidence: 0.5}",
        'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "note", confidence: 0.5} }',
        'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "action_gate", status: "completed"} '
        'SET FACET "mem/DecisionRecord" {decision: "shrug"} }',
    ):
        before = given.nexus.digest()
        invalid.append(accepted(given.write, text))
        assert given.nexus.digest() == before

    unsupported = [accepted(given.nexus.install_package, package) for package in UNSUPPORTED]
    right = copy.deepcopy(PINNED)
    right["manifest"]["validation_schemas"] = [each for each in pins if each["id"] in NEEDED]
    mismatched = copy.deepcopy(right)
    mismatched["manifest"]["validation_schemas"][0]["content_digest"] = f"sha256:{'0' * 64}"
    unpinned = copy.deepcopy(right)
    del unpinned["manifest"]["validation_schemas"][0]
    wrong = (mismatched, unpinned)
    activated = [accepted(given.nexus.install_package, package) for package in wrong]
    given.nexus.install_package(right)
    observe(
        "MEM-012",
        invalid_shape_accepted=any(invalid),
        unsupported_schema_ignored=any(unsupported),
        schema_lock_closed=all(closed),
        mismatched_package_activated=any(activated),
    )

    # What is not supported says so; it is never a success.
    reply = given.nexus.request(
        {"kip": "2.0", "requires": {"no_such_capability": True}, "operations": [{"command": "DESCRIBE PROTOCOL"}]}
    )
    assert (reply["status"], reply["error"]["code"]) == ("failed", "UnsupportedCapability")


def present(element: dict[str, Any]) -> dict[str, Any]:
    """An element or a projection without what a row writes as null where the schema has no null, and without the
    hooks that are the engine's own."""
    own = {"client_key", "authority_lineage"}
    kept = {name: each for name, each in element.items() if each is not None and name not in own}
    for hook in ("governance", "retention"):
        if hook in kept:
            kept[hook] = present(kept[hook])
    return kept


def projected(belief: dict[str, Any]) -> dict[str, Any]:
    """A candidate with its root groups named: a row describes each, the schema wants a name."""
    sides = {
        side: {**belief[side], "root_groups": [json.dumps(group) for group in belief[side]["root_groups"]]}
        for side in ("support", "opposition")
    }
    return present({**belief, **sides})


def _compiles(registry: Registry, root: str) -> bool:
    """Whether every reference below a schema resolves in the registry."""
    resolver = registry.resolver(root)
    contents = registry.contents(root)

    def references(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                yield value["$ref"]
            for each in value.values():
                yield from references(each)
        elif isinstance(value, list):
            for each in value:
                yield from references(each)

    try:
        Draft202012Validator.check_schema(contents)
        for each in references(contents):
            resolver.lookup(each)
    except Exception:  # a schema library's own errors
        return False
    return True


def pinned(value_schema: Any, **manifest: Any) -> dict[str, Any]:
    return {
        "manifest": {"package_id": "kip://vectors/pinned", "version": "1.0.0", **manifest},
        "definitions": {
            "concept_types": {
                "Trial": {"attributes": {"fields": {"basis": {"type": "object", "value_schema": value_schema}}}}
            }
        },
    }


RECORDS = "urn:kip:2.0:schema:cognitive-records"


NEEDED = {RECORDS, "urn:kip:2.0:schema:common", "urn:kip:2.0:schema:projection"}


PINNED = pinned({"$ref": f"{RECORDS}#/$defs/MemoryScope"})


UNSUPPORTED = [
    pinned({"$ref": "https://example.org/other.json"}),
    pinned({"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"}),
    pinned({"type": "no such type"}),
    pinned({"$ref": "urn:kip:2.0:schema:nothing#/$defs/X"}),
]


def test_rel_015_a_package_is_activated_from_its_digest_pinned_closure_alone() -> None:
    path = shared_path("kip/profiles/cognitive-memory-2.0.0.schema.json")
    if path is None:
        pytest.skip("shared: absent")
    published = json.loads(path.read_text())
    pins = published["manifest"]["validation_schemas"]
    registry, roots = schema_registry(pins)
    complete = all(_compiles(registry, root) for root in roots)
    nexus = kipql.open(packages=[published])
    assert nexus.query("VERIFY SCHEMA PACKAGE :p", {"p": published}).one()["valid"] is True

    substituted = copy.deepcopy(published)
    substituted["manifest"]["version"] = "2.0.1"
    substituted["manifest"]["package_ref"] = "kip://profiles/cognitive-memory@2.0.1"
    text = json.dumps(substituted).replace(
        "kip://profiles/cognitive-memory@2.0.0", "kip://profiles/cognitive-memory@2.0.1"
    )
    loads, rejected = 0, []
    for change in (
        lambda artifact: artifact["manifest"]["validation_schemas"][1].update(content_digest=f"sha256:{'f' * 64}"),
        lambda artifact: artifact["definitions"]["facets"]["DecisionRecord"].update(
            value_schema={"$ref": "urn:other#/x"}
        ),
    ):
        artifact = json.loads(text)
        del artifact["integrity"]
        change(artifact)
        before = nexus.stats()["schema_environment_version"]
        rejected.append(refused(nexus.install_package, artifact).code)
        loads += nexus.stats()["schema_environment_version"] - before
    tampered = copy.deepcopy(published)
    tampered["definitions"]["concept_types"]["Event"]["description"] = "Anything."
    fresh = kipql.open()
    rejected.append(refused(fresh.install_package, tampered).code)
    assert rejected == ["DigestMismatch", "ConstraintViolation", "DigestMismatch"]
    observe(
        "REL-015",
        current_lock_complete=complete,
        substituted_resource_rejected=len(rejected) == 3,
        unverified_schema_loads=loads,
    )
