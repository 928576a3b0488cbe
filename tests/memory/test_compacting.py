"""Committing a compaction: one transaction or nothing, and what can be read afterwards (section 3.4 of the design)."""

import pytest

import kipql
from kipql.memory import AgentMemory
from tests.memory.support import SUMMARY, TURN_3, fixture_s, say

ACTIVITIES = """FIND(?in.key) WHERE {
  ?act ACTIVITY {activity_class: "context_compaction"} STRUCTURAL(?act, "inputs", ?in)
} ORDER BY ?in.key ASC"""
FACTS = 'FIND(?p.object) WHERE { ?p (?s, "noted", ?o) }'


def planned(memory, **settings):
    return memory.plan_compaction(force=True, **{"protect_first": 2, "protect_last": 4, **settings})


def compacted(memory, summary=SUMMARY, **settings):
    outcome = memory.commit_compaction(planned(memory, **settings), summary)
    assert outcome["committed"], outcome
    return outcome


@pytest.fixture
def memory():
    return fixture_s(turns=8)


@pytest.mark.parametrize("summary", ["", "x" * 29, "  " + "x" * 29 + "  ", None])
def test_E13_an_unusable_summary_changes_nothing(memory, summary):
    seen = []
    memory._on_progress = seen.append
    plan, digest = planned(memory), memory._nexus.digest()
    outcome = memory.commit_compaction(plan, summary=summary, facts=["the plan is A then B"])
    assert outcome == {"committed": False, "reason": "summary_unusable"}
    assert memory._nexus.digest() == digest
    assert (memory.working_state(), memory.recall(3).messages) == (None, TURN_3)
    assert memory._nexus.query(FACTS).rows == []
    assert seen == [{"status": "failed", "reason": "summary_unusable"}]


def test_E14_a_usable_summary_is_exactly_one_transaction(memory):
    nexus = memory._nexus
    plan = planned(memory)
    assert plan.basis_seq == nexus.space_seq
    outcome = memory.commit_compaction(plan, "x" * 30, facts=["the plan is A then B"])
    assert outcome["committed"] and outcome["space_seq"] == plan.basis_seq + 1 == nexus.space_seq
    state = memory.working_state()
    assert (state.summary, state.basis_seq) == ("x" * 30, plan.basis_seq)
    assert nexus.query(ACTIVITIES).rows == [f"turn:s:{turn}" for turn in plan.turns]
    changed = [
        change["id"] for change in nexus.query("CHANGES AFTER SEQ :seq", {"seq": plan.basis_seq}).rows[0]["changes"]
    ]
    assert not [identity for identity in changed if identity.startswith("E-")]


def test_facts_are_inferred_from_the_evidence_of_their_turns(memory):
    nexus = memory._nexus
    facts = ["the plan is A then B", {"object": "three was asked", "turns": [3]}]
    outcome = memory.commit_compaction(planned(memory), SUMMARY, facts=facts)
    asked = """FIND(?p.object, ?a.mode, COUNT(?e)) WHERE {
      ?p (?s, "noted", ?o) ?a ASSERTION {proposition: ?p} STRUCTURAL(?a, "evidence", ?e) ?s {key: "session:s"} }"""
    cited = {row[0]: row[1:] for row in nexus.query(asked).rows}
    assert cited["three was asked"] == ("inferred", 5)
    assert cited["the plan is A then B"][0] == "inferred"
    outputs = (
        'FIND(?out.id) WHERE { ?act ACTIVITY {activity_class: "context_compaction"} STRUCTURAL(?act, "outputs", ?out) }'
    )
    assert set(outcome["facts"]) < set(nexus.query(outputs).rows)
    belief = 'FIND(?b.status) WHERE { ?s {key: "session:s"} ?b BELIEF (?s, "noted", "the plan is A then B") }'
    assert nexus.query(belief).rows == ["accepted"]


def test_a_fact_about_something_else_uses_its_own_words(memory):
    nexus = memory._nexus
    ada = nexus.execute('CREATE CONCEPT ?ada { TYPE "Person" NAME "Ada" }').handles["ada"]
    facts = [(ada, "noted", "likes A"), {"subject": ada, "predicate": "noted", "object": "likes B"}]
    assert len(memory.commit_compaction(planned(memory), SUMMARY, facts=facts)["facts"]) == 2
    for said in ("likes A", "likes B"):
        asked = 'FIND(?b.status) WHERE { ?b BELIEF (:ada, "noted", :said) }'
        assert nexus.query(asked, {"ada": ada, "said": said}).rows == ["accepted"]


@pytest.mark.parametrize(
    "fact",
    [7, {"subject": "x"}, {"object": "y", "turns": [99]}, {"object": "y", "predicate": "no_such"}, {"object": 5}],
)
def test_a_fact_that_does_not_fit_rolls_everything_back(memory, fact):
    plan, digest = planned(memory), memory._nexus.digest()
    with pytest.raises(kipql.KipError):
        memory.commit_compaction(plan, SUMMARY, facts=["good", fact])
    assert (memory._nexus.digest(), memory.working_state()) == (digest, None)


def test_E16_originals_and_earlier_summaries_stay_readable(memory):
    before = {turn: memory.recall(turn).messages for turn in range(1, 9)}
    compacted(memory, "The first summary, which is long enough.")
    first = memory._nexus.space_seq
    say(memory, 9, 10, 11)
    compacted(memory, "The second summary, which is long enough.")
    assert {turn: memory.recall(turn).messages for turn in range(1, 9)} == before
    asked = 'FIND(?ws.attributes.summary) WHERE { ?ws {type: "WorkingState", key: "ws:s"} } AS OF SEQ :seq'
    assert memory._nexus.query(asked, {"seq": first}).rows == ["The first summary, which is long enough."]
    assert memory._nexus.query(asked, {"seq": first - 1}).rows == []


def test_E17_the_summary_so_far_is_an_input_of_the_next(memory):
    compacted(memory)
    say(memory, 9, 10, 11)
    plan = planned(memory)
    assert plan.previous.summary == SUMMARY
    assert memory.commit_compaction(plan, SUMMARY + " More of it.")["committed"]
    state = memory.working_state()
    assert "ws:s" in memory._nexus.query(ACTIVITIES).rows
    assert len(memory._nexus.query(f'HISTORY ELEMENT "{state.id}"')) == 2


def test_chained_plans_condense_each_turn_once_and_split_no_turn(memory):
    condensed = []
    for turn in range(9, 30):
        memory.record_turn(turn, [{**message} for message in TURN_3])
        plan = planned(memory)
        if plan.triggered:
            condensed += memory.commit_compaction(plan, SUMMARY)["turns"]
    assert condensed == sorted(set(condensed)) and len(condensed) > 15
    left = {live["content"] for live in memory.window()}
    assert {"question 1", "answer 1"} <= left
    assert len(memory.window()) < 20


def test_a_plan_is_outdated_when_its_turns_changed(memory):
    nexus = memory._nexus
    grown, again = planned(memory), planned(memory)
    memory.record_turn(3, [*TURN_3, {"role": "assistant", "content": "one more"}])
    digest = nexus.digest()
    assert memory.commit_compaction(grown, SUMMARY) == {"committed": False, "reason": "plan_outdated"}
    assert nexus.digest() == digest
    assert compacted(memory)["turns"] == again.turns
    assert memory.commit_compaction(again, SUMMARY)["reason"] == "plan_outdated"


def test_a_plan_is_outdated_when_a_message_of_it_was_erased_or_the_window_was_reset(memory):
    nexus = memory._nexus
    erased = planned(memory)
    nexus.execute('PURGE PAYLOAD "E-6" CONFIRM "PURGE"')
    assert memory.commit_compaction(erased, SUMMARY)["reason"] == "plan_outdated"
    left = planned(memory)
    memory.reset()
    assert memory.commit_compaction(left, SUMMARY)["reason"] == "plan_outdated"


def test_turns_recorded_meanwhile_do_not_outdate_a_plan(memory):
    plan = planned(memory)
    say(memory, 9, 10)
    memory.pin("meanwhile")
    outcome = memory.commit_compaction(plan, SUMMARY)
    assert (outcome["committed"], outcome["basis_seq"]) == (True, plan.basis_seq)
    assert [message["content"] for message in memory.window()][-2:] == ["question 10", "answer 10"]


@pytest.mark.parametrize("settings", [{}, {"protect_first": 99, "force": True}])
def test_a_plan_that_was_not_triggered_commits_nothing(memory, settings):
    plan, seq = memory.plan_compaction(**settings), memory._nexus.space_seq
    assert memory.commit_compaction(plan, SUMMARY) == {"committed": False, "reason": plan.reason}
    assert memory._nexus.space_seq == seq


def test_only_a_plan_of_this_session_is_taken(memory):
    other = AgentMemory(memory._nexus, session="other")
    from kipql.memory import plan_compaction

    for plan in (other.plan_compaction(force=True), plan_compaction(memory.window(), force=True), None):
        with pytest.raises(kipql.KipError) as raised:
            memory.commit_compaction(plan, SUMMARY)
        assert raised.value.code == "TypeMismatch"


def test_a_turn_that_is_partly_in_the_middle_stays_whole():
    memory = AgentMemory(kipql.open(), session="s")
    memory.record_turn(1, [{"role": "user", "content": str(number)} for number in range(40)])
    plan = memory.plan_compaction(force=True)
    assert (plan.triggered, plan.reason, plan.turns) == (False, "no_compactable_window", [])


def test_planning_writes_nothing(memory):
    digest, events = memory._nexus.digest(), len(memory.trace.events())
    planned(memory)
    assert (memory._nexus.digest(), len(memory.trace.events())) == (digest, events)


def test_a_plan_hands_out_what_is_to_be_summarised():
    memory = AgentMemory(kipql.open(), session="s")
    say(memory, 1)
    call = {"role": "assistant", "tool_calls": [{"id": "c", "name": "f"}]}
    answer = {"role": "tool", "tool_call_id": "c", "content": "x" * 999}
    memory.record_turn(2, [{"role": "user", "content": "go"}, call, answer])
    say(memory, 3, 4, 5)
    messages = planned(memory).middle_messages()
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "user", "assistant"]
    assert len(messages[2]["content"]) < 200


def test_the_surface_is_told_what_happens(memory):
    seen = []
    memory._on_progress = seen.append
    outcomes = memory.compact(lambda plan: SUMMARY, force=True, protect_last=4)
    assert [outcome["committed"] for outcome in outcomes] == [True]
    assert [event["status"] for event in seen] == ["compacting", "compacted"]
    assert (seen[1]["messages_before"], seen[1]["messages_after"]) == (19, len(memory.window()))
    say(memory, 9, 10)
    memory.compact(lambda plan: None, force=True, protect_last=4)
    assert [event["status"] for event in seen[2:]] == ["compacting", "failed"]
    assert memory.trace.events("compaction")[-1]["metadata"]["status"] == "failed"


def test_passes_go_on_until_the_window_is_small_enough():
    memory = AgentMemory(kipql.open(), session="s", window_tokens=2048)
    for turn in range(1, 60):
        memory.record_turn(turn, [{"role": "user", "content": "x" * 400}])
    outcomes = memory.compact(lambda plan: SUMMARY, protect_last=4)
    assert outcomes and all(outcome["committed"] for outcome in outcomes)
    assert not memory.plan_compaction(protect_last=4).triggered


def test_E25_reset_empties_the_window_and_forgets_nothing():
    memory = fixture_s(turns=8)
    memory.pin("kept")
    compacted(memory)
    assert memory.reset()["reset"]
    assert memory.window() == []
    assert memory.recall(3).messages == TURN_3
    assert [pin.content for pin in memory.pins()] == ["kept"]
    assert memory.working_state().summary == SUMMARY
    channels = memory.assemble("x", profile="reflex", topics=["zeppelin"]).coverage["channels"]
    assert (channels["working_state"]["kept"], channels["tail"]["kept"], channels["pins"]["kept"]) == (0, 0, 1)
    say(memory, 9)
    assert len(memory.window()) == 2


def test_a_reset_outlives_the_process(tmp_path):
    with kipql.open(tmp_path / "brain.kip") as nexus:
        fixture_s(nexus).reset()
    with kipql.open(tmp_path / "brain.kip") as nexus:
        assert AgentMemory(nexus, session="s").window() == []


def test_E26_a_summary_is_no_evidence(memory):
    compacted(memory)
    state = memory.working_state().id
    with pytest.raises(kipql.KipError) as raised:
        memory._nexus.execute(
            'MUTATE { CREATE CONCEPT ?ada { TYPE "Person" NAME "Ada" } '
            'ASSERT (?ada, "noted", "x") {by: ?ada, mode: "stated", evidence: [:ws]} }',
            {"ws": state},
        )
    assert raised.value.code == "ConstraintViolation"


def test_a_compaction_pins_the_evidence_it_rests_on(memory):
    memory.commit_compaction(planned(memory), SUMMARY, facts=["the plan is A then B"])
    asked = 'FIND(?act.facets) WHERE { ?act ACTIVITY {activity_class: "context_compaction"} }'
    (facets,) = memory._nexus.query(asked).rows
    (basis,) = facets.values()
    pinned = {pin["id"] for group in basis["groups"] for pin in group["pins"]}
    turns = 'FIND(?m.id) WHERE { ?t {key: :key} STRUCTURAL(?t, "has_message", ?m) }'
    assert set(memory._nexus.query(turns, {"key": "turn:s:3"}).rows) <= pinned
    assert all(pin["version"] == 1 for group in basis["groups"] for pin in group["pins"])
