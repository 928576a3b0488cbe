"""Every error code is raised through the public API, or stands here with the reason why it never is (§87)."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql.errors import CODES
from kipql.schema.authoring import sealed
from tests.shared import ROOT

PROFILE = "kip://profiles/cognitive-memory@2.0.0"
PERSON = 'CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" SET FIELDS {key: "ada"} }'
NAMES = "FIND(?c.name) WHERE { ?c CONCEPT {} } ORDER BY ?c.name LIMIT 1"
Raiser = Callable[[Path], object]


class Replied(Exception):
    """A wire response that failed with a code."""


def memory(*statements: str, **options: Any) -> kipql.Nexus:
    nexus = kipql.open(packages=["kip://domains/general@1.0.0"], **options)
    for statement in (PERSON, *statements):
        nexus.execute(statement)
    return nexus


def run(*statements: str, **parameters: object) -> Raiser:
    """Execute statements after Ada was made; the last one fails."""

    def act(_: Path) -> object:
        *before, last = statements
        return memory(*before).execute(last, parameters)

    return act


def ask(**members: Any) -> Raiser:
    """Send a request."""

    def act(_: Path) -> object:
        nexus = memory()
        return raised(nexus.request({"kip": "2.0", "operations": [{"command": NAMES}], **members}))

    return act


def raised(reply: dict[str, Any]) -> None:
    error = reply.get("error") or next(result["error"] for result in reply["results"] if "error" in result)
    raise Replied(error["code"])


def package(version: str = "1.0.0", path: str = "one", **members: Any) -> dict[str, Any]:
    definitions = {"concept_types": {"Thing": {"kind": "ConceptType", "attributes": {"open": True}}}}
    return {"manifest": {"package_id": f"kip://test/{path}", "version": version}, "definitions": definitions, **members}


def ambiguous(_: Path) -> object:
    nexus = kipql.open(packages=[package(), package(path="two")])
    return nexus.execute('CREATE CONCEPT ?t { TYPE "Thing" }')


def governed(*rules: tuple[str, ...], statements: tuple[str, ...] = ()) -> kipql.Nexus:
    nexus = memory(*statements)
    for rule in rules:
        nexus.govern.grant("bob", *rule)
    return nexus.as_principal("bob")


READS, WRITES = ("discover", "read"), ("discover", "read", "create", "record_attributed_assertion")
KNOWS = 'ASSERT ({id: "C-1"}, "interested_in", {type: "Topic", key: "t"}) {by: {id: "C-1"}, mode: "stated"}'
TOPIC = 'CREATE CONCEPT ?t { TYPE "Topic" SET FIELDS {key: "t"} }'
NOTE = 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "note", payload: "x"} }'
REVIEW = 'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "review", status: "completed"} }'


def approval(_: Path) -> object:
    nexus = memory()
    nexus.govern.grant("bob", *READS, "create")
    nexus.govern.require_approval("create")
    return nexus.as_principal("bob").execute(NOTE)


def reserved(_: Path) -> object:
    bob = governed(WRITES, statements=(TOPIC,))
    owner = bob.as_principal(bob.govern.owner)
    owner.govern.reserve("C-1")
    return bob.execute(KNOWS)


def retraction(_: Path) -> object:
    bob = governed((*WRITES, "update", "retract_own"), statements=(TOPIC, KNOWS))
    return bob.execute('TRANSITION "A-1" TO "retracted"')


def idempotency(_: Path) -> object:
    nexus = memory()
    for text in (NOTE, TOPIC):
        reply = nexus.request(
            {
                "kip": "2.0",
                "operations": [{"command": text}],
                "execution": {"mode": "atomic", "idempotency_key": "k"},
            }
        )
    return raised(reply)


def nested(_: Path) -> object:
    nexus = memory()
    with nexus.transaction():
        return nexus.execute(NOTE)


def too_large(path: Path) -> object:
    with kipql.open(path / "m", limits=kipql.Limits(frame=1_000)) as nexus:
        return nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME :name }', {"name": "x" * 4_000})


def unsynced(path: Path) -> object:
    from kipql.store.files import Files

    with kipql.open(path / "m") as nexus, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Files, "fsync", fail_to_sync)
        return nexus.execute(PERSON)


def fail_to_sync(*_: object) -> None:
    raise OSError("the disk is gone")


def cursor_of(text: str, nexus: kipql.Nexus) -> str:
    cursor = nexus.query(text).next_cursor
    assert cursor is not None
    return cursor


def other_query(_: Path) -> object:
    nexus = memory(TOPIC)
    return nexus.query(NAMES.replace("ORDER BY ?c.name", "") + " CURSOR :c", {"c": cursor_of(NAMES, nexus)})


def other_family(_: Path) -> object:
    nexus = memory(TOPIC)
    return nexus.query("LIST TYPES LIMIT 1 CURSOR :c", {"c": cursor_of(NAMES, nexus)})


def erased(_: Path) -> object:
    nexus = memory(TOPIC, 'CREATE CONCEPT ?b { TYPE "Person" NAME "Ada" }')
    cursor = cursor_of('SEARCH CONCEPT "Ada" LIMIT 1', nexus)
    nexus.execute('PURGE "C-3" CONFIRM "PURGE"')
    return nexus.query('SEARCH CONCEPT "Ada" LIMIT 1 CURSOR :c', {"c": cursor})


def broken_embedder(_: Path) -> object:
    def embed(_: object) -> Any:
        raise OSError("the model is gone")

    return memory(embedder=embed).query('SEARCH CONCEPT "Ada" MODE "semantic"')


def cancelled(_: Path) -> object:
    flag = threading.Event()
    flag.set()
    nexus = memory()
    nexus.load([{"kind": "concept", "type": "Person", "name": str(number)} for number in range(5_000)])
    return nexus.query('FIND(COUNT(?a)) WHERE { ?a CONCEPT {} FILTER(CONTAINS(?a.name, "7")) }', cancel=flag)


def digest(_: Path) -> object:
    whole = sealed({"format": "KIP-Schema-Package", **package()})
    return kipql.open(packages=[{**whole, "aliases": {}}])


def damaged(path: Path) -> object:
    with kipql.open(path / "m") as nexus:
        nexus.execute(PERSON)
        nexus.execute(NOTE)
    journal = next((path / "m" / "spaces").rglob("journal*"))
    held = bytearray(journal.read_bytes())
    held[len(held) // 2] ^= 0xFF
    journal.write_bytes(held)
    return kipql.open(path / "m")


def newer(path: Path) -> object:
    kipql.open(path / "m").close()
    (path / "m" / "nexus" / "memory.json").write_text('{"format": "kipql-memory", "version": 999}')
    return kipql.open(path / "m")


def locked(path: Path) -> object:
    with kipql.open(path / "m"):
        return kipql.open(path / "m")


def closed(_: Path) -> object:
    nexus = memory()
    nexus.close()
    return nexus.query(NAMES)


def not_a_memory(path: Path) -> object:
    (path / "m").mkdir()
    (path / "m" / "letter.txt").write_text("dear")
    return kipql.open(path / "m")


def other_plan(_: Path) -> object:
    source, target = memory(), memory()
    capsule = source.export_capsule()
    plan = target.preview_import(capsule)["plan"]
    return target.import_capsule(capsule, {**plan, "space_id": "kip:space:elsewhere"})


def elsewhere(_: Path) -> object:
    payload = f'payload: {{mode: "external", content_ref: "urn:scan"}}, content_digest: "sha256:{"0" * 64}"'
    nexus = memory(f'CREATE EVIDENCE ?e {{ SET FIELDS {{evidence_class: "scan", {payload}}} }}')
    return nexus.query("EXPORT CAPSULE ?e WHERE { ?e EVIDENCE {} } WITH {include_blobs: true}")


RAISED: dict[str, Raiser] = {
    # protocol and syntax
    "InvalidSyntax": run("FIND("),
    "InvalidIdentifier": run('DEFINE CONCEPT TYPE "two words" {description: "x"}'),
    "DuplicateLocalHandle": run(f"MUTATE {{ {NOTE} {NOTE} }}"),
    "InvalidRequestEnvelope": ask(actor="me"),
    "LanguageMismatch": ask(operations=[{"command": NAMES, "language": "KML"}]),
    "ReadonlyViolation": lambda _: memory().readonly().execute(NOTE),
    "DuplicateMutationTarget": run('MUTATE { UPDATE "C-1" SET ATTRIBUTES {x: 1} UPDATE "C-1" SET ATTRIBUTES {x: 2} }'),
    "UnsupportedProtocolVersion": ask(kip="1.0"),
    "UnsupportedCapability": ask(requires={"streaming": True}),
    "UnsupportedIsolation": ask(execution={"mode": "atomic", "isolation": "snapshot"}),
    # schema
    "SchemaSymbolNotFound": run('CREATE CONCEPT ?s { TYPE "Spaceship" }'),
    "SchemaSymbolAmbiguous": ambiguous,
    "SchemaSymbolConflict": run('DEFINE CONCEPT TYPE "Person" {description: "x"}'),
    "SchemaFieldNotFound": run('UPDATE "C-1" SET FIELDS {nickname: "x"}'),
    "TypeMismatch": run('CREATE CONCEPT ?c { TYPE "Person" NAME 7 }'),
    "ConstraintViolation": run('CREATE CONCEPT ?c { TYPE "Experience" }'),
    "SchemaPackageUnavailable": lambda _: kipql.open(packages=["kip://nobody/nothing@1.0.0"]),
    # identity and reference
    "NotFoundOrNotVisible": run('UPDATE "C-9" SET ATTRIBUTES {x: 1}'),
    "ReferenceError": run("FIND(?c) WHERE { ?c {name: :missing} }"),
    "IdentitySelectorRequired": run(
        TOPIC, 'ENSURE PROPOSITION ({type: "Person", name: "Ada"}, "interested_in", {type: "Topic", key: "t"})'
    ),
    "IdentityConflict": run(PERSON),
    "ClientKeyConflict": run(*(f'CREATE CONCEPT ?c {{ TYPE "Person" CLIENT KEY "k" NAME "{name}" }}' for name in "ab")),
    "IdentityMergeConflict": run(TOPIC, 'MERGE CONCEPT "C-1" INTO "C-2"'),
    # epistemic and mutability
    "ImmutableField": run('UPDATE "C-1" SET FIELDS {schema_ref: "x"}'),
    "EpistemicRevisionRequired": run(TOPIC, KNOWS, 'UPDATE "A-1" SET STRUCTURAL { ("evidence", "C-1") }'),
    "EvidenceCorrectionRequired": run(NOTE, 'UPDATE "E-1" SET STRUCTURAL { ("source", "C-1") }'),
    "InvalidLifecycleTransition": run('TRANSITION "C-1" TO "retracted"'),
    "SupersessionMismatch": run(
        TOPIC, KNOWS, KNOWS.replace('by: {id: "C-1"}', 'by: {id: "C-2"}'), 'TRANSITION "A-1" TO "superseded" BY "A-2"'
    ),
    "EvidenceCorrectionConflict": run(NOTE, 'TRANSITION "E-1" TO "corrected" BY "E-1"'),
    "ActivityTerminal": run(REVIEW, 'UPDATE "X-1" SET STRUCTURAL { ("inputs", "C-1") }'),
    "ProjectionTargetUnbound": run("FIND(?b) WHERE { ?b BELIEF (?nobody) }"),
    "ProjectionTargetUnbounded": run('FIND(?b) WHERE { ?b BELIEF (?s, "interested_in", ?o) }'),
    "ProjectionPolicyUnavailable": run('DESCRIBE EPISTEMIC POLICY "nobody:none"'),
    "RetractionNotAuthorized": retraction,
    "ProjectionNotAuthorized": lambda _: governed(READS).query(
        'FIND(?b) WHERE { ?b BELIEF SLOT ({type: "Person", key: "ada"}, "interested_in") }'
    ),
    # governance
    "Unauthenticated": lambda _: memory().as_principal(""),
    "NotAuthorized": lambda _: governed(READS).execute(NOTE),
    "RequiresApproval": approval,
    "ActorBindingRequired": reserved,
    "LegalHoldConflict": run('SET RETENTION "C-1" {legal_hold: true}', 'PURGE "C-1" CONFIRM "PURGE"'),
    "PurgeDenied": run(TOPIC, KNOWS, 'PURGE "C-1" CONFIRM "PURGE"'),
    # transactions
    "VersionConflict": run('UPDATE "C-1" SET ATTRIBUTES {x: 1} EXPECT VERSION 7'),
    "PreconditionFailed": ask(preconditions={"space_seq": 99}),
    "SerializationConflict": nested,
    "IdempotencyConflict": idempotency,
    "TransactionTooLarge": too_large,
    "TransactionUnknown": run('DESCRIBE TRANSACTION "tx-none"'),
    "OutcomeUnknown": unsynced,
    # history and cursors
    "HistoricalSnapshotUnavailable": run(f"{NAMES.replace(' ORDER BY ?c.name LIMIT 1', '')} AS OF SEQ 99"),
    "CursorExpired": erased,
    "CursorMismatch": other_query,
    "CursorTypeMismatch": other_family,
    "CursorInvalid": run(f'{NAMES} CURSOR "made-up"'),
    # search
    "SearchModeUnsupported": run('SEARCH CONCEPT "Ada" MODE "semantic"'),
    "SearchIndexUnavailable": broken_embedder,
    # artifacts
    "DigestMismatch": digest,
    "ArtifactParseError": run("VERIFY SCHEMA PACKAGE :p", p={"manifest": 1}),
    "ArtifactTooLarge": lambda _: kipql.open(limits=kipql.Limits(rows=0)).import_capsule(memory().export_capsule()),
    "CapsuleValidationFailed": run("DESCRIBE CAPSULE :c", c={}),
    "BlobUnavailable": elsewhere,
    "ImportPreviewConflict": other_plan,
    # resources
    "ResourceExhausted": run(f"FIND(?c) WHERE {{ ?c CONCEPT {{}} FILTER({'(' * 100}true{')' * 100}) }}"),
    "ExecutionTimeout": cancelled,
    # the memory on disk
    "NotAMemory": not_a_memory,
    "MemoryDamaged": damaged,
    "MemoryFormatUnsupported": newer,
    "MemoryLocked": locked,
    "MemoryUnavailable": closed,
}

NEVER: dict[str, str] = {
    "SchemaEnvironmentChanged": "one writer at a time: the Environment can not move under a transaction",
    "HistoricalSchemaUnavailable": "the Environment of every sequence is kept",
    "StructuralReferenceInvalid": "a Structural Reference that its field does not admit is a ConstraintViolation",
    "NameIdentityForbidden": "a selector by name is InvalidSyntax in MATCH and IdentitySelectorRequired at an endpoint",
    "ProtectedSystemField": "a statement that names _system in SET FIELDS is InvalidSyntax",
    "ProtectedGovernanceField": "a statement that names governance in SET FIELDS is InvalidSyntax",
    "ProtectedSchemaState": "no statement names the Schema Environment; packages are installed by the host",
    "RequiresStrongerAuthentication": "the host authenticates, and no policy here asks how",
    "HistoricalSearchUnavailable": "postings answer at every sequence",
    "ProofInvalid": "nothing is signed: signed_receipts and capsule_signatures are not supported",
    "SignerUnknown": "nothing is signed: signed_receipts and capsule_signatures are not supported",
    "ArtifactUnavailable": "artifact handles are not supported; the command line says it of a file that is not there",
    "ResultLimitExceeded": "at a limit of rows the answer is ResourceExhausted, which names the limit",
    "RateLimited": "an embedded engine has no rate to limit; `kipql serve` says it when too many requests wait",
    "InternalError": "a defect, and then a test of its own",
}


@pytest.mark.parametrize("code", RAISED)
def test_a_code_is_raised_where_its_rule_is_broken(code: str, tmp_path: Path) -> None:
    with pytest.raises((kipql.KipError, Replied)) as caught:
        RAISED[code](tmp_path)
    found = caught.value
    assert (found.code if isinstance(found, kipql.KipError) else str(found)) == code


def test_every_code_is_raised_here_or_says_why_it_is_not() -> None:
    assert sorted([*RAISED, *NEVER]) == sorted(CODES)


def test_a_code_that_is_never_raised_stands_in_no_engine_file() -> None:
    """InternalError is the answer to a defect; ArtifactUnavailable is said outside the engine, by what reads files."""
    outside = {"audit", "fronts", "importers", "cli", "memory", "repl"}
    for path in sorted((ROOT / "kipql").rglob("*.py")):
        if path.name in ("errors.py", "texts.py") or path.relative_to(ROOT).parts[1] in outside:
            continue
        text = path.read_text(encoding="utf-8")
        assert [code for code in NEVER if code != "InternalError" and f'"{code}"' in text] == [], path


def test_every_code_has_an_entry_in_the_documentation() -> None:
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    assert [code for code in CODES if f"### {code}\n" not in text] == []
