"""What a reader may not see moves nothing that it sees (§30.4, §48.5, §88.6): a memory with hidden elements gives it
exactly what a memory gives that never held them, ids aside."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.govern.twins import Twins, elements, stampless, stories, tell, without
from tests.properties.engine import EXAMPLES, SLOW, multiset, rows
from tests.properties.queries import Query, queries

often = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=SLOW)
Story = tuple[tuple[str, ...], list[tuple[str, str]]]


def by_id(query: Query) -> bool:
    """Whether the answer depends on how ids are spelled: those differ between the memories."""
    filtered = any("FILTER" in clause and ".id" in clause for clause in query.where)
    return filtered or any(query.items[at].endswith(".id") for at, _ in query.sorted_by)


asked = st.lists(queries().filter(lambda query: not by_id(query)), min_size=50, max_size=50)


def plainly(twins: Twins, query: Query) -> Query:
    """The query with the ids of the plain memory."""
    where = tuple(twins.ids_to_plain(clause) for clause in query.where)
    return Query(query.items, where, query.aggregated, query.sorted_by, query.parameters)


def keys_of(query: Query, found: list[Any]) -> list[Any]:
    return [[row[at] for at, _ in query.sorted_by] for row in found]


@often
@given(story=stories(), data=st.data())
def test_every_element_reads_as_if_the_hidden_ones_had_never_been(story: Story, data: st.DataObject) -> None:
    twins = tell(story)
    pairs = [(0, 0), *twins.commits]
    mixed, plain = data.draw(st.sampled_from(pairs))
    for ours, theirs in ((twins.mixed.space_seq, twins.plain.space_seq), (mixed, plain)):
        seen = [twins.to_plain(each) for each in elements(twins.low._session.at(ours))]
        assert seen == elements(twins.plain._session.at(theirs)), twins.told


@often
@given(story=stories(), questions=asked, data=st.data())
def test_a_thousand_queries_answer_as_on_a_memory_that_never_held_the_rest(
    story: Story, questions: list[Query], data: st.DataObject
) -> None:
    twins = tell(story)
    mixed, plain = data.draw(st.sampled_from([(None, None), *twins.commits]))
    low = twins.low
    for query in questions:
        other = plainly(twins, query)
        for _ in range(2):  # closures, then generated source
            found = [twins.to_plain(stampless(row)) for row in rows(low, query, as_of=mixed)]
            expected = stampless(rows(twins.plain, other, as_of=plain))
            assert multiset(found) == multiset(expected), (query.text(as_of=mixed), twins.told)
            assert keys_of(query, found) == keys_of(query, expected)
        first = [twins.to_plain(row) for row in rows(low, query, as_of=mixed, limit=2)]
        assert keys_of(query, first) == keys_of(query, rows(twins.plain, other, as_of=plain, limit=2))


@often
@given(story=stories())
def test_the_stream_of_changes_tells_what_is_visible(story: Story) -> None:
    twins = tell(story)

    def changes(nexus: Any, text: str) -> list[Any]:
        told = [stampless(row.get("changes", [])) for row in nexus.query(text).rows]
        return [each for each in told if each]

    for text in ("CHANGES AFTER SEQ 0", "HISTORY SPACE"):
        assert twins.to_plain(changes(twins.low, text)) == changes(twins.plain, text), twins.told
    for ours, theirs in list(twins.pairs().items())[:6]:
        history = twins.to_plain(changes(twins.low, f'HISTORY ELEMENT "{ours}"'))
        assert history == changes(twins.plain, f'HISTORY ELEMENT "{theirs}"'), (ours, twins.told)


ASIDE = ("snapshot_seq", "authorization_view")
TIME = 'FOR TIME "2026-11-20T00:00:00.000Z" WITH EPISTEMIC {explanation: "ledger"}'
BELIEFS = (
    'FIND(?s.key, ?b) WHERE { ?s CONCEPT {} ?b BELIEF SLOT (?s, "at") }',
    'FIND(?s.key, ?b) WHERE { ?s CONCEPT {} ?b BELIEF SLOT (?s, "knows") }',
    'FIND(?s.key, ?o, ?b) WHERE { ?s CONCEPT {} ?b BELIEF (?s, "knows", ?o) }',
    'FIND(?s.key, ?o.key, ?b.status) WHERE { ?s CONCEPT {} ?o CONCEPT {} ?b BELIEF (?s, "knows", ?o) }',
    'FIND(?s.key, ?b.status, ?b.accepted_values) WHERE { ?s CONCEPT {} ?b BELIEF SLOT (?s, "weighs") }',
)
SEARCHES = (
    'SEARCH CONCEPT "north"',
    'SEARCH CONCEPT "r1 red"',
    'SEARCH EVIDENCE "north south Zoë"',
    'SEARCH PROPOSITION "knows red"',
    'SEARCH ASSERTION "weighs red"',
)


def at(text: str, seq: int | None) -> str:
    return f"{text} {'' if seq is None else f'AS OF SEQ {seq}'} {TIME}"


@often
@given(story=stories(), data=st.data())
def test_beliefs_are_those_of_a_memory_that_never_held_the_rest(story: Story, data: st.DataObject) -> None:
    twins = tell(story)
    mixed, plain = data.draw(st.sampled_from([(None, None), *twins.commits]))
    for text in BELIEFS:
        for _ in range(2):
            found, expected = (
                without(stampless(nexus.query(at(text, seq)).rows), *ASIDE)
                for nexus, seq in ((twins.low, mixed), (twins.plain, plain))
            )
            assert multiset(twins.to_plain(found)) == multiset(expected), (text, twins.told)


@often
@given(story=stories(), data=st.data())
def test_searches_rank_as_on_a_memory_that_never_held_the_rest(story: Story, data: st.DataObject) -> None:
    twins = tell(story)
    mixed, plain = data.draw(st.sampled_from([(None, None), *twins.commits]))
    for text in SEARCHES:
        found, expected = (
            nexus.query(text if seq is None else f"{text} AS OF SEQ {seq}").rows
            for nexus, seq in ((twins.low, mixed), (twins.plain, plain))
        )
        assert twins.to_plain(found) == expected, (text, twins.told)
