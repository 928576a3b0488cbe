"""Hostile and careless input: only KipError comes back, with the right code, and nothing is written (§70.2, §87.10)."""

import shutil
import threading
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql.errors import KipError
from kipql.limits import Limits

PERSON = 'CREATE CONCEPT ?a { TYPE "Person" NAME :v }'
NOTE = 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "note", payload: :v} }'
CLAIM = 'ASSERT ("C-1", "prefers", "C-2") { by: "C-1", mode: :v }'
COUNT = "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }"
LONE = "\ud800"
ITSELF: list[Any] = []
ITSELF.append(ITSELF)


class Word(StrEnum):
    ADA = "Ada"


def code_of(call: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(KipError) as caught:
        call(*arguments, **options)
    return caught.value.code


@pytest.fixture
def nexus() -> kipql.Nexus:
    nexus = kipql.open()
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
    nexus.execute('CREATE CONCEPT ?b { TYPE "Insight" NAME "tea" SET ATTRIBUTES {summary: "hot"} }')
    return nexus


@pytest.mark.parametrize(
    ("text", "value", "code"),
    [
        (NOTE, {LONE: 1}, "ConstraintViolation"),
        (NOTE, [{"a": {LONE: 1}}], "ConstraintViolation"),
        (NOTE, ITSELF, "ResourceExhausted"),
        (NOTE, {1: 2}, "TypeMismatch"),
        (CLAIM, {"id": "C-1"}, "TypeMismatch"),
        (CLAIM, ["stated"], "TypeMismatch"),
        (PERSON, datetime.min.replace(tzinfo=timezone(timedelta(hours=14))), "ConstraintViolation"),
        (PERSON, datetime.max.replace(tzinfo=timezone(-timedelta(hours=14))), "ConstraintViolation"),
    ],
)
def test_a_bad_parameter_is_refused_and_nothing_is_written(
    nexus: kipql.Nexus, text: str, value: object, code: str
) -> None:
    before = nexus.digest()
    assert code_of(nexus.execute, text, {"v": value}) == code
    assert nexus.digest() == before


def test_subclasses_of_plain_values_become_plain(nexus: kipql.Nexus) -> None:
    found = nexus.query("FIND(?c.id) WHERE { ?c {name: :v} }", {"v": Word.ADA}).rows
    assert found == ["C-1"]
    nexus.execute(PERSON, {"v": Word.ADA})
    assert [type(name) for name in nexus.query('FIND(?c.name) WHERE { ?c {type: "Person"} }').rows] == [str, str]


@pytest.mark.parametrize("parameters", [["v"], "v", 5])
def test_parameters_are_a_mapping(nexus: kipql.Nexus, parameters: Any) -> None:
    assert code_of(nexus.query, "FIND(?c) WHERE { ?c {name: :v} }", parameters) == "TypeMismatch"


def test_a_name_that_is_no_string_is_no_near_miss(nexus: kipql.Nexus) -> None:
    assert code_of(nexus.query, "FIND(?c) WHERE { ?c {name: :v} }", {1: 2, None: 3}) == "ReferenceError"


@pytest.mark.parametrize("text", [b"LIST TYPES", None, 5, ["LIST TYPES"]])
def test_a_statement_is_a_text(nexus: kipql.Nexus, text: Any) -> None:
    assert code_of(kipql.classify, text) == "InvalidSyntax"
    assert code_of(kipql.parse, text) == "InvalidSyntax"
    assert code_of(nexus.execute, text) == "TypeMismatch"


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"kind": "concept", "type": "Person", "name": LONE}, "ConstraintViolation"),
        ({"kind": "concept", "type": "Person", "client_key": LONE}, "ConstraintViolation"),
        ({"kind": "concept", "type": "Person", "attributes": 5}, "TypeMismatch"),
        ({"kind": "concept", "type": "Person", "attributes": None}, "TypeMismatch"),
        ({"kind": "concept", "type": "Person", "facets": {"X": 5}}, "SchemaSymbolNotFound"),
        ({"kind": "concept", "type": "Person", "structural": 5}, "TypeMismatch"),
        ({"kind": "concept", "type": "Person", "structural": ["has_message"]}, "TypeMismatch"),
        ({"kind": "concept", "type": "Person", "as": ["a"]}, "TypeMismatch"),
        ({"kind": "concept", "type": "Person", 1: 2, "zz": 3}, "TypeMismatch"),
        ({"kind": "evidence", "fields": [1]}, "TypeMismatch"),
        ({"kind": "evidence", "fields": {"evidence_class": "note", "payload": {LONE: 1}}}, "ConstraintViolation"),
        ({"kind": "evidence", "fields": {"evidence_class": "note", "payload": ITSELF}}, "ResourceExhausted"),
        ({"kind": "proposition", "subject": {"ref": ["x"]}, "predicate": "prefers", "object": "C-2"}, "TypeMismatch"),
        ({"kind": "assertion", "subject": "C-1", "predicate": "prefers", "object": "C-2", "by": "C-1",
          "mode": ["stated"]}, "TypeMismatch"),
        ({"kind": "assertion", "subject": "C-1", "predicate": "prefers", "object": "C-2", "by": "C-1"},
         "InvalidSyntax"),
    ],
)  # fmt: skip
def test_a_bad_record_is_refused_and_nothing_is_written(nexus: kipql.Nexus, record: Any, code: str) -> None:
    before = nexus.digest()
    assert code_of(nexus.load, [record]) == code
    assert nexus.digest() == before


def test_what_is_no_list_of_records_is_refused(nexus: kipql.Nexus) -> None:
    assert code_of(nexus.load, 5) == "TypeMismatch"
    assert code_of(nexus.load, [], batch="x") == "TypeMismatch"
    assert nexus.load([], batch=10**30).records == 0


@pytest.mark.parametrize("payload", [LONE, {LONE: 1}, float("nan"), 2**53, datetime(2026, 1, 1), {1: 2}, ITSELF])
def test_material_that_is_no_json_is_not_ingested(nexus: kipql.Nexus, payload: object) -> None:
    before = nexus.digest()
    reply = nexus.request({
        "kip": "2.0",
        "ingest": {"evidence": [{"key": "e", "evidence_class": "note", "payload": payload}]},
        "operations": [{"command": 'CREATE CONCEPT ?a { TYPE "Person" }'}],
    })  # fmt: skip
    assert reply["error"]["code"] in ("ConstraintViolation", "TypeMismatch", "ResourceExhausted")
    assert nexus.digest() == before


@pytest.mark.parametrize("member", ["evidence_class", "media_type", "client_key"])
def test_half_of_a_surrogate_pair_is_not_ingested(nexus: kipql.Nexus, member: str) -> None:
    entry = {"key": "e", "evidence_class": "note", "payload": "x", member: LONE}
    operations = [{"command": 'CREATE CONCEPT ?a { TYPE "Person" }'}]
    reply = nexus.request({"kip": "2.0", "ingest": {"evidence": [entry]}, "operations": operations})
    assert (reply["status"], nexus.space_seq) == ("failed", 2)
    nexus.digest()


@pytest.mark.parametrize(
    ("path", "code"), [("a\0b", "NotAMemory"), (LONE, "NotAMemory"), ("", "NotAMemory"), (5, "TypeMismatch"),
                       (b"x", "TypeMismatch")]
)  # fmt: skip
def test_what_is_no_path_is_refused(path: Any, code: str) -> None:
    assert code_of(kipql.open, path) == code


def test_a_wrong_option_makes_no_folder(tmp_path: Path) -> None:
    assert code_of(kipql.open, tmp_path / "m", durability="maybe") == "ConstraintViolation"
    assert code_of(kipql.open, tmp_path / "m", limits=5) == "TypeMismatch"
    assert not (tmp_path / "m").exists()


def test_packages_are_a_list(nexus: kipql.Nexus) -> None:
    assert code_of(nexus.install_packages, "kip://domains/general@1.0.0") == "TypeMismatch"
    assert code_of(nexus.install_packages, 5) == "TypeMismatch"


def test_limits_cancel_and_callbacks_are_checked(nexus: kipql.Nexus) -> None:
    assert code_of(nexus.query, COUNT, limits=5) == "TypeMismatch"
    assert code_of(nexus.execute, COUNT, limits=5) == "TypeMismatch"
    assert code_of(nexus.prepare(COUNT).execute, limits=5) == "TypeMismatch"
    assert code_of(nexus.query, COUNT, cancel=5) == "TypeMismatch"
    assert code_of(nexus.subscribe, 5) == "TypeMismatch"


def test_a_call_narrows_the_limits_of_its_text(nexus: kipql.Nexus) -> None:
    assert nexus.query(COUNT).scalar() == 2
    assert code_of(nexus.query, COUNT, limits=Limits(text=5)) == "ResourceExhausted"
    assert nexus.query(COUNT).scalar() == 2


def test_a_large_query_answers_alike_every_time(nexus: kipql.Nexus) -> None:
    text = "FIND(COUNT(?x0)) WHERE { " + " ".join(f'(?x{i}, "prefers", ?x{i + 1})' for i in range(190)) + " }"
    assert [nexus.query(text).scalar() for _ in range(3)] == [0, 0, 0]


def test_many_sort_keys_do_not_outrun_the_clock() -> None:
    nexus = kipql.open()
    nexus.load({"kind": "concept", "type": "Person", "name": f"p{at}"} for at in range(150))
    text = "FIND(?a.id) WHERE { ?a CONCEPT {} ?b CONCEPT {} } ORDER BY " + ", ".join(["?a.name"] * 300)
    for _ in range(2):
        assert code_of(nexus.query, text, limits=Limits(seconds=0.3)) == "ExecutionTimeout"


def test_a_writer_that_waits_for_another_thread_gives_up_in_time(nexus: kipql.Nexus) -> None:
    begun, done = threading.Event(), threading.Event()

    def hold() -> None:
        with nexus.transaction() as tx:
            tx.execute(PERSON, {"v": "x"})
            begun.set()
            done.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert begun.wait(30)
        assert code_of(nexus.execute, PERSON, {"v": "y"}, limits=Limits(seconds=0.1)) == "ExecutionTimeout"
        assert nexus.query(COUNT).scalar() == 2
    finally:
        done.set()
        thread.join(30)
    assert nexus.query(COUNT).scalar() == 3


def test_a_transaction_stays_in_its_thread(nexus: kipql.Nexus) -> None:
    codes: list[str] = []

    def elsewhere() -> None:
        codes.append(code_of(tx.execute, PERSON, {"v": "x"}))
        codes.append(code_of(tx.rollback))
        codes.append(code_of(tx.__exit__, None, None, None))

    with nexus.transaction() as tx:
        tx.execute(PERSON, {"v": "x"})
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join(30)
    assert codes == ["PreconditionFailed"] * 3
    assert nexus.query(COUNT).scalar() == 3


def test_validate_inside_a_transaction_does_not_call_a_good_text_bad(nexus: kipql.Nexus) -> None:
    with nexus.transaction() as tx:
        assert code_of(tx.query, "VALIDATE KML :k", {"k": PERSON, "v": "x"}) == "UnsupportedIsolation"


def test_a_closed_memory_says_so(nexus: kipql.Nexus) -> None:
    derived = nexus.readonly()
    nexus.close()
    assert code_of(nexus.query, COUNT) == "MemoryUnavailable"
    assert code_of(nexus.execute, PERSON, {"v": "x"}) == "MemoryUnavailable"
    assert code_of(derived.query, COUNT) == "MemoryUnavailable"


def test_closing_inside_a_transaction_rolls_it_back(tmp_path: Path) -> None:
    nexus = kipql.open(tmp_path / "m")
    with pytest.raises(KipError) as caught, nexus.transaction() as tx:
        tx.execute(PERSON, {"v": "x"})
        nexus.close()
    assert caught.value.code == "PreconditionFailed"
    assert kipql.open(tmp_path / "m").space_seq == 0


def test_a_clock_without_a_zone_is_refused() -> None:
    nexus = kipql.open(clock=lambda: datetime(2026, 1, 1))
    assert code_of(nexus.execute, PERSON, {"v": "x"}) == "TypeMismatch"
    assert kipql.open(clock=lambda: datetime(2026, 1, 1, tzinfo=UTC)).execute(PERSON, {"v": "x"}).space_seq == 1


@pytest.mark.parametrize("gone", ["spaces/kip%3Aspace%3Adefault/journal", "spaces/kip%3Aspace%3Adefault", "spaces"])
def test_a_space_whose_journal_is_gone_is_damage_never_a_new_space(tmp_path: Path, gone: str) -> None:
    memory = tmp_path / "brain.kip"
    with kipql.open(memory) as nexus:
        nexus.execute('CREATE CONCEPT ?a { TYPE "Person" }')
    target = memory.joinpath(gone)
    shutil.rmtree(target) if target.is_dir() else target.unlink()
    for readonly in (False, True):
        with pytest.raises(kipql.KipError) as raised:
            kipql.open(memory, readonly=readonly)
        assert raised.value.code == "MemoryDamaged"
    assert not target.exists()
