"""Importing a Capsule: identity, attribution, and what does not come along (§38, §39, §41)."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import KipError, Nexus
from tests.capsules.material import empty, record_of, resealed, told
from tests.mutate.kml_space import THINGS
from tests.mutate.test_kml_skill import basis as read_basis
from tests.mutate.test_kml_skill import made as skilled


def refused(nexus: Nexus, call: Any) -> KipError:
    """The error of a call that must leave nothing behind."""
    before, seq = nexus.digest(), nexus.space_seq
    with pytest.raises(KipError) as caught:
        call()
    assert (nexus.digest(), nexus.space_seq) == (before, seq)
    return caught.value


def element(nexus: Nexus, name: str) -> dict[str, Any]:
    return nexus._session.view().element(nexus._session.view().code(name))


# --- what an import is ----------------------------------------------------------------------------------


def test_an_import_is_one_commit_with_its_own_origin() -> None:
    source, _ = told()
    capsule = source.export_capsule()
    target = empty()
    receipt = target.import_capsule(capsule)
    assert (receipt.status, receipt.space_seq, target.space_seq) == ("committed", 1, 1)
    assert receipt.result["counts"] == {"create": 13, "match": 0, "skip": 0, "conflict": 0}
    assert set(receipt.result["mapping"]) == {record["id"] for record in capsule["payload"]["records"]}
    for name in receipt.result["mapping"].values():
        origin = element(target, name)["_system"]["origin"]
        assert origin == {
            "principal_id": "kip:owner",
            "channel": "capsule_import",
            "import_id": capsule["integrity"]["content_digest"],
        }


def test_the_same_capsule_again_changes_nothing(tmp_path: Path) -> None:
    source, _ = told()
    capsule = source.export_capsule()
    with empty(path=tmp_path / "m.kip") as target:
        first = target.import_capsule(capsule)
    with kipql.open(tmp_path / "m.kip") as target:
        before = target.digest()
        again = target.import_capsule(capsule)
        assert (again.status, again.space_seq) == ("no_effect", None)
        assert again.result["mapping"] == first.result["mapping"]
        assert again.result["counts"]["match"] == 13
        assert target.digest() == before


def test_what_comes_home_is_what_is_there() -> None:
    nexus, _ = told()
    before = nexus.digest()
    receipt = nexus.import_capsule(nexus.export_capsule())
    assert receipt.status == "no_effect"
    assert all(local == name for local, name in receipt.result["mapping"].items())
    assert nexus.digest() == before


def test_two_memories_with_the_same_ids_and_the_same_clock_are_two_sources() -> None:
    from datetime import UTC, datetime

    def clock() -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    capsules = []
    for name in ("Ada", "Eve"):
        nexus = kipql.open(clock=clock)
        nexus.execute('CREATE CONCEPT ?x { TYPE "Person" NAME :name }', {"name": name})
        capsules.append(nexus.export_capsule())
    target = kipql.open(clock=clock)
    for capsule in capsules:
        target.import_capsule(capsule)
    assert target.query('FIND(?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.name').rows == ["Ada", "Eve"]


def test_a_later_capsule_of_a_source_adds_to_what_was_imported() -> None:
    source, made = told()
    target = empty()
    first = target.import_capsule(source.export_capsule()).result["mapping"]
    text = 'ASSERT ?a (:bo, "says", 6) {by: :bo, mode: "stated"} SUPERSEDING :old'
    new = source.execute(text, {"bo": made["bo"], "old": made["count"]}).handles["a"]  # type: ignore[union-attr]
    receipt = target.import_capsule(source.export_capsule())
    assert receipt.result["counts"] == {"create": 2, "match": 13, "skip": 0, "conflict": 0}  # a Proposition, a claim
    old, now = element(target, first[made["count"]]), element(target, receipt.result["mapping"][new])
    # the source took its old claim back: it ends here too, and nothing else of it changes
    assert old["lifecycle"]["status"] == "superseded"
    assert old["lifecycle"]["superseded_by"] == [{"id": now["id"]}]
    assert now["lifecycle"]["supersedes"] == [{"id": old["id"]}]
    assert now["asserted_by"] == {"id": first[made["bo"]]}


def test_a_referential_capsule_meets_what_was_imported_before() -> None:
    source, made = told()
    target = empty()
    known = target.import_capsule(source.export_capsule([made["ada"], made["box"]])).result["mapping"]
    alone = source.export_capsule([made["near"]], closure="selective")
    (proposition,) = target.import_capsule(alone).result["mapping"].values()
    found = element(target, proposition)
    assert (found["subject"], found["object"]) == ({"id": known[made["ada"]]}, {"id": known[made["box"]]})


def test_an_idempotency_key_stands_for_one_import() -> None:
    source, _ = told()
    capsule = source.export_capsule()
    target = empty()
    first = target.import_capsule(capsule, idempotency_key="k")
    again = target.import_capsule(capsule, idempotency_key="k")
    assert (again.status, again.space_seq) == ("committed", first.space_seq)
    other = lambda: target.import_capsule(capsule, {"mode": "isolate"}, idempotency_key="k")  # noqa: E731
    assert refused(target, other).code == "IdempotencyConflict"


def test_a_reader_does_not_import() -> None:
    source, _ = told()
    capsule = source.export_capsule()
    target = empty()
    assert refused(target, lambda: target.readonly().import_capsule(capsule)).code == "ReadonlyViolation"
    assert target.readonly().preview_import(capsule)["effect"] == "changes"


# --- content and attribution come along -----------------------------------------------------------------


def test_content_attribution_time_and_provenance_come_along() -> None:
    source, made = told()
    target = empty()
    to = target.import_capsule(source.export_capsule()).result["mapping"]
    box, claim = element(target, to[made["box"]]), element(target, to[made["claim"]])
    assert (box["name"], box["attributes"], box["schema_ref"]) == ("Box", {"size": 2.5}, "kip://test/things@1.0.0/Box")
    assert box["facets"] == {"kip://test/things@1.0.0/Wear": {"level": 1}}
    assert box["structural"]["kip://test/things@1.0.0/part"] == [{"id": to[made["work"]]}, {"id": to[made["ada"]]}]
    assert claim["asserted_by"] == {"id": to[made["ada"]]}
    assert claim["asserted_at"] == "2026-05-01T12:00:00.000Z"
    assert claim["valid_time"] == {"from": "2026-05-01T00:00:00.000Z", "until": None}
    assert claim["confidence"] == 0.75
    assert claim["evidence"] == [{"id": to[made["summary"]], "role": "support"}]
    assert claim["context_refs"] == [{"id": to[made["work"]]}]
    said, summary = element(target, to[made["said"]]), element(target, to[made["summary"]])
    assert said["payload"] == {"mode": "inline", "inline": "I like the box."}
    assert (said["observed_at"], summary["observed_at"]) == ("2026-05-01T12:00:00.000Z", None)
    dependents = target.query("LIST DEPENDENTS :x", {"x": to[made["said"]]}).rows
    assert [row["id"] for row in dependents] == [to[made["summary"]]]
    assert target.query("FIND(?n) WHERE { ?e EVIDENCE {id: :x} ?n CONCEPT {} STRUCTURAL (?e, \"source\", ?n) }",
                        {"x": to[made["said"]]}).rows[0]["name"] == "Ada"  # fmt: skip


def test_claims_become_imported_and_hypotheses_stay_hypotheses() -> None:
    source, made = told()
    target = empty()
    to = target.import_capsule(source.export_capsule()).result["mapping"]
    modes = {name: element(target, to[made[name]])["mode"] for name in ("claim", "guess", "count")}
    assert modes == {"claim": "imported", "guess": "hypothetical", "count": "imported"}


def test_transported_is_not_endorsed() -> None:
    """No shipped policy counts an imported claim; a policy of the host may (§26.3, §21.13)."""
    source, made = told()
    target = empty()
    to = target.import_capsule(source.export_capsule()).result["mapping"]
    text = 'FIND(?b.status) WHERE { ?b BELIEF (:s, "says", 5) } '
    assert source.query(text, {"s": made["bo"]}).scalar() == "rejected"
    assert target.query(text, {"s": to[made["bo"]]}).scalar() == "insufficient"
    modes = {"include": ["observed", "stated", "inferred", "imported"]}
    target.install_policy({"policy_id": "lab:all", "version": "1", "eligibility": {"modes": modes}})
    asked = text + 'WITH EPISTEMIC {policy: "lab:all"}'
    assert target.query(asked, {"s": to[made["bo"]]}).scalar() == "rejected"


def test_a_retracted_claim_does_not_regain_its_standing() -> None:
    source, made = told()
    source.execute('TRANSITION :a TO "retracted"', {"a": made["count"]})
    target = empty()
    to = target.import_capsule(source.export_capsule()).result["mapping"]
    assert element(target, to[made["count"]])["lifecycle"]["status"] == "retracted"


def test_a_recording_that_its_source_took_back_stays_out_of_belief() -> None:
    source, made = told()
    digest = element(source, made["summary"])["content_digest"]
    source.repair.recording(
        source_ref=made["summary"],
        source_digest=digest,
        source_locator="/likes",
        invalidated_refs=[made["claim"]],
        reason="extraction_error",
        expected_versions={made["claim"]: 1},
    )
    target = empty()
    to = target.import_capsule(source.export_capsule()).result["mapping"]
    assert element(target, to[made["claim"]])["_system"]["recording_validity"]["status"] == "invalidated"
    modes = {"include": ["observed", "stated", "inferred", "imported"]}
    target.install_policy({"policy_id": "lab:all", "version": "1", "eligibility": {"modes": modes}})
    asked = """FIND(?b.status) WHERE { ?b BELIEF (:s, "near", :o) }
      WITH EPISTEMIC {policy: "lab:all", context_refs: [:c]}"""
    given = {"s": to[made["ada"]], "o": to[made["box"]], "c": {"id": to[made["work"]]}}
    assert target.query(asked, given).scalar() == "insufficient"
    alone = source.export_capsule([made["claim"]], closure="referential", provenance_depth=0)
    other = empty()
    to = other.import_capsule(alone).result["mapping"]
    assert element(other, to[made["claim"]])["governance"]["quarantined"] is True  # the repair is not here to be named


# --- nothing gains authority ----------------------------------------------------------------------------


def test_no_authority_hold_or_grant_comes_along() -> None:
    source, made = told()
    source.govern.elevate(made["box"], "executable")
    source.execute('SET RETENTION :x {legal_hold: true, retention_class: "long"}', {"x": made["box"]})
    capsule = source.export_capsule()
    target = empty()
    receipt = target.import_capsule(capsule)
    box = element(target, receipt.result["mapping"][made["box"]])
    assert box["governance"]["authority_class"] == "descriptive"
    assert box["retention"] == {"retention_class": "long", "expires_at": None, "legal_hold": False}
    (row,) = [row for row in empty().preview_import(capsule)["plan"]["records"] if row["id"] == made["box"]]
    assert set(row["left_out"]) == {"/governance/authority_class", "/retention/legal_hold"}
    assert target.govern.policy() == empty().govern.policy()


def test_a_skill_starts_again_as_proposed() -> None:
    source = skilled()
    capsule = resealed(
        source.export_capsule(),
        lambda payload: record_of(payload, "concept")["attributes"].update(status="adopted"),
    )
    target = kipql.open()
    to = target.import_capsule(capsule).result["mapping"]
    skill = element(target, to["C-1"])
    assert skill["attributes"]["status"] == "proposed"
    assert list(skill["structural"]) == ["kip://profiles/cognitive-memory@2.0.0/current_revision"]
    assert element(target, to["C-2"])["attributes"] == element(source, "C-2")["attributes"]


def test_a_watch_that_was_armed_elsewhere_does_not_fire_here() -> None:
    """A Capsule makes nothing happen (§37.2)."""
    source = kipql.open()
    for status in ("armed", "expired"):
        source.execute(
            """CREATE CONCEPT ?w { TYPE "Watch" SET ATTRIBUTES {watch_class: "delta", summary: "someone new",
            status: :status, condition: {type: "Person", ops: ["create"]}} }""",
            {"status": status},
        )
    target = kipql.open()
    rows = target.preview_import(source.export_capsule())["plan"]["records"]
    assert [row.get("left_out") for row in rows] == [["/attributes/status"], None]
    target.import_capsule(source.export_capsule())
    assert target.query('FIND(?w.attributes.status) WHERE { ?w {type: "Watch"} } ORDER BY ?w.id').rows == [
        "disarmed",
        "expired",
    ]
    target.execute('CREATE CONCEPT ?p { TYPE "Person" NAME "Ada" }')
    assert target.watches.evaluate() == []


def carried(outputs: str, **members: Any) -> Any:
    """A change of a Capsule: one more Activity, which put an element out."""

    def change(payload: dict[str, Any]) -> None:
        activity: dict[str, Any] = {
            "id": "X-99",
            "kind": "activity",
            "space_id": payload["source"]["space_id"],
            "activity_class": "inference",
            "status": "completed",
            "inputs": [],
            "outputs": [{"id": outputs}],
            "_system": {"version": 1, "state": "active", "origin": {"principal_id": "p", "channel": "c"}},
        }
        payload["records"].append({**activity, **members})

    return change


def test_a_validation_elsewhere_is_no_validation_here() -> None:
    """A claim that an identity repair put up for review stays so, whatever a Capsule says (§11.5, §39.5)."""
    nexus, made = told()
    nexus.execute("MERGE CONCEPT :bo INTO :ada", made)
    claim = nexus.execute('ASSERT ?x (:ada, "is", :ada) {by: :ada, mode: "stated"}', made).handles["x"]  # type: ignore[union-attr]
    nexus.repair.identity(
        nexus.repair.decisions()[0]["decision_id"],  # type: ignore[arg-type]
        expected_identity_version=nexus.stats()["identity_version"],  # type: ignore[arg-type]
        reason_evidence=made["said"],
    )
    asked = 'FIND(?b.status) WHERE { ?b BELIEF (:ada, "is", :ada) }'
    assert nexus.query(asked, made).scalar() == "uncertain"
    lie = resealed(nexus.export_capsule(), carried(claim, activity_class="dependency_validation"))
    assert nexus.import_capsule(lie).result["counts"]["create"] == 1
    assert nexus.query(asked, made).scalar() == "uncertain"


def test_a_basis_from_elsewhere_takes_nothing_from_a_claim_of_this_memory() -> None:
    nexus, made = told()
    nexus.execute('ASSERT (:ada, "is", :ada) {by: :ada, mode: "stated"}', made)
    asked = 'FIND(?b.status, ?a.id) WHERE { ?p (:ada, "is", :ada) ?a ASSERTION {proposition: ?p} ?b BELIEF (?p) }'
    status, claim = nexus.query(asked, made).one()
    assert status == "accepted"
    groups = [{"role": "all_of", "pins": [{"id": made["said"], "version": 1}]}]
    facet = {"basis_seq": 1, "policy_basis": read_basis(nexus), "groups": groups}
    name = "kip://profiles/cognitive-memory@2.0.0/DependencyBasis"
    lie = resealed(nexus.export_capsule(), carried(claim, facets={name: facet}))
    assert nexus.import_capsule(lie).result["counts"]["create"] == 1
    assert nexus.query(asked, made).one() == ("accepted", claim)


def test_a_basis_of_the_source_proves_nothing_here() -> None:
    """Pins keep the versions they name, ids are mapped, and the derivation is unverifiable (§41.7)."""
    source, made = told()
    text = """MUTATE {
      ASSERT ?d (:ada, "is", :box) {by: :bo, mode: "inferred"}
      CREATE ACTIVITY ?why { SET FIELDS {activity_class: "inference", status: "completed"}
        SET FACET "DependencyBasis" {basis_seq: 1, policy_basis: :basis, groups: :groups}
        SET STRUCTURAL { ("inputs", :said) ("outputs", ?d) } }
    }"""
    groups = [{"role": "all_of", "pins": [{"id": made["said"], "version": 1}]}]
    handles = source.execute(text, {**made, "groups": groups, "basis": read_basis(source)}).handles  # type: ignore[union-attr]
    asked = 'FIND(?b.dependency_validity.status) WHERE { ?b BELIEF (:s, "is", :o) } WITH EPISTEMIC {policy: "lab:all"}'
    target = empty()
    # something is there before, so that ids differ and a text that looks like an id would be seen to change
    target.execute('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "note", payload: "x"} }')
    to = target.import_capsule(source.export_capsule()).result["mapping"]
    facet = "kip://profiles/cognitive-memory@2.0.0/DependencyBasis"
    here, there = (element(nexus, name)["facets"][facet] for nexus, name in
                   ((target, to[handles["why"]]), (source, handles["why"])))  # fmt: skip
    assert to[made["said"]] != made["said"]
    assert here["groups"] == [{"role": "all_of", "pins": [{"id": to[made["said"]], "version": 1}]}]
    assert (here["basis_seq"], here["policy_basis"]) == (1, there["policy_basis"])
    for nexus in (source, target):
        modes = {"include": ["observed", "stated", "inferred", "imported"]}
        nexus.install_policy({"policy_id": "lab:all", "version": "1", "eligibility": {"modes": modes}})
    assert source.query(asked, {"s": made["ada"], "o": made["box"]}).scalar() == "current"
    assert target.query(asked, {"s": to[made["ada"]], "o": to[made["box"]]}).scalar() == "unverifiable"


def test_a_text_that_looks_like_an_id_stays_text() -> None:
    source = empty()
    source.execute('CREATE CONCEPT ?t { TYPE "Thing" NAME "C-1" SET ATTRIBUTES {note: "C-1", list: ["C-1"]} }')
    target = empty()
    target.execute('CREATE CONCEPT ?t { TYPE "Thing" NAME "other" }')
    (name,) = target.import_capsule(source.export_capsule()).result["mapping"].values()
    found = element(target, name)
    assert (name, found["name"], found["attributes"]) == ("C-2", "C-1", {"note": "C-1", "list": ["C-1"]})


def test_an_imported_outcome_keeps_saying_where_it_is_from() -> None:
    source = kipql.open()
    source.execute('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "outcome", payload: "ok", observed_at: :t} }',
                   {"t": "2026-05-01T12:00:00.000Z"})  # fmt: skip
    target = kipql.open()
    (name,) = target.import_capsule(source.export_capsule()).result["mapping"].values()
    assert element(target, name)["_system"]["origin"]["import_id"] is not None


# --- identity -------------------------------------------------------------------------------------------


def test_a_name_is_no_identity_and_neither_is_a_local_key() -> None:
    source, made = told()
    target = empty()
    here = target.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" SET FIELDS {key: "ada"} }')
    capsule = source.export_capsule([made["ada"]])
    (row,) = target.preview_import(capsule)["plan"]["records"]
    assert (row["action"], row["left_out"]) == ("create", ["/key"])
    to = target.import_capsule(capsule).result["mapping"]
    assert to[made["ada"]] != here.handles["a"]  # type: ignore[union-attr]
    assert element(target, to[made["ada"]])["key"] is None
    assert element(target, here.handles["a"])["key"] == "ada"  # type: ignore[union-attr]


def test_a_canonical_id_is_trusted_only_when_the_host_says_so() -> None:
    source, made = told()
    target = empty()
    here = target.execute('CREATE CONCEPT ?b { TYPE "Person" NAME "Robert" SET FIELDS {canonical_id: "did:bo"} }')
    bo: str = here.handles["b"]  # type: ignore[union-attr]
    capsule = source.export_capsule([made["count"]])
    error = refused(target, lambda: target.import_capsule(capsule))
    assert error.code == "ImportPreviewConflict"
    (conflict,) = [row for row in error.details["conflicts"] if row["id"] == made["bo"]]
    assert conflict["candidates"] == [bo]
    to = target.import_capsule(capsule, {"trust_canonical_ids": True}).result["mapping"]
    assert to[made["bo"]] == bo
    assert element(target, bo)["name"] == "Robert"  # what is matched is not overwritten


def test_the_host_decides_row_by_row() -> None:
    source, made = told()
    target = empty()
    here = target.execute('CREATE CONCEPT ?b { TYPE "Person" NAME "Bo here" SET FIELDS {canonical_id: "did:bo"} }')
    bo: str = here.handles["b"]  # type: ignore[union-attr]
    capsule = source.export_capsule([made["count"], made["guess"]], closure="referential")
    plan = target.preview_import(capsule)["plan"]
    rows = {row["id"]: row for row in plan["records"]}
    assert rows[made["bo"]]["action"] == "conflict"
    rows[made["bo"]] |= {"action": "match", "target": bo}
    rows[made["guess"]]["action"] = "skip"
    # the Proposition and the claim waited for Bo: they are resolved again
    for name in ("count",):
        rows[made[name]]["action"] = "create"
    plan["records"] = [row for row in rows.values() if row["action"] != "conflict"]
    receipt = target.import_capsule(capsule, plan)
    assert made["guess"] not in receipt.result["mapping"]
    assert element(target, receipt.result["mapping"][made["count"]])["asserted_by"] == {"id": bo}


def test_propositions_are_one_by_their_tuple() -> None:
    source, made = told()
    target = empty()
    made_here = target.execute(
        'MUTATE { CREATE CONCEPT ?b {TYPE "Person" NAME "B"} ENSURE PROPOSITION ?p (?b, "says", 5) }'
    )
    handles: dict[str, str] = dict(made_here.handles)  # type: ignore[union-attr]
    capsule = source.export_capsule([made["count"]])
    plan = {"records": [{"id": made["bo"], "action": "match", "target": handles["b"]}]}
    receipt = target.import_capsule(capsule, plan)
    assert handles["p"] in receipt.result["mapping"].values()
    assert target.query("FIND(COUNT(?p)) WHERE { ?p PROPOSITION (?s, ?q, ?o) }").scalar() == 1


def test_a_skipped_record_is_missed_where_it_is_needed() -> None:
    source, made = told()
    target = empty()
    capsule = source.export_capsule([made["claim"]])
    plan = {"records": [{"id": made["ada"], "action": "skip"}]}
    error = refused(target, lambda: target.import_capsule(capsule, plan))
    problems = {row["id"]: row["problem"] for row in error.details["conflicts"]}
    assert "/subject" in problems[made["near"]]
    assert made["box"] not in problems  # a part less, and the box is still a box
    plan["records"].append({"id": made["near"], "action": "skip"})
    plan["records"].append({"id": made["claim"], "action": "skip"})
    receipt = target.import_capsule(capsule, plan)
    parts = element(target, receipt.result["mapping"][made["box"]])["structural"]["kip://test/things@1.0.0/part"]
    assert parts == [{"id": receipt.result["mapping"][made["work"]]}]


def test_merged_concepts_stay_merged() -> None:
    source, made = told()
    source.execute("MERGE CONCEPT :bo INTO :ada", made)
    target = empty()
    to = target.import_capsule(source.export_capsule(), {"same_owner": True}).result["mapping"]
    assert element(target, to[made["bo"]])["merged_into"] == to[made["ada"]]
    says = 'FIND(?o) WHERE { ?p ({type: "Person", key: "ada"}, "says", ?o) }'
    assert sorted(map(str, target.query(says).rows)) == ["5", "fünf"]


def test_nothing_becomes_the_destinations_self() -> None:
    source, made = told()
    source.govern.designate_self(made["ada"])
    target = empty()
    me: str = target.execute(
        'CREATE CONCEPT ?m { TYPE "Person" NAME "Me" SET FIELDS {canonical_id: "did:bo"} }'
    ).handles["m"]  # type: ignore[union-attr]
    target.govern.designate_self(me)
    capsule = source.export_capsule([made["count"], made["claim"]])
    assert capsule["payload"]["handling"]["source_self"] == made["ada"]
    rows = {row["id"]: row for row in target.preview_import(capsule, {"trust_canonical_ids": True})["plan"]["records"]}
    assert rows[made["bo"]]["action"] == "conflict"  # not even by a trusted identity
    mine = {"records": [{"id": made["ada"], "action": "match", "target": me}]}
    rows = {row["id"]: row for row in target.preview_import(capsule, mine)["plan"]["records"]}
    assert "§38.4" in rows[made["ada"]]["problem"]
    bo_is_me = {"records": [{"id": made["bo"], "action": "match", "target": me}]}
    rows = {row["id"]: row for row in target.preview_import(capsule, bo_is_me)["plan"]["records"]}
    assert rows[made["bo"]]["action"] == "match"
    assert "/asserted_by" in rows[made["count"]]["problem"]  # a claim from elsewhere is not my own


def merged_into(name: str, outside: dict[str, Any] | None = None) -> Any:
    """A change of a Capsule: its first Concept was merged into `name`, which stays outside where that is said."""

    def change(payload: dict[str, Any]) -> None:
        record_of(payload, "concept")["merged_into"] = {"id": name}
        record_of(payload, "concept")["_system"]["state"] = "merged"
        payload["external_refs"] += [outside] if outside is not None else []

    return change


def test_nothing_is_merged_into_the_destinations_self() -> None:
    """Or its claims, too, would be the destination's own (§38.4)."""
    source, made = told()
    target = empty()
    me: str = target.execute(
        'CREATE CONCEPT ?m { TYPE "Person" NAME "Me" SET FIELDS {canonical_id: "did:me"} }'
    ).handles["m"]  # type: ignore[union-attr]
    target.govern.designate_self(me)
    capsule = source.export_capsule()
    out_there = {"id": "me", "kind": "canonical_identity", "locator": {"canonical_id": "did:me"}}
    for change, plan in (
        (merged_into("me", out_there), {"trust_canonical_ids": True}),
        (merged_into(made["bo"]), {"records": [{"id": made["bo"], "action": "match", "target": me}]}),
    ):
        lie = resealed(capsule, change)
        rows = {row["id"]: row for row in target.preview_import(lie, plan)["plan"]["records"]}
        assert "§38.4" in rows[made["ada"]]["problem"]
        assert rows[made["claim"]]["action"] == "conflict"
        assert refused(target, lambda lie=lie, plan=plan: target.import_capsule(lie, plan)).code == (  # type: ignore[misc]
            "ImportPreviewConflict"
        )


def test_merges_keep_the_rules_of_merges() -> None:
    """One Concept Type, and into nothing that is tombstoned here (§61)."""
    source, made = told()
    capsule = source.export_capsule()
    refused(empty(), lambda: empty().import_capsule(resealed(capsule, merged_into(made["work"]))))
    target = empty()
    for kind, fields in (("Thing", "did:thing"), ("Person", "did:gone")):
        target.execute(f'CREATE CONCEPT ?x {{ TYPE "{kind}" NAME "X" SET FIELDS {{canonical_id: "{fields}"}} }}')
    target.execute('TRANSITION "C-2" TO "tombstoned"')
    for identity, why in (("did:thing", "types"), ("did:gone", "tombstoned")):
        outside = {"id": "it", "kind": "canonical_identity", "locator": {"canonical_id": identity}}
        lie = resealed(capsule, merged_into("it", outside))
        rows = target.preview_import(lie, {"trust_canonical_ids": True})["plan"]["records"]
        assert why in next(row for row in rows if row["id"] == made["ada"])["problem"]


def test_what_was_purged_here_is_not_brought_back_by_itself() -> None:
    source, made = told()
    target = empty()
    capsule = source.export_capsule([made["said"]], closure="selective")
    name = target.import_capsule(capsule).result["mapping"][made["said"]]
    target.execute('PURGE :x CONFIRM "PURGE"', {"x": name})
    assert refused(target, lambda: target.import_capsule(capsule)).code == "ImportPreviewConflict"
    again = target.import_capsule(capsule, {"records": [{"id": made["said"], "action": "create"}]})
    assert again.result["mapping"][made["said"]] != name


def test_isolated_cognition_waits_in_quarantine() -> None:
    source, _ = told()
    target = empty()
    receipt = target.import_capsule(source.export_capsule(), {"mode": "isolate"})
    assert target.query("FIND(COUNT(?x)) WHERE { ?x CONCEPT {} }").scalar() == 0
    names = list(receipt.result["mapping"].values())
    assert all(element(target, name)["governance"]["quarantined"] for name in names)
    target.govern.release(names)
    assert target.query("FIND(COUNT(?x)) WHERE { ?x CONCEPT {} }").scalar() == 4


# --- schema ---------------------------------------------------------------------------------------------


def test_a_package_that_is_not_here_is_named_and_never_activated() -> None:
    source, made = told()
    capsule = source.export_capsule([made["box"]], include_schema=True)
    target = kipql.open()
    assert target.query("VALIDATE CAPSULE :c", {"c": capsule}).one()["valid"]  # the embedded package is looked at
    described = target.query("DESCRIBE CAPSULE :c", {"c": capsule}).one()
    things = described["schema_dependencies"][-1]
    assert (things["status"], things["embedded"]) == ("missing", True)
    assert refused(target, lambda: target.import_capsule(capsule)).code == "SchemaPackageUnavailable"
    target.install_package(THINGS)
    assert target.import_capsule(capsule).status == "committed"


def test_other_content_under_the_same_reference_is_a_mismatch() -> None:
    source, made = told()
    other = copy.deepcopy(THINGS)
    other["definitions"]["predicates"]["is"]["description"] = "Something else."
    target = kipql.open(packages=[other])
    assert refused(target, lambda: target.import_capsule(source.export_capsule([made["box"]]))).code == "DigestMismatch"


def test_a_draft_symbol_needs_a_symbol_of_the_destination() -> None:
    source = kipql.open()
    source.execute('DEFINE PREDICATE "admires" { description: "d" }')
    source.execute("""MUTATE { CREATE CONCEPT ?a {TYPE "Person" NAME "A"} CREATE CONCEPT ?b {TYPE "Person" NAME "B"}
      ENSURE PROPOSITION (?a, "admires", ?b) }""")
    capsule = source.export_capsule()
    draft = "kip://local/draft@0.0.0/admires"
    target = kipql.open()
    target.execute('DEFINE PREDICATE "admires" { description: "the same name, another meaning" }')
    error = refused(target, lambda: target.import_capsule(capsule))
    assert (error.code, error.details["symbols"]) == ("SchemaPackageUnavailable", [draft])
    found = target.preview_import(capsule)
    assert (found["effect"], found["errors"][0]["code"]) == ("undecided", "SchemaPackageUnavailable")
    plan = {"symbols": {draft: "kip://profiles/cognitive-memory@2.0.0/same_as"}}
    to = target.import_capsule(capsule, plan).result["mapping"]
    assert element(target, to["P-1"])["predicate_ref"] == "kip://profiles/cognitive-memory@2.0.0/same_as"


def test_the_final_state_is_judged_by_the_destinations_schema() -> None:
    source, _ = told()
    capsule = resealed(
        source.export_capsule(), lambda payload: record_of(payload, "concept", 3)["attributes"].update(size="big")
    )
    assert refused(target := empty(), lambda: target.import_capsule(capsule)).code == "TypeMismatch"


# --- preview and plans ----------------------------------------------------------------------------------


def test_a_preview_says_what_the_import_then_does() -> None:
    source, _ = told()
    capsule = source.export_capsule()
    target = empty()
    before = target.digest()
    text = "PREVIEW IMPORT CAPSULE :c INTO :space"
    found = target.query(text, {"c": capsule, "space": target.space_id}).one()
    assert (target.digest(), target.space_seq) == (before, 0)
    receipt = target.import_capsule(capsule, found["plan"])
    assert [dict(change) for change in receipt.changes] == found["changes"]
    assert found["counts"] == receipt.result["counts"]
    again = target.query(text, {"c": capsule, "space": {"id": target.space_id}}).one()
    assert again["effect"] == "no_effect"
    # the plan of before still holds: what it wanted made is there
    assert target.import_capsule(capsule, found["plan"]).status == "no_effect"


def test_a_preview_knows_that_an_identification_is_kept() -> None:
    """What a source element was said to be is a change, though no element changes (§38.2)."""
    source, made = told()
    capsule = source.export_capsule([made["ada"]], closure="selective")
    target = empty()
    mine = target.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }').handles["a"]  # type: ignore[union-attr]
    plan = {"records": [{"id": made["ada"], "action": "match", "target": mine}]}
    found = target.preview_import(capsule, plan)
    assert (found["effect"], found["changes"]) == ("changes", [])
    assert target.import_capsule(capsule, plan).status == "committed"
    assert target.preview_import(capsule)["effect"] == "no_effect"


def test_a_preview_is_of_the_space_that_is_asked() -> None:
    nexus, _ = told()
    call = lambda: nexus.query('PREVIEW IMPORT CAPSULE :c INTO "elsewhere"', {"c": nexus.export_capsule()})  # noqa: E731
    assert refused(nexus, call).code == "NotFoundOrNotVisible"


def test_a_plan_is_validated_without_being_carried_out() -> None:
    source, made = told()
    capsule = source.export_capsule([made["said"]], closure="selective")
    target = empty()
    text = "VALIDATE IMPORT PLAN :plan WITH {capsule: :c}"
    before = target.digest()

    def valid(plan: Any, given: Any = capsule) -> dict[str, Any]:
        found: dict[str, Any] = target.query(text, {"plan": plan, "c": given}).one()
        return found

    assert valid({})["valid"] is True
    assert valid(target.preview_import(capsule)["plan"])["valid"] is True
    missing = valid({"records": [{"id": made["said"], "action": "match", "target": "E-9"}]})
    assert (missing["valid"], [row["id"] for row in missing["conflicts"]]) == (False, [made["said"]])
    assert valid({"mode": "conquer"})["errors"][0]["code"] == "ConstraintViolation"
    assert valid({}, {**capsule, "format": "X"})["errors"][0]["code"] == "CapsuleValidationFailed"
    assert target.digest() == before


@pytest.mark.parametrize(
    ("plan", "code"),
    [
        ([], "TypeMismatch"),
        ({"mode": "restore"}, "UnsupportedCapability"),
        ({"mode": 1}, "ConstraintViolation"),
        ({"records": {}}, "TypeMismatch"),
        ({"records": ["C-1"]}, "TypeMismatch"),
        ({"records": [{"id": "C-1", "action": "destroy"}]}, "ConstraintViolation"),
        ({"records": [{"id": "C-1", "action": "match"}]}, "ConstraintViolation"),
        ({"records": [{"id": "C-1", "action": "skip", "target": "C-2"}]}, "ConstraintViolation"),
        ({"records": [{"id": "C-1", "action": "skip"}] * 2}, "ConstraintViolation"),
        ({"records": [{"id": "Z", "action": "skip"}]}, "ImportPreviewConflict"),
        ({"records": [{"id": "C-1", "action": "match", "target": "C-99"}]}, "ImportPreviewConflict"),
        ({"records": [{"id": "C-1", "action": "match", "target": "P-1"}]}, "ImportPreviewConflict"),
        ({"symbols": {"a": 1}}, "TypeMismatch"),
        ({"trust_canonical_ids": 1}, "TypeMismatch"),
        ({"capsule_digest": "sha256:" + "0" * 64}, "ImportPreviewConflict"),
        ({"space_id": "elsewhere"}, "ImportPreviewConflict"),
        ({"decision": []}, "ConstraintViolation"),
        ({"classification": ""}, "TypeMismatch"),
    ],
)
def test_a_plan_that_fits_nothing_is_refused(plan: Any, code: str) -> None:
    source, _ = told()
    target, _ = told()
    assert refused(target, lambda: target.import_capsule(source.export_capsule(), plan)).code == code


def test_a_capsule_may_be_given_as_text() -> None:
    source, _ = told()
    capsule = source.export_capsule()
    text = json.dumps(capsule)
    by_text, by_bytes = empty(), empty()
    by_text.import_capsule(text)
    by_bytes.import_capsule(text.encode())
    assert by_text.query("FIND(COUNT(?x)) WHERE { ?x CONCEPT {} }").scalar() == 4
    assert by_bytes.query("FIND(COUNT(?x)) WHERE { ?x CONCEPT {} }").scalar() == 4
