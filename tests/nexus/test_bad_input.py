"""Bad input: each with its own code and position, and nothing written (issue: what it must show)."""

from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql.errors import KipError

PACKAGE = {
    "manifest": {"package_id": "kip://test/bad-input", "version": "1.0.0"},
    "definitions": {
        "concept_types": {"Robot": {"kind": "ConceptType", "description": "A robot.", "attributes": {"open": True}}},
        "predicates": {
            "built_at": {
                "kind": "PredicateType",
                "description": "When it was built.",
                "object": {"literal_types": ["string"], "format": "timestamp"},
            },
            "legs": {"kind": "PredicateType", "description": "How many.", "object": {"literal_types": ["number"]}},
        },
    },
}
ROBOT = 'CREATE CONCEPT ?r { TYPE "Robot" NAME "R" SET FIELDS {key: "r"} }'


@pytest.fixture
def nexus() -> kipql.Nexus:
    """Two robots, the second merged into the first."""
    nexus = kipql.open(packages=[PACKAGE])
    nexus.execute(ROBOT)
    nexus.execute('CREATE CONCEPT ?s { TYPE "Robot" NAME "S" }')
    nexus.execute('MERGE CONCEPT "C-2" INTO "C-1"')
    return nexus


@pytest.mark.parametrize(
    ("text", "parameters", "code", "place"),
    [
        ('FIND(?c) WHERE { ?c {type: "Robt"} }', {}, "SchemaSymbolNotFound", "1:28"),
        ('ENSURE PROPOSITION ("C-1", "lgs", 4)', {}, "SchemaSymbolNotFound", "1:28"),
        ('ENSURE PROPOSITION ("C-1", "legs", "four")', {}, "ConstraintViolation", "1:36"),
        ("FIND(?c) WHERE { ?c {name: :nme} }", {"name": "R"}, "ReferenceError", "1:28"),
        ('ENSURE PROPOSITION ("C-1", "built_at", "2026-01-01")', {}, "ConstraintViolation", "1:40"),
        ("FIND(?c) WHERE { ?c CONCEPT {} } FOR TIME :t", {"t": "yesterday"}, "ConstraintViolation", "1:43"),
        ('ENSURE PROPOSITION ("C-1", "legs", 9007199254740992)', {}, "InvalidSyntax", "1:36"),
        ('ENSURE PROPOSITION ("C-1", "legs", :n)', {"n": 2**53}, "ConstraintViolation", "1:36"),
        ("FIND(?x) WHERE { ?c CONCEPT {} }", {}, "InvalidSyntax", "1:6"),
        ("FIND(?c) WHERE { ?c CONCEPT {} FILTER(NOPE(?c.name)) }", {}, "InvalidSyntax", "1:39"),
        ('FIND(?c) WHERE { ?c CONCEPT {} FILTER(REGEX(?c.name, "(")) }', {}, None, "1:"),
        ('MERGE CONCEPT "C-1" INTO "C-2"', {}, "IdentityMergeConflict", ""),
        ('UPDATE "C-1" SET FIELDS {name: "Q"} EXPECT VERSION 9', {}, "VersionConflict", "1:"),
        ("FIND(?c) WHERE { ?c CONCEPT {} ", {}, "InvalidSyntax", "1:31"),
    ],
)
def test_bad_input_has_its_code_and_place_and_writes_nothing(
    nexus: kipql.Nexus, text: str, parameters: dict[str, Any], code: str | None, place: str
) -> None:
    before = (nexus.space_seq, nexus.digest())
    with pytest.raises(KipError) as caught:
        nexus.execute(text, parameters)
    assert caught.value.code == code or (code is None and caught.value.code in ("InvalidSyntax", "ConstraintViolation"))
    assert str(caught.value).startswith(place)
    assert (nexus.space_seq, nexus.digest()) == before


def test_a_folder_that_is_not_a_memory_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("mine")
    with pytest.raises(KipError) as caught:
        kipql.open(tmp_path)
    assert caught.value.code == "NotAMemory"
    assert [each.name for each in tmp_path.iterdir()] == ["x"]
