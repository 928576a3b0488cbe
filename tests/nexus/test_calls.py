"""Calls: prepared statements, limits, cancelling, results, and several threads at once."""

import threading

import pytest

import kipql
from kipql.errors import KipError

NAMED = 'CREATE CONCEPT ?c { TYPE "Person" NAME :name }'
NAMES = 'FIND(?c.name) WHERE { ?c {type: "Person"} } ORDER BY ?c.name'


@pytest.fixture(scope="module")
def nexus() -> kipql.Nexus:
    nexus = kipql.open()
    for name in ("Ada", "Bob", "Cid"):
        nexus.execute(NAMED, {"name": name})
    return nexus


def failure(call: object, *arguments: object, **options: object) -> KipError:
    with pytest.raises(KipError) as caught:
        call(*arguments, **options)  # type: ignore[operator]
    return caught.value


def test_a_prepared_statement_runs_on_the_head_of_the_moment() -> None:
    nexus = kipql.open()
    statement, write = nexus.prepare(NAMES), nexus.prepare(NAMED)
    assert statement.query().rows == []
    assert write.execute({"name": "Ada"}).space_seq == 1
    assert (statement.query().rows, statement.execute().rows) == (["Ada"], ["Ada"])
    assert (write.language, write.parameters) == ("KML", ("name",))
    assert failure(write.query, {"name": "x"}).code == "ReadonlyViolation"


def test_preparing_finds_what_needs_no_run() -> None:
    assert failure(kipql.open().prepare, 'FIND(?c) WHERE { ?c {type: "Persn"} }').code == "SchemaSymbolNotFound"
    assert failure(kipql.open().prepare, "FIND(?c) WHERE {").code == "InvalidSyntax"


def test_one_item_gives_values_and_several_give_tuples(nexus: kipql.Nexus) -> None:
    one, two = nexus.query(NAMES), nexus.query(NAMES.replace("(?c.name)", "(?c.name, ?c.key)"))
    assert (one.columns, one.rows, list(one), len(one)) == (("c.name",), ["Ada", "Bob", "Cid"], one.rows, 3)
    assert (two.columns, two.rows[0]) == (("c.name", "c.key"), ("Ada", None))
    assert two.dicts()[1] == {"c.name": "Bob", "c.key": None}
    assert two.result[2] == ["Cid", None]


def test_one_and_scalar_want_exactly_one(nexus: kipql.Nexus) -> None:
    assert nexus.query("FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }").scalar() == 3
    assert failure(nexus.query(NAMES).one).details == {"rows": 3}
    assert failure(nexus.query("FIND(?c) WHERE { ?c CONCEPT {name: 7} }").scalar).code == "NotFoundOrNotVisible"
    pair = nexus.query('FIND(?c.name, ?c.key) WHERE { ?c CONCEPT {name: "Ada"} }')
    assert (pair.one(), failure(pair.scalar).code) == (("Ada", None), "TypeMismatch")


def test_an_element_in_a_row_is_the_one_of_the_snapshot(nexus: kipql.Nexus) -> None:
    other = kipql.open()
    other.execute(NAMED, {"name": "Ada"})
    result = other.query("FIND(?c) WHERE { ?c CONCEPT {} }")
    other.execute('UPDATE "C-1" SET FIELDS {name: "Eve"}')
    assert result.scalar()["name"] == "Ada"
    assert result.context["snapshot_seq"] == 1


def test_pages_are_the_whole(nexus: kipql.Nexus) -> None:
    text, found, cursor = f"{NAMES} LIMIT 2", [], None
    while True:
        page = nexus.query(text if cursor is None else f"{text} CURSOR :cursor", {"cursor": cursor})
        found += page.rows
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == nexus.query(NAMES).rows


def test_elements_and_references_are_parameters(nexus: kipql.Nexus) -> None:
    ada = nexus.query('FIND(?c) WHERE { ?c CONCEPT {name: "Ada"} }').one()
    for reference in (ada, {"id": ada["id"]}, ada["id"]):
        assert nexus.query("FIND(?c.name) WHERE { ?c CONCEPT {id: :c} }", {"c": reference}).rows == ["Ada"]


@pytest.mark.parametrize("limits", [kipql.Limits(text=10), kipql.Limits(rows=1), kipql.Limits(ticks=1)])
def test_a_limit_ends_a_call_with_an_error_that_names_it(limits: kipql.Limits) -> None:
    nexus = kipql.open(limits=limits)
    filled = kipql.open()
    for name in ("a", "b", "c"):
        filled.execute(NAMED, {"name": name})
    if limits.text == 10:
        assert failure(nexus.query, NAMES).details["limit"] == "text"
    else:
        assert failure(filled.query, NAMES, limits=limits).code == "ResourceExhausted"


def test_a_call_narrows_limits_and_never_widens_them() -> None:
    nexus = kipql.open(limits=kipql.Limits(rows=1))
    with nexus.transaction() as tx:
        tx.execute(NAMED, {"name": "a"})
        tx.execute(NAMED, {"name": "b"})
    assert failure(nexus.query, NAMES, limits=kipql.Limits(rows=100)).details["value"] == 1


def test_a_cancelled_call_says_so() -> None:
    cancel = threading.Event()
    cancel.set()
    nexus = kipql.open(limits=kipql.Limits(ticks=10**9))
    nexus.load({"kind": "concept", "type": "Person", "name": f"p{number % 7}"} for number in range(150))
    cross = "FIND(COUNT(?a)) WHERE { ?a CONCEPT {} ?b CONCEPT {} FILTER(?a.name != ?b.name) }"
    error = failure(nexus.query, cross, cancel=cancel)
    assert (error.code, error.details["cancelled"]) == ("ExecutionTimeout", True)


def test_explain_shows_the_plan_and_counts_when_it_is_run(nexus: kipql.Nexus) -> None:
    text = 'FIND(?c.name) WHERE { ?c {type: "Person", name: :name} }'
    assert nexus.explain(text)
    assert nexus.explain(text, {"name": "Ada"}) != nexus.explain(text)
    assert failure(nexus.explain, "LIST TYPES").code == "UnsupportedCapability"


def test_threads_write_one_after_the_other_and_read_whole_commits() -> None:
    nexus = kipql.open()
    pair = 'MUTATE { CREATE CONCEPT ?a { TYPE "Person" NAME "a" } CREATE CONCEPT ?b { TYPE "Person" NAME "b" } }'
    seqs: list[int] = []
    odd: list[int] = []

    def write() -> None:
        seqs.extend(nexus.execute(pair).space_seq for _ in range(25))

    def look() -> None:
        for _ in range(100):
            count = nexus.query("FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }").scalar()
            if count % 2:
                odd.append(count)

    threads = [threading.Thread(target=each) for each in (write, write, look, look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sorted(seqs), odd) == (list(range(1, 51)), [])
    assert nexus.query("FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }").scalar() == 100
