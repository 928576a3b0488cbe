"""Escaping: every sink is shown data, never commands."""

import pytest

from kipql import escape

CASES = [
    (escape.terminal, "plain é 日本", "plain é 日本"),
    (escape.terminal, "\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
    (escape.terminal, "a\nb\tc\r", "a\\nb\\tc\\r"),
    (escape.terminal, "\u202eevil", "\\u202eevil"),
    (escape.terminal, "\u2066x\u2069\u200f", "\\u2066x\\u2069\\u200f"),
    (escape.terminal, "\x9b31m", "\\u009b31m"),
    (escape.terminal, "\ud800", "\\ud800"),
    (escape.terminal_lines, "a\n\tb\x1b", "a\n\tb\\x1b"),
    (escape.terminal_lines, "a\r\nb", "a\nb"),
    (escape.csv_cell, "=HYPERLINK(1)", "'=HYPERLINK(1)"),
    (escape.csv_cell, "+1", "'+1"),
    (escape.csv_cell, "@x", "'@x"),
    (escape.csv_cell, "\t=1", "'\t=1"),
    (escape.csv_cell, "-12.5e3", "-12.5e3"),
    (escape.csv_cell, "-1+cmd", "'-1+cmd"),
    (escape.csv_cell, "a=1", "a=1"),
    (escape.annotation, "50%\n::error::x", "50%25%0A::error::x"),
    (escape.annotation_property, "a:b,c\r", "a%3Ab%2Cc%0D"),
    (escape.xml, '<a b="c">&\'\x00\x0b\ufffe', "&lt;a b=&quot;c&quot;&gt;&amp;&#39;\ufffd\ufffd\ufffd"),
    (escape.xml, "line\nnext\t", "line\nnext\t"),
    (escape.html, "<script>\u202e\n", "&lt;script&gt;\\u202e\n"),
]


@pytest.mark.parametrize(("function", "text", "expected"), CASES)
def test_escaping(function, text, expected):
    assert function(text) == expected
