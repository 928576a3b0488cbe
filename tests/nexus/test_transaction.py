"""Several statements, one commit (§32)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import kipql
from kipql.errors import KipError

ADA = 'CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }'
COUNT = "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }"


def test_a_transaction_is_one_commit_and_reads_its_own_writes() -> None:
    nexus = kipql.open()
    with nexus.transaction() as tx:
        ada = tx.execute(ADA)
        assert (ada.status, ada.handles, ada.space_seq) == ("pending", {"a": "C-1"}, None)
        tx.execute('UPDATE "C-1" SET FIELDS {name: "Ada L."}')
        assert tx.query("FIND(?c.name) WHERE { ?c CONCEPT {} }").rows == ["Ada L."]
        assert nexus.query(COUNT).scalar() == 0
    assert (tx.receipt.status, tx.receipt.space_seq, nexus.space_seq) == ("committed", 1, 1)
    assert nexus.query("FIND(?c.name, ?c._system.version) WHERE { ?c CONCEPT {} }").rows == [("Ada L.", 1)]


def test_an_exception_inside_rolls_everything_back() -> None:
    nexus = kipql.open()
    before = nexus.digest()
    with pytest.raises(ZeroDivisionError), nexus.transaction() as tx:
        tx.execute(ADA)
        1 / 0  # noqa: B018
    assert (nexus.space_seq, nexus.digest(), tx.receipt) == (0, before, None)
    assert nexus.execute(ADA).handles == {"a": "C-1"}


def test_a_failed_statement_leaves_no_trace_and_the_rest_commits() -> None:
    nexus = kipql.open()
    with nexus.transaction() as tx:
        tx.execute(ADA)
        with pytest.raises(KipError) as caught:
            tx.execute('MUTATE { CREATE CONCEPT ?x { TYPE "Person" NAME "X" } CREATE CONCEPT ?y { TYPE "Nope" } }')
        assert caught.value.code == "SchemaSymbolNotFound"
        tx.execute('CREATE CONCEPT ?b { TYPE "Person" NAME "Bob" }')
    assert nexus.query("FIND(?c.name) WHERE { ?c CONCEPT {} } ORDER BY ?c.name").rows == ["Ada", "Bob"]


def test_a_transaction_that_changes_nothing_takes_no_sequence() -> None:
    nexus = kipql.open()
    with nexus.transaction() as tx:
        tx.query(COUNT)
    assert (tx.receipt.status, tx.receipt.space_seq, nexus.space_seq) == ("no_effect", None, 0)


def test_rollback_gives_up_and_ends() -> None:
    nexus = kipql.open()
    with nexus.transaction() as tx:
        tx.execute(ADA)
        tx.rollback()
        with pytest.raises(KipError) as caught:
            tx.execute(ADA)
    assert (caught.value.code, nexus.space_seq, tx.receipt) == ("PreconditionFailed", 0, None)


def test_writing_beside_the_open_transaction_of_the_same_thread_is_refused() -> None:
    nexus = kipql.open()
    with nexus.transaction() as tx:
        tx.execute(ADA)
        with pytest.raises(KipError) as caught:
            nexus.execute(ADA)
    assert (caught.value.code, nexus.space_seq) == ("SerializationConflict", 1)


def test_every_default_time_in_a_commit_is_the_one_reading_of_the_clock() -> None:
    ticks = iter(range(1000))
    nexus = kipql.open(clock=lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(ticks)))
    nexus.execute(
        'MUTATE { CREATE CONCEPT ?a { TYPE "Person" NAME "A" } CREATE CONCEPT ?b { TYPE "Person" NAME "B" } }'
    )
    assert len(set(nexus.query("FIND(?c._system.created_at) WHERE { ?c CONCEPT {} }").rows)) == 1


def test_transaction_time_never_runs_backwards() -> None:
    times = iter([datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)])
    nexus = kipql.open(clock=lambda: next(times))
    first, second = nexus.execute(ADA), nexus.execute(ADA)
    assert first.committed_at == second.committed_at == "2026-01-02T00:00:00.000Z"


def test_an_envelope_belongs_to_the_subscriber_that_got_it() -> None:
    nexus = kipql.open()
    seen: list[tuple[int, str]] = []

    def meddles(envelope: dict[str, Any]) -> None:
        envelope["changes"][0]["id"] = "C-99"
        envelope["changes"].clear()
        envelope["space_seq"] = 99

    nexus.subscribe(meddles)
    nexus.subscribe(lambda envelope: seen.append((envelope["space_seq"], envelope["changes"][0]["id"])))
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
    assert seen == [(1, "C-1")]
    assert nexus.query("CHANGES AFTER SEQ 0").rows[0]["changes"][0]["id"] == "C-1"


def test_subscribers_get_each_envelope_until_they_leave(caplog: pytest.LogCaptureFixture) -> None:
    nexus = kipql.open()
    seen: list[int] = []
    leave = nexus.subscribe(lambda envelope: seen.append(envelope["space_seq"]))
    nexus.subscribe(lambda envelope: 1 / 0)
    nexus.execute(ADA)
    leave()
    nexus.execute(ADA)
    assert (seen, nexus.space_seq) == ([1], 2)
    assert "a subscriber failed" in caplog.text
