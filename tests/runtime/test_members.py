"""Every member of a request envelope is honoured, or refused by the code that is right for it (§70-§85).

The table names a member of kip-request as its path, what a request says there, and what the response must then say,
by path. A test holds the table to the schema: no member is left out.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import kipql

ADA = 'CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }'
NAMES = "FIND(?c.name) WHERE { ?c CONCEPT {} } ORDER BY ?c.name"
EVIDENCE = "FIND(?e.{}) WHERE {{ ?e EVIDENCE {{}} }}"
EXTENSION = {"acme/trace": {"id": 7}}
CRITICAL = {"acme/trace": {"critical": True}}
SEEN = {"key": "msg", "evidence_class": "user_statement", "payload": "hello"}
KEEP = {"command": 'CREATE CONCEPT ?n { TYPE "Person" NAME "Note" }'}
INVALID, UNSUPPORTED = {"error.code": "InvalidRequestEnvelope"}, {"error.code": "UnsupportedCapability"}
DONE = {"status": "succeeded"}


class Row(NamedTuple):
    """A member, what a request says there, and what the response says at some of its paths."""

    member: str
    request: dict[str, Any]
    expected: dict[str, Any]


def ops(*commands: str, mode: str | None = None, **execution: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"operations": [{"command": command} for command in commands]}
    return made | ({"execution": {"mode": mode, **execution}} if mode else {})


def op(**members: Any) -> dict[str, Any]:
    return {"operations": [{"command": NAMES, **members}]}


def ingest(look: str = "payload", *, execution: dict[str, Any] | None = None, **entry: Any) -> dict[str, Any]:
    return {
        "operations": [KEEP, {"command": EVIDENCE.format(look)}],
        "execution": execution or {"mode": "sequence"},
        "ingest": {"evidence": [{**SEEN, **entry}]},
    }


def found(value: Any) -> dict[str, Any]:
    return {"status": "succeeded", "results.1.result": [value]}


ROWS = [
    # the envelope
    Row("kip", {"kip": "2.0"}, DONE),
    Row("kip", {"kip": "2.1"}, {"error.code": "UnsupportedProtocolVersion"}),
    Row("kip", {"kip": 2.0}, INVALID),
    Row("?", {"principal": "root"}, INVALID),
    Row("?", {"delegation": {}}, INVALID),
    Row("request_id", {"request_id": "r-1"}, {"request_id": "r-1"}),
    Row("request_id", {"request_id": "r" * 257}, INVALID),
    Row("space.id", {"space": {"id": "kip:space:default"}}, {"context.space_id": "kip:space:default"}),
    Row(
        "space.id", {"space": {"id": "kip:space:other"}}, {"context.space_id": "kip:space:other", "status": "succeeded"}
    ),
    Row("space.id", {"space": {"id": "nowhere"}}, {"error.code": "NotFoundOrNotVisible"}),
    Row("space.uri", {"space": {"uri": "kip:space:other"}}, {"context.space_id": "kip:space:other"}),
    Row("space.uri", {"space": {"id": "kip:space:default", "uri": "kip:space:other"}}, INVALID),
    Row("space.uri", {"space": {}}, INVALID),
    Row("compatibility_profile", {"compatibility_profile": "kip-1-compat"}, UNSUPPORTED),
    Row("extensions", {"extensions": EXTENSION}, DONE),
    Row("extensions", {"extensions": CRITICAL}, UNSUPPORTED),
    Row("extensions", {"extensions": {"plain": {}}}, INVALID),
    # execution
    Row("execution.mode", ops(NAMES, NAMES), INVALID),
    Row("execution.mode", ops(NAMES, NAMES, mode="independent"), {"execution.mode": "independent", **DONE}),
    Row("execution.mode", ops(ADA, NAMES, mode="sequence"), {"results.1.result": ["Ada"], "receipt": None}),
    Row("execution.mode", ops(ADA, NAMES, mode="atomic"), {"results.1.result": ["Ada"], "receipt.space_seq": 1}),
    Row("execution.mode", ops(ADA, "FIND(", mode="atomic"), {"results.0.status": "rolled_back", "status": "failed"}),
    Row("execution.mode", ops(NAMES, mode="parallel"), INVALID),
    Row("execution.on_error", ops("FIND(", ADA, mode="sequence"), {"results.1.status": "skipped"}),
    Row("execution.on_error", ops("FIND(", ADA, mode="sequence", on_error="stop"), {"results.1.status": "skipped"}),
    Row(
        "execution.on_error",
        ops("FIND(", ADA, mode="sequence", on_error="continue"),
        {"results.1.status": "succeeded", "status": "partial", "execution.on_error": "continue"},
    ),
    Row("execution.on_error", ops(ADA, ADA, mode="atomic", on_error="continue"), INVALID),
    Row(
        "execution.isolation",
        ops(ADA, mode="atomic", isolation="serializable"),
        {"execution.isolation": "serializable"},
    ),
    Row("execution.isolation", ops(ADA, mode="atomic", isolation="snapshot"), {"error.code": "UnsupportedIsolation"}),
    Row("execution.idempotency_key", ops(ADA, mode="atomic", idempotency_key="k"), {"execution.idempotency_key": "k"}),
    Row("execution.idempotency_key", ops(ADA, mode="atomic", idempotency_key="k" * 1025), INVALID),
    Row("execution.extensions", ops(ADA, mode="atomic", extensions=CRITICAL), UNSUPPORTED),
    Row("execution.extensions", ops(ADA, mode="atomic", extensions=EXTENSION), DONE),
    Row("?", ops(ADA, mode="atomic", retries=3), INVALID),
    # what is read, and what must hold
    Row("read.snapshot_token", {"read": {"snapshot_token": "forged"}}, {"error.code": "HistoricalSnapshotUnavailable"}),
    Row("read.snapshot_token", {"read": {"snapshot_token": ""}}, INVALID),
    Row("read.extensions", {"read": {"extensions": CRITICAL}}, UNSUPPORTED),
    Row("read.extensions", {"read": {"extensions": EXTENSION}}, DONE),
    Row("?", {"read": {"as_of_seq": 1}}, INVALID),
    Row("preconditions.space_seq", {"preconditions": {"space_seq": 0}}, DONE),
    Row(
        "preconditions.space_seq",
        {"preconditions": {"space_seq": 4}},
        {"error.code": "PreconditionFailed", "error.details.precondition": "space_seq", "results": []},
    ),
    Row("preconditions.space_seq", {"preconditions": {"space_seq": -1}}, INVALID),
    Row("preconditions.schema_environment_version", {"preconditions": {"schema_environment_version": 1}}, DONE),
    Row(
        "preconditions.schema_environment_version",
        {"preconditions": {"schema_environment_version": 9}},
        {"error.code": "PreconditionFailed", "error.details.precondition": "schema_environment_version"},
    ),
    Row("preconditions.extensions", {"preconditions": {"extensions": CRITICAL}}, UNSUPPORTED),
    Row("preconditions.extensions", {"preconditions": {"extensions": EXTENSION}}, DONE),
    Row("requires", {"requires": {"atomic_batch": True, "belief_slot": True, "snapshot_tokens": True}}, DONE),
    Row("requires", {"requires": {"idempotency_retention": {"seconds": 86400}}}, DONE),
    Row("requires", {"requires": {"streaming": True}}, {**UNSUPPORTED, "error.details.capability": "streaming"}),
    Row("requires", {"requires": {"no_such_capability": True}}, UNSUPPORTED),
    Row("requires", {"requires": {"1": True}}, INVALID),
    Row("parameters", {**op(command="FIND(:x) WHERE {}"), "parameters": {"1st": 1}}, INVALID),
    Row(
        "parameters",
        {**op(command="FIND(?c) WHERE { ?c {name: :n} }"), "parameters": {"n": "Ada", "unused": 1}},
        {"status": "succeeded", "results.0.result": []},
    ),
    # operations
    Row("operations", {"operations": []}, INVALID),
    Row("operations[].op_id", op(op_id="first"), {"results.0.op_id": "first"}),
    Row("operations[].op_id", {**ops(mode="sequence"), "operations": [{"command": NAMES, "op_id": "a"}] * 2}, INVALID),
    Row("operations[].language", op(language="KQL"), DONE),
    Row("operations[].language", op(language="KML"), {"results.0.error.code": "LanguageMismatch"}),
    Row("operations[].language", op(language="SQL"), INVALID),
    Row("operations[].command", {"operations": [{}]}, INVALID),
    Row("operations[].command", op(command=""), INVALID),
    Row("operations[].command", op(command="FIND("), {"results.0.error.code": "InvalidSyntax", "status": "failed"}),
    Row("operations[].ast", {"operations": [{"ast": {}}]}, {**UNSUPPORTED, "error.details.capability": "ast"}),
    Row("operations[].ast", op(ast={}), INVALID),
    Row(
        "operations[].parameters",
        {**op(command="FIND(?c.name) WHERE { ?c {name: :n} }", parameters={}), "parameters": {"n": "Ada"}},
        {"results.0.result": []},
    ),
    Row(
        "operations[].parameters",
        op(command="FIND(?c.name) WHERE { ?c {name: :n} }"),
        {"results.0.error.code": "ReferenceError"},
    ),
    Row("operations[].idempotency_key", op(command=ADA, idempotency_key="one"), DONE),
    Row("operations[].idempotency_key", op(command=ADA, idempotency_key=None), DONE),
    Row("operations[].idempotency_key", op(command=ADA, idempotency_key=1), INVALID),
    Row("operations[].options.extensions", op(options={"extensions": CRITICAL}), UNSUPPORTED),
    Row("operations[].options.extensions", op(options={"extensions": EXTENSION}), DONE),
    Row("operations[].options.extensions", op(options={"timeout": 1}), INVALID),
    Row("operations[].extensions", op(extensions=CRITICAL), UNSUPPORTED),
    Row("operations[].extensions", op(extensions=EXTENSION), DONE),
    # ingestion
    Row("ingest.evidence", {**op(), "ingest": {"evidence": [SEEN]}}, INVALID),
    Row("ingest.evidence", {**ops(ADA), "ingest": {"evidence": []}}, INVALID),
    Row("ingest.extensions", {**ops(ADA), "ingest": {"extensions": CRITICAL}}, UNSUPPORTED),
    Row("ingest.extensions", {**ops(ADA), "ingest": {"extensions": EXTENSION}}, DONE),
    Row("ingest.evidence[].key", ingest(key="no name"), INVALID),
    Row("ingest.evidence[].key", ingest("payload", key="other"), found({"mode": "inline", "inline": "hello"})),
    Row(
        "ingest.evidence[].evidence_class", ingest("evidence_class", evidence_class="tool_result"), found("tool_result")
    ),
    Row("ingest.evidence[].evidence_class", ingest(evidence_class=""), INVALID),
    Row("ingest.evidence[].payload", ingest(payload={"a": [1]}), found({"mode": "inline", "inline": {"a": [1]}})),
    Row(
        "ingest.evidence[].payload_artifact",
        {**ops(ADA), "ingest": {"evidence": [{"key": "m", "evidence_class": "x", "payload_artifact": "art-1"}]}},
        {**UNSUPPORTED, "error.details.capability": "artifacts"},
    ),
    Row("ingest.evidence[].payload_artifact", ingest(payload_artifact="art-1"), INVALID),
    Row("ingest.evidence[].media_type", ingest("media_type", media_type="text/plain"), found("text/plain")),
    Row(
        "ingest.evidence[].observed_at",
        ingest("observed_at", observed_at="2026-08-14T01:00:00.000Z"),
        found("2026-08-14T01:00:00.000Z"),
    ),
    Row("ingest.evidence[].observed_at", ingest(observed_at="yesterday"), {"error.code": "ConstraintViolation"}),
    Row("ingest.evidence[].source_actor", ingest(source_actor="Ada"), INVALID),
    Row(
        "ingest.evidence[].source_actor",
        ingest(source_actor={"id": "C-9"}),
        {"results.0.error.code": "NotFoundOrNotVisible"},
    ),
    Row("ingest.evidence[].source_actor.id", ingest(source_actor={"id": "C-1", "key": "k"}), INVALID),
    Row("ingest.evidence[].source_actor.type", ingest(source_actor={"type": "Person"}), INVALID),
    Row("ingest.evidence[].source_actor.key", ingest(source_actor={"key": "ada"}), INVALID),
    Row("ingest.evidence[].client_key", ingest("client_key", client_key="m:1"), found("m:1")),
    Row("ingest.evidence[].facets", ingest(facets={"F": 7}), INVALID),
    Row("ingest.evidence[].facets", ingest(facets={"Nope": {}}), {"results.0.error.code": "SchemaSymbolNotFound"}),
    Row("ingest.evidence[].extensions", ingest(extensions=CRITICAL), UNSUPPORTED),
    Row("ingest.evidence[].extensions", ingest(extensions=EXTENSION), DONE),
    # context and options
    Row("context.purpose", {"context": {"purpose": "answer_user"}}, DONE),
    Row("context.purpose", {"context": {"purpose": "p" * 257}}, INVALID),
    Row("context.risk", {"context": {"risk": "low"}}, DONE),
    Row("context.locale", {"context": {"locale": "de"}}, DONE),
    Row("context.client", {"context": {"client": "cli"}}, DONE),
    Row("context.client", {"context": {"principal": "root"}}, INVALID),
    Row("context.extensions", {"context": {"extensions": CRITICAL}}, UNSUPPORTED),
    Row("context.extensions", {"context": {"extensions": EXTENSION}}, DONE),
    Row("options.dry_run", {**ops(ADA), "options": {"dry_run": True}}, {"results.0.result.effect": "changes"}),
    Row("options.dry_run", {**ops(ADA), "options": {"dry_run": 1}}, INVALID),
    Row(
        "options.dry_run",
        {**ops(ADA, ADA, mode="sequence"), "options": {"dry_run": True}},
        {"warnings.0.code": "RehearsedSeparately"},
    ),
    Row("options.deadline_ms", {"options": {"deadline_ms": 60_000}}, DONE),
    Row("options.deadline_ms", {"options": {"deadline_ms": 0}}, INVALID),
    Row("options.extensions", {"options": {"extensions": CRITICAL}}, UNSUPPORTED),
    Row("options.extensions", {"options": {"extensions": EXTENSION}}, DONE),
]


def at(reply: Any, path: str) -> Any:
    for name in path.split("."):
        reply = reply[int(name)] if isinstance(reply, list) else reply[name]
    return reply


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.member)
def test_a_member_is_honoured_or_refused_by_its_code(row: Row) -> None:
    nexus = kipql.open()
    nexus.space("kip:space:other")
    before = nexus.digest()
    reply = nexus.request({"kip": "2.0", "operations": [{"command": NAMES}], **row.request})
    json.dumps(reply)
    assert {path: at(reply, path) for path in row.expected} == row.expected
    if "error" in reply or row.request.get("options", {}).get("dry_run"):
        assert nexus.digest() == before


def test_the_table_has_every_member_of_the_schema(shared: Path) -> None:
    schema = json.loads((shared / "kip/schemas/kip-request.schema.json").read_text(encoding="utf-8"))
    assert {row.member for row in ROWS} - {"?"} >= set(paths(schema, schema, ""))


def paths(schema: dict[str, Any], root: dict[str, Any], at: str) -> list[str]:
    """The paths of the leaves of an object schema, `[]` for the items of an array."""
    if (reference := schema.get("$ref", "")).startswith("#/$defs/"):
        name = reference.removeprefix("#/$defs/")
        if name == "Extensions":
            return [at]
        return paths(root["$defs"][name], root, at)
    if "items" in schema:
        return paths(schema["items"], root, f"{at}[]")
    if "properties" not in schema or at.endswith(".ast"):
        return [at]
    return [
        leaf
        for name, member in schema["properties"].items()
        for leaf in paths(member, root, f"{at}.{name}" if at else name)
    ]


def test_a_source_is_recorded_and_never_a_name() -> None:
    nexus = kipql.open()
    nexus.execute('UPSERT CONCEPT ?a { MATCH {type: "Person", key: "ada"} SET FIELDS {name: "Ada"} }')
    for source in ({"id": "C-1"}, {"type": "Person", "key": "ada"}):
        reply = nexus.request({"kip": "2.0", **ingest("source", source_actor=source)})
        assert reply["results"][1]["result"][-1] == [{"id": "C-1"}]


def test_an_ended_deadline_stops_what_has_not_begun_and_undoes_nothing() -> None:
    nexus = kipql.open()
    slow = "FIND(COUNT(?a)) WHERE { ?a CONCEPT {} ?b CONCEPT {} ?c CONCEPT {} ?d CONCEPT {} ?e CONCEPT {} }"
    nexus.load([{"kind": "concept", "type": "Person", "name": str(number)} for number in range(60)])
    before = nexus.space_seq
    request = {**ops(ADA, slow, NAMES, mode="sequence", on_error="continue"), "options": {"deadline_ms": 150}}
    reply = nexus.request({"kip": "2.0", **request})
    assert [result["status"] for result in reply["results"]] == ["succeeded", "failed", "failed"]
    assert [result["error"]["code"] for result in reply["results"][1:]] == ["ExecutionTimeout"] * 2
    assert nexus.space_seq == before + 1
