"""Skill, SkillRevision, trials and verdicts (Profile §5.8, §14; Validated Learning §2-§6)."""

import copy
import hashlib
import json
from typing import Any

import pytest

import kipql
from kipql import KipError, Nexus, Receipt

NOW = "2026-09-01T00:00:00.000Z"
RULE, PARAMETERS, OTHER = ("sha256:" + digit * 64 for digit in "abc")


def behavior(procedure: str = "dry-run first", **rest: Any) -> dict[str, Any]:
    fields = {"task_family": "deploy", "procedure": procedure, **rest}
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {**fields, "behavior_digest": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"}


SKILL = """MUTATE {
  CREATE CONCEPT ?s { TYPE "Skill" NAME "Deploy"
    SET ATTRIBUTES {skill_class: "workflow", summary: "s", status: :status}
    SET FACET "MnemonicState" {utility: 0.5}
    SET STRUCTURAL { ("current_revision", ?r) } }
  CREATE CONCEPT ?r { TYPE "SkillRevision" SET ATTRIBUTES :behavior SET STRUCTURAL { ("revision_of", ?s) } }
}"""


def made() -> Nexus:
    """C-1 the Skill, proposed; C-2 its revision."""
    nexus = kipql.open()
    create(nexus)
    return nexus


def create(nexus: Nexus, status: str = "proposed", given: dict[str, Any] | None = None) -> Receipt:
    text = SKILL.replace(":behavior", _object(given or behavior()))
    return nexus.execute(text, {"status": status})


def _object(value: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{name}: {json.dumps(each)}" for name, each in value.items()) + "}"


def refused(nexus: Nexus, call: Any) -> str:
    before = nexus.digest()
    with pytest.raises(KipError) as caught:
        call()
    assert nexus.digest() == before
    return caught.value.code


# --- creation -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["trialed", "adopted", "revoked"])
def test_a_skill_is_created_proposed(status: str) -> None:
    nexus = kipql.open()
    assert refused(nexus, lambda: create(nexus, status)) == "ConstraintViolation"


def test_the_digest_is_that_of_the_behaviour() -> None:
    nexus = kipql.open()
    wrong = {**behavior(), "procedure": "just ship it"}
    assert refused(nexus, lambda: create(nexus, given=wrong)) == "ConstraintViolation"
    create(nexus, given=behavior(["step one", {"é": 1.5}], recovery={"b": 1, "a": [True, None]}))


def test_a_skill_and_its_revision_name_each_other() -> None:
    nexus = made()
    text = """CREATE CONCEPT ?s { TYPE "Skill"
      SET ATTRIBUTES {skill_class: "workflow", summary: "s", status: "proposed"}
      SET STRUCTURAL { ("current_revision", "C-2") } }"""
    assert refused(nexus, lambda: nexus.execute(text)) == "ConstraintViolation"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('UPDATE "C-2" SET ATTRIBUTES {procedure: "ship"}', "ConstraintViolation"),
        ('UPDATE "C-2" SET ATTRIBUTES {recovery: "none"}', "ConstraintViolation"),
        ('UPDATE "C-1" SET ATTRIBUTES {procedure: "ship"}', "ConstraintViolation"),
        ('UPDATE "C-1" UNSET STRUCTURAL { ("current_revision", "C-2") } EXPECT VERSION 1', "ConstraintViolation"),
        ('UPDATE "C-1" SET ATTRIBUTES {status: "validated"}', "ConstraintViolation"),
        ('UPDATE "C-1" SET ATTRIBUTES {status: "revoked"}', "VersionConflict"),
        ('UPDATE "C-1" SET ATTRIBUTES {status: "revoked"} EXPECT VERSION 1', "ConstraintViolation"),
        ('UPDATE "C-1" SET ATTRIBUTES {status: "revoked"} EXPECT VERSION 9', "VersionConflict"),
        ('UPDATE "C-1" SET FACET "GradingState" {success_count: 9}', "ConstraintViolation"),
        ('UPSERT CONCEPT ?s { MATCH {id: "C-1"} SET ATTRIBUTES {status: "adopted"} }', "VersionConflict"),
    ],
)
def test_what_nothing_entitles_to(text: str, code: str) -> None:
    nexus = made()
    assert refused(nexus, lambda: nexus.execute(text)) == code


def test_annotations_and_signals_move_freely() -> None:
    nexus = made()
    nexus.execute('UPDATE "C-1" SET ATTRIBUTES {summary: "better words"} SET FACET "MnemonicState" {utility: 0.7}')
    assert nexus.query('FIND(?s.attributes.status) WHERE { ?s {type: "Skill"} }').scalar() == "proposed"


# --- trials, attempts, outcomes -----------------------------------------------------------------------


def basis(nexus: Nexus) -> dict[str, Any]:
    found: dict[str, Any] = nexus.query('FIND(?b.basis) WHERE { ?b BELIEF SLOT ("C-1", "same_as") }').scalar()
    return found


def pin(digest: str) -> dict[str, str]:
    return {"artifact_ref": "artifact:x", "content_digest": digest}


def trial(nexus: Nexus, revision: str = "C-2", **changes: Any) -> str:
    """Open a trial and answer its id."""
    record = {
        "revision_refs": [revision],
        "basis": basis(nexus),
        "rule": pin(RULE),
        "parameters": pin(PARAMETERS),
        "baseline_attempt_refs": [],
        "baseline_outcome_refs": [],
        "comparability": {
            "method": "paired",
            "environment_digest": OTHER,
            "strata_weights": {},
            "metric": "health",
            "minimum_effect": 0,
            "uncertainty_rule": "r",
            "missingness_policy": "m",
            "observer_control_digest": OTHER,
            "sampling_unit": "attempt",
            "correlation_policy": "none",
        },
        "quota": 2,
        "observation_window": "1h",
        "replay_artifact": pin(OTHER),
        "evaluation_policy": {"id": "p", "version": "1", "content_digest": OTHER},
        **changes,
    }
    return activity(nexus, "trial_open", "TrialRecord", record, [revision])


def activity(
    nexus: Nexus, kind: str, facet: str | None, record: Any, inputs: list[str], outputs: list[str] | None = None
) -> str:
    ends = [f'("inputs", "{each}")' for each in inputs] + [f'("outputs", "{each}")' for each in outputs or ()]
    members = ", ".join(f"{name}: :{name}" for name in record)
    setting = f'SET FACET "{facet}" {{{members}}}' if facet else ""
    text = f"""CREATE ACTIVITY ?x {{ SET FIELDS {{activity_class: "{kind}", status: "completed"}} {setting}
      {f"SET STRUCTURAL {{{' '.join(ends)}}}" if ends else ""} }}"""
    return str(nexus.execute(text, record).handles["x"])


def attempt(nexus: Nexus, trial_ref: str | None, number: int, revision: str = "C-2") -> str:
    decision = activity(
        nexus,
        "action_gate",
        "DecisionRecord",
        {
            "decision": "act",
            "retrieved_refs": [],
            "used_refs": [],
            "applied_revisions": [revision],
            "basis": basis(nexus),
        },
        [revision],
    )
    return activity(nexus, "action_attempt", "AttemptRecord", attempt_record(decision, trial_ref, number), [decision])


def attempt_record(decision: str, trial_ref: str | None, number: int) -> dict[str, Any]:
    return {
        "attempt_id": f"attempt-{number}",
        "decision_ref": decision,
        "applied_revisions": ["C-2"],
        "trial_ref": trial_ref,
        "context": {},
        "environment_digest": OTHER,
        "tool_versions": {},
        "selection_policy": pin(OTHER),
        "preconditions_satisfied": "yes",
        "started_at": NOW,
    }


def outcome(nexus: Nexus, graded: str, status: str = "success", by: str = "instrument", **changes: Any) -> str:
    record = {
        "task_family": "deploy",
        "attempt_ref": graded,
        "metric": "health",
        "window": "1h",
        "terminal": True,
        "observation_key": f"probe:{graded}:{status}",
        "observer_config_digest": OTHER,
        "outcome_status": status,
        **changes,
    }
    observer = nexus.as_principal(by)
    members = ", ".join(f"{name}: :{name}" for name in record)
    text = f"""CREATE EVIDENCE ?e {{ SET FIELDS {{evidence_class: "outcome", payload: "seen"}}
      SET FACET "OutcomeRecord" {{{members}}} }}"""
    made_ref = str(observer.execute(text, record).handles["e"])
    activity(observer, "outcome_observation", None, {}, [graded], [made_ref])
    return made_ref


def verdict(nexus: Nexus, record: dict[str, Any], inputs: list[str], update: str) -> Receipt:
    """Commit a verdict with the guarded UPDATE of the Skill."""
    ends = " ".join([*(f'("inputs", "{each}")' for each in inputs), '("outputs", "C-1")'])
    members = ", ".join(f"{name}: :{name}" for name in record)
    text = f"""MUTATE {{
      CREATE ACTIVITY ?v {{ SET FIELDS {{activity_class: "lifecycle_verdict", status: "completed"}}
        SET FACET "EvaluationRecord" {{{members}}} SET STRUCTURAL {{{ends}}} }}
      {update}
    }}"""
    return nexus.execute(text, record)


def evaluation(move: str, trial_ref: str | None, **changes: Any) -> dict[str, Any]:
    old, new = move.split()
    return {
        "trial_ref": trial_ref,
        "revision_refs": ["C-2"],
        "from_status": old,
        "to_status": new,
        "rule_digest": RULE,
        "parameters_digest": PARAMETERS,
        "cutoff": NOW,
        "attempt_refs": [],
        "outcome_refs": [],
        "excluded_samples": [],
        "missing_attempt_refs": [],
        "comparison": {"status": "insufficient", "effect": None, "uncertainty": {}},
        "replay_artifact": pin(OTHER),
        **changes,
    }


GUARDS = "EXPECT VERSION {} OF ATTRIBUTES EXPECT VERSION {} OF STRUCTURAL"


def planes(nexus: Nexus) -> str:
    found = nexus.query('FIND(?s._system.plane_versions) WHERE { ?s {type: "Skill"} }').scalar()
    return GUARDS.format(found["attributes"], found["structural"])


def standing(nexus: Nexus) -> str:
    return str(nexus.query('FIND(?s.attributes.status) WHERE { ?s {type: "Skill"} }').scalar())


def move_to(nexus: Nexus, status: str, *more: str) -> str:
    edges = " ".join(['("current_evaluation", ?v)', *more])
    return f'UPDATE "C-1" SET ATTRIBUTES {{status: "{status}"}} SET STRUCTURAL {{{edges}}} {planes(nexus)}'


def trialed() -> tuple[Nexus, str]:
    """A Skill in its first trial, and the trial's id."""
    nexus = made()
    opened = trial(nexus)
    update = move_to(nexus, "trialed", f'("current_trial", "{opened}")')
    verdict(nexus, evaluation("proposed trialed", opened), ["C-2", opened], update)
    return nexus, opened


def sampled(statuses: tuple[str, ...] = ("success", "success")) -> tuple[Nexus, str, list[str], list[str]]:
    nexus, opened = trialed()
    attempts = [attempt(nexus, opened, number) for number in range(len(statuses))]
    outcomes = [outcome(nexus, ref, status) for ref, status in zip(attempts, statuses, strict=True)]
    return nexus, opened, attempts, outcomes


def promote(nexus: Nexus, opened: str, attempts: list[str], outcomes: list[str], **changes: Any) -> Receipt:
    record = evaluation(
        "trialed adopted",
        opened,
        attempt_refs=attempts,
        outcome_refs=outcomes,
        comparison={"status": "improved", "effect": 0.2, "uncertainty": {}},
    )
    record.update(changes)
    return verdict(nexus, record, ["C-2", opened, *outcomes], move_to(nexus, "adopted"))


def test_a_trial_opens_by_a_verdict_that_names_it() -> None:
    nexus, opened = trialed()
    assert standing(nexus) == "trialed"
    grading = nexus.query('FIND(?s.facets["GradingState"]) WHERE { ?s {type: "Skill"} }').scalar()
    assert grading["graded_count"] == 0 and grading["revision_ref"] == "C-2"
    assert opened == "X-1"


def test_adoption_is_reachable_and_its_grades_are_a_view() -> None:
    nexus, opened, attempts, outcomes = sampled()
    promote(nexus, opened, attempts, outcomes)
    assert standing(nexus) == "adopted"
    text = 'FIND(?s.facets["GradingState"]) WHERE { ?s {type: "Skill"} }'
    grading = nexus.query(text).scalar()
    assert (grading["success_count"], grading["failure_count"], grading["graded_count"]) == (2, 0, 2)
    whole = nexus.query('FIND(?s) WHERE { ?s {type: "Skill"} }').scalar()
    assert not any("GradingState" in ref for ref in whole["facets"])


WRONG: dict[str, dict[str, Any]] = {
    "a rule that the trial did not pin": {"rule_digest": OTHER},
    "parameters that the trial did not pin": {"parameters_digest": OTHER},
    "another move": {"from_status": "proposed", "to_status": "trialed"},
    "one attempt": {"attempt_refs": ["only"]},
    "no improvement": {"comparison": {"status": "not_improved", "effect": 0, "uncertainty": {}}},
    "another revision": {"revision_refs": ["C-1"]},
    "an attempt left out": {"leave_out": True},
}


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG)
def test_a_promotion_that_does_not_hold(changes: dict[str, Any]) -> None:
    nexus, opened, attempts, outcomes = sampled(("success", "success", "success"))
    changes = copy.deepcopy(changes)
    if changes.pop("leave_out", False):
        attempts, outcomes = attempts[:2], outcomes[:2]
    if changes.get("attempt_refs"):
        changes["attempt_refs"] = attempts[:1]
    call = lambda: promote(nexus, opened, attempts, outcomes, **changes)  # noqa: E731
    assert refused(nexus, call) == "ConstraintViolation"
    assert standing(nexus) == "trialed"


def test_every_enrolled_attempt_is_accounted_for() -> None:
    nexus, opened, attempts, outcomes = sampled()
    lost = attempt(nexus, opened, 7)
    assert refused(nexus, lambda: promote(nexus, opened, attempts, outcomes)) == "ConstraintViolation"
    promote(nexus, opened, attempts, outcomes, missing_attempt_refs=[lost])
    assert standing(nexus) == "adopted"


def test_observations_of_one_attempt_are_one_sample() -> None:
    nexus, opened, attempts, outcomes = sampled(("success",))
    outcomes.append(outcome(nexus, attempts[0], observation_key="probe:again"))
    pair = [*attempts, attempts[0]]
    assert refused(nexus, lambda: promote(nexus, opened, pair, outcomes)) == "ConstraintViolation"
    other = attempt(nexus, opened, 5)
    assert refused(nexus, lambda: promote(nexus, opened, [*attempts, other], outcomes)) == "ConstraintViolation"


def test_conflicting_terminal_outcomes_count_for_nothing() -> None:
    nexus, opened, attempts, outcomes = sampled()
    outcomes.append(outcome(nexus, attempts[0], "failure"))
    assert refused(nexus, lambda: promote(nexus, opened, attempts, outcomes)) == "ConstraintViolation"


@pytest.mark.parametrize(
    "changes",
    [{"by": "kip:owner"}, {"terminal": False}, {"metric": "speed"}, {"attempt_ref": None}],
    ids=["self-graded", "intermediate", "another metric", "unlinked"],
)
def test_an_outcome_that_can_not_grade(changes: dict[str, Any]) -> None:
    nexus, opened, attempts, outcomes = sampled(("success",))
    attempts.append(attempt(nexus, opened, 3))
    by = changes.pop("by", "instrument")
    outcomes.append(outcome(nexus, attempts[1], by=by, **changes))
    assert refused(nexus, lambda: promote(nexus, opened, attempts, outcomes)) == "ConstraintViolation"


def test_an_attempt_of_another_trial_does_not_count() -> None:
    nexus, opened, attempts, outcomes = sampled(("success",))
    attempts.append(attempt(nexus, None, 3))
    outcomes.append(outcome(nexus, attempts[1]))
    assert refused(nexus, lambda: promote(nexus, opened, attempts, outcomes)) == "ConstraintViolation"


@pytest.mark.parametrize("guard", ["", "EXPECT VERSION {} OF ATTRIBUTES", "EXPECT VERSION {} OF STRUCTURAL"])
def test_every_plane_of_a_verdict_is_guarded(guard: str) -> None:
    nexus = made()
    opened = trial(nexus)
    update = move_to(nexus, "trialed", f'("current_trial", "{opened}")').replace(planes(nexus), guard.format(1))
    record = evaluation("proposed trialed", opened)
    assert refused(nexus, lambda: verdict(nexus, record, ["C-2", opened], update)) == "VersionConflict"


def test_a_signal_written_beside_a_move_is_guarded_too() -> None:
    nexus = made()
    opened = trial(nexus)
    update = move_to(nexus, "trialed", f'("current_trial", "{opened}")')
    signalled = update.replace("SET STRUCTURAL", 'SET FACET "MnemonicState" {utility: 0.1} SET STRUCTURAL')
    record = evaluation("proposed trialed", opened)
    assert refused(nexus, lambda: verdict(nexus, record, ["C-2", opened], signalled)) == "VersionConflict"
    guarded = f'{signalled} EXPECT VERSION 1 OF FACET "MnemonicState"'
    verdict(nexus, record, ["C-2", opened], guarded)


def test_withdrawal_needs_no_outcome_and_adoption_can_be_lost() -> None:
    nexus = made()
    withdrawn = {"status": "withdrawal", "effect": None, "uncertainty": {}}
    record = evaluation("proposed revoked", None, comparison=withdrawn)
    verdict(nexus, record, ["C-2"], move_to(nexus, "revoked"))
    assert standing(nexus) == "revoked"
    nexus, opened, attempts, outcomes = sampled()
    promote(nexus, opened, attempts, outcomes)
    verdict(nexus, evaluation("adopted revoked", opened), ["C-2", opened], move_to(nexus, "revoked"))
    assert standing(nexus) == "revoked"


def test_only_trialed_becomes_adopted_and_a_return_needs_a_new_trial() -> None:
    nexus, opened, _attempts, _outcomes = sampled()
    verdict(nexus, evaluation("trialed revoked", opened), ["C-2", opened], move_to(nexus, "revoked"))
    back = evaluation("revoked trialed", opened)
    call = lambda: verdict(nexus, back, ["C-2", opened], move_to(nexus, "trialed"))  # noqa: E731
    assert refused(nexus, call) == "ConstraintViolation"
    second = trial(nexus)
    update = move_to(nexus, "trialed", f'("current_trial", "{second}")')
    verdict(nexus, evaluation("revoked trialed", second), ["C-2", second], update)
    assert standing(nexus) == "trialed"


def test_monitoring_keeps_the_status_and_refreshes_the_evaluation() -> None:
    nexus, opened, attempts, outcomes = sampled()
    promote(nexus, opened, attempts, outcomes)
    update = f'UPDATE "C-1" SET STRUCTURAL {{("current_evaluation", ?v)}} {planes(nexus)}'
    verdict(nexus, evaluation("adopted adopted", opened), ["C-2", opened], update)
    assert standing(nexus) == "adopted"
    grading = nexus.query('FIND(?s.facets["GradingState"].graded_count) WHERE { ?s {type: "Skill"} }').scalar()
    assert grading == 0


def test_an_evaluation_is_not_taken_from_before() -> None:
    nexus = made()
    opened = trial(nexus)
    record = evaluation("proposed trialed", opened)
    old = activity(nexus, "lifecycle_verdict", "EvaluationRecord", record, ["C-2", opened], ["C-1"])
    update = move_to(nexus, "trialed", f'("current_trial", "{opened}")').replace("?v", f'"{old}"')
    assert refused(nexus, lambda: nexus.execute(update)) == "ConstraintViolation"


# --- selecting a revision -----------------------------------------------------------------------------


def test_another_revision_starts_over_and_the_old_verdict_stays() -> None:
    nexus, opened, attempts, outcomes = sampled()
    promote(nexus, opened, attempts, outcomes)
    before = nexus.query('FIND(?v) WHERE { ?v ACTIVITY {activity_class: "lifecycle_verdict"} }').rows
    new = f"""CREATE CONCEPT ?n {{ TYPE "SkillRevision" SET ATTRIBUTES {_object(behavior("canary"))}
      SET STRUCTURAL {{ ("revision_of", "C-1") }} }}"""
    keep = f'UPDATE "C-1" SET STRUCTURAL {{("current_revision", ?n)}} {planes(nexus)}'
    assert refused(nexus, lambda: nexus.execute(f"MUTATE {{ {new} {keep} }}")) == "ConstraintViolation"
    held = nexus.query('FIND(?s.structural) WHERE { ?s {type: "Skill"} }').scalar()
    verdict_ref = next(edges[0]["id"] for ref, edges in held.items() if ref.endswith("/current_evaluation"))
    select = f"""UPDATE "C-1" SET ATTRIBUTES {{status: "proposed"}} SET STRUCTURAL {{("current_revision", ?n)}}
      UNSET STRUCTURAL {{("current_trial", "{opened}") ("current_evaluation", "{verdict_ref}")}} {planes(nexus)}"""
    unguarded = select.replace(planes(nexus), "")
    assert refused(nexus, lambda: nexus.execute(f"MUTATE {{ {new} {unguarded} }}")) == "VersionConflict"
    nexus.execute(f"MUTATE {{ {new} {select} }}")
    assert standing(nexus) == "proposed"
    assert nexus.query('FIND(?s.facets["GradingState"]) WHERE { ?s {type: "Skill"} }').scalar() is None
    assert nexus.query('FIND(?v) WHERE { ?v ACTIVITY {activity_class: "lifecycle_verdict"} }').rows == before


def test_a_revision_stays_with_its_skill() -> None:
    nexus = made()
    create(nexus, given=behavior("other"))
    assert refused(nexus, lambda: nexus.execute('UPDATE "C-2" SET STRUCTURAL {("revision_of", "C-3")}')) == (
        "ConstraintViolation"
    )


# --- process records ----------------------------------------------------------------------------------


def test_a_decision_names_in_its_inputs_what_it_applied() -> None:
    nexus = made()
    record = {
        "decision": "act",
        "retrieved_refs": ["C-2"],
        "used_refs": [],
        "applied_revisions": ["C-2"],
        "basis": basis(nexus),
    }
    call = lambda: activity(nexus, "action_gate", "DecisionRecord", record, ["C-1"])  # noqa: E731
    assert refused(nexus, call) == "ConstraintViolation"
    activity(nexus, "action_gate", "DecisionRecord", record, ["C-2"])


def test_an_attempt_id_is_one_attempt_of_the_space() -> None:
    nexus = made()
    first = attempt(nexus, None, 1)
    decision = "X-1"
    call = lambda: activity(  # noqa: E731
        nexus, "action_attempt", "AttemptRecord", attempt_record(decision, None, 1), [decision]
    )
    assert refused(nexus, call) == "ConstraintViolation"
    stray = attempt_record(decision, None, 2)
    call = lambda: activity(nexus, "action_attempt", "AttemptRecord", stray, ["C-2"])  # noqa: E731
    assert refused(nexus, call) == "ConstraintViolation"
    assert first == "X-2"


@pytest.mark.parametrize("status", ["running", "completed"])
def test_a_record_belongs_on_its_class_and_at_its_end(status: str) -> None:
    nexus = made()
    record = {"decision": "act", "retrieved_refs": [], "used_refs": [], "applied_revisions": [], "basis": basis(nexus)}
    members = ", ".join(f"{name}: :{name}" for name in record)
    kind = "action_gate" if status == "running" else "reflection"
    text = f"""CREATE ACTIVITY ?x {{ SET FIELDS {{activity_class: "{kind}", status: "{status}"}}
      SET FACET "DecisionRecord" {{{members}}} }}"""
    assert refused(nexus, lambda: nexus.execute(text, record)) == "ConstraintViolation"


def test_a_terminal_record_does_not_change() -> None:
    nexus = made()
    record = {"decision": "act", "retrieved_refs": [], "used_refs": [], "applied_revisions": [], "basis": basis(nexus)}
    activity(nexus, "action_gate", "DecisionRecord", record, [])
    for text in (
        'UPDATE "X-1" SET FACET "DecisionRecord" {decision: "ask"}',
        'UPDATE "X-1" UNSET FACET "DecisionRecord" {decision}',
    ):
        assert refused(nexus, lambda text=text: nexus.execute(text)) == "ConstraintViolation"
    added = 'UPDATE "X-1" SET FACET "DecisionRecord" {rationale: "late"}'
    assert refused(nexus, lambda: nexus.execute(added)) == "ImmutableField"


# --- certified planes (§57.6) -------------------------------------------------------------------------

DERIVE = """MUTATE {
  CREATE CONCEPT ?i { TYPE "Insight" SET ATTRIBUTES {summary: "s"} SET FACET "MnemonicState" {salience: 0.1} }
  CREATE ACTIVITY ?x { SET FIELDS {activity_class: "semantic_consolidation", status: "completed"}
    SET FACET "DependencyBasis" {basis_seq: :seq, policy_basis: :basis,
      groups: [{role: "all_of", pins: [{id: "C-1", version: :version}]}]}
    SET STRUCTURAL { ("inputs", "C-1") ("outputs", ?i) } }
}"""


def test_a_derivation_records_the_planes_it_certifies() -> None:
    nexus = made()
    nexus.execute(DERIVE, {"seq": 1, "basis": basis(nexus), "version": 1})
    text = "FIND(?x._system.output_plane_versions, ?x._system.output_versions) WHERE { ?x ACTIVITY {} }"
    assert nexus.query(text).rows == [({"C-3": {"attributes": 1, "structural": 0}}, {"C-3": 1})]


@pytest.mark.parametrize("given", [{"version": 2}, {"seq": 9}], ids=str)
def test_a_pin_names_what_was_there_to_be_read(given: dict[str, int]) -> None:
    nexus = made()
    values = {"seq": 1, "version": 1, "basis": basis(nexus), **given}
    assert refused(nexus, lambda: nexus.execute(DERIVE, values)) == "ConstraintViolation"
