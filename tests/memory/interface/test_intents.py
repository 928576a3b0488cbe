"""The five intents: what each writes, acknowledges and refuses (Memory Interface §3 to §5)."""

import threading
from datetime import UTC, datetime

import pytest

import kipql
from kipql.memory.interface import Claim, Formed, MemoryInterface, Promise
from kipql.memory.interface.forgetting import Surface
from kipql.memory.interface.writing import NOTHING_READ
from tests.memory.interface.talk import DAY, Talk, code, held


def test_what_is_observed_is_recalled_with_its_source_and_its_speaker() -> None:
    talk = Talk()
    done = talk.observe("I live in Rome.", ref="source-77")
    assert done["status"] == "succeeded" and done["progress"]["disposition"] == "formed"
    (item,) = [each for each in talk.recall("Where does Ada live?")["result"]["items"] if each["role"] == "fact"]
    assert (item["text"], item["epistemic_status"], item["evidence_refs"]) == (
        "ada lives in Rome", "accepted", ["source-77"],
    )  # fmt: skip
    (claim,) = talk.nexus.query("FIND(?a) WHERE { ?a ASSERTION {} }").rows
    assert claim["asserted_at"] == DAY("01-10") and claim["mode"] == "stated" and claim["confidence"] is None
    (speaker,) = talk.nexus.query('FIND(?p.id) WHERE { ?p {type: "Person", key: "ada"} }').rows
    assert claim["asserted_by"] == {"id": speaker}


@pytest.mark.parametrize(
    "said, speaker",
    [("We had a nice walk.", "ada"), ("I live in Rome.", None), ({"rows": [1, 2]}, "ada")],
)
def test_what_nothing_is_formed_of_is_kept_as_evidence_and_said_so(said: object, speaker: str | None) -> None:
    talk = Talk()
    done = talk.observe(said, speaker=speaker)
    assert done["progress"]["disposition"] == "evidence_only" and done["result"]["memory_refs"] == []
    assert talk.count("assertion") == 0
    (payload,) = talk.nexus.query('FIND(?e.payload) WHERE { ?e EVIDENCE {evidence_class: "user_statement"} }').rows
    assert payload["inline"] == said


def test_a_source_that_may_not_be_kept_is_skipped_and_none_of_it_is_written() -> None:
    talk = Talk(admit=lambda source: "it holds a credential" if "hunter2" in source.content else None)
    done = talk.observe("my password is hunter2")
    assert (done["status"], done["progress"]["disposition"]) == ("succeeded", "skipped")
    assert done["warnings"] == ["it holds a credential"]
    everything = [talk.nexus.query(f"FIND(?x) WHERE {{ ?x {kind.upper()} {{}} }}").rows for kind in ("evidence",)]
    assert "hunter2" not in str(everything) and talk.nexus.query('SEARCH EVIDENCE "hunter2"').rows == []
    assert talk.observe("I live in Rome.")["progress"]["disposition"] == "formed"


def test_a_denied_intake_binds_no_key_and_captures_nothing() -> None:
    talk = Talk()
    talk.nexus.install_package("kip://domains/general@1.0.0")
    reader = talk.nexus.as_principal("guest")
    talk.nexus.govern.grant("guest", "discover", "read", "project", "search")
    guest = Talk(reader)
    ref = guest.stage("I live in Rome.")
    before = talk.nexus.space_seq
    assert code(guest.ask("observe", {"source_ref": ref})) == "NotAuthorized"
    assert talk.nexus.space_seq == before
    talk.nexus.govern.grant("guest", "create", "update", "assert", "record_attributed_assertion")
    done = guest.ask("observe", {"source_ref": ref})
    assert done["status"] == "pending"  # it may record, and not derive: that is left to a worker who may
    assert talk.memory.process() == [done["receipt"]["receipt_ref"]]
    assert guest.ask("observe", {"source_ref": ref})["progress"]["disposition"] == "formed"


def test_a_read_only_memory_is_recalled_and_takes_nothing_in() -> None:
    talk = Talk()
    talk.observe("I live in Rome.")
    still = Talk(talk.nexus.readonly())
    assert still.facts("Where does Ada live?") == {"ada lives in Rome": "accepted"}
    assert code(still.observe("I live in Oslo.", ref="other")) == "ReadonlyViolation"


# --- revise ---------------------------------------------------------------------------------------------


def test_a_correction_supersedes_the_speakers_own_claim_and_keeps_its_interval() -> None:
    talk = Talk()
    first = talk.observe("My timezone is +08:00.")["result"]["memory_refs"][-1]
    done = talk.revise("I meant +07:00.", "correction", target=first)
    assert done["result"]["summary"] == "formed 1 claim, 1 earlier claim superseded"
    assert talk.facts("What is the timezone of Ada?") == {"ada timezone +07:00": "accepted"}
    past = talk.facts("What is the timezone of Ada?", time={"valid_at": DAY("03-01")})
    assert past == {"ada timezone +07:00": "accepted"}
    assert sorted(talk.statuses()) == ["active", "superseded"]
    seq = talk.memory.progress(done["receipt"]["receipt_ref"])["available_seq"] - 1
    assert talk.facts("What is the timezone of Ada?", time={"as_of_seq": seq}) == {"ada timezone +08:00": "accepted"}


def test_a_correction_finds_the_one_claim_of_the_slot_by_itself() -> None:
    talk = Talk()
    talk.observe("My timezone is +08:00.")
    talk.revise("My timezone is +07:00.", "correction")
    assert sorted(talk.statuses()) == ["active", "superseded"]


@pytest.mark.parametrize("speaker", ["bob", None])
def test_nobody_corrects_what_somebody_else_said(speaker: str | None) -> None:
    talk = Talk()
    first = talk.observe("My timezone is +08:00.")["result"]["memory_refs"][-1]
    done = talk.revise("I meant +07:00.", "correction", target=first, speaker=speaker)
    assert done["progress"]["disposition"] == "evidence_only"
    assert talk.statuses() == ["active"]


def test_a_correction_without_a_target_is_kept_and_said_not_to_be_applied() -> None:
    talk = Talk()
    talk.observe("I live in Rome.")
    done = talk.revise("I live in Oslo now.", "correction", speaker="bob")
    assert done["progress"]["disposition"] == "evidence_only" and "corrected" in done["progress"]["reason"]
    answer = talk.recall("Where do people live: Oslo or Rome?")
    coverage = answer["result"]["coverage"]
    assert answer["status"] == "partial" and coverage["channels"]["evidence"] == "incomplete"
    assert any("was not applied" in each for each in coverage["unverified_preconditions"])


def test_a_world_change_is_one_claim_from_the_change_and_answers_both_times() -> None:
    talk = Talk()
    talk.observe("I live in Beijing.")
    before = talk.count("assertion")
    talk.revise("I moved to Shanghai on 2026-09-01.", "world_change", at=DAY("09-02"))
    assert talk.count("assertion") == before + 1 and set(talk.statuses()) == {"active"}
    assert talk.facts("Where does Ada live?") == {"ada lives in Shanghai": "accepted"}
    assert talk.facts("Where does Ada live?", time={"valid_at": DAY("08-01")}) == {"ada lives in Beijing": "accepted"}
    talk.observe("I live in Beijing.", at=DAY("03-01"))  # an old message, processed late
    assert talk.facts("Where does Ada live?") == {"ada lives in Shanghai": "accepted"}


def test_a_change_whose_date_is_not_known_is_a_bound_and_no_instant() -> None:
    talk = Talk()
    talk.observe("I live in Beijing.")
    talk.revise("I moved to Shanghai.", "world_change", at=DAY("09-02"))
    (valid,) = talk.nexus.query(
        "FIND(?a.valid_time) WHERE { ?a ASSERTION {} FILTER(?a.asserted_at == :at) }", {"at": DAY("09-02")}
    ).rows
    assert valid["from"] == {"latest": DAY("09-02")}


def test_an_unspecified_change_supersedes_nothing_and_says_so() -> None:
    talk = Talk()
    talk.observe("My timezone is +08:00.")
    done = talk.ask("revise", {"source_ref": talk.stage("My timezone is +07:00.", DAY("06-01"))})
    assert set(talk.statuses()) == {"active"} and "supersedes nothing" in done["warnings"][0]
    assert talk.facts("What is the timezone of Ada?") == {"ada timezone +07:00": "accepted"}


def misheard(heard):
    """A formation that mishears the first message only: later it reads the words as they are."""
    if heard.operation == "observe" and heard.change_kind is None and heard.text == "dark mode, please":
        return Formed(claims=(Claim(predicate="timezone", object="sepia"),), packages=("kip://domains/general@1.0.0",))
    if heard.change_kind == "misrecorded":
        assert heard.request == "I never said sepia." and heard.text == "dark mode, please"
        return Formed(claims=(Claim(predicate="timezone", object="dark"),))
    return None


def test_a_misrecording_is_repaired_and_the_speaker_withdraws_nothing() -> None:
    talk = Talk(formation=misheard)
    wrong = talk.observe("dark mode, please")["result"]["memory_refs"][-1]
    done = talk.revise("I never said sepia.", "misrecorded", target=wrong, at=DAY("09-24"))
    assert done["status"] == "succeeded" and done["progress"]["disposition"] == "formed"
    assert set(talk.statuses()) == {"active"}
    assert talk.facts("timezone of Ada") == {"ada timezone dark": "accepted"}
    (said,) = talk.nexus.query(
        'FIND(?a.asserted_at) WHERE { ?p (?s, "timezone", "dark") ?a ASSERTION {proposition: ?p} }'
    ).rows
    assert said == DAY("01-10")
    again = talk.revise("I never said sepia.", "misrecorded", at=DAY("09-25"))
    assert again["progress"]["disposition"] == "evidence_only" and "target_ref" in again["progress"]["reason"]


def test_a_misrecording_is_never_turned_into_a_correction_where_it_can_not_be_repaired() -> None:
    talk = Talk()
    wrong = talk.observe("My timezone is +08:00.")["result"]["memory_refs"][-1]
    govern = talk.nexus.govern
    govern.grant("clerk", "discover", "read", "project", "search", "create", "update", "assert", "supersede_own",
                 "record_attributed_assertion")  # fmt: skip
    clerk = Talk(talk.nexus.as_principal("clerk"))
    before = talk.nexus.digest()
    assert code(clerk.revise("I never said that.", "misrecorded", target=wrong)) == "UnsupportedCapability"
    assert talk.nexus.digest() == before


# --- feedback -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role, evidence", [("agent", "agent_statement"), ("user", "user_statement")])
def test_feedback_is_kept_as_what_it_is_and_grades_nothing(role: str, evidence: str) -> None:
    talk = Talk()
    done = talk.ask("feedback", {"source_ref": talk.stage("It went well. I live in Rome.", role=role)})
    assert done["status"] == "succeeded" and done["progress"]["disposition"] == "evidence_only"
    classes = talk.nexus.query("FIND(?e.evidence_class) WHERE { ?e EVIDENCE {} }").rows
    assert evidence in classes and "outcome" not in classes
    assert talk.count("assertion") == 0


def test_an_outcome_needs_the_learning_level_and_a_decision_has_to_be_there() -> None:
    talk = Talk()
    assert code(talk.ask("feedback", {"source_ref": talk.stage("ok", role="instrument")})) == "UnsupportedCapability"
    ref = talk.stage("It went well.", role="agent")
    assert code(talk.ask("feedback", {"source_ref": ref, "decision_ref": "X-99"})) == "NotFoundOrNotVisible"
    gate = talk.nexus.execute(
        'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "action_gate", status: "completed"} }'
    ).handles["x"]
    done = talk.ask("feedback", {"source_ref": ref, "decision_ref": gate})
    (inputs,) = talk.nexus.query(
        "FIND(?x.inputs) WHERE { ?x ACTIVITY {activity_class: :c} }", {"c": "kipql:memory_feedback"}
    ).rows
    assert done["status"] == "succeeded" and {"id": gate} in inputs


# --- forget ---------------------------------------------------------------------------------------------


def test_semantic_forgetting_reaches_all_that_was_formed_and_says_so() -> None:
    talk = Talk()
    kept = talk.observe("I live in Rome.")
    told = talk.observe("My timezone is +08:00. Remind me to water the orchids.", ref="private")
    assert len(told["result"]["memory_refs"]) == 2
    done = talk.ask("forget", {"target_ref": "private", "mode": "semantic"})
    assert (done["status"], done["result"]["status"]) == ("succeeded", "completed")
    assert done["progress"]["disposition"] == "erased"
    seen = talk.recall("timezone orchids +08:00 where does ada live")["result"]
    assert [each["text"] for each in seen["items"]] == ["ada lives in Rome", "I live in Rome."]
    assert all(talk.nexus.query(f'SEARCH {kind} "orchids"').rows == [] for kind in ("EVIDENCE", "CONCEPT"))
    assert kept["receipt"]["accepted_seq"] < done["receipt"]["accepted_seq"]
    (item,) = talk.nexus.query(
        "FIND(?e.payload) WHERE { ?e EVIDENCE {id: :id} }", {"id": done["result"]["coverage_ref"]}
    ).rows
    assert {each["state"] for each in item["inline"]["targets"]} == {"erased"}
    # The key of the source is spent: what was erased is not captured again.
    assert talk.ask("observe", {"source_ref": "private"}, idempotency_key="again")["status"] != "succeeded"
    assert talk.nexus.query('SEARCH EVIDENCE "orchids"').rows == []


def test_payload_only_forgetting_leaves_what_was_formed() -> None:
    talk = Talk()
    talk.observe("I live in Rome.", ref="letter")
    done = talk.ask("forget", {"target_ref": "letter", "mode": "payload_only"})
    assert done["result"]["status"] == "completed"
    (item,) = talk.recall("Where does Ada live?")["result"]["items"]
    assert (item["text"], item["role"]) == ("ada lives in Rome", "fact")


def test_a_claim_is_forgotten_with_the_words_it_came_from() -> None:
    talk = Talk()
    talk.observe("I live in Rome.", ref="letter")
    (item,) = [each for each in talk.recall("where live Rome")["result"]["items"] if each["role"] == "fact"]
    assert talk.ask("forget", {"target_ref": item["ref"], "mode": "semantic"})["result"]["status"] == "completed"
    assert talk.recall("where live Rome")["result"]["items"] == []


def test_what_is_held_stays_and_the_plan_goes_on_once_it_is_released() -> None:
    talk = Talk()
    talk.observe("I live in Rome.", ref="letter")
    (evidence,) = talk.nexus.query('FIND(?e.id) WHERE { ?e EVIDENCE {evidence_class: "user_statement"} }').rows
    talk.nexus.execute("SET RETENTION :e {legal_hold: true}", {"e": evidence})
    done = talk.ask("forget", {"target_ref": "letter", "mode": "semantic"})
    assert (done["status"], done["result"]["status"]) == ("partial", "blocked")
    assert done["progress"]["phase"] == "recorded"
    assert talk.memory.process() == []
    talk.nexus.execute("SET RETENTION :e {legal_hold: false}", {"e": evidence})
    assert talk.memory.process() == [done["receipt"]["receipt_ref"]]
    assert talk.ask("forget", {"target_ref": "letter", "mode": "semantic"})["result"]["status"] == "completed"


def test_nothing_is_completed_while_a_copy_of_the_hosts_is_left() -> None:
    states = iter(["pending", "pending", "erased"])
    asked: list[list[str]] = []
    backup = Surface("backup", lambda refs: asked.append(list(refs)) or next(states))
    talk = Talk(surfaces=[backup])
    talk.observe("I live in Rome.", ref="letter")
    done = talk.ask("forget", {"target_ref": "letter", "mode": "semantic"})
    assert (done["status"], done["result"]["status"]) == ("partial", "partial")
    assert talk.memory.process() == []
    assert talk.memory.process() == [done["receipt"]["receipt_ref"]]
    assert all(refs == asked[0] and refs for refs in asked)


@pytest.mark.parametrize("target", ["E-99", "nowhere", "P-1@1", "mr:X-1:0000", "X-1"])
def test_there_is_no_plan_for_what_is_not_there(target: str) -> None:
    talk = Talk()
    assert code(talk.ask("forget", {"target_ref": target, "mode": "semantic"})) == "NotFoundOrNotVisible"
    assert talk.nexus.space_seq == 0


def test_a_speaker_that_nobody_may_erase_for_is_refused_and_binds_no_key() -> None:
    talk = Talk()
    talk.observe("I live in Rome.", ref="letter")
    talk.nexus.govern.grant("clerk", "discover", "read", "project", "search", "create", "update", "assert")
    clerk = Talk(talk.nexus.as_principal("clerk"))
    before = talk.nexus.digest()
    assert code(clerk.ask("forget", {"target_ref": "letter", "mode": "semantic"})) == "NotAuthorized"
    assert talk.nexus.digest() == before


# --- formation ------------------------------------------------------------------------------------------


def test_a_formation_that_raises_is_a_failure_that_repeats_nothing_of_the_source() -> None:
    def broken(heard):
        raise ValueError(f"can not read {heard.text}")

    talk = Talk(formation=broken)
    done = talk.observe("the code is 4711")
    assert (done["status"], done["progress"]["phase"]) == ("failed", "failed")
    assert "4711" not in str(done) and code(done) == "InternalError"
    assert talk.request({"kip_memory": "2.0", "operation": "recall", "input": {"query": "code"}})["status"]


def test_a_model_that_is_busy_leaves_the_intake_recorded_and_a_later_run_settles_it() -> None:
    busy = [True]

    def model(heard):
        if busy[0]:
            raise kipql.KipError("RateLimited", "later")
        return Formed(promises=(Promise(summary="call Bob", due_at=DAY("10-01")),))

    talk = Talk(formation=model)
    done = talk.observe("I shall call Bob")
    assert done["status"] == "pending" and done["progress"] == {
        "receipt_ref": done["receipt"]["receipt_ref"], "phase": "recorded",
    }  # fmt: skip
    busy[0] = False
    assert talk.memory.process() == [done["receipt"]["receipt_ref"]]
    assert talk.recall("Bob")["result"]["items"][0]["text"].endswith("call Bob")


@pytest.mark.parametrize(
    "answer",
    [
        "yes",
        Formed(claims=(Claim(predicate="no_such_predicate", object="x"),)),
        Formed(claims=["x"]),  # type: ignore[arg-type]
        Formed(claims=(Claim(predicate='x" }', object="x"),)),
        Formed(claims=(Claim(predicate="timezone", object="x"), Claim(predicate="nope", object="x")),
               packages=("kip://domains/general@1.0.0",)),
    ],
)  # fmt: skip
def test_what_a_formation_gets_wrong_is_one_failure_and_leaves_nothing_half_written(answer: object) -> None:
    talk = Talk(formation=lambda heard: answer)  # type: ignore[arg-type, return-value]
    done = talk.observe("whatever")
    assert done["status"] == "failed" and done["progress"]["phase"] == "failed"
    assert talk.count("assertion") == 0


def test_the_descriptor_claims_memory_basic_and_nothing_above() -> None:
    talk = Talk()
    found = held("Descriptor", talk.memory.descriptor())
    assert found["bundles"] == ["memory_basic"] and found["default_space"] == {"id": talk.nexus.space_id}
    for levels, wanted in ((["memory_experience"], "ConstraintViolation"), (["none"], "ConstraintViolation"),
                           (["memory_basic", "memory_experience"], "UnsupportedCapability"),
                           ([], "UnsupportedCapability")):  # fmt: skip
        with pytest.raises(kipql.KipError) as caught:
            MemoryInterface(talk.nexus, levels=levels)
        assert caught.value.code == wanted


def test_threads_that_send_one_request_are_given_one_receipt() -> None:
    formed: list[str] = []

    def formation(heard):
        formed.append(heard.source_ref)
        return Formed(promises=(Promise(summary="call Bob"),))

    talk = Talk(formation=formation)
    talk.stage("I shall call Bob", ref="s")
    envelope = {"kip_memory": "2.0", "operation": "observe", "idempotency_key": "k", "input": {"source_ref": "s"}}
    start = threading.Barrier(6)
    replies: list[dict] = []

    def send() -> None:
        start.wait()
        replies.append(talk.memory.request(envelope))

    threads = [threading.Thread(target=send) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({each["receipt"]["receipt_ref"] for each in replies}) == 1
    assert {each["status"] for each in replies} <= {"succeeded", "pending"}
    assert talk.nexus.query('FIND(COUNT(?c)) WHERE { ?c {type: "Commitment"} }').scalar() == 1


def test_a_source_that_is_evidence_already_is_observed_by_its_id() -> None:
    talk = Talk()
    made = talk.nexus.execute("""MUTATE {
      CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }
      CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "user_statement", payload: "I live in Rome.",
        observed_at: "2026-01-10T00:00:00.000Z"} SET STRUCTURAL { ("source", ?a) } }
    }""").handles
    done = talk.ask("observe", {"source_ref": made["e"]})
    assert done["progress"]["disposition"] == "formed"
    (item,) = [each for each in talk.recall("Where does Ada live?")["result"]["items"] if each["role"] == "fact"]
    assert item["evidence_refs"] == [made["e"]]


def test_evidence_of_the_binding_itself_is_no_source() -> None:
    talk = Talk()
    talk.observe("I live in Rome.")
    own = talk.nexus.query('FIND(?e.id) WHERE { ?e EVIDENCE {} FILTER(STARTS_WITH(?e.evidence_class, "kipql:")) }').rows
    assert own
    for each in own:
        assert code(talk.ask("observe", {"source_ref": each})) == "NotFoundOrNotVisible"
        assert code(talk.ask("forget", {"target_ref": each, "mode": "semantic"})) == "ConstraintViolation"
    assert talk.recall("memory intent outcome formed")["result"]["items"] == []


def test_a_revision_that_no_claim_was_found_in_says_that_nothing_changed() -> None:
    talk = Talk()
    talk.observe("I live in Rome.")
    talk.memory.stage("no", "Not Rome, I meant something else.", speaker="ada", observed_at=DAY("01-11"))
    for kind in ("correction", "world_change"):
        done = talk.memory.revise("no", kind)
        assert done["progress"]["disposition"] == "evidence_only"
        assert done["warnings"] == [NOTHING_READ]


def test_a_source_may_be_staged_with_a_datetime() -> None:
    talk = Talk()
    talk.memory.stage("m", "I live in Rome.", speaker="ada", observed_at=datetime(2026, 1, 10, 1, tzinfo=UTC))
    talk.memory.observe("m")
    assert talk.nexus.query("FIND(?a.asserted_at) WHERE { ?a ASSERTION {} }").rows == ["2026-01-10T01:00:00.000Z"]


def test_a_day_is_refused_as_the_member_of_the_request_that_it_is() -> None:
    talk = Talk()
    error = talk.memory.recall("Where does Ada live?", time={"valid_at": "2026-02-01"})["error"]
    assert error["message"] == "time.valid_at is not a protocol timestamp: '2026-02-01'"
    assert "position" not in error["details"]
