"""What answers a question and what is background: a claim that merely touches a named entity answers nothing."""

import pytest

from kipql.importers.chat import chat_package
from kipql.memory import MemoryInterface
from kipql.memory.brief.asking import roots
from tests.memory.brief.support import brain_of, opened, say, world

LISTED = """MUTATE {
  CREATE CONCEPT ?jon { TYPE "Person" NAME "Jon" SET FIELDS {key: "jon"} }
  CREATE CONCEPT ?cleo { TYPE "Person" NAME "Cleo" SET FIELDS {key: "cleo"} }
  CREATE CONCEPT ?fair { TYPE "Event" SET FIELDS {key: "talk:1:events:1"}
    SET ATTRIBUTES {summary: "Jon goes to a fair.", started_at: "2026-01-05T00:00:00.000Z"} }
  CREATE CONCEPT ?group { TYPE "Event" SET FIELDS {key: "talk:1:events:2"}
    SET ATTRIBUTES {summary: "Cleo attends a LGBTQ support group", started_at: "2026-05-08T00:00:00.000Z"} }
  CREATE CONCEPT ?run { TYPE "Event" SET FIELDS {key: "talk:1:events:3"}
    SET ATTRIBUTES {summary: "Cleo runs a race", started_at: "2026-05-09T00:00:00.000Z"} }
  CREATE CONCEPT ?shop { TYPE "Event" SET FIELDS {key: "talk:1:events:4"} SET ATTRIBUTES {summary: "Jon opens a shop"} }
  CREATE EVIDENCE ?said { SET FIELDS {evidence_class: "message",
    payload: "Cleo: I went to a LGBTQ support group yesterday."} }
}"""


BACKGROUND = "background: "


@pytest.fixture
def nexus():
    """People, and the events of a conversation that somebody lists for them; where nobody lives is never said."""
    nexus = opened()
    nexus.install_package(chat_package())
    ids = nexus.execute(LISTED).handles
    for who, event in (("jon", "fair"), ("jon", "shop"), ("cleo", "group"), ("cleo", "run")):
        say(nexus, ids[who], "took_part_in", ids[event], ids[who])
    return nexus


def test_a_claim_that_only_touches_who_is_asked_about_answers_nothing(nexus):
    answer = brain_of(nexus).recall("Where does Jon live?")
    assert (answer.status, answer.found, answer.uncertainty) == ("not_found", False, 1.0)
    assert any("no accepted claim answers" in gap for gap in answer.gaps)
    assert any("background" in gap for gap in answer.gaps)
    assert [line.startswith(BACKGROUND) for line in answer.text.splitlines()] == [True, True]


def test_what_answers_stands_before_sources_and_background_after_them(nexus):
    knowledge = brain_of(nexus).brief("When did Cleo go to the LGBTQ support group?").knowledge
    assert [(item["role"], item.get("answers")) for item in knowledge] == [
        ("fact", True),
        ("source", True),
        ("fact", False),
    ]
    without = brain_of(nexus).brief("Why did Cleo leave yesterday?").knowledge
    assert [item["role"] for item in without] == ["source", "fact", "fact"]


def test_a_claim_whose_value_speaks_of_most_of_what_is_asked_answers_and_is_not_certain(nexus):
    answer = brain_of(nexus).recall("When did Cleo go to the LGBTQ support group?")
    assert answer.text == "Cleo took part in Cleo attends a LGBTQ support group (2026-05-08)"
    assert (answer.status, answer.uncertainty) == ("success", 0.25)  # three of go, LGBTQ, support, group


def test_a_source_that_speaks_of_what_is_asked_is_found_and_no_belief(nexus):
    answer = brain_of(nexus).recall("Where was Cleo yesterday?")
    assert (answer.status, answer.found, answer.uncertainty) == ("partial", True, 0.5)
    assert answer.answer[0]["role"] == "source" and all(not item["answers"] for item in answer.answer[1:])


@pytest.mark.parametrize(
    ("asked", "eligible", "warned"),
    [
        ("Where does Jon live?", False, {"unanswered"}),
        ("When did Cleo go to the LGBTQ support group?", False, {"partly_answered"}),
        ("Did Cleo run a race?", True, set()),
        ("Who is Jon?", True, set()),
    ],
)
def test_a_briefing_without_an_answer_is_no_ground_to_act_on(nexus, asked, eligible, warned):
    brief = brain_of(nexus).brief(asked)
    assert brief.coverage["action_eligible"] is eligible
    assert {warning["kind"] for warning in brief.warnings} == warned
    goal = brain_of(nexus).brief(asked, action_context={"goal": "plan a party"})
    assert goal.coverage["action_eligible"]  # a goal asks nothing


@pytest.mark.parametrize(
    ("asked", "text", "uncertainty"),
    [
        ("Where does Ada live?", "Ada lives in Rome", 0.0),
        ("Where is Ada living these days?", "Ada lives in Rome", 0.0),
        ("Ada?", "Ada lives in Rome", 0.0),
        ("What do you know about Ada?", "Ada lives in Rome", 0.0),
        ("Is Ada a resident of Rome?", "nothing was found", 1.0),
        ("What does Ada speak?", "nothing was found", 1.0),
    ],
)
def test_a_question_about_a_claim_by_its_predicate_is_answered(asked, text, uncertainty):
    nexus, _ = world()
    nexus.execute('PURGE PAYLOAD :e CONFIRM "PURGE"', {"e": nexus.query(MAIL).rows[0]})
    answer = brain_of(nexus).recall(asked)
    lines = [line for line in answer.text.splitlines() if not line.startswith(BACKGROUND)]
    assert ("\n".join(lines) or "nothing was found", answer.uncertainty) == (text, uncertainty)


MAIL = 'FIND(?e.id) WHERE { ?e EVIDENCE {} FILTER(CONTAINS(?e.payload.inline, "January")) }'


def test_a_description_of_a_predicate_answers_thinly():
    nexus, ids = world()
    say(nexus, ids["ada"], "speaks", "it", ids["ada"])
    answer = brain_of(nexus).recall("What are the languages of Ada?")
    assert (answer.text, answer.status, answer.uncertainty) == ("Ada speaks it", "success", 0.5)


def test_a_question_in_another_language_is_answered_by_its_form():
    nexus, _ = world()
    brain = brain_of(nexus)
    assert not any(item.get("answers") for item in brain.recall("阿达住在哪里?").answer)
    assert brain.recall("阿达住在哪里?", forms=["Where does Ada live?"]).text == "Ada lives in Rome"


def test_an_element_without_a_name_is_called_by_what_it_says(nexus):
    texts = {item["text"] for item in brain_of(nexus).recall("Who is Jon?").answer}
    assert texts == {"Jon took part in Jon goes to a fair (2026-01-05)", "Jon took part in Jon opens a shop"}


def test_the_memory_interface_judges_alike(nexus):
    memory = MemoryInterface(nexus)
    asked = memory.recall("Where does Jon live?")["result"]
    assert "Nothing accepted answers this" in asked["summary"] and "fair" not in asked["summary"]
    assert not asked["coverage"]["action_eligible"]
    assert [item["role"] for item in asked["items"]][-2:] == ["fact", "fact"]
    told = memory.recall("Did Cleo run a race?")["result"]
    assert "Cleo runs a race (2026-05-09)" in told["summary"]


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("lives", "living", True),
        ("run", "running", True),
        ("parties", "party", True),
        ("Ada's", "ada", True),
        ("live", "love", False),
        ("read https://live.example/a", "live", False),
        ("the of is", "", True),
    ],
)
def test_words_are_compared_without_their_endings(one, other, alike):
    assert (roots(other) <= roots(one) and (bool(roots(other)) or not roots(one))) is alike
