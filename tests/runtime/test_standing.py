"""Coordinates in force complete a statement that names none, and never one that does."""

import pytest

import kipql
from kipql.runtime.standing import completed

TIME = "2026-01-01T00:00:00.000Z"


@pytest.fixture(scope="module")
def nexus():
    with kipql.open() as opened:
        opened.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
        opened.execute('CREATE CONCEPT ?b { TYPE "Person" NAME "Bo" }')
        yield opened


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FIND(?c.name) WHERE { ?c CONCEPT {} }", ["Ada"]),
        ("FIND(?c.name) WHERE { ?c CONCEPT {} } AS OF SEQ 2", ["Ada", "Bo"]),
        ('SEARCH CONCEPT "Bo"', []),
        ("DESCRIBE SNAPSHOT", 1),
        ("DESCRIBE SNAPSHOT AS OF SEQ 2", 2),
        ('DESCRIBE SNAPSHOT AT TIME "2999-01-01T00:00:00.000Z"', 2),
    ],
)
def test_a_statement_without_a_snapshot_reads_the_one_in_force(nexus, text, expected):
    rows = nexus.prepare(text, as_of=1).query().rows
    assert (rows if isinstance(expected, list) else rows[0]["space_seq"]) == expected


@pytest.mark.parametrize(
    "text", ["LIST TYPES", "DESCRIBE PROTOCOL", 'CREATE CONCEPT ?a { TYPE "Person" }', "HISTORY SPACE"]
)
def test_a_statement_that_takes_no_coordinate_stays_as_it_is(text):
    node = kipql.parse(text)
    assert completed(node, 1, TIME) is node


def test_for_time_completes_a_query_and_gives_way_to_its_own(nexus):
    text = 'FIND(?b) WHERE { ?x {name: "Ada"} ?b BELIEF SLOT (?x, "prefers") }'
    own = "2020-01-01T00:00:00.000Z"
    assert nexus.prepare(text, for_time=TIME).query().rows[0]["basis"]["valid_at"] == TIME
    assert nexus.prepare(f'{text} FOR TIME "{own}"', for_time=TIME).query().rows[0]["basis"]["valid_at"] == own


def test_a_page_that_a_cursor_continues_is_not_completed():
    node = kipql.parse('FIND(?c) WHERE { ?c CONCEPT {} } CURSOR "x"')
    assert completed(node, 1, TIME) is node


def test_an_error_still_points_into_the_text(nexus):
    text = 'FIND(?c) WHERE { ?c {type: "Nothing"} }'
    with pytest.raises(kipql.KipError) as caught:
        nexus.prepare(text, as_of=1).query()
    span = caught.value.span
    assert text[span.start : span.end] == '"Nothing"'


def test_a_prepared_statement_explains_itself(nexus):
    assert "rows 1" in nexus.prepare("FIND(?c) WHERE { ?c CONCEPT {} }", as_of=1).explain({})
