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


PAGED = [
    "FIND(?c.key) WHERE { ?c CONCEPT {} }",
    "LIST TYPES",
    'SEARCH CONCEPT "A"',
    "HISTORY SPACE",
    "HISTORY ELEMENT :who",
    "CHANGES AFTER SEQ 0",
]
MANY = 6


@pytest.fixture(scope="module")
def many():
    """A memory in which each statement of PAGED has MANY rows or more."""
    nexus = kipql.open()
    for at in range(MANY):
        nexus.execute('CREATE CONCEPT ?c { TYPE "Person" NAME "A" SET FIELDS {key: :k} }', {"k": f"p{at}"})
        if at:
            nexus.execute('UPDATE "C-1" SET FIELDS {name: :n}', {"n": f"A {at}"})
    return nexus


def asked(nexus, *operations, rows=3, **members):
    """The results of a request under a bound, as a front asks for them."""
    made = bounded({"kip": "2.0", "operations": list(operations), **members}, rows, nexus.limits)
    return nexus.request(made.envelope)["results"], made.cut


@pytest.mark.parametrize("text", PAGED)
def test_without_a_bound_each_of_these_has_more_rows_than_the_tests_allow(many, text):
    whole, _ = asked(many, {"command": f"{text} LIMIT 1000", "parameters": {"who": "C-1"}}, rows=1000)
    assert len(whole[0]["result"]) >= MANY


@pytest.mark.parametrize("text", PAGED)
@pytest.mark.parametrize("wanted", ["", "LIMIT 1000", "LIMIT 1e3", "LIMIT 1000.0", "LIMIT :n", "limit// 2\n:n"])
@pytest.mark.parametrize("value", [1000, 1000.0, 2**53 - 1, float(2**53 - 1)])
def test_no_way_to_say_limit_gets_more_rows_than_the_bound(many, text, wanted, value):
    given = {"who": "C-1", "n": value}
    (own,), _ = asked(many, {"command": f"{text} {wanted}", "parameters": given})
    (shared,), _ = asked(many, {"command": f"{text} {wanted}"}, parameters=given)
    assert len(own["result"]) == len(shared["result"]) == 3


@pytest.mark.parametrize("text", PAGED)
@pytest.mark.parametrize("value", [2**53, 1e300, "1000", True, None, [1000], {"n": 1000}, 1000.5, -1, -1000.0])
def test_what_is_no_limit_is_no_way_around_the_bound(many, text, value):
    (done,), _ = asked(many, {"command": f"{text} LIMIT :n", "parameters": {"who": "C-1", "n": value}})
    assert done["status"] == "failed" and not done.get("result")


def test_the_parameters_of_an_operation_outrank_the_shared_ones_in_the_bound_too(many):
    operation = {"command": f"{PAGED[0]} LIMIT :n", "parameters": {"n": 1000.0}}
    (more,), cut = asked(many, operation, parameters={"n": 1})
    assert len(more["result"]) == 3 and cut == (0,)
    (less,), cut = asked(many, {**operation, "parameters": {"n": 1.0}}, parameters={"n": 1000})
    assert len(less["result"]) == 1 and cut == ()


@pytest.mark.parametrize("mode", ["independent", "sequence"])
def test_every_operation_of_a_batch_is_bounded(many, mode):
    operations = [{"command": f"{text} LIMIT :n", "parameters": {"who": "C-1"}} for text in PAGED]
    results, cut = asked(many, *operations, parameters={"n": 1000.0}, execution={"mode": mode})
    assert [len(each["result"]) for each in results] == [3] * len(PAGED) and cut == tuple(range(len(PAGED)))


@pytest.mark.parametrize("text", PAGED[:-1])
def test_what_a_cursor_goes_on_with_is_bounded_too(many, text):
    given = {"who": "C-1", "n": 1000.0}
    pages, cursor = [], ""
    while cursor is not None:
        (page,), _ = asked(many, {"command": f"{text} LIMIT :n {cursor}", "parameters": given})
        pages.append(len(page["result"]))
        cursor = f'CURSOR "{page["next_cursor"]}"' if "next_cursor" in page else None
    assert max(pages) <= 3 and sum(pages) >= MANY


def test_changes_go_on_in_pages_too(many):
    (first,), _ = asked(many, {"command": "CHANGES AFTER SEQ 0"})
    (second,), _ = asked(many, {"command": "CHANGES SINCE :at LIMIT 50.0", "parameters": {"at": first["next_cursor"]}})
    assert len(second["result"]) == 3


def test_a_memory_that_reads_longer_texts_bounds_them_too():
    with kipql.open(limits=kipql.Limits(text=4_000_000, tokens=4_000_000)) as nexus:
        for _ in range(MANY):
            nexus.execute('CREATE CONCEPT ?c { TYPE "Person" NAME "A" }')
        long = f"{PAGED[0]} {'// ' + 'x' * 2_000_000}\n LIMIT 1000"
        (done,), _ = asked(nexus, {"command": long})
        assert len(done["result"]) == 3
