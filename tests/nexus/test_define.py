"""DEFINE and promotion: the draft vocabulary of a Space (§20.16)."""

from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import KipError, Nexus

GENERAL = "kip://domains/general@1.0.0"
DRAFT = "kip://local/draft@0.0.0"


def code_of(nexus: Nexus, text: str, **parameters: Any) -> str:
    before = nexus.digest(), nexus.space_seq
    with pytest.raises(KipError) as caught:
        nexus.execute(text, parameters)
    assert (nexus.digest(), nexus.space_seq) == before
    return caught.value.code


def test_a_define_is_a_commit_of_its_own_that_makes_no_element() -> None:
    nexus = kipql.open()
    receipt = nexus.execute('DEFINE PREDICATE "mentors" { description: "Guides." }')
    assert receipt.result == {"ref": f"{DRAFT}/mentors", "kind": "PredicateType", "schema_environment_version": 2}
    (envelope,) = nexus.query("CHANGES AFTER SEQ 0").rows
    assert envelope["control_changes"] == [{"kind": "schema", "version": "2"}]
    assert envelope["changes"] == []
    assert nexus.query('FIND(?p) WHERE { ?p (?x, "mentors", ?y) }').rows == []


def test_parameters_are_bound_before_anything_is_checked() -> None:
    nexus = kipql.open()
    text = "DEFINE PREDICATE :name {description: :what, subject: {concept_types: :types}, open_world: :open}"
    given = {"name": "admires", "what": "Looks up to.", "types": ["Person"], "open": True}
    assert nexus.execute(text, given).result["ref"] == f"{DRAFT}/admires"
    assert code_of(nexus, text, **{**given, "name": "b", "open": False}) == "ConstraintViolation"
    assert code_of(nexus, text, **{**given, "name": 7}) == "TypeMismatch"
    assert code_of(nexus, text, name="c") == "ReferenceError"


def test_the_symbol_is_used_by_the_next_operation_not_before() -> None:
    nexus = kipql.open()
    assert code_of(nexus, 'CREATE CONCEPT ?h { TYPE "Horn" }') == "SchemaSymbolNotFound"
    nexus.execute('DEFINE CONCEPT TYPE "Horn" { description: "A horn.", attributes: {fields: {of: {type: "string"}}} }')
    nexus.execute('CREATE CONCEPT ?h { TYPE "Horn" SET ATTRIBUTES {of: "brass", any: [1]} }')
    assert nexus.query('FIND(?h.schema_ref) WHERE { ?h {type: "Horn"} } ').rows == [f"{DRAFT}/Horn"]
    assert nexus.query("FIND(?h) WHERE { ?h CONCEPT {} } AS OF SEQ 1").rows == []
    assert code_of(nexus, 'CREATE CONCEPT ?h { TYPE "Horn" SET ATTRIBUTES {of: 7} }') == "TypeMismatch"


@pytest.mark.parametrize(
    "commands",
    [
        ['DEFINE PREDICATE "a" { description: "x" }', 'DEFINE PREDICATE "b" { description: "x" }'],
        ['CREATE CONCEPT ?a { TYPE "Person" }', 'DEFINE PREDICATE "a" { description: "x" }'],
        ["FIND(?x) WHERE { ?x CONCEPT {} }", 'DEFINE PREDICATE "a" { description: "x" }'],
    ],
)
def test_a_define_stands_alone_in_an_atomic_request(commands: list[str]) -> None:
    nexus = kipql.open()
    operations = [{"command": command} for command in commands]
    reply = nexus.request({"kip": "2.0", "execution": {"mode": "atomic"}, "operations": operations})
    assert [result["error"]["code"] for result in reply["results"] if "error" in result] == ["InvalidSyntax"]
    assert nexus.space_seq == 0


def test_a_define_stands_alone_in_a_transaction() -> None:
    nexus = kipql.open()
    with nexus.transaction() as tx:
        tx.execute('CREATE CONCEPT ?a { TYPE "Person" }')
        with pytest.raises(KipError):
            tx.execute('DEFINE PREDICATE "a" { description: "x" }')
    assert nexus.space_seq == 1


def test_a_rehearsed_define_leaves_nothing() -> None:
    nexus = kipql.open()
    request = {"kip": "2.0", "options": {"dry_run": True}, "operations": [{"command": _MENTORS}]}
    assert nexus.request(request)["status"] == "succeeded"
    assert nexus.space_seq == 0
    nexus.execute(_MENTORS)


_MENTORS = 'DEFINE PREDICATE "mentors" { description: "Guides." }'


# --- promotion ----------------------------------------------------------------------------------------


def drafted(path: Path | None = None) -> Nexus:
    """Ada resides in Paris by draft symbols; lives_in and Place are installed."""
    nexus = kipql.open(path, packages=[GENERAL])
    nexus.execute('DEFINE PREDICATE "resides_in" { description: "Where one lives.", functional: true }')
    nexus.execute('DEFINE CONCEPT TYPE "Spot" { description: "A place." }')
    nexus.execute(
        """MUTATE {
          CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }
          CREATE CONCEPT ?s { TYPE "Spot" NAME "Paris" SET FIELDS {key: "paris"} }
          ASSERT (?a, "resides_in", ?s) {by: ?a, mode: "stated", at: "2026-01-01T00:00:00.000Z"}
        }"""
    )
    return nexus


def test_draft_and_target_match_as_one_and_keep_what_was_written() -> None:
    nexus = drafted()
    assert nexus.promote("resides_in", "lives_in").status == "committed"
    assert nexus.promote(f"{DRAFT}/Spot", "Place").schema_environment_version == 5
    for name in ("resides_in", "lives_in"):
        found = nexus.query(f'FIND(?p.predicate_ref, ?o.schema_ref) WHERE {{ ?p (?s, "{name}", ?o) }}').rows
        assert found == [(f"{DRAFT}/resides_in", f"{DRAFT}/Spot")]
    assert nexus.query('FIND(?p.name) WHERE { ?p {type: "Place"} }').rows == ["Paris"]
    nexus.execute('ASSERT ("C-1", "lives_in", "C-2") {by: "C-1", mode: "stated"}')
    assert nexus.stats()["elements"]["proposition"] == 1
    nexus.execute('UPSERT CONCEPT ?p { MATCH {type: "Place", key: "paris"} SET FIELDS {name: "Paris, France"} }')
    assert nexus.stats()["elements"]["concept"] == 2
    nexus.execute('CREATE CONCEPT ?q { TYPE "Spot" NAME "Rome" }')
    assert nexus.query('FIND(?q.schema_ref) WHERE { ?q {name: "Rome"} }').rows == [f"{GENERAL}/Place"]


def test_before_the_promotion_they_were_two() -> None:
    nexus = drafted()
    nexus.promote("resides_in", "lives_in")
    assert nexus.query('FIND(?p) WHERE { ?p (?s, "lives_in", ?o) } AS OF SEQ 3').rows == []


def test_a_promotion_outlives_the_session(tmp_path: Path) -> None:
    with drafted(tmp_path / "m") as nexus:
        nexus.promote("resides_in", "lives_in")
        digest = nexus.digest()
    with kipql.open(tmp_path / "m") as again:
        assert again.digest() == digest
        assert len(again.query('FIND(?p) WHERE { ?p (?s, "lives_in", ?o) }').rows) == 1
        assert again.promote("resides_in", "lives_in").status == "no_effect"


@pytest.mark.parametrize(
    ("symbol", "into", "code"),
    [
        ("lives_in", "works_for", "ConstraintViolation"),
        ("nothing", "lives_in", "ConstraintViolation"),
        ("resides_in", "nothing", "SchemaSymbolNotFound"),
        ("resides_in", "Place", "SchemaSymbolNotFound"),
        ("resides_in", f"{DRAFT}/resides_in", "ConstraintViolation"),
    ],
)
def test_what_can_not_be_promoted(symbol: str, into: str, code: str) -> None:
    with pytest.raises(KipError) as caught:
        drafted().promote(symbol, into)
    assert caught.value.code == code


def test_a_promotion_is_final() -> None:
    nexus = drafted()
    nexus.promote("resides_in", "lives_in")
    with pytest.raises(KipError) as caught:
        nexus.promote("resides_in", "works_for")
    assert caught.value.code == "SchemaSymbolConflict"
    assert code_of(nexus, 'DEFINE PREDICATE "resides_in" { description: "again" }') == "SchemaSymbolConflict"


def test_two_concepts_do_not_come_to_share_a_key() -> None:
    nexus = drafted()
    nexus.execute('CREATE CONCEPT ?p { TYPE "Place" SET FIELDS {key: "paris"} }')
    with pytest.raises(KipError) as caught:
        nexus.promote("Spot", "Place")
    assert caught.value.code == "IdentityConflict"
    assert nexus.query('FIND(?p.name) WHERE { ?p {type: "Spot"} }').rows == ["Paris"]


def test_a_name_of_both_kinds_needs_its_kind() -> None:
    both = {
        "manifest": {"package_id": "kip://test/both", "version": "1.0.0"},
        "definitions": {"concept_types": {"Tool": {}}, "predicates": {"Tool": {}}},
    }
    nexus = kipql.open()
    nexus.execute('DEFINE CONCEPT TYPE "Kit" { description: "A tool." }')
    nexus.execute('DEFINE PREDICATE "Kit" { description: "Uses." }')
    nexus.install_package(both)
    with pytest.raises(KipError) as caught:
        nexus.promote("Kit", "Tool")
    assert caught.value.code == "SchemaSymbolAmbiguous"
    assert nexus.promote("Kit", "Tool", kind="PredicateType").status == "committed"


def test_a_reader_promotes_nothing() -> None:
    with pytest.raises(KipError) as caught:
        drafted().readonly().promote("resides_in", "lives_in")
    assert caught.value.code == "ReadonlyViolation"
