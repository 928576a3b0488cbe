"""Whatever the generators write parses, and formatting keeps its meaning: parse-format-parse is identity."""

from hypothesis import given, settings

import kipql
from tests.properties.memories import FOUNDING, statements
from tests.properties.queries import Query, queries


@settings(max_examples=150, deadline=None)
@given(statement=statements)
def test_formatting_a_statement_keeps_its_tree(statement: str) -> None:
    _same_tree(statement)


@settings(max_examples=150, deadline=None)
@given(query=queries())
def test_formatting_a_query_keeps_its_tree(query: Query) -> None:
    _same_tree(query.text(as_of=3, limit=2))


def test_the_founding_statement_is_one_mutation() -> None:
    assert kipql.classify(FOUNDING) == "KML"
    _same_tree(FOUNDING)


def _same_tree(text: str) -> None:
    tree = kipql.parse(text)
    canonical = kipql.format(text)
    assert kipql.parse(canonical) == tree
    assert kipql.format(canonical) == canonical
