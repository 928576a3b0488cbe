"""`ingest.evidence` and `load`: writing without statements, with the same checks (§71.1)."""

from collections.abc import Mapping
from typing import Any

import pytest

from kipql.errors import KipError
from kipql.mutate import WriteContext, finish, ingest, load
from tests.mutate.kml_space import Space

MESSAGE = {
    "key": "msg",
    "evidence_class": "user_statement",
    "payload": "I prefer   dark mode.",
    "media_type": "text/plain",
    "observed_at": "2026-08-14T01:00:00.000Z",
    "source_actor": {"type": "Person", "key": "ada"},
}


def _ingest(space: Space, *entries: Mapping[str, Any]) -> dict[str, str]:
    tx = space.store.begin(space.at)
    try:
        write = WriteContext()
        found = ingest(entries, tx, write)
        finish(tx, write)
        if tx.seal():
            tx.commit()
        return found
    finally:
        tx.rollback()


def test_an_entry_becomes_evidence_byte_for_byte(lab: Space) -> None:
    assert _ingest(lab, MESSAGE) == {"msg": "E-2"}
    evidence = lab.element("E-2")
    assert evidence["payload"] == {"mode": "inline", "inline": "I prefer   dark mode."}
    assert evidence["source"] == [{"id": "C-1"}]
    assert evidence["observed_at"] == MESSAGE["observed_at"]


def test_a_payload_that_looks_like_a_wire_payload_is_kept_as_it_came(lab: Space) -> None:
    payload = {"mode": "external", "content_ref": "x"}
    _ingest(lab, {**MESSAGE, "payload": payload})
    assert lab.element("E-2")["payload"] == {"mode": "inline", "inline": payload}


def test_an_entry_with_a_client_key_is_minted_once(lab: Space) -> None:
    entry = {**MESSAGE, "client_key": "message:1"}
    assert _ingest(lab, entry) == _ingest(lab, entry) == {"msg": "E-2"}
    with pytest.raises(KipError) as caught:
        _ingest(lab, {**entry, "payload": "something else"})
    assert caught.value.code == "ClientKeyConflict"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"source_actor": {"id": "C-99"}}, "NotFoundOrNotVisible"),
        ({"source_actor": "Ada"}, "InvalidRequestEnvelope"),
        ({"source_actor": {"id": "P-1"}}, "ConstraintViolation"),
        ({"facets": {"Gone": {"a": 1}}}, "SchemaSymbolNotFound"),
        ({"facets": {"Wear": {"depth": 1}}}, "ConstraintViolation"),
        ({"observed_at": "yesterday"}, "ConstraintViolation"),
    ],
)
def test_a_bad_entry_mints_nothing(lab: Space, change: Mapping[str, Any], code: str) -> None:
    with pytest.raises(KipError) as caught:
        _ingest(lab, {**MESSAGE, "key": "first"}, {**MESSAGE, **change})
    assert caught.value.code == code
    assert lab.count("Evidence") == 1


def test_an_entry_carries_facets(lab: Space) -> None:
    _ingest(lab, {**MESSAGE, "facets": {"Wear": {"level": 3}}})
    assert list(lab.element("E-2")["facets"].values()) == [{"level": 3}]


# --- load ---------------------------------------------------------------------------------------------


def _load(space: Space, *records: Mapping[str, Any], names: dict[str, str] | None = None) -> int:
    tx = space.store.begin(space.at)
    try:
        write = WriteContext()
        count = load(records, tx, write, names)
        finish(tx, write)
        if tx.seal():
            tx.commit()
        return count
    finally:
        tx.rollback()


RECORDS: tuple[dict[str, Any], ...] = (
    {"kind": "concept", "type": "Person", "key": "ann", "name": "Ann", "as": "ann", "attributes": {"n": 1.0}},
    {"kind": "concept", "type": "Thing", "as": "tree", "structural": [["part", {"ref": "ann"}, {"index": 0}]]},
    {"kind": "proposition", "subject": {"ref": "ann"}, "predicate": "near", "object": {"ref": "tree"}, "as": "p"},
    {"kind": "evidence", "fields": {"evidence_class": "m", "payload": {"a": 1}}, "as": "e", "client_key": "m:1"},
    {
        "kind": "assertion",
        "subject": {"ref": "ann"},
        "predicate": "near",
        "object": {"ref": "tree"},
        "by": {"ref": "ann"},
        "mode": "stated",
        "at": "2026-01-01T00:00:00.000Z",
        "evidence": {"ref": "e"},
        "client_key": "a:1",
    },
    {
        "kind": "activity",
        "fields": {"activity_class": "m", "status": "completed"},
        "structural": [["outputs", {"ref": "e"}]],
    },
)

CLAIM = {"kind": "assertion", "subject": "C-1", "predicate": "is", "object": 1, "by": "C-1", "mode": "stated"}

SAME = """MUTATE {
  CREATE CONCEPT ?ann { TYPE "Person" NAME "Ann" SET FIELDS {key: "ann"} SET ATTRIBUTES {n: 1} }
  CREATE CONCEPT ?tree { TYPE "Thing" SET STRUCTURAL {("part", ?ann) {index: 0}} }
  CREATE EVIDENCE ?e { CLIENT KEY "m:1" SET FIELDS {evidence_class: "m", payload: {a: 1}} }
  ASSERT (?ann, "near", ?tree) {by: ?ann, mode: "stated", at: "2026-01-01T00:00:00.000Z", evidence: ?e, key: "a:1"}
  CREATE ACTIVITY ?x { SET FIELDS {activity_class: "m", status: "completed"} SET STRUCTURAL {("outputs", ?e)} }
}"""


def test_records_write_what_the_statements_for_them_write(lab: Space, twin: Space) -> None:
    names: dict[str, str] = {}
    lab.at += 1_000
    assert _load(lab, *RECORDS, names=names) == 6
    assert names == {"ann": "C-5", "tree": "C-6", "p": "P-2", "e": "E-2"}
    twin.write(SAME)
    assert lab.store.digest() == twin.store.digest()


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"kind": "planet"}, "ConstraintViolation"),
        ({"kind": "concept", "type": "Thing", "size": 1}, "ConstraintViolation"),
        ({"kind": "concept", "type": "Spaceship"}, "SchemaSymbolNotFound"),
        ({"kind": "concept", "type": "Person", "key": "ada"}, "IdentityConflict"),
        ({"kind": "concept", "type": "Box", "attributes": {"size": float("nan")}}, "ConstraintViolation"),
        ({"kind": "evidence", "fields": {}}, "ConstraintViolation"),
        ({"kind": "proposition", "subject": {"ref": "x"}, "predicate": "is", "object": 1}, "ReferenceError"),
        (
            {"kind": "assertion", "subject": "C-1", "predicate": "is", "object": 1, "by": "C-1", "mode": "sung"},
            "ConstraintViolation",
        ),
        (
            {"kind": "assertion", "subject": "C-1", "predicate": "is", "object": 1, "by": "C-9", "mode": "stated"},
            "NotFoundOrNotVisible",
        ),
        (["concept"], "TypeMismatch"),
    ],
)
def test_a_bad_record_says_which_and_leaves_nothing(lab: Space, record: Any, code: str) -> None:
    names = {"kept": "C-1"}
    with pytest.raises(KipError) as caught:
        _load(lab, RECORDS[0], record, names=names)
    assert (caught.value.code, caught.value.details["record"]) == (code, 1)
    assert names == {"kept": "C-1"}
    assert lab.count("Concept") == 4


def test_a_breach_of_the_final_state_is_found_too(lab: Space) -> None:
    with pytest.raises(KipError) as caught:
        _load(lab, {"kind": "concept", "type": "Box"})
    assert caught.value.code == "ConstraintViolation"
    assert lab.count("Concept") == 4
