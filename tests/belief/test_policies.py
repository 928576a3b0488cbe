"""Policies and trust as control state: versioned, persisted, in force per snapshot (§21.10, §22.5, §48.6)."""

from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql.errors import KipError
from tests.belief.world import PEOPLE

NEWEST = {"policy_id": "acme:newest", "version": "1", "precedence": {"order": ["recency"]}}
CAREFUL = {
    "policy_id": "acme:careful",
    "version": "1",
    "method": {"score_model": "weighted"},
    "weights": {"accept_at": 0.6, "reject_at": 0.6, "default_trust": 0.5, "unstated": 1.0},
}
SPEAKS = """MUTATE {
  CREATE CONCEPT ?ann { TYPE "Person" NAME "Ann" }
  CREATE CONCEPT ?bot { TYPE "Person" NAME "Bot" }
  ASSERT (?ann, "height", 170) {by: ?ann, mode: "stated", at: "2026-01-01T00:00:00.000Z"}
  ASSERT (?ann, "height", 180) {by: ?bot, mode: "stated", at: "2026-02-01T00:00:00.000Z", confidence: 0.9}
}"""
AT = 'FOR TIME "2026-03-01T00:00:00.000Z"'


def height(nexus: kipql.Nexus, policy: str, seq: int | None = None) -> Any:
    as_of = "" if seq is None else f"AS OF SEQ {seq}"
    text = f"""FIND(?b.accepted_values, ?b.basis.policy.version, ?b.basis.trust_version)
    WHERE {{ ?b BELIEF SLOT ("C-1", "height") }} {as_of} {AT} WITH EPISTEMIC {{policy: :policy}}"""
    return nexus.query(text, {"policy": policy}).one()


def code_of(call: Any, *arguments: object, **options: object) -> str:
    with pytest.raises(KipError) as caught:
        call(*arguments, **options)
    return caught.value.code


def opened(path: Path | None = None) -> kipql.Nexus:
    nexus = kipql.open(path, packages=[PEOPLE])
    if nexus.space_seq == 0:
        nexus.execute(SPEAKS)
    return nexus


def test_a_policy_of_the_set_up_takes_no_sequence_and_holds_from_the_start(tmp_path: Path) -> None:
    with kipql.open(tmp_path / "m", packages=[PEOPLE]) as nexus:
        nexus.install_policy(NEWEST)
        assert nexus.space_seq == 0
        nexus.execute(SPEAKS)
        assert height(nexus, "acme:newest")[0] == [180]
        assert height(nexus, "acme:newest", 0)[0] == []
    with kipql.open(tmp_path / "m") as nexus:
        assert height(nexus, "acme:newest")[0] == [180]


def test_a_later_policy_is_one_commit_with_a_control_change(tmp_path: Path) -> None:
    with opened(tmp_path / "m") as nexus:
        seen: list[dict[str, Any]] = []
        nexus.subscribe(seen.append)
        nexus.install_policy(NEWEST)
        assert nexus.space_seq == 2
        assert seen[0]["control_changes"] == [{"kind": "policy", "version": "1"}]
        assert seen[0]["changes"] == []
    with opened(tmp_path / "m") as nexus:
        assert height(nexus, "acme:newest")[0] == [180]


def test_an_older_snapshot_does_not_know_it_unless_it_is_named_with_its_version() -> None:
    nexus = opened()
    nexus.install_policy(NEWEST)
    with pytest.raises(KipError) as caught:
        height(nexus, "acme:newest", 1)
    assert caught.value.code == "ProjectionPolicyUnavailable"
    assert "acme:newest@1" in (caught.value.hint or "")
    assert height(nexus, "acme:newest@1", 1) == ([180], "1", "0")


def test_each_snapshot_has_the_version_that_was_in_force() -> None:
    nexus = opened()
    nexus.install_policy(NEWEST)
    nexus.install_policy({"policy_id": "acme:newest", "version": 2})
    assert height(nexus, "acme:newest", 2) == ([180], "1", "0")
    assert height(nexus, "acme:newest") == ([], "2", "0")
    assert height(nexus, "acme:newest@1") == ([180], "1", "0")


def test_the_same_policy_again_changes_nothing_and_a_version_never_changes() -> None:
    nexus = opened()
    nexus.install_policy(NEWEST)
    nexus.install_policy(NEWEST)
    assert nexus.space_seq == 2
    assert code_of(nexus.install_policy, {**NEWEST, "precedence": {"order": []}}) == "ConstraintViolation"
    assert code_of(nexus.install_policy, {"policy_id": "kip:policy:baseline", "version": "2"}) == "ConstraintViolation"


@pytest.mark.parametrize(
    ("artifact", "code"),
    [
        ("acme", "TypeMismatch"),
        ({}, "ConstraintViolation"),
        ({"policy_id": "p", "precedence": {"order": ["luck"]}}, "ConstraintViolation"),
        ({"policy_id": "p", "eligibility": {"modes": {"include": ["guessed"]}}}, "ConstraintViolation"),
        ({"policy_id": "p", "method": {"score_model": "weighted"}}, "ConstraintViolation"),
        (
            {"policy_id": "p", "method": {"score_model": "weighted"}, "weights": {"accept_at": 2, "reject_at": 0}},
            "ConstraintViolation",
        ),
    ],
)
def test_a_malformed_policy_is_refused(artifact: Any, code: str) -> None:
    assert code_of(kipql.open().install_policy, artifact) == code


def test_a_read_only_memory_installs_nothing() -> None:
    nexus = opened()
    assert code_of(nexus.readonly().install_policy, NEWEST) == "ReadonlyViolation"
    assert code_of(nexus.readonly().govern.trust.set, "C-2", 0.5) == "ReadonlyViolation"


def test_the_standard_policy_artifact_is_the_one_that_ships(shared: Path) -> None:
    import json

    artifact = json.loads((shared / "kip" / "profiles" / "policy-memory-default.json").read_text("utf-8"))
    nexus = kipql.open()
    nexus.install_policy(artifact)
    assert nexus.space_seq == 0
    assert nexus.query('DESCRIBE EPISTEMIC POLICY "kip:memory-default"').one()["source"] == "shipped"


# --- introspection ------------------------------------------------------------------------------------


def test_policies_are_listed_and_described() -> None:
    nexus = opened()
    nexus.install_policy(NEWEST)
    rows = nexus.query("LIST EPISTEMIC POLICIES").rows
    assert [row["id"] for row in rows] == [
        "acme:newest",
        "kip:memory-default",
        "kip:policy:baseline",
        "kip:policy:structural",
    ]
    assert [row["id"] for row in rows if row["default"]] == ["kip:policy:baseline"]
    assert nexus.query("DESCRIBE EPISTEMIC POLICY").one()["id"] == "kip:policy:baseline"
    found = nexus.query('DESCRIBE EPISTEMIC POLICY "acme:newest"').one()
    assert (found["precedence"], found["in_force_since"], found["artifact"]) == (["recency"], 2, NEWEST)
    assert code_of(nexus.query, 'DESCRIBE EPISTEMIC POLICY "acme:oldest"') == "ProjectionPolicyUnavailable"


def test_weighted_projection_and_belief_slot_are_supported() -> None:
    entries = kipql.open().query("DESCRIBE CAPABILITIES").one()["capabilities"]
    assert entries["weighted_projection"]["supported"] and entries["belief_slot"]["supported"]


# --- trust --------------------------------------------------------------------------------------------


def test_trust_decides_under_a_weighted_policy_and_nowhere_else() -> None:
    nexus = opened()
    nexus.install_policy(CAREFUL)
    assert height(nexus, "acme:careful")[0] == []
    nexus.govern.trust.set("C-1", 0.9)
    assert height(nexus, "acme:careful")[0] == [170]
    nexus.govern.trust.set("C-2", 1.0)
    assert height(nexus, "acme:careful")[0] == []
    nexus.govern.trust.set("C-2", 0.1, note="made it up")
    assert height(nexus, "acme:careful") == ([170], "1", "3")
    assert height(nexus, "kip:policy:baseline") == ([], "1", "3")


def test_trust_is_that_of_the_snapshot_and_survives_reopening(tmp_path: Path) -> None:
    with opened(tmp_path / "m") as nexus:
        nexus.install_policy(CAREFUL)
        nexus.govern.trust.set("C-1", 0.9)
        nexus.govern.trust.remove("C-1")
    with opened(tmp_path / "m") as nexus:
        assert [height(nexus, "acme:careful", seq)[::2] for seq in (2, 3, 4)] == [([], "0"), ([170], "1"), ([], "2")]
        assert nexus.govern.trust.list() == []
        assert [(record.actor, record.value) for record in nexus.govern.trust.list(3)] == [("C-1", 0.9)]


def test_trust_in_a_merged_actor_is_trust_in_the_one_it_became() -> None:
    nexus = opened()
    nexus.install_policy(CAREFUL)
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ann" }')
    nexus.govern.trust.set("C-3", 0.9)
    before = nexus.space_seq
    assert height(nexus, "acme:careful")[0] == []
    nexus.execute('MERGE CONCEPT "C-3" INTO "C-1"')
    assert height(nexus, "acme:careful")[0] == [170]
    assert height(nexus, "acme:careful", before)[0] == []


MERGED_TRUST = [
    # what was set, in order, for Ann (C-1) and for the Ann that is merged into her (C-3); the weight after the merge
    ([("C-1", 0.9), ("C-3", 0.1)], 0.1),
    ([("C-3", 0.1), ("C-1", 0.9)], 0.9),
    ([("C-1", 0.2), ("C-3", 0.1), ("C-1", 0.9)], 0.9),
    ([("C-3", 0.9), ("C-1", 0.1), ("C-1", None)], None),
    ([("C-1", 0.1), ("C-3", 0.2), ("C-3", None), ("C-1", 0.9)], 0.9),
]


@pytest.mark.parametrize(("said", "weight"), MERGED_TRUST)
def test_of_what_was_set_for_one_identity_the_last_counts(
    said: list[tuple[str, float | None]], weight: float | None
) -> None:
    """Trust is about an actor (§22.5), and who that is the identity resolution at the basis says (§11.5)."""
    nexus = opened()
    nexus.install_policy(CAREFUL)
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ann" }')
    for actor, value in said:
        if value is None:
            nexus.govern.trust.remove(actor)
        else:
            nexus.govern.trust.set(actor, value)
    apart = [(record.actor, record.value) for record in nexus.govern.trust.list()]
    before = nexus.space_seq
    merge = nexus.execute('MERGE CONCEPT "C-3" INTO "C-1"')
    assert merge.status == "committed"  # type: ignore[union-attr]
    expected = [] if weight is None else [("C-1", weight)]
    assert [(record.actor, record.value) for record in nexus.govern.trust.list()] == expected
    assert [(record["actor"]["id"], record["value"]) for record in nexus.query("DESCRIBE TRUST").one()["records"]] == (
        expected
    )
    assert nexus.query('DESCRIBE TRUST "C-3"').one()["records"] == nexus.query('DESCRIBE TRUST "C-1"').one()["records"]
    assert height(nexus, "acme:careful")[0] == ([170] if weight is not None and weight >= 0.6 else [])
    assert [(record.actor, record.value) for record in nexus.govern.trust.list(before)] == apart


def test_trust_set_for_a_merged_actor_is_set_for_the_one_it_became() -> None:
    nexus = opened()
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ann" }')
    nexus.execute('MERGE CONCEPT "C-3" INTO "C-1"')
    nexus.govern.trust.set("C-1", 0.9)
    version = nexus.govern.trust.version()
    nexus.govern.trust.set("C-3", 0.9)
    assert nexus.govern.trust.version() == version
    nexus.govern.trust.set("C-3", 0.4)
    assert [(record.actor, record.value) for record in nexus.govern.trust.list()] == [("C-1", 0.4)]


def test_setting_the_same_trust_again_changes_nothing() -> None:
    nexus = opened()
    nexus.govern.trust.set("C-1", 0.9)
    nexus.govern.trust.set({"id": "C-1"}, 0.9)
    assert (nexus.govern.trust.version(), nexus.space_seq) == ("1", 2)


@pytest.mark.parametrize(
    ("actor", "value", "code"),
    [
        ("C-9", 0.5, "NotFoundOrNotVisible"),
        ("C-1", 1.5, "ConstraintViolation"),
        ("C-1", True, "TypeMismatch"),
        ("P-1", 1, "NotFoundOrNotVisible"),
    ],
)
def test_trust_that_says_nothing_is_refused(actor: str, value: Any, code: str) -> None:
    assert code_of(opened().govern.trust.set, actor, value) == code


def test_describe_trust_shows_the_records() -> None:
    nexus = opened()
    nexus.govern.trust.set("C-2", 0.25, note="often wrong")
    assert nexus.query("DESCRIBE TRUST").one() == {
        "trust_version": "1",
        "snapshot_seq": 2,
        "records": [{"actor": {"id": "C-2"}, "value": 0.25, "note": "often wrong"}],
    }
    assert nexus.query('DESCRIBE TRUST "C-1"').one()["records"] == []
