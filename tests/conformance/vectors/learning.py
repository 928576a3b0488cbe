"""A Skill on its way: revisions, trials, decisions, attempts, outcomes, verdicts, each written as a Brain writes it."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.conformance.vectors.scene import Scene, refused, scene

RULE, PARAMETERS, OTHER = ("sha256:" + digit * 64 for digit in "abc")
STARTED = "2026-09-01T00:00:00.000Z"
IMPROVED = {"status": "improved", "effect": 0.2, "uncertainty": {}}
INSUFFICIENT = {"status": "insufficient", "effect": None, "uncertainty": {}}


def pin(digest: str) -> dict[str, str]:
    return {"artifact_ref": "artifact:x", "content_digest": digest}


def behavior(procedure: str = "drain, then migrate", task_family: str | None = "deploy") -> dict[str, Any]:
    """The behaviour of a revision and its digest, the sha256 of its canonical JSON."""
    fields = {"task_family": task_family, "procedure": procedure} if task_family else {"procedure": procedure}
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return {**fields, "behavior_digest": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"}


def members(record: dict[str, Any]) -> str:
    """An object whose members are parameters of their own names."""
    return "{" + ", ".join(f"{name}: :{name}" for name in record) + "}"


def ends(inputs: list[str], outputs: list[str] | tuple[str, ...] = ()) -> str:
    listed = [f'("inputs", "{each}")' for each in inputs] + [f'("outputs", "{each}")' for each in outputs]
    return f"SET STRUCTURAL {{ {' '.join(listed)} }}" if listed else ""


_RECORD = (
    "task_family", "attempt_ref", "metric", "window", "terminal", "observation_key", "observer_config_digest",
    "outcome_status",
)  # fmt: skip
OUTCOME = f"""CREATE EVIDENCE ?e {{ CLIENT KEY :observation_key
  SET FIELDS {{evidence_class: "outcome", payload: "seen"}}
  SET FACET "mem/OutcomeRecord" {members(dict.fromkeys(_RECORD))} }}"""


def outcome_of(attempt: str, key: str) -> dict[str, Any]:
    """The parameters of OUTCOME for an attempt and an observation key."""
    values = ("deploy", attempt, "health", "1h", True, key, OTHER, "success")
    return dict(zip(_RECORD, values, strict=True))


@dataclass
class Learner:
    """One Skill of a scene; the acting Principal is the owner, the instrument is `probe`."""

    given: Scene
    skill: str = ""
    revision: str = ""

    def propose(self, status: str = "proposed", **behaves: Any) -> str:
        """Create the Skill with its first revision; the id of the revision."""
        content = behavior(**behaves)
        made = self.given.do(
            f"""MUTATE {{
              CREATE CONCEPT ?s {{ TYPE "mem/Skill" NAME "Deploy"
                SET ATTRIBUTES {{skill_class: "workflow", summary: "s", status: :status}}
                SET FACET "mem/MnemonicState" {{utility: 0.5}}
                SET STRUCTURAL {{ ("mem/current_revision", ?r) }} }}
              CREATE CONCEPT ?r {{ TYPE "mem/SkillRevision" SET ATTRIBUTES {members(content)}
                SET STRUCTURAL {{ ("mem/revision_of", ?s) }} }}
            }}""",
            status=status,
            **content,
        )
        self.skill, self.revision = made["s"], made["r"]
        return self.revision

    def activity(
        self,
        kind: str,
        facet: str,
        record: dict[str, Any],
        inputs: list[str],
        outputs: tuple[str, ...] = (),
        by: str = "",
    ) -> str:
        """A completed Activity with a record; its id."""
        given = self.given.as_(by) if by else self.given
        setting = f'SET FACET "mem/{facet}" {members(record)}' if facet else ""
        text = f"""CREATE ACTIVITY ?x {{ SET FIELDS {{activity_class: "{kind}", status: "completed"}} {setting}
          {ends(inputs, outputs)} }}"""
        return given.do(text, **record)["x"]

    @property
    def basis(self) -> dict[str, Any]:
        found: dict[str, Any] = self.given.slot(self.given.ids["alice"], "test/timezone")["basis"]
        return found

    def trial(self, **changes: Any) -> str:
        """Open a trial of the current revision; its id."""
        return self.activity("trial_open", "TrialRecord", self.trial_record(**changes), [self.revision])

    def trial_record(self, **changes: Any) -> dict[str, Any]:
        comparability = {
            "method": "stratified",
            "environment_digest": OTHER,
            "strata_weights": {"small": 0.5, "large": 0.5},
            "metric": "health",
            "minimum_effect": 0,
            "uncertainty_rule": "r",
            "missingness_policy": "m",
            "observer_control_digest": OTHER,
            "sampling_unit": "attempt",
            "correlation_policy": "none",
        }
        record = {
            "revision_refs": [self.revision],
            "basis": self.basis,
            "rule": pin(RULE),
            "parameters": pin(PARAMETERS),
            "baseline_attempt_refs": [],
            "baseline_outcome_refs": [],
            "comparability": comparability,
            "quota": 2,
            "observation_window": "1h",
            "replay_artifact": pin(OTHER),
            "evaluation_policy": {"id": "p", "version": "1", "content_digest": OTHER},
        }
        return {**record, **changes}

    def attempt(self, trial: str | None, name: str, **changes: Any) -> str:
        """A decision and the attempt that follows it; the id of the attempt."""
        decision = {
            "decision": "act",
            "retrieved_refs": [self.revision],
            "used_refs": [self.revision],
            "applied_revisions": [self.revision],
            "basis": self.basis,
        }
        gate = self.activity("action_gate", "DecisionRecord", decision, [self.revision])
        record = {
            "attempt_id": name,
            "decision_ref": gate,
            "applied_revisions": [self.revision],
            "trial_ref": trial,
            "context": {},
            "environment_digest": OTHER,
            "tool_versions": {},
            "selection_policy": pin(OTHER),
            "preconditions_satisfied": "yes",
            "started_at": STARTED,
            **changes,
        }
        return self.activity("action_attempt", "AttemptRecord", record, [gate])

    def outcome(self, attempt: str, status: str = "success", by: str = "probe", key: str = "", **changes: Any) -> str:
        """What an instrument observed of an attempt; the id of the Evidence."""
        record = {
            "task_family": "deploy",
            "attempt_ref": attempt,
            "metric": "health",
            "window": "1h",
            "terminal": True,
            "observation_key": key or f"{by}:{attempt}:{status}",
            "observer_config_digest": OTHER,
            "outcome_status": status,
            **changes,
        }
        seen = self.given.as_(by).do(
            f"""CREATE EVIDENCE ?e {{ CLIENT KEY :observation_key
              SET FIELDS {{evidence_class: "outcome", payload: "seen"}}
              SET FACET "mem/OutcomeRecord" {members(record)} }}""",
            **record,
        )["e"]
        self.activity("outcome_observation", "", {}, [attempt], (seen,), by=by)
        return seen

    def evaluation(self, move: str, trial: str | None, **changes: Any) -> dict[str, Any]:
        old, new = move.split(" -> ")
        record = {
            "trial_ref": trial,
            "revision_refs": [self.revision],
            "from_status": old,
            "to_status": new,
            "rule_digest": RULE,
            "parameters_digest": PARAMETERS,
            "cutoff": STARTED,
            "attempt_refs": [],
            "outcome_refs": [],
            "excluded_samples": [],
            "missing_attempt_refs": [],
            "comparison": INSUFFICIENT,
            "replay_artifact": pin(OTHER),
        }
        return {**record, **changes}

    def verdict(self, record: dict[str, Any], *edges: str, guards: str | None = None) -> str:
        """Commit a verdict with the guarded move of the Skill; the id of the verdict."""
        trial = [] if record["trial_ref"] is None else [record["trial_ref"]]
        inputs = [*record["revision_refs"], *trial, *record["outcome_refs"]]
        moved = record["from_status"] != record["to_status"]
        status = f'SET ATTRIBUTES {{status: "{record["to_status"]}"}}' if moved else ""
        return self.given.do(
            f"""MUTATE {{
              CREATE ACTIVITY ?v {{ SET FIELDS {{activity_class: "lifecycle_verdict", status: "completed"}}
                SET FACET "mem/EvaluationRecord" {members(record)} {ends(inputs, [self.skill])} }}
              UPDATE "{self.skill}" {status} SET STRUCTURAL {{ ("mem/current_evaluation", ?v) {" ".join(edges)} }}
              {self.guards if guards is None else guards}
            }}""",
            **record,
        )["v"]

    @property
    def guards(self) -> str:
        planes = self.given.element(self.skill)["_system"]["plane_versions"]
        return (
            f"EXPECT VERSION {planes['attributes']} OF ATTRIBUTES EXPECT VERSION {planes['structural']} OF STRUCTURAL"
        )

    def enter_trial(self, old: str = "proposed", **changes: Any) -> str:
        """Open a trial and move the Skill into it; the id of the trial."""
        opened = self.trial(**changes)
        self.verdict(self.evaluation(f"{old} -> trialed", opened), f'("mem/current_trial", "{opened}")')
        return opened

    def promotion(self, trial: str, attempts: list[str], outcomes: list[str], **changes: Any) -> dict[str, Any]:
        return (
            self.evaluation(
                "trialed -> adopted", trial, attempt_refs=attempts, outcome_refs=outcomes, comparison=IMPROVED
            )
            | changes
        )

    def adopt(self) -> tuple[str, str]:
        """Take the Skill from proposed to adopted; the ids of the trial and of the verdict."""
        opened = self.enter_trial()
        attempts = [self.attempt(opened, f"{opened}:{number}") for number in (1, 2)]
        outcomes = [self.outcome(each) for each in attempts]
        return opened, self.verdict(self.promotion(opened, attempts, outcomes))

    def refused(self, call: Callable[..., object], *arguments: Any, **named: Any) -> str:
        """The code of a call that must fail and change nothing."""
        before = self.given.nexus.digest()
        found = refused(call, *arguments, **named).code
        assert self.given.nexus.digest() == before
        return found

    @property
    def status(self) -> str:
        return str(self.given.element(self.skill)["attributes"]["status"])

    @property
    def grading(self) -> Any:
        text = 'FIND(?s.facets["mem/GradingState"]) WHERE { ?s CONCEPT {id: :id} }'
        return self.given.ask(text, id=self.skill)

    def select(self, revision: str, **pointers: str) -> None:
        """Select another revision: the Skill is proposed again, without a trial and without an evaluation."""
        unset = " ".join(f'("mem/{name}", "{target}")' for name, target in pointers.items())
        self.given.do(
            f"""UPDATE "{self.skill}" SET ATTRIBUTES {{status: "proposed"}}
            SET STRUCTURAL {{ ("mem/current_revision", "{revision}") }}
            {f"UNSET STRUCTURAL {{ {unset} }}" if unset else ""} {self.guards}"""
        )
        self.revision = revision


def learner() -> Learner:
    """A proposed Skill."""
    made = Learner(scene(now="2026-09-06T12:00:00.000Z"))
    made.propose()
    return made
