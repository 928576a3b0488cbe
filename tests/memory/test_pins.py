"""Pins: identity, the budget, and which are in effect when (section 1.4 of the design)."""

import hashlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kipql
from kipql.memory import AgentMemory
from kipql.memory.replay import pins_in_effect
from tests.memory.support import fixture_s, read_only, say

ALL_PINS = 'FIND(?pin.attributes.content_sha256) WHERE { ?pin {type: "Pin"} }'


def started(turn=1, **settings):
    memory = AgentMemory(kipql.open(), session="s", **settings)
    say(memory, turn)
    return memory


def contents(memory, turn=None, **asked):
    return [pin.content for pin in memory.pins(turn, **asked)]


@pytest.mark.parametrize(
    ("window", "fraction", "cap"), [(99, 0.5, 49), (8000, 0.5, 4000), (1000, 0.1, 100), (128_000, 0.5, 64_000)]
)
def test_the_cap_is_a_share_of_the_window_rounded_down(window, fraction, cap):
    memory = started(window_tokens=window, pin_budget_fraction=fraction)
    assert memory.pin("x" * 4 * cap).cap == cap


def test_A13_a_pin_may_reach_the_cap_and_not_pass_it():
    memory = started(window_tokens=8000)
    assert memory.pin("a" * 12796).pinned
    assert memory.pin("b" * 3196).pinned
    refused = memory.pin("c" * 3200)
    assert (refused.pinned, refused.reason, refused.code) == (False, "pin_budget_exceeded", "pin_budget_exceeded")
    assert (refused.current_pin_tokens, refused.requested_tokens, refused.cap) == (4000, 801, 4000)
    assert refused.suggestion
    assert len(memory.pins()) == 2


def test_nothing_is_evicted_for_a_pin_that_does_not_fit():
    memory = started(window_tokens=200)
    memory.pin("y" * 320)
    before = memory.pins()
    assert not memory.pin("z" * 320).pinned
    assert memory.pins() == before


@pytest.mark.parametrize(
    ("content", "tokens"), [("", 1), ("abcd", 2), ("\u4e00\u9fff", 2), ("\u4e00abc\u4e01", 2), ("\u3042" * 8, 3)]
)
def test_tokens_are_half_a_han_character_and_a_quarter_of_others(content, tokens):
    from kipql.memory.tokens import estimate_text

    assert estimate_text(content) == tokens


def test_the_host_may_count_tokens():
    memory = started(window_tokens=20, estimate_tokens=len)
    assert memory.pin("0123456789").pinned
    assert memory.pin("x").requested_tokens == 1


def test_A15_the_first_label_and_end_of_a_pin_win():
    memory = started()
    first = memory.pin("X", label="first")
    second = memory.pin("X", label="second", until_turn=9)
    assert (second.pin_id, second.pinned, second.already_pinned) == (first.pin_id, True, True)
    assert (second.label, second.until_turn) == ("first", None)
    assert len(memory._nexus.query(ALL_PINS)) == 1


def test_A16_identity_is_the_digest_of_the_exact_text():
    memory = started()
    memory.pin("X")
    assert memory.pin("X ").already_pinned is False
    assert memory._nexus.query(ALL_PINS).rows == [
        "4b68ab3847feda7d6c62c1fbcbeebfa35eab7351ed5e78f4ddadea5df64b8015",
        hashlib.sha256(b"X ").hexdigest(),
    ]


def test_A17_an_empty_text_is_refused_and_blanks_are_not():
    memory = started()
    seq = memory._nexus.space_seq
    refused = memory.pin("")
    assert (refused.pinned, refused.reason, memory._nexus.space_seq) == (False, "empty_content", seq)
    assert memory.pin("  ").pinned


def test_A18_a_pin_is_in_effect_up_to_its_last_turn():
    memory = fixture_s(turns=3)
    memory.pin("until five", until_turn=5)
    assert [contents(memory, turn) for turn in (2, 3, 5, 6)] == [[], ["until five"], ["until five"], []]
    say(memory, 6)
    assert memory.pins() == []
    assert len(memory._nexus.query(ALL_PINS)) == 1


def test_A19_an_expired_pin_frees_its_budget():
    memory = started(window_tokens=200)
    assert memory.pin("y" * 320, until_turn=2).pinned
    say(memory, 5)
    assert memory.pin("z" * 320).pinned


def test_an_expired_text_gets_a_fresh_pin():
    memory = started()
    first = memory.pin("X", label="first", until_turn=1)
    say(memory, 2)
    second = memory.pin("X", label="second")
    assert (second.pinned, second.already_pinned, second.label) == (True, False, "second")
    assert second.pin_id != first.pin_id
    assert [pin.pin_id for pin in memory.pins()] == [second.pin_id]


def test_a_removed_text_gets_a_fresh_pin_in_the_same_turn_too():
    memory = started()
    first = memory.pin("X")
    memory.unpin(first.pin_id)
    second = memory.pin("X")
    assert (second.already_pinned, second.pin_id != first.pin_id) == (False, True)
    assert contents(memory) == ["X"]


def test_a_pin_whose_last_turn_has_passed_is_refused():
    memory = started(turn=5)
    refused = memory.pin("X", until_turn=3)
    assert (refused.pinned, refused.reason) == (False, "until_turn_passed")


def test_pins_at_a_turn_are_those_made_by_then_and_not_removed_by_then():
    memory = started(turn=2)
    a = memory.pin("A")
    say(memory, 9)
    memory.pin("B")
    say(memory, 10)
    memory.unpin(a.pin_id)
    assert {turn: contents(memory, turn) for turn in (1, 2, 5, 9, 10)} == {
        1: [], 2: ["A"], 5: ["A"], 9: ["A", "B"], 10: ["B"],
    }  # fmt: skip


def test_pins_as_of_a_sequence_are_what_the_memory_held():
    memory = started(turn=2)
    nexus = memory._nexus
    a = memory.pin("A", until_turn=7)
    pinned = nexus.space_seq
    memory.unpin(a.pin_id)
    say(memory, 9)
    assert contents(memory, as_of_seq=pinned) == ["A"]
    assert contents(memory, as_of_seq=pinned - 1) == []
    assert contents(memory, as_of_seq=nexus.space_seq) == []
    assert contents(memory, 8, as_of_seq=pinned) == []


def test_pins_stand_in_the_order_they_were_made():
    memory = started()
    wanted = [f"pin {number}" for number in range(12)]
    for content in wanted:
        memory.pin(content)
    assert contents(memory) == wanted


def test_A23_unpinning_what_is_not_there_is_an_answer():
    memory = started()
    unknown = memory.unpin("p_nope")
    assert (unknown.unpinned, unknown.pin_id) == (False, "p_nope")
    assert unknown.note == "unknown pin_id (already removed or never existed)"
    pin = memory.pin("X")
    assert [memory.unpin(pin.pin_id).unpinned for _ in range(2)] == [True, False]


def test_a_pin_id_follows_from_session_text_and_turn():
    ids = {started(turn=turn).pin(content).pin_id for turn in (1, 2) for content in ("X", "Y") for _ in range(2)}
    assert len(ids) == 4
    assert all(len(pin_id) == 10 and pin_id.startswith("p_") for pin_id in ids)


def test_two_texts_never_share_a_pin_id(monkeypatch):
    from kipql.memory import pinning

    digests = iter(["0" * 64, "0" * 9 + "1" * 55])
    monkeypatch.setattr(pinning, "pin_digest", lambda *_: next(digests))
    memory = started()
    assert [memory.pin("X").pin_id, memory.pin("Y").pin_id] == ["p_00000000", "p_000000000"]


def test_A30_pins_outlive_the_process(tmp_path):
    path = tmp_path / "brain.kip"
    with kipql.open(path) as nexus:
        memory = fixture_s(nexus)
        memory.pin("kept", label="key facts", until_turn=12)
        before = memory.pins()
    with kipql.open(path) as nexus:
        memory = AgentMemory(nexus, session="s")
        assert (memory.pins(), memory.turn) == (before, 5)


def test_an_erased_pin_keeps_its_place_and_not_its_text():
    memory = started()
    memory.pin("secret", label="x")
    nexus = memory._nexus
    content = nexus.query('FIND(?c.id) WHERE { ?pin {type: "Pin"} STRUCTURAL(?pin, "pinned_content", ?c) }').scalar()
    nexus.execute('PURGE PAYLOAD :id CONFIRM "PURGE"', {"id": content})
    (pin,) = memory.pins()
    assert (pin.content, pin.text) == (None, "[pinned: x]\n[erased]")


def test_a_pin_is_recorded_with_where_it_comes_from():
    memory = started()
    memory.pin("X")
    acts = """FIND(?in.payload.inline, ?out.attributes.label) WHERE {
      ?act ACTIVITY {activity_class: "cognitive_primitive"}
      STRUCTURAL(?act, "inputs", ?in) STRUCTURAL(?act, "outputs", ?out) }"""
    assert memory._nexus.query(acts).rows == [("X", None)]


def test_failures_of_a_pin_are_dicts_with_the_figures():
    memory = started(window_tokens=10)
    answer = memory.call("pin", {"content": "x" * 400})
    assert {"pinned", "reason", "current_pin_tokens", "requested_tokens", "cap", "suggestion", "code"} <= answer.keys()
    assert read_only(memory).call("pin", {"content": "x"})["reason"] == "readonly_violation"
    shown = {"pinned", "pin_id", "label", "until_turn", "already_pinned", "code", "snapshot_seq"}
    assert memory.call("pin", {"content": "x"}).keys() == shown


@given(st.lists(st.tuples(st.sampled_from("pPuUt"), st.sampled_from("ABC"), st.integers(0, 3)), max_size=14))
@settings(max_examples=40, deadline=None)
def test_memory_trace_and_history_agree_on_the_pins_in_effect(steps):
    """Three ways to the same answer: the attributes, the trace, and the memory as it stood when the turn ended."""
    memory, turn, ended = AgentMemory(kipql.open(), session="s"), 1, {}
    say(memory, turn)
    for step, content, further in steps:
        if step in "pP":
            memory.pin(content, until_turn=turn + further if step == "P" else None)
        elif step in "uU":
            for pin in [pin for pin in memory.pins() if pin.content == content]:
                memory.unpin(pin.pin_id)
        else:
            ended[turn] = memory._nexus.space_seq
            turn += 1
            say(memory, turn)
    ended[turn] = memory._nexus.space_seq
    events = memory.trace.events()
    for at, seq in ended.items():
        held = [pin.pin_id for pin in memory.pins(at)]
        assert held == [pin["pin_id"] for pin in pins_in_effect(events, at)]
        assert held == [pin.pin_id for pin in memory.pins(as_of_seq=seq)]


def test_threads_that_pin_one_text_share_one_pin():
    memory = started()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: memory.pin("X"), range(16)))
    assert len({answer.pin_id for answer in answers}) == 1
    assert sorted(answer.already_pinned for answer in answers) == [False, *[True] * 15]
