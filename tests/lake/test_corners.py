"""Corners where SQL has one thing and KQL two, or the other way round: texts that look like refs, nulls that are bound,
inexact times, walks from Literals. The process and the lake say the same (specification §44, §45)."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlglot import exp

import kipql
from kipql import lake
from kipql.errors import KipError
from kipql.limits import Limits
from tests.properties.vocabulary import PACKAGE

ROBOT = "kip://test/world@1.0.0/Robot"
STORY = [
    'CREATE CONCEPT ?a { TYPE "Robot" NAME "A" SET FIELDS {key: "a"} SET ATTRIBUTES {schema_ref: 5, list: []} }',
    'CREATE CONCEPT ?b { TYPE "Robot" NAME "B" SET FIELDS {key: "b"} SET ATTRIBUTES {schema_ref: "x\\"y"} }',
    f'CREATE CONCEPT ?c {{ TYPE "Robot" NAME "C" SET FIELDS {{key: "c"}} SET ATTRIBUTES {{schema_ref: "{ROBOT}"}} }}',
    'CREATE CONCEPT ?d { TYPE "Robot" NAME "D" SET FIELDS {key: "d"} SET ATTRIBUTES {schema_ref: "kip://no ref"} }',
    'ASSERT ("C-1", "weighs", null) {by: "C-1", mode: "stated"}',
    'ASSERT ("C-2", "weighs", 2) {by: "C-1", mode: "stated", valid: {from: {earliest: "2026-01-01T00:00:00.000Z", '
    'latest: "2026-02-01T00:00:00.000Z"}}}',
    'ASSERT ("C-3", "weighs", 2) {by: "C-1", mode: "stated", valid: {from: {earliest: "2026-01-05T00:00:00.000Z", '
    'latest: "2026-02-01T00:00:00.000Z"}}}',
]
ROBOTS = '?c {type: "Robot"}'
WEIGHED = '(?x, "weighs", ?v) FILTER(IS_NULL(?v)) UNION { ?x {key: "b"} }'
ENDS = '?e ASSERTION {proposition: ?p} ?f ASSERTION {proposition: ?q} ?p ("C-2", "weighs", ?v) ?q ({}, "weighs", ?w)'


def ends(other: str, condition: str) -> str:
    return f"FIND(COUNT(?e)) WHERE {{ {ENDS.replace('{}', other)} FILTER({condition}) }}"


CASES: list[tuple[str, list[Any]]] = [
    # what people wrote under the name of a symbol is a value like another
    *(
        (f"FIND(?c.name) WHERE {{ {ROBOTS} FILTER({condition}) }} ORDER BY ?c.name", names)
        for condition, names in (
            ("?c.attributes.schema_ref == 5", ["A"]),
            ('?c.attributes.schema_ref != "a"', ["B", "C", "D"]),
            ('?c.attributes.schema_ref == "x\\"y"', ["B"]),
            (f'?c.attributes.schema_ref == "{ROBOT}"', ["C"]),
            ('?c.attributes.schema_ref == "kip://test/world/Robot"', []),
            ('STARTS_WITH(?c.attributes.schema_ref, "kip://")', ["C", "D"]),
            ('LITERAL_TYPE(?c.attributes.schema_ref) == "number"', ["A"]),
            ("?c.attributes.list == []", ["A"]),
            ("IN(?c.attributes.list, [[], 1])", ["A"]),
            ("?c.attributes == {schema_ref: 5, list: []}", ["A"]),
        )
    ),
    # a value that a pattern bound may hold a ref: there it is a symbol
    ('FIND(?v.schema_ref) WHERE { ?c {key: "c", attributes: ?v} FILTER(?v.schema_ref == ?c.schema_ref) }', [ROBOT]),
    ('FIND(?c.name) WHERE { ?c {type: "Robot", attributes: ?v} FILTER(?v.schema_ref == 5) }', ["A"]),
    ('FIND(?c.name) WHERE { ?c {type: "Robot", attributes: ?v} FILTER(?v.schema_ref == "kip://no ref") }', ["D"]),
    # nulls that are bound and variables that are not are one group (§44.6)
    (f"FIND(?v, COUNT(?x)) WHERE {{ {WEIGHED} }}", [(None, 2)]),
    (f"FIND([?v], COUNT(?x)) WHERE {{ {WEIGHED} }}", [([None], 2)]),
    # inexact ends are equal by what they say, and have no order
    (ends('"C-2"', "?e.valid_time.from == ?f.valid_time.from"), [1]),
    (ends('"C-2"', "?e.valid_time.from != ?f.valid_time.from"), [0]),
    (ends('"C-3"', "?e.valid_time.from != ?f.valid_time.from"), [1]),
    (ends('"C-3"', "?e.valid_time.from < ?f.valid_time.from"), [0]),
    # a walk may begin at a Literal, though no hop is the Literal itself (§45)
    ('FIND(?y.name) WHERE { (?y, "weighs"{1}, 2) } ORDER BY ?y.name', ["B", "C"]),
    ('FIND(?y.name) WHERE { (?y, "weighs"{0,1}, 2) } ORDER BY ?y.name', ["B", "C"]),
    ('FIND(?y.name) WHERE { ?y {key: "b"} (?y, "weighs"{0,1}, 2) }', ["B"]),
    ('FIND(?y.name, ?z.name) WHERE { (?y, "weighs"{0,1}, ?v) ?q (?z, "weighs", ?v) FILTER(?y.name < ?z.name) }',
     [("B", "C")]),
    ('FIND(?y.name, ?z.name) WHERE { ?q (?z, "weighs", ?v) (?y, "weighs"{0,1}, ?v) FILTER(?y.name < ?z.name) }',
     [("B", "C")]),
]  # fmt: skip


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    folder = tmp_path_factory.mktemp("corners") / "lake"
    with kipql.open(packages=[PACKAGE]) as nexus:
        for statement in STORY:
            nexus.execute(statement)
        lake.export(nexus, folder)
        with lake.open(folder) as opened:
            yield nexus, opened


@pytest.mark.parametrize(("text", "rows"), CASES, ids=[text for text, _ in CASES])
def test_the_process_and_the_lake_say_what_kql_says(sides: tuple[Any, Any], text: str, rows: list[Any]) -> None:
    assert [side.query(text).rows for side in sides] == [rows, rows]


WALK = '(?x, "knows"{1,2}, ?y)'
REFUSED = [
    (f"FIND(?c.name) WHERE {{ {ROBOTS} FILTER(?c.attributes.list == [?c.key]) }}", "[?c.key]"),
    (f"FIND(?c.name) WHERE {{ {ROBOTS} {WALK} FILTER(IN(?c.attributes.list, [[?y.key]])) }}", "[?y.key]"),
    (f"FIND(COUNT(DISTINCT {{a: ?c.key}})) WHERE {{ {ROBOTS} {WALK} }}", "{a: ?c.key}"),
    (f"FIND(?c.facets.GradingState.grade) WHERE {{ {WALK} {ROBOTS} }}", None),
    (f"FIND(?c.name) WHERE {{ {WALK} {ROBOTS} FILTER(IS_NULL(?c.facets.GradingState.grade)) }}", None),
    (f'FIND(?c.name) WHERE {{ {WALK} {ROBOTS} ?c SEARCH CONCEPT "a" LIMIT 1 }}', None),
    (f'FIND(?c.name) WHERE {{ {WALK} {ROBOTS} FILTER(?c._system.dependency_validity.state == "current") }}', None),
]


@pytest.mark.parametrize(("text", "place"), REFUSED)
def test_what_a_lake_does_not_answer_is_refused_before_it_runs(
    sides: tuple[Any, Any], text: str, place: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sides[1]._engine, "keep", lambda select: pytest.fail("a part of it ran"))
    sides[0].query(text)
    with pytest.raises(KipError) as raised:
        sides[1].query(text)
    assert raised.value.code == "UnsupportedCapability"
    assert raised.value.message.endswith("is not available on a lake")
    if place is not None:
        assert raised.value.span is not None
        assert text[raised.value.span.start : raised.value.span.end] == place


def test_an_assertion_has_no_schema_ref(sides: tuple[Any, Any]) -> None:
    for side in sides:
        assert side.query("FIND(?a) WHERE { ?a ASSERTION {schema_ref: ?s} }").rows == []


MANY = [*(f"n{number}" for number in range(20_000)), "B"]


@pytest.mark.parametrize(
    ("field", "listed", "names"),
    [
        ("name", MANY, ["B"]),
        ("name", [*MANY, None], ["B"]),
        ("name", [*MANY, 5], ["B"]),
        ("attributes.schema_ref", [*MANY, 5], ["A"]),
        ("attributes.schema_ref", [*range(100), True], ["A"]),
        ("attributes.list", [*MANY, []], ["A"]),
        ("schema_ref", [*MANY, "kip://test/world/Robot"], ["A", "B", "C", "D"]),
        ("nothing", MANY, []),
    ],
)
@pytest.mark.parametrize("condition", ["IN(?c.{}, :listed)", "!IN(?c.{}, :listed)"])
def test_a_value_is_looked_for_among_many(
    sides: tuple[Any, Any], field: str, listed: list[Any], names: list[str], condition: str
) -> None:
    plain = field == "name" and listed is MANY  # nothing is unknown: who is not in is out
    others = [name for name in "ABCD" if name not in names] if plain else []
    if field == "attributes.list":
        others = []
    text = f"FIND(?c.name) WHERE {{ {ROBOTS} FILTER({condition.format(field)}) }} ORDER BY ?c.name"
    expected = others if condition[0] == "!" else names
    assert [side.query(text, {"listed": listed}).rows for side in sides] == [expected, expected]


def test_limits_of_a_call_hold_for_its_text(sides: tuple[Any, Any]) -> None:
    text = f"FIND(?c.name) WHERE {{ {ROBOTS} FILTER((((?c.name == 1)))) }}"
    for limit in ("text", "depth", "tokens"):
        found = []
        for side in sides:
            with pytest.raises(KipError) as raised:
                side.query(text, limits=Limits(**{limit: 2}))
            found.append((raised.value.code, raised.value.details["limit"]))
        assert found == [("ResourceExhausted", limit)] * 2


def test_a_function_that_fails_in_an_engine_is_told_where_it_is_called(sides: tuple[Any, Any]) -> None:
    text = f'FIND(?c.name) WHERE {{ {ROBOTS} FILTER(REGEX(?c.schema_ref, "x") || REGEX(?c.name, "y")) }}'
    for side in sides:
        with pytest.raises(KipError) as raised:
            side.query(text, limits=Limits(regex_subject=10))
        span = raised.value.span
        assert span is not None
        assert text[span.start : span.end] == 'REGEX(?c.schema_ref, "x")'


LONG = "x" * 70_000
KEPT = [
    'FIND(?b.status) WHERE { ?a {type: "Robot"} FILTER(REGEX(?a.name, "^z")) ?b BELIEF SLOT (?a, "weighs") }',
    'FIND(?b.key) WHERE { ?a {type: "Robot"} FILTER(REGEX(?a.name, "^z")) (?a, "knows"{1,3}, ?b) }',
]


@pytest.mark.parametrize("text", KEPT)
def test_what_fails_before_a_belief_or_a_path_is_told_and_the_next_query_is_answered(text: str, tmp_path: Any) -> None:
    with kipql.open(packages=[PACKAGE]) as nexus:
        for name in ("n", LONG):
            nexus.execute('CREATE CONCEPT ?c { TYPE "Robot" NAME :name }', {"name": name})
        lake.export(nexus, tmp_path / "lake")
        with lake.open(tmp_path / "lake") as opened:
            for side in (nexus, opened):
                with pytest.raises(KipError) as raised:
                    side.query(text)
                assert raised.value.code == "ResourceExhausted"
                assert side.query("FIND(COUNT(?a)) WHERE { ?a CONCEPT {} }").rows == [2]


def test_regular_expressions_of_one_query_are_held_to_one_time(
    sides: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, asked = sides[1]._engine, []
    rows = engine.rows
    monkeypatch.setattr(engine, "rows", lambda select: asked.append(select.copy()) or rows(select))
    sides[1].query(f'FIND(?c.key) WHERE {{ {ROBOTS} FILTER(REGEX(?c.name, "A")) FILTER(REGEX(?c.key, "a")) }}')
    calls = [call for select in asked for call in select.find_all(exp.Anonymous) if call.name == "kip_call_2"]
    assert len({call.expressions[2].sql() for call in calls}) == 2
    assert len({call.expressions[1].name for call in calls}) == 1, "each has a time of its own"


UNORDERED = [
    ('FIND(?e) WHERE { ?e STRUCTURAL (?x, "seen_with", ?y) UNION { ?x {type: "Robot", key: ?e} } } ORDER BY ?e',
     "ORDER BY meets an edge, which has no order"),
    ('FIND(MIN(?e)) WHERE { ?e STRUCTURAL (?x, "seen_with", ?y) }',
     "MIN takes number or string or boolean values and meets a value of type edge"),
    ('FIND(SUM(?e)) WHERE { ?x {type: "Robot"} ?e BELIEF SLOT (?x, "weighs") }',
     "SUM takes number values and meets a value of type belief"),
    ('FIND(MAX(?x)) WHERE { ?x {type: "Robot"} }',
     "MAX takes number or string or boolean values and meets a value of type element"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), UNORDERED)
def test_what_has_no_order_is_called_what_it_is(text: str, message: str, tmp_path: Any) -> None:
    with kipql.open(packages=[PACKAGE]) as nexus:
        for key in "abc":
            nexus.execute('CREATE CONCEPT ?c { TYPE "Robot" SET FIELDS {key: :key} }', {"key": key})
        nexus.execute('UPDATE ?x SET STRUCTURAL { ("seen_with", "C-2") ("seen_with", "C-3") } WHERE { ?x {key: "a"} }')
        lake.export(nexus, tmp_path / "lake")
        with lake.open(tmp_path / "lake") as opened:
            for side in (nexus, opened):
                with pytest.raises(KipError) as raised:
                    side.query(text)
                assert (raised.value.code, raised.value.message) == ("TypeMismatch", message)
