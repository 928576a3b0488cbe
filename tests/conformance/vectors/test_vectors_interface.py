"""Scenarios of the Memory Interface: intake, barriers, source order, briefings, forgetting."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql.memory.brief import Brain
from kipql.memory.interface import Claim, Formed, Heard, MemoryInterface, MemorySession, RuleFormation
from kipql.memory.interface.forgetting import Surface
from tests.conformance.vectors.registry import observe
from tests.conformance.vectors.scene import DAY, PREFIXES, Scene, refused, scene
from tests.mutate.test_kml_skill import made, promote, sampled

TIMEZONE = PREFIXES["test/"] + "timezone"


def timezones(heard: Heard) -> Formed | None:
    """A formation for the vocabulary of the fixture: the last word is the speaker's timezone."""
    if heard.text is None or "timezone" not in heard.text:
        return RuleFormation()(heard)
    return Formed(claims=(Claim(predicate=TIMEZONE, object=heard.text.split()[-1]),))


class Agent:
    """A business agent and its host on a scene."""

    def __init__(self, given: Scene, **options: Any) -> None:
        self.given = given
        self.memory = MemoryInterface(given.nexus, options.pop("formation", timezones), **options)

    def stage(self, ref: str, text: str, at: str = DAY("01-02"), **attested: Any) -> str:
        return self.memory.stage(ref, text, observed_at=at, **{"speaker": self.given.ids["alice"], **attested})

    def observe(
        self, ref: str, text: str, at: str = DAY("01-02"), scope: Any = None, **attested: Any
    ) -> dict[str, Any]:
        self.stage(ref, text, at, **attested)
        return self.memory.observe(ref, idempotency_key=f"observe:{ref}", **({"scope": scope} if scope else {}))

    def revise(self, ref: str, text: str, kind: str, at: str, **attested: Any) -> dict[str, Any]:
        self.stage(ref, text, at, **attested)
        return self.memory.revise(ref, kind)

    def facts(self, query: str = "What is the timezone of Alice?", **given: Any) -> list[dict[str, Any]]:
        items = self.memory.recall(query, **given)["result"]["items"]
        return [each for each in items if each["role"] == "fact" and "timezone" in each["text"]]

    def activities(self, *classes: str) -> int:
        text = "FIND(COUNT(?x)) WHERE { ?x ACTIVITY {} FILTER(IN(?x.activity_class, :classes)) }"
        return int(self.given.nexus.query(text, {"classes": list(classes)}).scalar())


def plain(name: str = "core-basic", **options: Any) -> Agent:
    """An agent on a scene in which nobody has said anything about Bob's timezone."""
    return Agent(scene(name, now=DAY("09-25")), **options)


def test_mif_001_the_five_intents_need_no_trial_and_levels_are_told_truthfully() -> None:
    agent = plain()
    bob = {"speaker": agent.given.ids["bob"]}
    done = [
        agent.observe("s-1", "my timezone is +01:00", **bob),
        agent.memory.recall("What is the timezone of Bob?"),
        agent.revise("s-2", "my timezone is +02:00", "correction", DAY("02-02"), **bob),
    ]
    agent.stage("s-3", "that helped", DAY("02-03"), **bob)
    done += [agent.memory.feedback("s-3"), agent.memory.forget("s-1", "payload_only")]
    learning = {"kip_memory": "2.0", "operation": "recall", "input": {"query": "x"}, "requires": ["memory_learning"]}
    unknown = {**learning, "requires": ["memory_magic"]}
    codes = {agent.memory.request(each)["error"]["code"] for each in (learning, unknown)}
    (code,) = codes
    invalid = refused(MemoryInterface, agent.given.nexus, levels=["memory_basic", "memory_learning"])
    assert agent.memory.descriptor()["bundles"] == ["memory_basic"]

    agent.given.do(
        'CREATE CONCEPT ?x { TYPE "mem/Experience" SET ATTRIBUTES {goal: "migrate Bob", outcome_status: "failure"} }'
    )
    retained = agent.memory.recall("What is the timezone of Bob?", mode="action")["result"]["coverage"]
    observe(
        "MIF-001",
        basic_intents_usable={each["status"] for each in done} == {"succeeded"},
        learning_without_bundle=code,
        invalid_bundle_rejected=invalid.code == "ConstraintViolation",
        unserved_retained_failures=retained["channels"]["failures"],
        unserved_retained_action_eligible=retained["action_eligible"],
        ordinary_input_opened_trial=bool(agent.activities("trial_open", "action_attempt", "lifecycle_verdict")),
    )


def test_mif_002_what_is_persisted_is_not_yet_understood() -> None:
    agent = plain(defer=True)
    bob = {"speaker": agent.given.ids["bob"]}
    agent.observe("source-76", "my timezone is +01:00", **bob)
    agent.memory.process()
    receipt = agent.observe("source-77", "my timezone is +02:00", DAY("02-02"), **bob)["receipt"]["receipt_ref"]
    before = agent.memory.recall("timezone of Bob", after=[receipt], budget={"deadline_ms": 5})
    coverage = before["result"]["coverage"]
    assert before["status"] == "pending" and coverage["pending_receipts"] == [receipt]
    assert not any(each["action_eligible"] for each in before["result"]["items"])
    agent.memory.process()
    after = agent.memory.recall("timezone of Bob", after=[receipt])
    assert "Bob timezone +02:00" in [each["text"] for each in after["result"]["items"]]
    assert agent.memory.observe("source-77", idempotency_key="observe:source-77")["receipt"]["receipt_ref"] == receipt
    observe(
        "MIF-002",
        before_formation_satisfied=before["status"] == "succeeded",
        before_formation_action_eligible=coverage["action_eligible"],
        after_formation_satisfied=after["status"] == "succeeded",
        intake_count=agent.activities("kipql:memory_observe") - 1,  # without that of source-76
    )


def test_mif_005_a_retry_after_a_restart_is_the_first_acknowledgement(tmp_path: Path) -> None:
    formed: list[str] = []

    def formation(heard: Heard) -> None:
        formed.append(heard.source_ref)

    given = scene("core-basic", tmp_path / "m", now=DAY("09-25"))
    agent = Agent(given, formation=formation, defer=True)
    agent.stage("s", "hello")
    envelope: dict[str, Any] = {
        "kip_memory": "2.0", "operation": "observe", "idempotency_key": "k", "request_id": "1",
        "budget": {"max_output_tokens": 800}, "input": {"source_ref": "s"},
    }  # fmt: skip
    first = agent.memory.request(envelope)["receipt"]
    again = {**envelope, "request_id": "2", "budget": {"max_output_tokens": 900}}
    replies = []
    for _ in range(2):
        given.nexus.close()
        given.nexus = kipql.open(tmp_path / "m", clock=given.clock)
        agent = Agent(given, formation=formation, defer=True)
        replies.append(agent.memory.request(again)["receipt"])
        agent.memory.process()
    task = given.ids["project_alpha"]
    scoped = agent.memory.request({**again, "scope": {"task_ref": task}})["error"]["code"]
    agent.stage("s", "other bytes")
    observe(
        "MIF-005",
        same_acknowledgement=replies == [first, first],
        changed_source_error=agent.memory.request(again)["error"]["code"],
        changed_scope_error=scoped,
        intake_count=agent.activities("kipql:memory_observe"),
        formation_count=len(formed),
    )
    given.nexus.close()


def test_mif_009_an_acknowledgement_of_forgetting_is_no_erasure() -> None:
    states = ["pending"]
    erased: list[str] = []

    def backup(refs: Any) -> str:
        erased.extend(refs)
        return states[-1]

    agent = plain(surfaces=[Surface("backup", backup)])
    bob = {"speaker": agent.given.ids["bob"]}
    agent.observe("s-1", "my timezone is +01:00", **bob)
    agent.observe("s-2", "my timezone is +01:00", DAY("01-03"), **bob)
    early = agent.memory.forget("s-1", "semantic")
    assert early["progress"]["phase"] == "recorded" and early["status"] == "partial"
    states.append("erased")
    agent.memory.process()
    late = agent.memory.forget("s-1", "semantic")
    assert late["progress"]["disposition"] == "erased" and erased

    (held,) = agent.given.rows("FIND(?e.id) WHERE { ?e EVIDENCE {client_key: :key} }", key="kip_memory:source:s-2")
    agent.given.do("SET RETENTION :e {legal_hold: true}", e=held)
    blocked = agent.memory.forget("s-2", "semantic")
    missing = agent.memory.forget("s-9", "semantic")
    assert missing["error"]["code"] == "NotFoundOrNotVisible"
    copies = agent.given.rows("FIND(?e.id) WHERE { ?e EVIDENCE {client_key: :key} }", key="kip_memory:source:s-1")
    observe(
        "MIF-009",
        partial_reported_completed=early["result"]["status"] == "completed",
        complete_after_all_surfaces=(late["status"], late["result"]["status"]) == ("succeeded", "completed"),
        hold_blocks_completion=(blocked["status"], blocked["result"]["status"]) == ("partial", "blocked"),
        in_scope_copies_after_completed=len(copies),
    )


def test_mif_013_a_new_fact_becomes_recallable() -> None:
    agent = plain(defer=True)
    bob = agent.given.ids["bob"]
    count = len(agent.given.statuses())
    receipt = agent.observe("source-13", "my timezone is +01:00", speaker=bob)["receipt"]["receipt_ref"]
    early = agent.memory.recall("What is the timezone of Bob?", after=[receipt])
    agent.memory.process()
    late = agent.memory.recall("What is the timezone of Bob?", after=[receipt])
    (fact,) = [each for each in late["result"]["items"] if each["text"] == "Bob timezone +01:00"]
    assert late["status"] == "succeeded"
    observe(
        "MIF-013",
        accepted_after_available=fact["epistemic_status"] == "accepted",
        cited_source=fact["evidence_refs"][0],
        pending_before_available=early["status"] == "pending",
        fact_assertions=len(agent.given.statuses()) - count,
    )


def test_mif_018_a_rule_surfaces_though_nobody_asks_for_it() -> None:
    agent = plain()
    scope = {"task_ref": agent.given.ids["project_alpha"]}
    agent.observe("rule", "never deploy on Fridays", scope=scope)
    before = agent.given.nexus.digest()
    asked = "help me schedule the release of 2026-09-25"
    found = agent.memory.recall(asked, mode="action", scope=scope)["result"]
    middle = agent.given.nexus.digest()
    (rule,) = [each for each in found["items"] if each["role"] == "constraint"]
    small = MemoryInterface(agent.given.nexus, timezones, channel_limit=1)
    for verb in ("merge", "push"):
        agent.observe(verb, f"never {verb} on Fridays", scope=scope)
    held = agent.given.nexus.digest()
    truncated = small.recall(asked, mode="action", scope=scope)["result"]["coverage"]
    elsewhere = agent.memory.recall(asked, mode="action")["result"]["items"]
    assert not any(each["role"] == "constraint" for each in elsewhere)  # the rule is that task's alone
    observe(
        "MIF-018",
        constraint_surfaced=(rule["text"], rule["epistemic_status"]) == ("never deploy on Fridays", "accepted"),
        constraints_channel=found["coverage"]["channels"]["constraints"],
        truncated_action_eligible=truncated["action_eligible"],
        recall_writes=int(agent.given.nexus.digest() != held or middle != before),
    )


def test_rel_005_corrections_converge_whatever_order_they_arrive_in(tmp_path: Path) -> None:
    corrections = {
        "c-1": ("my timezone is first", DAY("02-01"), ()),
        "c-2": ("my timezone is second", DAY("03-01"), ("c-1",)),
        "c-3": ("my timezone is latest", DAY("04-01"), ("c-2",)),
    }
    values, duplicates, blocked = set(), 0, set()
    for number, order in enumerate(permutations(corrections)):
        given = scene(path=tmp_path / str(number), now=DAY("09-25"))
        agent = Agent(given, defer=True)
        bob = given.ids["bob"]
        count = len(given.statuses())
        agent.observe("c-0", "my timezone is zero", DAY("01-02"), speaker=bob)
        agent.memory.process()
        receipts = {}
        for ref in order:
            text, at, after = corrections[ref]
            receipts[ref] = agent.revise(ref, text, "correction", at, speaker=bob, after=after)["receipt"]
            agent.memory.process()
            given.nexus.close()  # a restart after each admission
            given.nexus = kipql.open(tmp_path / str(number), clock=given.clock)
            agent = Agent(given, defer=True)
        for ref in order:
            assert agent.memory.revise(ref, "correction")["receipt"] == receipts[ref]
        agent.memory.process()
        (accepted,) = given.slot(bob, "test/timezone", policy="kip:memory-default")["accepted_values"]
        values.add(accepted)
        duplicates += len(given.statuses()) - count - 4
        assert agent.facts("timezone of Bob")[0]["text"] == "Bob timezone latest"
        given.nexus.close()

    def failing(heard: Heard) -> Formed | None:
        if heard.source_ref == "c-1":
            raise ValueError("unreadable")
        return timezones(heard)

    agent = plain("cognitive-consistency", formation=failing)
    for ref, (text, at, after) in corrections.items():
        done = agent.revise(ref, text, "correction", at, speaker=agent.given.ids["bob"], after=after)
        blocked.add((ref, done["progress"]["phase"]))
    assert agent.memory.recall("timezone of Bob")["status"] == "partial"
    observe(
        "REL-005",
        all_orders_final_value="latest" if values == {"latest"} else sorted(values),
        failed_predecessor_blocks=blocked == {("c-1", "failed"), ("c-2", "recorded"), ("c-3", "recorded")},
        retry_duplicate_count=duplicates,
    )


def test_rel_008_mandatory_channels_are_read_exactly_and_similar_ones_said_to_be_approximate() -> None:
    agent = plain("cognitive-consistency")
    agent.observe("rule", "never deploy on Fridays")
    for number in range(60):
        agent.observe(f"noise-{number}", f"the database migration went well, run {number}")
    wide = agent.memory.recall(
        "database migration", mode="action", detail="evidence", budget={"max_output_tokens": 100_000}
    )
    narrow = agent.memory.recall("database migration", mode="action", budget={"max_output_tokens": 700})
    answers = [wide, narrow]
    small = MemoryInterface(agent.given.nexus, timezones, channel_limit=1)
    agent.observe("rule-2", "never merge on Fridays")
    answers.append(small.recall("database migration", mode="action"))
    agent.observe("later", "my timezone is +01:00", after=("never captured",), speaker=agent.given.ids["bob"])
    answers.append(agent.memory.recall("timezone of Bob", mode="action"))
    assert [each["status"] for each in answers] == ["succeeded", "partial", "partial", "partial"]
    surfaced = [any(item["role"] == "constraint" for item in each["result"]["items"]) for each in answers]
    plans = wide["result"]["details"]["coverage"]["plans"]
    assert plans["constraints"]["method"] == "exact" and plans["constraints"]["snapshot_seq"] > 0
    assert plans["evidence"]["index_seq"] == plans["evidence"]["snapshot_seq"]
    assert plans["evidence"]["selector"]["content_digest"] != plans["constraints"]["selector"]["content_digest"]
    assert answers[-1]["result"]["coverage"]["channels"]["evidence"] == "incomplete"
    assert answers[-2]["result"]["coverage"]["channels"]["constraints"] == "incomplete"
    observe(
        "REL-008",
        critical_constraint_or_incomplete=all(surfaced),
        approximate_is_semantically_exhaustive=plans["evidence"]["method"] == "exact",
        false_action_eligibility_count=sum(
            each["result"]["coverage"]["action_eligible"] and (each["status"] != "succeeded" or not there)
            for each, there in zip(answers, surfaced, strict=True)
        ),
    )


def test_rel_013_a_session_accounts_for_every_receipt_by_itself(tmp_path: Path) -> None:
    given = scene(path=tmp_path / "m", now=DAY("09-25"))
    agent = Agent(given, defer=True)
    session = MemorySession(agent.memory)

    def say(ref: str, **attested: Any) -> dict[str, Any]:
        agent.stage(ref, "hello", **attested)
        envelope = {"kip_memory": "2.0", "operation": "observe", "idempotency_key": ref, "input": {"source_ref": ref}}
        return session.request(envelope)

    first = say("A", after=("never captured",))["receipt"]["receipt_ref"]
    second = say("B")["receipt"]["receipt_ref"]
    assert agent.memory.process() == [second]
    kept = json.loads(json.dumps(session.checkpoint()))
    given.nexus.close()
    given.nexus = kipql.open(tmp_path / "m", clock=given.clock)
    agent = Agent(given, defer=True)
    session = MemorySession(agent.memory, kept)
    recall = {"kip_memory": "2.0", "operation": "recall", "input": {"query": "hello"}}
    answer = session.request(recall)
    waiting = answer["result"]["coverage"]["pending_receipts"]
    foreign = plain("cognitive-consistency").observe("x", "hello")["receipt"]["receipt_ref"]
    with pytest.raises(kipql.KipError) as caught:
        MemorySession(agent.memory, {**kept, "outstanding": [foreign]})
    filled = [say(f"more-{number}") for number in range(128)]
    taken = [each["receipt"]["receipt_ref"] for each in filled if "receipt" in each]
    assert filled[-1]["error"]["code"] == "ResourceExhausted"
    observe(
        "REL-013",
        pending_A_preserved=answer["status"] == "pending" and waiting == [first],
        foreign_receipt_rejected=caught.value.code == "NotFoundOrNotVisible",
        lost_receipts=len({first, *taken} - set(session.outstanding)),
    )
    given.nexus.close()


def test_mem_023_a_rule_outranks_what_is_similar_and_standing_is_never_borrowed() -> None:
    proposed, (adopted, *trial) = made(), sampled()
    promote(adopted, *trial)
    (candidate,) = Brain(proposed).brief("Deploy").skills
    briefings, exposed = [], False
    for nexus in (proposed, adopted):
        memory = MemoryInterface(nexus)
        memory.stage("rule", "never deploy on Fridays", speaker="ada")
        memory.observe("rule")
        before = nexus.digest()
        briefings.append(memory.recall("Deploy the release", mode="action", budget={"max_output_tokens": 420}))
        exposed = exposed or nexus.digest() != before

    (verdict,) = adopted.query('FIND(?v.id) WHERE { STRUCTURAL ("C-1", "current_evaluation", ?v) }').rows
    adopted.govern.labels("public", "secret")
    adopted.govern.grant("reader", "discover", "read", "project", "search", up_to="public")
    adopted.govern.classify(verdict, "secret")  # for the reader the evaluation is unavailable
    reader = Brain(adopted.as_principal("reader"))
    (claimed,) = reader.brief("Deploy").skills
    assert claimed["standing"] == "adopted" and claimed["text"].startswith("unproven")
    assert Brain(adopted).check_procedure_status("C-1")["recommendation_allowed"]
    for each in briefings:  # a Skill is kept that this level does not serve: it is said, and nothing is eligible
        assert each["result"]["coverage"]["channels"]["skills"] == "incomplete"
        assert not each["result"]["coverage"]["action_eligible"]
        assert not any(item["role"] == "procedure" for item in each["result"]["items"])
    kept = [any(item["role"] == "constraint" for item in each["result"]["items"]) for each in briefings]
    assert all(kept)
    observe(
        "MEM-023",
        constraint_retained_or_incomplete=all(kept),
        ungraded_candidates_visible=(candidate["standing"], candidate["validated"]) == ("proposed", False),
        unverified_adopted_recommended=reader.check_procedure_status("C-1")["recommendation_allowed"],
        exposure_only_reinforcement=exposed,
    )
