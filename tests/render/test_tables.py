"""Tables: widths on the screen, values readable, nothing that a memory holds reaches the terminal raw."""

import pytest

from kipql.render.formats import FORMATS, as_table, column_keys
from kipql.render.people import people, show
from kipql.render.tables import cut, table, width, wrapped


def test_columns_are_as_wide_as_their_widest_cell():
    assert table(["name", "n"], [["Ada", 1], ["Bo", 12]]) == "name   n\n----  --\nAda    1\nBo    12"


@pytest.mark.parametrize(("text", "cells"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("", 0)])
def test_width_is_what_the_terminal_shows(text, cells):
    assert width(text) == cells


def test_wide_characters_keep_the_next_column_straight():
    lines = table(["who", "x"], [["日本", "a"], ["Ada", "b"]]).splitlines()
    assert lines[2:] == ["日本  a", "Ada   b"]


def test_a_column_of_numbers_and_null_is_flush_right():
    assert table(["n"], [[None], [7]]).splitlines()[2:] == ["null", "   7"]


def test_a_boolean_is_no_number():
    assert table(["b"], [[True], [False]]).splitlines()[2:] == ["true", "false"]


def test_a_long_cell_is_cut_with_an_ellipsis_and_never_with_widest_none():
    long = "x" * 100
    assert table(["a"], [[long]]).splitlines()[2] == "x" * 79 + "…"
    assert table(["a"], [[long]], widest=None).splitlines()[2] == long
    assert width(table(["a"], [["日" * 100]]).splitlines()[2]) <= 80


def test_cells_are_escaped_for_the_terminal():
    assert table(["a"], [["\x1b[2Jx\nfake row"]]).splitlines()[2] == "\\x1b[2Jx\\nfake row"


ELEMENTS = [
    (
        {"id": "C-1", "kind": "Concept", "schema_ref": "kip://p@1.0.0/Person", "name": "Alice", "_system": {}},
        'Person (C-1) "Alice"',
    ),
    (
        {"id": "C-2", "kind": "Concept", "schema_ref": "kip://p@1.0.0/Robot", "name": None, "key": "r1", "_system": {}},
        "Robot r1 (C-2)",
    ),
    (
        {
            "id": "P-1",
            "kind": "Proposition",
            "subject": {"id": "C-1"},
            "predicate_ref": "kip://p@1.0.0/likes",
            "object": "tea",
            "_system": {},
        },
        'Proposition (P-1) C-1 likes "tea"',
    ),
    (
        {
            "id": "A-1",
            "kind": "Assertion",
            "stance": "reject",
            "proposition": {"id": "P-1"},
            "asserted_by": {"id": "C-1"},
            "_system": {},
        },
        "Assertion (A-1) reject P-1 by C-1",
    ),
    ({"id": "E-1", "kind": "Evidence", "evidence_class": "message", "_system": {}}, "Evidence (E-1) message"),
]


@pytest.mark.parametrize(("element", "text"), ELEMENTS)
def test_an_element_is_one_text_in_a_report_a_table_and_the_shell(element, text):
    assert show(element) == people(element) == text
    assert as_table(["x"], [[element]], None).splitlines()[2] == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a b", "a b"),
        (None, "null"),
        (True, "true"),
        (0.9, "0.9"),
        ({"id": "C-1"}, "C-1"),
        ([1, "é"], '[1,"é"]'),
    ],
)
def test_other_values_are_themselves_or_compact_json(value, text):
    assert show(value) == text


def test_repeated_columns_become_distinct_keys():
    assert column_keys(["?a.name", "n", "n"]) == ["a.name", "n", "n_2"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("table", "a     b\n----  ----\n=1+1  null\n(1 row)"),
        ("json", '[\n  {\n    "a": "=1+1",\n    "b": null\n  }\n]'),
        ("jsonl", '{"a":"=1+1","b":null}'),
        ("csv", "a,b\n'=1+1,"),
    ],
)
def test_formats(name, text):
    assert FORMATS[name](["a", "b"], [["=1+1", None]]) == text


def test_csv_quotes_commas_and_keeps_negative_numbers():
    assert FORMATS["csv"](["a"], [["x,y"], [-5], ["-5"], ["-x"], [{"k": 1}]]) == 'a\n"x,y"\n-5\n-5\n\'-x\n"{""k"":1}"'


def test_no_rows_is_a_header_and_a_count():
    assert FORMATS["table"](["a"], []) == "a\n-\n(0 rows)"
    assert FORMATS["json"](["a"], []) == "[]"


@pytest.mark.parametrize(
    ("text", "cells", "kept"),
    [
        ("the museum (C-10) of art", 15, "the museum (…"),
        ("the museum (C-10) of art", 20, "the museum (C-10) o…"),
        ("seen 2026-10-05 by Ada", 12, "seen…"),
        ("about 12345.5 metres", 10, "about…"),
        ("12345678901234567890", 8, "1234567…"),
    ],
)
def test_no_id_date_or_number_is_cut_in_its_middle(text, cells, kept):
    assert cut(text, cells) == kept


def test_wrapped_pieces_fit_the_screen_and_are_never_broken():
    pieces = ["how: observed;", "日本語日本語;", "root: #1", "x" * 30]
    assert list(wrapped(pieces, 27, "|- ", "|    ")) == [
        "|- how: observed;",
        "|    日本語日本語; root: #1",
        f"|    {'x' * 30}",
    ]


def test_no_pieces_are_one_empty_line():
    assert list(wrapped([], 10)) == [""]
