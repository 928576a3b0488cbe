"""A LIMIT is put where it belongs, whatever stands around it, and a page leads to the next."""

import pytest

import kipql
from kipql.fronts.bounded import bounded

FIND = "FIND(?c.key) WHERE { ?c CONCEPT {} } ORDER BY ?c.key"


def command(text, rows=2, **parameters):
    made = bounded({"operations": [{"command": text, "parameters": parameters}]}, rows)
    return made.envelope["operations"][0]["command"], made.cut


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        (FIND, 2),
        (f"{FIND} // a comment", 2),
        (f"{FIND} ;", 2),
        (f"{FIND} LIMIT 1", 1),
        (f"{FIND} LIMIT 7", 2),
        (f"{FIND} LIMIT :n", 2),
        (f'{FIND} CURSOR // here it comes\n "x"', 2),
        (f'{FIND} limit 900 cursor "x"', 2),
        ("LIST TYPES", 2),
        ('SEARCH CONCEPT "LIMIT 9"', 2),
        ("HISTORY SPACE LIMIT 3", 2),
        ("CHANGES AFTER SEQ 0", 2),
    ],
)
def test_every_statement_that_pages_has_a_limit(text, limit):
    made, _ = command(text, n=100)
    node = kipql.parse(made)
    assert node.limit.value == limit
    before = text.partition(" LIMIT")[0].rstrip("; ")
    assert made.startswith(before.partition(" //")[0].partition(" CURSOR")[0].partition(" limit")[0])


@pytest.mark.parametrize(
    "text", ["DESCRIBE PROTOCOL", 'CREATE CONCEPT ?a { TYPE "Person" }', "FIND(?c", "", f"{FIND} LIMIT :n"]
)
def test_what_takes_no_limit_is_left_as_it_is(text):
    assert command(text, n="not a number") == (text, ())


@pytest.mark.parametrize(
    "envelope", [{}, {"operations": 5}, {"operations": [5, {"command": 5}, {}]}, {"operations": []}]
)
def test_what_is_no_request_is_left_to_be_refused(envelope):
    assert bounded(envelope, 2).envelope == envelope


def test_only_a_larger_limit_of_the_statement_itself_is_told():
    assert command(f"{FIND} LIMIT 3")[1] == (0,)
    assert command(f"{FIND} LIMIT 2")[1] == command(FIND)[1] == ()


def test_pages_are_the_whole():
    nexus = kipql.open()
    nexus.load({"kind": "concept", "type": "Person", "key": f"p{n}"} for n in range(7))
    seen, cursor = [], ""
    while True:
        result = nexus.query(command(FIND + cursor)[0])
        seen += result.rows
        if result.next_cursor is None:
            break
        cursor = f' CURSOR "{result.next_cursor}"'
    assert seen == [f"p{n}" for n in range(7)]
