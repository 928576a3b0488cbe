"""What is acceptable at a place of a text, and whether a text waits for more: by the parser's state."""

import pytest

from kipql.lang.expected import expected, lexemes, unfinished

UNFINISHED = [
    "FIND(",
    "FIND(?x) WHERE { ?x {}",
    "FIND(?x) // where",
    "LIST",
    "LIST TYPES LIMIT",
    "LIST TYPES; FIND(?x)",
    'ASSERT (?a, "p", ?b)',
    "MUTATE { }  FIND(?x) WHERE",
]
# Whole, or wrong in a way that more text does not heal.
FINISHED = [
    "",
    "// nothing",
    "LIST TYPES",
    "LIST TYPES;",
    "FIND(?x) WHERE { ?x {} }",
    "FIND(]",
    'FIND("x',
    "x",
    "LIST TYPES LIST"[:-5],
]


@pytest.mark.parametrize("text", UNFINISHED)
def test_a_text_that_stops_too_early_is_unfinished(text):
    assert unfinished(text)


@pytest.mark.parametrize("text", FINISHED)
def test_a_whole_or_a_wrong_text_is_not(text):
    assert not unfinished(text)


@pytest.mark.parametrize(
    ("text", "begin", "terminals"),
    [
        ("FIND(?x) WH", 9, {"WHERE"}),
        ("FIND(?x) WHERE ", 15, {"LBRACE"}),
        ("FIND(?x.na", 8, {"IDENT"}),
        ("DESCRIBE SCHEMA ", 16, {"ENVIRONMENT"}),
        ("FIND(?x) WHERE { (?x, ", 22, {"PARAM", "STRING", "VAR"}),
        ('FIND(?x) WHERE { (?x, "kee', 22, {"PARAM", "STRING", "VAR"}),
        ("FIND(?x) WHERE { (?x, :", 22, {"PARAM", "STRING", "VAR"}),
        ("FIND(] ?x", 9, set()),
    ],
)
def test_the_terminals_at_the_end_of_a_text(text, begin, terminals):
    found = expected(text, len(text))
    assert (found.begin, found.terminals) == (begin, terminals)


def test_only_what_stands_before_the_place_counts():
    assert expected("FIND(?x) WHERE { nonsense", 9).terminals == {"WHERE"}


@pytest.mark.parametrize(
    ("text", "terminal", "phrase"),
    [
        ("FIND(?x) WHERE { ?x {} } ", "AS", "AS OF SEQ"),
        ("FIND(?x) WHERE { ?x {} } ", "WITH", "WITH EPISTEMIC"),
        ("", "SET_RETENTION", "SET RETENTION"),
        ("", "UPSERT", "UPSERT CONCEPT"),
        ("DESCRIBE ", "COMPATIBILITY", "COMPATIBILITY FROM"),
    ],
)
def test_a_keyword_comes_with_those_that_must_follow(text, terminal, phrase):
    assert expected(text, len(text)).phrases[terminal] == phrase


def test_lexemes_are_what_the_parser_took_them_for():
    text = 'FIND(?key) WHERE { ?key {key: :p, n: 1} } ) limit "s"'
    assert [each.terminal for each in lexemes(text)] == [
        *("FIND", "LPAR", "VAR", "RPAR", "WHERE", "LBRACE", "VAR", "LBRACE"),
        *("IDENT", "COLON", "PARAM", "COMMA", "IDENT", "COLON", "NUMBER", "RBRACE", "RBRACE"),
        *("BAD", "LIMIT", "STRING"),
    ]
