"""Who may only read writes nothing over HTTP: every kind of write, in every form that a request has for it."""

import asyncio
import json
from functools import cache

import pytest

import kipql
from kipql import lang
from kipql.lang import ast
from tests.fronts.test_serve_app import application, post

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("prometheus_client", reason="the extra serve is not installed")

READ = "FIND(?p.name) WHERE { ?p CONCEPT {} } LIMIT 1"
CLAIM = '("C-1", "prefers", "C-3") { by: "C-1", mode: "stated" }'
WRITES = {
    "create": 'CREATE CONCEPT ?a { TYPE "Person" NAME "Eve" }',
    "commented": '// FIND(?x) WHERE { ?x CONCEPT {} }\ncreate concept ?a { type "Person" name "Eve" };',
    "upsert": 'UPSERT CONCEPT ?a { MATCH {type: "Person", key: "new"} SET FIELDS {name: "Eve"} }',
    "upsert of what is there": 'UPSERT CONCEPT ?a { MATCH {type: "Person", key: "ada"} SET FIELDS {name: "Eve"} }',
    "evidence": 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "x"} }',
    "activity": 'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "import"} }',
    "proposition": 'ENSURE PROPOSITION ?p ("C-2", "prefers", "C-3")',
    "claim": f"ASSERT {CLAIM}",
    "update": 'UPDATE "C-1" SET FIELDS {name: "Eve"}',
    "update where": 'UPDATE ?c SET FIELDS {name: "Eve"} WHERE { ?c {type: "Person"} } LIMIT 1',
    "transition": 'TRANSITION "C-1" TO "archived"',
    "retention": 'SET RETENTION "C-1" {retention_class: "short"}',
    "purge": 'PURGE "C-4" REFERENCE POLICY "tombstone_reference" CONFIRM "PURGE"',
    "purge payload": 'PURGE PAYLOAD "E-1" CONFIRM "PURGE"',
    "merge": 'MERGE CONCEPT "C-2" INTO "C-1"',
    "predicate": 'DEFINE PREDICATE "resides_in" { description: "Where the subject lives." }',
    "type": 'DEFINE CONCEPT TYPE "Robot" { description: "A machine." }',
    "several": f'MUTATE {{ CREATE CONCEPT ?a {{ TYPE "Person" NAME "Eve" }} ASSERT {CLAIM} }}',
}
TOKEN = "reader-token-0123456789"


def memory(path=None):
    nexus = kipql.open(path)
    for kind, key in (("Person", "ada"), ("Person", "bo"), ("Insight", "tea"), ("Person", "gone")):
        text = f'CREATE CONCEPT ?a {{ TYPE "{kind}" NAME "{key}" SET FIELDS {{key: "{key}"}} }}'
        nexus.execute(text if kind == "Person" else text.replace("} }", '} SET ATTRIBUTES {summary: "hot"} }'))
    nexus.execute('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "tea, please"} }')
    nexus.execute('ASSERT ("C-1", "prefers", "C-3") { by: "C-1", mode: "stated", confidence: 0.5 }')
    return nexus


def shapes(write):
    """The requests that say a write, by name."""
    read, written = {"command": READ}, {"command": write}
    hidden = {"command": "PREVIEW KML :k", "parameters": {"k": write}}
    ingest = {"evidence": [{"key": "e", "evidence_class": "message", "payload": "x"}]}
    yield "alone", {"operations": [written]}
    yield "as a query", {"operations": [{**written, "language": "KQL"}]}
    yield "as KML", {"operations": [{**written, "language": "KML", "op_id": "w"}]}
    yield "as META", {"operations": [{**written, "language": "META"}]}
    yield "with a key", {"operations": [{**written, "idempotency_key": "k"}]}
    yield "dry", {"operations": [written], "options": {"dry_run": True}}
    yield "with a deadline", {"operations": [written], "options": {"deadline_ms": 5000}}
    yield "if nothing happened", {"operations": [written], "preconditions": {"space_seq": 7}}
    yield "with evidence", {"operations": [written], "ingest": ingest}
    yield "evidence beside a read", {"operations": [read], "ingest": ingest}
    yield "two in one text", {"operations": [{"command": f"{READ}; {write}"}]}
    yield "behind a read", {"operations": [{"command": f"{READ} {write}"}]}
    yield "as a parameter", {"operations": [{"command": READ, "parameters": {"unused": write}}]}
    yield "previewed", {"operations": [hidden]}
    yield "validated", {"operations": [{"command": "VALIDATE KML :k", "parameters": {"k": write}}]}
    yield "as a syntax tree", {"operations": [{"ast": {"kind": "CreateConcept"}, "command": write}]}
    for mode in ("independent", "sequence", "atomic"):
        batch = {"operations": [read, written, read], "execution": {"mode": mode}}
        yield f"in a batch, {mode}", batch
        yield f"in a batch with a key, {mode}", {**batch, "execution": {"mode": mode, "idempotency_key": "k"}}
        yield f"in a batch with a preview, {mode}", {**batch, "operations": [hidden, written]}
        yield f"twice, {mode}", {**batch, "operations": [written, written]}
    for claimed in ("kip:owner", "writer"):
        yield f"as {claimed}", {"operations": [written], "principal": claimed}
        yield f"for {claimed}", {"operations": [written], "context": {"principal": claimed}}


REFUSALS = {
    "ReadonlyViolation", "NotAuthorized", "LanguageMismatch", "InvalidSyntax", "InvalidRequestEnvelope",
    "UnsupportedCapability",
}  # fmt: skip
PREVIEW_IN_A_BATCH = "in a batch with a preview, atomic"
READS = {"as a parameter", "previewed", "validated"}  # nothing is asked to be written


def said(app, request):
    status, reply, _ = asyncio.run(post(app, json.dumps({"kip": "2.0", **request}).encode(), token=TOKEN))
    return status, reply


def files(folder):
    """What is on the disk of a memory, its locks aside."""
    found = (path for path in folder.rglob("*") if path.is_file() and "lock" not in path.name)
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(found)}


@cache
def kinds_written():
    trees = [lang.parse(text) for text in WRITES.values()]
    return {type(tree) for tree in trees} | {type(one) for tree in trees for one in getattr(tree, "statements", ())}


def test_the_writes_are_of_every_kind():
    kinds = {each for each in vars(ast).values() if isinstance(each, type) and issubclass(each, ast.Node)}
    writing = set()
    for kind in kinds:
        try:
            if lang.classify(kind.__new__(kind)) == "KML":
                writing.add(kind)
        except (kipql.KipError, AttributeError):
            continue
    assert len(writing) >= 12 and writing <= kinds_written()


@pytest.mark.parametrize("name", WRITES)
def test_each_of_the_writes_is_one_for_who_may(name):
    nexus = memory()
    reply = nexus.request({"kip": "2.0", "operations": [{"command": WRITES[name]}]})
    assert reply["status"] == "succeeded", reply
    assert nexus.space_seq == 7


@pytest.fixture(scope="module", params=["a Principal that may read", "a memory that is read-only"])
def reader(request, tmp_path_factory):
    """An application, the memory behind it, and its folder."""
    folder = tmp_path_factory.mktemp("reader") / "brain.kip"
    with memory(folder) as nexus:
        nexus.govern.grant("reader", "discover", "read", "search")
    only = request.param == "a memory that is read-only"
    with kipql.open(folder, readonly=only) as nexus:
        yield application(nexus, token=TOKEN, principal="kip:owner" if only else "reader"), nexus, folder


@pytest.mark.parametrize("name", WRITES)
def test_no_form_of_a_write_writes(reader, name):
    app, nexus, folder = reader
    before = nexus.digest(), nexus.space_seq, files(folder)
    for shape, request in shapes(WRITES[name]):
        status, reply = said(app, request)
        assert status == 200
        if shape not in READS:
            codes = [each["error"]["code"] for each in (reply, *reply["results"]) if "error" in each]
            known = REFUSALS | ({"UnsupportedIsolation"} if shape == PREVIEW_IN_A_BATCH else set())
            assert codes and set(codes) <= known, (shape, reply)
        assert reply.get("receipt") is None and not any("receipt" in each for each in reply["results"]), (shape, reply)
        assert (nexus.digest(), nexus.space_seq) == before[:2], shape
    assert files(folder) == before[2]
    status, reply = said(app, {"operations": [{"command": READ}]})
    assert (status, reply["status"]) == (200, "succeeded")
