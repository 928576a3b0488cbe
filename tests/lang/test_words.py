"""Words for people: near misses and English names."""

import pytest

from kipql.lang import words


@pytest.mark.parametrize(
    ("name", "candidates", "found"),
    [
        ("LIMTI", ["LIST", "LIMIT"], "LIMIT"),
        ("persn", ["Person", "Place"], "Person"),
        ("confidance", ["confidence", "context"], "confidence"),
        ("ab", ["ba"], "ba"),
        ("x", ["y"], "y"),
        ("Person", ["Person"], "Person"),
        ("abc", ["abd", "abe"], "abd"),
        ("Spaceship", ["Person", "Place"], None),
        ("x", ["yz"], None),
        ("", ["a"], "a"),
        ("a", [], None),
        ("a" * 100_000, ["aa"], None),
    ],
)
def test_the_nearest_spelling_is_named_when_it_is_near(name, candidates, found):
    assert words.near(name, candidates) == found


@pytest.mark.parametrize(
    ("terminals", "shown"),
    [
        ({"STRING", "NUMBER", "TRUE", "FALSE", "NULL", "PARAM"}, ["a literal or a parameter"]),
        ({"IDENT", "STRING", "RBRACE"}, ["a name, bare or quoted", "`}`"]),
        ({"ORDER", "LIMIT", "$END"}, ["LIMIT", "ORDER BY", "the end of the text"]),
        ({"SET_RETENTION", "UPDATE"}, ["SET RETENTION", "UPDATE"]),
    ],
)
def test_terminals_that_belong_together_have_one_name(terminals, shown):
    assert words.names(terminals) == shown


def test_a_list_reads_as_english():
    assert words.listed([]) == ""
    assert words.listed(["a"]) == "a"
    assert words.listed(["a", "b", "c"]) == "a, b or c"
