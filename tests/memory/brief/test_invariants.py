"""The 21 invariants of recall (design §2.5), each under its number."""

import re

import pytest

import kipql
from kipql.memory.brief import MODES
from tests.memory.brief.support import NOW, brain_of, opened, refs, say, world

INVARIANTS = {
    1: "recall_writes_nothing",
    2: "reading_does_not_reinforce",
    3: "search_grounds_and_does_not_believe",
    4: "raw_find_shows_what_is_stored_and_not_what_is_true",
    5: "belief_is_virtual",
    6: "missing_is_not_false",
    7: "insufficient_is_not_rejected",
    8: "as_of_is_not_for_time",
    9: "todays_governance_rules_historical_reads",
    10: "similar_is_not_applicable",
    11: "counterexamples_are_looked_for",
    12: "a_skill_is_no_permission",
    13: "a_remote_experience_is_not_told_as_ones_own",
    14: "a_self_model_is_not_governance",
    15: "an_explanation_is_provenance_and_not_hidden_reasoning",
    16: "a_cursor_or_a_token_gives_no_authority",
    17: "a_search_miss_is_not_absence",
    18: "raw_evidence_may_be_more_restricted_than_a_safe_projection",
    19: "uncertainty_is_shown",
    20: "history_is_not_rewritten_for_a_better_answer",
    21: "a_stale_derivation_is_surfaced",
}


def test_every_invariant_has_its_test():
    found = {int(match[1]): match[2] for name in globals() if (match := re.match(r"test_invariant_(\d\d)_(.+)", name))}
    assert found == INVARIANTS


def test_invariant_01_recall_writes_nothing(tmp_path):
    nexus, ids = world()
    seen, before = [], (nexus.space_seq, nexus.digest())
    nexus.subscribe(seen.append)
    brain = brain_of(nexus, exposure=tmp_path / "exposure.jsonl")
    for mode in MODES:
        brain.recall("Where does Ada live?", mode=mode, subject=ids["ada"], detail="evidence")
    brain.call("recall", {"query": "deploy version 2", "mode": "action"})
    brain.call("execute_kip_readonly", {"operations": [{"command": f'TRANSITION "{ids["home"]}" TO "retracted"'}]})
    brain.used([ids["home"]])
    assert (nexus.space_seq, nexus.digest(), seen) == (*before, [])
    assert brain.exposure.records()


def test_invariant_02_reading_does_not_reinforce():
    nexus, ids = world()
    strength = 'FIND(?c.facets["MnemonicState"], ?c._system.version) WHERE { ?c CONCEPT {id: :id} }'
    before = nexus.query(strength, {"id": ids["owed"]}).one()
    brain = brain_of(nexus)
    for _ in range(50):
        assert refs(brain.brief("deploy version 2").open_commitments) == [ids["owed"]]
    assert nexus.query(strength, {"id": ids["owed"]}).one() == before
    assert sum(record["element_id"] == ids["owed"] for record in brain.exposure.records()) == 50


def test_invariant_03_search_grounds_and_does_not_believe():
    nexus, ids = world()
    brain = brain_of(nexus)
    brief = brain.brief("Does Ada live in Oslo?")
    talk = next(item for item in brief.knowledge if item["ref"] == ids["talk"])
    assert (talk["role"], talk["status"]) == ("source", "not_applicable")
    assert [item["value_label"] for item in brief.knowledge if item["role"] == "fact"] == ["Rome"]
    asked = brain.recall("Does Ada live in Oslo?", mode="belief", predicate="lives_in", object=ids["oslo"])
    assert asked.belief == "insufficient" and asked.support == []


def test_invariant_04_raw_find_shows_what_is_stored_and_not_what_is_true():
    nexus, ids = world()
    nexus.execute('TRANSITION :a TO "retracted"', {"a": ids["home"]})
    raw = 'FIND(?p) WHERE { ?p (:ada, "lives_in", ?place) }'
    assert len(nexus.query(raw, {"ada": ids["ada"]}).rows) == 1
    answer = brain_of(nexus).recall("Where does Ada live?", mode="fact")
    assert not any(item["role"] == "fact" for item in answer.answer or [])
    assert any("no claim about this is accepted" in gap for gap in answer.gaps)


def test_invariant_05_belief_is_virtual():
    nexus, ids = world()
    say(nexus, ids["ada"], "lives_in", ids["oslo"], ids["bob"])
    before = nexus.stats()["elements"]
    beliefs = {
        policy: brain_of(nexus, policy=policy).recall("Where does Ada live?", predicate="lives_in").belief
        for policy in ("kip:policy:baseline", "kip:memory-default")
    }
    assert beliefs == {"kip:policy:baseline": "contested", "kip:memory-default": "accepted"}
    assert nexus.stats()["elements"] == before


def test_invariant_06_missing_is_not_false():
    nexus, _ = world()
    answer = brain_of(nexus).recall("Does Bob speak Italian?", predicate="speaks", object="it")
    assert (answer.status, answer.belief, answer.opposition) == ("not_found", "insufficient", [])
    assert any("not a no" in gap for gap in answer.gaps)


def test_invariant_07_insufficient_is_not_rejected():
    nexus, ids = world()
    say(nexus, ids["ada"], "speaks", "it", ids["bob"], stance="reject")
    brain = brain_of(nexus)
    beliefs = [brain.recall("Ada", predicate="speaks", object=tongue).belief for tongue in ("it", "no")]
    assert beliefs == ["rejected", "insufficient"]


def test_invariant_08_as_of_is_not_for_time():
    nexus, ids = world()
    before = nexus.space_seq
    moved = {"at": "2026-06-02T00:00:00.000Z", "valid": {"from": "2026-06-01T00:00:00.000Z"}}
    say(nexus, ids["ada"], "lives_in", ids["oslo"], ids["ada"], **moved)
    brain, homes = brain_of(nexus), {}
    for seq in (before, None):
        for when in ("2026-03-01T00:00:00.000Z", "2026-08-01T00:00:00.000Z"):
            time = {"valid_at": when} | ({} if seq is None else {"as_of_seq": seq})
            answer = brain.recall("Where does Ada live?", predicate="lives_in", time=time)
            assert (answer.basis["snapshot_seq"], answer.basis["valid_at"]) == (seq or nexus.space_seq, when)
            homes[seq is None, when[:7]] = [value["label"] for value in answer.answer]
    assert homes == {
        (False, "2026-03"): ["Rome"],
        (False, "2026-08"): ["Rome"],
        (True, "2026-03"): ["Rome"],
        (True, "2026-08"): ["Oslo"],
    }


def governed():
    """The small memory under rules: carol reads what is not secret."""
    nexus, ids = world()
    nexus.govern.labels("public", "secret")
    nexus.govern.grant("carol", "discover", "read", "search", "project", up_to="public")
    return nexus, ids


def test_invariant_09_todays_governance_rules_historical_reads():
    nexus, ids = governed()
    carol, then = brain_of(nexus.as_principal("carol")), nexus.space_seq
    time = {"as_of_seq": then}
    assert carol.recall("Ada", mode="entity", time=time).found
    nexus.govern.classify(ids["ada"], "secret")
    assert not carol.recall("Ada", mode="entity", time=time).found
    assert not any(item["role"] == "fact" for item in carol.brief("Where does Ada live?", time=time).knowledge)
    assert brain_of(nexus).recall("Ada", mode="entity", time=time).found


SKILL = """MUTATE {
  CREATE CONCEPT ?skill { TYPE "Skill" NAME "Deploy version 2" SET FIELDS {key: "deploy"}
    SET ATTRIBUTES {skill_class: "workflow", summary: "deploy version 2", status: "proposed",
      failure_modes: ["a migration that hangs"]}
    SET STRUCTURAL { ("current_revision", ?revision) } }
  CREATE CONCEPT ?revision { TYPE "SkillRevision"
    SET ATTRIBUTES {task_family: "deploy", procedure: "drain, migrate", preconditions: "v1 is healthy",
      behavior_digest: :digest}
    SET STRUCTURAL { ("revision_of", ?skill) } }
}"""


def skilled(nexus):
    """A proposed Skill with a precondition; its ids."""
    import hashlib
    import json

    fields = {"preconditions": "v1 is healthy", "procedure": "drain, migrate", "task_family": "deploy"}
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return nexus.execute(SKILL, {"digest": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"}).handles


def test_invariant_10_similar_is_not_applicable():
    nexus, _ = world()
    made = skilled(nexus)
    brief = brain_of(nexus).brief("deploy version 2", action_context={"current_state": "v1 is healthy"})
    assert [(item["ref"], item["validated"]) for item in brief.skills] == [(made["skill"], False)]
    assert brief.skills[0]["relevance"] == 1.0  # as similar as can be
    assert [(one["revision"], one["assessment"]) for one in brief.unverified_preconditions] == [
        (made["revision"], "none")
    ]
    assert brief.coverage["unverified_preconditions"] == [made["revision"]]
    assert not brief.coverage["action_eligible"]


def test_invariant_11_counterexamples_are_looked_for():
    nexus, ids = world()
    skilled(nexus)
    brain = brain_of(nexus)
    answer = brain.recall("deploy version 2", mode="procedure")
    assert refs(answer.opposition) == [ids["failed"]]
    assert "failure_modes" in {warning["kind"] for warning in answer.warnings}
    brief = brain.brief("deploy version 2")
    assert refs(brief.failed_experiences) == [ids["failed"]]
    assert "failed_before" in {warning["kind"] for warning in brief.warnings}


def test_invariant_12_a_skill_is_no_permission():
    from tests.mutate.test_kml_skill import promote, sampled

    nexus, opened_trial, attempts, outcomes = sampled()
    promote(nexus, opened_trial, attempts, outcomes)
    brain = brain_of(nexus)
    access = nexus.query("DESCRIBE ACCESS").rows
    item = brain.brief("Deploy").skills[0]
    assert item["validated"] and item["authority"] == {"class": "descriptive", "grants_execution": False}
    assert brain.check_procedure_status("C-1")["recommendation_allowed"]
    assert not any("permi" in member or "execut" in member for member in brain.check_procedure_status("C-1"))
    assert nexus.query("DESCRIBE ACCESS").rows == access


def test_invariant_13_a_remote_experience_is_not_told_as_ones_own():
    source, ids = world()
    target = opened()
    target.import_capsule(source.export_capsule([ids["failed"]]))
    (item,) = brain_of(target).brief("deploy version 2").failed_experiences
    assert item["own"] is False and item["remote"] is True
    assert item["text"].startswith("not this memory's own experience")
    assert "remote" in {warning["kind"] for warning in brain_of(target).brief("deploy version 2").warnings}
    own = brain_of(source).brief("deploy version 2").failed_experiences[0]
    assert own["own"] is True and own["text"].startswith("deploy version 2")


def test_invariant_14_a_self_model_is_not_governance():
    nexus, _ = governed()
    nexus.execute("""CREATE CONCEPT ?self { TYPE "SelfModel" SET FIELDS {key: "self"}
      SET ATTRIBUTES {summary: "I may purge everything", capabilities: ["purge"]} }""")
    carol = nexus.as_principal("carol")
    answer = brain_of(carol).recall("What may I do?", mode="self")
    assert answer.answer[0]["governance"] is False
    assert "self_model" in {warning["kind"] for warning in answer.warnings}
    assert carol.query('DESCRIBE ACCESS WITH {permission: "purge"}').one()["held"] is False


def test_invariant_15_an_explanation_is_provenance_and_not_hidden_reasoning():
    nexus, ids = world()
    answer = brain_of(nexus).recall("Where does Ada live?", predicate="lives_in")
    (claim,) = answer.support
    assert (claim["by"], claim["at"], claim["mode"]) == ({"id": ids["ada"]}, "2026-01-10T00:00:00.000Z", "stated")
    assert [source["text"] for source in claim["evidence"]] == ["I moved to Rome in January."]
    assert set(claim) == {
        *("ref", "proposition", "by", "mode", "stance", "at", "valid_time", "lifecycle", "remote", "evidence")
    }
    (row,) = brain_of(nexus).recall("Ada", mode="audit").answer
    assert (row["ref"], row["evidence"], row["origin"]["principal_id"]) == (ids["home"], ids["mail"], "kip:owner")


def test_invariant_16_a_cursor_or_a_token_gives_no_authority():
    nexus, ids = governed()
    nexus.govern.classify(ids["ada"], "secret")
    people = {"command": 'FIND(?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.name LIMIT 1'}
    reply = nexus.request({"kip": "2.0", "operations": [people]})
    token, cursor = reply["snapshot"]["snapshot_token"], reply["results"][0]["next_cursor"]
    carol = nexus.as_principal("carol")
    seen = carol.request({"kip": "2.0", "operations": [people], "read": {"snapshot_token": token}})
    assert seen["results"][0].get("result") == ["Bob"]
    page = f'{people["command"]} CURSOR "{cursor}"'
    (continued,) = brain_of(carol).call("execute_kip_readonly", {"operations": [{"command": page}]})["results"]
    assert "Ada" not in str(continued)


def test_invariant_17_a_search_miss_is_not_absence():
    nexus, _ = world()
    answer = brain_of(nexus).recall("Have we discussed pricing?", mode="existence")
    assert (answer.status, answer.answer["recorded"]) == ("not_found", None)
    assert any("does not mean that it was not so" in gap for gap in answer.gaps)
    assert brain_of(nexus).call("ground", {"forms": ["Zeno"]}) == {
        "found": False,
        "candidates": [],
        "note": "a miss is not absence",
    }


def test_invariant_18_raw_evidence_may_be_more_restricted_than_a_safe_projection():
    nexus, _ = governed()
    nexus.govern.deny("carol", "read", kinds=["Evidence"], fields=["payload"])
    answer = brain_of(nexus.as_principal("carol")).recall("Where does Ada live?", predicate="lives_in")
    assert answer.belief == "accepted"
    assert "January" not in str(answer.to_dict())
    (source,) = answer.support[0]["evidence"]
    assert (source["text"], source["redacted"]) == (None, True)
    assert "redacted" in {warning["kind"] for warning in answer.warnings}


def test_a_belief_that_may_not_be_made_is_not_replaced_by_raw_claims():
    nexus, _ = world()
    nexus.govern.grant("dave", "discover", "read", "search")
    answer = brain_of(nexus.as_principal("dave")).recall("Where does Ada live?", mode="fact")
    assert not any(item["role"] == "fact" for item in answer.answer or [])
    assert any("ProjectionNotAuthorized" in gap for gap in answer.gaps)


def test_invariant_19_uncertainty_is_shown():
    nexus, ids = world()
    say(nexus, ids["bob"], "lives_in", ids["oslo"], ids["ada"])
    say(nexus, ids["bob"], "lives_in", ids["oslo"], ids["bob"], stance="reject")
    brain = brain_of(nexus, policy="kip:policy:baseline")
    asked = {name: brain.recall(f"Where does {name} live?", predicate="lives_in") for name in ("Ada", "Bob")}
    told = {name: (one.status, one.meta) for name, one in asked.items()}
    assert told == {
        "Ada": ("success", {"found": True, "uncertainty": 0.0}),
        "Bob": ("partial", {"found": True, "uncertainty": 0.5}),
    }
    assert asked["Bob"].structured["status"] == "contested" and asked["Bob"].opposition
    absent = brain.recall("What does Bob speak?", predicate="speaks")
    assert absent.meta == {"found": False, "uncertainty": 1.0}
    brief = brain.brief("Where does Bob live?")
    assert [item["value_label"] for item in brief.contested_assumptions] == ["Oslo"]
    assert not any(item["role"] == "fact" and item["value_label"] == "Oslo" for item in brief.knowledge)


def test_invariant_20_history_is_not_rewritten_for_a_better_answer():
    nexus, ids = world()
    before = nexus.space_seq
    nexus.execute(
        """ASSERT ?a (:ada, "lives_in", :oslo) {by: :ada, mode: "stated", at: "2026-02-01T00:00:00.000Z"}
        SUPERSEDING :old""",
        {"ada": ids["ada"], "oslo": ids["oslo"], "old": ids["home"]},
    )
    brain = brain_of(nexus)
    told = brain.recall("How did the home of Ada change?", mode="history").answer
    assert [(item["value"], item["lifecycle"]["status"]) for item in told] == [
        ({"id": ids["rome"]}, "superseded"),
        ({"id": ids["oslo"]}, "active"),
    ]
    then = brain.recall("Where does Ada live?", predicate="lives_in", time={"as_of_seq": before})
    assert [value["label"] for value in then.answer] == ["Rome"]


def test_invariant_21_a_stale_derivation_is_surfaced():
    nexus, ids = world()
    slot = 'FIND(?home.accepted_values) WHERE { ?home BELIEF SLOT (:ada, "lives_in") }'
    relied_on = nexus.capture(slot, {"ada": ids["ada"]}, expectation="accepted")
    basis = nexus.query(slot, {"ada": ids["ada"]}).basis
    nexus.execute(
        """MUTATE {
          ASSERT ?d (:ada, "speaks", "it") {by: :bob, mode: "inferred"}
          CREATE ACTIVITY ?thought {
            SET FIELDS {activity_class: "inference", status: "completed"}
            SET FACET "DependencyBasis" {basis_seq: :seq, policy_basis: :basis, groups: [], queries: [:relied_on]}
            SET STRUCTURAL { ("inputs", :home) ("outputs", ?d) }
          }
        }""",
        {**ids, "seq": nexus.space_seq, "basis": basis, "relied_on": relied_on},
    )
    brain = brain_of(nexus)
    assert brain.recall("What does Ada speak?", predicate="speaks").belief == "accepted"
    say(nexus, ids["ada"], "lives_in", ids["oslo"], ids["ada"], at="2026-08-01T00:00:00.000Z")
    stale = brain.recall("What does Ada speak?", predicate="speaks")
    assert stale.belief == "uncertain" and "stale_dependency" in {one["kind"] for one in stale.warnings}
    brief = brain.brief("What does Ada speak?")
    assert "it" not in [item.get("value_label") for item in brief.knowledge]
    assert [item["value_label"] for item in brief.contested_assumptions] == ["it"]
    assert "stale_dependency" in {one["kind"] for one in brief.warnings}


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_answers_an_empty_memory(mode):
    with kipql.open(clock=lambda: NOW) as nexus:
        answer = brain_of(nexus).recall("Where does Ada live?", mode=mode)
        if mode == "action":
            assert answer.complete and answer.knowledge == []
        else:
            assert (answer.status, answer.uncertainty) == ("not_found", 1.0)
