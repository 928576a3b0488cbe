"""The Search Pattern: hits joined in a query, on both engines alike (§43.8)."""

# ruff: noqa: E501  (a statement stays on one line)

from typing import Any

import pytest

import kipql
from kipql.errors import KipError
from kipql.exec import prepare
from kipql.exec.reading import Projections
from kipql.lang import ast, parse
from kipql.limits import Budget
from kipql.plan.parameters import bind
from tests.search.memories import memory, message, person

MODES = ("compiled", "closures", "unoptimised")


@pytest.fixture(scope="module")
def nexus() -> kipql.Nexus:
    place = {"kind": "concept", "type": "Place"}
    lives = {
        "kind": "assertion",
        "predicate": "lives_in",
        "by": {"id": "C-1"},
        "mode": "stated",
        "at": "2026-01-01T00:00:00.000Z",
    }
    nexus = memory(
        [
            person("Alice Quartz"),
            person("Alice"),
            person("Bob", attributes={"note": "knows Alice"}),
            {**place, "name": "Alice Springs"},
            {**place, "name": "Porto"},
            {**lives, "subject": {"id": "C-1"}, "object": {"id": "C-4"}},
            {**lives, "subject": {"id": "C-3"}, "object": {"id": "C-5"}},
            message("Alice went to Porto"),
            message("nothing"),
            person("Alice Gone"),
        ]
    )
    nexus.execute('TRANSITION "C-6" TO "archived"')
    return nexus


def run(nexus: kipql.Nexus, text: str, mode: str = "compiled", **parameters: Any) -> list[Any]:
    view = nexus._session.view()
    find = parse(text)
    assert isinstance(find, ast.Find)
    try:
        rows = prepare(find, view.environment).run(
            view, bind(find, parameters), Budget(), mode=mode, projections=Projections()
        )
    except KipError as error:
        raise error.in_text(text) from None
    return [list(row) if isinstance(row, tuple) else row for row in rows.rows]


CASES: list[tuple[str, list[Any]]] = [
    # in rank order without ORDER BY too; archived elements are no hits
    ('FIND(?x.id) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 10 }', ["C-2", "C-1", "C-4", "C-3"]),
    ('FIND(?x.id) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 2 }', ["C-2", "C-1"]),
    ('FIND(?x.id) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 0 }', []),
    ('FIND(?x.name) WHERE { ?x SEARCH CONCEPT "ALICE" WITH TYPE "Place" MODE "keyword" LIMIT 5 }', ["Alice Springs"]),
    ('FIND(?x.id) WHERE { ?x SEARCH EVIDENCE "porto" LIMIT 5 }', ["E-1"]),
    ('FIND(?x.id) WHERE { ?x SEARCH PROPOSITION "lives" WITH PREDICATE "lives_in" LIMIT 5 }', ["P-1", "P-2"]),
    # the candidates are counted before the rest of the query
    ('FIND(?x.id) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 2 ?x {type: "Place"} }', []),
    ('FIND(?x.id) WHERE { ?x {type: "Place"} ?x SEARCH CONCEPT "alice" LIMIT 3 }', ["C-4"]),
    ('FIND(?x.id) WHERE { ?x SEARCH CONCEPT "alice" THRESHOLD 0.7 LIMIT 10 }', ["C-2", "C-1", "C-4"]),
    ('FIND(?x.id) WHERE { ?x SEARCH CONCEPT "alice" THRESHOLD 0.7 LIMIT 10 FILTER(?x.name != "Alice") }', ["C-1", "C-4"]),
    # joins
    ('FIND(?x.id, ?y.name) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 9 (?x, "lives_in", ?y) }', [["C-1", "Alice Springs"], ["C-3", "Porto"]]),
    ('FIND(?x.id, ?y.id) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 9 ?y SEARCH CONCEPT "alice" WITH TYPE "Place" LIMIT 9 (?x, "lives_in", ?y) }', [["C-1", "C-4"]]),
    ('FIND(?x.id) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 9 ?x SEARCH CONCEPT "quartz" LIMIT 9 }', ["C-1"]),
    # scores
    ('FIND(?x.id) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 9 } ORDER BY ?x.retrieval.score DESC', ["C-2", "C-1", "C-4", "C-3"]),
    ('FIND(?x.id) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 9 } ORDER BY ?x.retrieval.score ASC LIMIT 1', ["C-3"]),
    ('FIND(?x.id, ?x.retrieval.mode) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 1 }', [["C-2", "keyword"]]),
    ('FIND(?x.id) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 9 FILTER(?x.retrieval.score >= 0.9) }', ["C-2"]),
    ('FIND(?x.id) WHERE { FILTER(?x.retrieval.score < 0.7) ?x SEARCH CONCEPT "alice" LIMIT 9 }', ["C-3"]),
    ('FIND(?x.retrieval.rank) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 1 }', [None]),
    ('FIND(?x.retrieval.score) WHERE { ?x {name: "Porto"} }', [None]),
    ('FIND(COUNT(?x), MAX(?x.retrieval.mode)) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 9 }', [[4, "keyword"]]),
    # OPTIONAL and UNION
    ('FIND(?y.id, ?x.id) WHERE { ?y {type: "Place"} OPTIONAL { ?x SEARCH CONCEPT "quartz" LIMIT 1 (?x, "lives_in", ?y) } }', [["C-4", "C-1"], ["C-5", None]]),
    ('FIND(?y.id, ?x.retrieval.mode) WHERE { ?y {type: "Place"} OPTIONAL { ?x SEARCH CONCEPT "quartz" LIMIT 1 (?x, "lives_in", ?y) } }', [["C-4", "keyword"], ["C-5", None]]),
    ('FIND(?x.id) WHERE { ?x SEARCH CONCEPT "quartz" LIMIT 5 UNION { ?x SEARCH EVIDENCE "porto" LIMIT 5 } }', ["C-1", "E-1"]),
    ('FIND(?x.id, ?x.retrieval.mode) WHERE { ?x {name: "Porto"} UNION { ?x SEARCH EVIDENCE "porto" LIMIT 5 } }', [["C-5", None], ["E-1", "keyword"]]),
    ('FIND(?x.id) WHERE { ?x SEARCH CONCEPT "porto" LIMIT 5 UNION { ?x SEARCH CONCEPT "porto" LIMIT 5 } }', ["C-5"]),
    ('FIND(?x.id) WHERE { OPTIONAL { ?x SEARCH CONCEPT "quartz" LIMIT 1 } ?x SEARCH CONCEPT "alice" LIMIT 9 }', ["C-1"]),
    ('FIND(?x.id) WHERE { OPTIONAL { ?x SEARCH CONCEPT "zebra" LIMIT 1 } ?x SEARCH CONCEPT "quartz" LIMIT 9 }', ["C-1"]),
    # NOT may read what a search outside found
    ('FIND(?x.id) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 9 NOT { (?x, "lives_in", ?y) } }', ["C-2", "C-4"]),
    ('FIND(?x.id) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 9 NOT { ?x {type: "Person"} FILTER(?x.retrieval.score < 0.9) } }', ["C-2", "C-4"]),
    ('FIND(?x.id) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 9 } AS OF SEQ 1', ["C-1"]),
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("text", "expected"), CASES)
def test_rows(nexus: kipql.Nexus, text: str, expected: list[Any], mode: str) -> None:
    found = run(nexus, text, mode)
    ordered = "ORDER BY" in text
    assert found == expected if ordered else sorted(found, key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize("mode", MODES)
def test_scores_are_those_of_the_statement(nexus: kipql.Nexus, mode: str) -> None:
    text = 'FIND(?x.id, ?x.retrieval) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 9 } ORDER BY ?x.retrieval.score DESC'
    hits = nexus.query('SEARCH CONCEPT "alice"').rows
    assert run(nexus, text, mode) == [[hit["id"], hit["retrieval"]] for hit in hits]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("text", "parameters", "code", "at"),
    [
        ('FIND(?x) WHERE { ?x SEARCH CONCEPT "alice" }', {}, "InvalidSyntax", None),
        ('FIND(?x) WHERE { ?x CONCEPT {} NOT { ?y SEARCH CONCEPT "bob" LIMIT 5 } }', {}, "InvalidSyntax", None),
        ('FIND(?x) WHERE { ?x SEARCH EVIDENCE "a" WITH TYPE "Person" LIMIT 1 }', {}, "ConstraintViolation", '"Person"'),
        ('FIND(?x) WHERE { ?x SEARCH CONCEPT "a" WITH PREDICATE "knows" LIMIT 1 }', {}, "ConstraintViolation", '"knows"'),
        ('FIND(?x) WHERE { ?x SEARCH CONCEPT "a" WITH TYPE "Persn" LIMIT 1 }', {}, "SchemaSymbolNotFound", '"Persn"'),
        ('FIND(?x) WHERE { ?x SEARCH CONCEPT "a" WITH TYPE :t LIMIT 1 }', {"t": "Persn"}, "SchemaSymbolNotFound", ":t"),
        ('FIND(?x) WHERE { ?x SEARCH CONCEPT "a" MODE "hybrid" LIMIT 1 }', {}, "SearchModeUnsupported", None),
        ('FIND(?x) WHERE { ?x SEARCH CONCEPT "a" MODE :m LIMIT 1 }', {"m": "fuzzy"}, "SearchModeUnsupported", ":m"),
        ('FIND(?x) WHERE { ?x SEARCH CONCEPT "a" THRESHOLD :t LIMIT 1 }', {"t": 2}, "ConstraintViolation", ":t"),
        ('FIND(?x) WHERE { ?x SEARCH CONCEPT "a" LIMIT :n }', {"n": -1}, "ConstraintViolation", ":n"),
        ('FIND(?x) WHERE { ?x SEARCH CONCEPT "a" LIMIT :n }', {"n": 1.5}, "TypeMismatch", ":n"),
        ("FIND(?x) WHERE { ?x SEARCH CONCEPT :q LIMIT 1 }", {"q": 3}, "TypeMismatch", ":q"),
        # also where no row gets there
        ('FIND(?x) WHERE { ?x {name: "Nobody"} OPTIONAL { ?y SEARCH CONCEPT "a" LIMIT :n } }', {"n": -1}, "ConstraintViolation", ":n"),
        ('FIND(?x) WHERE { ?x {name: "Nobody"} ?x SEARCH CONCEPT "a" MODE "semantic" LIMIT 1 }', {}, "SearchModeUnsupported", None),
    ],
)  # fmt: skip
def test_refused(
    nexus: kipql.Nexus, text: str, parameters: dict[str, Any], code: str, at: str | None, mode: str
) -> None:
    with pytest.raises(KipError) as caught:
        run(nexus, text, mode, **parameters)
    assert caught.value.code == code
    if at is not None:
        span = caught.value.span
        assert span is not None and text[span.start : span.end] == at


def test_a_run_searches_once_for_each_pattern(nexus: kipql.Nexus, monkeypatch: pytest.MonkeyPatch) -> None:
    from kipql.search import run as running

    asked = []
    original = running.search
    monkeypatch.setattr(running, "search", lambda *given: asked.append(given[1]) or original(*given))
    text = 'FIND(?x.id) WHERE { ?y {type: "Place"} ?x SEARCH CONCEPT "alice" LIMIT 9 } ORDER BY ?x.retrieval.score DESC'
    for mode in MODES:
        asked.clear()
        run(nexus, text, mode)
        assert len(asked) == 1


def test_pages_of_a_search_are_the_whole(nexus: kipql.Nexus) -> None:
    text = 'FIND(?x.id) WHERE { ?x SEARCH CONCEPT "alice" LIMIT 9 } ORDER BY ?x.retrieval.score DESC'
    whole = nexus.query(text).rows
    first = nexus.query(f"{text} LIMIT 3")
    rest = nexus.query(f"{text} LIMIT 3 CURSOR :c", {"c": first.next_cursor})
    assert first.rows + rest.rows == whole and rest.next_cursor is None


def test_a_transaction_finds_its_own_writes() -> None:
    nexus = memory([person("Quartz")])
    with nexus.transaction() as tx:
        tx.execute('CREATE CONCEPT ?c { TYPE "Person" NAME "Quartz Two" }')
        tx.execute('UPDATE "C-1" SET FIELDS {name: "Opal"}')
        for word, expected in (("quartz", ["C-2"]), ("opal", ["C-1"])):
            assert tx.query("FIND(?x.id) WHERE { ?x SEARCH CONCEPT :q LIMIT 9 }", {"q": word}).rows == expected
    assert nexus.query('FIND(?x.id) WHERE { ?x SEARCH CONCEPT "quartz" LIMIT 9 }').rows == ["C-2"]


def test_search_and_belief_in_one_read(nexus: kipql.Nexus) -> None:
    text = """FIND(?person.name, ?home.status) WHERE {
      ?person SEARCH CONCEPT :query WITH TYPE "Person" LIMIT 20
      ?p (?person, "lives_in", ?place)
      ?home BELIEF (?p)
    } ORDER BY ?person.retrieval.score DESC LIMIT 5"""
    result = nexus.query(text, {"query": "alice"})
    assert [row[0] for row in result.rows] == ["Alice Quartz", "Bob"]
    assert {row[1] for row in result.rows} <= {"accepted", "uncertain", "contested", "insufficient", "rejected"}


def test_explain_names_the_search(nexus: kipql.Nexus) -> None:
    plan = nexus.explain('FIND(?x.retrieval.score) WHERE { ?x SEARCH CONCEPT "alice" WITH TYPE "Person" LIMIT 3 }', {})
    assert "search ?x Concept Person" in plan
