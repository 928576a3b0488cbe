"""Every META statement of the grammar through `nexus.request`, in every mode of the envelope (§63, §68, §69, §71, §75).

One memory in which half is hidden from `reader`; what a statement answers alone, to its owner or to the reader, it
answers in every mode, and no mode lets it write. The table holds every target that the grammar knows.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

import kipql
from kipql.schema.authoring import sealed
from tests.shared import ROOT

VISIBLE = """MUTATE {
  CREATE CONCEPT ?ada { TYPE "Person" NAME "Ada" SET FIELDS {key: "ada"} }
  CREATE CONCEPT ?dummy { TYPE "Person" NAME "Sesame" }
  CREATE EVIDENCE ?told { SET FIELDS {evidence_class: "message", payload: "Good morning."} }
  CREATE EVIDENCE ?sum { SET FIELDS {evidence_class: "derived_result", payload: "A greeting."} }
  CREATE EVIDENCE ?beyond { SET FIELDS {evidence_class: "derived_result", payload: "Far."} }
  CREATE ACTIVITY ?near { SET FIELDS {activity_class: "extraction", status: "completed"}
    SET STRUCTURAL { ("inputs", ?told) ("outputs", ?sum) } }
  CREATE ACTIVITY ?far { SET FIELDS {activity_class: "extraction", status: "completed"}
    SET STRUCTURAL { ("outputs", ?beyond) } }
  ASSERT ?claim (?ada, "same_as", ?ada) {by: ?ada, mode: "stated"}
}"""
STORY = (
    VISIBLE.replace('("outputs", ?sum)', '("outputs", ?sum) ("outputs", ?secret)')
    .replace('("outputs", ?beyond)', '("inputs", ?secret) ("outputs", ?beyond)')
    .removesuffix("}")
    + """
  CREATE CONCEPT ?bob { TYPE "Person" NAME "Sesame Bob" SET FIELDS {key: "sesame"} }
  CREATE EVIDENCE ?secret { SET FIELDS {evidence_class: "derived_result", payload: "sesame"} }
  ASSERT ?hint (?ada, "same_as", ?bob) {by: ?bob, mode: "stated"}
}"""
)
HIDDEN = ("dummy", "bob", "secret")
READING = ("discover", "read", "search", "project", "read_history", "export", "import", "create", "update", "derive",
           "assert", "record_attributed_assertion")  # fmt: skip
CREATE = 'CREATE CONCEPT ?new { TYPE "Person" NAME "New" }'
MODES = ("independent", "sequence", "atomic")

STATEMENTS: Mapping[str, str] = {
    "DESCRIBE PRIMER": "DESCRIBE PRIMER",
    "DESCRIBE PRIMER MODE": 'DESCRIBE PRIMER MODE "full"',
    "DESCRIBE PROTOCOL": "DESCRIBE PROTOCOL",
    "DESCRIBE CAPABILITIES": "DESCRIBE CAPABILITIES",
    "DESCRIBE SPACE": "DESCRIBE SPACE",
    "DESCRIBE SPACE id": "DESCRIBE SPACE :space",
    "DESCRIBE SCHEMA ENVIRONMENT": "DESCRIBE SCHEMA ENVIRONMENT",
    "DESCRIBE PACKAGE": 'DESCRIBE PACKAGE "kip://profiles/cognitive-memory@2.0.0"',
    "DESCRIBE TYPE": 'DESCRIBE TYPE "Person"',
    "DESCRIBE PREDICATE": 'DESCRIBE PREDICATE "same_as"',
    "DESCRIBE FACET": 'DESCRIBE FACET "MnemonicState"',
    "DESCRIBE STRUCTURAL FIELD": 'DESCRIBE STRUCTURAL FIELD "has_step"',
    "DESCRIBE COMPATIBILITY": "DESCRIBE COMPATIBILITY FROM :package TO :package",
    "DESCRIBE ERROR": 'DESCRIBE ERROR "NotFoundOrNotVisible"',
    "DESCRIBE TRANSACTION": "DESCRIBE TRANSACTION :tx",
    "DESCRIBE TRANSACTION BY IDEMPOTENCY KEY": 'DESCRIBE TRANSACTION BY IDEMPOTENCY KEY "told"',
    "DESCRIBE SNAPSHOT": "DESCRIBE SNAPSHOT",
    "DESCRIBE SNAPSHOT AT TIME": 'DESCRIBE SNAPSHOT AT TIME "2999-01-01T00:00:00.000Z"',
    "DESCRIBE CAPSULE": "DESCRIBE CAPSULE :capsule",
    "DESCRIBE EPISTEMIC POLICY": "DESCRIBE EPISTEMIC POLICY",
    "DESCRIBE TRUST": "DESCRIBE TRUST",
    "DESCRIBE ACCESS": "DESCRIBE ACCESS",
    "DESCRIBE ACCESS element": "DESCRIBE ACCESS WITH {element: :ada}",
    "LIST SPACES": "LIST SPACES",
    "LIST TYPES": "LIST TYPES LIMIT 2",
    "LIST PREDICATES": "LIST PREDICATES LIMIT 2",
    "LIST FACETS": "LIST FACETS LIMIT 2",
    "LIST STRUCTURAL FIELDS": "LIST STRUCTURAL FIELDS LIMIT 2",
    "LIST EPISTEMIC POLICIES": "LIST EPISTEMIC POLICIES",
    "LIST SCHEMA PACKAGES": "LIST SCHEMA PACKAGES",
    "LIST DEPENDENTS": "LIST DEPENDENTS :told DEPTH 9",
    "SEARCH": 'SEARCH CONCEPT "Ada sesame"',
    "VERIFY RECEIPT": "VERIFY RECEIPT :receipt",
    "VERIFY SCHEMA PACKAGE": "VERIFY SCHEMA PACKAGE :artifact",
    "VERIFY CAPSULE": "VERIFY CAPSULE :capsule",
    "VALIDATE KQL": "VALIDATE KQL :find",
    "VALIDATE KML": "VALIDATE KML :create",
    "VALIDATE SCHEMA PACKAGE": "VALIDATE SCHEMA PACKAGE :artifact",
    "VALIDATE CAPSULE": "VALIDATE CAPSULE :capsule",
    "VALIDATE IMPORT PLAN": "VALIDATE IMPORT PLAN :plan WITH {capsule: :capsule}",
    "PREVIEW KML": "PREVIEW KML :create",
    "PREVIEW IMPORT CAPSULE": "PREVIEW IMPORT CAPSULE :capsule INTO :space",
    "EXPORT CAPSULE": "EXPORT CAPSULE ?x WHERE { ?x CONCEPT {} }",
    "HISTORY ELEMENT": "HISTORY ELEMENT :ada",
    "HISTORY SPACE": "HISTORY SPACE FROM SEQ 1 TO SEQ 1",
    "CHANGES AFTER SEQ": "CHANGES AFTER SEQ 0 LIMIT 2",
    "CHANGES SINCE": "CHANGES SINCE :{who}_cursor LIMIT 1",
}
SAYING_WHETHER_IT_WRITES = {name for name in STATEMENTS if name.startswith(("DESCRIBE PRIMER", "DESCRIBE ACCESS"))}
SAYING_WHETHER_IT_WRITES |= {"DESCRIBE CAPABILITIES", "DESCRIBE PROTOCOL"}
ARTIFACT = sealed({
    "format": "KIP-Schema-Package",
    "manifest": {"package_id": "kip://test/meta", "version": "1.0.0"},
    "definitions": {"concept_types": {"Odd": {"kind": "ConceptType", "description": "Odd."}}},
})  # fmt: skip


@dataclass(frozen=True)
class Memory:
    nexus: kipql.Nexus
    parameters: dict[str, Any]

    def principal(self, who: str) -> str | None:
        return None if who == "owner" else who

    def send(self, who: str, *texts: str, **members: Any) -> dict[str, Any]:
        """The reply, which left the memory as it was."""
        before = (self.nexus.space_seq, self.nexus.digest())
        operations = [{"command": text.replace("{who}", who), "parameters": self.parameters} for text in texts]
        if len(operations) > 1:
            members.setdefault("execution", {"mode": "independent"})
        reply = self.nexus.request({"kip": "2.0", "operations": operations, **members}, principal=self.principal(who))
        assert (self.nexus.space_seq, self.nexus.digest()) == before
        return reply

    def answer(self, who: str, text: str, **members: Any) -> Any:
        reply = self.send(who, text, **members)
        assert reply["status"] == "succeeded", reply
        return plain(reply["results"][0])


def plain(result: dict[str, Any]) -> Any:
    """What a result says, without what is another in every answer: opaque cursors, and the time that is left."""
    said = result["result"]
    if isinstance(said, dict) and isinstance(said.get("limits"), dict):
        said = {**said, "limits": {**said["limits"], "seconds": None}}
    return {**result, "result": said, "next_cursor": "next_cursor" in result}


@pytest.fixture(scope="module")
def memory() -> Memory:
    return remembering(STORY)


@pytest.fixture(scope="module")
def twin() -> Memory:
    return remembering(VISIBLE)


def remembering(story: str) -> Memory:
    """A memory of a story in which the same commits were made, whatever of it is there to be hidden."""
    moment = datetime(2026, 5, 1, tzinfo=UTC)
    nexus = kipql.open(clock=lambda: moment)
    told = {"execution": {"mode": "sequence", "idempotency_key": "told"}, "operations": [{"command": story}]}
    reply = nexus.request({"kip": "2.0", **told})
    named = {"ada": "C-1", "dummy": "C-2", "bob": "C-3", "told": "E-1", "sum": "E-2", "beyond": "E-3", "secret": "E-4"}
    hidden = [named[each] for each in HIDDEN if f"?{each} " in story]
    nexus.execute("MUTATE {" + " ".join(f'UPDATE "{each}" SET ATTRIBUTES {{x: 1}}' for each in hidden[:2]) + "}")
    nexus.govern.labels("public", "internal", "sesame")
    nexus.govern.classify(hidden, "sesame")
    nexus.govern.grant("reader", *READING, up_to="internal")
    source = kipql.open(clock=lambda: moment)
    source.execute(CREATE)
    receipt = reply["results"][0]["receipt"]
    cursors = {
        f"{who}_cursor": asking.query("CHANGES AFTER SEQ 0 LIMIT 1").next_cursor
        for who, asking in (("owner", nexus), ("reader", nexus.as_principal("reader")))
    }
    parameters = {
        **named,
        **cursors,
        "space": nexus.space_id,
        "package": "kip://profiles/cognitive-memory@2.0.0",
        "tx": receipt["tx_id"],
        "receipt": receipt,
        "artifact": ARTIFACT,
        "capsule": source.export_capsule(),
        "plan": {},
        "find": "FIND(?c) WHERE { ?c CONCEPT {} }",
        "create": CREATE,
    }
    return Memory(nexus, parameters)


def pairs() -> list[Any]:
    both = [(who, name) for name in STATEMENTS for who in ("owner", "reader")]
    # an outcome belongs to whom it was retained for, and one visible commit has no second page
    return [pair for pair in both if pair not in NOT_FOR_THE_READER]


NOT_FOR_THE_READER = {("reader", "DESCRIBE TRANSACTION BY IDEMPOTENCY KEY"), ("reader", "CHANGES SINCE")}


def test_the_table_holds_every_target_of_the_grammar() -> None:
    text = (ROOT / "grammar" / "meta.lark").read_text("utf-8")
    words = re.findall(r"[:|] +((?:[A-Z]{2,} ?)+)", text)
    targets = {" ".join(each.split()) for each in words}
    verbs = ("DESCRIBE", "LIST", "VERIFY", "VALIDATE", "PREVIEW", "EXPORT", "HISTORY", "CHANGES", "SEARCH")
    wanted = {each for each in targets if each.split()[0] in verbs}
    assert len(wanted) > 30
    missing = {each for each in wanted if not any(name.startswith(each.removesuffix(" FROM")) for name in STATEMENTS)}
    assert missing == set()


@pytest.mark.parametrize(("who", "name"), pairs())
@pytest.mark.parametrize("mode", MODES)
def test_it_answers_the_same_in_every_mode(memory: Memory, who: str, name: str, mode: str) -> None:
    text = STATEMENTS[name]
    alone = memory.answer(who, text)
    reply = memory.send(who, text, text, execution={"mode": mode})
    assert reply["status"] == "succeeded", reply
    assert [plain(each) for each in reply["results"]] == [alone, alone]
    assert "receipt" not in reply or reply["receipt"] is None  # a read commits nothing


@pytest.mark.parametrize(("who", "name"), pairs())
def test_options_change_no_answer(memory: Memory, who: str, name: str) -> None:
    text = STATEMENTS[name]
    alone = memory.answer(who, text)
    token = memory.send(who, "FIND(?c) WHERE { ?c CONCEPT {} }")["snapshot"]["snapshot_token"]
    for members in (
        {"options": {"dry_run": True}},
        {"options": {"deadline_ms": 60_000}},
        {"requires": {"list_dependents": True, "change_stream": True}},
        {"extensions": {"acme/x": {"critical": False}}},
        {"read": {"snapshot_token": token}},
        {"execution": {"mode": "sequence", "idempotency_key": f"{who} {name}"}},
        {"execution": {"mode": "atomic"}, "options": {"dry_run": True}},
    ):
        assert memory.answer(who, text, **members) == alone, members


@pytest.mark.parametrize("name", STATEMENTS)
@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"extra": 1}, "InvalidRequestEnvelope"),
        ({"options": {"fast": True}}, "InvalidRequestEnvelope"),
        ({"extensions": {"acme/x": {"critical": True}}}, "UnsupportedCapability"),
        ({"requires": {"signed_receipts": True}}, "UnsupportedCapability"),
        ({"requires": {"no_such_thing": True}}, "UnsupportedCapability"),
        ({"read": {"snapshot_token": "forged"}}, "HistoricalSnapshotUnavailable"),
        ({"kip": "1.0"}, "UnsupportedProtocolVersion"),
    ],
)
def test_a_request_that_asks_for_more_than_there_is_answers_nothing(
    memory: Memory, name: str, members: dict[str, Any], code: str
) -> None:
    reply = memory.send("owner", STATEMENTS[name], **members)
    found = reply.get("error") or reply["results"][0]["error"]
    assert (reply["status"], found["code"]) == ("failed", code)
    assert not any("result" in each for each in reply.get("results", ()))


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_label_makes_it_no_write_and_a_write_no_read(memory: Memory, name: str) -> None:
    operation = {
        "command": STATEMENTS[name].replace("{who}", "owner"),
        "parameters": memory.parameters,
        "language": "KML",
    }
    reply = memory.nexus.request({"kip": "2.0", "operations": [operation]})
    assert reply["results"][0]["error"]["code"] == "LanguageMismatch"


@pytest.mark.parametrize(("who", "name"), pairs())
def test_a_read_only_memory_answers_it(memory: Memory, who: str, name: str) -> None:
    """None of them is state-changing (§76); what tries a write out still writes nothing."""
    only = Memory(memory.nexus.readonly(), memory.parameters)
    result = only.answer(who, STATEMENTS[name])
    if name not in SAYING_WHETHER_IT_WRITES:
        assert result == memory.answer(who, STATEMENTS[name])


@pytest.mark.parametrize(("who", "name"), [pair for pair in pairs() if pair[0] == "reader"])
def test_nothing_that_is_hidden_is_in_an_answer(memory: Memory, who: str, name: str) -> None:
    if name.startswith(("DESCRIBE ACCESS", "VERIFY RECEIPT")):
        secret = ("Sesame", f'"{memory.parameters["bob"]}"')  # the label's own name is policy
    else:
        secret = ("Sesame", "sesame", f'"{memory.parameters["bob"]}"', f'"{memory.parameters["secret"]}"')
    text = json.dumps(memory.send(who, STATEMENTS[name]))
    assert not [each for each in secret if each in text]


TRYING_OUT = {"VALIDATE KML", "PREVIEW KML", "PREVIEW IMPORT CAPSULE", "VALIDATE IMPORT PLAN"}


@pytest.mark.parametrize(("who", "name"), pairs())
def test_behind_a_write_of_its_batch_it_sees_commits_or_says_that_it_can_not(
    memory: Memory, who: str, name: str
) -> None:
    """META is about what was committed; SEARCH grounds what comes next, so it sees the batch's own writes (§32.6, §79).
    What would try a write out is refused for good, not for a retry."""
    alone = memory.answer(who, STATEMENTS[name])
    reply = memory.send(who, CREATE, STATEMENTS[name], execution={"mode": "atomic"}, options={"dry_run": True})
    last = reply["results"][1]
    if name in TRYING_OUT:
        assert (last["error"]["code"], last["error"]["retry"]["class"]) == ("UnsupportedIsolation", "non_retryable")
        return
    three = memory.send(who, CREATE, STATEMENTS[name], CREATE, execution={"mode": "atomic"}, options={"dry_run": True})
    if name == "SEARCH":  # scores are of what is there, and one more is
        assert [hit["id"] for hit in three["results"][1]["result"]] == [hit["id"] for hit in alone["result"]]
        assert plain({**three["results"][1], "result": alone["result"]}) == alone
    else:
        assert plain(three["results"][1]) == alone


def test_a_search_sees_the_writes_of_its_batch(memory: Memory) -> None:
    texts = (CREATE, 'SEARCH CONCEPT "New"', "DESCRIBE PROTOCOL")
    for who in ("owner", "reader"):
        reply = memory.send(who, *texts, execution={"mode": "atomic"}, options={"dry_run": True})
        found = reply["results"][1]
        assert [hit["name"] for hit in found["result"]] == ["New"]
        assert found["context"]["snapshot_seq"] == memory.nexus.space_seq


# What is new in every memory: its lineage, with the digest over it; and ids to come, which have gaps.
_OWN = re.compile(r"sha256:[0-9a-f]{64}|\"source_lineage\": \"[0-9a-f]+\"|\"C-[34]\"")


@pytest.mark.parametrize("name", [name for who, name in pairs() if who == "reader"])
def test_an_answer_is_that_of_a_memory_that_never_held_the_rest(memory: Memory, twin: Memory, name: str) -> None:
    """Word for word, counters, sequences and cursors included (§30.4, §63.5)."""
    answers = [_OWN.sub("-", json.dumps(each.answer("reader", STATEMENTS[name]))) for each in (memory, twin)]
    assert answers[0] == answers[1]


def test_the_twin_is_another_memory_to_whom_nothing_is_hidden(memory: Memory, twin: Memory) -> None:
    told = {"DESCRIBE SPACE", "LIST DEPENDENTS", "SEARCH", "EXPORT CAPSULE", "HISTORY SPACE", "CHANGES AFTER SEQ"}
    differ = {
        name for name in told if memory.answer("owner", STATEMENTS[name]) != twin.answer("owner", STATEMENTS[name])
    }
    assert differ == told
