"""Another package may define the names that the agent layer uses: nothing of it becomes ambiguous."""

import pytest

import kipql
from kipql.memory import AgentMemory, Brain, Canon, MemoryInterface
from tests.memory.brief.support import PACKAGES
from tests.memory.brief.test_skills import adopted
from tests.memory.support import SUMMARY, TURN_3

TYPES = (
    *("Person", "Event", "Experience", "Insight", "Commitment", "Skill", "SkillRevision", "WorkingState", "Watch"),
    *("SelfModel", "Pin", "CanonArticle", "Asset"),
)
PREDICATES = ("must_contain", "must_not_contain", "noted", "same_as", "prefers", "must_heed")
FACETS = ("MnemonicState", "GradingState", "MemoryScope", "EvaluationRecord", "DependencyBasis", "ProcedureAssessment")
FIELDS = ("has_turn", "has_message", "pinned_content", "governs", "about", "current_revision", "revision_of")
CONCEPTS = {"source": {"kinds": ["Concept"]}, "target": {"kinds": ["Concept"]}}
RIVAL = {
    "manifest": {"package_id": "kip://test/rival", "version": "1.0.0"},
    "definitions": {
        "concept_types": {name: {"description": "Another.", "attributes": {"open": True}} for name in TYPES},
        "predicates": {name: {"description": "Another.", "object": {}} for name in PREDICATES},
        "facets": {name: {"description": "Another.", "fields": {"x": {"type": "number"}}} for name in FACETS},
        "structural_fields": {name: {"description": "Another.", **CONCEPTS} for name in FIELDS},
    },
}


@pytest.fixture
def rivalled():
    nexus = kipql.open(packages=[*PACKAGES, RIVAL])
    with pytest.raises(kipql.KipError) as raised:
        nexus.query('FIND(?x) WHERE { ?x {type: "Skill"} }')
    assert raised.value.code == "SchemaSymbolAmbiguous"
    return nexus


def test_a_session_goes_on(rivalled):
    memory = AgentMemory(rivalled, session="s", window_tokens=4000)
    for turn in range(1, 9):
        memory.record_turn(turn, TURN_3)
    pin = memory.pin("metric units")
    assert memory.recall(3).messages == TURN_3 and [one.pin_id for one in memory.pins()] == [pin.pin_id]
    plan = memory.plan_compaction(force=True, protect_last=4)
    assert memory.commit_compaction(plan, SUMMARY, facts=["the plan is A"])["committed"]
    context = memory.assemble("plan", profile="reflex")
    assert context.ok and any(block["channel"] == "beliefs" for block in context.blocks)
    assert memory.search("plan")["outcome"] == "found"
    assert memory.unpin(pin.pin_id).unpinned and memory.reset()["reset"]


def test_a_canon_goes_on(rivalled):
    canon = Canon(rivalled)
    canon.journal("finance drops commas", subject=["src/report"], slug="commas")
    canon.write("src/report.py", capsule="no commas", body="Lines must never contain a comma.")
    released = rivalled.space_seq
    assert canon.read("src/report.py")["journal"]
    session = canon.session("run")
    session.touch(["src/report.py"])
    assert "no commas" in session.flush()
    canon.write("src/report.py", body="Lines are written one by one, each with its date and its amount.")
    assert canon.audit.constraint_loss(from_seq=released)
    assert all(canon.audit.run(name) is not None for name in ("orphans", "dead-links", "rules-without-sentence"))


def test_a_brain_goes_on():
    nexus = adopted()
    nexus.install_packages([*PACKAGES, RIVAL])
    brain = Brain(nexus)
    briefing = brain.brief("Deploy")
    assert briefing.complete and [item["validated"] for item in briefing.skills] == [True]
    assert brain.check_procedure_status("C-1")["recommendation_allowed"]
    for mode in ("procedure", "failure", "experience", "event", "commitments", "wake", "self", "existence"):
        assert not [gap for gap in brain.recall("Deploy", mode=mode).gaps if "not read" in gap], mode
    context = AgentMemory(nexus, session="s").assemble("Deploy")
    assert [block["decision"]["reason"] for block in context.blocks if block["channel"] == "skills"] == ["adopted"]


def test_the_interface_goes_on(rivalled):
    memory = MemoryInterface(rivalled)
    memory.observe(memory.stage("m-1", "I live in Rome. Never deploy on Fridays.", speaker="ada"))
    answer = memory.recall("Where does Ada live?")
    assert answer["status"] in ("succeeded", "partial")
    assert {item["text"] for item in answer["result"]["items"]} >= {"ada lives in Rome", "Never deploy on Fridays"}
