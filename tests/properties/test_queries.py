"""What must hold of every query over every memory, without knowing the answer (architecture §7).

The compiled plan, the closures and the unoptimised plan give the same rows; a naive evaluator agrees; pages
add up to the whole; the order of ordinary patterns does not matter; a condition, its negation and the
solutions it decides nothing about are all there are.
"""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kipql import exec as execution
from kipql import lang
from kipql.lang import ast
from kipql.limits import Budget
from tests.properties.engine import EXAMPLES, MODES, SLOW, elements, multiset, rows, spelled, tell, unstamped
from tests.properties.memories import memories
from tests.properties.naive import World, compared
from tests.properties.queries import Query, conditions, conjunctions, queries

often = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=SLOW)
several = st.lists(queries(), min_size=2, max_size=6)


def parsed(query: Query) -> ast.Find:
    tree = lang.parse(query.text())
    assert isinstance(tree, ast.Find)
    return tree


def sort_columns(query: Query, found: list[Any]) -> list[str]:
    """The values that the rows were sorted by, in the order of the rows."""
    return [spelled([row[at] for at, _ in query.sorted_by]) for row in found]


def sorted_naively(query: Query, found: list[Any]) -> list[Any]:
    """Rows by the sort keys of a query, left to right, null last either way."""
    for at, down in reversed(query.sorted_by):
        present = [row for row in found if row[at] is not None]
        present.sort(key=lambda row: (isinstance(row[at], str), row[at]), reverse=down)
        found = present + [row for row in found if row[at] is None]
    return found


@often
@given(story=memories, asked=several, data=st.data())
def test_a_naive_evaluator_agrees(story: list[str], asked: list[Query], data: st.DataObject) -> None:
    nexus = tell(story).nexus
    seq = nexus.space_seq - data.draw(st.sampled_from((0, 0, 0, 1, 2, 5)))
    seq = max(seq, 0)
    then = elements(nexus, seq)
    for query in asked:
        expected = [unstamped(row) for row in World(then, query.parameters).find(parsed(query))]
        found = rows(nexus, query, as_of=seq)
        assert multiset(found) == multiset(expected), query.text(as_of=seq)
        expected = sorted_naively(query, expected)
        assert sort_columns(query, found) == sort_columns(query, expected), query.text(as_of=seq)
        first = rows(nexus, query, as_of=seq, limit=2)
        assert sort_columns(query, first) == sort_columns(query, expected[:2])
        assert len(first) == min(2, len(expected))
        assert not multiset(first).keys() - multiset(expected).keys()


@often
@given(story=memories, asked=several)
def test_compiled_closures_and_unoptimised_give_the_same_rows(story: list[str], asked: list[Query]) -> None:
    nexus = tell(story).nexus
    view = nexus._session.view()
    for query in asked:
        prepared = execution.prepare(parsed(query), view.environment)
        answers = [prepared.run(view, query.parameters, Budget(), mode=mode).rows for mode in MODES]
        counted = [multiset(map(unstamped, answer)) for answer in answers]
        assert counted[0] == counted[1] == counted[2], query.text()
        if query.sorted_by:
            columns = [sort_columns(query, list(answer)) for answer in answers]
            assert columns[0] == columns[1] == columns[2], query.text()


@often
@given(story=memories, asked=several, size=st.integers(1, 4))
def test_pages_add_up_to_the_whole(story: list[str], asked: list[Query], size: int) -> None:
    told = tell(story[:-1])
    for query in asked:
        whole = rows(told.nexus, query)
        seq, paged, cursor = told.nexus.space_seq, [], None
        while True:
            text = query.text(limit=size) + ("" if cursor is None else " CURSOR :cursor")
            result = told.nexus.query(text, {**query.parameters, "cursor": cursor})
            assert len(result.rows) <= size
            paged += [unstamped(row) if len(query.items) > 1 else (unstamped(row),) for row in result.rows]
            if len(paged) == len(result.rows):
                told.tell(99, story[-1])  # a later commit is none of this traversal's business
            cursor = result.next_cursor
            if cursor is None:
                break
            assert result.rows, "a page with a successor is not empty"
        assert multiset(paged) == multiset(whole), (seq, query.text(limit=size))
        assert sort_columns(query, paged) == sort_columns(query, whole)


@often
@given(story=memories, pairs=st.lists(conjunctions(), min_size=2, max_size=5))
def test_the_order_of_ordinary_patterns_does_not_matter(story: list[str], pairs: list[tuple[Query, Query]]) -> None:
    nexus = tell(story).nexus
    for written, shuffled in pairs:
        assert multiset(rows(nexus, written)) == multiset(rows(nexus, shuffled)), (written.text(), shuffled.text())


@often
@given(story=memories, asked=st.lists(conditions(), min_size=2, max_size=5))
def test_a_condition_its_negation_and_the_undecided_are_all(story: list[str], asked: list[tuple[Query, str]]) -> None:
    nexus = tell(story).nexus
    world = elements(nexus, nexus.space_seq)
    for query, condition in asked:
        everything, holds, fails, decided = (
            multiset(rows(nexus, Query(query.items, (*query.where, *more), parameters=query.parameters)))
            for more in (
                (),
                (f"FILTER({condition})",),
                (f"FILTER(!({condition}))",),
                (f"FILTER(({condition}) || !({condition}))",),
            )
        )
        naive = World(world, query.parameters)
        tree = lang.parse(Query(query.items, (*query.where, f"FILTER({condition})")).text())
        assert isinstance(tree, ast.Find)
        test = tree.where.clauses[-1]
        assert isinstance(test, ast.Filter)
        before = ast.Block(tree.where.clauses[:-1])
        undecided = [
            unstamped(tuple(naive.value(item, solution) for item in tree.items))
            for solution in naive.solutions(before)
            if not isinstance(naive.value(test.condition, solution), bool)
        ]
        for row in everything.keys() | holds.keys() | fails.keys():
            both = holds.get(row, 0) + fails.get(row, 0)
            assert both == decided.get(row, 0), (query.text(), condition)
            unknown = multiset(undecided).get(row, 0)
            assert both + unknown == everything.get(row, 0), (query.text(), condition)


def test_the_naive_evaluator_knows_its_own_rules() -> None:
    assert compared("==", 1, 1.0) is True
    assert compared("==", True, 1) is None
    assert compared("<", None, 1) is None
    assert compared("<", "a", "b") is True
    assert compared("<", [1], [2]) is None
