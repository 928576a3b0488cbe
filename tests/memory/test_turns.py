"""Turns and recall: the acceptance tests of section 1.4 of the design that concern them, and their neighbours."""

import pytest

import kipql
from kipql.memory import AgentMemory
from tests.memory.support import SUMMARY, TURN_3, fixture_s, read_only, say, small_talk


def test_A01_recall_gives_the_messages_back_in_order_and_word_for_word():
    answer = fixture_s().recall(3)
    assert (answer.found, answer.messages, answer.note) == (True, TURN_3, None)


def test_A02_assistant_only_keeps_messages_that_call_tools():
    answer = fixture_s().recall(3, "assistant_only")
    assert answer.messages == [TURN_3[1], TURN_3[2], TURN_3[4]]


def test_A03_tool_calls_are_the_calls_and_their_results():
    assert fixture_s().recall(3, "tool_calls").messages == [TURN_3[2], TURN_3[3]]


def test_A04_a_turn_that_is_still_to_come_is_out_of_range():
    answer = fixture_s().recall(999)
    assert (answer.found, answer.note, answer.code) == (False, "turn out of range: 999, max=5", "TurnOutOfRange")


@pytest.mark.parametrize("turn", [0, -2])
def test_A05_turns_begin_at_one(turn):
    answer = fixture_s().recall(turn)
    assert (answer.found, answer.code) == (False, "InvalidTurn")
    assert answer.note == f"turn must be 1 or greater (turns are 1-indexed). received: {turn}"


def test_a_filter_that_matches_nothing_says_so():
    answer = fixture_s().recall(1, "tool_calls")
    assert (answer.found, answer.messages) == (True, [])
    assert answer.note


def test_A07_a_gap_is_told_from_the_end():
    memory = AgentMemory(kipql.open(), session="s")
    memory.record_turn(3, TURN_3)
    gap, beyond = memory.recall(1), memory.recall(4)
    assert (gap.found, gap.note, gap.code) == (False, "no messages recorded for turn 1", "TurnEmpty")
    assert (beyond.note, beyond.code) == ("turn out of range: 4, max=3", "TurnOutOfRange")


def test_an_unknown_session_has_no_trace():
    nexus = kipql.open()
    fixture_s(nexus)
    answer = AgentMemory(nexus, session="other").recall(1)
    assert (answer.found, answer.code) == (False, "TraceUnavailable")
    assert answer.note == "trace not available for this run; no history has been recorded yet."


def test_A10_recall_changes_nothing_but_the_trace():
    nexus = kipql.open()
    memory = fixture_s(nexus)
    seq, digest, events = nexus.space_seq, nexus.digest(), len(memory.trace.events())
    memory.recall(3)
    assert (nexus.space_seq, nexus.digest(), len(memory.trace.events())) == (seq, digest, events + 1)


def test_A11_a_compacted_turn_is_recalled_as_before():
    memory = fixture_s()
    before = memory.recall(3).messages
    plan = memory.plan_compaction(force=True, protect_first=2, protect_last=2)
    assert memory.commit_compaction(plan, SUMMARY)["turns"] == [2, 3]
    assert memory.recall(3).messages == before == TURN_3
    assert [message["content"] for message in memory.window()][:2] == ["question 1", "answer 1"]


def test_A25_sessions_see_nothing_of_each_other():
    nexus = kipql.open()
    one, other = AgentMemory(nexus, session="run/a"), AgentMemory(nexus, session="run/b")
    one.record_turn(1, [{"role": "user", "content": "the secret of a"}])
    one.pin("pinned by a")
    other.record_turn(1, [{"role": "user", "content": "hello"}])
    assert [message["content"] for message in other.recall(1).messages] == ["hello"]
    assert other.pins() == []
    assert other.search("secret of a", threshold=0)["results"] == []
    assert other.unpin(one.pins()[0].pin_id).unpinned is False
    pins = 'FIND(?pin.key) WHERE { ?pin {type: "Pin", attributes: {session: :session}} }'
    assert (len(nexus.query(pins, {"session": "run/a"})), len(nexus.query(pins, {"session": "run/b"}))) == (1, 0)


def test_A26_a_readonly_memory_recalls_and_refuses_to_write():
    memory = fixture_s()
    pin = memory.pin("kept")
    only = read_only(memory)
    assert only.pin("more").code == "readonly_violation"
    assert only.unpin(pin.pin_id).code == "readonly_violation"
    refused = only.record_turn(6, small_talk(6))
    assert (refused.recorded, refused.code) == (False, "readonly_violation")
    assert only.reset()["code"] == "readonly_violation"
    plan = only.plan_compaction(force=True, protect_first=2, protect_last=2)
    assert only.commit_compaction(plan, SUMMARY) == {"committed": False, "reason": "readonly_violation"}
    assert only.recall(3).messages == TURN_3
    assert [each.content for each in only.pins()] == ["kept"]


def test_a_readonly_memory_without_the_package_answers_too():
    memory = AgentMemory(kipql.open().readonly(), session="s")
    assert memory.recall(1).code == "TraceUnavailable"
    assert memory.pins() == [] == memory.window()
    assert memory.search("x")["outcome"] == "no_confident_match"
    assert memory.assemble("x", profile="reflex").ok


@pytest.mark.parametrize(
    "content",
    [
        "e\u0301 is not \u00e9",
        "\ufb01\u0000\u2028\ufeff",
        "\r\n\t ",
        "\U0001f600" * 3,
        "",
        None,
        [{"type": "text", "text": "a"}],
    ],
)
def test_content_of_any_kind_comes_back_unchanged(content):
    memory = AgentMemory(kipql.open(), session="s")
    given = [{"role": "user", "content": content, "extra": {"n": 1.5, "list": [None, True]}}]
    memory.record_turn(1, given)
    assert memory.recall(1).messages == given


def test_recording_a_turn_again_changes_nothing():
    nexus = kipql.open()
    memory = fixture_s(nexus)
    seq = nexus.space_seq
    again = memory.record_turn(3, TURN_3)
    assert (again.messages, again.recorded, nexus.space_seq) == (0, True, seq)


def test_more_messages_of_a_turn_are_added():
    memory = AgentMemory(kipql.open(), session="s")
    memory.record_turn(1, TURN_3[:2])
    assert memory.record_turn(1, TURN_3).messages == 3
    assert memory.recall(1).messages == TURN_3


@pytest.mark.parametrize("messages", [TURN_3[:2], [TURN_3[1], TURN_3[0], *TURN_3[2:]], [*small_talk(1), *TURN_3]])
def test_a_turn_never_gets_other_messages(messages):
    memory = fixture_s()
    with pytest.raises(kipql.KipError) as raised:
        memory.record_turn(3, messages)
    assert raised.value.code == "ClientKeyConflict"
    assert memory.recall(3).messages == TURN_3


def test_turns_out_of_order_are_listed_in_order():
    nexus = kipql.open()
    memory = AgentMemory(nexus, session="s")
    say(memory, 2, 5, 3, 1)
    turns = """FIND(?turn.attributes.turn) WHERE {
      ?s {type: "Experience"} ?at STRUCTURAL(?s, "has_turn", ?turn) } ORDER BY ?at.index ASC"""
    assert nexus.query(turns).rows == [1, 2, 3, 5]
    assert memory.turn == 5


def test_a_long_turn_is_one_commit():
    nexus = kipql.open()
    memory = AgentMemory(nexus, session="s")
    given = [{"role": "user", "content": str(number)} for number in range(250)]
    memory.record_turn(1, given)
    assert nexus.space_seq == 1
    assert memory.recall(1).messages == given


@pytest.mark.parametrize(
    ("turn", "messages", "code"),
    [
        (0, [], "ConstraintViolation"),
        (True, [], "ConstraintViolation"),
        ("1", [], "ConstraintViolation"),
        (1, "hello", "TypeMismatch"),
        (1, ["hello"], "TypeMismatch"),
        (1, [{"content": "no role"}], "TypeMismatch"),
        (1, [{"role": "assistant", "tool_calls": "c1"}], "TypeMismatch"),
    ],
)
def test_what_is_no_turn_is_refused_before_anything_is_written(turn, messages, code):
    nexus = kipql.open()
    with pytest.raises(kipql.KipError) as raised:
        AgentMemory(nexus, session="s").record_turn(turn, messages)
    assert (raised.value.code, nexus.space_seq) == (code, 0)


def test_an_erased_message_leaves_its_slot():
    nexus = kipql.open()
    memory = fixture_s(nexus)
    find = 'FIND(?m.id) WHERE { ?m EVIDENCE {client_key: "msg:s:3:3"} }'
    nexus.execute('PURGE PAYLOAD :id CONFIRM "PURGE"', {"id": nexus.query(find).scalar()})
    answer = memory.recall(3)
    assert answer.code == "Redacted"
    assert answer.messages == [*TURN_3[:3], {"role": "tool", "redacted": True}, TURN_3[4]]
    assert "[erased]" in [
        message["content"] for message in memory.assemble("x", profile="reflex", window_tokens=4000).messages
    ]
    assert memory.record_turn(3, TURN_3).messages == 0


def test_the_stub_of_a_turn_says_nothing_of_what_was_said():
    nexus = kipql.open()
    fixture_s(nexus)
    stub = nexus.query('FIND(?t.attributes.summary) WHERE { ?t {type: "Event", key: "turn:s:3"} }').scalar()
    assert stub == "turn 3: 5 messages (user, assistant, tool)"


def test_a_seeded_history_is_turns_and_an_event_of_the_trace():
    nexus = kipql.open()
    memory = AgentMemory(nexus, session="s")
    history = [{"role": "system", "content": "be kind"}, *small_talk(1), *TURN_3, *small_talk(3)]
    seeded = memory.seed_history(history)
    assert (seeded.turns, seeded.messages, nexus.space_seq) == ([1, 2, 3], 10, 1)
    assert memory.recall(1).messages == history[:3]
    assert memory.recall(2).messages == TURN_3
    assert [event["metadata"] for event in memory.trace.events("history_seeded")] == [
        {"turns": [1, 2, 3], "messages": 10}
    ]
    assert memory.seed_history(history).messages == 0
    assert nexus.space_seq == 1


def test_another_history_is_not_seeded_into_a_session():
    memory = fixture_s()
    before = memory._nexus.digest()
    for history in ([*small_talk(9)], [*small_talk(1), *small_talk(2)]):
        assert memory.seed_history(history).code == "session_not_empty"
    assert memory._nexus.digest() == before


def test_search_finds_a_message_and_admits_that_it_does_not():
    memory = fixture_s()
    found = memory.search("plan")
    assert (found["ok"], found["outcome"]) == (True, "found")
    assert {hit["turn"] for hit in found["results"]} == {3}
    assert found["results"][0]["message"] in TURN_3
    missed = memory.search("zeppelin")
    assert (missed["ok"], missed["outcome"], missed["results"]) == (True, "no_confident_match", [])
    assert memory.search("  ")["outcome"] == "no_confident_match"


def test_search_is_not_crowded_out_by_other_sessions():
    nexus = kipql.open()
    loud, quiet = AgentMemory(nexus, session="loud"), AgentMemory(nexus, session="quiet")
    loud.record_turn(1, [{"role": "user", "content": "zeppelin"}] * 300)
    quiet.record_turn(1, [{"role": "user", "content": "was there a zeppelin over the town in May, or not?"}])
    assert [hit["turn"] for hit in quiet.search("zeppelin", threshold=0.1)["results"]] == [1]


def test_a_message_that_may_not_be_read_is_a_slot_and_one_that_may_not_be_known_is_not_counted():
    nexus = kipql.open()
    fixture_s(nexus)
    secret = nexus.query('FIND(?m.id) WHERE { ?m EVIDENCE {client_key: "msg:s:3:3"} }').scalar()
    for reader, denied in (("eve", ["read"]), ("mallory", ["read", "discover"])):
        nexus.govern.grant(reader, "discover", "read")
        nexus.govern.deny(reader, *denied, ids=[secret])
    eve, mallory = (AgentMemory(nexus.as_principal(name), session="s") for name in ("eve", "mallory"))
    assert eve.recall(3).messages == [*TURN_3[:3], {"role": "tool", "redacted": True}, TURN_3[4]]
    assert (eve.recall(3).code, eve.recall(3).note) == ("Redacted", None)
    assert mallory.recall(3).messages == [*TURN_3[:3], TURN_3[4]]
    assert (mallory.recall(3).code, mallory.recall(3).note) == ("ok", None)
    assert eve.pin("x").code == "not_authorized"


@pytest.mark.parametrize(("role", "hint"), [("asistant", "'assistant'"), ("User", "'user'"), ("narrator", "user, ass")])
def test_a_role_that_there_is_not_is_refused_with_what_is_near(role, hint):
    memory = AgentMemory(kipql.open(), session="s")
    before = memory._nexus.space_seq
    with pytest.raises(kipql.KipError) as raised:
        memory.record_turn(1, [{"role": "user", "content": "hello"}, {"role": role, "content": "x"}])
    assert raised.value.code == "TypeMismatch" and "message 1" in raised.value.message
    assert hint in raised.value.hint
    assert memory._nexus.space_seq == before and memory.turn == 0


def test_recording_a_turn_again_with_nothing_adds_nothing():
    memory = AgentMemory(kipql.open(), session="s")
    memory.record_turn(1, [{"role": "user", "content": "hello"}])
    again = memory.record_turn(1, [])
    assert (again.recorded, again.messages) == (True, 0)
    assert memory.recall(1).messages == [{"role": "user", "content": "hello"}]
