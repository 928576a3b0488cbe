"""`nexus.load`: records become statements, every check on, one commit a batch."""

import pytest

import kipql
from kipql.errors import KipError

PEOPLE = [
    {"kind": "concept", "type": "Person", "key": "p:ada", "name": "Ada", "as": "ada"},
    {"kind": "concept", "type": "Person", "key": "p:bob", "name": "Bob", "as": "bob"},
    {"kind": "assertion", "subject": {"ref": "ada"}, "predicate": "same_as", "object": {"ref": "bob"},
     "by": {"ref": "bob"}, "mode": "stated", "at": "2026-01-01T00:00:00.000Z", "as": "claim"},
    {"kind": "evidence", "fields": {"evidence_class": "note", "payload": {"ref": "ada"}}, "client_key": "n:1"},
]  # fmt: skip


def test_records_are_written_and_named() -> None:
    nexus = kipql.open()
    loaded = nexus.load(PEOPLE)
    assert (loaded.records, loaded.commits, loaded.space_seq) == (4, 1, 1)
    assert loaded.ids == {"ada": "C-1", "bob": "C-2", "claim": "A-1"}
    assert nexus.query('FIND(?a.name, ?b.name) WHERE { (?a, "same_as", ?b) }').rows == [("Ada", "Bob")]
    assert nexus.query("FIND(?e.payload.inline) WHERE { ?e EVIDENCE {} }").rows == [{"ref": "ada"}]


def test_a_batch_is_a_commit_and_names_outlive_it() -> None:
    nexus = kipql.open()
    assert nexus.load(PEOPLE, batch=2).commits == 2
    assert nexus.space_seq == 2


def test_the_record_at_fault_is_named_and_earlier_batches_stay() -> None:
    nexus = kipql.open()
    bad = {"kind": "concept", "type": "Person", "key": "p:ada", "name": "Twin"}
    with pytest.raises(KipError) as caught:
        nexus.load([*PEOPLE[:2], bad], batch=2)
    assert (caught.value.code, caught.value.details["record"], nexus.space_seq) == ("IdentityConflict", 2, 1)


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"kind": "robot"}, "ConstraintViolation"),
        ({"kind": 10**5_000}, "ConstraintViolation"),
        ({"kind": "concept", 10**5_000: 1}, "TypeMismatch"),
        ({"kind": "concept", "type": "Person", "colour": "red"}, "ConstraintViolation"),
        ({"kind": "proposition", "subject": {"ref": "who"}, "predicate": "same_as", "object": 1}, "ReferenceError"),
        ("a record", "TypeMismatch"),
    ],
)
def test_a_malformed_record_is_refused(record: object, code: str) -> None:
    nexus = kipql.open()
    with pytest.raises(KipError) as caught:
        nexus.load([record])  # type: ignore[list-item]
    assert (caught.value.code, nexus.space_seq) == (code, 0)
