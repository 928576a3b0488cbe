"""The short ways of a plain claim write what the plan writes: elements, ids, Receipts and errors (§13, §32, §56)."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kipql
from kipql.errors import KipError
from kipql.runtime.receipt import Receipt

PACKAGE: dict[str, Any] = {
    "format": "KIP-Schema-Package",
    "manifest": {"package_id": "kip://tests/claims", "version": "1.0.0"},
    "definitions": {
        "concept_types": {
            name: {"kind": "ConceptType", "description": name, "attributes": {"open": True, "fields": {}}}
            for name in ("Man", "Dog")
        },
        "predicates": {
            "likes": {"kind": "PredicateType", "description": "Anything."},
            "owns": {
                "kind": "PredicateType",
                "description": "A man and his dog.",
                "subject": {"concept_types": ["Man"]},
                "object": {"concept_types": ["Dog"]},
            },
            "aged": {
                "kind": "PredicateType",
                "description": "Years.",
                "object": {"literal_types": ["number"]},
                "value_schema": {"type": "number", "minimum": 0},
            },
            "said": {
                "kind": "PredicateType",
                "description": "Words, or nothing.",
                "object": {"literal_types": ["string"], "nullable": True},
            },
        },
    },
}
NOON, LATER = "2026-01-01T12:00:00.000Z", "2026-02-01T12:00:00.000Z"
STORY = """MUTATE {
  CREATE CONCEPT ?ada { TYPE "Man" NAME "Ada" SET FIELDS {key: "ada"} }
  CREATE CONCEPT ?bob { TYPE "Man" NAME "Bob" SET FIELDS {key: "bob"} }
  CREATE CONCEPT ?rex { TYPE "Dog" NAME "Rex" SET FIELDS {key: "rex"} }
  CREATE CONCEPT ?tim { TYPE "Dog" NAME "Tim" }
  ENSURE PROPOSITION ?p (?ada, "likes", ?rex)
  CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "woof"} }
  CREATE EVIDENCE ?f { SET FIELDS {evidence_class: "message", payload: "wuff"} }
  ASSERT (?bob, "owns", ?tim) {by: ?bob, mode: "observed"}
}"""


@contextmanager
def planned() -> Iterator[None]:
    """Inside, every claim is planned."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kipql.runtime.claiming.claim_of", lambda parsed: None)
        patch.setattr("kipql.mutate.direct.assert_", lambda *_: None)
        patch.setattr("kipql.mutate.direct.mutate", lambda *_: None)
        patch.setattr("kipql.mutate.direct.attempt", lambda *_: None)
        patch.setattr("kipql.mutate.bulk.Bulk.write", lambda self, records, first: first)
        yield


SINCE = [timedelta()]  # what the clock of every memory here says


def memory() -> kipql.Nexus:
    made = kipql.open(packages=[PACKAGE], clock=lambda: datetime(2026, 5, 1, tzinfo=UTC) + SINCE[0])
    with planned():
        made.execute(STORY)
    return made


def outcome(act: Any, *given: Any) -> Any:
    """What an act answers or how it fails, in full."""
    try:
        found = act(*given)
    except KipError as error:
        return error.code, error.message, error.hint, error.span, {**error.details}
    if isinstance(found, Receipt):
        return [(field.name, getattr(found, field.name)) for field in fields(Receipt)]
    return found


# --- statements ---------------------------------------------------------------------------------------

ids = st.sampled_from(
    ["C-1", "C-2", "C-3", "C-4", "C-5", "P-1", "P-2", "E-1", "A-1", "C-01", "C-0", "C-99", "x", "P-9"]
)
references = st.one_of(
    ids,
    ids.map(lambda name: {"id": name}),
    st.sampled_from([{"type": "Man", "key": "ada"}, {"key": "rex"}, {"key": "gone"}, {"id": "C-1", "type": "Dog"}, {}]),
)
literals = st.sampled_from([0, 1, 1.0, -3, 2.5, "woof", "e\u0301", "C-3", "", True, None, [1], 2**60])
names = st.sampled_from(
    ["likes", "likes", "owns", "owns", "aged", "said", "gone", "kip://tests/claims@1.0.0/likes", ""]
)
members = st.fixed_dictionaries(
    {"by": references, "mode": st.sampled_from(["stated", "observed", "imported", "guessed", 3])},
    optional={
        "stance": st.sampled_from(["support", "reject", "uncertain", "maybe", None]),
        "confidence": st.sampled_from([0, 0.5, 1.0, 1, None, 2, "much", True]),
        "at": st.sampled_from([NOON, LATER, "noon", "2026-02-30T00:00:00.000Z", None]),
        "valid": st.sampled_from(
            [
                {"from": NOON},
                {"from": NOON, "until": LATER},
                {"from": LATER, "until": NOON},
                {"until": LATER},
                {"from": None, "until": LATER},
                {"from": {"earliest": NOON}},
                {"since": NOON},
                {},
                None,
            ]
        ),
        "evidence": st.sampled_from(["E-1", {"id": "E-2"}, ["E-1"], ["E-1", "E-2"], [], "C-1", "E-9", ["E-1", "E-1"]]),
        "context": st.sampled_from([["C-1"], [], ["C-2", "C-1"], ["E-1"]]),
        "key": st.sampled_from(["k1", "k2"]),
    },
)
claims = st.tuples(references, names, st.one_of(references, literals), members)
good = st.tuples(  # or with one thing wrong
    st.sampled_from(["C-1", "C-2", {"id": "C-2"}]),
    st.sampled_from(["likes", "owns"]),
    st.sampled_from(["C-3", "C-4", {"id": "C-4"}]),
    st.fixed_dictionaries(
        {"by": st.sampled_from(["C-1", "C-3"]), "mode": st.just("stated")},
        optional={
            "stance": st.just("reject"),
            "confidence": st.sampled_from([0.5, 1, True]),
            "at": st.just(NOON),
            "valid": st.sampled_from([{"from": NOON}, {"from": NOON, "until": LATER}, {"until": LATER}, {}]),
            "evidence": st.sampled_from(["E-1", {"id": "E-2"}, ["E-1"], ["E-1", "E-2"]]),
        },
    ),
)
claims = st.one_of(good, claims)
MOVES = [
    'TRANSITION "P-1" TO "archived"',
    'TRANSITION "A-1" TO "retracted"',
    'PURGE "C-4" REFERENCE POLICY "authorized_cascade" CONFIRM "PURGE"',
    'PURGE "E-2" REFERENCE POLICY "tombstone_reference" CONFIRM "PURGE"',
    'MERGE CONCEPT "C-2" INTO "C-1"',
    'UPSERT CONCEPT ?c { MATCH {type: "Man", key: "bob"} SET ATTRIBUTES {seen: 1} }',
    'UPSERT CONCEPT ?c { MATCH {type: "Dog", key: "new"} SET FIELDS {name: "New"} }',
]
moves = st.sampled_from(MOVES)


def text_of(names_: Any, handle: str = "") -> str:
    said = ", ".join(f"{name}: :{name}" for name in names_)
    return f"ASSERT {handle} (:s, :p, :o) {{{said}}}"


def written(value: Any) -> str:
    """A value as KML writes it."""
    import json

    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {written(member)}" for name, member in value.items()) + "}"
    return json.dumps(value)


often = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@often
@given(st.lists(st.one_of(claims, claims, claims, moves), min_size=1, max_size=8), st.booleans())
def test_a_claim_of_its_own_is_what_its_plan_makes(story: list[Any], handles: bool) -> None:
    short, long = memory(), memory()
    prepared: dict[tuple[str, ...], Any] = {}
    for step in story:
        SINCE[0] += timedelta(seconds=1)
        if isinstance(step, str):
            with planned():
                assert outcome(short.execute, step) == outcome(long.execute, step)
            continue
        subject, predicate, object_, said = step
        given_ = {"s": subject, "p": predicate, "o": object_, **said}
        text = text_of(said, "?a" if handles else "")
        statement = prepared.setdefault((*said,), short.prepare(text))
        found = outcome(statement.execute, given_)
        with planned():
            assert found == outcome(long.execute, text, given_), given_
    assert short.digest() == long.digest()


@often
@given(st.lists(st.lists(claims, min_size=1, max_size=4), min_size=1, max_size=4), st.booleans())
def test_claims_in_one_mutate_are_what_their_plan_makes(story: list[list[Any]], handles: bool) -> None:
    short, long = memory(), memory()
    for clauses in story:
        lines = []
        for number, (subject, predicate, object_, said) in enumerate(clauses):
            ends = ", ".join(map(written, (subject, predicate, object_)))
            lines.append(f"ASSERT {f'?a{number % 3}' if handles else ''} ({ends}) {written(said)}")
        text = "MUTATE { " + "\n".join(lines) + " }"
        found = outcome(short.execute, text)
        with planned():
            assert found == outcome(long.execute, text), text
    assert short.digest() == long.digest()


@often
@given(st.lists(claims, min_size=1, max_size=12), st.integers(1, 5), st.data())
def test_a_load_is_what_its_plan_makes(story: list[Any], batch: int, data: st.DataObject) -> None:
    records: list[dict[str, Any]] = [
        {"kind": "concept", "type": "Man", "name": "Eve", "as": "eve"},
        {"kind": "evidence", "fields": {"evidence_class": "m", "payload": "x"}, "as": "e"},
    ]
    for number, (subject, predicate, object_, said) in enumerate(story):
        record = {"kind": "assertion", "subject": subject, "predicate": predicate, "object": object_, **said}
        if "key" in record:
            record["client_key"] = record.pop("key")
        for name in ("subject", "object", "by", "evidence"):
            if name in record and data.draw(st.integers(0, 4)) == 0:
                record[name] = {"ref": data.draw(st.sampled_from(["eve", "eve", "e", "a0", "gone"]))}
        if data.draw(st.booleans()):
            record["as"] = f"a{number}"
        records.append(record)
    short, long = memory(), memory()
    found = outcome(lambda: short.load(records, batch=batch))
    with planned():
        assert found == outcome(lambda: long.load(records, batch=batch))
    assert short.digest() == long.digest()


# --- what the short way must not do -------------------------------------------------------------------


@pytest.mark.parametrize("move", MOVES)
def test_the_moves_between_claims_do_something(move: str) -> None:
    assert memory().execute(move).status == "committed"


def test_plain_claims_need_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    nexus = memory()
    statement = nexus.prepare('ASSERT (:s, "likes", :o) {by: :a, mode: "stated", at: :t, evidence: :e}')
    given_ = {"s": "C-1", "o": "C-4", "a": {"type": "Man", "key": "bob"}, "t": NOON, "e": ["E-1"]}
    record = {"kind": "assertion", "subject": "C-1", "predicate": "aged", "object": 7, "by": "C-2", "mode": "stated"}
    text = 'MUTATE { ASSERT ?a ("C-1", "likes", "C-4") {by: "C-1", mode: "stated"} }'
    monkeypatch.setattr("kipql.mutate.plan.Plan.__init__", None)
    assert nexus.execute(text).handles == {"a": "A-2"}
    assert nexus.load([record, {**record, "valid": {"from": NOON, "until": LATER}}]).records == 2
    monkeypatch.setattr("kipql.runtime.writing.Work", None)
    assert statement.execute(given_).space_seq == nexus.space_seq


def test_a_claim_that_fails_leaves_nothing_behind() -> None:
    nexus = memory()
    statement = nexus.prepare('ASSERT (:s, "owns", :o) {by: :a, mode: "stated"}')
    before, seq = nexus.digest(), nexus.space_seq
    with pytest.raises(KipError) as caught:
        statement.execute({"s": "C-3", "o": "C-4", "a": "C-1"})
    assert caught.value.code == "ConstraintViolation"
    assert (nexus.digest(), nexus.space_seq) == (before, seq)
    assert statement.execute({"s": "C-1", "o": "C-4", "a": "C-1"}).space_seq == seq + 1


def test_a_claim_waits_for_an_open_transaction_of_its_thread() -> None:
    nexus = memory()
    statement = nexus.prepare('ASSERT (:s, "likes", :o) {by: :a, mode: "stated"}')
    with nexus.transaction(), pytest.raises(KipError) as caught:
        statement.execute({"s": "C-1", "o": "C-4", "a": "C-1"})
    assert caught.value.code == "SerializationConflict"


def test_a_reader_keeps_the_view_it_has_while_claims_come() -> None:
    nexus = memory()
    statement = nexus.prepare('ASSERT (:s, "likes", :o) {by: :a, mode: "stated"}')
    seq = nexus.space_seq
    ask = 'FIND(COUNT(?a)) WHERE { ?p ("C-1", "likes", ?o) ?a ASSERTION {proposition: ?p} }'
    assert nexus.query(ask).scalar() == 0
    for number in range(40):  # past the sizes from which slots and crowds are indexed
        statement.execute({"s": "C-1", "o": f"C-{number % 4 + 1}", "a": "C-2"})
    assert nexus.query(ask).scalar() == 40
    assert nexus.query(f"{ask} AS OF SEQ {seq}").scalar() == 0
    assert nexus.query(f"{ask} AS OF SEQ {seq + 7}").scalar() == 7


def test_subscribers_hear_of_every_claim_once() -> None:
    nexus = memory()
    statement = nexus.prepare('ASSERT (:s, "likes", :o) {by: :a, mode: "stated"}')
    told: list[int] = []
    statement.execute({"s": "C-1", "o": "C-4", "a": "C-1"})
    end = nexus.subscribe(lambda envelope: told.append(envelope["space_seq"]))
    seq = nexus.space_seq
    for _ in range(3):
        statement.execute({"s": "C-1", "o": "C-4", "a": "C-1"})
    end()
    assert told == [seq + 1, seq + 2, seq + 3]


def test_claims_into_a_memory_that_was_opened_again(tmp_path: Path) -> None:
    told = [
        {
            "kind": "assertion",
            "subject": f"C-{n % 2 + 1}",
            "predicate": "likes",
            "object": f"C-{n % 3 + 2}",
            "by": "C-1",
        }
        | {"mode": "stated", "valid": {"from": NOON}}
        for n in range(60)
    ]
    one = {"s": "C-2", "o": "C-3", "a": "C-1"}
    digests = []
    for name in ("short", "long"):
        path = tmp_path / name
        with kipql.open(path, packages=[PACKAGE], clock=lambda: datetime(2026, 5, 1, tzinfo=UTC)) as nexus, planned():
            nexus.execute(STORY)
            nexus.load(told[:30])
            nexus.execute('TRANSITION "P-3" TO "archived"')
            nexus.snapshot()
        with kipql.open(path, clock=lambda: datetime(2026, 6, 1, tzinfo=UTC)) as nexus:
            with nullcontext() if name == "short" else planned():
                nexus.load(told[30:], batch=7)
                nexus.execute('ASSERT (:s, "likes", :o) {by: :a, mode: "stated"}', one)
                nexus.execute('MUTATE { ASSERT ("C-2", "aged", 3) {by: "C-1", mode: "stated", evidence: "E-1"} }')
            digests.append((nexus.space_seq, nexus.digest()))
        with kipql.open(path, readonly=True) as nexus:
            assert (nexus.space_seq, nexus.digest()) == digests[-1]
    assert digests[0] == digests[1]
