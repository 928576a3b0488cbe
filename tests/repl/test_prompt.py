"""The prompt itself, through a pipe of prompt_toolkit: keys in, what was run out."""

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory

from kipql.editing.colours import coloured
from kipql.repl import prompting
from kipql.repl.prompting import ShellCompleter, ShellLexer

PEOPLE = 'FIND(?p.key) WHERE { ?p {type: "Person"} }'
ALT_ENTER = "\x1b\r"


def test_enter_runs_a_whole_statement(driven, typed):
    assert typed(driven.shell, f"{PEOPLE}\r") == 0
    assert "(4 rows)" in driven.out.getvalue()


def test_enter_adds_a_line_to_half_a_statement(driven, typed):
    typed(driven.shell, 'FIND(?p.key)\rWHERE {\r?p {type: "Person"} }\r')
    assert driven.shell.last.text.split() == PEOPLE.split()
    assert "(4 rows)" in driven.out.getvalue()


def test_alt_enter_adds_a_line_to_a_whole_one(driven, typed):
    typed(driven.shell, f"{PEOPLE}{ALT_ENTER}LIMIT 1\r")
    assert "(1 row)" in driven.out.getvalue()


def test_a_wrong_statement_is_not_held_back(driven, typed):
    typed(driven.shell, "FIND(]\r")
    assert "InvalidSyntax" in driven.out.getvalue()


def test_ctrl_c_drops_the_line_and_keeps_the_session(driven, typed):
    typed(driven.shell, f"FIND(?x\x03{PEOPLE}\r")
    assert "(4 rows)" in driven.out.getvalue()
    assert "InvalidSyntax" not in driven.out.getvalue()


def test_quit_leaves_and_what_comes_after_is_not_run(driven, typed):
    typed(driven.shell, f".quit\r{PEOPLE}\r")
    assert driven.out.getvalue() == ""


def test_an_empty_line_does_nothing(driven, typed):
    typed(driven.shell, "\r   \r")
    assert driven.out.getvalue() == ""


def test_commands_and_statements_share_a_session(driven, typed):
    typed(driven.shell, f".asof 0\r{PEOPLE}\r.asof off\r{PEOPLE}\r")
    assert "(0 rows, as of 0)" in driven.out.getvalue()
    assert "(4 rows)" in driven.out.getvalue()


@pytest.mark.parametrize(("answer", "seq"), [("y\r", 10), ("n\r", 9), ("\r", 9), ("\x03", 9)])
def test_safe_asks_at_the_prompt(writable, typed, answer, seq):
    typed(writable.shell, f'.safe on\rCREATE CONCEPT ?a {{ TYPE "Person" NAME "X" }}\r{answer}')
    assert writable.shell.base.space_seq == seq


def test_the_history_is_a_file_and_can_be_searched(driven, typed, home):
    typed(driven.shell, f"{PEOPLE}\r.mode json\r")
    assert PEOPLE in (home / "history").read_text("utf-8")
    assert (home / "history").stat().st_mode & 0o077 == 0
    typed(driven.shell, "\x12type: \r\r")
    assert driven.out.getvalue().count('"p.key": "ada"') == 1


def test_a_history_that_can_not_be_written_is_kept_in_memory(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KIPQL_HOME", str(tmp_path / "file"))
    assert isinstance(prompting.history(), InMemoryHistory)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (".mo", [".mode", ".more"]),
        (".mode t", ["table", "tsv"]),
        (".help asf", []),
        (".help aso", ["asof"]),
        (".describe kept", ["kept_by"]),
        (".readonly o", ["on", "off"]),
        (".limits se", ["seconds"]),
        (".settings mo", ["mode=", "mount="]),
    ],
)
def test_commands_are_completed(driven, text, words):
    found = ShellCompleter(driven.shell).get_completions(Document(text), CompleteEvent(completion_requested=True))
    assert [each.text for each in found] == words


def test_no_list_opens_by_itself_where_nothing_is_written(driven):
    completer, document = ShellCompleter(driven.shell), Document("FIND(?x) ")
    assert list(completer.get_completions(document, CompleteEvent(text_inserted=True))) == []
    assert [each.text for each in completer.get_completions(document, CompleteEvent(completion_requested=True))]


def test_completion_is_quiet_where_the_memory_may_not_be_read(example):
    from tests.repl.conftest import Driven

    completer = ShellCompleter(Driven(example.as_principal("nobody")).shell)
    list(completer.get_completions(Document("FIND(?x) WHERE { (?x, "), CompleteEvent(completion_requested=True)))


COLOURS = [
    ("FIND(?x)", [("keyword", "FIND"), ("", "("), ("variable", "?x"), ("", ")")]),
    ("FIND(?x) WHERE { ?x {find: 1} }", [("keyword", "FIND"), ("variable", "?x"), ("", "find"), ("number", "1")]),
    ("LIST TYPES // all\n", [("keyword", "TYPES"), ("comment", "// all")]),
    ('SEARCH CONCEPT "a//b" LIMIT :n', [("string", '"a//b"'), ("parameter", ":n")]),
    ("FIND(]", [("wrong", "]")]),
    (".mode json", [("command", ".mode"), ("", " json")]),
]


@pytest.mark.parametrize(("text", "pieces"), COLOURS)
def test_colours_are_what_the_parser_saw(text, pieces):
    found = list(coloured(text))
    assert "".join(piece for _, piece in found) == text
    assert [piece for piece in pieces if piece not in found] == []


def test_the_lexer_gives_each_line_its_pieces():
    line = ShellLexer().lex_document(Document("FIND(?x) // a\nWHERE { ?x {} }\n"))
    assert "".join(piece for _, piece in line(1)) == "WHERE { ?x {} }"
    assert ("class:keyword", "WHERE") in line(1)
    assert line(9) == []
