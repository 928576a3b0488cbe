"""Every way to write against the schema wrong is refused whole, by a code and with words that help (§20, §54-§58)."""

from typing import Any

import pytest

import kipql
from kipql.errors import KipError

ROBOTS: dict[str, Any] = {
    "manifest": {"package_id": "kip://lab/w", "version": "1.0.0"},
    "definitions": {
        "formats": {"plate": {"pattern": "^[A-Z]{2}-[0-9]+$"}},
        "concept_types": {
            "Robot": {
                "attributes": {
                    "fields": {
                        "label": {"type": "string", "required": True},
                        "serial": {"type": "string", "mutable": False},
                        "speed": {"type": "number", "minimum": 0, "maximum": 10},
                        "wheels": {"type": "integer"},
                        "mood": {"type": ["string", "null"], "enum": ["calm", "loud", None]},
                        "built": {"type": "timestamp"},
                        "home": {"type": "string", "format": "uri"},
                        "plate": {"type": "string", "format": "plate"},
                        "on": {"type": "boolean"},
                        "tags": {
                            "type": "array",
                            "value_schema": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
                        },
                        "age": {"type": "number", "computed": True},
                    }
                }
            },
            "Room": {"attributes": {"open": True, "fields": {}}},
            "Plain": {},
        },
        "predicates": {
            "in": {"subject": {"concept_types": ["Robot"]}, "object": {"concept_types": ["Room"]}},
            "named": {"subject": {"kinds": ["Concept"]}, "object": {"literal_types": ["string"]}},
            "maybe": {"object": {"literal_types": ["number"], "nullable": True}},
            "never": {"object": {"literal_types": ["number"]}},
            "when": {"object": {"literal_types": ["string"], "format": "timestamp"}},
            "page": {"object": {"format": "uri"}},
            "plated": {"object": {"format": "plate"}},
            "code": {"object": {"literal_types": ["string"]}, "value_schema": {"pattern": "^[a-z]+$"}},
            "about": {"subject": {"kinds": ["Assertion"]}, "object": {"kinds": ["Evidence"]}},
        },
        "facets": {
            "Wear": {
                "applicable_to": {"concept_types": ["Robot"]},
                "fields": {
                    "level": {"type": "number", "maximum": 1, "required": True},
                    "by": {"type": "string", "mutable": False},
                },
            },
            "Loose": {"closed": False, "fields": {"n": {"type": "integer"}}},
            "Done": {
                "applicable_to": {"kinds": ["Activity"]},
                "attachment": {"activity_classes": ["review"], "terminal_only": True},
                "fields": {"verdict": {"type": "string"}},
            },
            "Sum": {"computed": True, "applicable_to": {"kinds": ["Concept"]}, "fields": {"total": {"type": "number"}}},
        },
        "structural_fields": {
            "part": {
                "source": {"concept_types": ["Robot"]},
                "target": {"concept_types": ["Robot"]},
                "cardinality": {"min": 0, "max": 2},
                "unique": True,
            },
            "owner": {
                "source": {"concept_types": ["Plain"]},
                "target": {"concept_types": ["Robot"]},
                "cardinality": {"min": 1, "max": 1},
            },
            "steps": {"source": {"concept_types": ["Room"]}, "target": {"concept_types": ["Robot"]}, "ordered": True},
            "sum": {"source": {"concept_types": ["Room"]}, "target": {"concept_types": ["Robot"]}, "computed": True},
        },
    },
}
MADE = """MUTATE {
 CREATE CONCEPT ?r {
   TYPE "Robot" NAME "R" SET FIELDS {key: "r"} SET ATTRIBUTES {label: "a", serial: "s1"}
   SET FACET "Wear" {level: 0.5, by: "x"}
 }
 CREATE CONCEPT ?q { TYPE "Robot" NAME "Q" SET ATTRIBUTES {label: "b"} }
 CREATE CONCEPT ?s { TYPE "Robot" NAME "S" SET ATTRIBUTES {label: "c"} }
 CREATE CONCEPT ?o { TYPE "Room" NAME "Hall" }
 CREATE CONCEPT ?p { TYPE "Person" NAME "Ann" }
 CREATE CONCEPT ?pl { TYPE "Plain" NAME "P" SET STRUCTURAL { ("owner", ?r) } }
 CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "note", payload: "x"} }
 CREATE ACTIVITY ?x { SET FIELDS {activity_class: "review", status: "running"} }
 ASSERT ?a (?r, "in", ?o) {by: ?p, mode: "stated"}
}"""


def memory() -> tuple[kipql.Nexus, dict[str, Any]]:
    """A memory with two robots and a spare one, a room, a person, a plain thing, evidence, an activity and a claim."""
    nexus = kipql.open(packages=[ROBOTS])
    receipt = nexus.execute(MADE)
    assert isinstance(receipt, kipql.Receipt)
    return nexus, dict(receipt.handles)


# a write, the code, and what the message or the hint says
WRONG = [
    ('CREATE CONCEPT ?n { TYPE "Robot" NAME "x" }', "ConstraintViolation", "Robot.label is required"),
    ('CREATE CONCEPT ?n { TYPE "Robto" NAME "x" }', "SchemaSymbolNotFound", "did you mean 'Robot'?"),
    ('CREATE CONCEPT ?n { TYPE "robot" NAME "x" }', "SchemaSymbolNotFound", "did you mean 'Robot'?"),
    ('CREATE CONCEPT ?n { NAME "x" }', "InvalidSyntax", 'add TYPE "..." inside the braces'),
    ('CREATE CONCEPT ?n { TYPE "Assertion" }', "SchemaSymbolNotFound", "LIST TYPES shows what there is"),
    ('CREATE CONCEPT ?n { TYPE "in" }', "SchemaSymbolNotFound", "LIST TYPES shows what there is"),
    (
        'CREATE CONCEPT ?n { TYPE "Place" }',
        "SchemaSymbolNotFound",
        "kip://domains/general@1.0.0 has it and is not active here",
    ),
    ("CREATE EVIDENCE ?n { }", "ConstraintViolation", 'SET FIELDS {evidence_class: "message"}'),
    (
        'CREATE CONCEPT ?n { TYPE "Robot" SET ATTRIBUTES {label: 5} }',
        "TypeMismatch",
        "Robot.label must be string, not number",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Robot" SET ATTRIBUTES {label: null} }',
        "TypeMismatch",
        "Robot.label must be string, not null",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Robot" SET ATTRIBUTES {label: "x", lable: "y"} }',
        "ConstraintViolation",
        "did you mean 'label'?",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Robot" SET ATTRIBUTES {label: "x", speed: 11} }',
        "ConstraintViolation",
        "Robot.speed can not be above 10: 11",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Robot" SET ATTRIBUTES {label: "x", speed: -1} }',
        "ConstraintViolation",
        "Robot.speed can not be below 0: -1",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Robot" SET ATTRIBUTES {label: "x", wheels: 1.5} }',
        "TypeMismatch",
        "Robot.wheels must be integer, not number",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Robot" SET ATTRIBUTES {label: "x", wheels: true} }',
        "TypeMismatch",
        "Robot.wheels must be integer, not boolean",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Robot" SET ATTRIBUTES {label: "x", mood: "sad"} }',
        "ConstraintViolation",
        "it is one of 'calm', 'loud', None",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Robot" SET ATTRIBUTES {label: "x", built: "2026-01-01"} }',
        "ConstraintViolation",
        "Robot.built is not a protocol timestamp: '2026-01-01'",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Robot" SET ATTRIBUTES {label: "x", built: "2026-02-30T00:00:00.000Z"} }',
        "ConstraintViolation",
        "Robot.built names no real instant: '2026-02-30T00:00:00.000Z'",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Robot" SET ATTRIBUTES {label: "x", home: "not a uri"} }',
        "ConstraintViolation",
        "Robot.home is not a URI: 'not a uri'",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Robot" SET ATTRIBUTES {label: "x", plate: "zz-1"} }',
        "ConstraintViolation",
        "Robot.plate is no plate: 'zz-1'",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Robot" SET ATTRIBUTES {label: "x", on: 1} }',
        "TypeMismatch",
        "Robot.on must be boolean, not number",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Robot" SET ATTRIBUTES {label: "x", tags: ["a","b","c"]} }',
        "ConstraintViolation",
        "Robot.tags breaks its value_schema: ['a', 'b', 'c'] is too long",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Robot" SET ATTRIBUTES {label: "x", tags: [1]} }',
        "ConstraintViolation",
        "Robot.tags[0] breaks its value_schema: 1 is not of type 'string'",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Robot" SET ATTRIBUTES {label: "x", age: 3} }',
        "ConstraintViolation",
        "Robot.age is computed and can not be written",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Plain" SET STRUCTURAL { ("owner", :r) } SET ATTRIBUTES {x: 1} }',
        "ConstraintViolation",
        "it declares no fields at all",
    ),
    ('CREATE CONCEPT ?n { TYPE "Plain" }', "ConstraintViolation", "Structural Field owner needs at least 1"),
    (
        'CREATE CONCEPT ?n { TYPE "Plain" SET STRUCTURAL { ("owner", :r) ("owner", :q) } }',
        "DuplicateMutationTarget",
        "keep one of the two; their order decides nothing (§53.4)",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Plain" SET STRUCTURAL { ("owner", :o) } }',
        "ConstraintViolation",
        "it is declared as kip://lab/w/Robot",
    ),
    (
        'CREATE CONCEPT ?n { TYPE "Plain" SET STRUCTURAL { ("ownr", :r) } }',
        "SchemaSymbolNotFound",
        "did you mean 'owner'?",
    ),
    ('UPDATE :r SET ATTRIBUTES {serial: "s2"}', "ConstraintViolation", "Robot.serial is immutable"),
    ("UPDATE :r UNSET ATTRIBUTES {label}", "ConstraintViolation", "Robot.label is required"),
    ("UPDATE :r UNSET ATTRIBUTES {serial}", "ConstraintViolation", "Robot.serial is immutable"),
    ('UPDATE :r SET FACET "Wear" {by: "y"}', "ConstraintViolation", "Facet Wear.by is immutable"),
    ('UPDATE :r SET FACET "Wear" {level: 2}', "ConstraintViolation", "Facet Wear.level can not be above 1: 2"),
    ('UPDATE :r SET FACET "Wear" {levle: 0.1}', "ConstraintViolation", "did you mean 'level'?"),
    ('UPDATE :r SET FACET "Waer" {level: 0.1}', "SchemaSymbolNotFound", "did you mean 'Wear'?"),
    ('UPDATE :o SET FACET "Wear" {level: 0.1}', "ConstraintViolation", "it is declared as kip://lab/w/Robot"),
    ('UPDATE :q SET FACET "Wear" {by: "z"}', "ConstraintViolation", "Facet Wear.level is required"),
    ('UPDATE :r UNSET FACET "Wear" {level}', "ConstraintViolation", "Facet Wear.level is required"),
    ('UPDATE :r SET FACET "Sum" {total: 1}', "ConstraintViolation", "Facet Sum is computed and can not be written"),
    ('UPDATE :r SET FACET "Loose" {n: "x"}', "TypeMismatch", "Facet Loose.n must be integer, not string"),
    (
        'UPDATE :x SET FACET "Done" {verdict: "ok"}',
        "ConstraintViolation",
        "Facet Done belongs on a terminal Activity, and this one is running",
    ),
    (
        'CREATE ACTIVITY ?n { SET FIELDS {activity_class: "import", status: "completed"} '
        'SET FACET "Done" {verdict: "x"} }',
        "ConstraintViolation",
        "it belongs on review",
    ),
    (
        'CREATE ACTIVITY ?n { SET FIELDS {activity_class: "review", status: "running"} '
        'SET FACET "Done" {verdict: "x"} }',
        "ConstraintViolation",
        "Facet Done belongs on a terminal Activity, and this one is running",
    ),
    ('UPDATE :r SET FACET "Done" {verdict: "x"}', "ConstraintViolation", "it is declared as Activity"),
    (
        'UPDATE :r SET STRUCTURAL { ("part", :r) ("part", :q) ("part", :s) }',
        "ConstraintViolation",
        "Structural Field part holds at most 2, not 3",
    ),
    ('UPDATE :r SET STRUCTURAL { ("part", :o) }', "ConstraintViolation", "it is declared as kip://lab/w/Robot"),
    ('UPDATE :o SET STRUCTURAL { ("part", :r) }', "ConstraintViolation", "it is declared as kip://lab/w/Robot"),
    ('UPDATE :o SET STRUCTURAL { ("sum", :r) }', "ConstraintViolation", "sum is computed; nothing writes it"),
    (
        'UPDATE :o SET STRUCTURAL { ("steps", :r) {index: 3} }',
        "ConstraintViolation",
        "positions are dense; leave the index out to append",
    ),
    (
        'UPDATE :o SET STRUCTURAL { ("steps", :r) {index: 0} ("steps", :q) {index: 0} }',
        "ConstraintViolation",
        "two references claim index 0",
    ),
    ('UPDATE :r SET STRUCTURAL { ("part", :q) {index: 0} }', "ConstraintViolation", "part takes no option 'index'"),
    ('UPDATE :r SET STRUCTURAL { ("part", "C-99") }', "NotFoundOrNotVisible", "C-99 is not there or not visible"),
    ('UPDATE :r SET STRUCTURAL { ("part", "nobody") }', "NotFoundOrNotVisible", "'nobody' is no id: it names nothing"),
    ('UPDATE :pl UNSET STRUCTURAL { ("owner", :r) }', "ConstraintViolation", "Structural Field owner needs at least 1"),
    ('ENSURE PROPOSITION ?n (:o, "in", :r)', "ConstraintViolation", "it is declared as kip://lab/w/Robot"),
    ('ENSURE PROPOSITION ?n (:r, "in", :p)', "ConstraintViolation", "it is declared as kip://lab/w/Room"),
    ('ENSURE PROPOSITION ?n (:r, "in", "hall")', "ConstraintViolation", "it is declared as kip://lab/w/Room"),
    ('ENSURE PROPOSITION ?n (:r, "inn", :o)', "SchemaSymbolNotFound", "did you mean 'in'?"),
    ('ENSURE PROPOSITION ?n (:r, "named", 5)', "ConstraintViolation", "it is declared as a string Literal"),
    (
        'ENSURE PROPOSITION ?n (:r, "named", null)',
        "ConstraintViolation",
        "only a Predicate that declares nullable admits it",
    ),
    ('ENSURE PROPOSITION ?n (:a, "named", "x")', "ConstraintViolation", "it is declared as Concept"),
    (
        'ENSURE PROPOSITION ?n (:r, "never", null)',
        "ConstraintViolation",
        "only a Predicate that declares nullable admits it",
    ),
    (
        'ENSURE PROPOSITION ?n (:r, "when", "yesterday")',
        "ConstraintViolation",
        "the object of when is not a protocol timestamp: 'yesterday'",
    ),
    (
        'ENSURE PROPOSITION ?n (:r, "page", "no uri")',
        "ConstraintViolation",
        "the object of page is not a URI: 'no uri'",
    ),
    ('ENSURE PROPOSITION ?n (:r, "plated", "x")', "ConstraintViolation", "the object of plated is no plate: 'x'"),
    (
        'ENSURE PROPOSITION ?n (:r, "code", "ABC")',
        "ConstraintViolation",
        "the object of code breaks its value_schema: 'ABC' does not match '^[a-z]+$'",
    ),
    ('ENSURE PROPOSITION ?n (:r, "about", :e)', "ConstraintViolation", "it is declared as Assertion"),
    ('ENSURE PROPOSITION ?n (:a, "about", :r)', "ConstraintViolation", "it is declared as Evidence"),
    ('ENSURE PROPOSITION ?n ("nobody", "named", "x")', "NotFoundOrNotVisible", "'nobody' is no id: it names nothing"),
    ('ASSERT (:r, "in", :o) {by: :p, mode: "sated"}', "ConstraintViolation", "did you mean 'stated'?"),
    (
        'ASSERT (:r, "in", :o) {by: :p, mode: "stated", stance: "suport"}',
        "ConstraintViolation",
        "did you mean 'support'?",
    ),
    (
        'ASSERT (:r, "in", :o) {by: :p, mode: "stated", confidence: 1.5}',
        "ConstraintViolation",
        "confidence must lie within [0, 1], not 1.5",
    ),
    ('ASSERT (:r, "in", :o) {by: :p, mode: "stated", confidnce: 1}', "InvalidSyntax", "did you mean confidence?"),
    (
        'ASSERT (:r, "in", :o) {by: :e, mode: "stated"}',
        "ConstraintViolation",
        "asserted_by must be a Concept, not Evidence",
    ),
    ('ASSERT (:r, "in", :o) {mode: "stated"}', "InvalidSyntax", "say whose claim it is"),
    ('ASSERT (:r, "in", :o) {by: :p}', "InvalidSyntax", 'say how it was made, for example mode: "stated"'),
    (
        'ASSERT (:r, "in", :o) {by: :p, mode: "stated", '
        'valid: {from: "2026-02-01T00:00:00.000Z", until: "2026-01-01T00:00:00.000Z"}}',
        "ConstraintViolation",
        "valid_time must begin before it ends",
    ),
    (
        'ASSERT (:r, "in", :o) {by: :p, mode: "stated", valid: {form: "2026-02-01T00:00:00.000Z"}}',
        "ConstraintViolation",
        "it has from and until",
    ),
    (
        'ASSERT (:r, "in", :o) {by: :p, mode: "stated", evidence: :r}',
        "ConstraintViolation",
        "evidence must be Evidence, not a Concept",
    ),
    (
        'ASSERT (:r, "in", :o) {by: :p, mode: "stated", context: [:e]}',
        "ConstraintViolation",
        "each of context_refs must be a Concept, not Evidence",
    ),
    ("UPDATE :a SET FIELDS {confidence: 0.1}", "InvalidSyntax", "write a new Assertion: ASSERT ... SUPERSEDING ..."),
    ('UPDATE :e SET FIELDS {payload: "y"}', "EvidenceCorrectionRequired", "Evidence is never edited"),
    ('UPDATE :r SET FIELDS {nmae: "x"}', "SchemaFieldNotFound", "did you mean name?"),
    ('UPDATE :r SET FIELDS {schema_ref: "x"}', "ImmutableField", "schema_ref of a Concept never changes"),
    ("UPDATE :r SET FIELDS {_system: {}}", "InvalidSyntax", "it belongs to the engine"),
    ("UPDATE :r SET FIELDS {key: 5}", "ImmutableField", "key of a Concept never changes"),
    (
        'CREATE CONCEPT ?n { TYPE "Robot" SET FIELDS {key: "r"} SET ATTRIBUTES {label: "z"} }',
        "IdentityConflict",
        "UPSERT CONCEPT addresses the one that is there",
    ),
    ('TRANSITION :a TO "retracteed"', "InvalidLifecycleTransition", "did you mean 'retracted'?"),
    ('TRANSITION :a TO "corrected"', "InvalidSyntax", "name the newer record: BY ..."),
    ('TRANSITION :e TO "corrected"', "InvalidSyntax", "name the newer record: BY ..."),
    ('TRANSITION :x TO "finished"', "InvalidLifecycleTransition", "'finished' is no state to move to"),
    ('TRANSITION "C-99" TO "archived"', "NotFoundOrNotVisible", "C-99 is not there or not visible"),
    (
        'CREATE EVIDENCE ?n { SET FIELDS {evidence_clas: "x", payload: "x"} }',
        "SchemaFieldNotFound",
        "did you mean evidence_class?",
    ),
    (
        'CREATE EVIDENCE ?n { SET FIELDS {evidence_class: "x", payload: "x", media_type: 5} }',
        "TypeMismatch",
        "media_type must be a string, not number",
    ),
    (
        'CREATE EVIDENCE ?n { SET FIELDS {evidence_class: "", payload: "x"} }',
        "ConstraintViolation",
        "evidence_class must not be empty",
    ),
    (
        'CREATE ACTIVITY ?n { SET FIELDS {activity_class: "review", status: "done"} }',
        "ConstraintViolation",
        "one of pending, running, completed, failed, cancelled",
    ),
    ('CREATE ACTIVITY ?n { SET FIELDS {status: "completed"} }', "ConstraintViolation", "Activity needs activity_class"),
    ('SET RETENTION :r {retention_clas: "x"}', "ConstraintViolation", "did you mean retention_class?"),
    (
        'SET RETENTION :r {expires_at: "tomorrow"}',
        "ConstraintViolation",
        "expires_at is not a protocol timestamp: 'tomorrow'",
    ),
    ('SET RETENTION :r {legal_hold: "yes"}', "TypeMismatch", "legal_hold must be a boolean, not string"),
    (
        "UPDATE :r SET ATTRIBUTES {speed: 3} EXPECT VERSION 9",
        "VersionConflict",
        "read it again and decide on what it says now",
    ),
    (
        'UPDATE :r SET ATTRIBUTES {speed: 3} EXPECT VERSION 1 OF FACET "Waer"',
        "SchemaSymbolNotFound",
        "did you mean 'Wear'?",
    ),
    (
        'UPDATE ?z SET ATTRIBUTES {speed: 3} WHERE { ?z {type: "Robt"} }',
        "SchemaSymbolNotFound",
        "did you mean 'Robot'?",
    ),
    ("MERGE CONCEPT :r INTO :e", "NotFoundOrNotVisible", "MERGE CONCEPT names two Concepts"),
    ('MERGE CONCEPT :r INTO "C-99"', "NotFoundOrNotVisible", "C-99 is not there or not visible"),
    (
        'CREATE ASSERTION ?n { SET FIELDS {proposition: :r, asserted_by: :p, mode: "stated", stance: "support"} }',
        "ConstraintViolation",
        "proposition must be a Proposition, not a Concept",
    ),
    (
        'DEFINE PREDICATE "in" { description: "x" }',
        "SchemaSymbolConflict",
        "Predicate 'in' already names kip://lab/w@1.0.0/in",
    ),
    (
        'DEFINE PREDICATE "fresh" { description: "x", functionnal: true }',
        "ConstraintViolation",
        "did you mean functional?",
    ),
    (
        'DEFINE PREDICATE "fresh" { description: "x", open_world: false }',
        "ConstraintViolation",
        "a draft Predicate can not declare open_world: false",
    ),
    ('DEFINE CONCEPT TYPE "Fresh" { }', "ConstraintViolation", "say what it means in a sentence"),
    (
        'DEFINE PREDICATE "fresh" { description: "x", object: {concept_types: ["Robt"]} }',
        "SchemaSymbolNotFound",
        "did you mean 'Robot'?",
    ),
    (
        'DEFINE CONCEPT TYPE "Fresh" { description: "x", attributes: {a: {type: "strng"}} }',
        "ConstraintViolation",
        "a draft definition has fields, open",
    ),
    (
        'DEFINE CONCEPT TYPE "Fresh" { description: "x", atributes: {} }',
        "ConstraintViolation",
        "did you mean attributes?",
    ),
]


@pytest.mark.parametrize(("text", "code", "said"), WRONG)
def test_a_wrong_write_is_refused_whole(text: str, code: str, said: str) -> None:
    nexus, ids = memory()
    before = nexus.space_seq
    with pytest.raises(KipError) as caught:
        nexus.execute(text, ids)
    assert (caught.value.code, said in f"{caught.value.message} {caught.value.hint}") == (code, True), str(caught.value)
    assert nexus.space_seq == before


@pytest.mark.parametrize(("text", "code", "said"), WRONG)
def test_the_wire_says_the_same(text: str, code: str, said: str) -> None:
    nexus, ids = memory()
    reply = nexus.request({"kip": "2.0", "operations": [{"command": text, "parameters": ids}]})
    (result,) = reply["results"]
    error = result["error"]
    assert (error["code"], said in f"{error['message']} {error.get('hint')}") == (code, True)


# what resembles a mistake and is none
RIGHT = [
    ('UPDATE :r SET STRUCTURAL { ("part", :q) ("part", :q) }', "committed"),  # one reference, said twice
    ('UPDATE :r UNSET STRUCTURAL { ("part", :q) }', "no_effect"),
    ("MERGE CONCEPT :r INTO :r", "no_effect"),  # §61
    ('ENSURE PROPOSITION ?n (:r, "named", :o)', "committed"),  # where only a string may stand, an id is one
    ('ENSURE PROPOSITION ?n (:r, "maybe", null)', "committed"),
    ("UPDATE :o UNSET ATTRIBUTES {anything}", "no_effect"),  # §58.3
]


@pytest.mark.parametrize(("text", "status"), RIGHT)
def test_what_is_allowed_is_done(text: str, status: str) -> None:
    nexus, ids = memory()
    receipt = nexus.execute(text, ids)
    assert isinstance(receipt, kipql.Receipt) and receipt.status == status
