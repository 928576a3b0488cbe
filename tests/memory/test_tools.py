"""Primitives as tools: specifications, calls that never raise, pools and the adapters."""

import json

import pytest

import kipql
from kipql.memory import AgentMemory, AgentPool, is_cognitive_tool
from kipql.memory.adapters import mcp_result, mcp_tools, openai_results, openai_tools
from tests.memory.support import TURN_3, fixture_s, say

BAD_CALLS = [
    ("recall", "{}"),
    ("recall", "not json"),
    ("recall", '{"turn":1,"include":"x"}'),
    ("recall", "[1]"),
    ("recall", None),
    ("recall", '{"turn":true}'),
    ("recall", '{"turn":"3"}'),
    ("recall", '{"turn":1.5}'),
    ("recall", '{"turn":1,"inclde":"all"}'),
    ("recall", "[" * 100_000),
    ("pin", "{}"),
    ("pin", '{"content":1}'),
    ("pin", '{"content":"x","until_turn":"soon"}'),
    ("unpin", '{"pin_id":null}'),
]


@pytest.mark.parametrize(("name", "arguments"), BAD_CALLS)
def test_A09_arguments_that_do_not_fit_are_an_answer(name, arguments):
    memory = fixture_s()
    seq = memory._nexus.space_seq
    answer = memory.call(name, arguments)
    assert answer["error"] == "invalid_arguments"
    assert (answer["code"], answer["snapshot_seq"]) == ("InvalidArguments", seq)
    assert isinstance(answer["detail"], str)
    assert memory._nexus.space_seq == seq


def test_a_call_answers_what_the_method_answers():
    memory = fixture_s()
    assert memory.call("recall", '{"turn": 3.0, "include": "tool_calls"}') == memory.recall(3, "tool_calls").to_dict()
    assert memory.call("recall", {"turn": 3})["messages"] == TURN_3
    json.dumps(memory.call("pin", {"content": "x"}))


def test_the_methods_do_not_raise_either():
    memory = fixture_s()
    recalled, kept, ended = memory.recall(1, include="x"), memory.pin(None), memory.unpin(None)
    assert (recalled.found, recalled.code) == (False, "InvalidArguments")
    assert (kept.pinned, kept.reason) == (False, "invalid_arguments")
    assert (ended.unpinned, ended.code) == (False, "invalid_arguments")
    assert len(memory.trace.events("cognitive_primitive")) == 3


@pytest.mark.parametrize(("name", "arguments"), [("delete", {}), (None, {}), (1, None)])
def test_an_unknown_tool_is_an_answer(name, arguments):
    assert fixture_s().call(name, arguments)["error"] == "unknown_tool"


def test_a_closed_memory_is_an_answer(tmp_path):
    nexus = kipql.open(tmp_path / "brain.kip")
    memory = fixture_s(nexus)
    nexus.close()
    for call in (("recall", {"turn": 1}), ("pin", {"content": "x"}), ("unpin", {"pin_id": "p_1"}), ("recall", "{}")):
        assert isinstance(memory.call(*call), dict)


def test_A29_only_what_is_enabled_is_offered():
    memory = fixture_s()
    assert memory.tools([]) == [] == memory.tools()
    assert {spec["name"] for spec in memory.tools(["pin"])} == {"pin", "unpin"}
    assert [spec["name"] for spec in memory.tools(["recall", "pin"])] == ["recall", "pin", "unpin"]
    with pytest.raises(ValueError, match="recall"):
        memory.tools(["recall"], user_tools=["recall"])


@pytest.mark.parametrize("tool", ["unpin", {"name": "unpin"}, {"type": "function", "function": {"name": "unpin"}}])
def test_a_tool_of_the_host_may_not_have_the_name_of_an_active_primitive(tool):
    memory = fixture_s()
    with pytest.raises(ValueError, match="unpin"):
        memory.tools(["pin"], user_tools=[tool])
    assert memory.tools(["recall"], user_tools=[tool])


@pytest.mark.parametrize("enabled", [["branch"], ["unpin"], "recall", [None]])
def test_only_primitives_can_be_enabled(enabled):
    with pytest.raises(ValueError):
        fixture_s().tools(enabled)


def test_specifications_are_the_callers_own():
    memory = fixture_s()
    memory.tools(["recall"])[0]["parameters"].clear()
    assert memory.tools(["recall"])[0]["parameters"]["required"] == ["turn"]


def test_calls_are_recognised_by_name_enabled_or_not():
    assert [is_cognitive_tool(name) for name in ("recall", "pin", "unpin", "search", None)] == [True] * 3 + [False] * 2


def test_a_pool_has_a_default_that_members_override_or_leave():
    pool = AgentPool(kipql.open(), run="run", cognitive_primitives=["recall", "pin"])
    names = {
        "inherits": pool.add("inherits"),
        "none": pool.add("none", cognitive_primitives=[]),
        "own": pool.add("own", cognitive_primitives=["recall"]),
    }
    assert {name: [spec["name"] for spec in memory.tools()] for name, memory in names.items()} == {
        "inherits": ["recall", "pin", "unpin"], "none": [], "own": ["recall"],
    }  # fmt: skip
    assert [*pool] == ["inherits", "none", "own"]


def test_a_pool_refuses_a_clash_where_the_primitive_is_active():
    pool = AgentPool(kipql.open(), run="run", cognitive_primitives=["recall"])
    with pytest.raises(ValueError, match="recall"):
        pool.add("a", user_tools=[{"name": "recall"}])
    assert pool.add("b", cognitive_primitives=[], user_tools=["recall"]).tools() == []
    with pytest.raises(ValueError):
        pool.add("b")


def test_state_never_crosses_pool_members(tmp_path):
    pool = AgentPool(kipql.open(), run="run", cognitive_primitives=["recall", "pin"], trace=tmp_path / "run.jsonl")
    one, other = pool.add("one"), pool.add("other")
    say(one, 1, 2)
    one.pin("of one")
    assert (other.turn, other.pins(), other.recall(1).code) == (0, [], "TraceUnavailable")
    assert len(other.trace.events()) == 1
    assert one.session == "run/one" == pool["one"].session


def test_the_openai_form_goes_out_and_comes_in():
    memory = fixture_s()
    (tool,) = openai_tools(memory.tools(["recall"]))
    assert (tool["type"], tool["function"]["name"]) == ("function", "recall")
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "recall", "arguments": '{"turn": 3}'}},
        {"id": "c2", "type": "function", "function": {"name": "browse", "arguments": "{}"}},
        {"id": "c3", "type": "function", "function": {"name": "recall", "arguments": "{"}},
    ]
    results = openai_results(memory, calls)
    assert [(result["role"], result["tool_call_id"]) for result in results] == [("tool", "c1"), ("tool", "c3")]
    assert json.loads(results[0]["content"])["messages"] == TURN_3
    assert json.loads(results[1]["content"])["error"] == "invalid_arguments"


def test_the_mcp_form_goes_out_and_comes_in():
    memory = fixture_s()
    assert [tool["inputSchema"]["type"] for tool in mcp_tools(memory.tools(["recall", "pin"]))] == ["object"] * 3
    answer = mcp_result(memory, "recall", {"turn": 999})
    assert (answer["isError"], answer["structuredContent"]["code"]) == (False, "TurnOutOfRange")
    assert json.loads(answer["content"][0]["text"]) == answer["structuredContent"]
    assert mcp_result(memory, "recall")["isError"] is True


def test_a_session_needs_a_name():
    for session in ("", None, 3):
        with pytest.raises(kipql.KipError):
            AgentMemory(kipql.open(), session=session)
