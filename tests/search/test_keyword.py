"""Keyword SEARCH: what each kind is found by, in which order, and what a hit says (§66)."""

from typing import Any

import pytest

import kipql
from tests.search.memories import ids, memory, message, person, rows, scores

RECORDS: list[dict[str, Any]] = [
    person("Alice Árbol", key="alice", aliases=["Lissy"],
           attributes={"note": "likes hiking", "more": {"deep": ["quartz"]}}),
    person("王芳", key="p:wang-fang"),
    person("Bob", attributes={"note": "has never met Alice", "age": 7, "hiking_club": True}),
    person("Alicia"),
    {"kind": "proposition", "subject": {"id": "C-1"}, "predicate": "lives_in", "object": {"id": "C-5"}},
    {"kind": "assertion", "subject": {"id": "C-1"}, "predicate": "timezone", "object": "Europe/Lisbon",
     "by": {"id": "C-1"}, "mode": "stated", "at": "2026-01-01T00:00:00.000Z"},
    message("We walked the coast; the cliffs were steep."),
    message({"speaker": "Bob", "text": "steep hills", "cliffs": 3}),
    message('{"cliffs": ["only the gulls"]}', media_type="application/json; charset=utf-8"),
    message('{"text": "not json'),
    message("昨天王小明来了"),
    {"kind": "activity", "fields": {"activity_class": "belief_revision", "status": "completed"}},
]  # fmt: skip


@pytest.fixture(scope="module")
def nexus() -> kipql.Nexus:
    place = {"kind": "concept", "type": "Place", "name": "Porto"}
    return memory([*RECORDS[:4], place, *RECORDS[4:]])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # names, aliases, keys; case and accents are folded
        ('SEARCH CONCEPT "ALICE ARBOL"', ["C-1", "C-3"]),
        ('SEARCH CONCEPT "lissy"', ["C-1"]),
        ('SEARCH CONCEPT "p:wang-fang"', ["C-2"]),
        # exact before prefix before words
        ('SEARCH CONCEPT "alice"', ["C-1", "C-3"]),
        ('SEARCH CONCEPT "ali"', ["C-1", "C-4"]),
        ('SEARCH CONCEPT "arb"', ["C-1"]),
        ('SEARCH CONCEPT "bo"', ["C-3"]),
        # attributes: strings at any depth, never a name of one, no number
        ('SEARCH CONCEPT "hikes"', ["C-1"]),
        ('SEARCH CONCEPT "quartz"', ["C-1"]),
        ('SEARCH CONCEPT "deep"', []),
        ('SEARCH CONCEPT "7"', []),
        # scripts without spaces
        ('SEARCH CONCEPT "王芳"', ["C-2"]),
        ('SEARCH CONCEPT "王"', ["C-2"]),
        ('SEARCH EVIDENCE "小明"', ["E-5"]),
        ('SEARCH EVIDENCE "王小明"', ["E-5"]),
        ('SEARCH EVIDENCE "明"', ["E-5"]),
        # Predicates: words, description; the object when it is a text
        ('SEARCH PROPOSITION "lives in"', ["P-1"]),
        ('SEARCH PROPOSITION "lives_in"', ["P-1"]),
        ('SEARCH PROPOSITION "lisbon"', ["P-2"]),
        ('SEARCH PROPOSITION "Porto"', []),
        ('SEARCH ASSERTION "lisbon"', ["A-1"]),
        ('SEARCH ASSERTION "stated"', []),
        # Evidence: text, or the strings of a JSON value
        ('SEARCH EVIDENCE "cliffs"', ["E-1"]),
        ('SEARCH EVIDENCE "gull"', ["E-3"]),
        ('SEARCH EVIDENCE "json"', ["E-4"]),
        ('SEARCH EVIDENCE "steep"', ["E-2", "E-1"]),
        ('SEARCH EVIDENCE "message"', []),
        ('SEARCH ACTIVITY "revision"', ["X-1"]),
        ('SEARCH ACTIVITY "Belief Rev"', ["X-1"]),
        # nothing to find
        ('SEARCH CONCEPT "zebra"', []),
        ('SEARCH CONCEPT ""', []),
        ('SEARCH CONCEPT "?!"', []),
        # filters
        ('SEARCH CONCEPT "porto" WITH TYPE "Place"', ["C-5"]),
        ('SEARCH CONCEPT "porto" WITH TYPE "Person"', []),
        ('SEARCH CONCEPT "porto" WITH TYPE "Event"', []),
        ('SEARCH PROPOSITION "lisbon" WITH PREDICATE "timezone"', ["P-2"]),
        ('SEARCH PROPOSITION "lisbon" WITH PREDICATE "lives_in"', []),
        ('SEARCH PROPOSITION "lisbon" WITH PREDICATE "knows"', []),
        ('SEARCH ASSERTION "lisbon" WITH PREDICATE "timezone"', ["A-1"]),
        ('SEARCH ASSERTION "lisbon" WITH PREDICATE "lives_in"', []),
    ],
)  # fmt: skip
def test_found(nexus: kipql.Nexus, text: str, expected: list[str]) -> None:
    assert ids(nexus, text) == expected


def test_a_hit_names_its_element_exactly_and_says_how_well_it_matches(nexus: kipql.Nexus) -> None:
    (hit,) = rows(nexus, 'SEARCH CONCEPT "lissy" MODE "keyword"')
    score = hit["retrieval"].pop("score")
    assert 0.9 <= score <= 1
    assert hit == {
        "id": "C-1",
        "kind": "concept",
        "schema_ref": "kip://profiles/cognitive-memory@2.0.0/Person",
        "name": "Alice Árbol",
        "snippet": "Lissy",
        "retrieval": {"mode": "keyword"},
    }
    others = [
        ('SEARCH PROPOSITION "lisbon"', "predicate_ref", "kip://domains/general@1.0.0/timezone"),
        ('SEARCH ASSERTION "lisbon"', "predicate_ref", "kip://domains/general@1.0.0/timezone"),
        ('SEARCH EVIDENCE "cliffs"', "evidence_class", "message"),
        ('SEARCH ACTIVITY "revision"', "activity_class", "belief_revision"),
    ]
    for text, member, expected in others:
        (hit,) = rows(nexus, text)
        assert hit[member] == expected


def test_the_context_discloses_freshness_and_ranking(nexus: kipql.Nexus) -> None:
    context = nexus.query('SEARCH CONCEPT "bob"').context
    head = nexus.space_seq
    assert context["index_seq"] == context["snapshot_seq"] == context["current_space_seq"] == head
    assert (context["consistency"], context["mode"]) == ("snapshot", "keyword")
    assert "bm25" in context["ranking"]["method"]


@pytest.mark.parametrize(
    ("text", "parameters", "code"),
    [
        ('SEARCH EVIDENCE "x" WITH TYPE "Person"', {}, "ConstraintViolation"),
        ('SEARCH PROPOSITION "x" WITH TYPE "Person"', {}, "ConstraintViolation"),
        ('SEARCH CONCEPT "x" WITH PREDICATE "knows"', {}, "ConstraintViolation"),
        ('SEARCH ACTIVITY "x" WITH PREDICATE "knows"', {}, "ConstraintViolation"),
        ('SEARCH CONCEPT "x" WITH TYPE "Persn"', {}, "SchemaSymbolNotFound"),
        ('SEARCH PROPOSITION "x" WITH PREDICATE :p', {"p": "likes_to"}, "SchemaSymbolNotFound"),
        ('SEARCH CONCEPT "x" WITH TYPE :t', {"t": 3}, "TypeMismatch"),
        ("SEARCH CONCEPT :q", {"q": 3}, "TypeMismatch"),
        ("SEARCH CONCEPT :q", {"q": None}, "TypeMismatch"),
        ("SEARCH CONCEPT :q", {}, "ReferenceError"),
        ('SEARCH CONCEPT "x" MODE :m', {"m": "fuzzy"}, "SearchModeUnsupported"),
        ('SEARCH CONCEPT "x" MODE "semantic"', {}, "SearchModeUnsupported"),
        ('SEARCH CONCEPT "x" MODE "hybrid"', {}, "SearchModeUnsupported"),
        ('SEARCH CONCEPT "x" THRESHOLD :t', {"t": 1.01}, "ConstraintViolation"),
        ('SEARCH CONCEPT "x" THRESHOLD :t', {"t": -0.1}, "ConstraintViolation"),
        ('SEARCH CONCEPT "x" THRESHOLD :t', {"t": "0.5"}, "TypeMismatch"),
        ('SEARCH CONCEPT "x" THRESHOLD :t', {"t": True}, "TypeMismatch"),
        ('SEARCH CONCEPT "x" LIMIT :n', {"n": -1}, "ConstraintViolation"),
        ('SEARCH CONCEPT "x" LIMIT :n', {"n": "3"}, "TypeMismatch"),
        ('SEARCH CONCEPT "x" AS OF SEQ :s', {"s": 9_999}, "HistoricalSnapshotUnavailable"),
        ('SEARCH CONCEPT "x" CURSOR :c', {"c": "nonsense"}, "CursorInvalid"),
    ],
)
def test_refused(nexus: kipql.Nexus, text: str, parameters: dict[str, Any], code: str) -> None:
    with pytest.raises(kipql.KipError) as caught:
        nexus.query(text, parameters)
    assert caught.value.code == code


def test_a_refusal_stands_at_its_operand(nexus: kipql.Nexus) -> None:
    text = 'SEARCH EVIDENCE "x" WITH TYPE "Person" LIMIT 3'
    with pytest.raises(kipql.KipError) as caught:
        nexus.query(text)
    span = caught.value.span
    assert span is not None and text[span.start : span.end] == '"Person"'


def test_scores_fall_and_stay_in_range(nexus: kipql.Nexus) -> None:
    for text in ("alice", "hiking hills", "the cliffs were steep", "王小明"):
        for kind in ("CONCEPT", "EVIDENCE"):
            found = scores(nexus, f"SEARCH {kind} :q", q=text)
            assert found == sorted(found, reverse=True)
            assert all(0 < score <= 1 for score in found)


def test_equal_scores_stand_in_the_order_of_creation() -> None:
    nexus = memory([message("the same words") for _ in range(7)])
    assert ids(nexus, 'SEARCH EVIDENCE "words"') == [f"E-{at}" for at in range(1, 8)]


def test_rare_words_count_more_and_long_documents_less() -> None:
    common = [message("the garden gate") for _ in range(8)]
    nexus = memory([*common, message("the violet gate"), message("the violet " + "and so on " * 40)])
    assert ids(nexus, 'SEARCH EVIDENCE "violet garden" LIMIT 3') == ["E-9", "E-10", "E-1"]
    assert ids(nexus, 'SEARCH EVIDENCE "violet"') == ["E-9", "E-10"]


def test_a_snippet_is_one_safe_line_around_what_was_found() -> None:
    filler = "nothing of interest happens here at all " * 10
    nexus = memory([message(f"{filler}the\x07 \u202equartz\n lay\t there {filler}")])
    (hit,) = rows(nexus, 'SEARCH EVIDENCE "quartz"')
    assert " the quartz lay there " in hit["snippet"]
    assert len(hit["snippet"]) <= 164
    assert hit["snippet"].startswith("… ") and hit["snippet"].endswith(" …")


def test_nothing_is_written_by_a_search(nexus: kipql.Nexus) -> None:
    before = (nexus.space_seq, nexus.digest())
    rows(nexus, 'SEARCH CONCEPT "alice"')
    assert (nexus.space_seq, nexus.digest()) == before
