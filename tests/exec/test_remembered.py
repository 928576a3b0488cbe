"""What ready paths remember of rows, keys and slots is gone with what it was true of (`kipql.exec.heads`, `beside`)."""

import gc
import random
import weakref
from typing import Any

import pytest

import kipql
from kipql.belief.quick import in_order
from kipql.exec import heads
from kipql.exec.beside import Claims, weighed_in
from kipql.exec.heads import shared
from kipql.exec.named import SubjectRows
from kipql.exec.unready import Unready
from kipql.limits import Limits
from kipql.times import format_instant
from tests.belief.world import PEOPLE

WIDE = Limits(seconds=600.0)
TEXTS = (
    'FIND(?c.name) WHERE { ?c {type: "Person", key: :key} }',
    'FIND(?o.name, ?o.key, ?o.attributes.age) WHERE { (:s, "likes", ?o) } AS OF SEQ :k',
    "FIND(?y.key, ?y.attributes.age) WHERE { (:s, :p, ?x) (?x, :p, ?y) FILTER(?y.attributes.age < 50) }",
    'FIND(?b) WHERE { ?b BELIEF SLOT (:s, "lives_in") } AS OF SEQ :k FOR TIME :t',
    'FIND(?b.accepted_values) WHERE { ?b BELIEF SLOT (:s, "lives_in") } AS OF SEQ :k FOR TIME :t',
)
ITEMS = ("?b", "?b.status", "?b.accepted_values")
CHANGES = (
    'UPDATE "C-2" SET FIELDS {name: "Rob"}',
    'UPDATE "C-2" SET ATTRIBUTES {age: 51}',
    'ASSERT ("C-1", "likes", "C-1") {by: "C-1", mode: "stated"}',
    'ASSERT ("C-2", "likes", "C-2") {by: "C-1", mode: "stated"}',
    'ASSERT ("C-1", "lives_in", "C-3") {by: "C-1", mode: "stated", valid: {from: "2026-01-01T00:00:00.000Z"}}',
    'ASSERT ("C-1", "lives_in", "C-4") {by: "C-1", mode: "stated", valid: {from: "2026-02-01T00:00:00.000Z"}}',
    'TRANSITION "A-4" TO "retracted"',
    'CREATE CONCEPT ?e {TYPE "Person" NAME "Eve" SET FIELDS {key: "eve"}}',
    'ASSERT ("C-5", "lives_in", "C-3") {by: "C-2", mode: "stated"}',
    'PURGE "A-3" REFERENCE POLICY "tombstone_reference" CONFIRM "PURGE"',
    'PURGE "C-5" REFERENCE POLICY "tombstone_reference" CONFIRM "PURGE"',
    'MERGE CONCEPT "C-2" INTO "C-1"',
)


def opened() -> kipql.Nexus:
    made = kipql.open(packages=[PEOPLE])
    made.execute(
        """MUTATE {
          CREATE CONCEPT ?a {TYPE "Person" NAME "Ann" SET FIELDS {key: "ann"} SET ATTRIBUTES {age: 40}}
          CREATE CONCEPT ?b {TYPE "Person" NAME "Bob" SET FIELDS {key: "bob"} SET ATTRIBUTES {age: 30}}
          CREATE CONCEPT ?p {TYPE "Place" NAME "Bern" SET FIELDS {key: "bern"}}
          CREATE CONCEPT ?q {TYPE "Place" NAME "Rome" SET FIELDS {key: "ann"}}
          ASSERT (?a, "likes", ?b) {by: ?a, mode: "stated"}
          ASSERT (?b, "likes", ?a) {by: ?b, mode: "stated"}
        }"""
    )
    return made


def test_after_every_change_every_past_reads_as_on_the_general_path() -> None:
    nexus = opened()
    asked = [nexus.prepare(text) for text in TEXTS]
    made = 0
    for change in ("", *CHANGES):
        if change:
            with pytest.raises(ZeroDivisionError), nexus.transaction() as tx:
                tx.execute(change)
                _compare(nexus, asked, nexus.space_seq)
                raise ZeroDivisionError
            nexus.execute(change)
        for seq in range(1, nexus.space_seq + 1):
            made += _compare(nexus, asked, seq)
    assert made > 300


def _compare(nexus: kipql.Nexus, asked: list[Any], seq: int) -> int:
    made = 0
    for subject, key in (("C-1", "ann"), ("C-2", "bob"), ("C-5", "eve"), ("C-9", "nobody")):
        given = {"s": subject, "key": key, "k": seq, "p": "likes", "t": "2026-03-01T00:00:00.000Z"}
        for statement in asked:
            general = statement.query(given, limits=WIDE)
            for _ in range(2):
                found = statement.query(given)
                assert (found.rows, found.context) == (general.rows, general.context), (statement.text, seq, given)
            made += bool(general.rows)
    return made


DAY, FIRST = 86_400_000, 1_750_000_000_000 // 86_400_000 * 86_400_000


def claimed(draw: random.Random) -> kipql.Nexus:
    """Slots of one to eight claims that begin in the order they are told; some end, some are taken back."""
    nexus = kipql.open(packages=[PEOPLE])
    records: list[dict[str, Any]] = [
        {"kind": "concept", "type": kind, "key": f"{kind}{number}", "as": f"{kind}{number}"}
        for kind in ("Person", "Place")
        for number in range(4)
    ]
    claims = 0
    for predicate, kind in (("lives_in", "Place"), ("likes", "Person")):
        for number in range(4):
            day = 0
            for _ in range(draw.randint(1, 8)):
                day += draw.choice((0, 1, 1, 2))
                valid = {} if draw.randrange(6) == 0 else {"from": format_instant(FIRST + day * DAY)}
                if draw.randrange(5) == 0:
                    valid["until"] = format_instant(FIRST + (day + draw.randint(1, 6)) * DAY)
                records.append(
                    {
                        "kind": "assertion", "subject": {"ref": f"Person{number}"}, "predicate": predicate,
                        "object": {"ref": f"{kind}{draw.randrange(3)}"}, "by": {"ref": f"Person{draw.randrange(2)}"},
                        "mode": "stated", "stance": draw.choice(("support",) * 3 + ("reject", "uncertain")),
                        "at": format_instant(FIRST + day * DAY), "valid": valid,
                    }
                )  # fmt: skip
                claims += 1
    nexus.load(records, batch=5)
    for number in draw.sample(range(1, claims + 1), 4):
        nexus.execute(f'TRANSITION "A-{number}" TO "retracted"')
    return nexus


@pytest.mark.parametrize("seed", range(12))
def test_claims_side_by_side_read_as_the_records_do(seed: int) -> None:
    draw, compared = random.Random(seed), 0
    nexus = claimed(draw)
    view = nexus._session.view()
    for predicate in ("lives_in", "likes"):
        number = view.lineage_number(view.environment.predicate(predicate).lineage)
        assert number is not None
        texts = [
            f'FIND({item}) WHERE {{ ?b BELIEF SLOT (:s, "{predicate}") }} AS OF SEQ :k FOR TIME :t' for item in ITEMS
        ]
        asked = [nexus.prepare(text) for text in texts]
        for _ in range(40):
            subject, seq = draw.randrange(4), draw.randint(2, view.seq)
            instant = FIRST + draw.randint(-1, 12) * DAY
            given = {"s": f"C-{subject + 1}", "k": seq, "t": format_instant(instant)}
            for statement in asked:
                general = statement.query(given, limits=WIDE)
                for _ in range(3):
                    found = statement.query(given)
                    assert (found.rows, found.context) == (general.rows, general.context), given
            past, claims = view.at(seq), shared(view).of(Claims, number)[f"C-{subject + 1}"]
            assert claims is not None
            rows = past.slot_assertions(subject * 8, number)
            for functional in (True, False):
                wanted = in_order(view.graph, seq, rows, instant, functional, False)
                assert weighed_in(claims, past.bounds[2], seq, instant, functional, False) == wanted, given
                compared += wanted is not None and len(wanted[5]) > 1
    assert compared > 20


def test_so_many_texts_are_held_and_what_is_no_id_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heads, "_SHARED", 4)
    view = opened()._session.view()
    rows = shared(view).of(SubjectRows, 0)
    for number in range(1, 40):
        assert rows[f"C-{number}"] is not None
        assert len(rows) <= 4
    assert rows[f"C-{'1' * 15}"] == ()
    for text in ("nobody", "C-01", "E-1", 5):
        with pytest.raises(Unready):
            rows[text]  # type: ignore[index]


def test_a_memory_that_is_closed_and_let_go_is_gone() -> None:
    nexus = opened()
    for _ in range(5):
        nexus.query(TEXTS[0], {"key": "ann"})
    graph = weakref.ref(nexus._session.view().graph)
    nexus.close()
    del nexus
    gc.collect()
    assert graph() is None
