"""What a package must look like to be loaded (specification §20.2-§20.5, §20.11, §20.15)."""

import json
from pathlib import Path
from typing import Any

import pytest

from kipql.errors import KipError
from kipql.model import CONCEPT, EVIDENCE
from kipql.schema.builtin import agent, cognitive_memory, core, general_domain
from kipql.schema.packages import Package
from tests.schema.small import LAB, THINGS, package


def refusal(artifact: Any) -> str:
    with pytest.raises(KipError) as caught:
        Package.load(artifact)
    return caught.value.code


def test_an_abbreviated_package_gets_its_refs_and_kinds() -> None:
    things = package(THINGS)
    assert things.ref == LAB
    robot = things.concept_types["Robot"]
    assert (robot.ref, robot.lineage, robot.local_name) == (f"{LAB}/Robot", "kip://lab/things/Robot", "Robot")
    assert (robot.KIND, robot.package_ref, robot.version, robot.status) == ("ConceptType", LAB, "1.0.0", "active")
    assert not robot.open and things.concept_types["Room"].open


def test_predicate_declarations_have_the_defaults_of_the_specification() -> None:
    about = package(THINGS).predicates["about"]
    assert (about.functional, about.functional_by, about.open_world, about.complete) == (False, None, True, False)
    assert (about.boolean_completeness, about.temporal_conflict) == (False, "overlapping_valid_time")


def test_attributes_are_closed_unless_open_and_facets_are_closed_unless_said() -> None:
    things = package(THINGS)
    assert not things.concept_types["Plain"].open
    assert not things.facets["Wear"].open and things.facets["Loose"].open


def test_literal_types_may_be_written_as_datatypes() -> None:
    assert package(THINGS).predicates["named"].object.literal_types == {"string"}


def test_kinds_may_be_written_as_core_refs() -> None:
    facet = {"applicable_to": {"kinds": ["kip://core@2.0.0/Evidence", "Concept"]}}
    assert package({"facets": {"F": facet}}).facets["F"].applicable_to.kinds == {EVIDENCE, CONCEPT}


DEFINITION = {
    "a kind of definition that does not exist": {"widgets": {}},
    "a definition under the wrong kind": {"predicates": {"p": {"kind": "ConceptType"}}},
    "a definition that calls itself by another ref": {"predicates": {"p": {"ref": f"{LAB}/q"}}},
    "a definition of another version": {"predicates": {"p": {"ref": "kip://lab/things@2.0.0/p"}}},
    "a definition that is no object": {"predicates": {"p": "relation"}},
    "a name with a blank": {"predicates": {"lives in": {}}},
    "functional with functional_by": {
        "predicates": {"p": {"functional": True, "functional_by": "object_type", "object": {"kinds": ["Concept"]}}}
    },
    "functional_by over Literals": {
        "predicates": {"p": {"functional_by": "object_type", "object": {"literal_types": ["string"]}}}
    },
    "functional_by over an undeclared object": {"predicates": {"p": {"functional_by": "object_type"}}},
    "functional_by over more than Concepts": {
        "predicates": {"p": {"functional_by": "object_type", "object": {"kinds": ["Concept", "Evidence"]}}}
    },
    "an unknown functional_by": {"predicates": {"p": {"functional_by": "name", "object": {"kinds": ["Concept"]}}}},
    "functional as text": {"predicates": {"p": {"functional": "yes"}}},
    "an unknown temporal_conflict": {"predicates": {"p": {"temporal_conflict": "sometimes"}}},
    "boolean_completeness over strings": {
        "predicates": {"p": {"boolean_completeness": True, "object": {"literal_types": ["string"]}}}
    },
    "a Literal subject": {"predicates": {"p": {"subject": {"literal_types": ["string"]}}}},
    "an unknown literal type": {"predicates": {"p": {"object": {"literal_types": ["date"]}}}},
    "an unknown kind": {"predicates": {"p": {"object": {"kinds": ["Thing"]}}}},
    "an unknown endpoint member": {"predicates": {"p": {"object": {"types": ["Robot"]}}}},
    "an unknown field type": {"concept_types": {"T": {"attributes": {"fields": {"f": {"type": "date"}}}}}},
    "a required that is no boolean": {"concept_types": {"T": {"attributes": {"fields": {"f": {"required": 1}}}}}},
    "an empty enum": {"concept_types": {"T": {"attributes": {"fields": {"f": {"enum": []}}}}}},
    "minimum above maximum": {"facets": {"F": {"fields": {"f": {"minimum": 2, "maximum": 1}}}}},
    "an unknown attachment constraint": {"facets": {"F": {"attachment": {"weekday": "monday"}}}},
    "a reference path without a slash": {"facets": {"F": {"reference_paths": [{"path": "a"}]}}},
    "a reference path to something else": {"facets": {"F": {"reference_paths": [{"path": "/a", "target": "file"}]}}},
    "a maximum below the minimum": {"structural_fields": {"s": {"cardinality": {"min": 2, "max": 1}}}},
    "a maximum of nothing": {"structural_fields": {"s": {"cardinality": {"max": 0}}}},
    "a minimum that is no integer": {"structural_fields": {"s": {"cardinality": {"min": True}}}},
    "a target that is a Literal": {"structural_fields": {"s": {"target": {"literal_types": ["string"]}}}},
    "a value_schema that is no schema": {"facets": {"F": {"value_schema": {"type": "wrong"}}}},
    "a value_schema that names nothing": {"facets": {"F": {"value_schema": {"$ref": "urn:kip:2.0:schema:nowhere"}}}},
    "a value_schema with a dangling pointer": {"facets": {"F": {"value_schema": {"$ref": "#/$defs/Missing"}}}},
    "a value_schema of unsupported means": {"facets": {"F": {"value_schema": {"$dynamicRef": "#x"}}}},
    "a value_schema of another draft": {
        "facets": {"F": {"value_schema": {"$schema": "http://json-schema.org/draft-07/schema#"}}}
    },
}


@pytest.mark.parametrize("definitions", DEFINITION.values(), ids=DEFINITION)
def test_a_malformed_definition_is_refused(definitions: Any) -> None:
    artifact = {"manifest": {"package_id": "kip://lab/things", "version": "1.0.0"}, "definitions": definitions}
    assert refusal(artifact) == "ConstraintViolation"


MANIFEST = {
    "no package id": {"version": "1.0.0"},
    "a package id in upper case": {"package_id": "kip://Lab", "version": "1.0.0"},
    "a package id that is a URL": {"package_id": "https://lab", "version": "1.0.0"},
    "no version": {"package_id": "kip://lab"},
    "a version range": {"package_id": "kip://lab", "version": "^1.0.0"},
    "a floating version": {"package_id": "kip://lab", "version": "latest"},
    "another package ref": {"package_id": "kip://lab", "version": "1.0.0", "package_ref": "kip://lab@2.0.0"},
}


@pytest.mark.parametrize("manifest", MANIFEST.values(), ids=MANIFEST)
def test_a_malformed_manifest_is_refused(manifest: Any) -> None:
    assert refusal({"manifest": manifest, "definitions": {}}) == "ConstraintViolation"


@pytest.mark.parametrize(
    "extra",
    [{"surprise": 1}, {"format": "Other"}, {"format_version": "3.0"}, {"aliases": {"widgets": {}}}, {"manifest": None}],
    ids=str,
)
def test_a_malformed_artifact_is_refused(extra: Any) -> None:
    artifact = {"manifest": {"package_id": "kip://lab", "version": "1.0.0"}, "definitions": {}, **extra}
    assert refusal(artifact) == "ConstraintViolation"


def test_core_is_not_replaced_and_its_kinds_are_not_shadowed() -> None:
    core_again = {"manifest": {"package_id": "kip://core", "version": "2.0.0"}, "definitions": {}}
    shadow = {
        "manifest": {"package_id": "kip://a", "version": "1.0.0"},
        "definitions": {"concept_types": {"Evidence": {}}},
    }
    assert refusal(core_again) == "SchemaSymbolConflict"
    assert refusal(shadow) == "SchemaSymbolConflict"


def test_a_structural_field_may_be_named_as_core_does() -> None:
    assert package(THINGS).structural_fields["evidence"].ref == f"{LAB}/evidence"


def test_a_symbol_and_an_alias_of_one_name_conflict() -> None:
    artifact = {
        "manifest": {"package_id": "kip://a", "version": "1.0.0"},
        "definitions": {"predicates": {"status": {}, "other": {}}},
        "aliases": {"predicates": {"status": "kip://a@1.0.0/other"}},
    }
    assert refusal(artifact) == "SchemaSymbolConflict"


def test_a_type_of_the_own_package_that_is_not_defined_is_refused() -> None:
    definitions = {"predicates": {"p": {"object": {"concept_types": ["kip://a@1.0.0/Ghost"]}}}}
    artifact = {"manifest": {"package_id": "kip://a", "version": "1.0.0"}, "definitions": definitions}
    assert refusal(artifact) == "SchemaSymbolNotFound"


def test_a_stated_digest_is_checked_unless_the_artifact_was_trusted_before() -> None:
    integrity = {"digest_profile": "kip-jcs-safe-v1", "content_digest": "sha256:" + "0" * 64}
    artifact = {"manifest": {"package_id": "kip://a", "version": "1.0.0"}, "definitions": {}, "integrity": integrity}
    assert refusal(artifact) == "DigestMismatch"
    assert Package.load(artifact, trusted=True).ref == "kip://a@1.0.0"


def test_a_locked_schema_must_be_the_one_that_is_here() -> None:
    common = "urn:kip:2.0:schema:common"
    facet = {"F": {"fields": {"pin": {"value_schema": {"$ref": f"{common}#/$defs/ArtifactPin"}}}}}

    def locked(*pins: dict[str, str]) -> dict[str, Any]:
        manifest = {"package_id": "kip://a", "version": "1.0.0", "validation_schemas": list(pins)}
        return {"manifest": manifest, "definitions": {"facets": facet}}

    assert refusal(locked()) == "ConstraintViolation"
    assert refusal(locked({"id": common, "content_digest": "sha256:" + "0" * 64})) == "DigestMismatch"


def test_the_artifact_is_kept_apart_from_what_the_host_does_with_it() -> None:
    artifact = {"manifest": {"package_id": "kip://a", "version": "1.0.0"}, "definitions": {"predicates": {"p": {}}}}
    loaded = Package.load(artifact)
    artifact["definitions"]["predicates"]["q"] = {}
    assert list(loaded.artifact["definitions"]["predicates"]) == ["p"]


def test_the_packages_that_ship_load() -> None:
    assert core().ref == "kip://core@2.0.0" and not core().concept_types
    assert cognitive_memory().ref == "kip://profiles/cognitive-memory@2.0.0"
    assert general_domain().ref == "kip://domains/general@1.0.0"
    assert agent().ref == "kip://kipql/agent@1.0.0"


@pytest.mark.shared
def test_every_published_and_fixture_package_loads(shared: Path) -> None:
    paths = [*shared.glob("kip/profiles/*.schema.json"), *shared.glob("conformance/fixtures/*.schema.json")]
    artifacts = [json.loads(path.read_text()) for path in paths]
    for path in shared.glob("conformance/engine-suite/*.json"):
        artifacts += json.loads(path.read_text()).get("packages", [])
    loaded = [Package.load(artifact) for artifact in artifacts]
    assert len(loaded) == len(artifacts) > 20


@pytest.mark.shared
@pytest.mark.parametrize("name", ["cognitive-memory-2.0.0", "general-domain-1.0.0"])
def test_the_published_artifact_of_a_shipped_package_is_the_shipped_package(name: str, shared: Path) -> None:
    artifact = json.loads((shared / "kip" / "profiles" / f"{name}.schema.json").read_text())
    shipped = cognitive_memory() if name.startswith("cognitive") else general_domain()
    assert Package.load(artifact) is shipped
    artifact["definitions"]["concept_types"]["Extra"] = {}
    assert refusal(artifact) == "DigestMismatch"
    del artifact["integrity"]
    assert Package.load(artifact) is not shipped


def test_a_shipped_package_is_loaded_once() -> None:
    assert Package.load(dict(agent().artifact)) is agent()
