"""ASSERT is exactly its long form, whichever way it is written (§55.1)."""

from typing import Any

import pytest

from kipql.lang import parse
from kipql.mutate import direct
from tests.mutate.kml_space import Space

LONG = """MUTATE {
  ENSURE PROPOSITION ?p (:s, "near", :o)
  CREATE ASSERTION ?a {
    SET FIELDS { proposition: ?p, asserted_by: :by, stance: :stance, mode: "stated", confidence: :c, asserted_at: :at,
                 valid_time: :valid, context_refs: [:w] }
    SET STRUCTURAL { ("evidence", "E-1") {role: "support"} }
  }
}"""
SHORT = """ASSERT ?a (:s, "near", :o) {by: :by, stance: :stance, mode: "stated", confidence: :c, at: :at, valid: :valid,
                              context: [:w], evidence: "E-1"}"""
GIVEN: dict[str, Any] = {
    "s": "C-2",
    "o": {"id": "C-3"},
    "by": {"type": "Person", "key": "ada"},
    "stance": "reject",
    "c": 1,
    "at": "2026-01-01T00:00:00.000Z",
    "valid": {"from": {"latest": "2026-01-01T00:00:00.000Z"}},
    "w": "C-2",
}


def test_the_sugar_and_the_long_form_commit_the_same_state(lab: Space, twin: Space) -> None:
    lab.write(LONG, **GIVEN)
    twin.write(SHORT, **GIVEN)
    assert lab.store.digest() == twin.store.digest()


def test_inside_mutate_it_joins_the_plan_and_writes_the_same(lab: Space, twin: Space) -> None:
    assert lab.write(SHORT, **GIVEN) == {"a": "A-2"}
    assert twin.write(f"MUTATE {{ {SHORT} }}", **GIVEN) == {"a": "A-2"}
    assert lab.store.digest() == twin.store.digest()


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ('ASSERT ("C-1", "says", :v) {by: "C-1", mode: "stated"}', {"v": 1.0}),
        ('ASSERT ("C-1", "says", :v) {by: "C-1", mode: "stated"}', {"v": "C-3"}),
        ('ASSERT ("C-1", "is", :v) {by: "C-1", mode: "stated"}', {"v": "C-3"}),
        ('ASSERT ("C-1", "same_as", :v) {by: "C-1", mode: "inferred"}', {"v": {"canonical_id": "urn:x"}}),
        ('ASSERT ("C-1", "near", "C-3") {by: "C-1", mode: "stated", evidence: ["E-1", "E-1"], key: "k"}', {}),
        ('ASSERT ("C-1", "near", "C-4") {by: "C-1", mode: "stated", context: ["C-2", "C-2"], key: "k"}', {}),
        ('ASSERT ("P-1", "is", true) {by: "C-1", mode: "observed", confidence: null, evidence: []}', {}),
    ],
)
def test_the_short_way_writes_what_the_plan_writes(
    lab: Space, twin: Space, monkeypatch: pytest.MonkeyPatch, text: str, given: dict[str, Any]
) -> None:
    lab.write(text, **given)
    monkeypatch.setattr(direct, "assert_", lambda *_: None)
    twin.write(text, **given)
    assert lab.store.digest() == twin.store.digest()
    # and a retry is the same to both: the fingerprint of a key does not depend on who wrote it
    if "key" in text:
        monkeypatch.undo()
        twin.write(text, **given)
        assert not twin.changed


def test_the_short_way_is_taken_for_a_plain_statement(lab: Space) -> None:
    statement = parse('ASSERT (:s, "near", "C-3") {by: :s, mode: "stated"}')
    tx = lab.store.begin(lab.at)
    try:
        assert direct.assert_(statement, tx, {"s": "C-1"}) is not None  # type: ignore[arg-type]
        assert direct.assert_(statement, tx, {"s": "C-9"}) is None  # type: ignore[arg-type]
    finally:
        tx.rollback()


def test_a_key_makes_it_retry_safe(lab: Space) -> None:
    text = 'ASSERT ?a ("C-1", "near", "C-4") {by: "C-1", mode: :mode, key: "once"}'
    assert lab.write(text, mode="stated") == {"a": "A-2"}
    assert lab.write(text, mode="stated") == {"a": "A-2"}
    assert not lab.changed
    assert lab.refused(text, mode="observed").code == "ClientKeyConflict"


def test_it_reuses_the_stored_proposition(lab: Space) -> None:
    lab.write('ASSERT ("C-1", "near", "C-3") {by: "C-2", mode: "stated", stance: "reject"}')
    assert lab.count("Proposition") == 1
    assert lab.element("A-2")["proposition"] == {"id": "P-1"}


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        ('ASSERT ("C-1", "nearr", "C-3") {by: "C-1", mode: "stated"}', "SchemaSymbolNotFound", '"nearr"'),
        ('ASSERT ("C-9", "near", "C-3") {by: "C-1", mode: "stated"}', "NotFoundOrNotVisible", '"C-9"'),
        ('ASSERT (7, "near", "C-3") {by: "C-1", mode: "stated"}', "TypeMismatch", "7"),
        ('ASSERT ("C-1", "near", "the lamp") {by: "C-1", mode: "stated"}', "ConstraintViolation", '"the lamp"'),
        ('ASSERT ("C-1", "near", {name: "Lamp"}) {by: "C-1", mode: "stated"}', "IdentitySelectorRequired", None),
        ('ASSERT ("C-1", "near", "C-3") {by: "E-1", mode: "stated"}', "ConstraintViolation", '"E-1"'),
        ('ASSERT ("C-1", "near", "C-3") {by: "C-1", mode: "sung"}', "ConstraintViolation", '"sung"'),
        ('ASSERT ("C-1", "near", "C-3") {by: "C-1", mode: "stated", confidence: 2}', "ConstraintViolation", "2"),
        ('ASSERT ("C-1", "near", "C-3") {by: "C-1", mode: "stated", evidence: "C-1"}', "ConstraintViolation", '"C-1"'),
        ('ASSERT ("C-1", "near", "C-3") {by: "C-1", mode: "stated", context: "C-1"}', "TypeMismatch", '"C-1"'),
        ('ASSERT ("C-1", "near", "C-3") {by: "C-1", mode: "stated", at: "soon"}', "ConstraintViolation", '"soon"'),
        ('ASSERT ("C-1", "says", "C-3") {by: "C-1", mode: "stated", key: 7}', "TypeMismatch", "7"),
        (
            'ASSERT ("C-1", "near", "C-3") {by: "C-1", mode: "stated"} SUPERSEDING "A-9"',
            "NotFoundOrNotVisible",
            '"A-9"',
        ),
    ],
)
def test_a_bad_assert_says_where_and_writes_nothing(lab: Space, text: str, code: str, at: str | None) -> None:
    error = lab.refused(text)
    assert error.code == code
    assert error.span is not None
    if at is not None:
        assert text[error.span.start : error.span.end] == at
    assert lab.count("Proposition") == 1


# --- ENSURE PROPOSITION (§55) -------------------------------------------------------------------------


def test_ensure_resolves_instead_of_duplicating(lab: Space) -> None:
    assert lab.write('ENSURE PROPOSITION ?p ("C-1", "near", "C-3")') == {"p": "P-1"}
    assert not lab.changed


def test_two_clauses_for_one_tuple_are_one_proposition(space: Space) -> None:
    made = space.write(
        """MUTATE { CREATE CONCEPT ?a {TYPE "Thing"}
          ENSURE PROPOSITION ?p (?a, "says", 1) ENSURE PROPOSITION ?q (?a, "says", 1.0)
          ENSURE PROPOSITION ?r (?a, "says", true) }"""
    )
    assert (made["p"], made["q"], made["r"]) == ("P-1", "P-1", "P-2")


def test_an_endpoint_may_be_a_stored_proposition_but_is_never_made(lab: Space) -> None:
    lab.write('ENSURE PROPOSITION (("C-1", "near", "C-3"), "is", "odd")')
    assert lab.element("P-2")["subject"] == {"id": "P-1"}
    assert lab.refused('ENSURE PROPOSITION (("C-1", "near", "C-4"), "is", "odd")').code == "NotFoundOrNotVisible"


def test_a_tuple_can_not_contain_itself(space: Space) -> None:
    assert space.refused('MUTATE { ENSURE PROPOSITION ?p (?p, "is", "odd") }').code == "ReferenceError"


def test_an_unresolvable_canonical_id_is_an_endpoint_of_its_own(lab: Space) -> None:
    lab.write('ENSURE PROPOSITION ("C-1", "same_as", {canonical_id: "urn:x:1"})')
    lab.write('ENSURE PROPOSITION ("C-1", "same_as", {canonical_id: "urn:x:1"})')
    assert not lab.changed
    assert lab.element("P-2")["object"] == {"canonical_id": "urn:x:1"}


def test_a_canonical_id_that_a_concept_carries_is_that_concept(lab: Space) -> None:
    lab.write('UPDATE "C-2" SET FIELDS {canonical_id: "urn:x:bob"}')
    lab.write('ENSURE PROPOSITION ("C-1", "same_as", {canonical_id: "urn:x:bob"})')
    assert lab.element("P-2")["object"] == {"id": "C-2"}
