"""The action briefing: twelve fields, what binds before what is graded, budgets that are told, valid coverage."""

import json
from pathlib import Path

import jsonschema
import pytest
from referencing import Registry, Resource

import kipql
from kipql.memory import Brain, MemoryInterface
from kipql.memory.brief import brief
from kipql.memory.tokens import estimate_text
from tests.memory.brief.support import brain_of, opened, refs, say, world
from tests.shared import shared_path

FIELDS = [
    *("goal", "knowledge", "contested_assumptions", "skills", "successful_experiences", "failed_experiences"),
    *("open_commitments", "constraints", "unverified_preconditions", "coverage", "basis", "warnings"),
]
CHANNELS = {"constraints", "commitments", "dependencies", "failures", "experiences", "skills", "evidence"}


def validated(name, record):
    """Check a record against the public schema of cognitive records."""
    folder = shared_path("kip/schemas")
    if folder is None:
        pytest.skip("shared: absent")
    schemas = [json.loads(path.read_text()) for path in Path(folder).glob("*.json")]
    registry = Registry().with_resources([(one["$id"], Resource.from_contents(one)) for one in schemas])
    whole = next(one for one in schemas if name in one.get("$defs", {}) and "cognitive-records" in one["$id"])
    reference = {"$ref": f"{whole['$id']}#/$defs/{name}"}
    jsonschema.Draft202012Validator(reference, registry=registry).validate(record)


def test_a_briefing_has_the_twelve_fields():
    nexus, ids = world()
    briefing = brief(nexus, "deploy version 2 for Ada", action_context={"goal": "deploy version 2"})
    assert list(briefing.to_dict()) == FIELDS
    assert briefing.goal == "deploy version 2"
    assert refs(briefing.constraints) == [ids["rule"]]
    assert refs(briefing.failed_experiences) == [ids["failed"]]
    assert refs(briefing.successful_experiences) == [ids["worked"]]
    assert refs(briefing.open_commitments) == [ids["owed"]]
    assert briefing.knowledge[0]["text"] == "Ada lives in Rome" and briefing.knowledge[0]["support"] == [ids["home"]]
    json.dumps(briefing.to_dict())


def test_an_unasked_constraint_surfaces():
    nexus, ids = world()
    briefing = brief(nexus, "Water the plants")
    assert refs(briefing.constraints) == [ids["rule"]]
    assert briefing.coverage["channels"]["constraints"] == {"completed": True, "truncated": False}
    assert str(briefing).index("never deploy on Fridays") < str(briefing).index("Coverage")


def test_a_rule_of_a_canon_and_a_claim_are_constraints():
    nexus, ids = world()
    made = nexus.execute("""MUTATE {
      CREATE CONCEPT ?article { TYPE "CanonArticle" SET FIELDS {key: ":report"}
        SET ATTRIBUTES {mount: "", address: "report", capsule: "no commas", body: "", scope: "rule"} }
      CREATE CONCEPT ?asset { TYPE "Asset" SET FIELDS {key: ":writer"} }
    }""").handles
    claim = say(nexus, made["asset"], "must_not_contain", "comma", ids["ada"])
    sources = {item["source"]: item["text"] for item in brief(nexus, "write").constraints}
    assert sources["rule"] == "report: no commas" and sources["claim"] == ":writer must not contain 'comma'"
    say(nexus, made["asset"], "must_not_contain", "comma", ids["bob"], stance="reject")
    contested = brief(nexus, "write")
    assert "claim" not in {item["source"] for item in contested.constraints}
    assert contested.warnings[0]["severity"] == "critical"
    assert contested.warnings[0]["kind"] == "unsettled_constraint"
    assert not contested.coverage["action_eligible"]
    nexus.execute('TRANSITION :a TO "retracted"', {"a": claim})
    assert "claim" not in {item["source"] for item in brief(nexus, "write").constraints}


def test_a_rule_that_the_memory_interface_heard_is_a_constraint_of_every_briefing():
    nexus, _ = world()
    memory = MemoryInterface(nexus)
    memory.observe(memory.stage("m-1", "Never share my address.", speaker="ada"))
    held = {item["source"]: item["text"] for item in brief(nexus, "water the plants").constraints}
    assert held["heed"] == "Never share my address"
    assert "heed" not in {item["source"] for item in Brain(nexus, constraints=()).brief("water").constraints}


def test_the_memory_interface_carries_every_constraint_of_a_briefing():
    nexus, ids = world()
    nexus.execute("""CREATE CONCEPT ?article { TYPE "CanonArticle" SET FIELDS {key: ":report"}
      SET ATTRIBUTES {mount: "", address: "report", capsule: "no commas", body: "", scope: "rule"} }""")
    asset = nexus.execute('CREATE CONCEPT ?asset { TYPE "Asset" SET FIELDS {key: ":writer"} }').handles["asset"]
    say(nexus, asset, "must_not_contain", "comma", ids["ada"])
    items = MemoryInterface(nexus).recall("water the plants")["result"]["items"]
    texts = {item["text"] for item in items if item["role"] == "constraint"}
    assert texts == {item["text"] for item in brief(nexus, "water the plants").constraints}
    assert len(texts) == 3


def test_coverage_is_a_recall_coverage():
    nexus, _ = world()
    coverage = brain_of(nexus).brief("deploy version 2", detail="evidence").coverage
    assert set(coverage["channels"]) == CHANNELS
    assert coverage["action_eligible"] is True
    validated("RecallCoverage", coverage)


def many(nexus, count, outcome="failure"):
    for number in range(count):
        nexus.execute(
            """CREATE CONCEPT ?x { TYPE "Experience" SET FIELDS {key: :key}
            SET ATTRIBUTES {goal: "sail round the cape", outcome_status: :outcome} }""",
            {"key": f"{outcome}-{number}", "outcome": outcome},
        )


@pytest.mark.parametrize(("outcome", "channel"), [("failure", "failures"), ("success", "experiences")])
def test_what_a_limit_cuts_makes_the_coverage_incomplete(outcome, channel):
    nexus = opened()
    many(nexus, 3, outcome)
    whole = brief(nexus, "sail round the cape", budget={"items": 3})
    assert whole.complete and whole.coverage["action_eligible"]
    cut = brief(nexus, "sail round the cape", budget={"items": 2})
    assert cut.coverage["channels"][channel] == {"completed": True, "truncated": True}
    assert not cut.complete and not cut.coverage["action_eligible"]


def test_a_token_budget_cuts_from_the_least_binding_end():
    nexus, ids = world()
    many(nexus, 10, "success")
    whole = brief(nexus, "sail round the cape")
    size = estimate_text(json.dumps({name: value for name, value in whole.to_dict().items() if name != "coverage"}))
    cut = brief(nexus, "sail round the cape", budget={"max_output_tokens": size - 200})
    assert refs(cut.constraints) == [ids["rule"]] and refs(cut.open_commitments) == [ids["owed"]]
    assert cut.warnings == whole.warnings
    kept = len(cut.knowledge) + len(cut.successful_experiences)
    assert kept < len(whole.knowledge) + len(whole.successful_experiences)
    assert not cut.complete and not cut.coverage["action_eligible"]
    used = {name: value for name, value in cut.to_dict().items() if name != "coverage"}
    assert estimate_text(json.dumps(used)) <= size - 200


def test_what_binds_is_never_cut():
    nexus, _ = world()
    with pytest.raises(kipql.KipError) as caught:
        brief(nexus, "deploy version 2", budget={"max_output_tokens": 10})
    assert caught.value.code == "ResultLimitExceeded" and caught.value.details["needed"] > 10


def test_a_deadline_leaves_channels_unread_and_says_so(monkeypatch):
    from kipql.memory.brief import reading

    nexus, _ = world()
    clock = iter([0.0, *[99.0] * 50])
    monkeypatch.setattr(reading.time, "monotonic", lambda: next(clock))
    briefing = brief(nexus, "deploy version 2", budget={"deadline_ms": 1000})
    assert not any(channel["completed"] for channel in briefing.coverage["channels"].values())
    assert not briefing.coverage["action_eligible"]
    assert any("ExecutionTimeout" in warning["text"] for warning in briefing.warnings)


def test_what_belongs_to_another_task_is_left_out():
    nexus = opened()
    made = nexus.execute("""MUTATE {
      CREATE CONCEPT ?task { TYPE "Topic" NAME "task nine" }
      CREATE CONCEPT ?other { TYPE "Topic" NAME "task ten" }
    }""").handles
    for task in (made["task"], made["other"], None):
        facet = 'SET FACET "MemoryScope" {task_ref: :task, context_refs: []}' if task else ""
        nexus.execute(
            f"""CREATE CONCEPT ?x {{ TYPE "Insight" SET FIELDS {{key: :key}}
            SET ATTRIBUTES {{summary: "never deploy", scope: "constraint"}} {facet} }}""",
            {"task": task, "key": str(task)},
        )
    scoped = brief(nexus, "deploy", scope={"task_ref": made["task"]}).constraints
    assert [item["key"] for item in scoped] == [made["task"], "None"]
    assert [item["key"] for item in brief(nexus, "deploy").constraints] == ["None"]


def test_the_action_context_influences_relevance_and_permits_nothing():
    nexus, ids = world()
    assert brief(nexus, "What now?").failed_experiences == []
    told = brief(nexus, "What now?", action_context={"goal": "deploy version 2", "available_tools": ["shell"]})
    assert refs(told.failed_experiences) == [ids["failed"]]


def test_a_briefing_is_a_few_batches_whatever_the_memory_holds():
    def batches(nexus):
        from kipql.memory.brief.briefing import briefing
        from kipql.memory.brief.question import question
        from kipql.memory.brief.reading import Reading

        reading = Reading(nexus, question("sail round the cape with Ada"))
        briefing(reading, None)
        return reading.batches

    nexus, _ = world()
    few = batches(nexus)
    many(nexus, 200)
    assert batches(nexus) == few <= 8
