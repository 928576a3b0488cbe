"""Every output mode over hostile rows: the reviewed text, and the laws that hold of it whatever the rows are."""

import csv
import io
import json
import re

import pytest

from kipql.render.modes import MODES
from kipql.render.tables import width
from tests.render import goldens

DANGER = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u202a-\u202e\u2060-\u2069\ud800-\udfff\ufeff]|##vso|##team"
)


@pytest.mark.parametrize("mode", MODES)
def test_what_a_mode_writes_is_the_reviewed_text(mode):
    assert goldens.written(mode) + "\n" == (goldens.FOLDER / f"{mode}.txt").read_bytes().decode("utf-8")


@pytest.mark.parametrize("mode", MODES)
def test_nothing_that_acts_on_a_terminal_or_a_build_server_is_in_it(mode):
    text = goldens.written(mode)
    assert DANGER.search(text) is None
    assert not any(line.lstrip().startswith("::") for line in text.splitlines())


def test_no_file_is_of_a_mode_that_is_not_there():
    assert {path.stem for path in goldens.FOLDER.iterdir()} == set(MODES)


@pytest.mark.parametrize("mode", ["json", "jsonl"])
def test_json_gives_every_value_back(mode):
    text = goldens.written(mode)
    rows = json.loads(text) if mode == "json" else [json.loads(line) for line in text.split("\n")]
    assert [tuple(row.values()) for row in rows] == goldens.ROWS


def test_csv_has_a_record_a_row_and_no_formula():
    records = list(csv.reader(io.StringIO(goldens.written("csv"))))
    assert len(records) == len(goldens.ROWS) + 1
    assert {len(record) for record in records} == {len(goldens.COLUMNS)}
    assert not any(cell[:1] in ("=", "+", "@", "\t", "\r") for record in records for cell in record)


def test_tsv_has_a_line_a_row_and_a_tab_between_cells():
    lines = goldens.written("tsv").split("\n")
    assert len(lines) == len(goldens.ROWS) + 1
    assert {line.count("\t") for line in lines} == {len(goldens.COLUMNS) - 1}


def test_markdown_has_a_row_a_line_and_no_markup_of_the_memory():
    lines = goldens.written("markdown").split("\n")
    assert len(lines) == len(goldens.ROWS) + 2
    bare = [re.sub(r"\\.", "", line) for line in lines]
    assert {line.count("|") for line in bare} == {len(goldens.COLUMNS) + 1}
    assert not any(sign in line for line in bare for sign in ("<", ">", "`", "*", "[", "@"))


def test_compact_has_a_line_a_row_and_quotes_what_could_be_mistaken():
    lines = goldens.written("compact").split("\n")
    assert len(lines) == len(goldens.ROWS) + 1
    for text, line in zip(goldens.TEXTS, lines[1:], strict=False):
        if text in ("null", "12", "", "a | b", " blank at both ends "):
            assert json.loads(line.rpartition(" | ")[0].rpartition(" | ")[0]) == text


def test_a_table_keeps_its_columns_under_each_other_and_fits():
    lines = goldens.written("table").split("\n")
    assert len(lines) == len(goldens.ROWS) + 2
    assert max(map(width, lines)) <= goldens.SCREEN
    first = len(lines[1].split("  ")[0])
    assert all(_cells(line, first) in ("", "  ") for line in lines)


def _cells(line, start):
    """The two screen cells behind the first `start` of a line."""
    at = next((at for at in range(len(line) + 1) if width(line[:at]) >= start), len(line))
    while at < len(line) and width(line[at]) == 0:
        at += 1
    return line[at : at + 2]


def test_vertical_has_a_line_a_value():
    lines = goldens.written("vertical").split("\n")
    assert len(lines) == len(goldens.ROWS) * (len(goldens.COLUMNS) + 1)


@pytest.mark.parametrize("text", ["null", "true", "-1", "1e5", '"a"', "[1]", "{", "", "a|b", " a", "a\n"])
def test_a_text_in_the_compact_form_is_quoted_where_it_could_be_something_else(text):
    assert MODES["compact"](("a",), [(text,)], str, 80).split("\n")[1] == json.dumps(text)


@pytest.mark.parametrize("text", ["nullable", "12 apples", "a b", "Graz", "2026-04-01T00:00:00.000Z", "it's"])
def test_any_other_text_is_bare_there(text):
    assert MODES["compact"](("a",), [(text,)], str, 80).split("\n")[1] == text
