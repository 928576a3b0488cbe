"""The form of a request envelope (§71): what is refused before any command is looked at."""

from typing import Any

import pytest

from kipql.errors import KipError
from kipql.runtime.envelope import read_envelope

FIND = {"command": "FIND(?c) WHERE { ?c CONCEPT {} }"}
ENTRY = {"key": "msg", "evidence_class": "user_statement", "payload": "hi"}


def request(**members: Any) -> dict[str, Any]:
    return {"kip": "2.0", "operations": [FIND], **members}


def test_the_smallest_request_is_one_operation() -> None:
    read = read_envelope(request())
    assert [operation.command for operation in read.operations] == [FIND["command"]]
    assert (read.mode, read.on_error, read.dry_run, read.space) == (None, "stop", False, None)


def test_an_operation_inherits_shared_parameters_and_replaces_them_whole() -> None:
    own = {**FIND, "parameters": {"a": {"x": 1}, "b": None}}
    read = read_envelope(request(operations=[own], parameters={"a": {"y": 2}, "b": 1, "c": 3}))
    assert read.operations[0].parameters == {"a": {"x": 1}, "b": None, "c": 3}


@pytest.mark.parametrize(
    ("members", "place"),
    [
        ({"operations": []}, "operations"),
        ({"operations": [FIND, FIND]}, "execution"),
        ({"operations": [{}]}, "operations[0]"),
        ({"operations": [{**FIND, "ast": {}}]}, "operations[0]"),
        ({"operations": [{"command": ""}]}, "operations[0].command"),
        ({"operations": [{**FIND, "language": "SQL"}]}, "operations[0].language"),
        ({"operations": [{**FIND, "readonly": True}]}, "operations[0]"),
        ({"operations": [{**FIND, "op_id": "1"}] * 2, "execution": {"mode": "sequence"}}, "operations"),
        ({"actor": "me"}, "request"),
        ({"execution": {}}, "execution"),
        ({"execution": {"mode": "parallel"}}, "execution.mode"),
        ({"execution": {"mode": "atomic", "on_error": "continue"}}, "execution.on_error"),
        ({"execution": {"mode": "sequence", "idempotency_key": ""}}, "execution.idempotency_key"),
        ({"parameters": {"1st": 1}}, "parameters"),
        ({"parameters": []}, "parameters"),
        ({"space": {}}, "space"),
        ({"space": {"id": "a", "uri": "b"}}, "space"),
        ({"preconditions": {"space_seq": -1}}, "preconditions.space_seq"),
        ({"preconditions": {"space_seq": "1"}}, "preconditions.space_seq"),
        ({"options": {"dry_run": 1}}, "options.dry_run"),
        ({"options": {"deadline_ms": 0}}, "options.deadline_ms"),
        ({"options": {"timeout": 1}}, "options"),
        ({"context": {"purpose": ""}}, "context.purpose"),
        ({"requires": {"": True}}, "requires"),
        ({"extensions": {"plain": {}}}, "request.extensions"),
        ({"extensions": {"acme/x": 1}}, "request.extensions['acme/x']"),
        ({"request_id": 7}, "request_id"),
        ({"ingest": {"evidence": []}}, "ingest.evidence"),
        ({"ingest": {"evidence": [ENTRY, ENTRY]}}, "ingest.evidence"),
        ({"ingest": {"evidence": [{**ENTRY, "key": "a b"}]}}, "ingest.evidence[0].key"),
        ({"ingest": {"evidence": [{**ENTRY, "payload_artifact": "x"}]}}, "ingest.evidence[0]"),
        ({"ingest": {"evidence": [{"key": "msg", "evidence_class": "x"}]}}, "ingest.evidence[0]"),
        ({"ingest": {"evidence": [{**ENTRY, "source_actor": "Alice"}]}}, "ingest.evidence[0].source_actor"),
        ({"ingest": {"evidence": [{**ENTRY, "source_actor": {"type": "T"}}]}}, "ingest.evidence[0].source_actor"),
        ({"ingest": {"evidence": [{**ENTRY, "facets": {"F": 1}}]}}, "ingest.evidence[0].facets"),
    ],
)
def test_a_malformed_member_is_refused_and_named(members: dict[str, Any], place: str) -> None:
    with pytest.raises(KipError) as caught:
        read_envelope(request(**members))
    assert (caught.value.code, caught.value.details["member"]) == ("InvalidRequestEnvelope", place)


@pytest.mark.parametrize("value", [None, [], "FIND", 1, {}, {"kip": "2.0"}, {"operations": [FIND]}])
def test_what_is_no_request_is_refused(value: object) -> None:
    with pytest.raises(KipError) as caught:
        read_envelope(value)
    assert caught.value.code == "InvalidRequestEnvelope"


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"kip": "1.0"}, "UnsupportedProtocolVersion"),
        ({"execution": {"mode": "independent", "isolation": "snapshot"}}, "UnsupportedIsolation"),
        ({"compatibility_profile": "kip-1-compat"}, "UnsupportedCapability"),
        ({"operations": [{"ast": {}}]}, "UnsupportedCapability"),
        ({"extensions": {"acme/x": {"critical": True}}}, "UnsupportedCapability"),
        ({"operations": [{**FIND, "extensions": {"acme/x": {"critical": True}}}]}, "UnsupportedCapability"),
        (
            {"ingest": {"evidence": [{"key": "m", "evidence_class": "x", "payload_artifact": "h"}]}},
            "UnsupportedCapability",
        ),
        ({"ingest": {"evidence": [{**ENTRY, "observed_at": "2026-01-01T00:00:00Z"}]}}, "ConstraintViolation"),
        ({"ingest": {"evidence": [{**ENTRY, "observed_at": 0}]}}, "TypeMismatch"),
        ({"ingest": {"evidence": [{**ENTRY, "observed_at": None}]}}, "TypeMismatch"),
    ],
)
def test_what_this_engine_does_not_offer_has_its_own_code(members: dict[str, Any], code: str) -> None:
    with pytest.raises(KipError) as caught:
        read_envelope(request(**members))
    assert caught.value.code == code


def test_an_extension_that_is_not_critical_is_carried_past() -> None:
    assert read_envelope(request(extensions={"acme/tracing": {"trace_id": "t"}})).operations


def test_a_request_nested_without_end_is_refused_without_recursion() -> None:
    bomb: Any = []
    for _ in range(100_000):
        bomb = [bomb]
    with pytest.raises(KipError) as caught:
        read_envelope(request(parameters={"x": bomb}))
    assert caught.value.code == "ResourceExhausted"
