"""The acceptance tests of the recall policy (design §2.4), each under its id; K20 is in `tests/memory/test_guard.py`.

K03, K06, K11 and K18 are not listed there: what stands under them here is what §2.1 asks for.
"""

import json
from random import Random

import pytest

import kipql
from tests.memory.brief.support import HALF_LIFE, NOW, brain_of, opened, refs, say, world

ROOTS = {
    "ASSERT": 'ASSERT (:ada, "speaks", "it") {by: :ada, mode: "stated"}',
    "MUTATE": 'MUTATE { CREATE CONCEPT ?x { TYPE "Person" NAME "X" } }',
    "CREATE": 'CREATE CONCEPT ?x { TYPE "Person" NAME "X" }',
    "UPSERT": 'UPSERT CONCEPT ?x { MATCH {type: "Person", key: "x"} SET FIELDS {name: "X"} }',
    "UPDATE": 'UPDATE :ada SET FIELDS {name: "X"}',
    "ENSURE": 'ENSURE PROPOSITION ?p (:ada, "speaks", "it")',
    "TRANSITION": 'TRANSITION :home TO "retracted"',
    "PURGE": 'PURGE PAYLOAD :mail CONFIRM "PURGE"',
    "SET RETENTION": 'SET RETENTION :ada {expires_at: "2027-01-01T00:00:00.000Z"}',
    "MERGE": "MERGE CONCEPT :bob INTO :ada",
    "DEFINE": 'DEFINE PREDICATE "likes" { description: "What is liked." }',
}


def run(brain, *operations):
    """The results of a batch."""
    listed = [one if isinstance(one, dict) else {"command": one} for one in operations]
    return brain.call("execute_kip_readonly", {"operations": listed})["results"]


def state(nexus):
    return nexus.space_seq, nexus.digest()


@pytest.mark.parametrize("root", ROOTS)
def test_K01_every_kml_root_is_refused(root):
    nexus, ids = world()
    assert kipql.classify(ROOTS[root]) == "KML"
    before = state(nexus)
    parameters = {name: ids[name] for name in ("ada", "bob", "home", "mail")}
    (answer,) = run(brain_of(nexus), {"command": ROOTS[root], "parameters": parameters})
    assert (answer["error"]["code"], answer.get("result")) == ("ReadonlyViolation", None)
    assert state(nexus) == before


def test_K02_a_literal_that_looks_like_kml_is_a_literal():
    nexus, _ = world()
    text = """FIND(?c.name) WHERE { ?c {type: "Person"}
      FILTER(?c.name != "ASSERT (:a, \\"p\\", :b) {by: :c}") } ORDER BY ?c.name"""
    (answer,) = run(brain_of(nexus), text)
    assert answer["result"] == ["Ada", "Bob"]


def test_K03_a_write_among_reads_is_refused_alone():
    nexus, _ = world()
    before = state(nexus)
    count = 'FIND(COUNT(?c)) WHERE { ?c {type: "Person"} }'
    first, second, third = run(brain_of(nexus), count, ROOTS["CREATE"], count)
    assert (first["result"], second["error"]["code"], third["result"]) == ([2], "ReadonlyViolation", [2])
    assert state(nexus) == before


def test_K04_what_a_request_says_of_itself_changes_nothing():
    nexus, ids = world()
    before = state(nexus)
    said = f'// this is a read-only query\nUPDATE "{ids["ada"]}" SET FIELDS {{name: "X"}}'
    named = {"command": "FIND(?c.id) WHERE { ?c CONCEPT {name: :name} }", "parameters": {"name": ROOTS["CREATE"]}}
    refused, asked = run(brain_of(nexus), said, named)
    assert (refused["error"]["code"], asked["result"]) == ("ReadonlyViolation", [])
    assert state(nexus) == before


@pytest.mark.parametrize("verb", ["VALIDATE", "PREVIEW"])
def test_K05_checking_kml_is_reading(verb):
    nexus, _ = world()
    before = state(nexus)
    command = {"command": f"{verb} KML :text", "parameters": {"text": ROOTS["CREATE"]}}
    (answer,) = run(brain_of(nexus), command)
    assert answer["status"] == "succeeded"
    assert state(nexus) == before


@pytest.mark.parametrize("member", ["space", "principal", "read", "execution", "ingest"])
def test_K06_a_query_does_not_choose_its_space_or_its_caller(member):
    nexus, _ = world()
    nexus.space("other").execute('CREATE CONCEPT ?x { TYPE "Person" NAME "Elsewhere" }')
    brain = brain_of(nexus)
    people = 'FIND(?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.name'
    asked = {"operations": [{"command": people}], member: {"id": "other"}}
    assert brain.call("execute_kip_readonly", asked)["error"] == "invalid_arguments"
    nested = {"operations": [{"command": people, member: {"id": "other"}}]}
    assert brain.call("execute_kip_readonly", nested)["error"] == "invalid_arguments"
    assert run(brain, people)[0]["result"] == ["Ada", "Bob"]
    brief = brain.brief("Who is Elsewhere? Use the space other.", context={"source": "other", "agent": "Elsewhere"})
    assert "Elsewhere" not in json.dumps(brief.knowledge)


def test_K07_what_does_not_parse_is_a_syntax_error():
    nexus, _ = world()
    (answer,) = run(brain_of(nexus), 'ASSRT (:a, "p", :b) {by: :c}')
    assert answer["error"]["code"] == "InvalidSyntax"


def test_K08_a_claim_never_stored_has_one_row_and_is_insufficient():
    nexus, ids = world()
    belief = {"command": 'FIND(?b.status) WHERE { ?b BELIEF (:s, "speaks", "it") }', "parameters": {"s": ids["ada"]}}
    raw = {
        "command": 'FIND(?c.id) WHERE { ?c CONCEPT {id: :s} NOT { (?c, "speaks", "it") } }',
        "parameters": {"s": ids["ada"]},
    }
    asked, stored = run(brain_of(nexus), belief, raw)
    assert (asked["result"], stored["result"]) == (["insufficient"], [ids["ada"]])


def test_K09_one_for_and_one_against_is_contested_and_both_are_found():
    nexus, ids = world()
    made = [
        say(nexus, ids["ada"], "speaks", "it", ids["ada"]),
        say(nexus, ids["ada"], "speaks", "it", ids["bob"], stance="reject"),
    ]
    (leading,) = run(
        brain_of(nexus),
        {
            "command": 'FIND(?b.status, ?b.leading) WHERE { ?b BELIEF (:s, "speaks", "it") }',
            "parameters": {"s": ids["ada"]},
        },
    )
    assert leading["result"] == [["contested", "none"]]
    answer = brain_of(nexus).recall("Does Ada speak Italian?", predicate="speaks", object="it")
    assert (answer.belief, answer.status) == ("contested", "partial")
    assert [refs(answer.support), refs(answer.opposition)] == [[made[0]], [made[1]]]


def test_K10_the_two_times_give_four_answers():
    nexus, ids = world()
    moved = {"at": "2026-06-02T00:00:00.000Z", "valid": {"from": "2026-06-01T00:00:00.000Z"}}
    second = say(nexus, ids["ada"], "lives_in", ids["oslo"], ids["ada"], **moved)
    before = nexus.space_seq
    text = """ASSERT ?c (:ada, "lives_in", :bergen) {by: :ada, mode: "stated", at: "2026-07-01T00:00:00.000Z",
      valid: {from: "2026-06-01T00:00:00.000Z"}} SUPERSEDING :second"""
    bergen = nexus.execute('CREATE CONCEPT ?b { TYPE "Place" NAME "Bergen" }').handles["b"]
    nexus.execute(text, {"ada": ids["ada"], "bergen": bergen, "second": second})
    brain, homes = brain_of(nexus), []
    for seq in (before, nexus.space_seq):
        for when in ("2026-03-01T00:00:00.000Z", "2026-08-01T00:00:00.000Z"):
            answer = brain.recall("Ada", predicate="lives_in", time={"as_of_seq": seq, "valid_at": when})
            homes.append([value["label"] for value in answer.answer])
    assert homes == [["Rome"], ["Oslo"], ["Rome"], ["Bergen"]]


def test_K11_preferences_are_answered_by_kind_of_option():
    nexus, ids = world()
    made = nexus.execute("""MUTATE {
      CREATE CONCEPT ?sailing { TYPE "Topic" NAME "sailing" }
      CREATE CONCEPT ?acme { TYPE "Organization" NAME "Acme" }
    }""").handles
    say(nexus, ids["ada"], "prefers", made["sailing"], ids["ada"])
    say(nexus, ids["ada"], "prefers", ids["oslo"], ids["ada"])
    say(nexus, ids["ada"], "prefers", made["acme"], ids["ada"])
    say(nexus, ids["ada"], "prefers", made["acme"], ids["bob"], stance="reject")
    answer = brain_of(nexus, policy="kip:policy:baseline").recall("What does Ada prefer?", mode="preferences")
    assert {kind: [one["text"] for one in options] for kind, options in answer.answer.items()} == {
        "Topic": ["sailing"],
        "Place": ["Oslo"],
    }
    assert [one["text"] for one in answer.opposition] == ["Acme"] and answer.uncertainty == 0.5
    slot = brain_of(nexus).recall("Where does Ada live?", predicate="lives_in")
    assert [value["label"] for value in slot.answer] == ["Rome"]


def test_K12_a_citation_is_a_structural_pattern_and_no_list_path():
    nexus, ids = world()
    path = {"command": "FIND(?a.evidence[0]) WHERE { ?a ASSERTION {id: :a} }", "parameters": {"a": ids["home"]}}
    pattern = {
        "command": 'FIND(?e.payload.inline) WHERE { ?a ASSERTION {id: :a} STRUCTURAL (?a, "evidence", ?e) }',
        "parameters": {"a": ids["home"]},
    }
    refused, cited = run(brain_of(nexus), path, pattern)
    assert (refused["error"]["code"], cited["result"]) == ("InvalidSyntax", ["I moved to Rome in January."])


STEPS = """MUTATE {
  CREATE CONCEPT ?x { TYPE "Experience" SET FIELDS {key: "climb"}
    SET ATTRIBUTES {goal: "climb", outcome_status: "success"}
    SET STRUCTURAL { ("has_step", ?b) {index: 1} ("has_step", ?a) {index: 0} } }
  CREATE CONCEPT ?a { TYPE "ExperienceStep" SET ATTRIBUTES {step_kind: "action", summary: "pack"} }
  CREATE CONCEPT ?b { TYPE "ExperienceStep" SET ATTRIBUTES {step_kind: "action", summary: "walk"} }
}"""


def test_K13_steps_keep_their_order_and_order_is_no_cause(tmp_path):
    with kipql.open(tmp_path / "steps.kip") as nexus:
        nexus.execute(STEPS)
    with kipql.open(tmp_path / "steps.kip") as nexus:
        nexus.execute(
            'UPSERT CONCEPT ?x { MATCH {type: "Experience", key: "climb"} SET ATTRIBUTES {goal: "climb it"} }'
        )
        brain = brain_of(nexus)
        (item,) = brain.recall("climb", mode="experience").answer
        assert [(step["index"], step["text"]) for step in item["steps"]] == [(0, "pack"), (1, "walk")]
        assert run(brain, 'FIND(?a, ?b) WHERE { (?b, "caused_by", ?a) }')[0]["result"] == []


def test_K14_a_cursor_belongs_to_its_query_and_its_snapshot():
    nexus, _ = world()
    brain = brain_of(nexus)
    people = 'FIND(?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.name LIMIT 1'
    (page,) = run(brain, people)
    cursor = page["next_cursor"]
    (other,) = run(brain, f'FIND(?p.name) WHERE {{ ?p {{type: "Place"}} }} ORDER BY ?p.name LIMIT 1 CURSOR "{cursor}"')
    assert other["error"]["code"] == "CursorMismatch"
    nexus.execute('CREATE CONCEPT ?x { TYPE "Person" NAME "Aaron" }')
    (continued,) = run(brain, f'{people} CURSOR "{cursor}"')
    assert (continued["result"], continued.get("next_cursor")) == (["Bob"], None)


def test_K15_a_thousand_reads_leave_no_mark():
    nexus, ids = world()
    brain, before = brain_of(nexus), state(nexus)
    strength = 'FIND(?c.facets["MnemonicState"]) WHERE { ?c CONCEPT {id: :id} }'
    held = nexus.query(strength, {"id": ids["owed"]}).one()
    for _ in range(1000):
        brain.recall("What is owed?", mode="commitments")
    assert (state(nexus), nexus.query(strength, {"id": ids["owed"]}).one()) == (before, held)


@pytest.mark.parametrize("missing", ["memory_strength", "last_metabolized_at", "strength_policy"])
def test_K16_a_strength_without_base_or_anchor_is_unknown(missing):
    facet = {"memory_strength": 0.8, "last_metabolized_at": "2026-08-02T00:00:00.000Z", "strength_policy": HALF_LIFE}
    nexus = opened()
    for key, held in (("whole", facet), ("part", {name: facet[name] for name in facet if name != missing})):
        members = ", ".join(f"{name}: :{name}" for name in held)
        nexus.execute(
            f"""CREATE CONCEPT ?x {{ TYPE "Experience" SET FIELDS {{key: :key}}
              SET ATTRIBUTES {{goal: "sail round the cape", outcome_status: "success"}}
              SET FACET "MnemonicState" {{{members}}} }}""",
            {"key": key, **held},
        )
    items = brain_of(nexus).recall("sail round the cape", mode="experience").answer
    assert [(item["key"], item["effective_strength"]) for item in items] == [("whole", 0.4), ("part", None)]


def test_K17_what_is_owed_is_owed_however_faint():
    nexus, ids = world()
    strength = 'FIND(?c.facets["MnemonicState"].effective_strength) WHERE { ?c CONCEPT {id: :id} }'
    assert nexus.query(strength, {"id": ids["owed"]}).scalar() < 0.01
    brain = brain_of(nexus)
    assert refs(brain.recall("What do I owe?", mode="commitments").answer) == [ids["owed"]]
    assert refs(brain.brief("something else entirely").open_commitments) == [ids["owed"]]
    nexus.execute('UPDATE :c SET ATTRIBUTES {status: "fulfilled"}', {"c": ids["owed"]})
    assert brain.brief("What do I owe?").open_commitments == []


def test_K18_relevance_goes_before_salience_and_salience_before_strength():
    nexus, chance = opened(), Random(18)
    members = [
        ("sail round the cape", 0.1, 0.1),
        ("sail round the cape", 0.9, None),
        ("sail round the cape", 0.9, 0.9),
        ("sail round the cape", 0.9, 0.4),
        ("sail round the cape", None, 0.9),
        ("sail past a cape", 1.0, 1.0),
    ]
    written = list(enumerate(members))
    chance.shuffle(written)
    for number, (goal, salience, strength) in written:
        facet = {} if salience is None else {"salience": salience}
        facet |= {} if strength is None else {"memory_strength": strength}
        facet |= {"last_metabolized_at": "2026-09-01T00:00:00.000Z", "strength_policy": HALF_LIFE}
        listed = ", ".join(f"{name}: :{name}" for name in facet)
        nexus.execute(
            f"""CREATE CONCEPT ?x {{ TYPE "Experience" SET FIELDS {{key: :key}}
              SET ATTRIBUTES {{goal: :goal, outcome_status: "success"}} SET FACET "MnemonicState" {{{listed}}} }}""",
            {"key": str(number), "goal": goal, **facet},
        )
    brief = brain_of(nexus).brief("sail round the cape")
    assert [item["key"] for item in brief.successful_experiences] == ["2", "3", "1", "0", "4", "5"]


def test_K18_a_search_says_how_fresh_it_is():
    nexus, _ = world()
    (answer,) = run(brain_of(nexus), 'SEARCH CONCEPT "Ada" LIMIT 1')
    assert answer["context"]["search"]["index_seq"] == nexus.space_seq
    plans = brain_of(nexus).recall("deploy", mode="action", detail="evidence").coverage["plans"]
    assert plans["failure"]["index_seq"] == nexus.space_seq and plans["failure"]["method"] == "approximate"
    assert plans["commitment"]["method"] == "exact"


def test_K19_aggregates_over_nothing():
    nexus, _ = world()
    pattern = 'WHERE { ?p {type: "Person", key: "nobody"} }'
    counted, summed, grouped = run(
        brain_of(nexus),
        f"FIND(COUNT(?p)) {pattern}",
        f"FIND(SUM(?p.attributes.n), AVG(?p.attributes.n), MIN(?p.attributes.n), MAX(?p.attributes.n)) {pattern}",
        f"FIND(?p.name, COUNT(?p)) {pattern}",
    )
    assert (counted["result"], summed["result"], grouped["result"]) == ([0], [[None] * 4], [])


def test_K20_a_batch_is_guarded_too():
    nexus, _ = world()
    brain = brain_of(nexus)
    failures = [run(brain, 'FIND(?x) WHERE { ?x {type: "Unheard"} }')[0]["error"] for _ in range(5)]
    assert [failure["details"].get("repeat") for failure in failures] == [None, None, None, 4, 5]
    assert failures[3]["retry"]["class"] == "requires_different_input"
    nexus.execute('CREATE CONCEPT ?x { TYPE "Person" NAME "New" }')
    assert "repeat" not in run(brain, 'FIND(?x) WHERE { ?x {type: "Unheard"} }')[0]["error"]["details"]


@pytest.mark.parametrize("language", ["META", "KQL"])
def test_K21_a_label_makes_no_read_of_a_write(language):
    nexus, _ = world()
    before = state(nexus)
    (answer,) = run(brain_of(nexus), {"command": ROOTS["CREATE"], "language": language})
    assert answer["error"]["code"] in ("LanguageMismatch", "ReadonlyViolation")
    assert state(nexus) == before


def test_the_clock_of_these_tests_stands_still():
    assert brain_of(opened()).recall("now").basis["valid_at"] == NOW.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def test_a_value_that_a_rule_ranked_behind_is_opposition_and_its_conflict_is_uncertain():
    nexus, ids = world()
    hearsay = say(nexus, ids["ada"], "lives_in", ids["oslo"], ids["bob"])
    for mode in ("belief", "fact"):
        answer = brain_of(nexus).recall("Where does Ada live?", mode=mode, predicate="lives_in")
        assert (answer.status, answer.uncertainty) == ("success", 0.5)
        assert "Rome" in answer.text and "Oslo" not in answer.text
    answer = brain_of(nexus).recall("Where does Ada live?", predicate="lives_in")
    assert [refs(answer.support), refs(answer.opposition)] == [[ids["home"]], [hearsay]]


def test_a_counterparty_that_is_nobodys_key_is_not_said_to_be_missing():
    nexus, _ = world()
    answer = brain_of(nexus).recall("Where do I live?", predicate="lives_in", context={"counterparty": "Ada"})
    assert answer.gaps[0].endswith("`context` names one by its key, never by a name")
