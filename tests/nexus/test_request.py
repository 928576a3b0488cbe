"""The request envelope end to end (§70-§83): modes, receipts, idempotency, ingestion, preconditions."""

import json
from pathlib import Path
from typing import Any

import pytest

import kipql

ADA = 'CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }'
BOB = 'CREATE CONCEPT ?b { TYPE "Person" NAME "Bob" }'
BAD = 'CREATE CONCEPT ?c { TYPE "Spaceship" NAME "Serenity" }'
COUNT = "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }"


def ask(nexus: kipql.Nexus, *commands: str, mode: str | None = None, **members: Any) -> dict[str, Any]:
    envelope = {"kip": "2.0", "operations": [{"command": command} for command in commands], **members}
    if mode is not None:
        envelope["execution"] = {"mode": mode, **members.get("execution", {})}
    reply = nexus.request(envelope)
    json.dumps(reply)
    return reply


def statuses(reply: dict[str, Any]) -> list[str]:
    return [result["status"] for result in reply["results"]]


def error_of(reply: dict[str, Any]) -> str:
    error = reply.get("error") or next(result["error"] for result in reply["results"] if "error" in result)
    return error["code"]


def test_a_read_answers_rows_and_the_snapshot_it_saw() -> None:
    reply = ask(kipql.open(), COUNT, request_id="r-1")
    assert (reply["status"], reply["request_id"], reply["receipt"]) == ("succeeded", "r-1", None)
    assert reply["results"][0]["result"] == [0]
    assert reply["results"][0]["context"]["snapshot_seq"] == 0
    assert reply["context"] == {"space_id": "kip:space:default", "schema_environment_version": 1}


def test_a_write_answers_null_and_its_receipt() -> None:
    result = ask(kipql.open(), ADA)["results"][0]
    assert (result["status"], result["result"]) == ("succeeded", None)
    receipt = result["receipt"]
    assert (receipt["status"], receipt["snapshot_seq"], receipt["space_seq"]) == ("committed", 0, 1)
    assert receipt["change_summary"]["handles"] == {"a": "C-1"}


def test_independent_operations_fail_by_themselves() -> None:
    nexus = kipql.open()
    reply = ask(nexus, ADA, BAD, BOB, "FIND(", mode="independent")
    assert (reply["status"], statuses(reply)) == ("partial", ["succeeded", "failed", "succeeded", "failed"])
    assert nexus.space_seq == 2


def test_a_sequence_stops_at_the_first_error_unless_it_shall_go_on() -> None:
    stopped = ask(kipql.open(), ADA, BAD, BOB, mode="sequence")
    assert statuses(stopped) == ["succeeded", "failed", "skipped"]
    going = ask(kipql.open(), ADA, BAD, COUNT, execution={"mode": "sequence", "on_error": "continue"})
    assert statuses(going) == ["succeeded", "failed", "succeeded"]
    assert going["results"][2]["result"] == [1]


def test_an_atomic_batch_is_one_commit_and_reads_inside_it() -> None:
    nexus = kipql.open()
    reply = ask(nexus, ADA, COUNT, BOB, mode="atomic")
    assert statuses(reply) == ["succeeded"] * 3
    assert reply["results"][1]["result"] == [1]
    assert (reply["receipt"]["space_seq"], nexus.space_seq) == (1, 1)
    assert all("receipt" not in result for result in reply["results"])


@pytest.mark.parametrize("bad", [BAD, "FIND("])
def test_an_atomic_batch_with_an_error_writes_nothing(bad: str) -> None:
    nexus = kipql.open()
    before = nexus.digest()
    reply = ask(nexus, ADA, bad, BOB, mode="atomic")
    assert (reply["status"], statuses(reply)) == ("failed", ["rolled_back", "failed", "skipped"])
    assert (nexus.space_seq, nexus.digest()) == (0, before)


def test_operation_ids_are_echoed_in_order() -> None:
    operations = [{"op_id": "x", "command": COUNT}, {"op_id": "y", "command": ADA}]
    reply = kipql.open().request({"kip": "2.0", "execution": {"mode": "sequence"}, "operations": operations})
    assert [result["op_id"] for result in reply["results"]] == ["x", "y"]


@pytest.mark.parametrize(
    ("command", "status"), [(ADA, "committed"), ('UPDATE "C-1" SET FIELDS {name: "Ada"}', "no_effect")]
)
def test_a_resend_under_its_key_replays_the_outcome_after_reopening_too(
    tmp_path: Path, command: str, status: str
) -> None:
    key = {"execution": {"mode": "independent", "idempotency_key": "k"}}
    with kipql.open(tmp_path / "m") as nexus:
        nexus.execute(ADA)
        first = ask(nexus, command, **key)["results"][0]
        assert first["receipt"]["status"] == status
        assert ask(nexus, command, **key)["results"][0] == first
    with kipql.open(tmp_path / "m") as nexus:
        head = nexus.space_seq
        assert ask(nexus, command, **key)["results"][0] == first
        assert error_of(ask(nexus, BOB, **key)) == "IdempotencyConflict"
        assert nexus.space_seq == head
        described = nexus.query('DESCRIBE TRANSACTION BY IDEMPOTENCY KEY "k"').one()
        assert described["status"] == status


def test_an_aborted_transaction_does_not_bind_its_key() -> None:
    nexus = kipql.open()
    key = {"execution": {"mode": "independent", "idempotency_key": "k"}}
    assert error_of(ask(nexus, BAD, **key)) == "SchemaSymbolNotFound"
    assert statuses(ask(nexus, ADA, **key)) == ["succeeded"]


def test_a_key_belongs_to_its_principal() -> None:
    nexus = kipql.open()
    key = {"execution": {"mode": "independent", "idempotency_key": "k"}}
    ask(nexus, ADA, **key)
    assert statuses(ask(nexus.as_principal("agent:b"), BOB, **key)) == ["succeeded"]


def test_a_sequence_under_a_key_replays_what_it_did_and_does_what_it_had_not() -> None:
    nexus = kipql.open()
    execution = {"mode": "sequence", "idempotency_key": "k"}
    typed = 'CREATE CONCEPT ?w { TYPE "Widget" NAME "W" }'
    assert statuses(ask(nexus, ADA, typed, execution=execution)) == ["succeeded", "failed"]
    nexus.install_package(WIDGETS)
    assert statuses(ask(nexus, ADA, typed, execution=execution)) == ["succeeded", "succeeded"]
    assert nexus.query("FIND(?c.name) WHERE { ?c CONCEPT {} } ORDER BY ?c.name").rows == ["Ada", "W"]


WIDGETS = {
    "manifest": {"package_id": "kip://test/widgets", "version": "1.0.0"},
    "definitions": {"concept_types": {"Widget": {"kind": "ConceptType", "description": "A thing."}}},
}


def test_preconditions_hold_or_nothing_is_done() -> None:
    nexus = kipql.open()
    assert error_of(ask(nexus, ADA, preconditions={"space_seq": 3})) == "PreconditionFailed"
    assert error_of(ask(nexus, ADA, preconditions={"schema_environment_version": 2})) == "PreconditionFailed"
    assert statuses(ask(nexus, ADA, preconditions={"space_seq": 0, "schema_environment_version": 1})) == ["succeeded"]
    assert nexus.space_seq == 1


def test_a_resend_replays_although_its_own_commit_moved_the_head() -> None:
    nexus = kipql.open()
    whole = {"execution": {"mode": "independent", "idempotency_key": "k"}, "preconditions": {"space_seq": 0}}
    assert ask(nexus, ADA, **whole)["results"] == ask(nexus, ADA, **whole)["results"]
    assert nexus.space_seq == 1


@pytest.mark.parametrize("mode", ["independent", "sequence", "atomic"])
def test_a_dry_run_foresees_and_writes_nothing(mode: str) -> None:
    nexus = kipql.open()
    before = nexus.digest()
    reply = ask(nexus, ADA, mode=mode, options={"dry_run": True})
    assert reply["results"][0]["result"]["effect"] == "changes"
    assert "receipt" not in reply["results"][0]
    assert (reply["receipt"], nexus.space_seq, nexus.digest()) == (None, 0, before)


def test_a_dry_run_does_not_spend_the_key() -> None:
    nexus = kipql.open()
    execution = {"mode": "independent", "idempotency_key": "k"}
    ask(nexus, ADA, execution=execution, options={"dry_run": True})
    assert statuses(ask(nexus, BOB, execution=execution)) == ["succeeded"]


def test_ingested_material_is_kept_as_it_came_and_cited_by_its_key() -> None:
    nexus = kipql.open()
    entry = {"key": "msg", "evidence_class": "user_statement", "payload": "a  b\n", "media_type": "text/plain"}
    command = 'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "test"} SET STRUCTURAL { ("inputs", :msg) } }'
    assert statuses(ask(nexus, command, ingest={"evidence": [entry]})) == ["succeeded"]
    assert nexus.query("FIND(?e.payload.inline) WHERE { ?e EVIDENCE {} }").rows == ["a  b\n"]


@pytest.mark.parametrize(
    ("commands", "members"),
    [
        ([COUNT], {}),
        ([ADA, BOB], {"execution": {"mode": "sequence"}}),
        ([ADA], {"parameters": {"msg": 1}}),
    ],
)
def test_material_without_one_place_to_go_is_refused(commands: list[str], members: dict[str, Any]) -> None:
    nexus = kipql.open()
    entry = {"key": "msg", "evidence_class": "user_statement", "payload": "hi"}
    assert error_of(ask(nexus, *commands, ingest={"evidence": [entry]}, **members)) == "InvalidRequestEnvelope"
    assert nexus.space_seq == 0


def test_a_wrong_label_is_a_mismatch_and_a_right_one_is_not() -> None:
    nexus = kipql.open()
    for label, command in (("KML", COUNT), ("KQL", ADA), ("META", COUNT)):
        reply = nexus.request({"kip": "2.0", "operations": [{"language": label, "command": command}]})
        assert error_of(reply) == "LanguageMismatch"
    assert statuses(nexus.request({"kip": "2.0", "operations": [{"language": "KQL", "command": COUNT}]})) == [
        "succeeded"
    ]


def test_a_space_is_named_and_never_made_by_a_request() -> None:
    nexus = kipql.open()
    nexus.space("kip:space:b").execute(ADA)
    assert ask(nexus, COUNT, space={"id": "kip:space:b"})["results"][0]["result"] == [1]
    assert error_of(ask(nexus, COUNT, space={"id": "kip:space:c"})) == "NotFoundOrNotVisible"
    assert nexus.spaces() == ["kip:space:b", "kip:space:default"]


def test_the_principal_of_the_call_is_the_origin() -> None:
    nexus = kipql.open()
    envelope = {"kip": "2.0", "operations": [{"command": ADA}]}
    receipt = nexus.request(envelope, principal="agent:a")["results"][0]["receipt"]
    assert receipt["origin"]["principal_id"] == "agent:a"
    assert nexus.query("FIND(?c._system.origin.principal_id) WHERE { ?c CONCEPT {} }").rows == ["agent:a"]


@pytest.mark.parametrize("envelope", [None, 7, "x", [], {}, {"kip": "2.0", "operations": [None]}, {"kip": 2}])
def test_no_request_raises(envelope: Any) -> None:
    reply = kipql.open().request(envelope)
    assert (reply["status"], reply["results"], reply["error"]["code"]) == ("failed", [], "InvalidRequestEnvelope")


def test_an_error_names_its_position_and_leaves_out_what_it_does_not_know() -> None:
    error = ask(kipql.open(), "FIND(?c) WHERE { ?c CONCEPT {} } LIMIT :n")["results"][0]["error"]
    assert (error["code"], error["details"]["position"]["line"]) == ("ReferenceError", 1)
    assert None not in error.values()


def test_a_defect_becomes_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    nexus = kipql.open()
    monkeypatch.setattr("kipql.runtime.request.answer_read", lambda *_: 1 / 0)
    assert error_of(ask(nexus, COUNT)) == "InternalError"


@pytest.mark.shared
def test_replies_follow_the_response_schema(shared: Path) -> None:
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    schemas = [json.loads(path.read_text()) for path in (shared / "kip" / "schemas").glob("*.json")]
    registry = Registry().with_resources((schema["$id"], Resource.from_contents(schema)) for schema in schemas)
    schema = next(each for each in schemas if each["$id"] == "urn:kip:2.0:schema:response")
    validator = Draft202012Validator(schema, registry=registry)
    nexus = kipql.open()
    for reply in (
        ask(nexus, COUNT),
        ask(nexus, ADA, BAD, COUNT, mode="sequence"),
        ask(nexus, ADA, BOB, mode="atomic", request_id="r"),
        ask(nexus, 'UPDATE "C-1" SET FIELDS {name: "Ada"}'),
        ask(nexus, ADA, BAD, mode="atomic"),
        ask(nexus, "LIST TYPES LIMIT 1"),
        ask(nexus, ADA, options={"dry_run": True}),
        nexus.request({}),
    ):
        assert [error.message for error in validator.iter_errors(reply)] == []
