"""Scenarios of standing: trials, guarded verdicts, records and their topology, who may grade."""

import pytest

from tests.conformance.vectors.learning import IMPROVED, OTHER, OUTCOME, behavior, learner, members, outcome_of, pin
from tests.conformance.vectors.registry import observe
from tests.conformance.vectors.scene import PREFIXES, refused


def test_mem_018_standing_is_earned_in_trials_and_can_be_lost() -> None:
    learning = learner()
    given = learning.given
    bad = []
    nameless = behavior(task_family=None)
    skill = """MUTATE {{
      CREATE CONCEPT ?s {{ TYPE "mem/Skill" SET ATTRIBUTES {{skill_class: "workflow", summary: "s", status: "proposed"}}
        SET STRUCTURAL {{ ("mem/current_revision", ?r) }} }}
      CREATE CONCEPT ?r {{ TYPE "mem/SkillRevision" SET ATTRIBUTES {} SET STRUCTURAL {{ ("mem/revision_of", ?s) }} }}
    }}"""
    bad.append(given.refused(skill.format(members(nameless)), **nameless))
    for missing in ("basis", "rule", "comparability", "replay_artifact"):
        record = {name: value for name, value in learning.trial_record().items() if name != missing}
        bad.append(learning.refused(learning.activity, "trial_open", "TrialRecord", record, [learning.revision]))

    # Nothing is promoted from anywhere but a trial, whatever the comparison says.
    direct = []
    samples = {"attempt_refs": ["X-1", "X-2"], "comparison": IMPROVED}
    direct.append(learning.refused(learning.verdict, learning.evaluation("proposed -> adopted", None, **samples)))
    withdrawn = {"status": "withdrawal", "effect": None, "uncertainty": {}}
    learning.verdict(
        learning.evaluation("proposed -> revoked", None, comparison=withdrawn)
    )  # by policy, before a trial
    assert learning.status == "revoked"
    direct.append(learning.refused(learning.verdict, learning.evaluation("revoked -> adopted", None, **samples)))

    opened = learning.enter_trial("revoked")
    only = learning.attempt(opened, "only")
    alone = learning.promotion(opened, [only], [learning.outcome(only)])
    bad.append(learning.refused(learning.verdict, alone))
    more = learning.attempt(opened, "more")
    record = learning.promotion(opened, [only, more], [*alone["outcome_refs"], learning.outcome(more)])
    adoption = learning.verdict(record)
    reached = learning.status
    kept = given.element(adoption)

    monitoring = learning.verdict(learning.evaluation("adopted -> adopted", opened))
    basis = given.element(adoption) == kept
    monitored = (learning.status, learning.grading["graded_count"]) == ("adopted", 0)
    learning.verdict(learning.evaluation("adopted -> revoked", opened))
    again = learning.evaluation("revoked -> trialed", opened)
    assert learning.refused(learning.verdict, again) == "ConstraintViolation"
    demoted = learning.status
    learning.enter_trial("revoked")
    assert learning.status == "trialed"
    observe(
        "MEM-018",
        bad_trial_rejected=set(bad) == {"ConstraintViolation"},
        adoption_reachable=reached == "adopted",
        demotion_reachable=demoted == "revoked",
        direct_promotion_rejected=set(direct) == {"ConstraintViolation"},
        same_state_monitoring_recorded=monitored and given.element(monitoring)["status"] == "completed",
        old_verdict_rewritten=given.element(adoption) != kept,
        prior_adoption_basis_retained=basis,
    )


def test_mem_020_a_verdict_guards_every_plane_that_it_writes() -> None:
    learning = learner()
    given = learning.given
    trial = learning.trial()
    record = learning.evaluation("proposed -> trialed", trial)
    select = f'("mem/current_trial", "{trial}")'
    stale = learning.guards
    given.do(f'UPDATE "{learning.skill}" SET ATTRIBUTES {{summary: "meanwhile"}}')
    count = given.nexus.stats()["elements"]["activity"]
    codes = [learning.refused(learning.verdict, record, select, guards=stale)]
    codes.append(learning.refused(learning.verdict, record, select, guards=""))
    codes.append(learning.refused(learning.verdict, record, select, guards=learning.guards.split(" EXPECT")[0]))
    signal = f'{learning.guards} EXPECT VERSION 1 OF FACET "mem/MnemonicState"'
    given.do(f'UPDATE "{learning.skill}" SET FACET "mem/MnemonicState" {{utility: 0.6}}')
    codes.append(learning.refused(learning.verdict, record, select, guards=signal))
    grades = given.refused(f'UPDATE "{learning.skill}" SET FACET "mem/GradingState" {{success_count: 9}}')
    assert grades == "ConstraintViolation"
    partial = given.nexus.stats()["elements"]["activity"] != count or learning.status != "proposed"
    learning.verdict(record, select)  # read again, guarded again
    assert learning.status == "trialed"
    observe("MEM-020", stale_plane_write_rejected=set(codes) == {"VersionConflict"}, partial_verdict_commit=partial)


ELSEWHERE = {
    "DecisionRecord": ("reflection", "action_gate"),
    "AttemptRecord": ("action_gate", "action_attempt"),
    "TrialRecord": ("reflection", "trial_open"),
    "EvaluationRecord": ("reflection", "lifecycle_verdict"),
}


def test_mem_021_a_record_belongs_on_its_terminal_activity_and_stays_as_it_is() -> None:
    learning = learner()
    given, revision = learning.given, learning.revision
    trial, verdict = learning.adopt()
    attempt = given.facet(verdict, "EvaluationRecord")["attempt_refs"][0]
    decision = given.element(attempt)["inputs"][0]["id"]
    records = dict(zip(ELSEWHERE, (decision, attempt, trial, verdict), strict=True))
    attached, mismatched, updates = [], [], []
    for facet, (wrong, right) in ELSEWHERE.items():
        element = given.element(records[facet])
        (record,) = element["facets"].values()
        inputs = [each["id"] for each in element["inputs"]]
        attached.append(learning.refused(learning.activity, wrong, facet, record, inputs))
        running = f"""CREATE ACTIVITY ?x {{ SET FIELDS {{activity_class: "{right}", status: "running"}}
          SET FACET "mem/{facet}" {members(record)} }}"""
        attached.append(given.refused(running, **record))
        name, value = next((name, value) for name, value in record.items() if isinstance(value, str | list))
        id_ = records[facet]
        changes = (
            f'UPDATE "{id_}" SET FACET "mem/{facet}" {{{name}: :other}}',
            f'UPDATE "{id_}" UNSET FACET "mem/{facet}" {{{name}}}',
            f'UPDATE "{id_}" SET STRUCTURAL {{ ("inputs", "{learning.skill}") }}',
            f'UPDATE "{id_}" SET FIELDS {{activity_class: "reflection"}}',
            f'UPDATE "{id_}" SET FACET "mem/MnemonicState" {{utility: 0.5}}',
        )
        updates += [given.refused(text, other="other" if isinstance(value, str) else ["C-1"]) for text in changes]
    # References must be what the inputs show.
    (record,) = given.element(decision)["facets"].values()
    mismatched.append(learning.refused(learning.activity, "action_gate", "DecisionRecord", record, [learning.skill]))
    (record,) = given.element(attempt)["facets"].values()
    stray = {**record, "attempt_id": "stray"}
    mismatched.append(learning.refused(learning.activity, "action_attempt", "AttemptRecord", stray, [revision]))
    mismatched.append(learning.refused(learning.activity, "action_attempt", "AttemptRecord", record, [decision]))
    observe(
        "MEM-021",
        bad_attachment_rejected=set(attached) == {"ConstraintViolation"},
        immutable_record_update_rejected=set(updates) <= {"ActivityTerminal", "ConstraintViolation", "ImmutableField"},
        topology_mismatch_committed=set(mismatched) != {"ConstraintViolation"},
    )


def test_mem_022_who_acted_does_not_grade_and_a_new_name_does_not_help() -> None:
    learning = learner()
    given = learning.given
    trial = learning.enter_trial()
    attempts = [learning.attempt(trial, name) for name in ("one", "two")]
    own = [learning.outcome(each, by="kip:owner") for each in attempts]
    origins = {given.element(each)["_system"]["origin"]["principal_id"] for each in own}
    assert learning.refused(learning.verdict, learning.promotion(trial, attempts, own)) == "ConstraintViolation"

    # In a governed memory an instrument is who the host lets observe: nobody gets there by another name.
    govern = given.nexus.govern
    govern.grant("agent", "discover", "read", "search", "create", "update")
    govern.grant("probe", "discover", "read", "create", "record_outcome")
    renamed = [refused(learning.outcome, attempts[0], by=by).code for by in ("agent", "agent-2")]
    seen = [learning.outcome(each) for each in attempts]
    config = given.facet(seen[0], "OutcomeRecord")["observer_config_digest"]
    control = given.facet(trial, "TrialRecord")["comparability"]
    checked = renamed == ["NotAuthorized"] * 2 and config == control["observer_control_digest"]
    counted = learning.promotion(trial, attempts, [*seen, *own])
    assert learning.refused(learning.verdict, counted) == "ConstraintViolation"
    learning.verdict(learning.promotion(trial, attempts, seen))
    samples = given.element(given.targets(learning.skill, "current_evaluation")[0]["id"])
    used = samples["facets"][PREFIXES["mem/"] + "EvaluationRecord"]["outcome_refs"]
    observe(
        "MEM-022",
        self_grade_visible=origins == {"kip:owner"},
        independent_control_checked=checked,
        imported_or_self_graded_local_samples=len(set(used) & set(own)),
    )


def test_rel_012_an_assessment_says_that_it_applies_and_grants_no_standing() -> None:
    learning = learner()
    given = learning.given
    seen = given.do('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "it would apply"} }')["e"]
    record = {
        "revision_ref": learning.revision,
        "basis": learning.basis,
        "criterion": pin(OTHER),
        "evidence_refs": [seen],
        "result": "satisfied",
        "purpose": "applicability",
        "grants_standing": False,
    }
    inputs = [learning.revision, seen]
    made = learning.activity("skill_validation", "ProcedureAssessment", record, inputs)
    for wrong in ({"grants_standing": True}, {"purpose": "promotion"}):
        called = learning.refused(
            learning.activity, "skill_validation", "ProcedureAssessment", {**record, **wrong}, inputs
        )
        assert called == "ConstraintViolation"
    # The author of the assessment makes no verdict of it.
    moved = f"""UPDATE "{learning.skill}" SET ATTRIBUTES {{status: "adopted"}}
      SET STRUCTURAL {{ ("mem/current_evaluation", "{made}") }} {learning.guards}"""
    assert given.refused(moved) == "ConstraintViolation"
    result = given.facet(made, "ProcedureAssessment")["result"]
    promotions = given.rows('FIND(COUNT(?v)) WHERE { ?v ACTIVITY {activity_class: "lifecycle_verdict"} }')
    observe(
        "REL-012",
        assessment_result=result,
        standing="unproven" if (learning.status, learning.grading) == ("proposed", None) else learning.status,
        promotion_count=promotions[0],
    )


def test_rel_017_grades_and_lineage_are_views_over_the_records() -> None:
    learning = learner()
    given = learning.given
    experience = given.do(
        'CREATE CONCEPT ?e { TYPE "mem/Experience" SET ATTRIBUTES {goal: "deploy", outcome_status: "failure"} }'
    )["e"]
    content = behavior("canary, then migrate")
    compiled = given.do(
        f"""MUTATE {{
          CREATE CONCEPT ?r {{ TYPE "mem/SkillRevision" SET ATTRIBUTES {members(content)}
            SET STRUCTURAL {{ ("mem/revision_of", "{learning.skill}") }} }}
          CREATE ACTIVITY ?x {{ SET FIELDS {{activity_class: "skill_compilation", status: "completed"}}
            SET FACET "mem/DependencyBasis" {{basis_seq: :seq, policy_basis: :basis,
              groups: [{{role: "all_of", pins: [{{id: :e, version: 1}}]}}]}}
            SET STRUCTURAL {{ ("inputs", :e) ("outputs", ?r) }} }}
        }}""",
        seq=given.nexus.space_seq, basis=learning.basis, e=experience, **content,
    )  # fmt: skip
    trial, verdict = learning.adopt()
    records = {id_: given.element(id_) for id_ in (trial, verdict, compiled["x"])}
    grades = learning.grading
    # Nothing of it is stored: whoever reads it builds it again, here from the journal's records alone.
    text = f'FIND(?s.facets["mem/GradingState"]) WHERE {{ ?s CONCEPT {{id: :id}} }} AS OF SEQ {given.nexus.space_seq}'
    rebuilt = given.ask(text, id=learning.skill)
    assert not any("GradingState" in ref for ref in given.element(learning.skill)["facets"])
    evaluation = given.facet(verdict, "EvaluationRecord")
    assert rebuilt["graded_count"] == len(evaluation["attempt_refs"]) == 2
    lineage = given.rows(
        'FIND(?from.id) WHERE { ?e STRUCTURAL (:r, "mem/compiled_from", ?from) ?from CONCEPT {} }', r=compiled["r"]
    )
    assert lineage == [experience]
    rejected = [
        given.refused(text.format(id_), e=experience)
        for id_ in (learning.skill, compiled["r"])
        for text in (
            'UPDATE "{}" SET STRUCTURAL {{ ("mem/compiled_from", :e) }}',
            'UPDATE "{}" SET STRUCTURAL {{ ("mem/derived_from", :e) }}',
            'UPDATE "{}" SET FACET "mem/GradingState" {{success_count: 3}}',
        )
    ]
    observe(
        "REL-017",
        rebuilt_grades_equal=rebuilt == grades,
        conflicting_lineage_rejected=set(rejected) <= {"ConstraintViolation", "ImmutableField", "TypeMismatch"},
        authoritative_records_unchanged={id_: given.element(id_) for id_ in records} == records,
    )


@pytest.mark.parametrize("principal", ["agent", "another-name-of-the-agent"])
def test_mif_008_a_report_of_ones_own_is_a_statement_and_no_grade(principal: str) -> None:
    learning = learner()
    given = learning.given
    trial = learning.enter_trial()
    attempts = [learning.attempt(trial, name) for name in ("one", "two")]
    govern = given.nexus.govern
    govern.grant(principal, "discover", "read", "search", "project", "create", "update")
    agent = given.as_(principal)
    report = agent.do(
        """CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "agent_statement", payload: "it worked"}
          SET STRUCTURAL { ("source", :self_agent) } }"""
    )["e"]
    forged = refused(agent.write, OUTCOME, **outcome_of(attempts[0], "forged")).code
    for outcomes in ([report], [report, report]):
        record = learning.promotion(trial, attempts, outcomes)
        assert learning.refused(learning.verdict, record) == "ConstraintViolation"
    promotions = given.rows('FIND(?v) WHERE { ?v ACTIVITY {activity_class: "lifecycle_verdict"} }')
    observe(
        "MIF-008",
        self_report_class=given.element(report)["evidence_class"],
        self_report_validated=learning.status != "trialed",
        forged_source_role_rejected=forged == "NotAuthorized",
        self_report_promotions=len(promotions) - 1,  # the one that opened the trial
    )
