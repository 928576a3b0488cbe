"""A lifecycle verdict: the recorded evaluation that entitles a Skill to a move (Profile §14, Learning §4-§6).

What is checked is that the records agree: the Activity, its EvaluationRecord, the trial it names, and for a promotion
the independent attempts and instrument outcomes it selects. What the rule computes from them is the Brain's; its
digest is pinned by the trial before any outcome is seen.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.model import ACTIVITY, EVIDENCE, Activity, Concept, Evidence, element_id, kind_of, parse_id
from kipql.mutate.process import attempts, require_inputs
from kipql.store.computed import PROFILE, attempt_statuses, held

if TYPE_CHECKING:
    from kipql.store import Transaction, View

_PROMOTION = ("trialed", "adopted")


def check(tx: "Transaction", skill: int, new: Concept, old: Concept, evaluation: int) -> None:
    """Raise ConstraintViolation unless `evaluation` is a verdict of this transaction about exactly this move."""
    view = tx.view
    activity = view.record(evaluation) if kind_of(evaluation) == ACTIVITY else None
    record = held(view, activity, "EvaluationRecord") if isinstance(activity, Activity) else None
    if not isinstance(activity, Activity) or record is None or activity.activity_class != "lifecycle_verdict":
        raise _refused(f"{element_id(evaluation)} carries no EvaluationRecord")
    if tx.base.exists(evaluation) and view.record(evaluation).seq != tx.seq:
        raise _refused(f"{element_id(evaluation)} was committed before; a move commits with its own verdict")
    if skill not in {edge.target for edge in activity.outputs}:
        raise _refused(f"{element_id(skill)} is not among the outputs of its verdict")
    move = (old.attributes.get("status"), new.attributes.get("status"))
    if (record["from_status"], record["to_status"]) != move:
        said = f"{record['from_status']} to {record['to_status']}"
        raise _refused(f"the EvaluationRecord says {said}, the Skill moves {move[0]} to {move[1]}")
    revision = pointer(view, new, "current_revision")
    if revision is None or element_id(revision) not in record["revision_refs"]:
        raise _refused("the EvaluationRecord is not about the current revision")
    trial_ref = record["trial_ref"]
    require_inputs(
        activity,
        [*record["revision_refs"], *record["outcome_refs"], *([] if trial_ref is None else [trial_ref])],
        "an EvaluationRecord's",
    )
    _check_trial(view, new, old, revision, record, move)
    if move == _PROMOTION:
        _check_promotion(view, revision, record)


def trial_of(view: "View", trial: int, revision: int) -> Mapping[str, Any]:
    """The TrialRecord of a trial that is open for a revision. Raises ConstraintViolation."""
    activity = view.record(trial) if view.exists(trial) else None
    record = held(view, activity, "TrialRecord") if isinstance(activity, Activity) else None
    if record is None or not isinstance(activity, Activity) or activity.status != "completed":
        raise _refused(f"{element_id(trial)} is no completed trial_open with a TrialRecord")
    if element_id(revision) not in record["revision_refs"]:
        raise _refused(f"the trial {element_id(trial)} is not about {element_id(revision)}")
    return record


def _check_trial(
    view: "View", new: Concept, old: Concept, revision: int, record: Mapping[str, Any], move: tuple[Any, Any]
) -> None:
    """The trial that a move needs: a new one to enter `trialed`, the current one to be or stay `adopted`."""
    current, before = pointer(view, new, "current_trial"), pointer(view, old, "current_trial")
    if move[1] == "trialed" and move[0] != "trialed" and (current is None or current == before):
        raise _refused("a Skill enters trialed with a trial of its own in current_trial")
    if current is not None and current != before:
        trial_of(view, current, revision)
    if record["trial_ref"] is None:
        return
    if current is None or record["trial_ref"] != element_id(current):
        raise _refused(f"the EvaluationRecord is about the trial {record['trial_ref']}, current_trial is another")
    trial_of(view, current, revision)


# --- promotion ----------------------------------------------------------------------------------------


def _check_promotion(view: "View", revision: int, record: Mapping[str, Any]) -> None:
    """Independent attempts of this trial and revision, each graded by an instrument, as many as the trial asks."""
    trial_code = parse_id(record["trial_ref"])
    assert trial_code is not None  # the package requires it for `adopted`
    trial = trial_of(view, trial_code, revision)
    for name, pin in (("rule_digest", "rule"), ("parameters_digest", "parameters")):
        if record[name] != trial[pin]["content_digest"]:
            raise _refused(f"{name} is not the one that the trial pinned")
    enrolled = {
        element_id(code): code
        for code, activity in attempts(view)
        if (attempt := held(view, activity, "AttemptRecord")) and attempt["trial_ref"] == record["trial_ref"]
    }
    for ref in record["attempt_refs"]:
        _check_attempt(view, ref, enrolled, revision, trial_code)
    accounted = {*record["attempt_refs"], *record["missing_attempt_refs"]}
    accounted |= {sample["ref"] for sample in record["excluded_samples"]}
    if lost := sorted(enrolled.keys() - accounted):
        raise _refused(f"the enrolled attempt {lost[0]} is neither graded, excluded nor missing")
    for ref in record["outcome_refs"]:
        _check_outcome(view, ref, record["attempt_refs"], trial)
    graded = [ref for ref, status in attempt_statuses(view, record).items() if status != "unknown"]
    quota = max(2, int(trial["quota"]))
    if len(graded) < quota:
        raise _refused(f"{len(graded)} attempts have a terminal outcome; the trial asks for {quota}")


def _check_attempt(view: "View", ref: str, enrolled: Mapping[str, int], revision: int, trial: int) -> None:
    code = enrolled.get(ref)
    if code is None:
        raise _refused(f"{ref} is no attempt enrolled in this trial")
    attempt = held(view, view.record(code), "AttemptRecord")
    if attempt is None or element_id(revision) not in attempt["applied_revisions"]:
        raise _refused(f"the attempt {ref} did not apply {element_id(revision)}")
    if view.creation(code)[0] < view.creation(trial)[0]:
        raise _refused(f"the attempt {ref} was made before the trial opened")


def _check_outcome(view: "View", ref: str, attempt_refs: "list[str]", trial: Mapping[str, Any]) -> None:
    """An outcome that may grade: observed here by another Principal than the one that acted, and linked to it."""
    code = parse_id(ref)
    record = view.record(code) if code is not None and kind_of(code) == EVIDENCE and view.exists(code) else None
    outcome = held(view, record, "OutcomeRecord") if isinstance(record, Evidence) else None
    if outcome is None or not isinstance(record, Evidence) or code is None or record.evidence_class != "outcome":
        raise _refused(f"{ref} is no Outcome Evidence")
    if record.status != "active" or record.state != "active":
        raise _refused(f"the outcome {ref} was corrected or removed")
    if outcome["attempt_ref"] not in attempt_refs:
        raise _refused(f"the outcome {ref} grades none of the selected attempts")
    if outcome["metric"] != trial["comparability"]["metric"] or not outcome["terminal"]:
        raise _refused(f"the outcome {ref} is no terminal value of the trial's metric")
    attempt = parse_id(outcome["attempt_ref"])
    assert attempt is not None
    if record.origin.import_id is not None or record.origin.principal_id == view.record(attempt).origin.principal_id:
        raise _refused(f"the outcome {ref} was imported, or written by the Principal that acted (§15.7)")
    observed = (view.record(producer) for producer in view.referrers(code, "outputs"))
    if not any(
        isinstance(each, Activity)
        and each.activity_class == "outcome_observation"
        and attempt in {edge.target for edge in each.inputs}
        for each in observed
    ):
        raise _refused(f"no outcome_observation links the outcome {ref} to its attempt")


def pointer(view: "View", record: Concept, name: str) -> int | None:
    """The one target of a single-valued field of the Profile."""
    lineage = f"{PROFILE}/{name}"
    for ref, edges in record.structural.items():
        if edges and view.environment.lineage(ref) == lineage:
            return edges[0].target
    return None


def _refused(why: str) -> KipError:
    return KipError("ConstraintViolation", why, hint="Profile §14 and Validated Learning say what is needed")
