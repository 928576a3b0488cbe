"""recall: barriers, scope, coverage, budgets, time and expansion (Memory Interface §5, §6). It never writes."""

import threading

import pytest

from kipql.memory.interface import Formed
from kipql.memory.interface.pieces import pieces, serialized
from tests.memory.interface.talk import DAY, Talk, code, held

HIGHEST = 9007199254740991


def texts(response: dict, role: str) -> list[str]:
    return [each["text"] for each in response["result"]["items"] if each["role"] == role]


def test_a_recall_behind_a_barrier_is_pending_until_the_source_is_understood() -> None:
    talk = Talk(defer=True)
    talk.observe("My timezone is +08:00.")
    talk.memory.process()
    told = talk.ask("revise", {"source_ref": talk.stage("My timezone is +07:00.", DAY("06-01"))})
    receipt = told["receipt"]["receipt_ref"]
    assert told["status"] == "pending" and told["progress"]["phase"] == "recorded"
    answer = talk.recall("What is the timezone of Ada?", after=[receipt])
    assert answer["status"] == "pending" and answer["result"]["coverage"]["pending_receipts"] == [receipt]
    assert not any(each["action_eligible"] for each in answer["result"]["items"])
    # Without the barrier it is not complete either: the source may change what is answered.
    assert talk.recall("What is the timezone of Ada?")["status"] == "partial"
    assert talk.memory.process() == [receipt]
    answer = talk.recall("What is the timezone of Ada?", after=[receipt])
    assert answer["status"] == "succeeded" and answer["result"]["coverage"]["action_eligible"]
    assert texts(answer, "fact") == ["ada timezone +07:00"]


def test_a_recall_waits_for_the_thread_that_processes() -> None:
    started = threading.Event()

    def slow(heard):
        started.set()
        return Formed()

    talk = Talk(formation=slow, defer=True, wait=True)
    receipt = talk.observe("hello")["receipt"]["receipt_ref"]
    worker = threading.Timer(0.05, talk.memory.process)
    worker.start()
    answer = talk.recall("hello", after=[receipt], budget={"deadline_ms": 20_000})
    worker.join()
    assert started.is_set() and answer["status"] == "succeeded"
    late = talk.observe("more")["receipt"]["receipt_ref"]
    assert talk.recall("hello", after=[late], budget={"deadline_ms": 1})["status"] == "pending"


def test_a_barrier_that_failed_is_said_and_never_satisfied() -> None:
    talk = Talk(formation=lambda heard: 1 / 0)  # type: ignore[arg-type, return-value]
    receipt = talk.observe("hello")["receipt"]["receipt_ref"]
    answer = talk.recall("hello", after=[receipt])
    assert answer["status"] == "partial" and answer["result"]["after"][0]["phase"] == "failed"
    assert not answer["result"]["coverage"]["action_eligible"]


@pytest.mark.parametrize("forge", [lambda ref: "mr:X-1:" + "0" * 20, lambda ref: ref + "0", lambda ref: ref[:-1],
                                   lambda ref: "X-1", lambda ref: ref.replace("X-1", "X-2"),
                                   lambda ref: "mr::"])  # fmt: skip
def test_a_forged_receipt_is_not_there(forge) -> None:
    talk = Talk()
    receipt = talk.observe("hello")["receipt"]["receipt_ref"]
    talk.observe("again")
    assert code(talk.recall("hello", after=[forge(receipt)])) == "NotFoundOrNotVisible"


def test_a_receipt_of_another_space_or_principal_is_not_there() -> None:
    talk = Talk()
    receipt = talk.observe("hello")["receipt"]["receipt_ref"]
    other = Talk(talk.nexus.space("kip:space:other"))
    other.observe("hello")
    assert code(other.recall("hello", after=[receipt])) == "NotFoundOrNotVisible"
    talk.nexus.govern.grant("eve", "discover", "read", "project", "search")
    eve = Talk(talk.nexus.as_principal("eve"))
    assert code(eve.recall("hello", after=[receipt])) == "NotFoundOrNotVisible"
    assert eve.recall("hello")["status"] == "succeeded"


def test_a_barrier_newer_than_a_fixed_state_is_refused() -> None:
    talk = Talk()
    receipt = talk.observe("I live in Rome.")["receipt"]["receipt_ref"]
    assert code(talk.recall("hello", after=[receipt], time={"as_of_seq": 1})) == "PreconditionFailed"
    seq = talk.memory.progress(receipt)["available_seq"]
    assert talk.recall("live Rome", after=[receipt], time={"as_of_seq": seq})["status"] == "succeeded"


@pytest.mark.parametrize(
    "time, wanted",
    [
        ({"as_of_seq": 999}, "HistoricalSnapshotUnavailable"),
        ({"as_of_seq": HIGHEST}, "HistoricalSnapshotUnavailable"),
    ],
)
def test_a_time_that_can_not_be_read_is_refused(time, wanted) -> None:
    talk = Talk()
    talk.observe("hello")
    assert code(talk.recall("hello", time=time)) == wanted


def test_what_was_said_in_a_task_stays_in_it() -> None:
    talk = Talk()
    one, two = talk.task("task-1"), talk.task("task-2")
    talk.observe("Never deploy on Fridays. Remind me to call Bob.", scope={"task_ref": "task-1"}, ref="rule")
    here = talk.recall("help me schedule a deployment", scope={"task_ref": "task-1"}, mode="action")
    assert texts(here, "constraint") == ["Never deploy on Fridays"]
    assert texts(here, "warning") == ["open commitment (pending): call Bob"]
    for scope in ({"task_ref": "task-2"}, {"task_ref": two}, {}):
        elsewhere = talk.recall("deploy on Fridays, call Bob", scope=scope, mode="action")
        assert elsewhere["result"]["items"] == []
    assert texts(talk.recall("deploy", scope={"context_refs": [one, two]}), "constraint")
    assert code(talk.recall("deploy", scope={"task_ref": "task-3"})) == "NotFoundOrNotVisible"
    talk.nexus.execute('CREATE CONCEPT ?p { TYPE "Person" NAME "x" SET FIELDS {key: "task-1"} }')
    assert code(talk.recall("deploy", scope={"task_ref": "task-1"})) == "IdentitySelectorRequired"


def test_a_channel_that_is_not_read_to_its_end_makes_nothing_eligible() -> None:
    talk = Talk(channel_limit=2)
    for verb in ("deploy", "merge", "push"):
        talk.observe(f"Never {verb} on Fridays.")
    answer = talk.recall("deploy", mode="action")
    assert answer["status"] == "partial"
    assert answer["result"]["coverage"]["channels"]["constraints"] == "incomplete"
    assert not answer["result"]["coverage"]["action_eligible"]


@pytest.mark.parametrize(
    "made, channels",
    [
        ('CREATE CONCEPT ?x { TYPE "Experience" SET ATTRIBUTES {goal: "deploy", outcome_status: "failure"} }',
         {"failures": "incomplete", "experiences": "incomplete", "skills": "not_applicable"}),
        ('CREATE CONCEPT ?x { TYPE "Experience" SET ATTRIBUTES '
         '{goal: "a session", outcome_status: "unknown", experience_class: "agent_session"} }',
         {"failures": "not_applicable", "experiences": "not_applicable", "skills": "not_applicable"}),
    ],
)  # fmt: skip
def test_what_is_kept_and_not_served_is_incomplete_and_never_absent(made, channels) -> None:
    talk = Talk()
    talk.observe("I live in Rome.")
    talk.nexus.execute(made)
    answer = talk.recall("Where does Ada live?", mode="action")
    found = answer["result"]["coverage"]
    assert {name: found["channels"][name] for name in channels} == channels
    assert found["action_eligible"] == ("incomplete" not in channels.values())


def test_unknown_is_not_no() -> None:
    talk = Talk()
    talk.observe("I live in Rome.")
    answer = talk.recall("Is Ada vegetarian?")
    assert texts(answer, "fact") == [] or "vegetarian" not in str(texts(answer, "fact"))
    talk = Talk()
    answer = talk.recall("Is Ada vegetarian?")
    assert any("not a no" in each for each in answer["result"]["uncertainties"])
    assert answer["result"]["items"] == [] and not answer["result"]["coverage"]["action_eligible"]
    # A rejection that somebody states is another thing.
    talk.nexus.execute('DEFINE PREDICATE "is_vegetarian" { description: "Whether someone eats no meat." }')
    talk.nexus.execute("""MUTATE { CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }
      ASSERT (?a, "is_vegetarian", true) {by: ?a, mode: "stated", stance: "reject"} }""")
    assert talk.facts("Is Ada vegetarian?") == {"Ada is vegetarian true": "rejected"}


def test_two_who_disagree_are_contested_and_nobody_wins() -> None:
    talk = Talk()
    talk.nexus.install_package("kip://domains/general@1.0.0")
    talk.nexus.execute("""MUTATE {
      CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" } CREATE CONCEPT ?b { TYPE "Person" NAME "B" }
      CREATE CONCEPT ?c { TYPE "Person" NAME "C" }
      ASSERT (?a, "timezone", "UTC") {by: ?b, mode: "stated"}
      ASSERT (?a, "timezone", "+01:00") {by: ?c, mode: "stated"}
    }""")
    answer = talk.recall("timezone of Ada")
    assert {each["epistemic_status"] for each in answer["result"]["items"]} == {"contested"}
    assert not any(each["action_eligible"] for each in answer["result"]["items"])
    assert any(each.startswith("contested") for each in answer["result"]["uncertainties"])


# --- budgets and pages ----------------------------------------------------------------------------------


def crowd(size: int = 12, **options) -> Talk:
    talk = Talk(**options)
    talk.observe("Never deploy on Fridays.")
    for number in range(size):
        talk.observe("I live in Rome.", ref=f"said-{number}", speaker=f"person-{number}")
    return talk


def test_a_budget_keeps_the_rules_and_pages_the_rest_without_a_gap_or_a_double() -> None:
    talk = crowd()
    whole = talk.recall("Who lives in Rome?", budget={"max_output_tokens": 100_000})
    asked = {"max_output_tokens": 700}
    page = talk.recall("Who lives in Rome?", budget=asked)
    seen = []
    for _ in range(40):
        assert pieces(serialized(page)) <= 700
        assert texts(page, "constraint") == ["Never deploy on Fridays"]
        seen += [each["ref"] for each in page["result"]["items"] if each["role"] != "constraint"]
        if "continuation_ref" not in page["result"]:
            break
        assert page["status"] == "partial" and not page["result"]["coverage"]["action_eligible"]
        talk.observe(f"I live in Rome.", ref=f"late-{len(seen)}", speaker=f"late-{len(seen)}")  # noqa: F541
        page = talk.recall(target_ref=page["result"]["continuation_ref"], budget=asked)
    wanted = [each["ref"].split("/")[0] for each in whole["result"]["items"] if each["role"] != "constraint"]
    assert [each.split("/")[0] for each in seen] == wanted and len(set(seen)) == len(seen)


def test_a_continuation_keeps_its_query_scope_and_barriers() -> None:
    talk = crowd()
    talk.task("task-1")
    ref = talk.recall("Who lives in Rome?", budget={"max_output_tokens": 700})["result"]["continuation_ref"]
    assert code(talk.recall("Who lives in Oslo?", target_ref=ref)) == "CursorMismatch"
    assert code(talk.recall(target_ref=ref, scope={"task_ref": "task-1"})) == "CursorMismatch"
    receipt = talk.observe("hello")["receipt"]["receipt_ref"]
    assert code(talk.recall(target_ref=ref, after=[receipt])) == "CursorMismatch"
    assert code(talk.recall(target_ref="mc:" + "0" * 24)) == "CursorInvalid"
    assert talk.recall("Who lives in Rome?", target_ref=ref)["result"]["items"]


@pytest.mark.parametrize("most", [1, 50, 150])
def test_what_may_not_be_left_out_is_never_dropped_to_fit(most: int) -> None:
    talk = crowd(2)
    assert code(talk.recall("Rome", budget={"max_output_tokens": most})) == "ResultLimitExceeded"
    assert code(talk.recall("Rome", budget={"tokenizer": "other"})) == "UnsupportedCapability"


def test_the_minimum_that_is_advertised_is_enough_for_an_empty_answer() -> None:
    talk = Talk()
    least = talk.memory.descriptor()["minimum_response_tokens"]
    assert talk.recall("anything at all", budget={"max_output_tokens": least})["status"] == "succeeded"


def test_the_hosts_tokenizer_counts_where_it_is_asked_for() -> None:
    counted = []
    talk = Talk(tokenizers={"host": lambda text: counted.append(text) or len(text)})
    assert talk.memory.descriptor()["tokenizer"] == "host"
    talk.recall("anything")
    assert counted


# --- expansion ------------------------------------------------------------------------------------------


def test_an_expansion_shows_the_state_that_made_the_result_and_writes_nothing() -> None:
    talk = Talk()
    talk.observe("My timezone is +08:00.", ref="first")
    (item,) = [each for each in talk.recall("timezone")["result"]["items"] if each["role"] == "fact"]
    talk.revise("My timezone is +07:00.", "correction")
    before = talk.nexus.digest()
    found = talk.recall(target_ref=item["ref"], detail="evidence")
    assert texts(found, "fact") == ["ada timezone +08:00"]
    assert found["result"]["items"][0]["epistemic_status"] == "accepted"
    kinds = [each["kind"] for each in found["result"]["details"]["elements"]]
    assert kinds == ["proposition", "assertion", "evidence"]
    assert talk.nexus.digest() == before
    source = talk.recall(target_ref="first", detail="evidence")
    assert source["result"]["details"]["elements"][0]["payload"]["inline"] == "My timezone is +08:00."


def test_an_expansion_goes_by_the_rights_of_now_and_recreates_nothing_that_was_erased() -> None:
    talk = Talk()
    talk.observe("My timezone is +08:00.", ref="first")
    govern = talk.nexus.govern
    govern.labels("public", "secret")
    govern.grant("eve", "discover", "read", "project", "search", up_to="public")
    eve = Talk(talk.nexus.as_principal("eve"))
    items = eve.recall("timezone")["result"]["items"]
    assert items
    every = [
        row
        for kind in ("EVIDENCE", "ASSERTION")
        for row in talk.nexus.query(f"FIND(?x.id) WHERE {{ ?x {kind} {{}} }}").rows
    ]
    govern.classify([*every, *talk.nexus.query("FIND(?p.id) WHERE { ?p (?s, ?r, ?o) }").rows], "secret")
    for item in items:
        assert code(eve.recall(target_ref=item["ref"], detail="evidence")) == "NotFoundOrNotVisible"
    talk.ask("forget", {"target_ref": "first", "mode": "semantic"})
    for item in items:
        assert code(talk.recall(target_ref=item["ref"], detail="evidence")) == "NotFoundOrNotVisible"


def test_a_basis_is_shown_with_its_plans_while_it_is_kept() -> None:
    talk = Talk()
    talk.observe("Never deploy on Fridays.")
    basis = talk.recall("deploy")["result"]["basis_ref"]
    found = talk.recall(target_ref=basis, detail="evidence")["result"]
    plans = found["details"]["coverage"]["plans"]
    assert plans["constraints"]["method"] == "exact" and plans["evidence"]["method"] == "approximate"
    assert found["details"]["basis"]["policy"]["id"] == "kip:memory-default"
    assert code(talk.recall(target_ref="mb:0")) == "ArtifactUnavailable"
    again = Talk(talk.nexus)
    assert code(again.recall(target_ref=basis)) == "ArtifactUnavailable"


@pytest.mark.parametrize("ref", ["P-99", "P-1@99", "E-1@0", "C-7@1/2026-01-01T00:00:00.000Z", "X-1", "nothing",
                                 "P-1@-1", "A-" + "9" * 16, "P-1@" + "9" * 16])  # fmt: skip
def test_a_result_that_nobody_was_given_is_not_there(ref: str) -> None:
    talk = Talk()
    assert code(talk.recall(target_ref=ref)) in ("NotFoundOrNotVisible", "HistoricalSnapshotUnavailable")


# --- attention ------------------------------------------------------------------------------------------


def test_what_is_due_reaches_attention_once_and_grants_nothing() -> None:
    talk = Talk(now=DAY("09-20"))
    talk.observe("Remind me to call Bob by 2026-09-24.", at=DAY("09-20"))
    assert talk.memory.review() == []
    assert talk.recall(mode="attention")["result"]["attention"] == []
    talk.clock.advance(days=5)
    (raised,) = talk.memory.review()
    assert talk.memory.review() == []
    before = talk.nexus.digest()
    found = talk.recall(mode="attention")["result"]
    (item,) = found["attention"]
    assert (item["ref"], item["kind"], item["summary"]) == (raised, "commitment_due", "call Bob")
    assert item["due_at"] == DAY("09-24") and item["raised_seq"] == talk.nexus.space_seq
    then = talk.recall(mode="attention", attention_cursor=found["attention_cursor"])["result"]
    assert then["attention"] == [] and then["attention_cursor"] == found["attention_cursor"]
    assert not then["coverage"]["action_eligible"] or then["items"] == []
    assert talk.nexus.digest() == before
    assert talk.recall("Bob", mode="resume")["result"]["attention"] == [item]


@pytest.mark.parametrize("cursor", ["x", "MTpYLTE6MDAwMDAwMDAwMDAw", "%%%", "é"])
def test_a_forged_cursor_is_refused(cursor: str) -> None:
    assert code(Talk().recall(mode="attention", attention_cursor=cursor)) == "CursorInvalid"


def test_a_working_state_is_resumed_in_its_own_task_only() -> None:
    talk = Talk()
    one = talk.task("task-1")
    talk.task("task-2")
    talk.nexus.execute(
        """CREATE CONCEPT ?w { TYPE "WorkingState" SET ATTRIBUTES {summary: "half way", basis_seq: 1}
        SET FACET "kip://profiles/cognitive-memory/MemoryScope" {task_ref: :one, context_refs: [:one]} }""",
        {"one": one},
    )
    assert texts(talk.recall("go on", scope={"task_ref": "task-1"}, mode="resume"), "source") == [
        "working state: half way"
    ]
    for scope in ({}, {"task_ref": "task-2"}):
        assert texts(talk.recall("go on", scope=scope, mode="resume"), "source") == []


@pytest.mark.parametrize("mode", ["answer", "action", "resume", "attention"])
def test_a_recall_writes_nothing(mode: str) -> None:
    talk = crowd(3)
    before, head = talk.nexus.digest(), talk.nexus.space_seq
    answer = talk.recall("Who lives in Rome?", mode=mode, detail="evidence", goal="travel", context="at the station")
    held("Response", answer)
    assert (talk.nexus.digest(), talk.nexus.space_seq) == (before, head)
