"""Planning a compaction: estimates, boundaries, clamps and pairs, with the vectors of section 3.4 of the design."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kipql.memory.compaction import boundaries, plan_compaction, prune_tool_results, sanitize_pairs
from kipql.memory.pairs import STUB, groups
from kipql.memory.tokens import estimate_history

U, A = {"role": "user", "content": ""}, {"role": "assistant", "content": ""}
MESSAGE = {"role": "user", "content": "x" * 400}


def calls(*ids):
    return {"role": "assistant", "content": None, "tool_calls": [{"id": identity, "name": "f"} for identity in ids]}


def result(identity, content="r"):
    return {"role": "tool", "tool_call_id": identity, "content": content}


E04 = [U, A, U, calls("c1", "c2"), result("c1"), result("c2"), A, U, A]


@pytest.mark.parametrize(
    ("messages", "system", "tools", "tokens"),
    [
        ([MESSAGE], "", "", 110),
        ([{"role": "user", "content": "msg0"}], "", "", 11),
        ([{"role": "user", "content": ""}], "", "", 11),
        ([MESSAGE], "x" * 400, "x" * 40, 220),
        ([], "", "", 0),
    ],
)
def test_E01_estimates(messages, system, tools, tokens):
    assert estimate_history(messages, system, tools) == tokens
    assert plan_compaction(messages, system=system, tools=tools).estimated_tokens == tokens


@pytest.mark.parametrize("arguments", ["x" * 40, {"k": "x" * 32}])
def test_E01_the_arguments_of_calls_count(arguments):
    flat = {"role": "assistant", "content": "msg0", "tool_calls": [{"id": "c", "name": "f", "arguments": arguments}]}
    nested = {
        "role": "assistant",
        "content": "msg0",
        "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": arguments}}],
    }
    assert estimate_history([flat]) == estimate_history([nested]) == 11 + 10


@pytest.mark.parametrize(
    ("tail_tokens", "min_tail", "middle"),
    [(0, 4, (2, 16)), (440, 4, (2, 16)), (441, 4, (2, 16)), (880, 4, (2, 12)), (5000, 4, (2, 16))],
)
def test_E02_the_tail_is_what_fits_and_at_least_its_minimum(tail_tokens, min_tail, middle):
    assert boundaries([MESSAGE] * 20, protect_first=2, tail_tokens=tail_tokens, min_tail=min_tail) == middle


@pytest.mark.parametrize("tail_tokens", [0, 440, 441, 880, 5000])
def test_E03_a_larger_minimum_holds_for_every_budget(tail_tokens):
    assert boundaries([MESSAGE] * 20, protect_first=2, tail_tokens=tail_tokens, min_tail=12) == (2, 8)


@pytest.mark.parametrize(("min_tail", "middle"), [(2, (2, 7)), (3, (2, 3)), (4, (2, 3)), (5, (2, 3)), (6, (2, 3))])
def test_E04_parallel_calls_are_wholly_in_the_tail(min_tail, middle):
    assert boundaries(E04, protect_first=2, tail_tokens=1, min_tail=min_tail) == middle


@pytest.mark.parametrize("first", [4, 5])
def test_E05_the_middle_never_begins_inside_a_group(first):
    assert boundaries(E04, protect_first=first, tail_tokens=1, min_tail=2)[0] == 6


@st.composite
def histories(draw):
    """Messages with groups of calls, some unanswered, some results without ids, some strays."""
    messages, number = [], 0
    for kind in draw(st.lists(st.sampled_from(["user", "text", "group", "late", "anonymous", "stray"]), max_size=25)):
        size = draw(st.integers(0, 3))
        ids = [f"c{number + at}" for at in range(size)]
        number += size
        content = "x" * draw(st.sampled_from([0, 40, 400]))
        if kind in ("user", "text"):
            messages.append({"role": "user" if kind == "user" else "assistant", "content": content})
        elif kind == "stray":
            messages.append(result("nobody"))
        elif kind == "anonymous":
            messages += [
                {"role": "assistant", "tool_calls": [{"name": "f"}]},
                *[{"role": "tool", "content": content}] * size,
            ]
        else:
            answered = ids[: draw(st.integers(0, size))]
            between = [U] if kind == "late" else []
            messages += [calls(*ids), *between, *(result(identity, content) for identity in reversed(answered))]
    return messages


@given(histories(), st.integers(-1, 8), st.integers(-5, 2000), st.integers(0, 14))
def test_E06_parts_cover_the_history_and_split_no_pair(messages, first, tail_tokens, min_tail):
    start, end = boundaries(messages, protect_first=max(0, first), tail_tokens=tail_tokens, min_tail=min_tail)
    assert 0 <= start <= end <= len(messages)
    for owner, last in groups(messages):
        assert not any(owner < cut <= last for cut in (start, end))


@given(histories(), st.integers(-1, 8), st.integers(0, 14), st.booleans())
def test_E06_a_plan_is_a_partition_without_orphans(messages, first, last, force):
    before = copy.deepcopy(messages)
    plan = plan_compaction(messages, context_tokens=2048, protect_first=first, protect_last=last, force=force)
    assert messages == before
    assert plan.head[0] == 0 and plan.tail[1] == len(messages)
    assert (plan.head[1], plan.middle[1]) == (plan.middle[0], plan.tail[0])
    assert plan.orphans == []
    assert plan.triggered == (plan.reason == "ok") == (plan.reason == "ok" and plan.middle[1] - plan.middle[0] >= 2)


def test_E07_a_middle_of_fewer_than_two_messages_is_no_window():
    start, end = boundaries([U, A, U], protect_first=2, tail_tokens=0, min_tail=2)
    assert end - start < 2
    plan = plan_compaction([U, A, U], protect_first=2, protect_last=2, force=True)
    assert (plan.triggered, plan.reason) == (False, "no_compactable_window")


def test_one_round_of_many_parallel_calls_is_not_torn_apart():
    ids = [f"c{number}" for number in range(8)]
    plan = plan_compaction([calls(*ids), *map(result, ids)], protect_first=0, protect_last=4, force=True)
    assert (plan.triggered, plan.reason) == (False, "no_compactable_window")


def test_a_history_that_is_all_head_is_too_short():
    for messages in ([], [U], [U, A]):
        assert plan_compaction(messages, force=True).reason == "too_short_history"


@pytest.mark.parametrize(
    ("context", "threshold", "tail"),
    [(4096, 2457, 196), (16384, 9830, 786), (32768, 19660, 1572), (256_000, 153_600, 12_288), (1, 1228, 98)],
)
def test_E08_thresholds(context, threshold, tail):
    plan = plan_compaction([], context_tokens=context)
    assert (plan.threshold, plan.tail_tokens) == (threshold, tail)


@pytest.mark.parametrize(
    ("missing", "force", "reason"), [(1, False, "below_threshold"), (0, False, "ok"), (1, True, "ok")]
)
def test_E09_the_threshold_itself_triggers(missing, force, reason):
    messages = [MESSAGE] * 19
    needed = int(4096 * 0.6) - estimate_history(messages)
    messages.append({"role": "user", "content": "x" * (4 * (needed - 10 - missing))})
    plan = plan_compaction(messages, context_tokens=4096, force=force)
    assert plan.estimated_tokens == plan.threshold - missing
    assert (plan.reason, plan.triggered) == (reason, reason == "ok")


@pytest.mark.parametrize(
    ("setting", "given_value", "kept"),
    [
        ("threshold_ratio", 2.0, 0.95),
        ("threshold_ratio", 0.0, 0.10),
        ("target_ratio", 1.0, 0.80),
        ("target_ratio", -1.0, 0.05),
        ("protect_last", 1, 4),
        ("protect_first", -3, 0),
        ("passes", 99, 5),
        ("passes", 0, 1),
    ],
)
def test_E10_settings_are_clamped(setting, given_value, kept):
    assert getattr(plan_compaction([], **{setting: given_value}), setting) == kept


def test_a_long_old_tool_result_is_pruned_and_nothing_else():
    long, short = result("c", "x" * 201), result("c", "x" * 200)
    messages = [calls("c"), long, short, {**U, "content": "x" * 999}, *[U] * 34, calls("c"), long]
    pruned = prune_tool_results(messages)
    assert [at for at, (before, after) in enumerate(zip(messages, pruned, strict=True)) if before != after] == [1]
    assert "201" in pruned[1]["content"] and pruned[1]["tool_call_id"] == "c"
    assert messages[1]["content"] == "x" * 201


def test_the_last_thirty_six_messages_are_never_pruned():
    messages = [calls("c"), result("c", "x" * 999), *[U] * 35]
    assert prune_tool_results(messages) == messages


@pytest.mark.parametrize(
    ("messages", "sane"),
    [
        ([result("c0"), U, A], [U, A]),
        ([U, result("c0"), A], [U, A]),
        ([calls("c1", "c2"), result("c1"), U], [calls("c1", "c2"), result("c2", STUB), result("c1"), U]),
        ([calls("c1")], [calls("c1"), result("c1", STUB)]),
        ([result("c1"), calls("c1"), result("c1")], [calls("c1"), result("c1")]),
        (E04, E04),
    ],
)
def test_E12_pairs_are_made_whole(messages, sane):
    assert sanitize_pairs(messages) == sane


@given(histories())
def test_E12_a_sane_history_stays_as_it_is(messages):
    sane = sanitize_pairs(messages)
    assert sanitize_pairs(sane) == sane


@pytest.mark.parametrize("tail_tokens", [2200, 5000, 10**9])
def test_E29_a_tail_that_would_take_everything_falls_back_to_its_minimum(tail_tokens):
    assert boundaries([MESSAGE] * 20, protect_first=2, tail_tokens=tail_tokens, min_tail=4) == (2, 16)
    assert plan_compaction([MESSAGE] * 20, context_tokens=10**9, protect_last=4, force=True).middle == (2, 16)
