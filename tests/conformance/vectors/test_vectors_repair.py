"""Scenarios of repair: a merge withdrawn, a recording invalidated."""

from typing import Any

from tests.conformance.vectors.registry import observe
from tests.conformance.vectors.scene import DAY, Scene, refused, scene


def test_mem_008_a_wrong_merge_is_withdrawn_and_nothing_is_guessed() -> None:
    given = scene()
    nexus, alice, bob = given.nexus, given.ids["alice"], given.ids["bob"]
    made = given.do(
        """MUTATE {
          CREATE CONCEPT ?al { TYPE "test/Person" NAME "Al" SET FIELDS {key: "al"} }
          CREATE EVIDENCE ?why { SET FIELDS {evidence_class: "message", payload: "they are two"} }
        }"""
    )
    al, why = made["al"], made["why"]
    given.do("MERGE CONCEPT :al INTO :alice", al=al)
    merged = nexus.space_seq
    knows = 'ASSERT ?a (:who, "test/knows", :bob) {by: :carol, mode: "stated"}'
    supplied = given.do(knows, who=al)["a"]
    resolved = given.do('ASSERT ?a (:who, "test/parent_of", :bob) {by: :carol, mode: "stated"}', who=alice)["a"]
    raw = {id_: given.content(id_) for id_ in (supplied, resolved)}
    (decision,) = nexus.repair.decisions()
    good = {
        "decision_id": decision["decision_id"],
        "expected_identity_version": nexus.stats()["identity_version"],
        "reason_evidence": why,
    }

    def withdraw(by: str = "kip:owner", **changes: Any) -> Any:
        return nexus.as_principal(by).repair.identity(**{**good, **changes})

    before = nexus.digest()
    assert refused(withdraw, expected_identity_version=1).code == "VersionConflict"
    with nexus.transaction() as tx:  # B came to carry the canonical id that A claims again
        tx.execute('UPDATE :alice SET FIELDS {canonical_id: "urn:a"}', {"alice": alice})
        tx.execute('UPDATE ?c SET FIELDS {canonical_id: "urn:a"} WHERE { ?c CONCEPT {key: "al", state: "merged"} }')
    assert refused(withdraw).code == "IdentityConflict"
    given.do('UPDATE :alice SET FIELDS {canonical_id: "urn:b"}')
    govern = nexus.govern
    rule = govern.grant("clerk", "discover", "read", "create", "update")
    assert refused(withdraw, "clerk").code == "NotAuthorized"
    assert before != nexus.digest() and rule

    review = {each["id"]: each["status"] for each in withdraw().result["review"]}
    stands = given.rows('FIND(?c.id) WHERE { ?c CONCEPT {key: "al"} }')
    belief = given.belief(alice, "test/parent_of", bob)
    assert belief["status"] == "uncertain"  # what was meant can not be known until somebody says
    audit = {id_: given.element(id_)["_system"].get("input_references", []) for id_ in (supplied, resolved)}
    assert [each["supplied"] for each in audit[supplied]] == [al]
    past = given.rows(f'FIND(?c.id) WHERE {{ ?c CONCEPT {{key: "al"}} }} AS OF SEQ {merged}')
    observe(
        "MEM-008",
        source_resolves_independently=stands == [al] and past == [],
        lost_attribution_invented=bool(audit[resolved]),
        raw_history_unchanged=all(given.content(id_) == raw[id_] for id_ in raw),
        unresolved_reviewed=review == {supplied: "attributed", resolved: "needs_review"},
    )


def test_mem_008_a_local_key_of_another_owner_is_nobody_here() -> None:
    theirs, ours = scene(), scene()
    capsule = theirs.nexus.export_capsule([theirs.ids["alice"]])
    mapping = ours.nexus.import_capsule(capsule, {"mode": "isolate"}).result["mapping"]
    assert mapping[theirs.ids["alice"]] != ours.ids["alice"]
    # Only an identity that says whose it is, and that the host trusts, is one with ours.
    ours = scene()
    for side in (theirs, ours):
        side.do('UPDATE :alice SET FIELDS {canonical_id: "urn:registry:alice"}')
    trusted = theirs.nexus.export_capsule([theirs.ids["alice"]])
    plan = {"mode": "merge", "trust_canonical_ids": True}
    assert ours.nexus.import_capsule(trusted, plan).result["mapping"][theirs.ids["alice"]] == ours.ids["alice"]


SAID = "I am not vegetarian, I just like tofu."


def misheard(fixture: str = "cognitive-consistency") -> tuple[Scene, str, str]:
    """The Brain recorded that Alice is vegetarian from a message in which she said that she is not."""
    given = scene(fixture, now=DAY("09-06"))
    made = given.as_("brain").do(
        """MUTATE {
          CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: :said, observed_at: :at}
            SET STRUCTURAL { ("source", :alice) } }
          ASSERT ?a (:alice, "test/is_vegetarian", true) {by: :alice, mode: "stated", at: :at, evidence: ?e}
        }""",
        said=SAID,
        at=DAY("02-01"),
    )
    assert given.belief(given.ids["alice"], "test/is_vegetarian", True)["status"] == "accepted"
    return given, made["e"], made["a"]


def repair(given: Scene, by: str, source: str, wrong: str, **changes: Any) -> Any:
    values = {
        "source_ref": source,
        "source_digest": given.element(source)["content_digest"],
        "source_locator": f"bytes:0-{len(SAID)}",
        "invalidated_refs": [wrong],
        "reason": "extraction_error",
        "expected_versions": {wrong: 1},
        **changes,
    }
    return given.nexus.as_principal(by).repair.recording(**values)


REPLACEMENT = """ASSERT ?right (:alice, "kip://test/core-domain@1.0.0/is_vegetarian", true) {
  by: :alice, mode: "stated", stance: "reject", at: :at, evidence: :e}"""


def test_rel_004_a_misheard_statement_is_repaired_and_its_source_stands() -> None:
    given, source, wrong = misheard()
    alice = given.ids["alice"]
    kept = given.element(source)
    claim = given.content(wrong)
    values = {"statement": REPLACEMENT, "replacement_refs": ["?right"]}
    parameters = {"alice": alice, "e": source, "at": DAY("02-01")}
    stranger = refused(repair, given, "stranger", source, wrong).code
    other = REPLACEMENT.replace("by: :alice", "by: :bob")
    bob = {**parameters, "bob": given.ids["bob"]}
    assert (
        refused(
            repair, given, "brain", source, wrong, statement=other, replacement_refs=["?right"], parameters=bob
        ).code
        == "ConstraintViolation"
    )
    assert refused(repair, given, "brain", source, wrong, expected_versions={wrong: 2}).code == "VersionConflict"
    assert refused(repair, given, "brain", source, wrong, source_digest=f"sha256:{'0' * 64}").code == "DigestMismatch"

    repaired = repair(given, "brain", source, wrong, **values, parameters=parameters)
    after, source_after = given.element(wrong), given.element(source)
    assert given.belief(alice, "test/is_vegetarian", True)["status"] == "rejected"
    assert after["_system"]["recording_validity"] == {
        "status": "invalidated",
        "repair_ref": repaired.result["repair_ref"],
    }
    observe(
        "REL-004",
        source_corrected=source_after["lifecycle"]["status"] == "corrected",
        actor_withdrawal_fabricated=after["lifecycle"]["status"] != "active",
        unauthorized_repair=stranger,
        original_payload_preserved=given.content(wrong) == claim and source_after == kept,
    )


def test_mif_017_a_misrecording_is_repaired_and_never_taken_back_in_the_actors_name() -> None:
    given, source, wrong = misheard("core-basic")
    alice = given.ids["alice"]
    repair(given, "brain", source, wrong)
    belief = given.belief(alice, "test/is_vegetarian", True)
    history = given.rows("FIND(?a.lifecycle.status) WHERE { ?a ASSERTION {asserted_by: :alice} }")
    assert given.element(source)["payload"] == {"mode": "inline", "inline": SAID}
    # kipql advertises recording_repair. A request that requires a repair which is not advertised fails before
    # anything is done, and is mapped to nothing.
    reply = given.nexus.request(
        {"kip": "2.0", "requires": {"semantic_repair": True}, "operations": [{"command": "DESCRIBE PROTOCOL"}]}
    )

    # In January Alice said dark and the Brain extracted another preference; in September she said light.
    past, said = DAY("01-01"), "dark, please"
    changed = DAY("09-01")
    made = given.as_("brain").do(
        """MUTATE {
          CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: :said, observed_at: :past} }
          ASSERT ?wrong (:alice, "test/timezone", "sepia") {by: :alice, mode: "stated", at: :past, evidence: ?e}
          ASSERT ?light (:alice, "test/timezone", "light") {
            by: :alice, mode: "stated", at: :changed, valid: {from: :changed}}
        }""",
        said=said,
        past=past,
        changed=changed,
    )
    given.clock.now = given.clock.now.replace(month=9, day=24)
    right = (
        REPLACEMENT.replace("is_vegetarian", "timezone").replace("true)", '"dark")').replace(', stance: "reject"', "")
    )
    repaired = repair(
        given, "brain", made["e"], made["wrong"],
        source_locator=f"bytes:0-{len(said)}", statement=right, replacement_refs=["?right"],
        parameters={"alice": alice, "e": made["e"], "at": given.element(made["e"])["observed_at"]},
    )  # fmt: skip
    (replacement,) = repaired.result["replacement_refs"]
    then = given.slot(alice, "test/timezone", past)["accepted_values"]
    now = given.slot(alice, "test/timezone", DAY("09-25"))["accepted_values"]
    observe(
        "MIF-017",
        actor_withdrawal_recorded=set(history) != {"active"},
        recall_states_misrecording=belief["status"] == "accepted",
        without_capability=reply["error"]["code"],
        repaired_past_preference=then[0],
        repaired_current_preference=now[0],
        source_bytes_preserved=given.element(made["e"])["payload"]["inline"] == said,
        replacement_asserted_at=given.element(replacement)["asserted_at"],
    )
    assert (then, now) == (["dark"], ["light"])
