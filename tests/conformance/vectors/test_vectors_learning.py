"""Scenarios of validated learning: revisions, independent attempts, comparisons, replays."""

from typing import Any

from tests.conformance.vectors.learning import (
    IMPROVED,
    INSUFFICIENT,
    OTHER,
    OUTCOME,
    STARTED,
    Learner,
    behavior,
    learner,
    members,
    outcome_of,
    pin,
)
from tests.conformance.vectors.registry import observe
from tests.conformance.vectors.scene import accepted, refused


def test_mem_002_a_changed_behaviour_is_another_revision_and_inherits_nothing() -> None:
    learning = learner()
    given, skill, revision = learning.given, learning.skill, learning.revision
    trial, verdict = learning.adopt()
    old = given.element(verdict)
    assert learning.grading["success_count"] == 2
    rejected = [
        given.refused(text)
        for text in (
            f'UPDATE "{revision}" SET ATTRIBUTES {{procedure: "just ship it"}}',
            f'UPDATE "{skill}" SET ATTRIBUTES {{procedure: "just ship it"}}',
            f'UPSERT CONCEPT ?r {{ MATCH {{id: "{revision}"}} SET ATTRIBUTES {{procedure: "just ship it"}} }}',
            f'UPSERT CONCEPT ?s {{ MATCH {{id: "{skill}"}} SET ATTRIBUTES {{procedure: "just ship it"}} }}',
        )
    ]
    # Words and signals are no behaviour: they leave the revision and its standing alone.
    given.do(
        f'UPDATE "{skill}" SET ATTRIBUTES {{summary: "better words"}} SET FACET "mem/MnemonicState" {{utility: 0.9}}'
    )
    assert (learning.status, given.targets(skill, "current_revision")) == ("adopted", [{"id": revision}])

    content = behavior("canary, then migrate")
    new = given.do(
        f"""CREATE CONCEPT ?r {{ TYPE "mem/SkillRevision" SET ATTRIBUTES {members(content)}
          SET STRUCTURAL {{ ("mem/revision_of", "{skill}") }} }}""",
        **content,
    )["r"]
    unguarded = f'UPDATE "{skill}" SET STRUCTURAL {{ ("mem/current_revision", "{new}") }}'
    assert given.refused(unguarded) == "VersionConflict"
    learning.select(new, current_trial=trial, current_evaluation=verdict)
    assert learning.grading is None
    # What the old revision was entitled to is not the new one's.
    stale = learning.evaluation("proposed -> trialed", trial)
    before = given.nexus.digest()
    transferred = accepted(learning.verdict, stale, f'("mem/current_trial", "{trial}")')
    assert given.nexus.digest() == before
    observe(
        "MEM-002",
        behavior_write_rejected=set(rejected) <= {"ImmutableField", "ConstraintViolation"},
        current_status=learning.status,
        old_verdict_unchanged=given.element(verdict) == old,
        authority_transferred=transferred,
    )


def test_mem_003_two_observations_of_one_attempt_are_one_sample() -> None:
    learning = learner()
    given = learning.given
    trial = learning.enter_trial()
    one = learning.attempt(trial, "one")
    seen = [learning.outcome(one, key=f"probe-{number}") for number in (1, 2)]
    assert learning.refused(learning.verdict, learning.promotion(trial, [one], seen)) == "ConstraintViolation"
    samples = _samples(learning, trial, [one], seen)

    count = given.nexus.stats()["elements"]["evidence"]
    again = refused(learning.outcome, one, key="probe-1", status="failure")
    assert again.code == "ClientKeyConflict"
    repeated = given.as_("probe").write(OUTCOME, **outcome_of(one, "probe-1"))
    assert repeated.status == "no_effect"
    added = given.nexus.stats()["elements"]["evidence"] != count

    # Terminal observations that contradict one another decide nothing, and neither do these:
    two = learning.attempt(trial, "two")
    split = [learning.outcome(two, "success", key="a"), learning.outcome(two, "failure", key="b")]
    intermediate = learning.outcome(two, key="c", terminal=False)
    graded_by_itself = learning.outcome(two, key="d", by="kip:owner")
    for outcomes in ([*seen, *split], [*seen, intermediate], [*seen, graded_by_itself]):
        record = learning.promotion(trial, [one, two], outcomes)
        assert learning.refused(learning.verdict, record) == "ConstraintViolation"
    adopted = learning.status == "adopted"

    three = learning.attempt(trial, "three")
    record = learning.promotion(
        trial,
        [one, three],
        [*seen, learning.outcome(three)],
        excluded_samples=[{"ref": two, "reason": "contradictory"}],
    )
    learning.verdict(record)
    assert learning.status == "adopted" and learning.grading["graded_count"] == 2
    observe("MEM-003", independent_samples=samples, adopted=adopted, duplicate_replay_added_evidence=added)


def _samples(learning: Learner, trial: str, attempts: list[str], outcomes: list[str]) -> int:
    """How many samples the engine counts: those of a verdict that stays in trial, as the grading shows them."""
    record = learning.evaluation("trialed -> trialed", trial, attempt_refs=attempts, outcome_refs=outcomes)
    learning.verdict(record)
    return int(learning.grading["graded_count"])


def test_mem_004_only_an_improvement_over_a_comparable_baseline_promotes() -> None:
    learning = learner()
    trial = learning.enter_trial()
    attempts = [learning.attempt(trial, name) for name in ("one", "two", "three")]
    outcomes = [learning.outcome(each) for each in attempts[:2]]
    # Within each stratum it got worse (90 to 80, 40 to 30) though the mixture rose (45 to 75): the pinned weights of
    # the trial say what the rule returns, and the engine holds the verdict to what it returned.
    before, after = {"small": 90, "large": 40}, {"small": 80, "large": 30}
    weights = learning.given.facet(trial, "TrialRecord")["comparability"]["strata_weights"]
    results = {}
    for name, strata in {"comparison": after, "missing_stratum": {"small": 80}}.items():
        comparison = _stratified(weights, before, strata)
        results[name] = comparison["status"]
        record = learning.promotion(
            trial, attempts[:2], outcomes, missing_attempt_refs=attempts[2:], comparison=comparison
        )
        assert learning.refused(learning.verdict, record) == "ConstraintViolation"
    # Every enrolled attempt is accounted for, and what was not enrolled is no control.
    lost = learning.promotion(trial, attempts[:2], outcomes)
    assert learning.refused(learning.verdict, lost) == "ConstraintViolation"
    stray = learning.attempt(None, "stray")
    foreign = learning.promotion(
        trial, [*attempts[:2], stray], [*outcomes, learning.outcome(stray)], missing_attempt_refs=attempts[2:]
    )
    assert learning.refused(learning.verdict, foreign) == "ConstraintViolation"
    observe("MEM-004", **results, adopted=learning.status == "adopted")
    learning.verdict(learning.promotion(trial, attempts[:2], outcomes, missing_attempt_refs=attempts[2:]))
    assert learning.status == "adopted"


def _stratified(weights: dict[str, float], before: dict[str, int], after: dict[str, int]) -> dict[str, Any]:
    """The fixed-weight rule of the trial: what the Brain computes and the EvaluationRecord says."""
    if set(weights) - set(after):
        return INSUFFICIENT
    effect = sum(weight * (after[name] - before[name]) for name, weight in weights.items())
    return {"status": "improved" if effect > 0 else "not_improved", "effect": effect, "uncertainty": {}}


def test_mem_005_a_new_trial_leaves_the_old_one_and_its_evaluation_as_they_were() -> None:
    learning = learner()
    given = learning.given
    first, verdict = learning.adopt()
    kept = {id_: given.element(id_) for id_ in (first, verdict)}
    late = learning.attempt(first, "late")
    second = learning.trial()
    learning.verdict(learning.evaluation("adopted -> trialed", second), f'("mem/current_trial", "{second}")')
    seen = learning.outcome(late)
    fresh = learning.attempt(second, "fresh")
    record = learning.promotion(second, [late, fresh], [seen, learning.outcome(fresh)])
    assert learning.refused(learning.verdict, record) == "ConstraintViolation"
    samples = _samples(learning, second, [fresh], [learning.outcome(fresh, key="again")]) - 1

    # The old evaluation is computed again from what it retained, not from where the Skill points now.
    evaluation = given.facet(verdict, "EvaluationRecord")
    trial = given.facet(evaluation["trial_ref"], "TrialRecord")
    outcomes = evaluation["outcome_refs"]
    graded = [given.facet(each, "OutcomeRecord")["outcome_status"] for each in outcomes]
    replayed = (evaluation["rule_digest"], evaluation["parameters_digest"], evaluation["cutoff"], graded)
    matches = replayed == (
        trial["rule"]["content_digest"],
        trial["parameters"]["content_digest"],
        STARTED,
        ["success"] * 2,
    )
    # Correcting an outcome afterwards changes new aggregates only; erased inputs are no longer there to replay.
    corrected = given.do(
        'MUTATE { CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "outcome", payload: "misread"} } '
        'TRANSITION :old TO "corrected" BY ?e }',
        old=evaluation["outcome_refs"][0],
    )
    again = learning.promotion(first, evaluation["attempt_refs"], evaluation["outcome_refs"])
    assert learning.refused(learning.verdict, again) == "ConstraintViolation" and corrected
    given.do('PURGE PAYLOAD :e CONFIRM "PURGE"', e=evaluation["outcome_refs"][1])
    assert given.element(evaluation["outcome_refs"][1])["payload"] == {"mode": "purged"}
    unchanged = {id_: given.element(id_) for id_ in kept} == kept
    assert unchanged
    observe(
        "MEM-005",
        old_replay_matches=matches,
        late_samples_in_new_trial=samples,
        old_trial_unchanged=given.element(first) == kept[first],
    )


def test_mem_019_two_brains_may_weigh_differently_and_neither_may_claim_what_was_not_compared() -> None:
    outcomes = {}
    for brain, weights in {"cautious": {"small": 0.9, "large": 0.1}, "bold": {"small": 0.1, "large": 0.9}}.items():
        learning = learner()
        comparability = {
            **learning.trial_record()["comparability"],
            "strata_weights": weights,
            "minimum_effect": weights["small"],
        }
        policy = {"id": brain, "version": "1", "content_digest": pin(OTHER)["content_digest"]}
        trial = learning.enter_trial(comparability=comparability, evaluation_policy=policy)
        attempts = [learning.attempt(trial, name) for name in ("one", "two")]
        seen = [learning.outcome(each) for each in attempts]
        failing = [
            learning.promotion(trial, attempts, seen, comparison={**IMPROVED, "status": status})
            for status in ("insufficient", "not_improved", "safety_failure")
        ]
        claims = {learning.refused(learning.verdict, record) for record in failing}
        assert claims == {"ConstraintViolation"}
        claimed = learning.status
        learning.verdict(learning.promotion(trial, attempts, seen))
        # Utility, however high, is no Grant.
        learning.given.do(f'UPDATE "{learning.skill}" SET FACET "mem/MnemonicState" {{utility: 1}}')
        learning.given.nexus.govern.grant("agent", "discover", "read")
        agent = learning.given.as_("agent")
        assert learning.refused(agent.do, 'CREATE CONCEPT ?c { TYPE "test/Theme" }') == "NotAuthorized"
        outcomes[brain] = (learning.status, claimed)
    observe(
        "MEM-019",
        alternative_policies_allowed={status for status, _ in outcomes.values()} == {"adopted"},
        unvalidated_improvement_claimed=any(claimed == "adopted" for _, claimed in outcomes.values()),
    )
