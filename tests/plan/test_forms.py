"""A text of a known form has the tree of the known one but for its literals, and is judged as strictly (plan.forms)."""

from random import Random

import pytest

import kipql
from kipql import KipError, lang
from kipql.lang import ast
from kipql.lang.pieces import cut
from kipql.plan import prepare, shape
from kipql.plan.forms import Forms
from tests.exec.generated import Generator
from tests.exec.memories import memory

STRINGS = (
    '"Ada"',
    '""',
    '"C-1"',
    '"a \\" // b"',
    '"\\u00e9"',
    '"e\u0301"',
    '"\\ud800"',
    '"\\q"',
    '"2026-01-01T00:00:00Z"',
)
NUMBERS = ("0", "7", "-1", "2.5", "1e3", "9007199254740993", "1e999", "-0")
EVERYTHING = """FIND(?c.name, "shown") WHERE { // "a comment" 5
  ?c {type: "Person", "key": "h1", attributes: {rank: 7, tags: ["x", -1]}}
  (?c, "knows"{1,3}, ?o)
  ?b BELIEF SLOT (?c, "knows")
  FILTER(?c.name != "x" && CONTAINS(?c.name, "Ad") || REGEX(?c.name, "^A") || ?c["odd name"] < - 5 || !(1 == 2))
  ?s SEARCH CONCEPT "words" MODE "keyword" THRESHOLD 0.5 LIMIT 10
} AS OF SEQ 3 FOR TIME "2026-01-01T00:00:00Z" WITH EPISTEMIC {purpose: "p"} ORDER BY ?c.key LIMIT 20"""
TEXTS = [EVERYTHING, *(Generator(seed).query() for seed in range(150))]


def shaped(text: str) -> shape.Shaped:
    """What the text comes to, checked as a statement is before it is planned. Raises KipError."""
    find = lang.parse(text)
    assert isinstance(find, ast.Find)
    prepare.checked_find(find)
    return shape.lift_find(find)


def varied(text: str, random: Random) -> str:
    """The text with some of its strings and numbers replaced, mostly by others of their kind."""
    rest, pieces = cut(text)
    parts = [rest[0]]
    for piece, after in zip(pieces, rest[1:], strict=True):
        if piece[0] != "/" and random.random() < 0.4:
            quoted = (piece[0] == '"') is (random.random() < 0.9)
            piece = random.choice(STRINGS if quoted else NUMBERS)
        parts += [piece, after]
    return "".join(parts)


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_a_known_form_is_the_same_tree_with_other_literals(number: int) -> None:
    text, random = TEXTS[number], Random(number)
    forms: Forms[str] = Forms()
    known = shaped(text)
    forms.learn(text, known, text)
    for _ in range(30):
        other = varied(text, random)
        found = forms.find(other)
        if found is not None:
            own = shaped(other)  # it parses and passes every static check
            assert own.node == known.node
            assert own.literals == found.literals
            assert [type(value) for value in own.literals] == [type(value) for value in found.literals]


def test_lifted_literals_may_differ_and_nothing_else() -> None:
    forms: Forms[int] = Forms()
    forms.learn(EVERYTHING, shaped(EVERYTHING), 1)
    for old, new in (
        ('"h1"', '"h2"'), ("rank: 7", "rank: -8.5"), ('["x", -1]', '["y", 0]'), ('"Ad"', '"Bo"'), ("1 == 2", "3 == 4"),
        ('"words"', '"others"'), ("0.5", "0.75"), ("LIMIT 10", "LIMIT 11"), ("SEQ 3", "SEQ 4"), ("2026", "2027"),
        ('purpose: "p"', 'purpose: "q"'), ("LIMIT 20", "LIMIT 5"),
    ):  # fmt: skip
        found = forms.find(EVERYTHING.replace(old, new))
        assert found is not None, new
        assert found.literals == shaped(EVERYTHING.replace(old, new)).literals
    for old, new in (
        ('"Person"', '"Event"'), ('"key"', '"name"'), ('"knows"', '"likes"'), ("{1,3}", "{1,4}"), ('"^A"', '"^B"'),
        ('"odd name"', '"name"'), ("- 5", "- 6"), ('"keyword"', '"semantic"'), ('"shown"', '"seen"'),
        ('"a comment" 5', '"a comment" 6'), ('"h1"', "1"), ("rank: 7", 'rank: "7"'), ('"h1"', '"\\q"'),
        ("rank: 7", "rank: 9007199254740993"), ('"Ad"', "5"), ('"h1"', "true"),
    ):  # fmt: skip
        assert forms.find(EVERYTHING.replace(old, new)) is None, new


@pytest.mark.parametrize("string", ['"abc', '"\\"', '"a\n"', '"a\x00"', '"\\"' * 4_000])
def test_a_text_with_a_string_that_does_not_end_has_no_form(string: str) -> None:
    """What stands behind its quote is not looked at: that would take time in the square of the quotes."""
    text = f'FIND("shown") WHERE {{ ?c {{key: "h1"}} }} LIMIT 5 CURSOR {string}'
    assert cut(text) == ((text,), [])
    assert cut(f"5 // {string.splitlines()[0]}")[1][0] == "5"  # in a comment it is no string


def test_what_is_no_query_is_never_of_a_known_form() -> None:
    """Read-only safety is by the tree: a text is taken for a read only when it has the tree of one (§76)."""
    with kipql.open() as nexus:
        read = nexus.readonly()
        for key in ("a", "b", "c", "d"):
            assert read.query(f'FIND(?c.name) WHERE {{ ?c {{type: "Person", key: "{key}"}} }}').rows == []
        for text in (
            'CREATE CONCEPT ?c { TYPE "Person" KEY "e" }',
            'FIND(?c.name) WHERE { ?c {type: "Person", key: "a"} } CREATE CONCEPT ?c { TYPE "Person" KEY "e" }',
            'FIND(?c.name) WHERE { ?c {type: "Person", key: "a" } } PURGE "b"',
        ):
            with pytest.raises(KipError) as raised:
                read.query(text)
            assert raised.value.code in ("ReadonlyViolation", "InvalidSyntax")
        assert nexus.space_seq == 0


@pytest.mark.parametrize("seed", range(40))
def test_a_known_form_answers_as_the_parsed_text_does(seed: int) -> None:
    """Rows and errors, spans included, against the text with a comment behind it that makes it unknown."""
    nexus, random, text = memory("lab"), Random(seed), Generator(seed + 5_000).query()
    for number in range(8):
        other = varied(text, random)
        assert outcome(nexus, other) == outcome(nexus, f"{other} //{number}"), other


def outcome(nexus: kipql.Nexus, text: str) -> object:
    """The rows in the order of their text, or what is wrong and where."""
    try:
        return sorted(map(repr, nexus.query(text).rows))
    except KipError as error:
        return error.code, error.message, error.span


def test_an_error_of_a_run_names_its_place_in_the_text_at_hand() -> None:
    with kipql.open() as nexus:
        texts = [
            f'FIND(?c.name) WHERE {{ ?c {{type: "Person", key: "{"k" * length}"}} }} FOR TIME "{"x" * length}" LIMIT 5'
            for length in (1, 4, 9, 2, 7)
        ]
        for text in texts:
            with pytest.raises(KipError) as raised:
                nexus.query(text)
            span = raised.value.span
            assert span is not None
            assert text[span.start : span.end].strip('"').strip("x") == ""


def test_a_missing_parameter_is_shown_where_it_stands() -> None:
    with kipql.open() as nexus:
        query = 'FIND(?c.name) WHERE {{ ?c {{type: "Person", key: "{}", name: :name}} }}'
        for key in ("a", "bbbb", "cc"):
            text = query.format(key)
            assert nexus.query(text, {"name": "x"}).rows == []
            with pytest.raises(KipError) as raised:
                nexus.query(query.format(key + "!"))
            assert raised.value.code == "ReferenceError"
            span = raised.value.span
            assert span is not None
            assert query.format(key + "!")[span.start : span.end] == ":name"


def test_warnings_have_their_places_in_the_text_at_hand() -> None:
    with kipql.open() as nexus:
        for name in ("a", "bb", "ccc", "dddd", "e"):
            text = f'FIND(?a) WHERE {{ ?a ASSERTION {{mode: "{name}", status: "active"}} }}'
            (warning,) = nexus.query(text).warnings
            assert text[warning.span.start : warning.span.end].startswith("status")


def test_a_cursor_goes_on_in_a_text_of_the_same_form_and_in_no_other() -> None:
    with kipql.open() as nexus:
        for number in range(9):
            nexus.execute('CREATE CONCEPT ?c { TYPE "Person" NAME :n }', {"n": f"p{number}"})
        seen = []
        query = 'FIND(?c.name) WHERE {{ ?c {{type: "Person"}} FILTER(?c.name != "{}") }} LIMIT 2'
        for turn in range(6):  # the first runs on closures, later ones on generated source and on the ready path
            found, cursor = [], None
            name = f"p{turn}"
            while True:
                text = query.format(name) + ("" if cursor is None else f' CURSOR "{cursor}"')
                page = nexus.query(text)
                found += page.rows
                cursor = page.next_cursor
                if cursor is None:
                    break
                with pytest.raises(KipError) as raised:
                    nexus.query(query.format("other") + f' CURSOR "{cursor}"')
                assert raised.value.code == "CursorMismatch"
            seen.append(sorted(found))
        assert seen == [[f"p{n}" for n in range(9) if n != turn] for turn in range(6)]
