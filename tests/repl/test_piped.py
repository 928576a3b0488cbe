"""`kipql [DB]` on the command line: a pipe gets the compact form, a path that is a command stays one."""

import subprocess
import sys

import pytest

from kipql.cli.main import COMMANDS, main
from kipql.repl.lines import entries, whole_entry
from tests.repl.conftest import lab

NAMES = 'FIND(?p.key, ?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.key LIMIT 2'


@pytest.fixture
def folder(tmp_path):
    lab(tmp_path / "lab.kip").close()
    return tmp_path / "lab.kip"


def run(*arguments, stdin="", cwd=None, env=None):
    program = [sys.executable, "-m", "kipql.cli.main", *map(str, arguments)]
    return subprocess.run(program, input=stdin, capture_output=True, text=True, cwd=cwd, check=False, env=env)


def piped(capsys, monkeypatch, text, *arguments):
    import io

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_pipe_gets_the_compact_form(folder, capsys, monkeypatch):
    code, out, err = piped(capsys, monkeypatch, NAMES, folder)
    assert (code, out) == (0, "p.key | p.name\nada | Ada Brunner\nagent | the lab's agent\n(2 rows)\n")
    assert err.startswith("more rows follow: ")


def test_commands_and_statements_alternate(folder, capsys, monkeypatch):
    text = f".asof 0\nFIND(?p)\nWHERE {{ ?p CONCEPT {{}} }}\n.asof off\n.mode jsonl\n{NAMES}\n"
    code, out, _ = piped(capsys, monkeypatch, text, folder)
    assert code == 0
    assert "(0 rows, as of 0)" in out
    assert '{"p.key":"ada","p.name":"Ada Brunner"}' in out


def test_the_first_error_ends_a_pipe(folder, capsys, monkeypatch):
    code, out, err = piped(capsys, monkeypatch, f"FIND(]\n.mode json\n{NAMES}", folder)
    assert (code, out) == (2, "")
    assert "InvalidSyntax" in err


def test_safe_in_a_pipe_shows_and_does_not_run(folder, capsys, monkeypatch):
    text = f'.safe on\nCREATE CONCEPT ?a {{ TYPE "Person" NAME "X" }}\n.changes\n{NAMES}'
    code, out, err = piped(capsys, monkeypatch, text, folder)
    assert (code, out) == (2, "")
    assert "create concept" in err and "nobody to ask" in err
    assert piped(capsys, monkeypatch, f".safe on\n{NAMES}", folder)[0] == 0


def test_a_wrong_command_ends_a_pipe(capsys, monkeypatch):
    code, out, err = piped(capsys, monkeypatch, ".nothing\nLIST TYPES")
    assert (code, out) == (2, "")
    assert "there is no command .nothing" in err


def test_quit_ends_a_pipe_well(capsys, monkeypatch):
    assert piped(capsys, monkeypatch, ".quit\nFIND(]")[:2] == (0, "")


def test_without_a_memory_there_is_an_empty_one(capsys, monkeypatch):
    text = 'CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }\nFIND(?p.name) WHERE { ?p {} }'
    assert piped(capsys, monkeypatch, text)[1] == "committed at 1: 1 element created; ?a = C-1\np.name\nAda\n(1 row)\n"


def test_a_path_that_is_not_there_becomes_a_memory(tmp_path, capsys, monkeypatch):
    code, out, _ = piped(capsys, monkeypatch, "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }", tmp_path / "new.kip")
    assert (code, (tmp_path / "new.kip").is_dir()) == (0, True)
    assert "0" in out


def test_options_of_the_shell(folder, capsys, monkeypatch):
    text = "FIND(?p.name) WHERE { ?p {key: :key} }"
    code, out, _ = piped(capsys, monkeypatch, text, folder, "--readonly", "-p", 'key="ada"', "--mode", "csv")
    assert (code, out) == (0, "p.name\nAda Brunner\n")
    code, _, err = piped(capsys, monkeypatch, 'CREATE CONCEPT ?a { TYPE "Person" }', "--readonly", folder)
    assert code == 2
    assert "ReadonlyViolation" in err


@pytest.mark.parametrize("word", ["qurey", "brain"])
def test_a_word_that_is_nothing_makes_no_memory(word, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = piped(capsys, monkeypatch, "", word)
    assert code == 2
    assert "did you mean 'query'?" in err if word == "qurey" else "kipql ./brain" in err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_called_like_a_command_stays_a_command(tmp_path, capsys, monkeypatch):
    (tmp_path / "query").mkdir()
    monkeypatch.chdir(tmp_path)
    assert "query" in COMMANDS
    _, out, _ = piped(capsys, monkeypatch, "LIST TYPES LIMIT 1", "query", "--format", "json")
    assert out.startswith("[")


def test_a_bare_name_that_is_there_is_opened(tmp_path, capsys, monkeypatch):
    lab(tmp_path / "brain").close()
    monkeypatch.chdir(tmp_path)
    assert piped(capsys, monkeypatch, NAMES, "brain")[1].startswith("p.key | p.name")


def test_no_control_sequence_gets_into_a_pipe(folder):
    called = run(folder, stdin=f".help\n.schema\n{NAMES}\n.explain rover stands_in\n")
    assert called.returncode == 0, called.stderr
    assert "\x1b" not in called.stdout


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("LIST TYPES", ["LIST TYPES"]),
        (".a\n.b", [".a\n", ".b"]),
        ("FIND(?x)\n.x\nWHERE {}", ["FIND(?x)\n.x\nWHERE {}"]),
        ("LIST TYPES\n  .mode csv\nLIST FACETS\n", ["LIST TYPES\n", "  .mode csv\n", "LIST FACETS\n"]),
    ],
)
def test_entries_of_a_pipe(text, expected):
    assert list(entries(text)) == expected


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (".asof 5\nFIND(?x)", False),
        (".asof 5\nFIND(?x) WHERE { ?x {} }", True),
        ("FIND(?x) WHERE { ?x {} }\n.asof off", True),
        ("// remark\n.asof 5", True),
        ("FIND(?x)\n.asof", True),
        ("", True),
    ],
)
def test_a_pasted_entry_is_whole_when_its_last_part_is(text, whole):
    assert whole_entry(text) is whole


def test_only_line_breaks_end_a_line():
    text = 'FIND(?x) WHERE { ?x {name: "a\u2028.asof 5"} }'
    assert list(entries(text)) == [text]


def test_commands_and_statements_pasted_at_once_run_in_order(driven):
    shown = driven.run(f".asof 0\n// who was there?\n{NAMES}\n.asof off\n{NAMES}")
    assert shown.index("(0 rows, as of 0)") < shown.index("(2 rows)")
    assert "(2 rows)" not in driven.run(f".nothing\n{NAMES}")
