"""What an installed package declares holds for every write, whichever statement makes it (§20.5, §20.14, §20.15)."""

from typing import Any

import pytest

import kipql
from kipql import KipError, Nexus

LAB: dict[str, Any] = {
    "manifest": {"package_id": "kip://test/lab", "version": "1.0.0"},
    "aliases": {"concept_types": {"Droid": "Robot"}, "predicates": {"placed_in": "stands_in"}},
    "definitions": {
        "formats": {"serial": {"pattern": "^[A-Z]{2}-[0-9]+$"}},
        "concept_types": {
            "Robot": {
                "attributes": {
                    "fields": {
                        "label": {"type": "string", "required": True},
                        "serial": {"type": "string", "mutable": False, "format": "serial"},
                        "wheels": {"type": "integer", "minimum": 0, "maximum": 8},
                        "mood": {"type": ["string", "null"], "enum": ["calm", "loud", None]},
                        "built_at": {"type": ["timestamp", "null"]},
                        "manual": {"type": "string", "format": "uri"},
                        "age": {"type": "number", "computed": True},
                        "arm": {
                            "type": "object",
                            "value_schema": {
                                "type": "object",
                                "required": ["joints"],
                                "properties": {"joints": {"type": "integer", "minimum": 1}},
                            },
                        },
                    }
                }
            },
            "Room": {"attributes": {"open": True, "fields": {}}},
        },
        "predicates": {
            "stands_in": {"subject": {"concept_types": ["Robot"]}, "object": {"concept_types": ["Room"]}},
            "named": {"object": {"literal_types": ["string"], "format": "serial"}},
            "weighs": {"object": {"literal_types": ["number"]}, "value_schema": {"minimum": 0, "maximum": 100}},
            "page": {"object": {"format": "uri"}},
            "moment": {"object": {"literal_types": ["string"], "format": "timestamp"}},
            "lent_to": {"object": {"kinds": ["Concept"], "literal_types": ["string"], "nullable": True}},
            "observes": {"subject": {"kinds": ["Concept"]}, "object": {"kinds": ["Evidence", "Proposition"]}},
        },
        "facets": {
            "Wear": {
                "applicable_to": {"concept_types": ["Robot"]},
                "fields": {"level": {"type": "number", "maximum": 1}, "score": {"type": "number", "computed": True}},
            },
            "Report": {
                "applicable_to": {"kinds": ["Activity"]},
                "attachment": {"activity_classes": ["inspection"], "terminal_only": True},
                "fields": {"text": {"type": "string", "required": True, "mutable": False}},
            },
            "Tally": {"computed": True, "fields": {"n": {"type": "integer"}}},
        },
        "structural_fields": {
            "parts": {
                "source": {"concept_types": ["Robot"]},
                "target": {"concept_types": ["Robot"]},
                "cardinality": {"min": 0, "max": 2},
                "ordered": True,
                "unique": True,
            },
            "door": {
                "source": {"concept_types": ["Room"]},
                "target": {"concept_types": ["Room"]},
                "cardinality": {"min": 0, "max": 1},
            },
        },
    },
}

ROBOT = 'CREATE CONCEPT ?r {{ TYPE "Robot" SET ATTRIBUTES {{label: "r", {}}} }}'
SET = 'UPDATE "C-1" SET ATTRIBUTES {{{}}}'


@pytest.fixture
def nexus() -> Nexus:
    """C-1 and C-2 Robots, C-3 a Room, E-1, X-1 a running inspection."""
    nexus = kipql.open(packages=[LAB])
    nexus.execute(
        """MUTATE {
          CREATE CONCEPT ?a { TYPE "Robot" SET ATTRIBUTES {label: "a", serial: "AB-1"} SET FACET "Wear" {level: 0} }
          CREATE CONCEPT ?b { TYPE "Robot" SET ATTRIBUTES {label: "b"} }
          CREATE CONCEPT ?c { TYPE "Room" }
          CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "m"} }
          CREATE ACTIVITY ?x { SET FIELDS {activity_class: "inspection", status: "running"} }
        }"""
    )
    return nexus


def outcome(nexus: Nexus, text: str) -> str:
    """The code of the refusal, or "ok"; what is refused changes nothing."""
    before = nexus.digest()
    try:
        nexus.execute(text)
    except KipError as error:
        assert nexus.digest() == before
        return error.code
    return "ok"


VALUES: dict[str, tuple[str, str]] = {
    "an undeclared attribute": ("colour: 1", "ConstraintViolation"),
    "a wrong type": ('wheels: "four"', "TypeMismatch"),
    "a fraction for an integer": ("wheels: 1.5", "TypeMismatch"),
    "above the maximum": ("wheels: 9", "ConstraintViolation"),
    "outside the enum": ('mood: "angry"', "ConstraintViolation"),
    "null inside the enum": ("mood: null", "ok"),
    "null where it is not declared": ("wheels: null", "TypeMismatch"),
    "a timestamp": ('built_at: "2026-01-01T00:00:00.000Z"', "ok"),
    "whole seconds": ('built_at: "2026-01-01T00:00:00Z"', "ConstraintViolation"),
    "no real date": ('built_at: "2026-02-30T00:00:00.000Z"', "ConstraintViolation"),
    "a number for a timestamp": ("built_at: 0", "TypeMismatch"),
    "a URI": ('manual: "https://example.org/m"', "ok"),
    "no URI": ('manual: "the manual"', "ConstraintViolation"),
    "a computed attribute": ("age: 3", "ConstraintViolation"),
    "what its value_schema asks for": ("arm: {joints: 3}", "ok"),
    "what its value_schema forbids": ("arm: {joints: 0}", "ConstraintViolation"),
    "a member its value_schema requires left out": ("arm: {}", "ConstraintViolation"),
}


@pytest.mark.parametrize(("value", "expected"), VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("statement", [ROBOT, SET], ids=["create", "update"])
def test_attribute_values(nexus: Nexus, statement: str, value: str, expected: str) -> None:
    assert outcome(nexus, statement.format(value)) == expected


STATEMENTS: dict[str, tuple[str, str]] = {
    # attributes over time
    "a required attribute left out": ('CREATE CONCEPT ?r { TYPE "Robot" }', "ConstraintViolation"),
    "a required attribute removed": ('UPDATE "C-1" UNSET ATTRIBUTES {label}', "ConstraintViolation"),
    "an immutable attribute changed": (SET.format('serial: "AB-2"'), "ConstraintViolation"),
    "an immutable attribute said again": (SET.format('serial: "AB-1"'), "ok"),
    "an immutable attribute removed": ('UPDATE "C-1" UNSET ATTRIBUTES {serial}', "ConstraintViolation"),
    "an immutable attribute added later": ('UPDATE "C-2" SET ATTRIBUTES {serial: "AB-2"}', "ConstraintViolation"),
    "an open type takes anything": ('UPDATE "C-3" SET ATTRIBUTES {any: [1, {a: null}]}', "ok"),
    "a package's own format": (ROBOT.format('serial: "AB-77"'), "ok"),
    "not in a package's own format": (ROBOT.format('serial: "ab-77"'), "ConstraintViolation"),
    "a line break after it": (ROBOT.format('serial: "AB-7\\n"'), "ConstraintViolation"),
    "an expression beyond the maximum": (
        'UPDATE ?r SET ATTRIBUTES {wheels: ADD(COALESCE(?r.attributes.wheels, 8), 1)} WHERE { ?r {type: "Robot"} }',
        "ConstraintViolation",
    ),
    # ends of a tuple
    "ends as declared": ('ENSURE PROPOSITION ("C-1", "stands_in", "C-3")', "ok"),
    "a subject of another type": ('ENSURE PROPOSITION ("C-3", "stands_in", "C-3")', "ConstraintViolation"),
    "an object of another type": ('ENSURE PROPOSITION ("C-1", "stands_in", "C-2")', "ConstraintViolation"),
    "a Literal for an element": ('ENSURE PROPOSITION ("C-1", "stands_in", "the shed")', "ConstraintViolation"),
    "an object of a declared kind": ('ENSURE PROPOSITION ("C-1", "observes", "E-1")', "ok"),
    "an object of another kind": ('ENSURE PROPOSITION ("C-1", "observes", "X-1")', "ConstraintViolation"),
    "a subject of another kind": ('ENSURE PROPOSITION ("E-1", "observes", "E-1")', "ConstraintViolation"),
    "a Literal in the package's format": ('ENSURE PROPOSITION ("C-1", "named", "AB-1")', "ok"),
    "a Literal in no format": ('ENSURE PROPOSITION ("C-1", "named", "Bob")', "ConstraintViolation"),
    "a Literal of another type": ('ENSURE PROPOSITION ("C-1", "named", 7)', "ConstraintViolation"),
    "an element for a Literal": ('ENSURE PROPOSITION ("C-1", "named", {id: "C-2"})', "ConstraintViolation"),
    "a Literal within its value_schema": ('ENSURE PROPOSITION ("C-1", "weighs", 99.5)', "ok"),
    "a Literal outside its value_schema": ('ENSURE PROPOSITION ("C-1", "weighs", 101)', "ConstraintViolation"),
    "a URI object": ('ENSURE PROPOSITION ("C-1", "page", "urn:x:y")', "ok"),
    "no URI object": ('ENSURE PROPOSITION ("C-1", "page", "page 7")', "ConstraintViolation"),
    "a timestamp object": ('ENSURE PROPOSITION ("C-1", "moment", "2026-01-01T00:00:00.000Z")', "ok"),
    "no timestamp object": ('ENSURE PROPOSITION ("C-1", "moment", "noon")', "ConstraintViolation"),
    "a number for a timestamp object": ('ENSURE PROPOSITION ("C-1", "moment", 12.5)', "TypeMismatch"),
    "null where it is nullable": ('ENSURE PROPOSITION ("C-1", "lent_to", null)', "ok"),
    "null where it is not": ('ENSURE PROPOSITION ("C-1", "named", null)', "ConstraintViolation"),
    "the short form checks alike": (
        'ASSERT ("C-1", "stands_in", "C-2") {by: "C-1", mode: "stated"}',
        "ConstraintViolation",
    ),
    # Facets
    "a Facet where it belongs": ('UPDATE "C-2" SET FACET "Wear" {level: 0.5}', "ok"),
    "a Facet on another type": ('UPDATE "C-3" SET FACET "Wear" {level: 0.5}', "ConstraintViolation"),
    "a Facet on a record": (
        'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "m"} SET FACET "Wear" {level: 0} }',
        "ConstraintViolation",
    ),
    "an undeclared Facet field": ('UPDATE "C-1" SET FACET "Wear" {depth: 1}', "ConstraintViolation"),
    "a computed Facet field": ('UPDATE "C-1" SET FACET "Wear" {score: 1}', "ConstraintViolation"),
    "a computed Facet field removed": ('UPDATE "C-1" UNSET FACET "Wear" {score}', "ConstraintViolation"),
    "a computed Facet": ('UPDATE "C-1" SET FACET "Tally" {n: 1}', "ConstraintViolation"),
    "a computed Facet removed": ('UPDATE "C-1" UNSET FACET "Tally" {n}', "ConstraintViolation"),
    "an attachment before the end": ('UPDATE "X-1" SET FACET "Report" {text: "fine"}', "ConstraintViolation"),
    "an attachment of another class": (
        'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "walk", status: "failed"} SET FACET "Report" {text: "x"} }',
        "ConstraintViolation",
    ),
    "an attachment as declared": (
        'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "inspection", status: "completed"} '
        'SET FACET "Report" {text: "x"} }',
        "ok",
    ),
    "a required Facet field left out": (
        'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "inspection", status: "completed"} SET FACET "Report" {} }',
        "ok",  # a Facet without members is no Facet
    ),
    # structure
    "a reference as declared": ('UPDATE "C-1" SET STRUCTURAL { ("parts", "C-2") }', "ok"),
    "a source of another type": ('UPDATE "C-3" SET STRUCTURAL { ("parts", "C-2") }', "ConstraintViolation"),
    "a target of another type": ('UPDATE "C-1" SET STRUCTURAL { ("parts", "C-3") }', "ConstraintViolation"),
    "one target twice is one edge": ('UPDATE "C-1" SET STRUCTURAL { ("parts", "C-2") ("parts", "C-2") }', "ok"),
    "a position outside the range": (
        'UPDATE "C-1" SET STRUCTURAL { ("parts", "C-2") {index: 1} }',
        "ConstraintViolation",
    ),
    "a position in a field without order": (
        'UPDATE "C-3" SET STRUCTURAL { ("door", "C-3") {index: 0} }',
        "ConstraintViolation",
    ),
    # names
    "an alias of a type": ('CREATE CONCEPT ?r { TYPE "Droid" SET ATTRIBUTES {label: "r"} }', "ok"),
    "an alias of a Predicate": ('ENSURE PROPOSITION ("C-1", "placed_in", "C-3")', "ok"),
    "an unknown type": ('CREATE CONCEPT ?r { TYPE "Robbot" }', "SchemaSymbolNotFound"),
    "an unknown Facet": ('UPDATE "C-1" SET FACET "Ware" {a: 1}', "SchemaSymbolNotFound"),
    "an unknown field": ('UPDATE "C-1" SET STRUCTURAL { ("part", "C-2") }', "SchemaSymbolNotFound"),
}


@pytest.mark.parametrize(("text", "expected"), STATEMENTS.values(), ids=STATEMENTS)
def test_statements(nexus: Nexus, text: str, expected: str) -> None:
    assert outcome(nexus, text) == expected


def test_more_references_than_the_maximum(nexus: Nexus) -> None:
    nexus.execute('UPDATE "C-1" SET STRUCTURAL { ("parts", "C-1") ("parts", "C-2") }')
    text = "MUTATE { " + ROBOT.format("") + ' UPDATE "C-1" SET STRUCTURAL { ("parts", ?r) } }'
    assert outcome(nexus, text.replace(", }", "}")) == "ConstraintViolation"


def test_the_final_state_counts_not_the_way_to_it(nexus: Nexus) -> None:
    text = """MUTATE {
      UPDATE "C-2" SET ATTRIBUTES {wheels: 4}
      CREATE CONCEPT ?r { TYPE "Robot" SET ATTRIBUTES {label: "new"} SET STRUCTURAL { ("parts", "C-2") } }
      ENSURE PROPOSITION (?r, "stands_in", ?room)
      CREATE CONCEPT ?room { TYPE "Room" }
    }"""
    assert outcome(nexus, text) == "ok"


def test_a_bulk_load_is_checked_like_any_write(nexus: Nexus) -> None:
    with pytest.raises(KipError) as caught:
        nexus.load([{"kind": "concept", "type": "Robot", "attributes": {"label": "x", "wheels": 99}}])
    assert caught.value.code == "ConstraintViolation"


# --- versions, renames, retirement (§20.14) -----------------------------------------------------------


def newer(version: str = "2.0.0", path: str = "kip://test/lab", **parts: Any) -> dict[str, Any]:
    return {"manifest": {"package_id": path, "version": version}, **parts}


def test_a_new_element_is_bound_to_the_newest_version_and_an_old_one_keeps_its_own(nexus: Nexus) -> None:
    types = {"Robot": {"attributes": {"fields": {"label": {"type": "string"}, "legs": {"type": "integer"}}}}}
    nexus.install_package(newer(definitions={"concept_types": types}))
    nexus.execute('CREATE CONCEPT ?r { TYPE "Robot" SET ATTRIBUTES {legs: 2} }')
    refs = nexus.query('FIND(?r.schema_ref) WHERE { ?r {type: "Robot"} } ORDER BY ?r.id').rows
    assert [ref.partition("@")[2] for ref in refs] == ["1.0.0/Robot", "1.0.0/Robot", "2.0.0/Robot"]
    assert outcome(nexus, 'UPDATE "C-1" SET ATTRIBUTES {legs: 2}') == "ConstraintViolation"
    assert outcome(nexus, 'UPDATE "C-4" SET ATTRIBUTES {wheels: 2}') == "ConstraintViolation"


def test_a_rename_keeps_one_population(nexus: Nexus) -> None:
    nexus.execute('ENSURE PROPOSITION ("C-1", "stands_in", "C-3")')
    nexus.execute('UPDATE "C-1" SET FIELDS {name: "one"}')
    definitions = {
        "concept_types": {"Machine": {"attributes": {"open": True, "fields": {}}}},
        "predicates": {"located_at": {}},
    }
    renames = [
        {"kind": "rename", "symbol_kind": "ConceptType", "from": "Robot", "to": "Machine"},
        {"kind": "rename", "symbol_kind": "PredicateType", "from": "stands_in", "to": "located_at"},
    ]
    nexus.install_package(newer(definitions=definitions, migrations=renames))
    for name in ("Machine", "Robot"):
        assert len(nexus.query(f'FIND(?r) WHERE {{ ?r {{type: "{name}"}} }}').rows) == 2
    for name in ("located_at", "stands_in"):
        assert len(nexus.query(f'FIND(?p) WHERE {{ ?p (?s, "{name}", ?o) }}').rows) == 1
    nexus.execute('ENSURE PROPOSITION ("C-1", "located_at", "C-3")')
    assert nexus.stats()["elements"]["proposition"] == 1


def test_a_rename_does_not_bring_two_concepts_under_one_key(nexus: Nexus) -> None:
    nexus.execute('CREATE CONCEPT ?r { TYPE "Robot" SET FIELDS {key: "k"} SET ATTRIBUTES {label: "r"} }')
    nexus.execute('CREATE CONCEPT ?r { TYPE "Room" SET FIELDS {key: "k"} }')
    rename = [{"kind": "rename", "symbol_kind": "ConceptType", "from": "Robot", "to": "Thing"}]
    more = [*rename, {"kind": "rename", "symbol_kind": "ConceptType", "from": "Room", "to": "Thing"}]
    package = newer(definitions={"concept_types": {"Thing": {}}}, migrations=more)
    with pytest.raises(KipError) as caught:
        nexus.install_package(package)
    assert caught.value.code == "IdentityConflict"
    assert nexus.query("DESCRIBE SCHEMA ENVIRONMENT").rows[0]["schema_environment_version"] == 1


def test_a_retired_symbol_is_read_and_not_written(nexus: Nexus) -> None:
    nexus.execute('ENSURE PROPOSITION ("C-1", "stands_in", "C-3")')
    retired = [{"kind": "retire", "symbol_kind": "PredicateType", "symbol": "stands_in"}]
    nexus.install_package(newer(definitions={}, migrations=retired))
    assert len(nexus.query('FIND(?p) WHERE { ?p (?s, "stands_in", ?o) }').rows) == 1
    assert outcome(nexus, 'ENSURE PROPOSITION ("C-2", "stands_in", "C-3")') == "SchemaSymbolNotFound"


def test_a_name_that_two_packages_export_is_ambiguous(nexus: Nexus) -> None:
    nexus.install_package(newer("1.0.0", "kip://test/other", definitions={"concept_types": {"Room": {}}}))
    assert outcome(nexus, 'CREATE CONCEPT ?r { TYPE "Room" }') == "SchemaSymbolAmbiguous"
    assert outcome(nexus, 'CREATE CONCEPT ?r { TYPE "kip://test/lab@1.0.0/Room" }') == "ok"
    with pytest.raises(KipError) as caught:
        nexus.query('FIND(?r) WHERE { ?r {type: "Room"} }')
    assert caught.value.code == "SchemaSymbolAmbiguous"


# --- what activation refuses (§20.5, §20.11) ----------------------------------------------------------

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a value_schema that refers to nothing": (
        {"definitions": {"facets": {"F": {"value_schema": {"$ref": "urn:nothing"}}}}},
        "ConstraintViolation",
    ),
    "a value_schema with a dynamic reference": (
        {"definitions": {"facets": {"F": {"value_schema": {"$dynamicRef": "#x"}}}}},
        "ConstraintViolation",
    ),
    "a value_schema that is no schema": (
        {"definitions": {"predicates": {"p": {"value_schema": {"type": "colour"}}}}},
        "ConstraintViolation",
    ),
    "a lock that leaves one out": (
        {
            "manifest": {"package_id": "kip://test/lab", "version": "2.0.0", "validation_schemas": []},
            "definitions": {"facets": {"F": {"value_schema": {"$ref": "urn:kip:2.0:schema:common#/$defs/Digest"}}}},
        },
        "ConstraintViolation",
    ),
    "a lock on other bytes": (
        {
            "manifest": {
                "package_id": "kip://test/lab",
                "version": "2.0.0",
                "validation_schemas": [{"id": "urn:kip:2.0:schema:common", "content_digest": "sha256:" + "0" * 64}],
            },
            "definitions": {"facets": {"F": {"value_schema": {"$ref": "urn:kip:2.0:schema:common#/$defs/Digest"}}}},
        },
        "DigestMismatch",
    ),
    "a value_schema on a Structural Field": (
        {"definitions": {"structural_fields": {"s": {"value_schema": {}}}}},
        "ConstraintViolation",
    ),
    "reference_paths on a Predicate": (
        {"definitions": {"predicates": {"p": {"reference_paths": []}}}},
        "ConstraintViolation",
    ),
    "a format without a pattern": ({"definitions": {"formats": {"f": {}}}}, "ConstraintViolation"),
    "a malformed pattern": ({"definitions": {"formats": {"f": {"pattern": "("}}}}, "ConstraintViolation"),
    "a format of Core": ({"definitions": {"formats": {"uri": {"pattern": "x"}}}}, "ConstraintViolation"),
    "a digest of other content": ({"integrity": {"content_digest": "sha256:" + "0" * 64}}, "DigestMismatch"),
    "a dependency that is not there": (
        {"dependencies": [{"package_id": "kip://test/none", "version": "1.0.0"}]},
        "SchemaPackageUnavailable",
    ),
    "a Core kind": ({"definitions": {"concept_types": {"Activity": {}}}}, "SchemaSymbolConflict"),
    "other content under an active ref": (
        {"manifest": {"package_id": "kip://test/lab", "version": "1.0.0"}},
        "SchemaSymbolConflict",
    ),
}


@pytest.mark.parametrize(("parts", "code"), REFUSED.values(), ids=REFUSED)
def test_what_can_not_be_honoured_is_not_activated(nexus: Nexus, parts: dict[str, Any], code: str) -> None:
    before = nexus.query("DESCRIBE SCHEMA ENVIRONMENT").rows
    with pytest.raises(KipError) as caught:
        nexus.install_package({**newer(), **parts})
    assert caught.value.code == code
    assert nexus.query("DESCRIBE SCHEMA ENVIRONMENT").rows == before


# --- computed fields of the Profile (§18.2) -----------------------------------------------------------

LINEAGE = """MUTATE {
  CREATE CONCEPT ?path { TYPE "Experience" SET ATTRIBUTES {goal: "g", outcome_status: "success"} }
  CREATE CONCEPT ?lesson { TYPE "Insight" SET ATTRIBUTES {summary: "s"} }
  CREATE EVIDENCE ?heard { SET FIELDS {evidence_class: "m"} }
  CREATE ACTIVITY ?x { SET FIELDS {activity_class: "semantic_consolidation", status: "completed"}
    SET STRUCTURAL { ("inputs", ?path) ("inputs", ?heard) ("outputs", ?lesson) } }
  CREATE ACTIVITY ?y { SET FIELDS {activity_class: "semantic_consolidation", status: "running"}
    SET STRUCTURAL { ("inputs", ?lesson) ("outputs", ?path) } }
}"""
READS: dict[str, tuple[str, set[tuple[str, str]]]] = {
    "every source of every lesson": ('(?a, "derived_from", ?b)', {("C-2", "C-1"), ("C-2", "E-1")}),
    "by its end": ('(?a, "derived_from", ?b) ?b EVIDENCE {}', {("C-2", "E-1")}),
    "by its start": ('(?a, "derived_from", ?b) ?a {type: "Insight"}', {("C-2", "C-1"), ("C-2", "E-1")}),
    "from the source's side": ('(?a, "consolidated_to", ?b)', {("C-1", "C-2")}),
    "nothing was compiled": ('(?a, "compiled_from", ?b)', set()),
}


@pytest.mark.parametrize(("pattern", "expected"), READS.values(), ids=READS)
def test_lineage_is_read_from_terminal_activities(pattern: str, expected: set[tuple[str, str]]) -> None:
    nexus = kipql.open()
    nexus.execute(LINEAGE)
    assert set(nexus.query(f"FIND(?a.id, ?b.id) WHERE {{ STRUCTURAL {pattern} }}").rows) == expected


def test_a_compiled_skill_knows_its_activity_and_its_experiences() -> None:
    nexus = kipql.open()
    nexus.execute(LINEAGE)
    nexus.execute(
        """MUTATE {
          CREATE CONCEPT ?s { TYPE "Skill" SET ATTRIBUTES {skill_class: "workflow", summary: "s", status: "proposed"}
            SET STRUCTURAL { ("current_revision", ?r) } }
          CREATE CONCEPT ?r { TYPE "SkillRevision" SET ATTRIBUTES {task_family: "t", procedure: "p",
            behavior_digest: "sha256:e8c8371d77877cbe6e7fdf6241f6430d97beac3f720ae3b875980f8fdd98ecb6"}
            SET STRUCTURAL { ("revision_of", ?s) } }
          CREATE ACTIVITY ?c { SET FIELDS {activity_class: "skill_compilation", status: "completed"}
            SET STRUCTURAL { ("inputs", "C-1") ("inputs", "E-1") ("outputs", ?s) ("outputs", ?r) } }
        }"""
    )
    text = 'FIND(?a.id, ?b.id) WHERE {{ STRUCTURAL (?a, "{}", ?b) }}'
    assert set(nexus.query(text.format("compiled_by")).rows) == {("C-3", "X-3"), ("C-4", "X-3")}
    assert set(nexus.query(text.format("compiled_from")).rows) == {("C-3", "C-1"), ("C-4", "C-1")}


@pytest.mark.parametrize("statement", ["SET", "UNSET"])
def test_a_computed_field_is_not_written(statement: str) -> None:
    nexus = kipql.open()
    nexus.execute(LINEAGE)
    text = f'UPDATE "C-2" {statement} STRUCTURAL {{ ("derived_from", "C-1") }}'
    assert outcome(nexus, text) == "ConstraintViolation"


def test_computed_fields_are_no_part_of_the_element_and_follow_history() -> None:
    nexus = kipql.open()
    nexus.execute(LINEAGE)
    assert nexus.query('FIND(?i) WHERE { ?i {type: "Insight"} }').scalar()["structural"] == {}
    nexus.execute('TRANSITION "X-2" TO "completed"')
    text = 'FIND(?a.id) WHERE { STRUCTURAL (?a, "derived_from", "C-2") }'
    assert nexus.query(text).rows == ["C-1"]
    assert nexus.query(f"{text} AS OF SEQ 1").rows == []
