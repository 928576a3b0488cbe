"""Colours outside the shell: the Pygments lexer and the TextMate grammar, held to what the parser takes a word for."""

import json
from pathlib import Path

import pytest
from pygments.formatters import HtmlFormatter, NullFormatter
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Comment, Error, Keyword, Name, Number, String

import kipql.fronts.textmate as made
from kipql.editing.colours import CLASSES, pieces
from kipql.fronts.highlighting import TOKENS, KqlLexer
from kipql.lang import build, grammar
from kipql.repl.palette import CLASSES as TERMINAL
from tests.fronts.textmate_matcher import tokens

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted([*(ROOT / "docs" / "examples").glob("*.kql"), *(ROOT / "kipql" / "audit" / "library").glob("*.kql")])
HOSTILE = [
    "",
    "\ufeffFIND(?x) WHERE { ?x {} }",
    'FIND(?x) WHERE { ?x {name: "\u202eevil\\u0000<b>" } }',
    'FIND("unfinished',
    "FIND(?x) WHERE { ?x {} } // \x1b[31m red \u2028 FIND",
    "\x00\x01\ud800 ?x :y \U0001f600",
    "]" * 5_000,
    "FIND(" * 2_000,
]
TEXT = """//! check: a-name
// a remark: FIND
FIND(?x.limit, COUNT(?y)) WHERE { ?x {type: "Per\\"son", key: :key} FILTER(?x.n >= -1.5e3 && true) } LIMIT 10
"""


def by_class(text):
    """The pieces of a text that have a class, by the parser."""
    return [(kind, piece) for kind, piece in pieces(text) if kind]


# --- Pygments -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kml", "kip"])
def test_pygments_finds_the_lexer_by_name(name):
    assert isinstance(get_lexer_by_name(name), KqlLexer)


@pytest.mark.parametrize("text", ["", TEXT, "MUTATE {}", "DESCRIBE PRIMER"])
def test_pygments_finds_the_lexer_by_the_ending_of_a_file(text):
    assert isinstance(get_lexer_for_filename("audits/weekly.kql", text), KqlLexer)


def test_a_kusto_query_stays_one():
    kusto = "StormEvents | where State == 'TEXAS' | count"
    assert not isinstance(get_lexer_for_filename("storms.kql", kusto), KqlLexer)


def test_a_keyword_is_one_only_where_the_grammar_takes_it():
    found = [(token, piece) for token, piece in KqlLexer().get_tokens(TEXT) if piece.strip()]
    assert found[0] == (Comment.Special, "//! check: a-name")
    assert found[1] == (Comment.Single, "// a remark: FIND")
    assert (Keyword, "FIND") in found and (Keyword, "LIMIT") in found
    assert (Name, "limit") in found and (Name, "type") in found and (Name, "COUNT") in found
    assert (Name.Variable, "?x") in found and (Name.Variable.Magic, ":key") in found
    assert (String.Double, '"Per\\"son"') in found and (Number, "-1.5e3") in found
    assert Error not in [token for token, _ in found]


@pytest.mark.parametrize("text", HOSTILE)
def test_pygments_gives_every_character_back(text):
    assert "".join(piece for _, _, piece in KqlLexer().get_tokens_unprocessed(text)) == text


def test_html_of_a_hostile_text_is_escaped():
    import pygments

    shown = pygments.highlight('FIND("<script>alert(1)</script>")', KqlLexer(), HtmlFormatter())
    assert "<script>" not in shown
    assert pygments.highlight("FIND(?x)", KqlLexer(), NullFormatter()) == "FIND(?x)\n"


def test_every_front_has_a_colour_for_every_class():
    assert set(TOKENS) == set(CLASSES)
    assert set(TERMINAL) == {*CLASSES, "command"}
    assert set(made.SCOPES) == set(CLASSES) - {"wrong"}


# --- TextMate -------------------------------------------------------------------------------------------

TEXTMATE = json.loads((grammar.folder() / made.FILE).read_text("utf-8"))
_CLASS = {scope: kind for kind, scope in made.SCOPES.items()} | {
    "constant.language.kql": "keyword",
    "constant.character.escape.kql": "string",
    "invalid.illegal.escape.kql": "string",
    "keyword.other.directive.kql": "directive",
}


def by_scope(text):
    """The same of the TextMate grammar. It cuts strings and directives up; here each is one piece again."""
    joined = []
    for scope, piece in tokens(TEXTMATE, text):
        kind, last = _CLASS.get(scope, ""), joined[-1] if joined else ("", "")
        whole = kind == "string" and len(last[1]) > 1 and last[1].endswith('"') and not last[1].endswith('\\"')
        if kind in ("string", "directive") and last[0] == kind and not whole:
            joined[-1] = kind, last[1] + piece
        else:
            joined.append((kind, piece))
    return [(kind, piece) for kind, piece in joined if kind]


def test_the_textmate_grammar_is_made_from_the_grammar_at_hand():
    assert (grammar.folder() / made.FILE).read_text("utf-8") == made.text(made.textmate(grammar.source()))


def test_every_keyword_of_the_grammar_is_in_it():
    words = made.keywords(build.terminals(grammar.source()))
    assert len(words) > 90
    for word in words:
        assert by_scope(f"{word} ") == [("keyword", word)], word


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_textmate_colours_our_scripts_as_the_parser_does(path):
    text = path.read_text("utf-8")
    assert by_scope(text) == by_class(text)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        'FIND(?r) WHERE { (?r, "a"{1,3} | "b", ?s) } ORDER BY ?r.desc DESC',
        'ASSERT (?ada, "prefers", ?tea) { by: ?ada, mode: "stated", confidence: 0.9 }',
        'SET RETENTION ?x {retention_class: "short"}',
        'find(?x) where { ?x {a: [true, null, -1]} } as of seq 3 for time "2026-01-01T00:00:00.000Z"',
    ],
)
def test_textmate_agrees_with_the_parser(text):
    split = [
        (kind, word) for kind, piece in by_class(text) for word in (piece.split() if kind == "keyword" else [piece])
    ]
    assert by_scope(text) == split


def test_a_string_ends_with_its_line_and_a_wrong_escape_shows():
    found = list(tokens(TEXTMATE, 'FIND("open \\q\nFIND'))
    assert ("invalid.illegal.escape.kql", "\\q") in found
    assert found[-1] == ("keyword.other.kql", "FIND")


@pytest.mark.parametrize("text", HOSTILE[:6])
def test_textmate_loses_no_character(text):
    assert "".join(piece for _, piece in tokens(TEXTMATE, text)) == text
