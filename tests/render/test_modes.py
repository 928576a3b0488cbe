"""The output modes: shape, width, and what is stored kept harmless in each."""

import json

import pytest

from kipql.render.modes import MODES
from kipql.render.people import people
from kipql.render.tables import width

COLUMNS = ("?x", "n", "at")
ADA = {
    "id": "C-1",
    "kind": "concept",
    "schema_ref": "kip://p@1.0.0/Person",
    "key": "ada",
    "name": "Ada",
    "_system": {"state": "active"},
}
ROWS = [(ADA, 1, "2026-04-01T00:00:00.000Z"), (None, 0.5, "a | b")]


def shown(mode, rows=ROWS, columns=COLUMNS, screen=80):
    return MODES[mode](columns, rows, str, screen)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (
            "table",
            "?x                        n  at\n"
            "----------------------  ---  ----------\n"
            'Person ada (C-1) "Ada"    1  2026-04-01\n'
            "null                    0.5  a | b",
        ),
        (
            "vertical",
            f"-- 1 {'-' * 35}\n"
            '?x  Person ada (C-1) "Ada"\nn   1\nat  2026-04-01\n'
            f"-- 2 {'-' * 35}\n?x  null\nn   0.5\nat  a | b",
        ),
        ("compact", '?x | n | at\nPerson ada (C-1) "Ada" | 1 | 2026-04-01T00:00:00.000Z\nnull | 0.5 | "a | b"'),
        (
            "markdown",
            "| ?x | n | at |\n| --- | --- | --- |\n"
            '| Person ada (C-1) "Ada" | 1 | 2026-04-01 |\n| null | 0.5 | a \\| b |',
        ),
        ("tsv", f"x\tn\tat\n{json.dumps(ADA, separators=(',', ':'))}\t1\t2026-04-01T00:00:00.000Z\n\t0.5\ta | b"),
    ],
)
def test_a_mode_writes(mode, expected):
    assert shown(mode) == expected


@pytest.mark.parametrize("screen", [20, 30, 40, 60, 80])
def test_a_table_fits_the_screen_or_becomes_vertical(screen):
    rows = [("x" * 70, "日本語" * 20), ("y", "z")]
    text = shown("table", rows, ("a", "b"), screen)
    assert text.startswith("-- 1") or max(map(width, text.splitlines())) <= screen


def test_a_table_that_can_not_fit_is_vertical():
    assert shown("table", [tuple("abcdefgh" * 2 for _ in range(9))], tuple("abcdefghi"), 40).startswith("-- 1")


def test_wide_characters_keep_the_columns_straight():
    lines = shown("table", [("日本", "x"), ("ab", "y")], ("a", "b")).splitlines()
    assert {width(line) for line in lines[2:]} == {7}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("hostile", ["\x1b]0;x\x07", "a\u202eb", "\x9b31m", "::error::x", "##vso[x]", "a\nb\tc"])
def test_hostile_text_is_harmless_in_every_mode(mode, hostile):
    text = shown(mode, [(hostile,)], (f"?{hostile}",))
    assert not any(sign in text for sign in ("\x1b", "\x07", "\u202e", "\x9b", "##vso["))
    assert not any(line.lstrip('"').startswith("::error") for line in text.splitlines() if mode != "markdown")


@pytest.mark.parametrize("mode", MODES)
def test_no_rows_are_no_error(mode):
    assert isinstance(shown(mode, [], ("a",)), str)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (True, "true"),
        (0.1 + 0.2, "0.3"),
        (12, "12"),
        ("2026-04-01T10:05:00.000Z", "2026-04-01 10:05Z"),
        ("2026-04-01T10:05:07.000Z", "2026-04-01 10:05:07Z"),
        ("2026-04-01T10:05:07.250Z", "2026-04-01 10:05:07.250Z"),
        ({"id": "C-1"}, "<C-1>"),
        ([{"id": "E-1", "role": "support"}, {"id": "E-2", "role": "challenge"}], "<E-1>, <E-2> (challenge)"),
        ({"a": 1}, '{"a":1}'),
        (ADA, 'Person ada (C-1) "Ada"'),
        ({**ADA, "_system": {"state": "archived"}}, 'Person ada (C-1) "Ada" [archived]'),
        (
            {
                "id": "P-1",
                "kind": "proposition",
                "subject": {"id": "C-1"},
                "predicate_ref": "kip://p@1/knows",
                "object": 3,
            }
            | {"_system": {}},
            "Proposition (P-1) <C-1> knows 3",
        ),
        (
            {"id": "A-1", "kind": "assertion", "stance": "support", "proposition": {"id": "P-1"}, "confidence": 0.8}
            | {"asserted_by": {"id": "C-1"}, "lifecycle": {"status": "retracted"}, "_system": {"state": "active"}},
            "Assertion (A-1) support <P-1> by <C-1> at 0.8 [retracted]",
        ),
        ({"status": "accepted", "accepted_values": ["Graz"], "basis": {}}, "accepted Graz"),
        (
            {"status": "contested", "support": {"score": 1.0}, "opposition": {"score": 0.5}, "basis": {}},
            "contested, support 1, opposition 0.5",
        ),
    ],
)
def test_a_value_for_people(value, expected):
    assert people(value, lambda identity: f"<{identity}>") == expected
