"""A session supplies its barriers by itself and loses none (Memory Interface §5.1)."""

import json

import pytest

from kipql import KipError
from kipql.memory.interface import Formed, MemorySession
from tests.memory.interface.talk import Talk, code, held


def observe(session: MemorySession, talk: Talk, text: str, **attested) -> str:
    ref = talk.stage(text, **attested)
    envelope = {"kip_memory": "2.0", "operation": "observe", "idempotency_key": ref, "input": {"source_ref": ref}}
    return held("Response", session.request(envelope))["receipt"]["receipt_ref"]


def recall(session: MemorySession, **given):
    return held(
        "Response", session.request({"kip_memory": "2.0", "operation": "recall", "input": {"query": "x", **given}})
    )


def test_each_receipt_is_a_barrier_of_its_own_across_a_restart(tmp_path) -> None:
    talk = Talk(path=tmp_path / "m", defer=True, formation=lambda heard: Formed())
    session = MemorySession(talk.memory)
    late = observe(session, talk, "A", after=("never captured",))
    done = observe(session, talk, "B")
    assert talk.memory.process() == [done]
    kept = json.loads(json.dumps(session.checkpoint()))
    talk.nexus.close()
    talk = Talk(path=tmp_path / "m", defer=True)
    session = MemorySession(talk.memory, kept)
    answer = recall(session)
    assert answer["status"] == "pending" and answer["result"]["coverage"]["pending_receipts"] == [late]
    assert session.outstanding == [late]
    assert recall(session, after=[late])["status"] == "pending"
    talk.nexus.close()


@pytest.mark.parametrize(
    "change",
    [{"format": 2}, {"space_id": "other"}, {"principal": "eve"}, {"outstanding": ["mr:X-1:0"]}, {"outstanding": "x"}],
)
def test_a_checkpoint_of_something_else_is_refused(change) -> None:
    talk = Talk()
    kept = MemorySession(talk.memory).checkpoint()
    with pytest.raises(KipError) as caught:
        MemorySession(talk.memory, {**kept, **change})
    assert caught.value.code in ("ConstraintViolation", "NotFoundOrNotVisible")


def test_a_session_with_too_much_outstanding_takes_nothing_more_in() -> None:
    talk = Talk(defer=True)
    session = MemorySession(talk.memory)
    first = [observe(session, talk, f"message {number}") for number in range(128)]
    before = talk.nexus.space_seq
    ref = talk.stage("one more")
    envelope = {"kip_memory": "2.0", "operation": "observe", "idempotency_key": "x", "input": {"source_ref": ref}}
    assert code(held("Response", session.request(envelope))) == "ResourceExhausted"
    assert talk.nexus.space_seq == before and session.outstanding == first
    talk.memory.process()
    assert recall(session)["status"] == "succeeded" and session.outstanding == []
    assert session.request(envelope)["status"] == "pending"


def test_what_failed_stays_a_barrier_until_it_is_dismissed() -> None:
    talk = Talk(defer=True, formation=lambda heard: 1 / 0)
    session = MemorySession(talk.memory)
    ref = observe(session, talk, "hello")
    with pytest.raises(KipError) as caught:
        session.dismiss(ref)
    assert caught.value.code == "PreconditionFailed"
    talk.memory.process()
    assert recall(session)["status"] == "partial" and session.outstanding == [ref]
    session.dismiss(ref)
    assert recall(session)["status"] == "succeeded"


@pytest.mark.parametrize("envelope", [None, [], {"operation": "recall", "input": None}, {"operation": ["x"]}])
def test_what_is_no_request_passes_through_to_its_refusal(envelope) -> None:
    session = MemorySession(Talk().memory)
    assert held("Response", session.request(envelope))["status"] == "failed"
