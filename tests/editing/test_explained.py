"""What a word means: the tables are whole, and each kind of word is explained."""

import pytest

import kipql
from kipql.audit.directives import NAMES
from kipql.editing.explained import DIRECTIVES, FUNCTIONS, meaning
from kipql.editing.vocabulary import Vocabulary
from kipql.plan import functions

QUERY = 'FIND(COUNT(?x)) WHERE { ?x {type: "Person", name: "Ada"} (?x, "prefers", ?y) FILTER(in(?y, [1])) }'


@pytest.fixture(scope="module")
def memory():
    with kipql.open() as nexus:
        yield nexus


def said(nexus, text, word, after=0):
    found = meaning(text, text.index(word, after), nexus, Vocabulary(nexus).symbols)
    return None if found is None else (found.text, text[found.span.start : found.span.end])


def test_every_function_of_the_language_is_explained_and_no_other():
    assert set(FUNCTIONS) == {*functions.FUNCTIONS, *functions.AGGREGATES}


@pytest.mark.parametrize("name", functions.FUNCTIONS)
def test_a_function_is_written_with_the_arguments_that_it_takes(name):
    form, _ = FUNCTIONS[name]
    assert form.startswith(f"{name}(") and form.count(",") + 1 == functions.FUNCTIONS[name].arity


def test_every_directive_is_explained_and_no_other():
    assert set(DIRECTIVES) == set(NAMES)


@pytest.mark.parametrize(
    ("word", "expected"),
    [("COUNT", "COUNT(?x)"), ("in(", "IN(value, list)"), ("?x {", "`?x`: Concept"), ("?y)", "`?y`: a variable")],
)
def test_words_of_the_language(memory, word, expected):
    assert expected in said(memory, QUERY, word)[0]


def test_a_symbol_is_explained_from_the_schema(memory):
    text, word = said(memory, QUERY, '"Person"')
    assert word == '"Person"' and text.startswith("**Type Person**") and "display\\_name: string" in text
    assert "subject: Person" in said(memory, QUERY, '"prefers"')[0]


@pytest.mark.parametrize("word", ["FIND", '"Ada"', "WHERE", "{", " WHERE"])
def test_what_needs_no_word_has_none(memory, word):
    assert said(memory, QUERY, word) is None


@pytest.mark.parametrize("text", ["FIND(COUNT(?x) WHERE ] COUNT(", 'FIND(?x) ] ?x {type: "Person"'])
def test_behind_an_error_words_still_mean_something(memory, text):
    word = "COUNT" if "COUNT" in text else '"Person"'
    assert said(memory, text, word, text.index("]")) is not None


def test_a_word_is_found_from_its_end_too(memory):
    assert meaning("FIND(?x", 7, memory, Vocabulary(memory).symbols) is not None
    assert meaning("", 0, memory, Vocabulary(memory).symbols) is None


def test_a_name_of_two_packages_says_so():
    package = {
        "format": "KIP-Schema-Package",
        "manifest": {"package_id": "kip://a/b", "version": "1.0.0"},
        "definitions": {"concept_types": {"Person": {"kind": "ConceptType", "description": "Another."}}},
    }
    with kipql.open(packages=[package]) as nexus:
        assert "Person" in said(nexus, QUERY, '"Person"')[0]
