"""A lake answers random queries as the memory does, at every sequence: rows, order and errors (§42-§45)."""

from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from kipql import lake
from kipql.errors import KipError
from tests.properties.engine import EXAMPLES, SLOW, multiset, tell, unstamped
from tests.properties.memories import memories
from tests.properties.queries import Query, queries
from tests.properties.test_queries import sort_columns

often = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=SLOW,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # a smaller example would be minutes of exports away
)
several = st.lists(queries(), min_size=4, max_size=8)


def asked(one: Any, query: Query, seq: int, limit: int | None = None) -> list[Any] | tuple[Any, ...]:
    """The rows as tuples, or the error and its place."""
    try:
        result = one.query(query.text(as_of=seq, limit=limit), query.parameters)
    except KipError as error:
        return error.code, error.message, error.span
    return [unstamped(row) if len(query.items) > 1 else (unstamped(row),) for row in result.rows]


@often
@given(story=memories, several=several, data=st.data())
def test_duckdb_answers_as_the_process(
    tmp_path_factory: pytest.TempPathFactory, story: list[str], several: list[Query], data: st.DataObject
) -> None:
    nexus = tell(story).nexus
    folder = tmp_path_factory.mktemp("lake")
    lake.export(nexus, folder)
    with lake.open(folder) as opened:
        for query in several:
            seq = max(0, nexus.space_seq - data.draw(st.sampled_from((0, 0, 1, 2, 5))))
            expected, found = asked(nexus, query, seq), asked(opened, query, seq)
            if isinstance(expected, tuple) or isinstance(found, tuple):
                assert found == expected, query.text(as_of=seq)
                continue
            assert multiset(found) == multiset(expected), query.text(as_of=seq)
            assert sort_columns(query, found) == sort_columns(query, expected), query.text(as_of=seq)
            first = asked(opened, query, seq, 2)
            assert sort_columns(query, first) == sort_columns(query, expected[:2]), query.text(as_of=seq)
