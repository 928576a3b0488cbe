"""META statements (§63-§69): shapes, order, paging, and what is not there."""

from datetime import UTC, datetime
from typing import Any

import pytest

import kipql
from kipql.errors import KipError

PROFILE = "kip://profiles/cognitive-memory@2.0.0"
PERSON = 'CREATE CONCEPT ?c { TYPE "Person" NAME :name }'


@pytest.fixture(scope="module")
def nexus() -> kipql.Nexus:
    """Three commits, an hour apart: Ada, Bob, and Ada renamed."""
    hours = iter(range(24))
    nexus = kipql.open(clock=lambda: datetime(2026, 5, 1, next(hours), tzinfo=UTC))
    nexus.execute(PERSON, {"name": "Ada"})
    nexus.execute(PERSON, {"name": "Bob"})
    nexus.execute('UPDATE "C-1" SET FIELDS {name: "Ada L."} SET ATTRIBUTES {note: "x"}')
    return nexus


def one(nexus: kipql.Nexus, text: str, /, **parameters: Any) -> Any:
    return nexus.query(text, parameters).one()


def failure(nexus: kipql.Nexus, text: str, /, **parameters: Any) -> str:
    with pytest.raises(KipError) as caught:
        nexus.query(text, parameters)
    return caught.value.code


@pytest.mark.parametrize("listed", ["TYPES", "PREDICATES", "FACETS", "STRUCTURAL FIELDS"])
def test_a_symbol_list_has_four_members_a_row_is_ordered_by_ref_and_leaves_core_out(
    nexus: kipql.Nexus, listed: str
) -> None:
    rows = nexus.query(f"LIST {listed}").rows
    assert rows
    assert {tuple(row) for row in rows} == {("ref", "local_name", "package_ref", "status")}
    refs = [row["ref"] for row in rows]
    assert refs == sorted(refs)
    assert not [ref for ref in refs if ref.startswith("kip://core")]


@pytest.mark.parametrize("text", ["LIST TYPES", "LIST STRUCTURAL FIELDS", "HISTORY SPACE", 'HISTORY ELEMENT "C-1"'])
def test_pages_are_the_whole(nexus: kipql.Nexus, text: str) -> None:
    whole = nexus.query(text).rows
    result = nexus.query(f"{text} LIMIT 2")
    rows = list(result.rows)
    while result.next_cursor is not None:
        assert result.truncated
        result = nexus.query(f"{text} LIMIT 2 CURSOR :cursor", {"cursor": result.next_cursor})
        rows += result.rows
    assert rows == whole


def test_a_page_goes_on_at_the_snapshot_it_began_with() -> None:
    nexus = kipql.open()
    for name in ("a", "b"):
        nexus.execute(PERSON, {"name": name})
    page = nexus.query("HISTORY SPACE LIMIT 1")
    nexus.execute(PERSON, {"name": "c"})
    rest = nexus.query("HISTORY SPACE LIMIT 1 CURSOR :c", {"c": page.next_cursor})
    assert [row["space_seq"] for row in rest] == [2]


def test_a_cursor_belongs_to_its_statement(nexus: kipql.Nexus) -> None:
    cursor = nexus.query("LIST TYPES LIMIT 1").next_cursor
    assert failure(nexus, "LIST FACETS LIMIT 1 CURSOR :c", c=cursor) == "CursorMismatch"
    assert failure(nexus, "LIST TYPES LIMIT 2 CURSOR :c", c=cursor) == "CursorMismatch"
    assert failure(nexus, "HISTORY SPACE CURSOR :c", c=cursor) == "CursorTypeMismatch"
    assert failure(nexus, "CHANGES SINCE :c", c=cursor) == "CursorTypeMismatch"
    assert failure(nexus, "LIST TYPES CURSOR :c", c="forged") == "CursorInvalid"
    assert failure(kipql.open(), "LIST TYPES CURSOR :c", c=cursor) == "CursorInvalid"


def test_limit_zero_asks_for_nothing(nexus: kipql.Nexus) -> None:
    result = nexus.query("LIST TYPES LIMIT 0")
    assert (result.rows, result.next_cursor) == ([], None)


@pytest.mark.parametrize(
    ("limit", "code"), [("-1", "ConstraintViolation"), ('"2"', "TypeMismatch"), ("1.5", "TypeMismatch")]
)
def test_a_limit_is_a_count(nexus: kipql.Nexus, limit: str, code: str) -> None:
    assert failure(nexus, f"LIST TYPES LIMIT {limit}") in (code, "InvalidSyntax")


def test_packages_are_rows_and_have_a_status(nexus: kipql.Nexus) -> None:
    row = {
        "package_ref": PROFILE,
        "package_id": "kip://profiles/cognitive-memory",
        "version": "2.0.0",
        "status": "active",
    }
    assert nexus.query("LIST SCHEMA PACKAGES").rows == [row]
    assert nexus.query('LIST SCHEMA PACKAGES STATUS "active"').rows == [row]
    assert nexus.query('LIST SCHEMA PACKAGES STATUS "blocked"').rows == []


@pytest.mark.parametrize("name", ["Person", f"{PROFILE}/Person", "kip://profiles/cognitive-memory/Person"])
def test_a_symbol_is_described_by_every_kind_of_name(nexus: kipql.Nexus, name: str) -> None:
    described = one(nexus, "DESCRIBE TYPE :name", name=name)
    assert (described["ref"], described["local_name"]) == (f"{PROFILE}/Person", "Person")
    assert described["definition"]["description"] == described["description"]


def test_an_unknown_symbol_names_the_nearest_and_its_place(nexus: kipql.Nexus) -> None:
    with pytest.raises(KipError) as caught:
        nexus.query('DESCRIBE TYPE "Persn"')
    assert caught.value.code == "SchemaSymbolNotFound"
    assert "Person" in (caught.value.hint or "")
    assert str(caught.value).startswith("1:15")


def test_a_package_is_described_with_its_symbols(nexus: kipql.Nexus) -> None:
    described = one(nexus, "DESCRIBE PACKAGE :ref", ref=PROFILE)
    assert "prefers" in described["symbols"]["predicates"]
    assert failure(nexus, 'DESCRIBE PACKAGE "kip://no/such"') == "NotFoundOrNotVisible"


@pytest.mark.parametrize(
    ("operand", "seq"),
    [
        ("", 3),
        ("AS OF SEQ 0", 0),
        ("AS OF SEQ 2", 2),
        ('AT TIME "2026-05-01T01:30:00.000Z"', 2),
        ('AT TIME "2026-05-01T01:00:00.000Z"', 2),
        ('AT TIME "2026-04-30T00:00:00.000Z"', 0),
        ('AT TIME "2030-01-01T00:00:00.000Z"', 3),
    ],
)
def test_a_snapshot_is_a_coordinate(nexus: kipql.Nexus, operand: str, seq: int) -> None:
    described = one(nexus, f"DESCRIBE SNAPSHOT {operand}")
    assert described["space_seq"] == seq
    assert described["tx_id"] == (f"kip:space:default#{seq}" if seq else None)


@pytest.mark.parametrize(
    ("text", "value", "code"),
    [
        ("DESCRIBE SNAPSHOT AS OF SEQ :v", 4, "HistoricalSnapshotUnavailable"),
        ("DESCRIBE SNAPSHOT AS OF SEQ :v", -1, "ConstraintViolation"),
        ("DESCRIBE SNAPSHOT AS OF SEQ :v", "1", "TypeMismatch"),
        ("DESCRIBE SNAPSHOT AT TIME :v", "2026-05-01", "ConstraintViolation"),
        ("DESCRIBE SNAPSHOT AT TIME :v", 5, "TypeMismatch"),
        ("DESCRIBE TRANSACTION :v", "kip:space:default#9", "TransactionUnknown"),
        ("DESCRIBE TRANSACTION :v", "nonsense", "TransactionUnknown"),
        ("DESCRIBE TRANSACTION BY IDEMPOTENCY KEY :v", "never", "TransactionUnknown"),
        ("HISTORY ELEMENT :v", "C-9", "NotFoundOrNotVisible"),
        ("HISTORY ELEMENT :v", "x", "NotFoundOrNotVisible"),
        ("HISTORY ELEMENT :v", 1, "TypeMismatch"),
        ("DESCRIBE SPACE :v", "kip:space:none", "NotFoundOrNotVisible"),
        ("DESCRIBE PRIMER MODE :v", "long", "ConstraintViolation"),
        ("VERIFY RECEIPT :v", "x", "TypeMismatch"),
        ("VERIFY CAPSULE :v", 5, "ArtifactParseError"),
        ("DESCRIBE TRUST :v", "x", "NotFoundOrNotVisible"),
        ("LIST DEPENDENTS :v", 1, "TypeMismatch"),
        ('LIST DEPENDENTS "C-1" DEPTH :v', 0, "ConstraintViolation"),
        ('LIST DEPENDENTS "C-1" DEPTH :v', -1, "TypeMismatch"),
    ],
)
def test_what_can_not_be_answered_has_its_own_code(nexus: kipql.Nexus, text: str, value: Any, code: str) -> None:
    assert failure(nexus, text, v=value) == code


def test_the_history_of_an_element_is_its_commits_narrowed_to_it(nexus: kipql.Nexus) -> None:
    rows = nexus.query('HISTORY ELEMENT "C-1"').rows
    assert [(row["space_seq"], [change["op"] for change in row["changes"]]) for row in rows] == [
        (1, ["create"]),
        (3, ["update"]),
    ]
    assert rows[1]["changes"][0]["touched"] == ["attributes.note", "fields.name"]
    assert [row["space_seq"] for row in nexus.query('HISTORY ELEMENT "C-1" FROM SEQ 2')] == [3]
    assert [row["space_seq"] for row in nexus.query('HISTORY ELEMENT "C-1" TO SEQ 2')] == [1]


def test_the_history_of_the_space_is_every_commit(nexus: kipql.Nexus) -> None:
    assert [row["space_seq"] for row in nexus.query("HISTORY SPACE")] == [1, 2, 3]
    assert [row["space_seq"] for row in nexus.query("HISTORY SPACE FROM SEQ 2 TO SEQ 2")] == [2]
    assert nexus.query("HISTORY SPACE FROM SEQ 9").rows == []


def test_changes_are_the_same_envelopes_with_their_coverage(nexus: kipql.Nexus) -> None:
    changes = nexus.query("CHANGES AFTER SEQ 1").rows
    history = nexus.query("HISTORY SPACE FROM SEQ 2").rows
    coverage = [change.pop("coverage") for change in changes]
    assert changes == history
    assert coverage == [{"through_seq": seq, "authorization_view": "full", "complete": True} for seq in (2, 3)]


def test_a_caught_up_follower_gets_nothing_and_a_page_can_be_continued(nexus: kipql.Nexus) -> None:
    assert nexus.query("CHANGES AFTER SEQ 99").rows == []
    page = nexus.query("CHANGES AFTER SEQ 0 LIMIT 1")
    rest = nexus.query("CHANGES SINCE :cursor", {"cursor": page.next_cursor})
    assert [row["space_seq"] for row in [*page, *rest]] == [1, 2, 3]
    assert rest.next_cursor is None


def test_a_transaction_is_described_by_its_envelope(nexus: kipql.Nexus) -> None:
    described = one(nexus, 'DESCRIBE TRANSACTION "kip:space:default#2"')
    assert (described["space_seq"], described["snapshot_seq"], described["status"]) == (2, 1, "committed")
    assert [change["id"] for change in described["changes"]] == ["C-2"]


def test_the_primer_keeps_the_principal_and_the_self_apart(nexus: kipql.Nexus) -> None:
    primer = one(nexus, "DESCRIBE PRIMER")
    assert primer["execution_context"]["principal_id"] == "kip:owner"
    assert primer["cognitive_identity"] == {"self": None}
    assert "prefers" in primer["schema_map"]["predicates"]
    assert "atomic_batch" in primer["capabilities"]
    assert f"{PROFILE}/prefers" in one(nexus, 'DESCRIBE PRIMER MODE "full"')["schema_map"]["predicates"]


def test_capabilities_say_supported_and_available(nexus: kipql.Nexus) -> None:
    described = one(nexus, "DESCRIBE CAPABILITIES")
    assert described["capabilities"]["semantic_search"] == {"supported": False, "available": False}
    assert described["limits"]["depth"] == 64


def test_spaces_are_listed_and_described() -> None:
    nexus = kipql.open()
    nexus.space("kip:space:b").execute(PERSON, {"name": "Ada"})
    rows = nexus.query("LIST SPACES").rows
    assert [(row["space_id"], row["space_seq"]) for row in rows] == [("kip:space:b", 1), ("kip:space:default", 0)]
    assert one(nexus, 'DESCRIBE SPACE "kip:space:b"')["space_seq"] == 1
    assert one(nexus.space("kip:space:b"), "DESCRIBE SPACE")["elements"]["concept"] == 1


@pytest.mark.parametrize(
    ("language", "text", "code"),
    [
        ("KQL", "FIND(?c) WHERE {", "InvalidSyntax"),
        ("KQL", 'FIND(?c) WHERE { ?c {type: "Nope"} }', "SchemaSymbolNotFound"),
        ("KML", 'CREATE CONCEPT ?c { TYPE "Nope" }', "SchemaSymbolNotFound"),
        ("KML", "FIND(?c) WHERE { ?c CONCEPT {} }", "LanguageMismatch"),
    ],
)
def test_validate_says_what_is_wrong_without_failing(nexus: kipql.Nexus, language: str, text: str, code: str) -> None:
    answer = one(nexus, f"VALIDATE {language} :text", text=text)
    assert (answer["valid"], [error["code"] for error in answer["errors"]]) == (False, [code])


def test_validate_of_an_open_mutation_names_its_parameters(nexus: kipql.Nexus) -> None:
    answer = one(nexus, "VALIDATE KML :text", text=PERSON)
    assert (answer["valid"], answer["unbound_parameters"]) == (True, ["name"])


def test_preview_foresees_with_the_parameters_of_the_call(nexus: kipql.Nexus) -> None:
    before = nexus.digest()
    foreseen = one(nexus, "PREVIEW KML :text", text=PERSON, name="Eve")
    assert (foreseen["handles"], foreseen["changes"][0]["op"]) == ({"c": "C-3"}, "create")
    assert failure(nexus, "PREVIEW KML :text", text='CREATE CONCEPT ?c { TYPE "Nope" }') == "SchemaSymbolNotFound"
    assert (nexus.space_seq, nexus.digest()) == (3, before)


def test_a_receipt_verifies_against_its_commit(nexus: kipql.Nexus) -> None:
    from kipql.meta.checks import receipt_digest

    receipt = {"status": "committed", "tx_id": "kip:space:default#2", "space_seq": 2, "snapshot_seq": 1}
    receipt["receipt_digest"] = receipt_digest(receipt)
    assert one(nexus, "VERIFY RECEIPT :r", r=receipt) == {
        "valid": True,
        "checks": {"digest": "match", "commit": "match"},
    }
    forged = {**receipt, "space_seq": 1}
    assert one(nexus, "VERIFY RECEIPT :r", r=forged)["checks"] == {"digest": "mismatch", "commit": "mismatch"}
    unknown = {"tx_id": "kip:space:default#9"}
    assert one(nexus, "VERIFY RECEIPT :r", r=unknown)["valid"] is False


@pytest.mark.parametrize(
    "stated",
    [
        {"space_id": "kip:space:other"},
        {"space_seq": True},
        {"committed_at": "2026-01-01T00:00:00.000Z"},
        {"origin": {"principal_id": "mallory"}},
        {"status": "no_effect"},
    ],
    ids=str,
)
def test_a_receipt_that_says_another_thing_of_a_commit_does_not_match(stated: dict[str, Any]) -> None:
    nexus = kipql.open()
    receipt = nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }').to_dict()  # type: ignore[union-attr]
    assert one(nexus, "VERIFY RECEIPT :r", r=receipt)["valid"] is True
    found = one(nexus, "VERIFY RECEIPT :r", r={**receipt, **stated})
    assert (found["valid"], found["checks"]["commit"]) == (False, "mismatch")


def test_a_text_is_validated_with_parameters_of_its_own() -> None:
    nexus = kipql.open()
    text = 'CREATE CONCEPT ?a { TYPE "Person" NAME :name }'
    open_text = nexus.query("VALIDATE KML :text", {"text": text}).one()
    assert (open_text["valid"], open_text["unbound_parameters"]) == (True, ["name"])
    named = nexus.query('VALIDATE KML :text WITH {parameters: {name: "Ada"}}', {"text": text}).one()
    assert (named["valid"], named["unbound_parameters"]) == (True, [])
    wrong = nexus.query("VALIDATE KML :text WITH {parameters: {name: 7}}", {"text": text}).one()
    assert [error["code"] for error in wrong["errors"]] == ["TypeMismatch"]


@pytest.mark.parametrize(
    ("options", "code"), [("{plan: true}", "ConstraintViolation"), ("{parameters: 7}", "TypeMismatch")]
)
def test_an_option_that_validation_does_not_know_is_refused(options: str, code: str) -> None:
    with pytest.raises(kipql.KipError) as raised:
        kipql.open().query(f'VALIDATE KQL "FIND(?c) WHERE {{ ?c CONCEPT {{}} }}" WITH {options}')
    assert raised.value.code == code
