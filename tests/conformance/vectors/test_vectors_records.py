"""Scenarios of memory records: kinds, signals, silence, failure, commitments, strength, watches, pinned readings."""

from pathlib import Path
from typing import Any

import kipql
from tests.conformance.vectors.learning import Learner
from tests.conformance.vectors.registry import observe
from tests.conformance.vectors.scene import DAY, Scene, exact, instant, refused, scene

STRENGTH = '?m.facets["mem/MnemonicState"].effective_strength'


def basis(given: Scene) -> dict[str, Any]:
    """A ProjectionBasis as a record pins it."""
    found: dict[str, Any] = given.slot(given.ids["alice"], "test/timezone")["basis"]
    return found


def test_mem_013_what_the_profile_adds_are_concepts_and_evidence_alone_is_enough() -> None:
    given = scene()
    written = given.write('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "hm"} }')
    (change,) = written.changes
    element = given.element(written.handles["e"])
    assert (element["source"], element["generated_by"]) == ([], None)
    made = {}
    for name, attributes in {
        "Event": {"summary": "met"},
        "Experience": {"goal": "ship", "outcome_status": "failure"},
        "SelfModel": {"summary": "careful"},
    }.items():
        text = f'CREATE CONCEPT ?x {{ TYPE "mem/{name}" SET ATTRIBUTES :attributes }}'
        text = text.replace(
            ":attributes", "{" + ", ".join(f'{key}: "{value}"' for key, value in attributes.items()) + "}"
        )
        made[name] = given.element(given.do(text)["x"])
    learning = Learner(given)
    learning.propose()
    made["Skill"] = given.element(learning.skill)
    kinds = {name: element["kind"] for name, element in made.items()}
    assert made["Experience"]["structural"] == {}  # no steps where the trajectory is of no value
    people = given.rows('FIND(COUNT(?p)) WHERE { ?p {type: "mem/Person"} }')
    observe(
        "MEM-013",
        profile_objects_are_concepts=set(kinds.values()) == {"concept"},
        evidence_only_valid=change["op"] == "create",
        fabricated_actor_or_cot=people != [0],
    )


def test_mem_014_signals_are_apart_from_belief_and_silence_is_on_record() -> None:
    given = scene()
    memory = given.do('CREATE CONCEPT ?m { TYPE "mem/Event" SET ATTRIBUTES {summary: "dinner"} }')["m"]
    alice, dark = given.ids["alice"], given.ids["dark_mode"]

    def judged() -> tuple[Any, ...]:
        belief = given.belief(alice, "test/prefers", dark)
        claim = given.element(given.ids["a_alice_prefers"])
        return (
            belief["status"], belief["support"], claim["confidence"], claim["governance"],
            belief["basis"]["trust_version"], given.nexus.govern.policy(),
        )  # fmt: skip

    before = judged()
    given.do('UPDATE :m SET FACET "mem/MnemonicState" {salience: 0.9, utility: 0.8, memory_strength: 0.7}', m=memory)
    given.do('UPDATE :exp_deploy SET FACET "test/MnemonicState" {salience: 0.9, utility: 0.1}')
    assert judged() == before
    record = {
        "decision": "silence",
        "rationale": "not worth an interruption",
        "retrieved_refs": [memory],
        "used_refs": [],
        "applied_revisions": [],
        "basis": basis(given),
    }
    members = ", ".join(f"{name}: :{name}" for name in record)
    written = given.write(
        f"""CREATE ACTIVITY ?x {{
          SET FIELDS {{activity_class: "action_gate", status: "completed"}}
          SET FACET "mem/DecisionRecord" {{{members}}} SET STRUCTURAL {{ ("inputs", :m) }} }}""",
        **record,
        m=memory,
    )
    gate = given.element(written.handles["x"])
    (facet,) = gate["facets"].values()
    assert facet["basis"] == record["basis"] and gate["inputs"] == [{"id": memory}] and gate["outputs"] == []
    assert [change["id"] for change in written.changes] == [gate["id"]]
    # Reading it again, and having it replayed, reinforces nothing.
    digest = given.nexus.digest()
    replayed = given.rows(f'FIND(?m, {STRENGTH}) WHERE {{ ?m {{type: "mem/Event"}} }}')
    assert given.rows(f'FIND(?m, {STRENGTH}) WHERE {{ ?m {{type: "mem/Event"}} }}') == replayed
    signals = given.element(memory)["facets"]
    observe(
        "MEM-014",
        silence_recorded=facet["decision"] == "silence",
        epistemic_or_authority_change=judged() != before,
        read_reinforcement=given.nexus.digest() != digest,
    )
    assert signals == {
        exact('"mem/MnemonicState"').strip('"'): {"salience": 0.9, "utility": 0.8, "memory_strength": 0.7}
    }


FAILED = """MUTATE {
  CREATE CONCEPT ?one { TYPE "mem/ExperienceStep" SET ATTRIBUTES {step_kind: "action", summary: "migrate"} }
  CREATE CONCEPT ?two { TYPE "mem/ExperienceStep" SET ATTRIBUTES {
    step_kind: "observation", summary: "the service is down", result_status: "failure"} }
  CREATE CONCEPT ?e { TYPE "mem/Experience"
    SET ATTRIBUTES {goal: "deploy", outcome_status: "failure", outcome_summary: "migration before drain"}
    SET FACET "mem/MnemonicState" {memory_strength: 0.01, utility: 0.0}
    SET STRUCTURAL { ("mem/has_step", ?one) {index: 0} ("mem/has_step", ?two) {index: 1} } }
}"""


def test_mem_015_a_failure_is_kept_and_order_is_no_cause() -> None:
    given = scene()
    made = given.do(FAILED)
    steps = given.rows(
        'FIND(?e.index, ?s.attributes.summary) WHERE { ?e STRUCTURAL (:x, "mem/has_step", ?s) ?s CONCEPT {} } '
        "ORDER BY ?e.index",
        x=made["e"],
    )
    assert [summary for _, summary in steps] == ["migrate", "the service is down"]
    found = given.rows('FIND(?x.id) WHERE { ?x {type: "mem/Experience", attributes: {outcome_status: "failure"}} }')
    text = 'FIND(COUNT(?p)) WHERE { ?p (?a, "mem/caused_by", ?b) }'
    implicit = given.ask(text)
    # A suspected cause is a claim of somebody, with its evidence.
    given.do(
        """MUTATE {
          CREATE EVIDENCE ?log { SET FIELDS {evidence_class: "tool_output", payload: "lock timeout"} }
          ASSERT (:two, "mem/caused_by", :one) {by: :self_agent, mode: "inferred", confidence: 0.4, evidence: ?log}
        }""",
        **{name: made[name] for name in ("one", "two")},
    )
    assert given.ask(text) == 1
    observe(
        "MEM-015",
        failed_experience_recallable=found == [made["e"]],
        implicit_causal_assertions=implicit,
    )


def test_mem_016_a_commitment_is_explicit_and_time_fulfils_nothing() -> None:
    given = scene()
    due = DAY("09-01")
    owed = given.do(
        """CREATE CONCEPT ?c { TYPE "mem/Commitment" NAME "call Bob"
          SET ATTRIBUTES {summary: "call Bob", status: "pending", due_at: :due}
          SET FACET "mem/MnemonicState" {memory_strength: 0.01} }""",
        due=due,
    )["c"]
    task = given.do(
        """CREATE CONCEPT ?t { TYPE "mem/SleepTask"
          SET ATTRIBUTES {task_class: "consolidate", summary: "sleep on it", status: "pending"}
          SET STRUCTURAL { ("mem/assigned_to", :bob) } }"""
    )["t"]
    given.nexus.govern.grant("worker", "discover", "read")
    given.nexus.govern.bind("worker", given.ids["bob"])
    denied = refused(lambda: given.as_("worker").write('UPDATE :t SET ATTRIBUTES {status: "running"}', t=task)).code
    given.nexus.govern.grant("worker", "update", ids=[task])
    given.as_("worker").do('UPDATE :t SET ATTRIBUTES {status: "running"}', t=task)

    given.clock.now = instant(DAY("12-24"))
    before = given.nexus.digest()
    late = given.rows(
        'FIND(?c.id) WHERE { ?c {type: "mem/Commitment", attributes: {status: "pending"}} '
        "FILTER(?c.attributes.due_at < :now) }",
        now=DAY("12-24"),
    )
    element = given.element(owed)
    assert element["retention"]["expires_at"] is None and element["_system"]["state"] == "active"
    assert given.nexus.digest() == before
    observe(
        "MEM-016",
        due_commitment_visible=late == [owed],
        ungranted_worker_denied=denied == "NotAuthorized",
        automatic_fulfillment=element["attributes"]["status"] != "pending",
    )


def pin() -> dict[str, str]:
    from kipql.strength import HALF_LIFE_30D, HALF_LIFE_30D_DIGEST

    return {"artifact_ref": HALF_LIFE_30D, "content_digest": HALF_LIFE_30D_DIGEST}


ANCHOR = DAY("01-01")
REMEMBERED = """CREATE CONCEPT ?m { TYPE "mem/Event" NAME :name SET ATTRIBUTES {summary: "s"}
  SET FACET "mem/MnemonicState" :state }"""


def remember(given: Scene, name: str, **state: Any) -> str:
    members = ", ".join(f"{key}: :{key}" for key in state)
    return given.do(REMEMBERED.replace(":state", f"{{{members}}}"), name=name, **state)["m"]


def strength(given: Scene, name: str) -> Any:
    return given.ask(f'FIND({STRENGTH}) WHERE {{ ?m {{type: "mem/Event", name: :name}} }}', name=name)


def test_mem_030_strength_is_computed_under_its_pinned_policy_or_unknown() -> None:
    given = scene()
    whole = {"memory_strength": 0.8, "last_metabolized_at": ANCHOR, "strength_policy": pin()}
    remember(given, "whole", **whole)
    for missing in whole:
        remember(given, missing, **{key: value for key, value in whole.items() if key != missing})
    remember(given, "other", **{**whole, "strength_policy": {**pin(), "content_digest": f"sha256:{'0' * 64}"}})
    before = given.nexus.digest()
    seen = {}
    for name, at in {"before": "2025-12-25T00:00:00.000Z", "later": DAY("01-31")}.items():
        given.clock.now = instant(at)
        seen[name] = strength(given, "whole")
    unknown = [strength(given, name) for name in ("memory_strength", "last_metabolized_at", "strength_policy", "other")]
    code = given.refused(
        'UPDATE ?m SET FACET "mem/MnemonicState" {effective_strength: 0.5} WHERE { ?m {name: "whole"} }'
    )
    assert unknown[:2] == [None, None]
    observe(
        "MEM-030",
        before_anchor=seen["before"],
        one_half_life=seen["later"],
        missing_policy=unknown[2],
        digest_mismatch=unknown[3],
        write_error=code,
        stored_strength_writes=int(given.nexus.digest() != before),
    )


def test_rel_011_strength_is_read_again_and_again_and_after_a_restart(tmp_path: Path) -> None:
    given = scene(path=tmp_path / "m")
    remember(given, "it", memory_strength=0.8, last_metabolized_at=ANCHOR, strength_policy=pin())
    confidence = given.element(given.ids["a_alice_prefers"])["confidence"]
    before, head = given.nexus.digest(), given.nexus.space_seq
    given.clock.now = instant(DAY("01-31"))
    first = [strength(given, "it") for _ in range(5)]
    given.nexus.close()
    again = Scene(kipql.open(tmp_path / "m", clock=given.clock), given.clock, given.ids)
    assert strength(again, "it") == first[0] and len(set(first)) == 1
    again.clock.now = instant(DAY("03-02"))
    second = strength(again, "it")
    assert again.element(given.ids["a_alice_prefers"])["confidence"] == confidence
    observe(
        "REL-011",
        one_half_life=first[0],
        two_half_lives=second,
        read_writes=int((again.nexus.digest(), again.nexus.space_seq) != (before, head)),
    )


def test_mif_010_a_reading_is_of_its_sequence_and_of_todays_rights() -> None:
    given = scene("core-basic")
    alice = given.ids["alice"]
    said = given.do(
        """MUTATE {
          CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "UTC+8"} }
          ASSERT ?a (:alice, "test/timezone", "+08:00") {by: :alice, mode: "stated", evidence: ?e}
        }"""
    )
    seq = given.nexus.space_seq
    given.clock.advance(days=1)
    given.do(
        'ASSERT (:alice, "test/timezone", "+01:00") {by: :alice, mode: "stated", at: :at} SUPERSEDING :old',
        old=said["a"],
        at="2026-01-01T00:00:00.001Z",
    )
    reading = f'FIND(?b.accepted_values, ?b.basis) WHERE {{ ?b BELIEF SLOT (:alice, "test/timezone") }} AS OF SEQ {seq}'
    source = f"FIND(?e.payload) WHERE {{ ?e EVIDENCE {{id: :e}} }} AS OF SEQ {seq}"
    before = given.nexus.digest()
    values, found = given.ask(reading)
    kept = (values, found["snapshot_seq"]) == (["+08:00"], seq) and given.slot(alice, "test/timezone")[
        "accepted_values"
    ] == ["+01:00"]
    assert given.ask(source, e=said["e"]) == {"mode": "inline", "inline": "UTC+8"}
    writes = int(given.nexus.digest() != before)

    govern = given.nexus.govern
    govern.labels("public", "secret")
    rule = govern.grant("reader", "discover", "read", "project", up_to="public")
    reader = given.as_("reader")
    assert reader.rows(source, e=said["e"]) == [{"mode": "inline", "inline": "UTC+8"}]
    govern.classify([said["e"], said["a"]], "secret")
    disclosed = bool(reader.rows(source, e=said["e"])) or reader.ask(reading)[0] != []
    assert isinstance(rule, str)
    govern.classify([said["e"], said["a"]], "public")

    given.do('PURGE PAYLOAD :e CONFIRM "PURGE"', e=said["e"])
    erased = given.ask(source, e=said["e"])
    assert given.rows('FIND(?e.id) WHERE { ?e EVIDENCE {} FILTER(CONTAINS(?e.payload.inline, "UTC+8")) }') == []
    observe(
        "MIF-010",
        expansion_preserves_basis=kept,
        revoked_access_disclosed=disclosed,
        erased_expansion_unavailable=erased == {"mode": "purged"},
        expansion_writes=writes,
    )


def test_mif_019_a_deadline_that_passes_in_silence_is_one_item_of_attention() -> None:
    given = scene("core-basic")
    given.do(
        """MUTATE {
          CREATE CONCEPT ?c { TYPE "mem/Commitment"
            SET ATTRIBUTES {summary: "call Bob", status: "pending", due_at: :due} }
          CREATE CONCEPT ?w { TYPE "mem/Watch" SET ATTRIBUTES {
            watch_class: "silence", summary: "no reply of Bob", status: "armed", due_at: :due,
            condition: {slot: {subject: :bob, predicate: "kip://test/core-domain@1.0.0/knows"}} }
            SET STRUCTURAL { ("mem/watches", ?c) } }
        }""",
        due="2026-01-08T00:00:00.000Z",
    )
    cursor = given.nexus.space_seq
    given.clock.advance(days=6)
    assert given.nexus.watches.evaluate() == []
    given.clock.advance(days=2)
    fired = given.nexus.watches.evaluate()
    assert len(fired) == 1 and given.nexus.watches.evaluate() == []

    def attention(after: int) -> list[Any]:
        found = []
        for envelope in given.nexus.query(f"CHANGES AFTER SEQ {after}").rows:
            made = [change["id"] for change in envelope["changes"] if change["op"] == "create"]
            found += [each for each in map(given.element, made) if each.get("activity_class") == "watch_fire"]
        return found

    before, rules = given.nexus.digest(), given.nexus.govern.policy()
    first, then = attention(cursor), attention(given.nexus.space_seq)
    assert given.nexus.govern.policy() == rules
    assert given.rows('FIND(?c.attributes.status) WHERE { ?c {type: "mem/Commitment"} }') == ["pending"]
    observe(
        "MIF-019",
        items_first=len(first),
        items_after_cursor=len(then),
        item_kind={"watch_fire": "watch_fired"}[first[0]["activity_class"]],
        recall_writes=int(given.nexus.digest() != before),
    )
