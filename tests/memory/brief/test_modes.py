"""What each mode answers, who a question is about, and how its queries are shipped."""

import json

import pytest

import kipql
from kipql.importers.chat import chat_package
from kipql.memory.brief import MODES, QUERIES
from kipql.memory.brief.queries import names, query
from tests.memory.brief.support import brain_of, refs, say, world


def test_every_mode_has_documented_queries():
    assert set(QUERIES) == set(MODES)
    assert {name for listed in QUERIES.values() for name in listed} <= set(names())


FIRST = {"basis", "ground", "counterparty", "entity", "meta"}


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "document"])
def test_a_mode_reads_the_queries_that_it_names(mode, monkeypatch):
    from kipql.memory.brief import brain as home

    nexus, ids = world()
    readings, reading = [], home.Reading
    monkeypatch.setattr(home, "Reading", lambda *given: readings.append(reading(*given)) or readings[-1])
    for asked in ("deploy version 2 with Ada", "Does Bob know the way?"):
        brain_of(nexus).recall(asked, mode=mode, predicate="speaks", subject=ids["bob"])
    read = {found.name for one in readings for found in one.found}
    assert read <= {*QUERIES[mode], *FIRST}
    assert read & set(QUERIES[mode])


@pytest.mark.parametrize("name", names())
def test_a_shipped_query_is_documented_and_formatted_to_be_read(name):
    text = query(name)
    assert text.startswith("// ") and text.endswith("\n")
    assert max(map(len, text.splitlines())) <= 120
    assert kipql.classify(text) == ("KML" if name == "wiki_write" else "META" if name == "changes" else "KQL")


# who it is about


@pytest.mark.parametrize(
    ("asked", "context", "how", "name"),
    [
        ("Where does Ada live?", {}, "named", "Ada"),
        ("where does ada live?", {}, "named", "Ada"),
        ("Where does Ada live?", {"counterparty": "bob"}, "named", "Ada"),
        ("Where do they live?", {"counterparty": "bob"}, "counterparty", "Bob"),
        ("Where do they live?", {"agent": "bob"}, "none", None),
        ("Where do they live?", {}, "none", None),
        ("Does Ada live in Oslo?", {}, "named", "Ada"),
        ("Is Oslo where Ada lives?", {}, "named", "Oslo"),
        ("阿达住在哪里?", {}, "named", "Ada"),
        ("Where does Adam live?", {}, "none", None),
    ],
)
def test_the_subject_is_a_named_entity_then_the_counterparty_then_nobody(asked, context, how, name):
    nexus, _ = world()
    subject = brain_of(nexus).recall(asked, mode="entity", context=context).subject
    assert (subject["how"], subject.get("name")) == (how, name)


def test_the_counterparty_is_a_key_and_no_name():
    nexus, _ = world()
    assert brain_of(nexus).recall("they", mode="entity", context={"counterparty": "Bob"}).subject["id"] is None
    nexus.execute('CREATE CONCEPT ?o { TYPE "Organization" NAME "Bob & Co" SET FIELDS {key: "bob"} }')
    with pytest.raises(kipql.KipError) as caught:
        brain_of(nexus).recall("they", mode="entity", context={"counterparty": "bob"})
    assert caught.value.code == "IdentitySelectorRequired"


def test_a_name_of_several_is_ambiguous_and_nobody_is_chosen():
    nexus, ids = world()
    other = nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" SET FIELDS {key: "ada-2"} }').handles["a"]
    answer = brain_of(nexus).recall("Where does Ada live?", mode="fact")
    assert answer.subject["id"] is None and answer.status != "success"
    (warning,) = [one for one in answer.warnings if one["kind"] == "ambiguous"]
    assert set(warning["refs"]) == {ids["ada"], other}
    assert not brain_of(nexus).brief("Where does Ada live?").coverage["action_eligible"]
    exact = brain_of(nexus).recall("Where does Ada live?", mode="fact", subject=ids["ada"])
    assert exact.text == "Ada lives in Rome"


def test_a_name_inside_a_longer_name_is_not_meant():
    nexus, _ = world()
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada Lovelace" }')
    brain = brain_of(nexus)
    assert brain.recall("Who is Ada Lovelace?", mode="entity").subject["name"] == "Ada Lovelace"
    assert brain.recall("Who is Ada?", mode="entity").subject["name"] == "Ada"


def test_names_are_probed_in_all_forms_in_one_batch(monkeypatch):
    nexus, ids = world()
    requests, request = [], kipql.Nexus.request
    monkeypatch.setattr(
        kipql.Nexus, "request", lambda self, envelope: requests.append(envelope) or request(self, envelope)
    )
    found = brain_of(nexus).ground("罗马", "Rome")
    assert found[0]["id"] == ids["rome"]
    assert [len(envelope["operations"]) for envelope in requests] == [2]


# modes


def test_a_fact_from_either_end():
    nexus, _ = world()
    brain = brain_of(nexus)
    assert brain.recall("Who is in Rome?", mode="fact").text == "Ada lives in Rome"
    assert brain.recall("Where does Ada live?").mode == "fact"


def test_without_an_accepted_claim_the_sources_are_shown_as_sources():
    nexus, ids = world()
    answer = brain_of(nexus).recall("Would Bob like to see Oslo one day?", mode="fact", subject=ids["bob"])
    assert [(item["ref"], item["role"]) for item in answer.answer] == [(ids["talk"], "source")]
    assert (answer.status, answer.uncertainty) == ("partial", 0.5)
    assert any("no claim about this is accepted" in gap for gap in answer.gaps)


def test_events_that_match_and_events_that_involve():
    nexus, ids = world()
    for key, summary, at in (("a", "a walk in the park", "2026-01-01"), ("b", "a concert", "2026-02-01")):
        nexus.execute(
            """CREATE CONCEPT ?e { TYPE "Event" SET FIELDS {key: :key}
            SET ATTRIBUTES {summary: :summary, started_at: :at}
            SET STRUCTURAL { ("involves", :ada) } }""",
            {"key": key, "summary": summary, "at": f"{at}T00:00:00.000Z", "ada": ids["ada"]},
        )
    answer = brain_of(nexus).recall("Was Ada on a walk in the park?", mode="event")
    assert [item["key"] for item in answer.answer] == ["a", "b"]


def test_waking_up_reads_every_change_since_the_basis(monkeypatch):
    from kipql.memory.brief import wake

    monkeypatch.setattr(wake, "PAGE", 2)
    nexus, ids = world()
    basis = nexus.space_seq
    nexus.execute(
        'CREATE CONCEPT ?w { TYPE "WorkingState" SET ATTRIBUTES {summary: "planning", basis_seq: :seq} }',
        {"seq": basis},
    )
    for number in range(5):
        nexus.execute(f'CREATE CONCEPT ?p {{ TYPE "Person" NAME "P{number}" }}')
    answer = brain_of(nexus).recall("Where was I?", mode="wake")
    assert answer.answer["since"] == basis and answer.answer["working_state"]["evidence"] is False
    assert [commit["space_seq"] for commit in answer.answer["changes"]] == list(range(basis + 1, nexus.space_seq + 1))
    assert refs(answer.answer["commitments"]) == [ids["owed"]]
    then = brain_of(nexus).recall("Where was I?", mode="wake", time={"as_of_seq": basis + 2})
    assert [commit["space_seq"] for commit in then.answer["changes"]] == [basis + 1, basis + 2]


@pytest.mark.parametrize(("failures", "whole"), [(1, True), (9, False)])
def test_an_expired_cursor_is_begun_anew_once(monkeypatch, failures, whole):
    from kipql.memory.brief import wake
    from kipql.memory.brief.reading import Found, Reading

    monkeypatch.setattr(wake, "PAGE", 1)
    nexus, _ = world()
    nexus.execute('CREATE CONCEPT ?w { TYPE "WorkingState" SET ATTRIBUTES {summary: "planning", basis_seq: 0} }')
    meta, left = Reading.meta, [failures]

    def failing(self, text, values=None):
        if "CHANGES SINCE" in text and left[0]:
            left[0] -= 1
            return self._note(Found("meta", [], error="CursorExpired"))
        return meta(self, text, values)

    monkeypatch.setattr(Reading, "meta", failing)
    answer = brain_of(nexus).recall("Where was I?", mode="wake")
    assert (len(answer.answer["changes"]) == nexus.space_seq) is whole
    assert ("incomplete_changes" in {warning["kind"] for warning in answer.warnings}) is not whole
    assert answer.uncertainty == (0.0 if whole else 0.5)


def test_a_working_picture_of_another_task_is_not_served():
    nexus, _ = world()
    task = nexus.execute('CREATE CONCEPT ?t { TYPE "Topic" NAME "task" }').handles["t"]
    nexus.execute('CREATE CONCEPT ?w { TYPE "WorkingState" SET ATTRIBUTES {summary: "general", basis_seq: 1} }')
    nexus.execute(
        """CREATE CONCEPT ?w { TYPE "WorkingState" SET ATTRIBUTES {summary: "of the task", basis_seq: 1}
        SET FACET "MemoryScope" {task_ref: :task, context_refs: []} }""",
        {"task": task},
    )
    brain = brain_of(nexus)
    assert brain.recall("resume", mode="wake").answer["working_state"]["text"] == "general"
    scoped = brain.recall("resume", mode="wake", scope={"task_ref": task})
    assert scoped.answer["working_state"]["text"] == "of the task"


def test_commitments_of_somebody():
    nexus, ids = world()
    brain = brain_of(nexus)
    assert refs(brain.recall("What is owed to Ada?", mode="commitments").answer) == [ids["owed"]]
    assert not brain.recall("What is owed to Bob?", mode="commitments").answer
    assert "overdue" in {warning["kind"] for warning in brain.recall("Owed?", mode="commitments").warnings}


def test_existence_is_an_honest_check():
    nexus, ids = world()
    answer = brain_of(nexus).recall("see Oslo one day", mode="existence")
    assert answer.answer["recorded"] is True and ids["talk"] in refs(answer.answer["items"])


def test_an_erased_source_is_told_as_erased():
    nexus, ids = world()
    nexus.execute('PURGE PAYLOAD :e CONFIRM "PURGE"', {"e": ids["mail"]})
    answer = brain_of(nexus).recall("Where does Ada live?", predicate="lives_in")
    assert answer.belief == "accepted" and answer.support[0]["evidence"][0]["redacted"] is True
    assert "redacted" in {warning["kind"] for warning in answer.warnings}
    assert "moved to Rome" not in str(answer.to_dict())


def test_an_answer_reads_as_status_answer_and_gaps():
    nexus, _ = world()
    brain = brain_of(nexus)
    assert str(brain.recall("Where does Ada live?", predicate="lives_in")) == (
        "Status: success\n\nAnswer:\nAda lives in Rome: accepted"
    )
    answer = brain.recall("What does Ada speak?", predicate="speaks")
    assert str(answer).startswith("Status: not_found") and "\n\nGaps:\n- " in str(answer)
    assert set(answer.structured) == {"answer", "status", "support", "opposition", "warnings"}
    assert answer.structured["status"] == "insufficient"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"mode": "guess"}, "TypeMismatch"),
        ({"context": {"counterpart": "ada"}}, "TypeMismatch"),
        ({"budget": {"items": 0}}, "TypeMismatch"),
        ({"time": {"as_of_seq": 99}}, "HistoricalSnapshotUnavailable"),
    ],
)
def test_what_can_not_be_asked_is_said(arguments, code):
    nexus, _ = world()
    with pytest.raises(kipql.KipError) as caught:
        brain_of(nexus).recall("Where does Ada live?", **arguments)
    assert caught.value.code == code


def test_a_symbol_that_two_packages_define_is_no_hindrance():
    nexus, ids = world()
    package = json.loads(json.dumps(chat_package()).replace("kip://kipql/chat", "kip://test/twice"))
    definition = {"kind": "ConceptType", "description": "a homonym", "attributes": {"open": True, "fields": {}}}
    types = {name: {"ref": f"kip://test/twice@1.0.0/{name}", **definition} for name in ("Skill", "Experience")}
    package = {name: value for name, value in package.items() if name != "integrity"}
    nexus.install_package({**package, "definitions": {"concept_types": types, "predicates": {}}})
    with pytest.raises(kipql.KipError) as caught:
        nexus.query('FIND(?x) WHERE { ?x {type: "Experience"} }')
    assert caught.value.code == "SchemaSymbolAmbiguous"
    briefing = brain_of(nexus).brief("deploy version 2")
    assert refs(briefing.failed_experiences) == [ids["failed"]] and briefing.complete


def test_claims_of_others_are_told_with_who_made_them():
    nexus, ids = world()
    said = say(nexus, ids["ada"], "speaks", "it", ids["bob"])
    answer = brain_of(nexus).recall("What does Ada speak?", predicate="speaks")
    assert [(claim["ref"], claim["by"]) for claim in answer.support] == [(said, {"id": ids["bob"]})]


def test_a_predicate_that_there_is_not_is_told_with_what_is_near():
    nexus, _ = world()
    answer = brain_of(nexus).recall("Where does Ada live?", predicate="livs_in")
    assert (answer.status, answer.found) == ("not_found", False)
    assert answer.gaps[0] == "there is no Predicate 'livs_in'; did you mean 'lives_in'?"


def test_a_claim_that_a_question_is_about_is_read_however_many_there_are():
    """A budget of few items is no reason to answer with the oldest claims."""
    nexus, ids = world()
    for number in range(30):
        say(nexus, ids["ada"], "speaks", f"dialect {number}", ids["ada"])
    nexus.execute('ASSERT (:a, "knows", :b) {by: :a, mode: "stated"}', {"a": ids["ada"], "b": ids["bob"]})
    brain = brain_of(nexus)
    few = {"items": 5}
    assert brain.recall("Does Ada speak the dialect 27?", budget=few).text.splitlines()[0] == "Ada speaks dialect 27"
    assert brain.brief("Does Ada speak the dialect 27?", budget=few).knowledge[0]["text"] == "Ada speaks dialect 27"
    assert "Ada knows Bob" in brain.recall("What is Bob to Ada?", subject="ada", budget=few).text
