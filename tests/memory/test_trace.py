"""The trace: one event for each primitive, off the graph, and what `kipql trace` makes of it."""

import json

import pytest
from click.testing import CliRunner

import kipql
from kipql.cli.main import cli, main
from kipql.memory import AgentMemory, AgentPool
from tests.memory.support import fixture_s, say


def run(*arguments):
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments], standalone_mode=False)
    assert done.exception is None, done.exception
    return done.output, done.return_value or 0


@pytest.fixture
def traced(tmp_path):
    """Pin A at turn 2, pin B at 9, unpin A at 10, with prompts on the way."""
    memory = AgentMemory(kipql.open(), session="run/planner", window_tokens=4000, trace=tmp_path / "run.jsonl")
    say(memory, 2)
    a = memory.pin("text of A", label="A")
    memory.assemble("go on", profile="reflex")
    say(memory, 5)
    memory.assemble("go on", profile="reflex")
    say(memory, 9)
    memory.pin("text of B", label="B")
    say(memory, 10)
    memory.unpin(a.pin_id)
    return memory


def test_A27_every_primitive_is_one_event_and_one_line(tmp_path):
    memory = fixture_s(trace=tmp_path / "l.jsonl")
    memory.pin("x")
    memory.recall(3)
    memory.call("recall", "not json")
    events = memory.trace.events("cognitive_primitive")
    assert [event["metadata"].keys() for event in events] == [{"primitive", "args", "result"}] * 3
    assert [event["metadata"]["primitive"] for event in events] == ["pin", "recall", "recall"]
    assert events[2]["metadata"]["args"] == "not json"
    output, code = run("trace", "show", tmp_path / "l.jsonl", "--cognitive")
    assert (len(output.splitlines()), code) == (3, 0)


def test_events_of_one_primitive():
    memory = fixture_s()
    memory.pin("x")
    memory.recall(3)
    memory.recall(99)
    assert len(memory.trace.events(primitive="recall")) == 2
    assert memory.trace.events(primitive="pin")[0]["metadata"]["result"]["pinned"] is True


def test_a_prompt_is_an_event_too_with_its_texts_only_in_a_file(traced, tmp_path):
    kept = fixture_s()
    kept.assemble("x", profile="reflex", window_tokens=4000)
    assert all("text" not in block for block in kept.trace.events("context_assembled")[0]["metadata"]["blocks"])
    assert any(
        "text of A" in block["text"] for block in traced.trace.events("context_assembled")[0]["metadata"]["blocks"]
    )


def test_pinned_rows_are_marked(traced):
    output, _ = run("trace", "show", traced.trace.path, "--context")
    lines = output.splitlines()
    assert sum("assembled" in line for line in lines) == 2
    assert sum(line.strip().startswith("[PIN] pins p_") for line in lines) == 2
    assert not any("recorded" in line for line in lines)


def test_an_agent_of_a_pool_can_be_looked_at_alone(tmp_path):
    path = tmp_path / "run.jsonl"
    pool = AgentPool(kipql.open(), run="run", trace=path)
    for name, calls in (("one", 1), ("other", 2)):
        memory = pool.add(name)
        for _ in range(calls):
            memory.recall(1)
    for agent, lines in (("one", 1), ("run/other", 2)):
        assert len(run("trace", "show", path, "--agent", agent)[0].splitlines()) == lines
    said = run("trace", "show", path, "--agent", "nobody")[0]
    assert said == "nothing of nobody; the agents are run/one, run/other\n"


@pytest.mark.parametrize(("turn", "inside", "outside"), [(2, "A", "B"), (5, "A", "B"), (9, "AB", ""), (10, "B", "A")])
def test_replay_shows_the_pins_in_effect_at_the_turn(traced, turn, inside, outside):
    output, code = run("trace", "replay", traced.trace.path, "--turn", turn)
    pins = output[output.index("pins in effect:") :]
    assert code == 0
    assert all(f"text of {name}" in pins for name in inside)
    assert not any(f"text of {name}" in pins for name in outside)


def test_replay_shows_the_decision_and_the_prompt(traced):
    output, _ = run("trace", "replay", traced.trace.path, "--turn", "5")
    assert "kept L0, pinned" in output
    assert "[PIN] text of A" in output
    assert "answer 5" in output
    assert "text of B" not in output


def test_replay_without_a_turn_lists_them_with_exit_code_two(traced):
    assert run("trace", "replay", traced.trace.path) == ("turns: 2, 5, 9, 10\n", 2)


@pytest.mark.parametrize("turn", [0, 1, 11])
def test_a_turn_outside_the_run_is_nothing_to_replay(traced, turn):
    assert run("trace", "replay", traced.trace.path, "--turn", turn)[1] == 1


def test_an_empty_trace_is_nothing_to_replay(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    assert run("trace", "replay", tmp_path / "empty.jsonl", "--turn", "1")[1] == 1
    assert run("trace", "replay", tmp_path / "empty.jsonl")[1] == 1
    assert run("trace", "show", tmp_path / "empty.jsonl") == ("", 0)


def test_a_trace_that_is_not_there_or_is_none_is_said(tmp_path, capsys):
    (tmp_path / "prose.txt").write_text("Dear diary\n")
    assert main(["trace", "show", str(tmp_path / "missing.jsonl")]) == 2
    assert main(["trace", "show", str(tmp_path / "prose.txt")]) == 2
    assert "is no trace" in capsys.readouterr().err


def test_a_line_cut_short_hides_no_other(tmp_path):
    path = tmp_path / "run.jsonl"
    fixture_s(trace=path).recall(1)
    path.write_text(path.read_text() + '{"event": "cognitive_pr')
    again = AgentMemory(kipql.open(), session="s", trace=path)
    again.recall(1)
    again.recall(2)
    assert len(again.trace.events(primitive="recall")) == 3
    assert "can not be read" in run("trace", "show", path)[0]


def test_the_trace_survives_what_people_write(tmp_path):
    path = tmp_path / "run.jsonl"
    memory = AgentMemory(kipql.open(), session="s", trace=path)
    memory.call("recall", '{"turn": "\\ud800\\u2028\\u001b[2J"}')
    memory.recall(1)
    assert len(memory.trace.events()) == 2
    assert "\x1b" not in run("trace", "show", path)[0]


def test_without_a_file_the_last_events_are_kept():
    memory = AgentMemory(kipql.open(), session="s")
    for _ in range(1010):
        memory.recall(1)
    assert len(memory.trace.events()) == 1000


def test_a_trace_that_can_not_be_written_is_warned_of_and_the_memory_goes_on(tmp_path):
    memory = AgentMemory(kipql.open(), session="s", trace=tmp_path / "no" / "such" / "folder.jsonl")
    with pytest.warns(UserWarning, match="can not be written"):
        say(memory, 1)
    assert memory.call("pin", {"content": "x"})["pinned"]
    assert isinstance(memory.trace.error, OSError)


def test_events_are_json_lines(traced):
    for line in traced.trace.path.read_text(encoding="utf-8").splitlines():
        assert json.loads(line).keys() == {"event", "at", "agent", "turn", "seq", "metadata"}
