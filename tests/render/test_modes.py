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
SLOT = {
    "status": "accepted",
    "subject": {"id": "C-1"},
    "predicate_ref": "kip://p@1.0.0/lives_in",
    "candidate_projections": [{}, {}],
    "basis": {},
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
        ({"status": "accepted", "accepted_values": ["Graz"], "basis": {}}, "accepted: Graz"),
        (
            {"status": "contested", "support": {"score": 1.0}, "opposition": {"score": 0.5}, "basis": {}},
            "contested: support 1, opposition 0.5",
        ),
        (
            {"status": "contested", "support": {"score": 0.8}, "opposition": {"score": 0.7}, "basis": {}}
            | {"proposition_id": "P-9"},
            "contested: P-9, support 0.8, opposition 0.7",
        ),
        ({**SLOT, "accepted_values": [{"id": "C-2"}]}, "accepted: <C-1> lives_in = <C-2> (1 of 2 candidates)"),
        ({**SLOT, "accepted_values": ["a", 2]}, "accepted: <C-1> lives_in = a, 2"),
        ({**SLOT, "accepted_values": []}, "accepted: <C-1> lives_in (0 of 2 candidates)"),
        (
            dict(sorted({**SLOT, "accepted_values": [True], "candidate_projections": [{}]}.items())),
            "accepted: <C-1> lives_in = true",
        ),
    ],
)
def test_a_value_for_people(value, expected):
    assert people(value, lambda identity: f"<{identity}>") == expected


@pytest.mark.parametrize("mode", ["table", "vertical", "compact", "markdown"])
def test_a_control_is_written_one_way_in_a_text_and_in_an_element(mode):
    text = shown(mode, [("a\x1bb", {**ADA, "name": "a\x1bb", "key": "k\x08"}, ["a\x1bb\x0c\\u001b"])], ("a", "b", "c"))
    assert text.replace("\\\\", "\\").count("a\\x1bb") == 3
    assert "\\u001bb" not in text and "\\f" not in text


def test_a_narrow_table_drops_what_is_empty_first_and_says_so():
    rows = [("C-1", None, "y" * 12, ""), ("C-2", None, "z", "")]
    assert shown("table", rows, ("id", "nothing", "text", "note"), 18).splitlines() == [
        "id   text",
        "---  ------------",
        "C-1  yyyyyyyyyyyy",
        "C-2  z",
        "empty in every row: nothing, note",
    ]


def test_a_table_that_fits_keeps_its_empty_columns():
    assert shown("table", [(1, None)], ("a", "b"), 80).splitlines()[2] == "1  null"


def test_a_narrow_table_shortens_texts_and_no_date_id_or_number():
    row = ("x" * 60, "2026-10-05T10:30:00.000Z", "A-12345678901", 123456789012, "by 2026-10-05", "short")
    lines = shown("table", [row], tuple("abcdef"), 80).splitlines()
    assert max(map(width, lines)) <= 80
    for whole in ("2026-10-05 10:30Z", "A-12345678901", "123456789012", "by 2026-10-05", "short"):
        assert whole in lines[2]
    assert "…" in lines[2]


def test_the_widest_text_is_shortened_first():
    assert shown("table", [("x" * 40, "y" * 15)], ("a", "b"), 40).splitlines()[2] == f"{'x' * 22}…  {'y' * 15}"
