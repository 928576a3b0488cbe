"""A client that knows only the wire schemas drives the engine over `kipql wire` (§70-§86)."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kipql as engine
from tests.cli.client import Client, Schemas, shapes

pytestmark = pytest.mark.shared

PEOPLE = """MUTATE {
  CREATE CONCEPT ?ada { TYPE "Person" NAME "Ada" SET FIELDS {key: "ada", aliases: ["Countess"]} }
  CREATE CONCEPT ?bo { TYPE "Person" NAME "Bo" SET FIELDS {key: "bo"} SET FACET "MnemonicState" {salience: 0.5} }
  CREATE CONCEPT ?paris { TYPE "Place" NAME "Paris" SET FIELDS {key: "paris"} }
  CREATE CONCEPT ?rome { TYPE "Place" NAME "Rome" SET FIELDS {key: "rome"} }
  CREATE EVIDENCE ?letter {
    CLIENT KEY "letter:1" SET FIELDS {evidence_class: "document", payload: "dear",
      observed_at: "2026-01-01T00:00:00.000Z"}
    SET STRUCTURAL { ("source", ?ada) }
  }
  ASSERT ?said (?ada, "lives_in", ?paris) {by: ?ada, mode: "stated", confidence: 0.9, evidence: ?letter,
    valid: {from: "2025-01-01T00:00:00.000Z"}}
  ASSERT (?ada, "lives_in", ?rome) {by: ?bo, mode: "observed", stance: "reject", confidence: 0.5}
  CREATE ACTIVITY ?review {
    SET FIELDS {activity_class: "review", status: "completed", ended_at: "2026-01-02T00:00:00.000Z"}
    SET STRUCTURAL { ("inputs", ?letter) ("outputs", ?said) ("associated_actors", ?bo) }
  }
}"""
COY = 'CREATE CONCEPT ?c { TYPE "Person" NAME "Coy" }'
COUNT = "FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }"
SLOT = 'FIND(?b) WHERE { ?b BELIEF SLOT ({type: "Person", key: "ada"}, "lives_in") }'
ADA = '{type: "Person", key: "ada"}'

READS = [
    "FIND(?x) WHERE { ?x CONCEPT {} }",
    "FIND(?x, ?x.name) WHERE { ?x CONCEPT {} }",
    "FIND(?x) WHERE { ?x PROPOSITION (?s, ?p, ?o) }",
    "FIND(?x) WHERE { ?x ASSERTION {} }",
    "FIND(?x) WHERE { ?x EVIDENCE {} }",
    "FIND(?x) WHERE { ?x ACTIVITY {} }",
    "FIND(?x) WHERE { ?x CONCEPT {} } AS OF SEQ 1",
    "FIND(?c.name, COUNT(?c)) WHERE { ?c CONCEPT {} } ORDER BY ?c.name LIMIT 1",
    "FIND(?c.facets, ?c.attributes, ?c._system) WHERE { ?c CONCEPT {} }",
    'FIND(?e, ?e.index) WHERE { ?e STRUCTURAL (?x, "source", ?y) }',
    'FIND(?c, ?c.retrieval.score) WHERE { ?c SEARCH CONCEPT "Ada" LIMIT 3 }',
    SLOT,
    f'{SLOT} FOR TIME "2024-01-01T00:00:00.000Z"',
    f'{SLOT} AS OF SEQ 1 WITH EPISTEMIC {{explanation: "ledger", purpose: "answer_user", risk: "low"}}',
    f'{SLOT} WITH EPISTEMIC {{explanation: "summary", policy: "kip:policy:baseline"}}',
    f'FIND(?b) WHERE {{ ?b BELIEF ({ADA}, "lives_in", {{type: "Place", key: "paris"}}) }}',
    f'FIND(?b) WHERE {{ ?b BELIEF ({ADA}, "lives_in", {ADA}) }} WITH EPISTEMIC {{explanation: "ledger"}}',
    'FIND(?b) WHERE { ?b BELIEF SLOT ({type: "Person", key: "bo"}, "lives_in") }',
]
META = [
    "DESCRIBE PRIMER", 'DESCRIBE PRIMER MODE "full"', "DESCRIBE PROTOCOL", "DESCRIBE CAPABILITIES", "DESCRIBE SPACE",
    "DESCRIBE SCHEMA ENVIRONMENT", "DESCRIBE SCHEMA ENVIRONMENT AS OF SEQ 0", 'DESCRIBE PACKAGE "kip://domains/general"',
    'DESCRIBE TYPE "Person"', 'DESCRIBE PREDICATE "lives_in"', 'DESCRIBE FACET "MnemonicState"',
    'DESCRIBE STRUCTURAL FIELD "has_step"', 'DESCRIBE ERROR "VersionConflict"', "DESCRIBE SNAPSHOT",
    'DESCRIBE COMPATIBILITY FROM "kip://domains/general" TO "kip://profiles/cognitive-memory"',
    "DESCRIBE SNAPSHOT AS OF SEQ 0", 'DESCRIBE SNAPSHOT AT TIME "2999-01-01T00:00:00.000Z"',
    "DESCRIBE EPISTEMIC POLICY",
    "DESCRIBE TRUST", "DESCRIBE ACCESS", 'DESCRIBE ACCESS WITH {element: "C-1"}', "LIST SPACES", "LIST TYPES",
    "LIST PREDICATES", "LIST FACETS", "LIST STRUCTURAL FIELDS", "LIST EPISTEMIC POLICIES", "LIST SCHEMA PACKAGES",
    'LIST DEPENDENTS "E-1" DEPTH 3', 'SEARCH CONCEPT "Countess"', 'SEARCH EVIDENCE "dear"', 'HISTORY ELEMENT "C-1"',
    "HISTORY SPACE", "CHANGES AFTER SEQ 0", "CHANGES AFTER SEQ 0 LIMIT 1", f"VALIDATE KQL \"{COUNT}\"",
    "VALIDATE KQL \"FIND(\"", "VALIDATE KML \"FIND(\"", "PREVIEW KML :text",
    "EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} }",
]  # fmt: skip
FAILURES = {
    "FIND(": "InvalidSyntax",
    'FIND(?c) WHERE { ?c {type: "Spaceship"} }': "SchemaSymbolNotFound",
    "FIND(?c) WHERE { ?c {name: :missing} }": "ReferenceError",
    'CREATE CONCEPT ?c { TYPE "Person" NAME 7 }': "TypeMismatch",
    'CREATE CONCEPT ?c { TYPE "Experience" }': "ConstraintViolation",
    'UPDATE "C-99" SET ATTRIBUTES {x: 1}': "NotFoundOrNotVisible",
    'UPDATE "C-1" SET ATTRIBUTES {x: 1} EXPECT VERSION 99': "VersionConflict",
    'UPDATE "A-1" SET STRUCTURAL { ("evidence", "E-1") }': "EpistemicRevisionRequired",
    'TRANSITION "C-1" TO "retracted"': "InvalidLifecycleTransition",
    'PURGE "C-1" CONFIRM "PURGE"': "PurgeDenied",
    f"{COUNT} AS OF SEQ 999": "HistoricalSnapshotUnavailable",
    'FIND(?c) WHERE { ?c {} } LIMIT 1 CURSOR "x"': "CursorInvalid",
    'SEARCH CONCEPT "Ada" MODE "semantic"': "SearchModeUnsupported",
    'DESCRIBE TRANSACTION "nope"': "TransactionUnknown",
    'FIND(?b) WHERE { ?b BELIEF (?s, "lives_in", ?o) }': "ProjectionTargetUnbounded",
    "DESCRIBE CAPSULE :text": "CapsuleValidationFailed",
    f"FIND(?c) WHERE {{ ?c CONCEPT {{}} FILTER({'(' * 90}true{')' * 90}) }}": "ResourceExhausted",
}


@pytest.fixture(scope="module")
def schemas(shared: Path) -> Schemas:
    return Schemas(shared / "kip" / "schemas")


@pytest.fixture(scope="module")
def client(schemas: Schemas, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A memory on disk behind the wire, with people, claims and provenance; and every line it says at the end."""
    folder = tmp_path_factory.mktemp("wire") / "memory"
    client = Client(schemas, "--db", str(folder), "--package", "kip://domains/general@1.0.0")
    assert client.ask(PEOPLE, mode="atomic")["status"] == "succeeded"
    yield client
    client.close()


def test_every_kind_of_read_has_its_shapes(client: Client) -> None:
    seen = Counter(name for command in READS for name, _ in shapes(client.result(command)))
    assert seen.keys() == {"element", "projection", "projection#/$defs/Slot", "projection#/$defs/ProjectionBasis"}
    kinds = {found["kind"] for reply in client.replies for name, found in shapes(reply) if name == "element"}
    assert len(kinds) == 5


def test_every_meta_statement_answers(client: Client) -> None:
    results = {command: client.result(command, text=COY) for command in META}
    assert any(name == "change-envelope" for name, _ in shapes(results["HISTORY SPACE"]))
    tx_id = results["HISTORY SPACE"][0]["tx_id"]
    assert client.result("DESCRIBE TRANSACTION :tx", tx=tx_id)["status"] == "committed"
    capsule = results["EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} }"]
    assert client.schemas.problems("capsule", capsule) == []
    assert client.result("VERIFY CAPSULE :c", c=capsule)["valid"]
    assert client.result("DESCRIBE CAPSULE :c", c=capsule)


@pytest.mark.parametrize(("command", "code"), FAILURES.items(), ids=FAILURES.values())
def test_a_failure_has_a_code_a_category_and_a_retry(client: Client, command: str, code: str) -> None:
    reply = client.ask({"command": command, "parameters": {"text": {}} if ":text" in command else {}})
    error = reply["results"][0]["error"]
    assert (reply["status"], error["code"]) == ("failed", code)
    assert error["retry"]["class"]
    assert client.result("DESCRIBE ERROR :code", code=code)["category"] == error["category"]


def test_the_three_modes(client: Client) -> None:
    independent = client.ask(COY, "FIND(", COUNT, mode="independent")
    assert independent["status"] == "partial"
    sequence = client.ask(COY, "FIND(", COUNT, mode="sequence")
    assert [result["status"] for result in sequence["results"]] == ["succeeded", "failed", "skipped"]
    assert "receipt" in sequence["results"][0]
    aborted = client.ask(COY, "FIND(", COUNT, mode="atomic")
    assert [result["status"] for result in aborted["results"]] == ["rolled_back", "failed", "skipped"]
    atomic = client.ask(COY, COUNT, mode="atomic", request_id="r-1")
    assert (atomic["receipt"]["status"], atomic["request_id"]) == ("committed", "r-1")
    late = client.ask(COY, 'UPDATE "C-1" SET ATTRIBUTES {x: 1} EXPECT VERSION 99', mode="atomic")
    assert late["status"] == "failed"


def test_ingestion_dry_runs_and_writes_of_every_kind(client: Client) -> None:
    seen = {"key": "msg", "evidence_class": "user_statement", "payload": {"text": "I moved."}, "client_key": "m:1"}
    seen["observed_at"] = "2026-02-01T00:00:00.000Z"
    cited = 'ASSERT (:ada, "lives_in", {type: "Place", key: "rome"}) {by: :ada, mode: "stated", evidence: :msg}'
    operation = {"command": cited, "parameters": {"ada": {"id": "C-1"}}}
    foreseen = client.ask(operation, options={"dry_run": True}, ingest={"evidence": [seen]})
    assert foreseen["results"][0]["result"]["effect"] == "changes"
    assert client.ask(operation, ingest={"evidence": [seen]})["status"] == "succeeded"
    for text in (
        'UPSERT CONCEPT ?u { MATCH {type: "Person", key: "ada"} SET FIELDS {name: "Ada L."} }',
        'UPDATE "C-2" SET FACET "MnemonicState" {salience: 0.7}',
        'UPDATE "C-2" SET FACET "MnemonicState" {salience: 0.7}',
        'SET RETENTION "C-2" {retention_class: "standard"}',
        'ENSURE PROPOSITION ({id: "C-2"}, "lives_in", {id: "C-4"})',
        'TRANSITION "A-1" TO "archived"',
        'TRANSITION "C-4" TO "tombstoned"',
        f"MUTATE {{ {COY} }}",
        'DEFINE PREDICATE "mentors" {description: "The subject mentors the object."}',
        'CREATE CONCEPT ?d { TYPE "Person" NAME "Double" SET FIELDS {key: "double"} }',
        'MERGE CONCEPT ?s INTO ?t WHERE { ?s {key: "double"} ?t {key: "bo"} }',
        'CREATE EVIDENCE ?g { CLIENT KEY "gone" SET FIELDS {evidence_class: "note", payload: "x", '
        'observed_at: "2026-01-01T00:00:00.000Z"} }',
        'PURGE PAYLOAD ?e WHERE { ?e EVIDENCE {client_key: "gone"} } CONFIRM "PURGE"',
        "FIND(?x) WHERE { ?x EVIDENCE {} }",
        'PURGE ?e WHERE { ?e EVIDENCE {client_key: "gone"} } CONFIRM "PURGE"',
    ):
        reply = client.ask(text)
        assert reply["results"][0]["status"] in ("succeeded", "no_effect"), reply
    for text in ("HISTORY SPACE", "CHANGES AFTER SEQ 0", *READS):
        client.result(text)
    ops = {entry["op"] for envelope in client.result("HISTORY SPACE") for entry in envelope["changes"]}
    assert ops == {"create", "update", "lifecycle", "retention", "merge", "purge", "payload_purge"}


def test_an_idempotent_resend_is_the_first_outcome(client: Client) -> None:
    execution = {"idempotency_key": "wire:1"}
    first = client.ask(COY, mode="atomic", execution=execution)
    again = client.ask(COY, mode="atomic", execution=execution)
    assert (again["receipt"], again["execution"]["idempotency_key"]) == (first["receipt"], "wire:1")
    conflict = client.ask(COUNT.replace("FIND", "FIND"), f"MUTATE {{ {COY} }}", mode="atomic", execution=execution)
    assert "IdempotencyConflict" in str(conflict)
    assert client.result('DESCRIBE TRANSACTION BY IDEMPOTENCY KEY "wire:1"')["tx_id"] == first["receipt"]["tx_id"]


@pytest.mark.parametrize(
    "text",
    [
        "FIND(?c.name) WHERE { ?c CONCEPT {} } ORDER BY ?c.name LIMIT 2",
        "LIST TYPES LIMIT 5",
        "HISTORY SPACE LIMIT 2",
        'SEARCH CONCEPT "Coy" LIMIT 1',
    ],
)
def test_pages_make_the_whole(client: Client, text: str) -> None:
    client.ask(COY, mode="atomic")
    client.ask(COY, mode="atomic")
    whole = client.result(text.rpartition(" LIMIT")[0])
    reply, rows = client.ask(text), []
    while True:
        rows += reply["results"][0]["result"]
        cursor = reply["results"][0].get("next_cursor")
        if cursor is None:
            break
        reply = client.ask({"command": f"{text} CURSOR :cursor", "parameters": {"cursor": cursor}})
    assert rows == whole


def test_changes_go_on_from_a_cursor_and_a_token_reads_again(client: Client) -> None:
    reply = client.ask("CHANGES AFTER SEQ 0 LIMIT 1")
    cursor, token = reply["results"][0]["next_cursor"], reply["snapshot"]["snapshot_token"]
    assert client.result("CHANGES SINCE :c", c=cursor)[0]["space_seq"] == 2
    counted = client.result(COUNT)
    client.ask(COY)
    read = {"snapshot_token": token}
    assert client.ask(COUNT, read=read)["results"][0]["result"] == counted


REFUSED: list[dict[str, Any]] = [
    {"space": {"id": "nowhere"}},
    {"requires": {"streaming": True}},
    {"preconditions": {"space_seq": 0}},
    {"extensions": {"acme/x": {"critical": True}}},
    {"compatibility_profile": "kip-1-compat"},
    {"read": {"snapshot_token": "forged"}},
]


@pytest.mark.parametrize("members", REFUSED, ids=lambda members: next(iter(members)))
def test_a_request_is_refused_as_a_whole(client: Client, members: dict[str, Any]) -> None:
    reply = client.ask(COUNT, **members)
    assert (reply["status"], reply["results"]) == ("failed", [])
    assert reply["error"]["code"]


@pytest.mark.parametrize(
    "line",
    [
        *(b"{", b"7", b"null", b"{}", b"\xff\xfe", b'{"kip": NaN}', '{"kip": "2.0"}'.encode("utf-16-le")),
        b'{"kip": "1.0", "operations": [{"command": "x"}]}',
    ],
)
def test_a_line_that_is_no_request_has_a_response_too(client: Client, line: bytes) -> None:
    assert client.send(line)["error"]["code"] in ("InvalidRequestEnvelope", "UnsupportedProtocolVersion")


def test_a_governed_principal_sees_its_part_in_the_same_shapes(schemas: Schemas, tmp_path: Path) -> None:
    with engine.open(tmp_path / "m", packages=["kip://domains/general@1.0.0"]) as nexus:
        nexus.execute(PEOPLE)
        nexus.govern.labels("open", "secret")
        nexus.govern.classify("C-2", "secret")
        nexus.govern.grant("bob", "discover", "read", "search", "project", "read_history", up_to="open")
    client = Client(schemas, "--db", str(tmp_path / "m"), "--principal", "bob")
    assert client.result("FIND(?c.name) WHERE { ?c CONCEPT {} } ORDER BY ?c.name") == ["Ada", "Paris", "Rome"]
    client.result("FIND(?x) WHERE { ?x EVIDENCE {} }")
    for command in (*READS, *META):
        client.ask({"command": command, "parameters": {"text": COY}})
    assert client.ask(COY)["results"][0]["error"]["code"] == "NotAuthorized"
    assert '"Bo"' not in str(client.replies)
    client.close()


def test_a_read_only_wire_refuses_to_write(schemas: Schemas, tmp_path: Path) -> None:
    engine.open(tmp_path / "m").close()
    client = Client(schemas, "--db", str(tmp_path / "m"), "--readonly")
    assert client.ask(COY)["results"][0]["error"]["code"] == "ReadonlyViolation"
    assert client.result("PREVIEW KML :text", text=COY)["effect"] == "changes"
    client.close()
