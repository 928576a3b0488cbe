"""Scenarios of forgetting: what an encoding left out, what an erasure left behind."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

import kipql
from tests.conformance.vectors.registry import observe
from tests.conformance.vectors.scene import Scene, scene
from tests.shared import shared_path


def record_schema(name: str) -> Draft202012Validator:
    folder = shared_path("kip/schemas")
    if folder is None:
        pytest.skip("shared: absent")
    schemas = [json.loads(path.read_text()) for path in folder.glob("*.json")]
    registry: Registry = Registry().with_resources((each["$id"], Resource.from_contents(each)) for each in schemas)
    return Draft202012Validator({"$ref": f"urn:kip:2.0:schema:cognitive-records#/$defs/{name}"}, registry=registry)


def plan(given: Scene, source: str, *copies: Scene) -> dict[str, Any]:
    """What a host knows of forgetting a source: its payload, all that was derived from it, its copies elsewhere.

    The statement that erases is the engine's; that a plan is only `completed` when nothing is left is the rule of
    §60.7, and the published schema holds a plan to it.
    """
    dependents = [row["id"] for row in given.rows("LIST DEPENDENTS :id DEPTH 9", id=source) if row["id"][0] != "X"]
    targets = [
        *((source, "payload", given), *((ref, "summary", given) for ref in dependents)),
        *((source, "backup", copy) for copy in copies),
    ]
    listed = [{"ref": ref, "surface": surface, "state": _surface(seen, ref)} for ref, surface, seen in targets]
    states = {each["state"] for each in listed}
    status = "completed" if states == {"erased"} else "blocked" if "held" in states else "partial"
    found = {
        "scope": "semantic_forgetting", "basis_seq": given.nexus.space_seq, "source_event_refs": [source],
        "targets": listed, "external_exports": [], "status": status, "receipts": [],
    }  # fmt: skip
    record_schema("ErasurePlan").validate(found)
    return found


def _surface(seen: Scene, ref: str) -> str:
    kind = "EVIDENCE" if ref[0] == "E" else "CONCEPT"
    here = seen.rows(f"FIND(?x) WHERE {{ ?x {kind} {{id: :id}} }}", id=ref)
    if not here:
        return "erased"
    if here[0]["retention"]["legal_hold"]:
        return "held"
    return "erased" if here[0].get("payload") == {"mode": "purged"} else "pending"


ENCODE = """MUTATE {
  CREATE CONCEPT ?summary { TYPE "mem/Event" SET ATTRIBUTES {summary: :summary} }
  CREATE ACTIVITY ?encoding {
    SET FIELDS {activity_class: "experience_formation", status: "completed"}
    SET FACET "mem/CompressionRecord" {
      source_refs: [:source], extractor_version: :version, schema_version: "2.0", preserved_fields: ["topic"],
      known_omissions: :omitted, reencoding_eligible: true }
    SET STRUCTURAL { ("inputs", :source) ("outputs", ?summary) }
  }
}"""


SECRET = "Dinner at seven, and the door code is 4711."


REMEMBER = """CREATE EVIDENCE ?e { CLIENT KEY "message:17"
  SET FIELDS {evidence_class: "message", payload: :payload} }"""


def test_mem_010_what_an_encoding_left_out_and_what_forgetting_left_behind_is_said() -> None:
    given = scene()
    source = given.do(REMEMBER, payload=SECRET)["e"]
    made = given.do(ENCODE, source=source, summary="dinner at seven", version="1", omitted=["door code"])
    (record,) = given.element(made["encoding"])["facets"].values()
    assert record["known_omissions"] == ["door code"] and record["extractor_version"] == "1"
    again = given.do(
        ENCODE, source=source, summary=given.element(source)["payload"]["inline"][-5:-1], version="2", omitted=[]
    )
    assert given.element(again["summary"])["attributes"]["summary"] == "4711"

    # A recall says of each channel whether it was completed; it fits a Skill in at the price of no constraint.
    channels = {name: {"completed": True, "truncated": False} for name in CHANNELS}
    coverage = {
        "basis": given.slot(given.ids["alice"], "test/timezone")["basis"],
        "channels": {**channels, "constraints": {"completed": False, "truncated": True}},
        "unverified_preconditions": [],
        "action_eligible": False,
    }
    text = """CREATE ACTIVITY ?x { SET FIELDS {activity_class: "recall_coverage", status: "completed"}
      SET FACET "mem/RecallCoverage" {basis: :basis, channels: :channels,
        unverified_preconditions: :unverified_preconditions, action_eligible: :action_eligible} }"""
    (stored,) = given.element(given.do(text, **coverage)["x"])["facets"].values()
    less = {name: each for name, each in channels.items() if name != "constraints"}
    assert given.refused(text, **{**coverage, "channels": less}) == "ConstraintViolation"

    given.do('PURGE PAYLOAD :e CONFIRM "PURGE"', e=source)
    partial = plan(given, source)
    retained = given.rows('FIND(?s.attributes.summary) WHERE { ?s {type: "mem/Event"} } ORDER BY ?s.id')
    given.do("SET RETENTION :s {legal_hold: true}", s=made["summary"])
    purge = 'PURGE :s REFERENCE POLICY "authorized_cascade" CONFIRM "PURGE"'
    assert given.refused(purge, s=made["summary"]) == "LegalHoldConflict"
    assert plan(given, source)["status"] == "blocked"
    given.do("SET RETENTION :s {legal_hold: false}", s=made["summary"])
    for each in (made, again):
        given.do(purge, s=each["summary"])
    assert plan(given, source)["status"] == "completed"
    given.do('PURGE :e REFERENCE POLICY "tombstone_reference" CONFIRM "PURGE"', e=source)
    before = given.nexus.digest()
    assert given.write(REMEMBER, payload=SECRET).status == "no_effect"
    assert given.nexus.digest() == before
    observe(
        "MEM-010",
        forgetting_status=partial["status"],
        coverage_disclosed=stored["channels"]["constraints"] == {"completed": False, "truncated": True},
        retained_summary_exists=retained == ["dinner at seven", "4711"],
    )


CHANNELS = ("constraints", "commitments", "dependencies", "failures", "experiences", "skills", "evidence")


def test_mem_024_forgetting_reaches_replay_inputs_and_backups(tmp_path: Path) -> None:
    given = scene(path=tmp_path / "m")
    replay = given.do(REMEMBER, payload={"samples": [SECRET]})["e"]
    verdict = given.do(
        """CREATE ACTIVITY ?v { SET FIELDS {activity_class: "derivation_review", status: "completed"}
          SET STRUCTURAL { ("inputs", :e) } }""",
        e=replay,
    )["v"]
    before = given.nexus.space_seq
    given.nexus.backup(tmp_path / "backup")
    backup = Scene(kipql.open(tmp_path / "backup", clock=given.clock), given.clock, given.ids)
    erase = 'PURGE PAYLOAD :e CONFIRM "PURGE"'
    given.do(erase, e=replay)
    early = plan(given, replay, backup)["status"]
    backup.do(erase, e=replay)
    assert plan(given, replay, backup)["status"] == "completed"

    # Of the evaluation the record stands; its inputs say that they are gone, in the past as well.
    reading = f"FIND(?e.payload.mode, ?e.content_digest) WHERE {{ ?e EVIDENCE {{id: :e}} }} AS OF SEQ {before}"
    mode, digest = given.ask(reading, e=replay)
    assert digest == given.element(replay)["content_digest"]
    assert given.element(verdict)["inputs"] == [{"id": replay}]
    given.nexus.backup(tmp_path / "again")
    copies = [given, backup, Scene(kipql.open(tmp_path / "again", clock=given.clock), given.clock, given.ids)]
    found = [copy.nexus.query('SEARCH EVIDENCE "door code"').rows for copy in copies]
    assert [copy.write(REMEMBER, payload={"samples": [SECRET]}).status for copy in copies] == ["no_effect"] * 3
    for copy in copies:
        copy.nexus.close()
    on_disk = [path for path in tmp_path.rglob("*") if path.is_file() and b"4711" in path.read_bytes()]
    observe(
        "MEM-024",
        early_erasure_status=early,
        erased_replay={"purged": "unavailable"}[mode],
        resurrected_copies=sum(map(len, found)) + len(on_disk),
    )
