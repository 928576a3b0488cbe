"""Snapshot tokens (§78): a state that several requests read, and from which a write starts."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import kipql

FIND = {"command": "FIND(?c.name) WHERE { ?c CONCEPT {} } ORDER BY ?c.name"}
BEA = {"command": 'CREATE CONCEPT ?b { TYPE "Person" NAME "Bea" }'}
COY = {"command": 'CREATE CONCEPT ?c { TYPE "Person" NAME "Coy" }'}


@pytest.fixture
def nexus() -> kipql.Nexus:
    nexus = kipql.open()
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
    return nexus


def ask(nexus: kipql.Nexus, *operations: dict[str, Any], token: object = None, **members: Any) -> dict[str, Any]:
    if token is not None:
        members["read"] = {"snapshot_token": token}
    if len(operations) > 1:
        members.setdefault("execution", {"mode": "sequence"})
    return nexus.request({"kip": "2.0", "operations": list(operations), **members})


def token_of(nexus: kipql.Nexus) -> str:
    return str(ask(nexus, FIND)["snapshot"]["snapshot_token"])


def code(reply: dict[str, Any]) -> str:
    error = reply.get("error") or next(result["error"] for result in reply["results"] if "error" in result)
    return str(error["code"])


def test_a_read_names_the_state_it_saw(nexus: kipql.Nexus) -> None:
    snapshot = ask(nexus, FIND)["snapshot"]
    assert {name: snapshot[name] for name in snapshot if name != "snapshot_token"} == {
        "space_id": nexus.space_id,
        "snapshot_seq": 1,
        "schema_environment_version": 1,
    }


def test_a_token_reads_the_same_state_after_later_commits(nexus: kipql.Nexus) -> None:
    token = token_of(nexus)
    nexus.execute(BEA["command"])
    reply = ask(nexus, FIND, {"command": "DESCRIBE SNAPSHOT"}, {"command": "LIST SPACES"}, token=token)
    assert [result["context"]["snapshot_seq"] for result in reply["results"]] == [1, 1, 1]
    assert reply["results"][0]["result"] == ["Ada"]
    assert reply["results"][1]["result"]["space_seq"] == 1
    (row,) = reply["results"][2]["result"]
    assert row == {"space_id": nexus.space_id, "space_seq": 1, "schema_environment_version": 1}
    assert ask(nexus, FIND)["results"][0]["result"] == ["Ada", "Bea"]


def test_a_token_lives_as_long_as_the_memory(tmp_path: Path) -> None:
    with kipql.open(tmp_path / "m") as nexus:
        nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
        token = token_of(nexus)
        nexus.execute(BEA["command"])
    with kipql.open(tmp_path / "m") as again:
        assert ask(again, FIND, token=token)["results"][0]["result"] == ["Ada"]


def test_beliefs_search_and_changes_stop_at_the_token(nexus: kipql.Nexus) -> None:
    token = token_of(nexus)
    nexus.execute(BEA["command"])
    found = ask(nexus, {"command": 'SEARCH CONCEPT "Bea"'}, {"command": "CHANGES AFTER SEQ 0"}, token=token)["results"]
    assert found[0]["result"] == []
    assert [envelope["space_seq"] for envelope in found[1]["result"]] == [1]


@pytest.mark.parametrize(
    "edit", [lambda t: t[:-2] + "AA", lambda t: "x" + t, lambda _: "not-a-token", lambda t: t + "="]
)
def test_what_this_space_did_not_issue_names_no_state(nexus: kipql.Nexus, edit: Any) -> None:
    assert code(ask(nexus, FIND, token=edit(token_of(nexus)))) == "HistoricalSnapshotUnavailable"


def test_a_token_of_another_space_or_memory_names_no_state(nexus: kipql.Nexus) -> None:
    for other in (nexus.space("kip:space:other"), kipql.open()):
        assert code(ask(nexus, FIND, token=token_of(other))) == "HistoricalSnapshotUnavailable"


def test_a_cursor_is_no_token_and_a_token_no_cursor(nexus: kipql.Nexus) -> None:
    nexus.execute(BEA["command"])
    cursor = ask(nexus, {"command": "FIND(?c) WHERE { ?c CONCEPT {} } LIMIT 1"})["results"][0]["next_cursor"]
    assert code(ask(nexus, FIND, token=cursor)) == "HistoricalSnapshotUnavailable"
    paged = {"command": "FIND(?c) WHERE { ?c CONCEPT {} } LIMIT 1 CURSOR :c", "parameters": {"c": token_of(nexus)}}
    assert code(ask(nexus, paged)) == "CursorTypeMismatch"


@pytest.mark.parametrize("token", ["", 7, {"seq": 1}, "x" * 8193])
def test_what_is_no_token_is_a_malformed_request(nexus: kipql.Nexus, token: object) -> None:
    assert code(ask(nexus, FIND, token=token)) == "InvalidRequestEnvelope"


def test_a_token_gives_no_authority(nexus: kipql.Nexus) -> None:
    token = token_of(nexus)
    nexus.govern.grant("reader", "discover", "read", "read_history")
    nexus.govern.grant("stranger", "discover")
    reader, stranger = nexus.as_principal("reader"), nexus.as_principal("stranger")
    assert ask(reader, FIND, token=token)["results"][0]["result"] == ["Ada"]
    assert code(ask(stranger, FIND, token=token)) == "NotAuthorized"
    nexus.govern.revoke("g-1")
    assert code(ask(reader, FIND, token=token)) == "NotAuthorized"


def test_a_statement_can_not_name_another_state(nexus: kipql.Nexus) -> None:
    nexus.execute(BEA["command"])
    token = token_of(nexus)

    def as_of(seq: int) -> dict[str, Any]:
        return {"command": f"FIND(?c.name) WHERE {{ ?c CONCEPT {{}} }} AS OF SEQ {seq}"}

    reply = ask(nexus, as_of(2), as_of(1), token=token, execution={"mode": "independent"})
    assert [result["status"] for result in reply["results"]] == ["succeeded", "failed"]
    error = reply["results"][1]["error"]
    assert (error["code"], error["details"]["member"]) == ("InvalidRequestEnvelope", "read.snapshot_token")


def test_a_cursor_goes_on_only_in_its_own_state(nexus: kipql.Nexus) -> None:
    nexus.execute(BEA["command"])
    text = "FIND(?c.name) WHERE { ?c CONCEPT {} } ORDER BY ?c.name LIMIT 1"
    first = ask(nexus, {"command": text})
    cursor, token = first["results"][0]["next_cursor"], first["snapshot"]["snapshot_token"]
    nexus.execute(COY["command"])
    more = {"command": f"{text} CURSOR :c", "parameters": {"c": cursor}}
    assert ask(nexus, more, token=token)["results"][0]["result"] == ["Bea"]
    assert code(ask(nexus, more, token=token_of(nexus))) == "InvalidRequestEnvelope"


def test_a_write_starts_from_the_token_or_not_at_all(nexus: kipql.Nexus) -> None:
    token = token_of(nexus)
    assert ask(nexus, BEA, token=token)["results"][0]["receipt"]["space_seq"] == 2
    refused = ask(nexus, COY, token=token)
    error = refused["results"][0]["error"]
    assert (error["code"], error["details"]["precondition"]) == ("PreconditionFailed", "snapshot_token")
    assert code(ask(nexus, COY, token=token, options={"dry_run": True})) == "PreconditionFailed"
    assert code(ask(nexus, COY, token=token, execution={"mode": "atomic"})) == "PreconditionFailed"
    assert nexus.space_seq == 2


def test_an_atomic_request_reads_the_token_s_state_and_its_own_writes(nexus: kipql.Nexus) -> None:
    reply = ask(nexus, FIND, BEA, FIND, token=token_of(nexus), execution={"mode": "atomic"})
    assert [result["result"] for result in reply["results"] if "context" in result] == [["Ada"], ["Ada", "Bea"]]
    assert (reply["snapshot"]["snapshot_seq"], reply["receipt"]["space_seq"]) == (1, 2)


def test_a_sequence_may_end_with_a_write_but_not_go_on_after_one(nexus: kipql.Nexus) -> None:
    token = token_of(nexus)
    refused = ask(nexus, BEA, FIND, token=token)
    assert (code(refused), refused["results"], nexus.space_seq) == ("InvalidRequestEnvelope", [], 1)
    assert ask(nexus, FIND, BEA, token=token)["status"] == "succeeded"


def test_independent_writes_each_hold_the_token(nexus: kipql.Nexus) -> None:
    reply = ask(nexus, BEA, COY, FIND, token=token_of(nexus), execution={"mode": "independent"})
    assert [result["status"] for result in reply["results"]] == ["succeeded", "failed", "succeeded"]
    assert reply["results"][2]["result"] == ["Ada"]


def test_a_resend_under_its_key_is_answered_though_the_space_moved(nexus: kipql.Nexus) -> None:
    token, execution = token_of(nexus), {"mode": "sequence", "idempotency_key": "k"}
    first = ask(nexus, BEA, token=token, execution=execution)
    nexus.execute(COY["command"])
    assert ask(nexus, BEA, token=token, execution=execution)["results"] == first["results"]
    assert code(ask(nexus, BEA, execution=execution)) == "IdempotencyConflict"


def test_requests_over_several_states_have_no_snapshot(nexus: kipql.Nexus) -> None:
    assert ask(nexus, FIND, BEA, FIND)["snapshot"] is None
    assert ask(nexus, FIND, FIND)["snapshot"]["snapshot_seq"] == 2


def test_an_outcome_is_found_by_its_key_under_an_older_token_too(nexus: kipql.Nexus) -> None:
    token = token_of(nexus)
    ask(nexus, BEA, execution={"mode": "sequence", "idempotency_key": "k"})
    lookup = {"command": 'DESCRIBE TRANSACTION BY IDEMPOTENCY KEY "k"'}
    assert ask(nexus, lookup)["results"][0]["result"]["space_seq"] == 2
    assert ask(nexus, lookup, token=token)["results"][0]["result"]["space_seq"] == 2


def test_a_page_names_the_snapshot_that_its_cursor_holds(nexus: kipql.Nexus) -> None:
    first = nexus.query("LIST TYPES LIMIT 2")
    nexus.execute(BEA["command"])
    page = nexus.query("LIST TYPES LIMIT 2 CURSOR :c", {"c": first.next_cursor})
    assert page.context["snapshot_seq"] == 1


@pytest.mark.parametrize(
    ("command", "parameters"),
    [
        ("PREVIEW KML :text", {"text": BEA["command"]}),
        ("VALIDATE KML :text", {"text": BEA["command"]}),
        ("PREVIEW IMPORT CAPSULE :capsule INTO :space", {}),
        ("VALIDATE IMPORT PLAN :plan WITH {capsule: :capsule}", {"plan": {}}),
    ],
)
def test_what_tries_a_write_starts_from_the_token_or_not_at_all(
    command: str, parameters: dict[str, Any], nexus: kipql.Nexus
) -> None:
    other = kipql.open()
    other.execute(COY["command"])
    given = {**parameters, "capsule": other.export_capsule(), "space": nexus.space_id}
    token = token_of(nexus)
    tried = {"command": command, "parameters": given}
    assert ask(nexus, tried, token=token)["status"] == "succeeded"
    nexus.execute(BEA["command"])
    assert code(ask(nexus, tried, token=token)) == "PreconditionFailed"
    assert ask(nexus, tried)["status"] == "succeeded"


def test_a_token_pins_its_own_space_in_a_list_of_spaces(nexus: kipql.Nexus) -> None:
    other = nexus.space("kip:space:other")
    other.execute(BEA["command"])
    token = token_of(nexus)
    for space in (nexus, other):
        space.execute(COY["command"])
    reply = ask(nexus, {"command": "LIST SPACES"}, token=token)
    heads = {row["space_id"]: row["space_seq"] for row in reply["results"][0]["result"]}
    assert heads == {nexus.space_id: 1, "kip:space:other": 2}


@pytest.mark.parametrize("mode", ["atomic", "independent"])
def test_an_atomic_batch_of_reads_reads_one_state_whatever_is_committed_meanwhile(mode: str) -> None:
    """§75.3: the clock of the second read is where another commit comes in between."""
    meanwhile: list[str] = []

    def clock() -> datetime:
        if meanwhile:
            nexus.execute(meanwhile.pop())
        return datetime(2026, 1, 1, tzinfo=UTC)

    nexus = kipql.open(clock=clock)
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
    nexus.execute('ASSERT ({id: "C-1"}, "prefers", {id: "C-1"}) {by: {id: "C-1"}, mode: "stated"}')
    belief = {"command": 'FIND(?b.status) WHERE { ?b BELIEF ({id: "C-1"}, "prefers", {id: "C-1"}) }'}
    past = {"command": "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} } AS OF SEQ 0"}
    meanwhile.append(BEA["command"])
    reply = ask(nexus, FIND, belief, FIND, {"command": "LIST SPACES"}, past, execution={"mode": mode})
    assert nexus.space_seq == 3, "something was committed in the middle"
    first, _, second, spaces, before = (each["result"] for each in reply["results"])
    assert before == [0], "a read may name another state itself"
    if mode == "atomic":
        assert first == second == ["Ada"] and spaces[0]["space_seq"] == 2
    else:
        assert (first, second) == (["Ada"], ["Ada", "Bea"]) and spaces[0]["space_seq"] == 3
