"""VERIFY and VALIDATE SCHEMA PACKAGE (§69): integrity is not legality, and neither activates anything."""

from typing import Any

import pytest

import kipql
from kipql.schema import builtin
from kipql.schema.authoring import sealed

SMALL: dict[str, Any] = {
    "format": "KIP-Schema-Package",
    "manifest": {"package_id": "kip://test/small", "version": "1.0.0"},
    "definitions": {"concept_types": {"Thing": {"kind": "ConceptType", "description": "Something."}}},
}


def verified(nexus: kipql.Nexus, artifact: Any) -> Any:
    return nexus.query("VERIFY SCHEMA PACKAGE :p", {"p": artifact}).scalar()


def validated(nexus: kipql.Nexus, artifact: Any) -> Any:
    return nexus.query("VALIDATE SCHEMA PACKAGE :p", {"p": artifact}).scalar()


def test_a_digest_is_recomputed() -> None:
    nexus, whole = kipql.open(), sealed(SMALL)
    assert verified(nexus, SMALL)["checks"] == {"digest": "absent", "installed": "absent"}
    assert verified(nexus, whole)["checks"] == {"digest": "match", "installed": "absent"}
    edited = {**whole, "manifest": {**SMALL["manifest"], "version": "1.0.1"}}
    assert verified(nexus, edited)["checks"]["digest"] == "mismatch"
    assert not verified(nexus, edited)["valid"]


def test_what_is_installed_under_the_reference_is_compared() -> None:
    nexus = kipql.open(packages=[SMALL])
    assert verified(nexus, SMALL)["checks"]["installed"] == "match"
    other = {**SMALL, "definitions": {}}
    assert verified(nexus, other)["checks"]["installed"] == "mismatch"
    ours = dict(builtin.cognitive_memory().artifact)
    assert verified(nexus, ours)["checks"] == {"digest": "match", "installed": "match"}


def test_validation_reports_and_activates_nothing() -> None:
    nexus = kipql.open()
    assert validated(nexus, SMALL) == {"valid": True, "package_ref": "kip://test/small@1.0.0", "errors": []}
    broken = {**SMALL, "definitions": {"concept_types": {"Thing": {"kind": "Nonsense"}}}}
    answer = validated(nexus, broken)
    assert not answer["valid"]
    assert answer["errors"][0]["code"] == "ConstraintViolation"
    assert nexus.query("LIST TYPES").rows == kipql.open().query("LIST TYPES").rows


@pytest.mark.parametrize(
    ("artifact", "code"), [("x", "TypeMismatch"), ({}, "ArtifactParseError"), ({"manifest": 1}, "ArtifactParseError")]
)
def test_what_is_no_package_is_refused(artifact: Any, code: str) -> None:
    with pytest.raises(kipql.KipError) as raised:
        verified(kipql.open(), artifact)
    assert raised.value.code == code


@pytest.mark.parametrize("ref", ["kip://core", "kip://core@2.0.0"])
def test_core_is_described_by_its_kinds_fields_and_registries(ref: str) -> None:
    described = kipql.open().query("DESCRIBE PACKAGE :ref", {"ref": ref}).one()
    assert described["package_ref"] == "kip://core@2.0.0"
    assert "kip://core@2.0.0/Assertion" in described["element_kinds"]
    assert described["structural_fields"]["Evidence.generated_by"] == ["Activity"]
    assert described["registries"]["stance"] == ["support", "reject", "uncertain"]
