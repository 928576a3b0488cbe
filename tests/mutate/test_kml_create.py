"""CREATE: what a new element holds, and what it is refused for (§52.1, §54, §56)."""

import hashlib
from typing import Any

import pytest

from tests.mutate.kml_space import Space


def test_a_concept_holds_what_it_was_given_and_its_exact_type(space: Space) -> None:
    made = space.write(
        'CREATE CONCEPT ?c { TYPE "Thing" NAME "Lamp" SET FIELDS {key: "lamp", aliases: ["light"]}'
        ' SET ATTRIBUTES {watts: 1.0, "with space": null} SET FACET "Wear" {level: 2} }'
    )
    lamp = space.element(made["c"])
    assert made == {"c": "C-1"}
    assert lamp["schema_ref"] == "kip://test/things@1.0.0/Thing"
    assert (lamp["name"], lamp["key"], lamp["aliases"]) == ("Lamp", "lamp", ["light"])
    assert lamp["attributes"] == {"watts": 1, "with space": None}
    assert lamp["facets"] == {"kip://test/things@1.0.0/Wear": {"level": 2}}
    assert lamp["_system"]["version"] == 1


def test_ids_follow_the_order_of_the_clauses_per_kind(space: Space) -> None:
    made = space.write(
        """MUTATE {
          ENSURE PROPOSITION ?q (?b, "near", ?a)
          CREATE CONCEPT ?a { TYPE "Thing" }
          ENSURE PROPOSITION ?p (?q, "is", "odd")
          CREATE CONCEPT ?b { TYPE "Thing" }
        }"""
    )
    assert made == {"q": "P-1", "a": "C-1", "p": "P-2", "b": "C-2"}
    assert space.element("P-1")["subject"] == {"id": "C-2"}


def test_an_omitted_assertion_time_is_the_transaction_time(lab: Space) -> None:
    assert lab.element("A-1")["asserted_at"] == lab.element("A-1")["_system"]["created_at"]


@pytest.mark.parametrize(
    ("payload", "content"),
    [("I prefer  dark", b"I prefer  dark"), ({"b": 1.0, "a": "ü"}, '{"a":"ü","b":1}'.encode()), ([True], b"[true]")],
)
def test_an_inline_payload_gets_the_digest_of_its_canonical_bytes(space: Space, payload: Any, content: bytes) -> None:
    space.write('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: :p} }', p=payload)
    evidence = space.element("E-1")
    assert evidence["payload"] == {"mode": "inline", "inline": payload}
    assert evidence["content_digest"] == f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_a_digest_that_the_client_gave_is_kept(space: Space) -> None:
    space.write('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "m", payload: "x", content_digest: "sha3-256:abc"} }')
    assert space.element("E-1")["content_digest"] == "sha3-256:abc"


def test_an_external_payload_stays_a_reference(space: Space) -> None:
    external = {"mode": "external", "content_ref": "blob:7"}
    space.write('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "m", payload: :p} }', p=external)
    assert space.element("E-1")["payload"]["content_ref"] == "blob:7"
    assert space.element("E-1")["content_digest"] is None


def test_a_handle_inside_a_value_is_the_id_of_its_element(space: Space) -> None:
    space.write(
        """MUTATE {
          CREATE CONCEPT ?a { TYPE "Thing" SET ATTRIBUTES {next: ?b, all: [?a, ?b]} }
          CREATE CONCEPT ?b { TYPE "Thing" }
        }"""
    )
    assert space.element("C-1")["attributes"] == {"next": "C-2", "all": ["C-1", "C-2"]}


CLAIM = 'CREATE ASSERTION ?x { SET FIELDS {stance: "support", mode: "stated", '
NEW = 'CREATE ASSERTION ?x { SET FIELDS {proposition: "P-1", asserted_by: "C-1", stance: "support", mode: "stated"'


@pytest.mark.parametrize(
    ("text", "parameters", "code", "at"),
    [
        ('CREATE CONCEPT ?c { TYPE "Spaceship" }', {}, "SchemaSymbolNotFound", '"Spaceship"'),
        ("CREATE CONCEPT ?c { TYPE :t }", {"t": 7}, "TypeMismatch", ":t"),
        ('CREATE CONCEPT ?c { TYPE "Thing" NAME :n }', {"n": 7}, "TypeMismatch", ":n"),
        ('CREATE CONCEPT ?c { TYPE "Thing" SET FIELDS {key: ""} }', {}, "ConstraintViolation", '""'),
        ('CREATE CONCEPT ?c { TYPE "Thing" SET FIELDS {nick: "x"} }', {}, "SchemaFieldNotFound", '"x"'),
        ('CREATE CONCEPT ?c { TYPE "Person" SET FIELDS {key: "ada"} }', {}, "IdentityConflict", '"ada"'),
        ('CREATE CONCEPT ?c { TYPE "Box" SET ATTRIBUTES {size: "big"} }', {}, "TypeMismatch", '"big"'),
        ('CREATE CONCEPT ?c { TYPE "Box" SET ATTRIBUTES {size: 1, depth: 2} }', {}, "ConstraintViolation", "2"),
        ('CREATE CONCEPT ?c { TYPE "Box" }', {}, "ConstraintViolation", None),
        ('CREATE CONCEPT ?c { TYPE "Thing" SET FACET "Gone" {a: 1} }', {}, "SchemaSymbolNotFound", '"Gone"'),
        ("CREATE EVIDENCE ?e { SET FIELDS {payload: 1} }", {}, "ConstraintViolation", None),
        ('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "m", observed_at: :t} }', {"t": None}, "TypeMismatch", ":t"),
        (
            'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "m", observed_at: :t} }',
            {"t": "2026-02-30T00:00:00.000Z"},
            "ConstraintViolation",
            ":t",
        ),
        (
            'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "m", status: :s} }',
            {"s": "banana"},
            "ConstraintViolation",
            ":s",
        ),
        (NEW + ", confidence: 1.5} }", {}, "ConstraintViolation", "1.5"),
        (NEW + ", confidence: true} }", {}, "TypeMismatch", "true"),
        (NEW + ', valid_time: {until: "2026-01-01T00:00:00Z"}} }', {}, "ConstraintViolation", None),
        (NEW + ", valid_time: :v} }", {"v": {"from": 0}}, "TypeMismatch", ":v"),
        (NEW + ', context_refs: ["P-1"]} }', {}, "ConstraintViolation", None),
        (NEW + '} SET STRUCTURAL {("evidence", "E-1") {role: "vouches"}} }', {}, "ConstraintViolation", '"vouches"'),
        (NEW + '} SET STRUCTURAL {("evidence", "C-1")} }', {}, "ConstraintViolation", '"C-1"'),
        (NEW + '} SET STRUCTURAL {("evidence", "E-9")} }', {}, "NotFoundOrNotVisible", '"E-9"'),
        (
            CLAIM + 'proposition: "C-1", asserted_by: "C-2"} }',
            {},
            "ConstraintViolation",
            '"C-1"',
        ),
        (
            CLAIM + 'proposition: "P-1"} }',
            {},
            "ConstraintViolation",
            None,
        ),
        (
            CLAIM + 'proposition: ?q, asserted_by: "C-1"} }',
            {},
            "ReferenceError",
            "?q",
        ),
    ],
)
def test_a_bad_creation_has_its_code_and_position_and_writes_nothing(
    lab: Space, text: str, parameters: dict[str, Any], code: str, at: str | None
) -> None:
    error = lab.refused(text, **parameters)
    assert error.code == code
    assert error.span is not None
    if at is not None:
        assert text[error.span.start : error.span.end] == at


def test_one_failing_clause_undoes_the_others(space: Space) -> None:
    error = space.refused('MUTATE { CREATE CONCEPT ?a { TYPE "Thing" } CREATE CONCEPT ?b { TYPE "Box" } }')
    assert error.code == "ConstraintViolation"
    assert space.count("Concept") == 0


# --- client keys (§7.5) -------------------------------------------------------------------------------

CASEY = 'CREATE CONCEPT ?c { TYPE "Person" NAME :n CLIENT KEY "casey" }'


def test_the_same_creation_under_a_client_key_is_a_retry(space: Space) -> None:
    assert space.write(CASEY, n="Casey") == {"c": "C-1"}
    assert space.write(CASEY, n="Casey") == {"c": "C-1"}
    assert not space.changed
    assert space.element("C-1")["client_key"] == "casey"


def test_another_creation_under_a_client_key_is_a_conflict(space: Space) -> None:
    space.write(CASEY, n="Casey")
    assert space.refused(CASEY, n="Someone").code == "ClientKeyConflict"


def test_a_retry_is_recognised_after_the_element_has_changed(space: Space) -> None:
    space.write(CASEY, n="Casey")
    space.write('UPDATE "C-1" SET FIELDS {name: "Cass"}')
    assert space.write(CASEY, n="Casey") == {"c": "C-1"}
    assert space.element("C-1")["name"] == "Cass"


def test_client_keys_are_scoped_by_kind(space: Space) -> None:
    space.write(CASEY, n="Casey")
    assert space.write('CREATE EVIDENCE ?e { CLIENT KEY "casey" SET FIELDS {evidence_class: "m", payload: 1} }') == {
        "e": "E-1"
    }


@pytest.mark.parametrize(("second", "code"), [("Batch", None), ("Other", "ClientKeyConflict")])
def test_one_client_key_is_one_creation_inside_a_mutate(space: Space, second: str, code: str | None) -> None:
    text = """MUTATE {
      CREATE CONCEPT ?a { TYPE "Person" NAME "Batch" CLIENT KEY "k" }
      CREATE CONCEPT ?b { TYPE "Person" NAME :second CLIENT KEY "k" }
      ENSURE PROPOSITION ?p (?a, "near", ?b)
    }"""
    if code is not None:
        assert space.refused(text, second=second).code == code
        return
    assert space.write(text, second=second) == {"a": "C-1", "b": "C-1", "p": "P-1"}


def test_a_retry_of_a_whole_block_under_keys_has_no_effect(space: Space) -> None:
    text = """MUTATE {
      CREATE CONCEPT ?a { TYPE "Person" CLIENT KEY "a" }
      CREATE EVIDENCE ?e { CLIENT KEY "e" SET FIELDS {evidence_class: "m", payload: "x"}
                           SET STRUCTURAL {("source", ?a) ("generated_by", ?x)} }
      CREATE ACTIVITY ?x { CLIENT KEY "x" SET FIELDS {activity_class: "m"} SET STRUCTURAL {("outputs", ?e)} }
      ASSERT ?s (?a, "is", "here") {by: ?a, mode: "stated", evidence: [?e], key: "s"}
    }"""
    first = space.write(text)
    assert space.write(text) == first
    assert not space.changed
