"""`kipql memory`: one function each from arguments to text, on the command line and in the shell alike."""

import pytest
from click.testing import CliRunner

import kipql
from kipql.cli.main import cli, main
from kipql.memory import commands
from tests.memory.support import SUMMARY, fixture_s


@pytest.fixture
def db(tmp_path):
    path = tmp_path / "brain.kip"
    with kipql.open(path) as nexus:
        memory = fixture_s(nexus, turns=8)
        memory.pin("three load-bearing facts", label="key facts", until_turn=12)
        nexus.execute(
            'CREATE CONCEPT ?a { TYPE "CanonArticle" SET FIELDS {key: ":src/feed"} SET ATTRIBUTES '
            '{mount: "", address: "src/feed", capsule: "API caps pages at 50", body: "b", scope: ""} }'
        )
    return str(path)


def run(*arguments):
    done = CliRunner().invoke(cli, list(arguments), standalone_mode=False)
    assert done.exception is None, done.exception
    return done.output


def on(db, *words):
    return run("memory", *words, "--db", db, "--session", "s")


def test_recall(db):
    assert on(db, "recall", "3", "tool_calls").splitlines() == [
        "assistant: ", '  -> {"id": "t1", "name": "calc"}', "tool: 42",
    ]  # fmt: skip
    assert on(db, "recall", "99") == "turn out of range: 99, max=8\n"


def test_pins(db):
    assert "[pinned: key facts]\nthree load-bearing facts" in on(db, "pins")
    assert on(db, "pins", "13") == "no pins in effect\n"
    assert on(db, "pins", "--as-of", "8") == "no pins in effect\n"


def test_compact_plan(db):
    assert on(db, "compact", "plan").startswith("nothing to compact: below_threshold")
    assert "turns: 2" in on(db, "compact", "plan", "--force")


def test_assemble(db):
    shown = on(db, "assemble", "plan", "--profile", "reflex", "--window", "4000")
    assert "[pins]" in shown and "tokens, complete" in shown
    assert on(db, "assemble", "x", "--window", "10") == "no prompt: window_smaller_than_reserve\n"


def test_touch_and_flush(db):
    assert "src/feed" in run("memory", "touch", "src/feed/client.py", "--db", db)
    assert "API caps pages at 50" in run("memory", "flush", "src/feed/client.py", "--db", db)
    assert run("memory", "flush", "tools/cron.py", "--db", db) == "nothing to surface\n"


def test_trace(tmp_path):
    path = tmp_path / "run.jsonl"
    memory = fixture_s(trace=path)
    memory.recall(3)
    shown = run("memory", "trace", str(path), "--cognitive", "--session", "s")
    assert shown == run("trace", "show", str(path), "--cognitive", "--agent", "s")
    assert shown.rstrip("\n") == commands.trace_text(memory, cognitive=True)


def test_looking_writes_nothing(db):
    with kipql.open(db) as nexus:
        before = nexus.digest()
    for words in (("recall", "3"), ("pins",), ("compact", "plan", "--force"), ("assemble", "x", "--profile", "reflex")):
        on(db, *words)
    with kipql.open(db) as nexus:
        assert nexus.digest() == before


def test_the_text_is_that_of_the_function(db):
    with kipql.open(db) as nexus:
        memory = fixture_s(nexus, turns=0)
        texts = (commands.recall_text(memory, 3), commands.pins_text(memory), commands.compact_plan_text(memory))
        assert memory.commit_compaction(memory.plan_compaction(force=True, protect_last=4), SUMMARY)["committed"]
        assert SUMMARY in commands.assemble_text(memory, "x", profile="reflex")
        assert commands.trace_text(memory) == "no trace file is open"
    assert (on(db, "recall", "3"), on(db, "pins")) == (f"{texts[0]}\n", f"{texts[1]}\n")


@pytest.mark.parametrize(
    "words", [["recall", "3", "half", "--session", "s"], ["recall", "three", "--session", "s"], ["pins"]]
)
def test_what_is_no_command_is_exit_code_two(words, capsys):
    assert main(["memory", *words]) == 2


def test_what_people_wrote_does_not_reach_the_terminal_raw(tmp_path):
    path = tmp_path / "brain.kip"
    with kipql.open(path) as nexus:
        fixture_s(nexus, turns=0).record_turn(1, [{"role": "user", "content": "\x1b[2Jgone"}])
    assert "\x1b" not in on(str(path), "recall", "1")
