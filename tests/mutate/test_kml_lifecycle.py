"""TRANSITION, SET RETENTION, PURGE and EXPECT VERSION (§52.5, §57, §60, §35)."""

from typing import Any

import pytest

from tests.mutate.kml_space import Space


def test_a_retraction_keeps_what_was_said(lab: Space) -> None:
    lab.write('TRANSITION "A-1" TO "retracted"')
    claim = lab.element("A-1")
    assert claim["lifecycle"]["status"] == "retracted"
    assert claim["lifecycle"]["retracted_at"] == claim["_system"]["updated_at"]
    assert (claim["confidence"], claim["_system"]["state"]) == (0.5, "active")


@pytest.mark.parametrize(
    "text",
    [
        'TRANSITION "A-1" TO "retracted"',
        'TRANSITION "C-1" TO "archived"',
        'TRANSITION "P-1" TO "tombstoned"',
        'TRANSITION "X-1" TO "failed"',
    ],
)
def test_the_state_already_held_is_no_effect(lab: Space, text: str) -> None:
    lab.write(text)
    lab.write(text)
    assert not lab.changed


@pytest.mark.parametrize(
    ("before", "text", "code"),
    [
        ("", 'TRANSITION "A-1" TO "running"', "InvalidLifecycleTransition"),
        ("", 'TRANSITION "C-1" TO "retracted"', "InvalidLifecycleTransition"),
        ("", 'TRANSITION "E-1" TO "superseded" BY "A-1"', "InvalidLifecycleTransition"),
        ("", 'TRANSITION "A-1" TO "corrected" BY "E-1"', "InvalidLifecycleTransition"),
        ("", 'TRANSITION "A-1" TO :state', "InvalidLifecycleTransition"),
        ("", 'TRANSITION "A-1" TO "active"', "InvalidLifecycleTransition"),
        ('TRANSITION "A-1" TO "retracted"', 'TRANSITION "A-1" TO "superseded" BY "A-1"', "InvalidLifecycleTransition"),
        ('TRANSITION "C-1" TO "tombstoned"', 'TRANSITION "C-1" TO "archived"', "InvalidLifecycleTransition"),
        ('TRANSITION "X-1" TO "failed"', 'TRANSITION "X-1" TO "completed"', "InvalidLifecycleTransition"),
        (
            'TRANSITION "X-1" TO "failed"',
            'TRANSITION "X-1" TO "failed" SET STRUCTURAL {("outputs", "C-1")}',
            "ActivityTerminal",
        ),
        ("", 'TRANSITION "X-1" TO "completed" SET FIELDS {activity_class: "m"}', "ImmutableField"),
        ("", 'TRANSITION "A-1" TO "superseded" BY "A-1"', "SupersessionMismatch"),
        ("", 'TRANSITION "A-1" TO "superseded" BY "C-1"', "SupersessionMismatch"),
        ("", 'TRANSITION "E-1" TO "corrected" BY "E-1"', "EvidenceCorrectionConflict"),
        ("", 'TRANSITION "A-1" TO "superseded"', "InvalidSyntax"),
        ("", 'TRANSITION "A-1" TO :linked', "InvalidSyntax"),
        ("", 'TRANSITION "A-1" TO "retracted" BY "A-1"', "InvalidSyntax"),
        ("", 'TRANSITION "A-1" TO 7', "TypeMismatch"),
        ("", 'TRANSITION "A-9" TO "retracted"', "NotFoundOrNotVisible"),
        ("", 'TRANSITION ?a TO "retracted"', "ReferenceError"),
    ],
)
def test_an_illegal_move_is_refused(lab: Space, before: str, text: str, code: str) -> None:
    if before:
        lab.write(before)
    error = lab.refused(text, state="banana", linked="superseded")
    assert (error.code, error.span is not None) == (code, True)


def test_a_terminal_move_finalizes_fields_and_topology_at_once(lab: Space) -> None:
    lab.write('UPDATE "C-3" SET FIELDS {name: "L"}')
    lab.write(
        """MUTATE {
          TRANSITION "X-1" TO "completed" SET FIELDS {ended_at: "2026-06-01T00:00:00.000Z"}
            SET STRUCTURAL {("inputs", "C-3") ("inputs", "E-1") ("outputs", ?new) ("outputs", "C-4")}
          CREATE CONCEPT ?new {TYPE "Thing"}
          UPDATE "C-4" SET ATTRIBUTES {size: 9}
        }"""
    )
    activity = lab.element("X-1")
    assert (activity["status"], activity["ended_at"]) == ("completed", "2026-06-01T00:00:00.000Z")
    assert activity["outputs"] == [{"id": "C-5"}, {"id": "C-4"}]
    assert activity["_system"]["input_versions"] == {"C-3": 2, "E-1": 1}
    assert activity["_system"]["output_versions"] == {"C-5": 1, "C-4": 2}


def test_a_correction_links_both_records(lab: Space) -> None:
    lab.write(
        """MUTATE {
          CREATE EVIDENCE ?new {SET FIELDS {evidence_class: "message", payload: "I sat by the lamp"}}
          TRANSITION "E-1" TO "corrected" BY ?new
        }"""
    )
    assert lab.element("E-1")["lifecycle"] == {"status": "corrected", "corrects": [], "corrected_by": [{"id": "E-2"}]}
    assert lab.element("E-2")["lifecycle"]["corrects"] == [{"id": "E-1"}]
    assert lab.refused('TRANSITION "E-2" TO "corrected" BY "E-1"').code == "EvidenceCorrectionConflict"


# --- supersession (§14.2) -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tuple_", "members", "code"),
    [
        ('("C-1", "near", "C-3")', 'by: "C-1", mode: "stated"', None),
        ('("C-1", "near", "C-4")', 'by: "C-1", mode: "observed"', None),
        ('("C-1", "near", "C-4")', 'by: "C-2", mode: "stated"', "SupersessionMismatch"),
        ('("C-2", "near", "C-3")', 'by: "C-1", mode: "stated"', "SupersessionMismatch"),
        ('("C-1", "is", "C-3")', 'by: "C-1", mode: "stated"', "SupersessionMismatch"),
        ('("C-1", "near", "C-3")', 'by: "C-1", mode: "stated", context: ["C-2"]', "SupersessionMismatch"),
    ],
)
def test_a_claim_is_superseded_within_its_actor_context_and_slot(
    lab: Space, tuple_: str, members: str, code: str | None
) -> None:
    text = f'ASSERT ?new {tuple_} {{{members}}} SUPERSEDING "A-1"'
    if code is not None:
        assert lab.refused(text).code == code
        return
    lab.write(text)
    assert lab.element("A-1")["lifecycle"]["superseded_by"] == [{"id": "A-2"}]
    assert lab.element("A-2")["lifecycle"]["supersedes"] == [{"id": "A-1"}]
    assert lab.element("A-1")["lifecycle"]["status"] == "superseded"


def test_supersession_compares_actors_as_merged(lab: Space) -> None:
    lab.write('MERGE CONCEPT "C-1" INTO "C-2"')
    lab.write('ASSERT ("C-1", "near", "C-4") {by: "C-1", mode: "stated"} SUPERSEDING "A-1"')
    assert lab.element("A-2")["asserted_by"] == {"id": "C-2"}
    assert lab.element("A-1")["lifecycle"]["status"] == "superseded"


def test_succession_in_a_circle_is_refused(lab: Space) -> None:
    lab.write('ASSERT ("C-1", "near", "C-3") {by: "C-1", mode: "stated"} SUPERSEDING "A-1"')
    assert lab.refused('TRANSITION "A-2" TO "superseded" BY "A-1"').code == "SupersessionMismatch"


def test_retracting_and_superseding_one_claim_in_a_block_is_two_final_states(lab: Space) -> None:
    text = """MUTATE {
      TRANSITION "A-1" TO "retracted"
      ASSERT ("C-1", "near", "C-4") {by: "C-1", mode: "stated"} SUPERSEDING "A-1"
    }"""
    assert lab.refused(text).code == "DuplicateMutationTarget"


# --- SET RETENTION (§19) ------------------------------------------------------------------------------


def test_the_block_replaces_rather_than_patches(lab: Space) -> None:
    lab.write('SET RETENTION "C-1" {retention_class: "short", legal_hold: true}')
    lab.write('SET RETENTION "C-1" {expires_at: "2030-01-01T00:00:00.000Z"}')
    assert lab.element("C-1")["retention"] == {
        "retention_class": None,
        "expires_at": "2030-01-01T00:00:00.000Z",
        "legal_hold": False,
    }
    assert lab.element("C-1")["_system"]["plane_versions"]["retention"] == 2
    assert lab.element("C-1")["_system"]["plane_versions"]["attributes"] == 1


@pytest.mark.parametrize(
    ("block", "code"),
    [
        ('{review_at: "2030-01-01T00:00:00.000Z"}', "ConstraintViolation"),
        ("{retention_class: 7}", "TypeMismatch"),
        ('{expires_at: "whenever"}', "ConstraintViolation"),
        ("{expires_at: 0}", "TypeMismatch"),
        ('{legal_hold: "yes"}', "TypeMismatch"),
    ],
)
def test_a_member_outside_the_hook_is_refused(lab: Space, block: str, code: str) -> None:
    error = lab.refused(f'SET RETENTION "C-1" {block}')
    assert (error.code, error.span is not None) == (code, True)


# --- PURGE (§60.3, §60.6) -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "holder"),
    [("C-1", "P-1"), ("C-3", "P-1"), ("P-1", "A-1"), ("E-1", "A-1"), ("C-2", "C-4")],
)
def test_what_is_still_referred_to_is_not_purged(lab: Space, target: str, holder: str) -> None:
    lab.write('UPDATE "C-4" SET STRUCTURAL {("tag", "C-2")}')
    error = lab.refused(f'PURGE "{target}" CONFIRM "PURGE"')
    assert (error.code, error.details["referenced_by"]) == ("PurgeDenied", holder)


def test_a_stub_keeps_identity_and_nothing_that_was_said(lab: Space) -> None:
    lab.write('UPDATE "C-4" SET FIELDS {name: "Box"} SET FACET "Wear" {level: 1}')
    lab.write('PURGE "C-4" CONFIRM "PURGE"')
    stub = lab.element("C-4")
    assert (stub["id"], stub["_system"]["state"], stub["governance"]["purged"]) == ("C-4", "purged", True)
    assert (stub["name"], stub["attributes"], stub["facets"]) == (None, {}, {})
    lab.write('PURGE "C-4" CONFIRM "PURGE"')
    assert not lab.changed
    assert lab.refused('UPDATE "C-4" SET FIELDS {name: "x"}').code == "ImmutableField"
    assert lab.refused('SET RETENTION "C-4" {legal_hold: true}').code == "ImmutableField"
    assert lab.refused('TRANSITION "C-4" TO "archived"').code == "InvalidLifecycleTransition"
    assert lab.refused('ENSURE PROPOSITION ("C-1", "is", {id: "C-4"})').code == "NotFoundOrNotVisible"


def test_what_refers_to_each_other_may_go_together(lab: Space) -> None:
    lab.write('PURGE ?x WHERE { ?x ASSERTION {} } CONFIRM "PURGE"')
    lab.write('PURGE "P-1" CONFIRM "PURGE"')
    lab.write('PURGE "E-1" CONFIRM "PURGE"')
    assert lab.element("E-1")["payload"] == {"mode": "purged"}
    assert lab.write('ENSURE PROPOSITION ?p ("C-1", "near", "C-3")') == {"p": "P-2"}


def test_a_hold_comes_before_everything_else(lab: Space) -> None:
    lab.write('MUTATE { SET RETENTION "C-1" {legal_hold: true} SET RETENTION "E-1" {legal_hold: true} }')
    assert lab.refused('PURGE "C-1" CONFIRM "PURGE"').code == "LegalHoldConflict"
    assert lab.refused('PURGE PAYLOAD "E-1" CONFIRM "PURGE"').code == "LegalHoldConflict"


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        ("delete_everything", "ConstraintViolation"),
        (7, "TypeMismatch"),
        ("deny_if_referenced", None),
        ("tombstone_reference", None),
        ("authorized_cascade", None),
    ],
)
def test_the_reference_policy_is_one_of_three(lab: Space, policy: Any, code: str | None) -> None:
    text = 'PURGE "C-4" REFERENCE POLICY :policy CONFIRM "PURGE"'
    if code is None:
        lab.write(text, policy=policy)
    else:
        assert lab.refused(text, policy=policy).code == code


def test_a_payload_purge_leaves_the_record_and_its_digest(lab: Space) -> None:
    digest = lab.element("E-1")["content_digest"]
    lab.write('PURGE PAYLOAD "E-1" CONFIRM "PURGE"')
    evidence = lab.element("E-1")
    assert (evidence["payload"], evidence["content_digest"]) == ({"mode": "purged"}, digest)
    assert lab.element("A-1")["evidence"] == [{"id": "E-1", "role": "support"}]
    lab.write('PURGE PAYLOAD "E-1" CONFIRM "PURGE"')
    assert not lab.changed


def test_only_evidence_has_a_payload(lab: Space) -> None:
    assert lab.refused('PURGE PAYLOAD "C-1" CONFIRM "PURGE"').code == "ConstraintViolation"


# --- EXPECT VERSION (§35) -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guard", "plane"),
    [
        ("1", None),
        ("1 OF ATTRIBUTES", None),
        ("0 OF STRUCTURAL", None),
        ("0 OF RETENTION", None),
        ('0 OF FACET "Wear"', None),
        ('1 EXPECT VERSION 1 OF ATTRIBUTES EXPECT VERSION 0 OF FACET "Wear"', None),
        ("2", "version"),
        ("0", "version"),
        ("2 OF ATTRIBUTES", "attributes"),
        ("1 OF RETENTION", "retention"),
        ('1 OF FACET "Wear"', "facets"),
    ],
)
def test_a_guard_compares_the_plane_it_names(lab: Space, guard: str, plane: str | None) -> None:
    text = f'UPDATE "C-3" SET ATTRIBUTES {{late: true}} EXPECT VERSION {guard}'
    if plane is None:
        lab.write(text)
        return
    error = lab.refused(text)
    assert error.code == "VersionConflict"
    assert error.details.get("plane", "version") == plane


def test_a_write_to_one_plane_does_not_spoil_the_guard_of_another(lab: Space) -> None:
    lab.write('UPDATE "C-3" SET FACET "Wear" {level: 1}')
    lab.write('UPDATE "C-3" SET ATTRIBUTES {a: 1} EXPECT VERSION 1 OF ATTRIBUTES')
    assert lab.refused('UPDATE "C-3" SET ATTRIBUTES {a: 2} EXPECT VERSION 2').code == "VersionConflict"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('ENSURE PROPOSITION ("C-1", "near", "C-3") EXPECT VERSION 0', "VersionConflict"),
        ('ENSURE PROPOSITION ("C-1", "near", "C-3") EXPECT VERSION 1', None),
        ('ENSURE PROPOSITION ("C-1", "near", "C-4") EXPECT VERSION 0', None),
        ('ENSURE PROPOSITION ("C-1", "near", "C-4") EXPECT VERSION 1', "VersionConflict"),
        ('UPSERT CONCEPT ?c { MATCH {type: "Person", key: "ada"} } EXPECT VERSION 0', "VersionConflict"),
        ('UPSERT CONCEPT ?c { MATCH {type: "Person", key: "new"} } EXPECT VERSION 0', None),
        ('UPSERT CONCEPT ?c { MATCH {type: "Person", key: "new"} } EXPECT VERSION 1', "VersionConflict"),
        ('UPSERT CONCEPT ?c { MATCH {type: "Person", key: "new"} } EXPECT VERSION 0 OF ATTRIBUTES', None),
        ('TRANSITION "A-1" TO "retracted" EXPECT VERSION 2', "VersionConflict"),
        ('SET RETENTION "C-1" {} EXPECT VERSION 2', "VersionConflict"),
        ('PURGE "C-4" EXPECT VERSION 2 CONFIRM "PURGE"', "VersionConflict"),
        ('MERGE CONCEPT "C-2" INTO "C-1" EXPECT VERSION 2', "VersionConflict"),
        ('UPDATE "C-3" SET FIELDS {name: "x"} EXPECT VERSION "1"', "TypeMismatch"),
    ],
)
def test_every_statement_keeps_its_guards(lab: Space, text: str, code: str | None) -> None:
    if code is None:
        lab.write(text)
    else:
        assert lab.refused(text).code == code
