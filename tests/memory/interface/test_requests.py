"""Requests of any shape: what the schema accepts is served or refused by the right code, all else is a typed error."""

import json
import random
from typing import Any

import pytest

import kipql
from kipql.memory.interface import MemoryInterface, Source
from kipql.memory.interface.wire import read
from tests.memory.interface.talk import DAY, Talk, code, held, valid, validator

KEY = {"idempotency_key": "k"}
GOOD: dict[str, dict[str, Any]] = {
    "observe": {"operation": "observe", **KEY, "input": {"source_ref": "s"}},
    "recall": {"operation": "recall", "input": {"query": "q"}},
    "revise": {"operation": "revise", **KEY, "input": {"source_ref": "s", "change_kind": "correction"}},
    "feedback": {"operation": "feedback", **KEY, "input": {"source_ref": "s"}},
    "forget": {"operation": "forget", **KEY, "input": {"target_ref": "s", "mode": "semantic"}},
}
HOSTILE = [
    None, 1, "x", [], [1], {"kip_memory": "2.0"}, {"kip_memory": 2.0, **GOOD["recall"]},
    {"kip_memory": "1.0", **GOOD["recall"]}, {"kip_memory": ["2.0"], **GOOD["recall"]},
]  # fmt: skip
WRONG: list[Any] = [
    {**GOOD["recall"], "idempotency_key": "k"},
    {name: value for name, value in GOOD["observe"].items() if name != "idempotency_key"},
    {**GOOD["observe"], "idempotency_key": ""},
    {**GOOD["observe"], "idempotency_key": "k" * 1025},
    {**GOOD["observe"], "input": {"source_ref": "s", "role": "instrument"}},
    {**GOOD["observe"], "input": {"source_ref": "s", "evidence_class": "outcome"}},
    {**GOOD["observe"], "principal": "kip:owner"},
    {**GOOD["observe"], "input": {}},
    {**GOOD["observe"], "input": None},
    {**GOOD["observe"], "input": {"source_ref": {"id": "E-1"}}},
    {**GOOD["revise"], "input": {"source_ref": "s", "change_kind": "overwrite"}},
    {**GOOD["forget"], "input": {"target_ref": "s"}},
    {**GOOD["forget"], "input": {"target_ref": "s", "mode": "all"}},
    {**GOOD["recall"], "input": {}},
    {**GOOD["recall"], "input": {"query": ""}},
    {**GOOD["recall"], "input": {"query": "q" * 4097}},
    {**GOOD["recall"], "input": {"query": "\ud800"}},
    {**GOOD["recall"], "input": {"query": "q", "mode": "write"}},
    {**GOOD["recall"], "input": {"query": "q", "after": "r"}},
    {**GOOD["recall"], "input": {"query": "q", "after": ["r", "r"]}},
    {**GOOD["recall"], "input": {"query": "q", "after": [str(each) for each in range(129)]}},
    {**GOOD["recall"], "input": {"query": "q", "time": {}}},
    {**GOOD["recall"], "input": {"query": "q", "time": {"as_of_seq": -1}}},
    {**GOOD["recall"], "input": {"query": "q", "time": {"as_of_seq": True}}},
    {**GOOD["recall"], "input": {"query": "q", "time": {"as_of_seq": 1.5}}},
    {**GOOD["recall"], "input": {"query": "q", "time": {"as_of_seq": float("inf")}}},
    {**GOOD["recall"], "input": {"query": "q", "time": {"as_of_seq": 10**400}}},
    {**GOOD["recall"], "budget": {"max_output_tokens": 0}},
    {**GOOD["recall"], "budget": {"max_output_tokens": float("nan")}},
    {**GOOD["recall"], "budget": []},
    {**GOOD["recall"], "scope": {"space": "x"}},
    {**GOOD["recall"], "scope": {"context_refs": ["a", "a"]}},
    {**GOOD["recall"], "space": {}},
    {**GOOD["recall"], "space": "kip:space:default"},
    {**GOOD["recall"], "requires": "memory_basic"},
    {**GOOD["recall"], "requires": ["memory_basic", "memory_basic"]},
    {**GOOD["recall"], "requires": [1]},
    {**GOOD["recall"], "operation": "delete"},
    {**GOOD["recall"], "operation": {"a": 1}},
    {**GOOD["recall"], "request_id": 7},
]


@pytest.mark.parametrize("envelope", HOSTILE, ids=repr)
def test_what_is_no_request_is_refused_before_anything_is_looked_at(envelope: Any) -> None:
    talk = Talk()
    assert code(talk.request(envelope)) in ("InvalidRequestEnvelope", "UnsupportedProtocolVersion")
    assert talk.nexus.space_seq == 0


@pytest.mark.parametrize("envelope", WRONG, ids=lambda each: repr(each)[:70])
def test_what_the_schema_does_not_know_is_refused(envelope: Any) -> None:
    talk = Talk()
    envelope = {"kip_memory": "2.0", **envelope}
    assert code(talk.request(envelope)) == "InvalidRequestEnvelope"
    assert talk.nexus.space_seq == 0


@pytest.mark.parametrize("operation", GOOD)
@pytest.mark.parametrize("level", ["memory_learning", "memory_experience", "memory_everything", ""])
def test_a_level_that_is_not_served_is_refused_before_intake(operation: str, level: str) -> None:
    talk = Talk()
    talk.stage("I live in Rome.", ref="s")
    envelope = {"kip_memory": "2.0", **GOOD[operation], "requires": ["memory_basic", level]}
    assert code(talk.request(envelope)) == "UnsupportedCapability"
    assert talk.nexus.space_seq == 0
    assert talk.request({**envelope, "requires": []})["status"] in ("succeeded", "failed")


def test_a_space_that_is_not_on_this_connection_is_not_there() -> None:
    talk = Talk()
    for space, wanted in (({"id": "other"}, True), ({"id": talk.nexus.space_id}, False),
                          ({"id": talk.nexus.space_id, "uri": "kip:other"}, True)):  # fmt: skip
        answer = talk.request({"kip_memory": "2.0", **GOOD["recall"], "space": space})
        assert (answer["status"] == "failed" and code(answer) == "NotFoundOrNotVisible") == wanted


def _mutated(choose: random.Random, value: Any, depth: int = 0) -> Any:
    """A value with something about it changed."""
    odd = [None, True, 0, -1, 1.0, 2**60, "", "x", "x" * 2000, [], ["a", "a"], {}, {"x": 1}, "memory_basic", "semantic"]
    if isinstance(value, dict) and value and choose.random() < 0.8:
        name = choose.choice(sorted(value))
        if choose.random() < 0.15:
            return {each: held_ for each, held_ in value.items() if each != name}
        if choose.random() < 0.15:
            extra = [
                "mode",
                "detail",
                "after",
                "time",
                "scope",
                "budget",
                "space",
                "requires",
                "query",
                "target_ref",
                "zz",
            ]
            return {**value, choose.choice(extra): choose.choice(odd)}
        return {**value, name: _mutated(choose, value[name], depth + 1)}
    return choose.choice(odd)


@pytest.mark.skipif(validator("Request") is None, reason="shared: absent")
def test_the_reader_and_the_schema_agree_on_what_a_request_is() -> None:
    choose, agreed = random.Random(20261130), {True: 0, False: 0}
    talk = Talk()
    full = {
        "recall": {"query": "q", "mode": "action", "after": ["r"], "detail": "evidence", "goal": "g", "context": "c",
                   "time": {"as_of_seq": 1, "valid_at": DAY("01-01")}, "attention_cursor": "x"},
        "revise": {"source_ref": "s", "target_ref": "A-1", "change_kind": "misrecorded"},
        "feedback": {"source_ref": "s", "decision_ref": "X-1", "attempt_ref": "X-2"},
    }  # fmt: skip
    outer = {"kip_memory": "2.0", "request_id": "1", "space": {"id": "kip:space:default"}, "requires": ["memory_basic"],
             "scope": {"task_ref": "t", "context_refs": ["c"]},
             "budget": {"max_output_tokens": 900, "deadline_ms": 1}}  # fmt: skip
    for _ in range(4000):
        operation = choose.choice(sorted(GOOD))
        base = {**outer, **GOOD[operation]}
        base = {**base, "input": {**base["input"], **full.get(operation, {})}}
        envelope = base
        for _ in range(choose.randint(0, 2)):
            envelope = _mutated(choose, envelope)
        accepted = _read(envelope)
        wanted = valid("Request", envelope)
        if not _beyond(envelope):
            assert accepted == wanted, json.dumps(envelope)[:600]
        agreed[wanted] += 1
        if _ % 20 == 0:
            held("Response", talk.memory.request(envelope))
    assert min(agreed.values()) > 300


def _read(envelope: Any) -> bool:
    import kipql

    try:
        read(envelope)
    except kipql.KipError as error:
        assert error.code in ("InvalidRequestEnvelope", "UnsupportedProtocolVersion", "UnsupportedCapability")
        return False
    return True


def _beyond(envelope: Any) -> bool:
    """What only a run can tell: the form of a timestamp, the levels that are served, the form of a uri."""
    if not isinstance(envelope, dict):
        return False
    given = envelope.get("input")
    time = given.get("time") if isinstance(given, dict) else None
    timed = isinstance(time, dict) and "valid_at" in time and time["valid_at"] != DAY("01-01")
    space = envelope.get("space")
    return timed or (isinstance(space, dict) and "uri" in space)


@pytest.mark.parametrize("at", ["2026-01-01", "2026-01-01T00:00:00Z", "2026-02-30T00:00:00.000Z", "now"])
def test_a_time_that_is_none_is_a_typed_error(at: str) -> None:
    talk = Talk()
    talk.observe("hello")
    assert code(talk.request({"kip_memory": "2.0", "operation": "recall",
                              "input": {"query": "q", "time": {"valid_at": at}}})) == "ConstraintViolation"  # fmt: skip


# --- idempotency ----------------------------------------------------------------------------------------


def test_a_retry_is_the_first_acknowledgement_and_no_new_evidence(tmp_path) -> None:
    formed = []

    def formation(heard):
        formed.append(heard.source_ref)

    talk = Talk(path=tmp_path / "m", formation=formation, defer=True)
    source = {"speaker": "ada", "observed_at": DAY("01-10")}
    envelope = {"kip_memory": "2.0", **GOOD["observe"], "request_id": "1", "budget": {"max_output_tokens": 500}}
    talk.memory.stage("s", "hello", **source)
    first = talk.request(envelope)
    talk.nexus.close()
    talk = Talk(path=tmp_path / "m", formation=formation, defer=True)  # a restart between intake and formation
    again = {**envelope, "request_id": "2", "budget": {"max_output_tokens": 900}}
    assert talk.request(again)["receipt"] == first["receipt"]  # the handle is gone, the source is captured
    assert talk.memory.process() == [first["receipt"]["receipt_ref"]]
    talk.nexus.close()
    talk = Talk(path=tmp_path / "m", formation=formation)  # and one after it
    assert talk.request(again)["receipt"] == first["receipt"] and talk.memory.process() == []
    assert formed == ["s"] and talk.count("activity") == 1
    talk.memory.stage("s", "another text", **source)
    assert code(talk.request(again)) == "IdempotencyConflict"
    other = Talk(talk.nexus)
    other.task("t")
    assert code(other.request({**again, "scope": {"task_ref": "t"}})) == "IdempotencyConflict"
    assert code(other.request({**again, "input": {"source_ref": "z"}})) == "IdempotencyConflict"
    assert talk.count("activity") == 1
    talk.nexus.close()


def test_a_key_belongs_to_its_intent_its_principal_and_its_space() -> None:
    talk = Talk()
    talk.stage("I live in Rome.", ref="s")
    receipts = [talk.request({"kip_memory": "2.0", **GOOD[name]})["receipt"] for name in ("observe", "feedback")]
    talk.nexus.govern.grant("bob", "discover", "read", "create", "update", "search", "project", "derive")
    bob = Talk(talk.nexus.as_principal("bob"))
    bob.stage("I live in Rome.", ref="s")
    receipts.append(bob.request({"kip_memory": "2.0", **GOOD["observe"]})["receipt"])
    assert len({each["receipt_ref"] for each in receipts}) == 3


def test_a_source_never_changes_under_its_ref() -> None:
    talk = Talk()
    talk.observe("I live in Rome.", ref="s")
    other = Talk(talk.nexus)
    other.memory.stage("s", "I live in Oslo.", speaker="ada")
    assert code(other.ask("observe", {"source_ref": "s"}, idempotency_key="2")) == "DigestMismatch"
    liar = MemoryInterface(talk.nexus, sources=lambda ref: Source(ref="another", content="x"))
    assert code(held("Response", liar.observe("s2"))) == "DigestMismatch"


def test_what_a_host_gets_wrong_is_a_typed_error_and_no_trace_of_it_stays() -> None:
    def broken(ref: str) -> Source | None:
        raise OSError("no disk")

    talk = Talk(sources=broken)
    assert code(talk.ask("observe", {"source_ref": "s"})) == "InternalError"
    assert talk.nexus.space_seq == 0
    for content, more in (({1, 2}, {}), ("x", {"role": "root"}), (float("nan"), {}), ("x", {"after": ["a"]}),
                          ("x", {"color": "red"})):  # fmt: skip
        with pytest.raises(Exception) as caught:
            talk.memory.stage("s", content, **more)
        assert type(caught.value).__name__ == "KipError"


@pytest.mark.parametrize(
    ("operation", "hint"),
    [("remember", "'observe'"), ("recal", "'recall'"), ("forgett", "'forget'"), ("zzz", "observe,")],
)
def test_an_operation_that_there_is_not_is_named_in_the_error(operation: str, hint: str) -> None:
    """A response has to name one of the five, so the error says what was asked, and what may be meant."""
    talk = Talk()
    response = talk.request({"kip_memory": "2.0", "operation": operation, "input": {}})
    assert code(response) == "InvalidRequestEnvelope"
    assert repr(operation) in response["error"]["message"] and hint in response["error"]["hint"]
    assert response["error"]["details"] == {"operation": operation}


@pytest.mark.parametrize(
    ("attested", "wanted"),
    [
        ({"observed_at": "yesterday"}, "ConstraintViolation"),
        ({"observed_at": "2026-01-10"}, "ConstraintViolation"),
        ({"observed_at": "2026-13-10T00:00:00.000Z"}, "ConstraintViolation"),
        ({"observed_at": "2026-01-10T00:00:00.000+00:00"}, "ConstraintViolation"),
        ({"observed_at": 5}, "TypeMismatch"),
        ({"speaker": ""}, "TypeMismatch"),
        ({"speaker": 5}, "TypeMismatch"),
        ({"role": "usr"}, "ConstraintViolation"),
    ],
)
def test_what_is_no_source_is_refused_when_it_is_staged(attested: dict[str, Any], wanted: str) -> None:
    memory = Talk().memory
    with pytest.raises(kipql.KipError) as raised:
        memory.stage("m-1", "I live in Rome.", **attested)
    assert raised.value.code == wanted
    assert memory.stage("m-1", "I live in Rome.", observed_at="2026-01-10T00:00:00.000Z") == "m-1"
