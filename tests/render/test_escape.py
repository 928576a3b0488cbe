"""Escaping: every sink is shown data, never commands."""

import csv
import html
import io
import json
import re
import unicodedata
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from kipql import escape
from kipql.render.formats import as_csv, as_json, as_jsonl, as_table

CASES = [
    (escape.terminal, "plain é 日本", "plain é 日本"),
    (escape.terminal, "\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
    (escape.terminal, "a\nb\tc\r", "a\\nb\\tc\\r"),
    (escape.terminal, "\u202eevil", "\\u202eevil"),
    (escape.terminal, "\u2066x\u2069\u200f", "\\u2066x\\u2069\\u200f"),
    (escape.terminal, "\x9b31m", "\\u009b31m"),
    (escape.terminal, "\ud800", "\\ud800"),
    (escape.terminal, "a\U000e0041b", "a\\U000e0041b"),
    (escape.terminal, "👩\u200d🚀 نمی\u200cخواهم", "👩\u200d🚀 نمی\u200cخواهم"),
    (escape.terminal, "::1 and a::b", "::1 and a::b"),
    (escape.terminal, "  ::stop-commands::x", "  \\x3a:stop-commands::x"),
    (escape.terminal, "x ##[error]y ##vso[task.setvariable]", "x \\x23#[error]y \\x23#vso[task.setvariable]"),
    (escape.terminal, "## heading ##", "## heading ##"),
    (escape.terminal_lines, "a\n\tb\x1b", "a\n\tb\\x1b"),
    (escape.terminal_lines, "a\r\nb", "a\nb"),
    (escape.terminal_lines, "a\n::error::b", "a\n\\x3a:error::b"),
    (escape.csv_cell, "=HYPERLINK(1)", "'=HYPERLINK(1)"),
    (escape.csv_cell, "+1", "'+1"),
    (escape.csv_cell, "@x", "'@x"),
    (escape.csv_cell, "\t=1", "'\t=1"),
    (escape.csv_cell, "-12.5e3", "-12.5e3"),
    (escape.csv_cell, "-1+cmd", "'-1+cmd"),
    (escape.csv_cell, "a=1", "a=1"),
    (escape.csv_cell, "＝1", "'＝1"),
    (escape.csv_cell, "a\n::error::b", "a\n\\x3a:error::b"),
    (escape.annotation, "50%\n::error::x", "50%25%0A::error::x"),
    (escape.annotation_property, "a:b,c\r", "a%3Ab%2Cc%0D"),
    (escape.xml, '<a b="c">&\'\x00\x0b\ufffe', "&lt;a b=&quot;c&quot;&gt;&amp;&#39;\ufffd\ufffd\ufffd"),
    (escape.xml, "line\nnext\t", "line\nnext\t"),
    (escape.html, "<script>\u202e\n", "&lt;script&gt;\\u202e\n"),
    (escape.markdown, "a_b *c* `d`", "a\\_b \\*c\\* \\`d\\`"),
    (escape.markdown, "1. x", "1\\. x"),
    (escape.markdown, "- x", "\\- x"),
    (escape.markdown, "2026-01-01 costs 5.5 (a)", "2026-01-01 costs 5.5 (a)"),
    (escape.markdown, "x\n# y", "x\\n\\# y"),
]


@pytest.mark.parametrize(("function", "text", "expected"), CASES)
def test_escaping(function: Callable[[str], str], text: str, expected: str) -> None:
    assert function(text) == expected


HOSTILE = {
    "ANSI colour": "\x1b[31mred",
    "window title": "\x1b]0;owned\x07",
    "clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "C1 control": "\x9b2J\x90x\x9c",
    "clear line": "done\r\x1b[2Kpassed",
    "backspaces": "rm -rf\x08\x08\x08",
    "NUL": "a\x00b",
    "DEL": "a\x7fb",
    "bidi override": "safe\u202egnp.exe",
    "bidi isolate": "\u2067 access \u2066 level\u2069\u2069",
    "marks": "a\u200e\u200f\u061cb",
    "line separators": "a\u2028b\u2029c\x85d",
    "no width": "pay\u200bpal\u2060\ufeff",
    "tags": "hi\U000e0001\U000e0069\U000e007f",
    "annotation characters": "\ufff9a\ufffab\ufffb",
    "half a pair": "\ud800",
    "CI error": "::error file=a.py,line=1::forged",
    "CI error below": "fine\n::error::forged\r\n::add-mask::a",
    "CI error indented": "   ::set-output name=x::y",
    "CI group": "x ##[group]y",
    "Azure": "x ##vso[task.setvariable variable=PATH]y",
    "TeamCity": "##teamcity[buildStatus status='SUCCESS']",
    "percent": "100%0A::error::x",
    "markup": "<script>alert(1)</script>",
    "attribute": "\"' onload='x",
    "entity": "&lt;b&gt; &#x202e;",
    "CDATA": "]]><x/>",
    "not XML": "a\x0b\x0c\ufffe\uffffb",
    "formula": "=cmd|' /C calc'!A0",
    "formula plus": "+1+1",
    "formula minus": "-1+1",
    "formula at": "@SUM(A1)",
    "formula wide": "＝1+1",
    "formula after a tab": "\t=1+1",
    "formula after a break": "\r=1+1",
    "CSV quotes": 'a","=1+1","\n=1',
    "JSON": '"},{"x":"\\u202e',
    "link": "[x](javascript:alert(1))",
    "image": "![x](https://example.org/?leak)",
    "table": "a | b\n|---|---|",
    "heading": "# a",
    "list": "- a",
    "code": "`a` ```",
    "mention": "@everyone #1 https://example.org",
    "HTML in Markdown": "<img src=x onerror=y>",
}
_UNSEEN = re.compile("[\u200b\u200e\u200f\u061c\u180e\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
_COMMAND = re.compile(r"^\s*::[A-Za-z]|##\[|##vso\[|##teamcity\[", re.MULTILINE)


def _harmless(shown: str, breaks: str) -> None:
    """Nothing that a screen obeys or hides; line breaks only where the sink has lines."""
    for character in shown:
        if character not in breaks:
            assert unicodedata.category(character) not in ("Cc", "Cs"), repr(shown)
    assert not _UNSEEN.search(shown), repr(shown)
    assert not any("\U000e0000" <= character <= "\U000e007f" for character in shown)
    assert shown.encode()


def _no_command(shown: str) -> None:
    assert not _COMMAND.search(shown), repr(shown)


def _terminal(text: str) -> None:
    _harmless(escape.terminal(text), "")
    _no_command(escape.terminal(text))


def _terminal_lines(text: str) -> None:
    _harmless(escape.terminal_lines(text), "\n\t")
    _no_command(escape.terminal_lines(text))


def _table(text: str) -> None:
    shown = as_table(["?a", text, "b"], [["", text, text], [text, {"x": text}, [text]]])
    _harmless(shown, "\n")
    _no_command(shown)


def _csv(text: str) -> None:
    shown = as_csv(["a", text], [[text, text], [text, {"x": text}]])
    _harmless(shown, "\n\t")
    _no_command(shown)
    rows = list(csv.reader(io.StringIO(shown, newline="")))
    assert [len(row) for row in rows] == [2, 2, 2], "no cell becomes two, no row becomes two"
    assert not any(cell[:1] in ("=", "+", "-", "@", "\t", "\r", "\n", "＝") for row in rows for cell in row)


def _json(text: str) -> None:
    value = {"a": text, text: [text]}
    for shown in (escape.json_text(value), escape.json_text(value, indent=2)):
        _harmless(shown, "\n")
        _no_command(shown)
        assert json.loads(shown) == value, "nothing is lost"
    assert [json.loads(line) for line in as_jsonl(["a"], [[text], [text]]).split("\n")] == [{"a": text}] * 2
    assert json.loads(as_json(["a"], [[text]])) == [{"a": text}]


def _annotation(text: str) -> None:
    message, file = escape.annotation(text), escape.annotation_property(text)
    shown = f"::error file={file},title={file}::{message}"
    assert "\n" not in shown and "\r" not in shown
    _harmless(shown, "\t")
    found = re.fullmatch(r"::error ([^:]*?)::(.*)", shown, re.DOTALL)
    assert found is not None and found[1].count(",") == 1 and found[1].count("=") - 2 * file.count("=") == 2


def _junit(text: str) -> None:
    shown = escape.xml(text)
    _harmless(shown, "\n\t")
    tree = ElementTree.fromstring(f'<testcase name="{shown}"><failure>{shown}</failure></testcase>')
    assert len(tree) == 1 and len(tree[0]) == 0 and list(tree.attrib) == ["name"]


def _html(text: str) -> None:
    shown = escape.html(text)
    _harmless(shown, "\n\t")
    assert not re.search("[<>\"']", shown)
    assert html.unescape(shown) == escape.terminal_lines(text) or _COMMAND.search(text) or "\r" in text


def _markdown(text: str) -> None:
    shown = escape.markdown(text)
    _harmless(shown, "")
    bare = re.sub(r"\\.", "", shown)
    assert not re.search(r"[`*_\[\]<>&|~#@:$!]", bare), shown
    assert not re.match(r"\s*([-+=]|\d+[.)])", bare), shown


SINKS = {
    "terminal": _terminal,
    "terminal lines": _terminal_lines,
    "table": _table,
    "CSV": _csv,
    "JSON and SARIF": _json,
    "CI annotation": _annotation,
    "JUnit": _junit,
    "HTML": _html,
    "Markdown": _markdown,
}


@pytest.mark.parametrize("sink", SINKS)
@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_is_a_command_to_any_sink(sink: str, text: str) -> None:
    SINKS[sink](HOSTILE[text])


SEEN = {0x200C, 0x200D, *range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}


def test_every_format_character_that_nobody_sees_becomes_visible() -> None:
    formats = [chr(at) for at in range(0x110000) if unicodedata.category(chr(at)) == "Cf"]
    assert {ord(each) for each in formats if escape.terminal(each) == each} <= SEEN
    assert escape.terminal("pass\xadword") == "pass\\u00adword"
