"""PURGE by reference policy: what may go, what goes with it, what stays beside the stub (§60.3-§60.6)."""

from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import KipError, Nexus

SHOP = {
    "manifest": {"package_id": "kip://test/shop", "version": "1.0.0"},
    "definitions": {
        "concept_types": {
            "Box": {"attributes": {"open": True, "fields": {}}},
            "Order": {
                "reference_paths": [{"path": "/box", "target": "element", "namespace": "source"}],
                "attributes": {"fields": {"box": {"type": "string"}}},
            },
        },
        "predicates": {"near": {"object": {"kinds": ["Concept"]}}, "says": {"object": {"literal_types": ["string"]}}},
        "structural_fields": {
            "holds": {},
            "stands_on": {"source": {"concept_types": ["Order"]}, "cardinality": {"min": 0, "max": 1}},
            "needs": {"source": {"concept_types": ["Box"]}, "cardinality": {"min": 0}},
        },
        "facets": {
            "Seen": {
                "reference_paths": [{"path": "/by/*", "target": "element", "namespace": "source"}],
                "fields": {"by": {"type": "array"}},
            }
        },
    },
}
PURGE = 'PURGE "{}" REFERENCE POLICY "{}" CONFIRM "PURGE"'


@pytest.fixture
def nexus() -> Nexus:
    """C-1 Ada says P-1 (Ada near Bo, C-2) in A-1, citing E-1; X-1 read E-1 and put out A-1."""
    nexus = kipql.open(packages=[SHOP])
    nexus.execute(
        """MUTATE {
          CREATE CONCEPT ?ada { TYPE "Person" NAME "Ada" }
          CREATE CONCEPT ?bo { TYPE "Person" NAME "Bo" }
          ENSURE PROPOSITION ?p (?ada, "near", ?bo)
          CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "the secret word"} }
          CREATE ASSERTION ?a {
            SET FIELDS {proposition: ?p, asserted_by: ?ada, stance: "support", mode: "stated"}
            SET STRUCTURAL { ("evidence", ?e) }
          }
          CREATE ACTIVITY ?x {
            SET FIELDS {activity_class: "extraction", status: "completed"}
            SET STRUCTURAL { ("inputs", ?e) ("outputs", ?a) }
          }
        }"""
    )
    return nexus


def state(nexus: Nexus, id_text: str) -> str:
    """`_system.state`, also of what no pattern reaches."""
    view = nexus._session.view()
    code = view.code(id_text)
    assert code is not None
    return view.state(code)


def refused(nexus: Nexus, text: str) -> KipError:
    before = nexus.digest()
    with pytest.raises(KipError) as caught:
        nexus.execute(text)
    assert nexus.digest() == before
    return caught.value


HOLDERS = {
    "an end of a Proposition": ("C-2", ""),
    "the actor of an Assertion": ("C-3", 'ASSERT ("C-1", "near", "C-1") {by: "C-3", mode: "stated"}'),
    "the Proposition of an Assertion": ("P-1", ""),
    "a citation and an input": ("E-1", ""),
    "an output": ("A-1", ""),
    "a context": ("C-3", 'ASSERT ("C-1", "near", "C-1") {by: "C-1", mode: "stated", context: ["C-3"]}'),
    "an associated actor": (
        "C-3",
        'CREATE ACTIVITY ?y {SET FIELDS {activity_class: "review"} SET STRUCTURAL {("associated_actors", "C-3")}}',
    ),
    "a source": (
        "C-3",
        'CREATE EVIDENCE ?f {SET FIELDS {evidence_class: "message", payload: "x"} SET STRUCTURAL {("source", "C-3")}}',
    ),
    "a generated_by": (
        "X-2",
        'CREATE EVIDENCE ?f {SET FIELDS {evidence_class: "log"} SET STRUCTURAL {("generated_by", "X-2")}}',
    ),
    "a merged Concept that forwards": ("C-3", 'MERGE CONCEPT "C-2" INTO "C-3"'),
    "a package's structural field": ("C-3", 'UPDATE "C-1" SET STRUCTURAL {("holds", "C-3")}'),
    "an id in a Facet": ("C-3", 'UPDATE "C-1" SET FACET "Seen" {by: ["C-2", "C-3"]}'),
    "an id in an attribute": ("C-3", 'CREATE CONCEPT ?o {TYPE "Order" SET ATTRIBUTES {box: "C-3"}}'),
    "a newer claim": ("A-1", 'ASSERT ("C-1", "near", "C-2") {by: "C-1", mode: "stated"} SUPERSEDING "A-1"'),
    "a correction": (
        "E-1",
        'MUTATE {CREATE EVIDENCE ?n {SET FIELDS {evidence_class: "message", payload: "y"}} '
        'TRANSITION "E-1" TO "corrected" BY ?n}',
    ),
}


@pytest.mark.parametrize(("target", "made"), HOLDERS.values(), ids=HOLDERS)
def test_a_reference_of_any_kind_denies_the_purge(nexus: Nexus, target: str, made: str) -> None:
    nexus.execute('CREATE CONCEPT ?z {TYPE "Person" NAME "Zed"}')
    nexus.execute('CREATE ACTIVITY ?y {SET FIELDS {activity_class: "probe"}}')
    if made:
        nexus.execute(made)
    assert refused(nexus, f'PURGE "{target}" CONFIRM "PURGE"').code == "PurgeDenied"
    assert refused(nexus, PURGE.format(target, "deny_if_referenced")).code == "PurgeDenied"


def test_what_the_same_plan_takes_away_no_longer_denies(nexus: Nexus) -> None:
    nexus.execute('MUTATE {CREATE CONCEPT ?z {TYPE "Person"} UPDATE "C-1" SET STRUCTURAL {("holds", ?z)}}')
    nexus.execute('MUTATE {UPDATE "C-1" UNSET STRUCTURAL {("holds", "C-3")} PURGE "C-3" CONFIRM "PURGE"}')
    assert state(nexus, "C-3") == "purged"


@pytest.mark.parametrize("policy", ["deny_if_referenced", "tombstone_reference", "authorized_cascade"])
def test_a_plan_does_not_refer_to_what_it_purges(nexus: Nexus, policy: str) -> None:
    nexus.execute('CREATE EVIDENCE ?e {SET FIELDS {evidence_class: "message", payload: "x"}}')
    text = 'MUTATE {ASSERT ("C-1", "near", "C-1") {by: "C-1", mode: "stated", evidence: "E-2"} ' + PURGE.format(
        "E-2", policy
    )
    assert refused(nexus, text + "}").code == "PurgeDenied"


def test_one_plan_does_not_write_and_purge_an_element(nexus: Nexus) -> None:
    nexus.execute('CREATE CONCEPT ?z {TYPE "Box"}')
    text = 'MUTATE {UPDATE "C-3" SET ATTRIBUTES {a: 1} PURGE "C-3" CONFIRM "PURGE"}'
    assert refused(nexus, text).code == "DuplicateMutationTarget"


# --- tombstone_reference ------------------------------------------------------------------------------


def test_citations_and_provenance_name_the_stub_and_stand(nexus: Nexus) -> None:
    nexus.execute(PURGE.format("E-1", "tombstone_reference"))
    assert [state(nexus, each) for each in ("E-1", "A-1", "X-1", "P-1")] == ["purged", "active", "active", "active"]
    assert nexus.query("FIND(?a.evidence) WHERE { ?a ASSERTION {} }").scalar() == [{"id": "E-1", "role": "support"}]
    belief = 'FIND(?b.status) WHERE { ?b BELIEF ("C-1", "near", "C-2") }'
    assert nexus.query(belief).scalar() == "accepted"


def test_a_proposition_without_its_end_is_tombstoned_and_the_rest_stays(nexus: Nexus) -> None:
    nexus.execute(PURGE.format("C-2", "tombstone_reference"))
    assert [state(nexus, each) for each in ("C-2", "P-1", "A-1", "C-1")] == ["purged", "tombstoned", "active", "active"]


def test_a_claim_without_its_actor_is_tombstoned(nexus: Nexus) -> None:
    nexus.execute(PURGE.format("C-1", "tombstone_reference"))
    assert [state(nexus, each) for each in ("P-1", "A-1", "E-1")] == ["tombstoned", "tombstoned", "active"]


# --- authorized_cascade -------------------------------------------------------------------------------


def test_a_cascade_takes_what_refers_and_what_refers_to_that(nexus: Nexus) -> None:
    receipt = nexus.execute(PURGE.format("C-2", "authorized_cascade"))
    gone = {change["id"] for change in receipt.changes if change["op"] == "purge"}
    assert gone == {"C-2", "P-1", "A-1", "X-1"}
    assert [state(nexus, each) for each in ("C-1", "E-1")] == ["active", "active"]


def test_a_cascade_stops_at_a_held_element_and_nothing_is_lost(nexus: Nexus) -> None:
    nexus.execute('SET RETENTION "X-1" {legal_hold: true}')
    error = refused(nexus, PURGE.format("C-2", "authorized_cascade"))
    assert (error.code, error.details["held"]) == ("LegalHoldConflict", "X-1")


def test_a_hold_comes_before_the_policy(nexus: Nexus) -> None:
    nexus.execute('SET RETENTION "C-2" {legal_hold: true}')
    for policy in ("deny_if_referenced", "tombstone_reference", "authorized_cascade"):
        assert refused(nexus, PURGE.format("C-2", policy)).code == "LegalHoldConflict"


def test_a_limit_bounds_the_targets_not_what_goes_with_them(nexus: Nexus) -> None:
    text = (
        'PURGE ?c WHERE { ?c CONCEPT {type: "Person"} } LIMIT 1 REFERENCE POLICY "authorized_cascade" CONFIRM "PURGE"'
    )
    nexus.execute(text)
    assert [state(nexus, each) for each in ("C-1", "P-1", "A-1", "C-2")] == ["purged", "purged", "purged", "active"]


# --- gone everywhere ----------------------------------------------------------------------------------


def test_what_a_cascade_erased_is_gone_from_the_past_and_from_the_disk(tmp_path: Path) -> None:
    secrets = ("s3cret-name", "s3cret-text", "s3cret-literal", "s3cret-facet")
    with kipql.open(tmp_path / "m", packages=[SHOP]) as nexus:
        nexus.execute(
            """MUTATE {
              CREATE CONCEPT ?a { TYPE "Person" NAME "s3cret-name" SET FIELDS {key: "s3cret-name"} }
              CREATE CONCEPT ?b { TYPE "Person" NAME "Bo" }
              CREATE EVIDENCE ?e {
                SET FIELDS {evidence_class: "message", payload: "s3cret-text"}
                SET STRUCTURAL { ("source", ?a) } }
              ASSERT (?a, "says", "s3cret-literal") { by: ?a, mode: "stated", evidence: ?e }
            }"""
        )
        nexus.execute('UPDATE "C-1" SET FACET "Seen" {by: ["C-2"]} SET FIELDS {aliases: ["s3cret-facet"]}')
        nexus.execute(PURGE.format("C-1", "authorized_cascade"))
        for seq in (1, 2, 3):
            found = nexus.query(f'FIND(?c) WHERE {{ ?c CONCEPT {{id: "C-1"}} }} AS OF SEQ {seq}').rows
            assert not any(secret in str(found) for secret in secrets)
        before = nexus.digest()
    data = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert not [secret for secret in secrets if secret.encode() in data]
    with kipql.open(tmp_path / "m") as again:
        assert again.digest() == before


def test_a_purged_creation_is_not_made_again_under_its_client_key(nexus: Nexus) -> None:
    text = 'CREATE EVIDENCE ?e {CLIENT KEY "m:1" SET FIELDS {evidence_class: "message", payload: "again"}}'
    nexus.execute(text)
    nexus.execute('PURGE "E-2" CONFIRM "PURGE"')
    assert nexus.execute(text).status == "no_effect"
    assert nexus.stats()["elements"]["evidence"] == 2


# --- PURGE PAYLOAD ------------------------------------------------------------------------------------


def test_a_payload_purge_keeps_all_but_the_bytes(nexus: Nexus) -> None:
    nexus.execute(
        'CREATE EVIDENCE ?f { SET FIELDS {evidence_class: "message", payload: "it", media_type: "text/plain", '
        'observed_at: "2026-01-01T00:00:00.000Z"} SET STRUCTURAL { ("source", "C-1") ("generated_by", "X-1") } }'
    )
    before = nexus.query('FIND(?e) WHERE { ?e EVIDENCE {id: "E-2"} }').scalar()
    receipt = nexus.execute('PURGE PAYLOAD "E-2" CONFIRM "PURGE"')
    after = nexus.query('FIND(?e) WHERE { ?e EVIDENCE {id: "E-2"} }').scalar()
    kept = ("evidence_class", "content_digest", "media_type", "observed_at", "source", "generated_by", "lifecycle")
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert after["payload"] == {"mode": "purged"} and after["_system"]["state"] == "active"
    assert [change["op"] for change in receipt.changes] == ["payload_purge"]
    assert receipt.changes[0]["planes"] == {"attributes": 2}
    for seq in (2, 3):
        text = f'FIND(?e.payload) WHERE {{ ?e EVIDENCE {{id: "E-2"}} }} AS OF SEQ {seq}'
        assert nexus.query(text).scalar() == {"mode": "purged"}


def test_a_payload_purge_changes_no_belief(nexus: Nexus) -> None:
    text = 'FIND(?b.status, ?b.support.root_groups) WHERE { ?b BELIEF ("C-1", "near", "C-2") }'
    before: Any = nexus.query(text).rows
    nexus.execute('PURGE PAYLOAD "E-1" CONFIRM "PURGE"')
    assert nexus.query(text).rows == before


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('PURGE PAYLOAD "E-1" EXPECT VERSION 9 CONFIRM "PURGE"', "VersionConflict"),
        ('PURGE PAYLOAD "E-9" CONFIRM "PURGE"', "NotFoundOrNotVisible"),
        ('PURGE PAYLOAD ?x WHERE { ?x CONCEPT {} } CONFIRM "PURGE"', "ConstraintViolation"),
        ('PURGE PAYLOAD "E-1" REFERENCE POLICY "deny_if_referenced" CONFIRM "PURGE"', "InvalidSyntax"),
    ],
)
def test_a_payload_purge_that_can_not_be(nexus: Nexus, text: str, code: str) -> None:
    assert refused(nexus, text).code == code


def test_a_held_element_keeps_its_payload(nexus: Nexus) -> None:
    nexus.execute('SET RETENTION "E-1" {legal_hold: true}')
    assert refused(nexus, 'PURGE PAYLOAD "E-1" CONFIRM "PURGE"').code == "LegalHoldConflict"
    nexus.execute('SET RETENTION "E-1" {legal_hold: false}')
    assert nexus.execute('PURGE PAYLOAD "E-1" CONFIRM "PURGE"').status == "committed"


def test_purging_a_purged_payload_is_no_effect(nexus: Nexus) -> None:
    nexus.execute('PURGE PAYLOAD ?e WHERE { ?e EVIDENCE {} } LIMIT 1 CONFIRM "PURGE"')
    assert nexus.execute('PURGE PAYLOAD "E-1" CONFIRM "PURGE"').status == "no_effect"
