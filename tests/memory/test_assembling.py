"""Assembling a prompt under a budget: order, whole items, coverage, refusals (sections 3.3 and 3.4 of the design)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kipql
from kipql.memory import AgentMemory, MemoryInterface
from kipql.memory.assembly import cost
from kipql.memory.channels import CHANNELS, units
from kipql.memory.tokens import estimate_text
from tests.memory.brief.test_skills import adopted, revoked
from tests.memory.support import SUMMARY, TURN_3, fixture_s, say
from tests.mutate.test_kml_skill import made

WORLD = """MUTATE {
  CREATE CONCEPT ?owed { TYPE "Commitment" SET FIELDS {key: "owed"}
    SET ATTRIBUTES {summary: "send the report", status: "pending"} }
  CREATE CONCEPT ?stuck { TYPE "Commitment" SET FIELDS {key: "stuck"}
    SET ATTRIBUTES {summary: "get the keys", status: "blocked"} }
  CREATE CONCEPT ?done { TYPE "Commitment" SET FIELDS {key: "done"}
    SET ATTRIBUTES {summary: "book a room", status: "fulfilled"} }
  CREATE CONCEPT ?rule { TYPE "CanonArticle" SET FIELDS {key: ":deployment"}
    SET ATTRIBUTES {mount: "", address: "deployment", capsule: "never on a Friday", body: "", scope: "rule"} }
  CREATE CONCEPT ?prose { TYPE "CanonArticle" SET FIELDS {key: ":deployment/log"}
    SET ATTRIBUTES {mount: "", address: "deployment/log", capsule: "reading a log", body: "", scope: ""} }
  CREATE CONCEPT ?fail { TYPE "Experience" SET FIELDS {key: "fail"}
    SET ATTRIBUTES {goal: "deployment of v1", outcome_status: "failure", outcome_summary: "the disk was full"} }
  CREATE CONCEPT ?good { TYPE "Experience" SET FIELDS {key: "good"}
    SET ATTRIBUTES {goal: "deployment of v0", outcome_status: "success"} }
  CREATE CONCEPT ?ada { TYPE "Person" NAME "Ada" SET ATTRIBUTES {description: "runs the deployment"} }
  CREATE CONCEPT ?bob { TYPE "Person" NAME "Bob" }
  ASSERT (?ada, "noted", "has the keys") {by: ?ada, mode: "stated"}
  ASSERT (?ada, "noted", "is on leave") {by: ?ada, mode: "stated"}
  ASSERT (?ada, "noted", "is on leave") {by: ?bob, mode: "stated", stance: "reject"}
}"""


@pytest.fixture
def memory():
    memory = fixture_s(turns=8)
    memory._nexus.execute(WORLD)
    memory.pin("the budget is fixed", label="budget")
    memory.commit_compaction(memory.plan_compaction(force=True, protect_last=4), SUMMARY)
    return memory


def assembled(memory, goal="deployment v2", **asked):
    return memory.assemble(
        goal, **{"profile": "deliberate", "window_tokens": 4000, "reserve": 200, "topics": ["deployment"], **asked}
    )


def texts(context, channel):
    return [block["text"] for block in context.blocks if block["channel"] == channel]


def test_every_channel_has_its_place(memory):
    context = assembled(memory, capsules=["src/feed: caps pages at 50"])
    assert context.ok and context.reason == "ok"
    order = [block["channel"] for block in context.blocks]
    assert order == sorted(order, key=CHANNELS.index)
    assert list(context.coverage["channels"]) == list(CHANNELS)
    assert sorted(texts(context, "constraints")) == [
        "[commitment, blocked] get the keys",
        "[commitment, pending] send the report",
        "[rule deployment] never on a Friday",
    ]
    assert texts(context, "pins") == ["[pinned: budget]\nthe budget is fixed"]
    assert texts(context, "working_state") == [f"[summary of earlier turns]\n{SUMMARY}"]
    assert texts(context, "warnings") == ["[failed experience, failure] deployment of v1: the disk was full"]
    assert texts(context, "experiences") == ["[experience, success] deployment of v0"]
    assert texts(context, "beliefs") == ["[accepted] Ada noted has the keys", "[contested] Ada noted is on leave"]
    assert texts(context, "capsules") == ["src/feed: caps pages at 50"]
    assert context.warnings == ["contested: Ada noted is on leave"]


def test_blocks_know_where_they_come_from_and_why_they_are_there(memory):
    context = assembled(memory)
    for block in context.blocks:
        assert block.keys() == {"channel", "key", "tokens", "provenance", "decision", "text"}
        assert block["provenance"]["ids"] and block["provenance"]["kind"]
        assert block["decision"]["outcome"] == "kept" and block["decision"]["fidelity"] == "L0"
    (pin,) = [block for block in context.blocks if block["channel"] == "pins"]
    assert pin["decision"] == {"outcome": "kept", "fidelity": "L0", "reason": "pinned"}
    assert context.basis.snapshot_seq == memory._nexus.space_seq


def test_the_prompt_ends_with_the_conversation_in_order(memory):
    assert assembled(memory).messages[-4:] == memory.window()[-4:]
    assert assembled(memory).messages[0]["role"] == "system"


def test_what_was_said_before_the_window_is_found_again(memory):
    hits = texts(assembled(memory, topics=["plan"]), "search")
    assert "[turn 3, assistant] plan: A then B" in hits
    assert not any("question 8" in hit for hit in hits)


def test_assembly_writes_nothing_but_the_trace(memory):
    digest, events = memory._nexus.digest(), len(memory.trace.events())
    assembled(memory)
    assert (memory._nexus.digest(), len(memory.trace.events())) == (digest, events + 1)


def test_the_same_question_has_the_same_answer(memory):
    assert assembled(memory).to_dict() == assembled(memory).to_dict()


@pytest.mark.parametrize("size", [4 * 900, 4 * 791])
def test_E19_constraints_that_do_not_fit_refuse_the_prompt(size):
    memory = fixture_s()
    memory._nexus.execute(
        'CREATE CONCEPT ?c { TYPE "Commitment" SET ATTRIBUTES {summary: :text, status: "pending"} }',
        {"text": "x" * size},
    )
    context = memory.assemble("x", window_tokens=1000, reserve=200)
    assert (context.ok, context.reason, context.blocks, context.messages) == (
        False,
        "required_channel_exceeds_budget",
        [],
        [],
    )
    assert context.coverage["automatic_action_allowed"] is False


def test_E19_pins_that_do_not_fit_refuse_it_too():
    memory = fixture_s()
    memory.pin("x" * 4 * 900)
    assert memory.assemble("x", window_tokens=1000, reserve=200).reason == "required_channel_exceeds_budget"
    assert memory.assemble("x", window_tokens=1200, reserve=200).ok


def test_what_is_left_out_makes_the_coverage_incomplete():
    memory = fixture_s(turns=8)
    whole = memory.assemble("zeppelin", profile="reflex", window_tokens=4000)
    assert whole.coverage["complete"] and whole.coverage["automatic_action_allowed"] and not whole.skipped
    part = memory.assemble("zeppelin", profile="reflex", window_tokens=100, reserve=0)
    assert part.ok and not part.coverage["complete"] and not part.coverage["automatic_action_allowed"]
    tail = part.coverage["channels"]["tail"]
    assert tail["kept"] + tail["skipped"] == tail["considered"]
    assert part.skipped[0]["decision"] == {"outcome": "dropped", "fidelity": None, "reason": "over_budget"}
    assert part.messages == memory.window()[-tail["kept"] :]


def test_the_tail_has_no_holes():
    memory = fixture_s(turns=2)
    memory.record_turn(3, [{"role": "user", "content": "x" * 4000}])
    say(memory, 4)
    context = memory.assemble("zeppelin", profile="reflex", window_tokens=300, reserve=0)
    assert context.messages == memory.window()[-2:]


def test_a_call_and_its_results_are_one_item():
    memory = AgentMemory(kipql.open(), session="s")
    memory.record_turn(1, TURN_3)
    for window in range(1, 140):
        said = memory.assemble("zeppelin", window_tokens=window, reserve=0).messages
        assert said == TURN_3[len(TURN_3) - len(said) :]
        assert len(said) != 2


@pytest.mark.parametrize(("profile", "reserve"), [("reflex", 1024), ("deliberate", 16384)])
def test_E21_a_profile_keeps_room_for_the_answer(profile, reserve):
    memory = fixture_s()
    assert memory.assemble("x", profile=profile, window_tokens=reserve + 500).coverage["budget"] == 500
    for window in (reserve, reserve - 1, 0):
        refused = memory.assemble("x", profile=profile, window_tokens=window)
        assert (refused.ok, refused.reason, refused.blocks) == (False, "window_smaller_than_reserve", [])


def test_a_reflex_looks_less_far_than_a_deliberation(memory):
    for number in range(9):
        memory._nexus.execute(
            'CREATE CONCEPT ?e { TYPE "Experience" SET ATTRIBUTES {goal: :goal, outcome_status: "success"} }',
            {"goal": f"deployment number {number}"},
        )
    reflex, deliberate = assembled(memory, profile="reflex"), assembled(memory)
    assert [len(texts(context, "experiences")) for context in (reflex, deliberate)] == [2, 5]
    assert reflex.coverage["channels"]["experiences"]["limited"] and not reflex.coverage["complete"]


def test_an_unknown_profile_is_refused():
    with pytest.raises(kipql.KipError) as raised:
        fixture_s().assemble("x", profile="panic")
    assert raised.value.code == "TypeMismatch"


def test_E22_no_confident_match_and_no_belief():
    memory = fixture_s()
    below = memory.search("plan", threshold=1.01)
    assert (below["ok"], below["outcome"], below["results"]) == (True, "no_confident_match", [])
    assert memory.search("when does the zeppelin leave")["outcome"] == "no_confident_match"
    asked = 'FIND(?b.status) WHERE { ?s {key: "session:s"} ?b BELIEF (?s, "noted", "the zeppelin leaves at noon") }'
    assert memory.query(asked).rows == ["insufficient"]


def test_a_stale_belief_is_shown_as_such():
    memory = fixture_s(turns=8)
    nexus = memory._nexus
    memory.commit_compaction(
        memory.plan_compaction(force=True, protect_last=4), SUMMARY, facts=["the plan is A then B"]
    )
    evidence = 'FIND(?m.id) WHERE { ?t {key: "turn:s:3"} STRUCTURAL(?t, "has_message", ?m) } LIMIT 1'
    nexus.execute('TRANSITION :id TO "archived"', {"id": nexus.query(evidence).rows[0]})
    context = memory.assemble("plan", profile="reflex", window_tokens=4000)
    assert texts(context, "beliefs") == ["[uncertain, needs_review] this session noted the plan is A then B"]
    assert context.warnings == ["what this rests on changed (needs_review): this session noted the plan is A then B"]


def test_a_skill_stands_as_far_as_its_evaluation_holds():
    """Assembly judges skills as a Brain does: what is written of a standing is not enough."""
    memory = AgentMemory(adopted(), session="s")
    (skill,) = texts(memory.assemble("Deploy"), "skills")
    assert skill.startswith("[skill, adopted] ")
    memory = AgentMemory(made(), session="s")
    (skill,) = texts(memory.assemble("Deploy"), "skills")
    assert skill.startswith("[skill, proposed, unproven] ")
    context = AgentMemory(revoked(), session="s").assemble("Deploy")
    assert texts(context, "skills") == [] and texts(context, "warnings")[0].startswith("[warning] revoked, do not use")


def test_rules_in_somebodys_words_and_lessons_bind_whatever_the_topic_is():
    memory = fixture_s()
    memory._nexus.execute("""MUTATE {
      CREATE CONCEPT ?rule { TYPE "Insight" SET ATTRIBUTES {summary: "never deploy on Fridays", scope: "constraint"} }
      CREATE CONCEPT ?note { TYPE "Insight" SET ATTRIBUTES {summary: "Fridays are calm"} } }""")
    interface = MemoryInterface(memory._nexus)
    interface.observe(interface.stage("m-1", "Never share my address.", speaker="ada"))
    assert texts(memory.assemble("zeppelin", window_tokens=20000), "constraints") == [
        "[constraint] never deploy on Fridays",
        "[constraint] Never share my address",
    ]


@given(st.lists(st.integers(0, 600), max_size=12), st.integers(1, 900), st.booleans())
@settings(max_examples=40, deadline=None)
def test_assembly_never_exceeds_its_budget(sizes, window, pinned):
    memory = AgentMemory(kipql.open(), session="s", window_tokens=500)
    for turn, size in enumerate(sizes, 1):
        memory.record_turn(turn, [{"role": "user", "content": "w" * size}, *TURN_3[2:4]])
    if pinned:
        memory.pin("p" * 100)
    context = memory.assemble("w", window_tokens=window, reserve=0)
    spent = sum(cost(message, estimate_text) for message in context.messages)
    assert spent == context.coverage["used"] == sum(block["tokens"] for block in context.blocks) <= window
    assert all(
        first == 0 or context.messages[first]["role"] != "tool" or context.messages[first - 1].get("tool_calls")
        for first in range(len(context.messages))
    )


def test_units_keep_interleaved_groups_together():
    def calls(*ids):
        return {"role": "assistant", "tool_calls": [{"id": identity} for identity in ids]}

    def result(identity):
        return {"role": "tool", "tool_call_id": identity}

    said = {"role": "user"}
    assert list(units([said, calls("a"), said, calls("b"), result("a"), result("b"), said])) == [(0, 1), (1, 6), (6, 7)]
