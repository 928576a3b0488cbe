"""What must hold of every memory's story: history, durability and refusals (specification §34, §48, §70)."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

import kipql
from tests.properties.engine import EXAMPLES, SLOW, elements, multiset, retell, rows, tell, unstamped
from tests.properties.memories import memories, statements
from tests.properties.queries import Query, queries

often = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=SLOW)
several = st.lists(queries(), min_size=2, max_size=5)


@often
@given(story=memories, asked=several, data=st.data())
def test_as_of_n_is_a_replay_of_n_commits(story: list[str], asked: list[Query], data: st.DataObject) -> None:
    told = tell(story)
    seq = data.draw(st.integers(0, told.nexus.space_seq))
    replayed = retell(told, seq)
    then, again = elements(told.nexus, seq), elements(replayed.nexus, seq)
    assert [unstamped(element) for element in then] == [unstamped(element) for element in again]
    for query in asked:
        text = query.text(as_of=seq)
        assert multiset(rows(told.nexus, query, as_of=seq)) == multiset(rows(replayed.nexus, query)), text


@often
@given(story=memories, asked=several)
def test_a_reopened_memory_is_the_one_that_was_closed(story: list[str], asked: list[Query]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "memory.kip"
        told = tell(story, path)
        seq, digest = told.nexus.space_seq, told.nexus.digest()
        answers = [multiset(rows(told.nexus, query)) for query in asked]
        history = [elements(told.nexus, k) for k in range(seq + 1)]
        told.nexus.close()
        with kipql.open(path) as nexus:
            assert (nexus.space_seq, nexus.digest()) == (seq, digest)
            assert [multiset(rows(nexus, query)) for query in asked] == answers
            assert [elements(nexus, k) for k in range(seq + 1)] == history


@often
@given(story=memories, asked=several)
def test_a_memory_on_disk_is_the_one_in_memory(story: list[str], asked: list[Query]) -> None:
    with TemporaryDirectory() as folder:
        durable = tell(story, Path(folder) / "memory.kip")
        light = tell(story)
        assert durable.nexus.space_seq == light.nexus.space_seq
        for query in asked:
            assert multiset(rows(durable.nexus, query)) == multiset(rows(light.nexus, query)), query.text()
        durable.nexus.close()


@often
@given(story=memories, more=st.lists(statements, min_size=3, max_size=6))
def test_a_statement_changes_the_memory_or_nothing_at_all(story: list[str], more: list[str]) -> None:
    told = tell(story)
    for number, statement in enumerate(more, 100):
        before, digest = told.nexus.space_seq, told.nexus.digest()
        then = elements(told.nexus, before)
        told.tell(number, statement)
        assert (told.nexus.space_seq == before) == (told.nexus.digest() == digest), statement
        assert elements(told.nexus, before) == then, statement


@often
@given(story=memories)
def test_saying_a_thing_twice_takes_one_commit(story: list[str]) -> None:
    """An UPSERT, an ENSURE, a merge or a move that changes nothing is `no_effect` (§32)."""
    told = tell(story)
    repeatable = ("UPSERT", "ENSURE", "MERGE", "TRANSITION", "SET RETENTION", "UPDATE ?x UNSET ATTRIBUTES")
    for number, statement in enumerate(story, 100):
        if statement.startswith(repeatable):
            told.tell(number, statement)
            seq = told.nexus.space_seq
            told.tell(number, statement)
            assert told.nexus.space_seq == seq, statement
