"""Skills by verified standing: adopted counts as far as its evaluation holds, revoked is a warning and nothing more."""

import pytest

from kipql.memory.brief.skills import judged
from tests.memory.brief.support import brain_of, refs
from tests.mutate.test_kml_skill import behavior, create, evaluation, made, move_to, planes, promote, sampled, trialed
from tests.mutate.test_kml_skill import verdict as commit_verdict


def adopted():
    nexus, trial, attempts, outcomes = sampled()
    promote(nexus, trial, attempts, outcomes)
    return nexus


def revoked():
    nexus = made()
    commit_verdict(nexus, evaluation("proposed revoked", None), ["C-2"], move_to(nexus, "revoked"))
    return nexus


@pytest.mark.parametrize(
    ("nexus", "standing", "allowed"),
    [(made, "proposed", False), (lambda: trialed()[0], "trialed", False), (adopted, "adopted", True)],
    ids=["proposed", "trialed", "adopted"],
)
def test_only_what_an_evaluation_adopted_is_proven(nexus, standing, allowed):
    brain = brain_of(nexus())
    (item,) = brain.brief("Deploy").skills
    assert (item["standing"], item["validated"]) == (standing, allowed)
    assert item["text"].startswith("unproven") is not allowed
    assert item["grades"] is None or item["grades"]["revision_ref"] == item["revision"]
    status = brain.check_procedure_status("C-1")
    assert list(status) == ["recommendation_allowed", "reason", "revision", "evaluation", "review_deadline"]
    assert (status["recommendation_allowed"], status["revision"]) == (allowed, "C-2")


def test_a_revoked_skill_is_a_warning_and_no_procedure():
    brain = brain_of(revoked())
    answer = brain.recall("Deploy", mode="procedure")
    assert not answer.answer
    brief = brain.brief("Deploy")
    assert brief.skills == [] and brief.warnings[0]["kind"] == "revoked_skill"
    assert brief.warnings[0]["severity"] == "critical" and brief.warnings[0]["refs"] == ["C-1"]
    assert brain.check_procedure_status("C-1")["recommendation_allowed"] is False
    assert brain.recall("Deploy", mode="failure").found


def test_proven_skills_come_first_however_similar_the_others_are():
    nexus = adopted()
    create(nexus, given=behavior("canary"))
    text = """UPDATE :id SET FIELDS {name: "Deploy the new release today"} SET ATTRIBUTES {summary: "deploy today"}"""
    other = next(
        identity for identity in nexus.query('FIND(?s.id) WHERE { ?s {type: "Skill"} }').rows if identity != "C-1"
    )
    nexus.execute(text, {"id": other})
    items = brain_of(nexus).brief("Deploy the new release today").skills
    assert refs(items) == ["C-1", other]
    assert items[1]["relevance"] > items[0]["relevance"]


def test_another_revision_inherits_no_standing():
    nexus = adopted()
    held = nexus.query(
        """FIND(?t.id, ?e.id) WHERE { ?s {type: "Skill"}
        STRUCTURAL (?s, "current_trial", ?t) STRUCTURAL (?s, "current_evaluation", ?e) }"""
    ).one()
    members = ", ".join(f"{name}: :{name}" for name in behavior("canary"))
    new = nexus.execute(
        f"""CREATE CONCEPT ?r {{ TYPE "SkillRevision" SET ATTRIBUTES {{{members}}}
        SET STRUCTURAL {{ ("revision_of", "C-1") }} }}""",
        behavior("canary"),
    ).handles["r"]
    nexus.execute(
        f"""UPDATE "C-1" SET ATTRIBUTES {{status: "proposed"}} SET STRUCTURAL {{ ("current_revision", "{new}") }}
        UNSET STRUCTURAL {{ ("current_trial", "{held[0]}") ("current_evaluation", "{held[1]}") }} {planes(nexus)}"""
    )
    brain = brain_of(nexus)
    (item,) = brain.brief("Deploy").skills
    assert (item["standing"], item["validated"], item["grades"], item["revision"]) == ("proposed", False, None, new)
    assert brain.check_procedure_status("C-1")["recommendation_allowed"] is False


RECORD = {
    "revision_refs": ["R"],
    "trial_ref": "T",
    "from_status": "trialed",
    "to_status": "adopted",
    "comparison": {"status": "improved"},
}
GRADES = {"revision_ref": "R"}


def row(**changes):
    """A row of skill.kql, all in order unless changed."""
    cells = {"id": "S", "name": "s", "status": "adopted", "revision": "R", "evaluation": "E", "finished": "completed"}
    cells |= {"record": RECORD, "trial": "T", "grades": GRADES, "validity": "current", "stale": None}
    return list((cells | changes).values())


def test_a_standing_holds_where_everything_agrees():
    assert judged(row()).validated


@pytest.mark.parametrize(
    "changes",
    [
        {"evaluation": None, "record": None},
        {"record": None},
        {"finished": "running"},
        {"record": {**RECORD, "to_status": "trialed"}},
        {"record": {**RECORD, "revision_refs": ["R0"]}},
        {"record": {**RECORD, "trial_ref": None}},
        {"record": {**RECORD, "trial_ref": "T0"}},
        {"record": {**RECORD, "comparison": {"status": "not_improved"}}},
        {"grades": None},
        {"grades": {"revision_ref": "R0"}},
        {"validity": "needs_review"},
        {"stale": "needs_review"},
        {"status": "trialed"},
        {"status": "revoked"},
    ],
)
def test_a_standing_that_anything_contradicts_is_not_proven(changes):
    judgement = judged(row(**changes))
    assert not judgement.validated and judgement.reason


def test_what_can_not_be_checked_may_be_recommended_and_not_used_automatically():
    brain = brain_of(adopted())  # its verdict names no DependencyBasis (specification §57.6)
    status = brain.check_procedure_status("C-1")
    assert status["recommendation_allowed"] and "not for automatic use" in status["reason"]
    brief = brain.brief("Deploy")
    assert "stale_dependency" in {warning["kind"] for warning in brief.warnings}
    assert not brief.coverage["action_eligible"]


def test_a_review_that_is_overdue_ends_the_recommendation():
    nexus = adopted()
    text = """CREATE CONCEPT ?w { TYPE "Watch"
      SET ATTRIBUTES {watch_class: "silence", summary: "review", status: "armed", due_at: :due,
        condition: {element: "C-1"}}
      SET STRUCTURAL { ("watches", "C-1") } }"""
    nexus.execute(text, {"due": "2999-01-01T00:00:00.000Z"})
    brain = brain_of(nexus)
    assert brain.check_procedure_status("C-1")["review_deadline"] == "2999-01-01T00:00:00.000Z"
    assert brain.check_procedure_status("C-1")["recommendation_allowed"]
    nexus.execute(text, {"due": "2001-01-01T00:00:00.000Z"})
    status = brain.check_procedure_status("C-1")
    assert not status["recommendation_allowed"] and "overdue" in status["reason"]


def test_what_is_no_skill_is_told_as_such():
    brain = brain_of(made())
    for reference in ("nothing", "C-2"):
        status = brain.check_procedure_status(reference)
        assert not status["recommendation_allowed"] and "no such Skill" in status["reason"]
