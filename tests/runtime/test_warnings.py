"""What is legal and hardly meant is said beside the answer: in Python, on the wire, by VALIDATE (§44.1, §81)."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

import kipql
from tests.belief.world import PEOPLE
from tests.cli.client import Schemas

# a statement, the text its warning points at, its message, its hint
WRONG = [
    (
        'FIND(?a.id) WHERE { ?a ASSERTION {status: "active"} }',
        'status: "active"',
        "Assertion has no field 'status': it is null",
        "did you mean lifecycle.status?",
    ),
    (
        "FIND(?a.by) WHERE { ?a ASSERTION {} }",
        "?a.by",
        "Assertion has no field 'by': it is null",
        "did you mean asserted_by?",
    ),
    (
        "FIND(?a.lifecycle.staus) WHERE { ?a ASSERTION {} }",
        "?a.lifecycle.staus",
        "lifecycle has no member 'staus': it is null",
        "did you mean lifecycle.status?",
    ),
    (
        "FIND(?a.valid_time.form) WHERE { ?a ASSERTION {} }",
        "?a.valid_time.form",
        "valid_time has no member 'form': it is null",
        "did you mean valid_time.from?",
    ),
    (
        "FIND(?a.retention.legalhold) WHERE { ?a CONCEPT {} }",
        "?a.retention.legalhold",
        "retention has no member 'legalhold': it is null",
        "did you mean retention.legal_hold?",
    ),
    (
        'FIND(?a.id) WHERE { ?a EVIDENCE {lifecycle: {stats: "active"}} }',
        'stats: "active"',
        "lifecycle has no member 'stats': it is null",
        "did you mean lifecycle.status?",
    ),
    (
        "FIND(?c.age) WHERE { ?c CONCEPT {} }",
        "?c.age",
        "Concept has no field 'age': it is null",
        "what a Concept Type declares is below attributes: attributes.age",
    ),
    (
        'FIND(?b.stats) WHERE { ?b BELIEF SLOT ("C-1", "height") }',
        "?b.stats",
        "a belief has no member 'stats': it is null",
        "did you mean status?",
    ),
]
UNNAMED = [
    ('FIND(?b.status) WHERE { ?b BELIEF SLOT ("ann", "height") }', '"ann"', 'key: "ann"'),
    ('FIND(?b.status) WHERE { ?b BELIEF ("ann", "height", 170) }', '"ann"', 'key: "ann"'),
    ('FIND(?o) WHERE { ("Ann Lee", "height", ?o) }', '"Ann Lee"', 'key: "Ann Lee"'),
    ('FIND(?s.id) WHERE { STRUCTURAL ("claim", "evidence", ?s) }', '"claim"', 'key: "claim"'),
    ('FIND(?s.id) WHERE { STRUCTURAL (?s, "evidence", "note") }', '"note"', 'key: "note"'),
    ('FIND(?b.status) WHERE { ?b BELIEF (id: "height") }', '"height"', "looks like P-1"),
]
RIGHT = [
    'FIND(?a.lifecycle.status) WHERE { ?a ASSERTION {lifecycle: {status: "active"}} }',
    "FIND(?a.valid_time.from.earliest, ?a.retention.legal_hold, ?a._system.version) WHERE { ?a ASSERTION {} }",
    "FIND(?e.lifecycle.corrected_by, ?e.payload.inline.anything) WHERE { ?e EVIDENCE {} }",
    "FIND(?x.status) WHERE { ?x ACTIVITY {} }",
    'FIND(?b.status, ?b.support.score) WHERE { ?b BELIEF ("C-1", "height", 1) }',
    "DESCRIBE PRIMER",
]


def memory() -> kipql.Nexus:
    nexus = kipql.open(packages=[PEOPLE])
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ann" }')
    return nexus


@pytest.mark.parametrize(("text", "place", "message", "hint"), WRONG)
def test_every_way_to_ask_tells_the_same(text: str, place: str, message: str, hint: str) -> None:
    nexus = memory()
    statement = nexus.prepare(text)
    with nexus.transaction() as tx:
        results = [tx.query(text)]
    results += [nexus.query(text) for _ in range(4)] + [statement.query() for _ in range(4)]
    for result in results:
        (found,) = result.warnings
        assert (found.code, found.message, found.hint) == ("SchemaFieldNotFound", message, hint)
        assert text[found.span.start : found.span.end] == place
    assert [result.rows for result in results] == [results[0].rows] * len(results)


@pytest.mark.parametrize(("text", "place", "hint"), UNNAMED)
def test_a_key_in_the_place_of_an_id_names_nothing(text: str, place: str, hint: str) -> None:
    nexus = memory()
    named = text.replace(place, '"C-1"' if "id:" not in text else '"P-1"')
    for asked in (named, text, named, text, text, text):
        found = nexus.query(asked).warnings
        assert len(found) == (asked is text)
    for caveat in nexus.query(text).warnings:
        assert caveat.code == "NotFoundOrNotVisible" and hint in (caveat.hint or "")
        assert text[caveat.span.start : caveat.span.end] == place


def test_a_literal_object_is_no_id_and_need_be_none() -> None:
    assert memory().query('FIND(?s.id) WHERE { (?s, "lives_in", "Ann") }').warnings == ()


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_well_meant_has_none(text: str) -> None:
    nexus = memory()
    assert [nexus.query(text).warnings for _ in range(4)] == [()] * 4
    reply = nexus.request({"kip": "2.0", "operations": [{"command": text}]})
    assert "warnings" not in reply["results"][0]


def test_texts_that_differ_in_a_literal_have_each_its_own_places() -> None:
    nexus = memory()
    for name in ("a", "bcdefg", "hi", "Ann") * 2:
        text = f'FIND(?c.name) WHERE {{ ?c CONCEPT {{name: "{name}"}} FILTER(?c.nmae == "x") }}'
        (found,) = nexus.query(text).warnings
        assert text[found.span.start : found.span.end] == "?c.nmae"


def test_several_come_in_the_order_of_the_text() -> None:
    text = 'FIND(?a.by, ?a.at) WHERE { ?a ASSERTION {status: "active"} }'
    assert [caveat.hint for caveat in memory().query(text).warnings] == [
        "did you mean asserted_by?",
        "did you mean asserted_at?",
        "did you mean lifecycle.status?",
    ]


def test_a_warning_is_a_record_that_can_not_be_changed() -> None:
    (found,) = memory().query(WRONG[0][0]).warnings
    assert isinstance(found, kipql.Caveat)
    assert str(found) == f"SchemaFieldNotFound: {found.message} ({found.hint})"
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.code = "x"  # type: ignore[misc]


def request(*commands: str, **members: Any) -> dict[str, Any]:
    operations = [{"op_id": f"op-{at}", "command": command} for at, command in enumerate(commands)]
    envelope = {"kip": "2.0", "operations": operations, **members}
    return memory().request(envelope)


@pytest.mark.parametrize("mode", ["independent", "sequence", "atomic"])
def test_the_wire_has_them_in_the_result_of_their_operation(mode: str) -> None:
    write = 'UPDATE ?c SET ATTRIBUTES {a: 1} WHERE { ?c CONCEPT {nmae: "Ann"} }'
    reply = request(
        "DESCRIBE PROTOCOL", "FIND(?a)\nWHERE { ?a ASSERTION {status: 1} }", write, execution={"mode": mode}
    )
    plain, read, written = reply["results"]
    assert "warnings" not in plain and reply["warnings"] == []
    assert read["result"] == [] and read["warnings"] == [
        {
            "code": "SchemaFieldNotFound",
            "message": "Assertion has no field 'status': it is null",
            "details": {
                "hint": "did you mean lifecycle.status?",
                "position": {"line": 2, "column": 23, "column_utf16": 23},
            },
        }
    ]
    assert written["status"] == "no_effect"
    assert [warning["details"]["hint"] for warning in written["warnings"]] == ["did you mean name?"]


def test_a_response_with_them_is_one_as_the_schema_has_it(shared: Path) -> None:
    schemas = Schemas(shared / "kip" / "schemas")
    assert schemas.problems("response", request(*(text for text, *_ in WRONG), execution={"mode": "sequence"})) == []


def test_an_operation_that_fails_has_an_error_and_no_warning() -> None:
    reply = request('FIND(?a.by) WHERE { ?a ASSERTION {asserted_by: {type: "Nobody"}} }')
    (failed,) = reply["results"]
    assert failed["error"]["code"] == "SchemaSymbolNotFound" and "warnings" not in failed


@pytest.mark.parametrize(
    ("language", "text"),
    [("KQL", WRONG[0][0]), ("KML", "UPDATE ?a SET ATTRIBUTES {a: 1} WHERE { ?a ASSERTION {status: 1} }")],
)
def test_validate_tells_them_of_a_valid_text(language: str, text: str) -> None:
    found = memory().query(f"VALIDATE {language} :text", {"text": text}).one()
    assert [warning["details"]["hint"] for warning in found["warnings"]] == ["did you mean lifecycle.status?"]
    assert found["valid"]


def test_a_mutate_is_looked_at_statement_by_statement() -> None:
    text = """MUTATE {
      CREATE CONCEPT ?b { TYPE "Person" NAME "Bo" }
      UPDATE ?c SET ATTRIBUTES {a: 1} WHERE { ?c CONCEPT {nmae: "Ann"} }
    }"""
    (result,) = request(text)["results"]
    (warning,) = result["warnings"]
    assert warning["details"]["position"]["line"] == 3
