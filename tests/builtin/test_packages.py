"""The built-in packages say what the public artifacts say, in our own words.

Refs, fields, types, enums, cardinalities, endpoints, flags and rule identities are compared; prose
(descriptions, hints, names) is not, and must not be copied.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import rfc8785

BUILTIN = Path(__file__).resolve().parents[2] / "kipql" / "schema" / "builtin"
PACKAGES = ("cognitive-memory-2.0.0", "general-domain-1.0.0", "agent-1.0.0")
PUBLISHED = PACKAGES[:2]
PROSE = {"description", "model_hints", "breaking_changes", "name", "source_document"}
PINNED = {"validation_schemas", "content_digest"}  # digests of our own wording, checked apart


def read(name: str) -> dict[str, Any]:
    artifact: dict[str, Any] = json.loads((BUILTIN / f"{name}.json").read_text("utf-8"))
    return artifact


def digest(document: Any) -> str:
    return "sha256:" + hashlib.sha256(rfc8785.dumps(document)).hexdigest()


def contract(value: object) -> object:
    """The value without its prose and without digests of prose."""
    if isinstance(value, dict):
        return {name: contract(member) for name, member in value.items() if name not in PROSE | PINNED}
    if isinstance(value, list):
        return [contract(item) for item in value]
    return value


def texts(value: object, prose: bool = False) -> set[str]:
    """Every text of more than four words that stands in a prose member."""
    if isinstance(value, dict):
        return {text for name, member in value.items() for text in texts(member, prose or name in PROSE)}
    if isinstance(value, list):
        return {text for item in value for text in texts(item, prose)}
    return {value} if prose and isinstance(value, str) and len(value.split()) > 4 else set()


@pytest.mark.shared
@pytest.mark.parametrize("name", PUBLISHED)
def test_everything_but_the_prose_is_that_of_the_published_artifact(name: str, shared: Path) -> None:
    published = json.loads((shared / "kip" / "profiles" / f"{name}.schema.json").read_text("utf-8"))
    ours = read(name)
    for part in ("format", "format_version", "manifest", "dependencies", "definitions", "constraints", "aliases"):
        assert contract(ours[part]) == contract(published[part]), part
    assert contract(ours["compatibility"]) == contract(published["compatibility"])


@pytest.mark.shared
@pytest.mark.parametrize("name", PUBLISHED)
def test_no_sentence_is_copied(name: str, shared: Path) -> None:
    published = json.loads((shared / "kip" / "profiles" / f"{name}.schema.json").read_text("utf-8"))
    assert texts(read(name)) & texts(published) == set()


@pytest.mark.parametrize("name", PACKAGES)
def test_the_digest_covers_everything_but_integrity(name: str) -> None:
    artifact = read(name)
    integrity = artifact.pop("integrity")
    assert integrity["content_digest"] == digest(artifact)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_dependency_is_pinned_by_the_digest_of_what_ships(name: str) -> None:
    shipped = {read(other)["manifest"]["package_ref"]: read(other)["integrity"]["content_digest"] for other in PACKAGES}
    for dependency in read(name)["dependencies"]:
        ref = dependency["package_ref"]
        assert dependency.get("content_digest") == shipped.get(ref), ref


def test_the_profile_locks_the_record_schemas_it_names() -> None:
    lock = {
        pin["id"]: pin["content_digest"] for pin in read("cognitive-memory-2.0.0")["manifest"]["validation_schemas"]
    }
    records = [json.loads(path.read_text("utf-8")) for path in sorted((BUILTIN / "records").glob("*.json"))]
    assert lock == {schema["$id"]: digest(schema) for schema in records}


@pytest.mark.parametrize("name", PACKAGES)
def test_every_symbol_is_its_package_ref_and_its_name(name: str) -> None:
    artifact = read(name)
    package = artifact["manifest"]["package_ref"]
    for section in ("concept_types", "predicates", "facets", "structural_fields"):
        for local, definition in artifact["definitions"][section].items():
            assert definition["ref"] == f"{package}/{local}"
            assert definition["description"]


def test_the_agent_package_declares_what_the_agent_layer_writes() -> None:
    definitions = read("agent-1.0.0")["definitions"]
    assert set(definitions["concept_types"]) == {"Pin", "CanonArticle", "Asset"}
    assert all(definition["attributes"]["open"] for definition in definitions["concept_types"].values())
    assert {
        name: (field["ordered"], field["cardinality"]["max"])
        for name, field in definitions["structural_fields"].items()
    } == {
        "has_turn": (True, None),
        "has_message": (True, None),
        "pinned_content": (False, 1),
        "governs": (False, None),
    }
    assert set(definitions["predicates"]) == {"must_contain", "must_not_contain", "noted"}
