"""Identity repair (§11.5) and recording repair (§57.8) through `nexus.repair`."""

from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import KipError, Nexus, Receipt

BELIEF = 'FIND(?b.status) WHERE { ?b BELIEF (:s, "same_as", :o) }'


def merged(path: Path | None = None) -> Nexus:
    """C-1 Al was merged into C-2 Alice at 2; then A-1 named C-1, A-2 C-2, and A-3 C-3. E-1 says why not."""
    nexus = kipql.open(path)
    nexus.execute(
        """MUTATE {
          CREATE CONCEPT ?al { TYPE "Person" NAME "Al" SET FIELDS {key: "al"} }
          CREATE CONCEPT ?alice { TYPE "Person" NAME "Alice" SET FIELDS {key: "alice"} }
          CREATE CONCEPT ?bo { TYPE "Person" NAME "Bo" SET FIELDS {key: "bo"} }
          CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "they are two"} }
          ENSURE PROPOSITION ?old (?al, "same_as", ?bo)
        }"""
    )
    nexus.execute('MERGE CONCEPT "C-1" INTO "C-2"')
    nexus.execute('ASSERT ("C-1", "same_as", "C-3") {by: "C-3", mode: "stated"}')
    nexus.execute('ASSERT ("C-2", "same_as", "C-3") {by: "C-3", mode: "stated"}')
    nexus.execute('ASSERT ("C-3", "same_as", "C-3") {by: "C-3", mode: "stated"}')
    return nexus


def withdraw(nexus: Nexus, **changes: Any) -> Receipt:
    given = {
        "decision_id": nexus.repair.decisions()[0]["decision_id"],
        "expected_identity_version": nexus.stats()["identity_version"],
        "reason_evidence": "E-1",
        **changes,
    }
    return nexus.repair.identity(given.pop("decision_id"), **given)


def refused(call: Any) -> str:
    with pytest.raises(KipError) as caught:
        call()
    return caught.value.code


def test_a_merge_is_a_decision_with_an_origin() -> None:
    (row,) = merged().repair.decisions()
    assert row["source"] == "C-1" and row["target"] == "C-2"
    assert (row["space_seq"], row["identity_version"], row["principal_id"]) == (2, 2, "kip:owner")
    assert row["withdrawn_seq"] is None


def test_what_a_write_supplied_is_kept_with_its_resolution() -> None:
    nexus = merged()
    text = "FIND(?a._system.input_references) WHERE { ?a ASSERTION {id: :id} }"
    assert nexus.query(text, {"id": "A-1"}).scalar() == [
        {
            "supplied": "C-1",
            "resolved": "C-2",
            "decision_id": nexus.repair.decisions()[0]["decision_id"],
            "identity_version": 2,
            "path": "subject",
            "op_id": "kip:space:default#3",
        }
    ]
    assert nexus.query(text, {"id": "A-2"}).scalar() is None


@pytest.mark.parametrize(
    ("statement", "path"),
    [
        ('ASSERT ("C-3", "same_as", "C-1") {by: "C-3", mode: "stated"}', "object"),
        ('ASSERT ("C-3", "same_as", "C-3") {by: "C-1", mode: "stated"}', "asserted_by"),
        ('ASSERT ("C-3", "same_as", "C-3") {by: "C-3", mode: "stated", context: ["C-1"]}', "context_refs"),
        ('ASSERT ({type: "Person", key: "al"}, "same_as", "C-3") {by: "C-3", mode: "stated"}', "subject"),
        (
            'MUTATE { UPSERT CONCEPT ?x {MATCH {type: "Person", key: "al"}} '
            'ASSERT (?x, "same_as", "C-3") {by: "C-3", mode: "stated"} }',
            "subject",
        ),
    ],
)
def test_every_reference_of_a_claim_is_kept_as_it_was_given(statement: str, path: str) -> None:
    nexus = merged()
    nexus.execute(statement)
    kept = nexus.query('FIND(?a._system.input_references) WHERE { ?a ASSERTION {id: "A-4"} }').scalar()
    assert [(each["path"], each["supplied"], each["resolved"]) for each in kept] == [(path, "C-1", "C-2")]


def test_what_evidence_and_edits_supplied_is_kept_too() -> None:
    nexus = merged()
    nexus.execute('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "m"} SET STRUCTURAL { ("source", "C-1") } }')
    nexus.execute('UPDATE "C-1" SET FIELDS {name: "Alice B."}')
    paths = nexus.query('FIND(?e._system.input_references) WHERE { ?e EVIDENCE {id: "E-2"} }').scalar()
    assert [each["path"] for each in paths] == ["source"]
    paths = nexus.query('FIND(?c._system.input_references) WHERE { ?c CONCEPT {id: "C-2"} }').scalar()
    assert [each["path"] for each in paths] == ["target"]


def test_the_source_stands_by_itself_again_and_history_keeps_the_merge() -> None:
    nexus = merged()
    before = nexus.query("FIND(?p) WHERE { ?p PROPOSITION (?s, ?q, ?o) }").rows
    receipt = withdraw(nexus)
    assert nexus.query('FIND(?c.name) WHERE { ?c CONCEPT {key: "al"} }').rows == ["Al"]
    assert nexus.query("FIND(?p) WHERE { ?p PROPOSITION (?s, ?q, ?o) }").rows == before
    assert len(nexus.query('FIND(?p) WHERE { ?p ("C-1", "same_as", "C-3") }').rows) == 1
    text = 'FIND(?p) WHERE { ?p ("C-1", "same_as", "C-3") } AS OF SEQ 5'
    assert len(nexus.query(text).rows) == 2
    assert receipt.result["identity_version"] == nexus.stats()["identity_version"] == 3
    assert nexus.repair.decisions()[0]["withdrawn_seq"] == 6
    (envelope,) = nexus.query("CHANGES AFTER SEQ 5").rows
    assert envelope["control_changes"] == [{"kind": "identity", "version": "3"}]
    assert envelope["changes"][0]["state"] == {"from": "merged", "to": "active"}


def test_the_review_set_tells_what_was_meant_where_that_is_known() -> None:
    review = withdraw(merged()).result["review"]
    assert review == [
        {"id": "A-1", "kind": "assertion", "path": "subject", "supplied": "C-1", "status": "attributed"},
        {"id": "A-2", "kind": "assertion", "path": "subject", "supplied": None, "status": "needs_review"},
    ]


def test_what_was_written_under_it_is_uncertain_until_it_is_validated() -> None:
    nexus = merged()
    pair = {"s": "C-2", "o": "C-3"}
    assert nexus.query(BELIEF, pair).scalar() == "accepted"
    withdraw(nexus)
    assert nexus.query(BELIEF, pair).scalar() == "uncertain"
    assert nexus.query(BELIEF, {"s": "C-3", "o": "C-3"}).scalar() == "accepted"
    for claim in ("A-1", "A-2"):
        text = """CREATE ACTIVITY ?x {
          SET FIELDS {activity_class: "dependency_validation", status: "completed"}
          SET STRUCTURAL { ("outputs", :claim) }
        }"""
        nexus.execute(text, {"claim": claim})
    assert nexus.query(BELIEF, pair).scalar() == "accepted"


def test_a_decision_withdrawn_before_is_left_as_it_is() -> None:
    nexus = merged()
    withdraw(nexus)
    assert withdraw(nexus).status == "no_effect"


def test_a_repair_outlives_the_session(tmp_path: Path) -> None:
    with merged(tmp_path / "m") as nexus:
        withdraw(nexus)
        digest, decisions = nexus.digest(), nexus.repair.decisions()
    with kipql.open(tmp_path / "m") as again:
        assert (again.digest(), again.repair.decisions()) == (digest, decisions)
        assert again.query(BELIEF, {"s": "C-2", "o": "C-3"}).scalar() == "uncertain"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"expected_identity_version": 1}, "VersionConflict"),
        ({"decision_id": "nothing"}, "NotFoundOrNotVisible"),
        ({"reason_evidence": "E-9"}, "NotFoundOrNotVisible"),
        ({"reason_evidence": "C-3"}, "NotFoundOrNotVisible"),
        ({"action": "split"}, "ConstraintViolation"),
    ],
)
def test_a_repair_that_can_not_be(changes: dict[str, Any], code: str) -> None:
    nexus = merged()
    before = nexus.digest()
    assert refused(lambda: withdraw(nexus, **changes)) == code
    assert nexus.digest() == before


def test_two_concepts_do_not_come_to_share_a_canonical_id() -> None:
    nexus = merged()
    nexus.execute('UPDATE "C-2" SET FIELDS {canonical_id: "urn:a"}')
    with nexus.transaction() as tx:
        tx.execute('UPDATE ?c SET FIELDS {canonical_id: "urn:a"} WHERE { ?c CONCEPT {key: "al", state: "merged"} }')
    assert refused(lambda: withdraw(nexus)) == "IdentityConflict"


def test_a_reader_repairs_nothing() -> None:
    nexus = merged()
    assert refused(lambda: withdraw(nexus.readonly())) == "ReadonlyViolation"


# --- recordings ---------------------------------------------------------------------------------------

SAID = "I am not Bo"
RIGHT = 'ASSERT ?a ("C-1", "same_as", "C-2") {by: "C-1", mode: "stated", stance: "reject", evidence: "E-1"}'
CLAIM = """MUTATE {
  CREATE CONCEPT ?a { TYPE "Person" } ASSERT (?a, "same_as", ?a) {by: ?a, mode: "stated", evidence: "E-1"} }"""


def heard() -> Nexus:
    """The agent recorded A-1, that Ada is Bo, from E-1, in which she said that she is not."""
    nexus = kipql.open()
    agent = nexus.as_principal("agent:ears")
    agent.execute(
        """MUTATE {
          CREATE CONCEPT ?ada { TYPE "Person" NAME "Ada" }
          CREATE CONCEPT ?bo { TYPE "Person" NAME "Bo" }
          CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "user_statement", payload: :said} }
          ASSERT (?ada, "same_as", ?bo) {by: ?ada, mode: "stated", evidence: ?e}
        }""",
        {"said": SAID},
    )
    return nexus


def digest_of(nexus: Nexus) -> str:
    return str(nexus.query('FIND(?e.content_digest) WHERE { ?e EVIDENCE {id: "E-1"} }').scalar())


def mend(nexus: Nexus, by: str = "agent:ears", **changes: Any) -> Receipt:
    given = {
        "source_ref": "E-1",
        "source_digest": digest_of(nexus),
        "source_locator": f"bytes:0-{len(SAID)}",
        "invalidated_refs": ["A-1"],
        "reason": "extraction_error",
        "expected_versions": {"A-1": 1},
        "statement": RIGHT,
        "replacement_refs": ["?a"],
        **changes,
    }
    return nexus.as_principal(by).repair.recording(**given)


def test_the_wrong_extraction_is_invalidated_and_nothing_is_rewritten() -> None:
    nexus = heard()
    text = 'FIND(?x) WHERE { ?x ASSERTION {id: "A-1"} }'
    before = nexus.query(text).scalar()
    receipt = mend(nexus)
    assert receipt.result == {"repair_ref": "X-1", "invalidated_refs": ["A-1"], "replacement_refs": ["A-2"]}
    after = nexus.query(text).scalar()
    assert after["_system"]["recording_validity"] == {"status": "invalidated", "repair_ref": "X-1"}
    assert after["_system"]["version"] == 2
    assert {name: part for name, part in after.items() if name != "_system"} == {
        name: part for name, part in before.items() if name != "_system"
    }
    validity = nexus.query('FIND(?x._system.recording_validity) WHERE { ?x ASSERTION {id: "A-2"} }').scalar()
    assert validity == {"status": "valid", "repair_ref": None}
    assert nexus.query("FIND(?e.lifecycle.status) WHERE { ?e EVIDENCE {} }").rows == ["active"]


def test_projection_leaves_it_out_from_then_on() -> None:
    nexus = heard()
    text = 'FIND(?b.status) WHERE { ?b BELIEF ("C-1", "same_as", "C-2") }'
    assert nexus.query(text).scalar() == "accepted"
    mend(nexus, statement=None, replacement_refs=[])
    assert nexus.query(text).scalar() == "insufficient"
    assert nexus.query(f"{text} AS OF SEQ 1").scalar() == "accepted"
    explained = nexus.query(
        'FIND(?b.explanation) WHERE { ?b BELIEF ("C-1", "same_as", "C-2") } WITH EPISTEMIC {explanation: "ledger"}'
    ).scalar()
    assert "recording_invalidated" in str(explained)


def test_the_repair_is_a_record_and_a_control_change() -> None:
    nexus = heard()
    mend(nexus)
    activity = nexus.query('FIND(?x) WHERE { ?x ACTIVITY {activity_class: "recording_repair"} }').scalar()
    assert activity["status"] == "completed"
    assert activity["inputs"] == [{"id": "E-1"}, {"id": "A-1"}] and activity["outputs"] == [{"id": "A-2"}]
    (facet,) = activity["facets"].values()
    assert facet["reason"] == "extraction_error" and facet["replacement_refs"] == ["A-2"]
    (envelope,) = nexus.query("CHANGES AFTER SEQ 1").rows
    assert envelope["control_changes"] == [{"kind": "recording", "version": "1"}]
    touched = [change["touched"] for change in envelope["changes"] if change["id"] == "A-1"]
    assert touched == [["_system.recording_validity"]]


def test_it_outlives_the_session(tmp_path: Path) -> None:
    nexus = kipql.open(tmp_path / "m")
    nexus.close()
    with kipql.open(tmp_path / "m") as nexus:
        nexus.execute('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "m", payload: "x"} }')
        nexus.execute(CLAIM)
        mend(nexus, "kip:owner", source_locator="x", statement=None, replacement_refs=[])
        digest = nexus.digest()
    with kipql.open(tmp_path / "m") as again:
        assert again.digest() == digest
        assert again.query('FIND(?b.status) WHERE { ?b BELIEF ("C-1", "same_as", "C-1") }').scalar() == "insufficient"


def test_what_was_derived_from_it_needs_review() -> None:
    nexus = heard()
    basis = nexus.query('FIND(?b.basis) WHERE { ?b BELIEF ("C-1", "same_as", "C-2") }').scalar()
    nexus.execute(
        """MUTATE {
          ASSERT ?d ("C-2", "same_as", "C-1") {by: "C-1", mode: "inferred"}
          CREATE ACTIVITY ?x {
            SET FIELDS {activity_class: "inference", status: "completed"}
            SET FACET "DependencyBasis" {
              basis_seq: 1, policy_basis: :basis, groups: [{role: "all_of", pins: [{id: "A-1", version: 1}]}] }
            SET STRUCTURAL { ("inputs", "A-1") ("outputs", ?d) }
          }
        }""",
        {"basis": basis},
    )
    text = 'FIND(?b.dependency_validity.status) WHERE { ?b BELIEF ("C-2", "same_as", "C-1") }'
    assert nexus.query(text).scalar() == "current"
    mend(nexus)
    assert nexus.query(text).scalar() == "needs_review"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"source_digest": "sha256:" + "0" * 64}, "DigestMismatch"),
        ({"source_ref": "C-1"}, "ConstraintViolation"),
        ({"source_ref": "E-9"}, "NotFoundOrNotVisible"),
        ({"source_locator": "bytes:5-999"}, "ConstraintViolation"),
        ({"source_locator": ""}, "ConstraintViolation"),
        ({"reason": "did not like it"}, "ConstraintViolation"),
        ({"invalidated_refs": []}, "ConstraintViolation"),
        ({"invalidated_refs": ["E-1"], "expected_versions": {"E-1": 1}}, "ConstraintViolation"),
        ({"invalidated_refs": ["C-1"], "expected_versions": {"C-1": 1}}, "ConstraintViolation"),
        ({"expected_versions": {"A-1": 2}}, "VersionConflict"),
        ({"expected_versions": {"A-9": 1}}, "VersionConflict"),
        ({"replacement_refs": ["A-1"], "statement": None}, "ConstraintViolation"),
        ({"replacement_refs": ["?b"]}, "ReferenceError"),
        (
            {"statement": 'ASSERT ?a ("C-1", "same_as", "C-1") {by: "C-1", mode: "stated"}'},
            "ConstraintViolation",
        ),
        (
            {"statement": 'ASSERT ?a ("C-1", "same_as", "C-1") {by: "C-2", mode: "stated", evidence: "E-1"}'},
            "ConstraintViolation",
        ),
    ],
    ids=str,
)
def test_a_recording_that_can_not_be_repaired_so(changes: dict[str, Any], code: str) -> None:
    nexus = heard()
    before = nexus.digest()
    assert refused(lambda: mend(nexus, **changes)) == code
    assert nexus.digest() == before


def test_a_wrong_actor_is_replaced_by_the_right_one() -> None:
    nexus = heard()
    statement = 'ASSERT ?a ("C-1", "same_as", "C-1") {by: "C-2", mode: "stated", evidence: "E-1"}'
    assert mend(nexus, statement=statement, reason="attribution_error").status == "committed"


def test_a_recorder_repairs_its_own_and_the_owner_any() -> None:
    nexus = heard()
    assert refused(lambda: mend(nexus, "agent:other")) == "NotAuthorized"
    assert mend(nexus, "kip:owner").status == "committed"
    assert refused(lambda: mend(nexus, expected_versions={"A-1": 2})) == "ConstraintViolation"


def test_a_json_pointer_must_lead_somewhere() -> None:
    nexus = kipql.open()
    nexus.execute('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "m", payload: {said: ["a", "b"]}} }')
    nexus.execute(CLAIM)
    bare = {"statement": None, "replacement_refs": []}
    assert refused(lambda: mend(nexus, "kip:owner", source_locator="/said/2", **bare)) == "ConstraintViolation"
    assert mend(nexus, "kip:owner", source_locator="/said/1", **bare).status == "committed"
