"""The tools of a Brain: their specifications, the language reference, the wiki, the exposure log."""

import json
from pathlib import Path

import jsonschema
import pytest

import kipql
from kipql.memory import Wiki
from kipql.memory.brief.reference import PAGE, kip_reference
from kipql.memory.wiki_text import sections
from tests.memory.brief.support import brain_of, opened, world
from tests.memory.brief.test_briefing import validated

DOCS = Path(__file__).resolve().parents[3] / "docs"
LEAVE = "# Leave\n\nEverybody has 20 days a year.\n\n## Carry over\n\nAt most 5 days carry over to the next year.\n"


def test_specifications_are_json_schemas_for_function_calling():
    from kipql.memory.adapters import mcp_tools, openai_tools

    specs = brain_of(opened(), wiki=Wiki(opened())).tools()
    assert [spec["name"] for spec in specs] == [
        *("recall", "execute_kip_readonly", "check_procedure_status", "ground", "kip_reference"),
        *("wiki_search", "wiki_read"),
    ]
    for spec in specs:
        assert set(spec) == {"name", "description", "parameters"}
        jsonschema.Draft202012Validator.check_schema(spec["parameters"])
    assert openai_tools(specs)[0]["function"]["name"] == mcp_tools(specs)[0]["name"] == "recall"
    json.dumps(specs)


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("recall", {}, "invalid_arguments"),
        ("recall", {"query": 5}, "invalid_arguments"),
        ("recall", {"query": "x", "mode": "guess"}, "invalid_arguments"),
        ("recall", "no json", "invalid_arguments"),
        ("recall", {"query": "x", "time": {"as_of_seq": 99}}, "historical_snapshot_unavailable"),
        ("execute_kip_readonly", {"operations": []}, "invalid_arguments"),
        ("kip_reference", {"document": "secrets"}, "not_found_or_not_visible"),
        ("kip_reference", {"document": "../README"}, "not_found_or_not_visible"),
        ("wiki_search", {"query": "leave"}, "unknown_tool"),
        ("purge", {}, "unknown_tool"),
    ],
)
def test_a_call_never_raises(name, arguments, error):
    answer = brain_of(opened()).call(name, arguments)
    assert answer["error"] == error and answer["code"] and answer["detail"]


def test_arguments_may_be_json_text():
    nexus, _ = world()
    answer = brain_of(nexus).call("recall", '{"query": "Where does Ada live?", "predicate": "lives_in"}')
    assert (answer["status"], answer["belief"], answer["found"], answer["uncertainty"]) == (
        *("success", "accepted", True, 0.0),
    )
    json.dumps(answer)


# the reference


def test_the_reference_lists_the_documents_that_there_are():
    listed = kip_reference()["documents"]
    assert [entry["document"] for entry in listed] == sorted(path.stem for path in DOCS.glob("*.md"))
    assert {"document": "belief", "title": "Belief"} in listed


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.md")), ids=lambda path: path.stem)
def test_the_pages_of_its_sections_are_the_document(path):
    text, read = path.read_text(encoding="utf-8"), []
    for title in kip_reference(path.stem)["sections"]:
        page = kip_reference(path.stem, title)
        whole = [kip_reference(path.stem, title, number)["text"] for number in range(1, page["pages"] + 1)]
        assert all(len(part) <= PAGE for part in whole)
        read.append("".join(whole))
    blank = "".join(text.split())
    assert all("".join(part.split()) in blank for part in read)
    if len(set(kip_reference(path.stem)["sections"])) == len(read):
        assert sum(len("".join(part.split())) for part in read) == len(blank)


def test_a_section_that_there_is_not_names_those_that_there_are():
    with pytest.raises(kipql.KipError) as caught:
        kip_reference("belief", "Nothing")
    assert caught.value.code == "NotFoundOrNotVisible" and "Policies" in str(caught.value.hint)
    assert kip_reference("belief", "policies")["section"] == "Policies"


def test_a_heading_in_a_fence_is_no_section():
    assert "Ada said" not in kip_reference("belief")["sections"]
    assert all(not title.startswith("a change") for title in kip_reference("writing")["sections"])


# the wiki


@pytest.fixture
def wiki():
    made = Wiki(opened(), "hr")
    made.write("leave", LEAVE)
    return made


def test_a_citation_reads_back_what_it_cites(wiki):
    (passage,) = wiki.search("How many days carry over?")
    assert passage["citation"] == f"wiki://hr/leave@1#{LEAVE.index('At most')}-{len(LEAVE.rstrip())}"
    assert wiki.read(passage["citation"])["text"] == passage["text"] == LEAVE[LEAVE.index("At most") :].rstrip()


def test_a_version_never_changes_and_the_latest_answers(wiki):
    assert wiki.write("leave", LEAVE) == "wiki://hr/leave@1"
    changed = LEAVE.replace("20 days", "25 days")
    assert wiki.write("leave", changed) == "wiki://hr/leave@2"
    assert wiki.documents() == [{"doc": "leave", "title": "Leave", "versions": ["1", "2"]}]
    (passage,) = wiki.search("How many days does everybody have?")
    assert (passage["version"], "25 days" in passage["text"]) == ("2", True)
    assert "20 days" in wiki.read("leave@1", view="full")["text"]
    with pytest.raises(kipql.KipError) as caught:
        wiki.write("leave", "other", version="1")
    assert caught.value.code == "ClientKeyConflict"


def test_an_earlier_state_of_the_memory_has_its_own_latest_version(wiki):
    before = wiki.nexus.space_seq
    wiki.write("leave", LEAVE.replace("20 days", "25 days"))
    (passage,) = wiki.search("How many days does everybody have?", as_of_seq=before)
    assert passage["version"] == "1"


def test_a_document_is_read_by_contents_section_or_whole(wiki):
    contents = wiki.read("leave")["contents"]
    assert [(one["title"], one["level"]) for one in contents] == [("Leave", 1), ("Carry over", 2)]
    assert wiki.read("leave", section="carry over")["text"] == LEAVE[LEAVE.index("## Carry") :]
    assert wiki.read("wiki://hr/leave@1", view="full")["text"] == LEAVE
    for one in contents:
        assert wiki.read(one["citation"])["text"].startswith("#")


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        ("leave@9", "NotFoundOrNotVisible"),
        ("holidays", "NotFoundOrNotVisible"),
        ("wiki://sales/leave@1", "NotFoundOrNotVisible"),
        ("wiki://hr/leave@1#90-9999", "NotFoundOrNotVisible"),
        ("wiki://hr/leave@1#9-9", "NotFoundOrNotVisible"),
        ("wiki://hr/leave#1-2", "TypeMismatch"),
        ("http://hr/leave", "TypeMismatch"),
    ],
)
def test_no_citation_is_completed_or_invented(wiki, reference, code):
    with pytest.raises(kipql.KipError) as caught:
        wiki.read(reference)
    assert caught.value.code == code


def test_an_erased_version_is_told_and_an_older_one_takes_no_place_of_it(wiki):
    wiki.write("leave", LEAVE.replace("20 days", "25 days"))
    page = wiki.read("leave")["ref"]
    wiki.nexus.execute('PURGE PAYLOAD :page CONFIRM "PURGE"', {"page": page})
    assert wiki.search("How many days does everybody have?") == []
    with pytest.raises(kipql.KipError) as caught:
        wiki.read("leave")
    assert caught.value.code == "BlobUnavailable"
    assert "20 days" in wiki.read("leave@1", view="full")["text"]


def test_headings_in_fences_are_no_sections():
    assert [one.title for one in sections("intro\n\n# A\n\n```\n# no\n```\n\n## B\n\ntext\n")] == ["", "A", "B"]


def test_policy_questions_go_to_documents_first_and_relations_to_the_graph(wiki):
    nexus, _ = world(wiki.nexus)
    brain = brain_of(nexus, wiki=wiki)
    answer = brain.recall("What is the maximum number of days that carry over?")
    assert (answer.mode, answer.status, answer.uncertainty) == ("document", "success", 0.0)
    assert answer.support[0]["citation"] in answer.text
    assert brain.recall("Where does Ada live?").mode == "fact"


def test_without_documents_an_answer_says_that_there_is_no_authority():
    nexus, _ = world()
    answer = brain_of(nexus).recall("What is the policy about Ada?")
    assert answer.mode == "document" and answer.status == "not_found"
    assert "there is no authoritative source here" in answer.gaps[0]
    assert "wiki://" not in answer.text


def test_a_retracted_digest_of_a_document_is_not_answered_from(wiki):
    nexus, ids = world(wiki.nexus)
    page = wiki.read("leave")["ref"]
    claim = nexus.execute(
        'ASSERT ?a (:bob, "speaks", "it") {by: :bob, mode: "stated", evidence: :page}',
        {"bob": ids["bob"], "page": page},
    ).handles["a"]
    brain = brain_of(nexus, wiki=wiki)
    answer = brain.recall("What does Bob speak?", predicate="speaks")
    assert answer.support[0]["evidence"][0]["ref"] == page
    nexus.execute('TRANSITION :a TO "retracted"', {"a": claim})
    assert brain.recall("What does Bob speak?", predicate="speaks").belief == "insufficient"


# the exposure log


def test_the_log_holds_exposure_records_and_no_contents(tmp_path):
    nexus, ids = world()
    brain = brain_of(nexus, exposure=tmp_path / "log.jsonl")
    brain.brief("deploy version 2")
    brain.used([ids["failed"]], decision_ref="decision-1")
    records = brain.exposure.records()
    for record in records:
        validated("ExposureRecord", record)
    assert [one["element_id"] for one in records if one["exposure"] == "used"] == [ids["failed"]]
    assert ids["failed"] in [one["element_id"] for one in records if one["exposure"] == "retrieved"]
    assert "migration" not in (tmp_path / "log.jsonl").read_text(encoding="utf-8")
    assert {one["principal_id"] for one in records} == {"kip:owner"}


def test_a_log_that_can_not_be_written_is_an_error_of_its_own(tmp_path):
    nexus, _ = world()
    with pytest.raises(kipql.KipError) as caught:
        brain_of(nexus, exposure=tmp_path).brief("deploy version 2")
    assert caught.value.code == "MemoryUnavailable"
