"""What is easily another thing in SQL: symbols, a variable twice in a pattern, groups of nothing, merges of a grown
lake. The expected values are KQL's; the process and the lake both have them (specification §42-§44)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import lake

REF = "kip://profiles/cognitive-memory@2.0.0"
STORY = """MUTATE {
  CREATE CONCEPT ?a { TYPE "Person" NAME "A" SET FIELDS { key: "a" } }
  CREATE CONCEPT ?c { TYPE "Insight" NAME "C" SET FIELDS { key: "c" } SET ATTRIBUTES { summary: "s" } }
  ASSERT (?a, "prefers", ?c) {by: ?a, mode: "stated"}
}"""
_EDGE = '?a {key: "a"} ?p (?a, ?k, ?b)'
_LOST = '?c {key: "c"} OPTIONAL { ?x {key: "nope"} }'
CASES: list[tuple[str, list[Any]]] = [
    *(
        (f"FIND(?a.name) WHERE {{ {_EDGE} FILTER({condition}) }}", ["A"] if holds else [])
        for condition, holds in (
            ('?k < "zzz"', True),
            ('?k >= "zzz"', False),
            ('!(?k >= "zzz")', True),
            (f'?k == "{REF}/prefers"', True),
            ('?k == "kip://profiles/cognitive-memory/prefers"', True),
            ('?k == "kip://profiles/cognitive-memory@9.9.9/prefers"', True),
            ('?k == "prefers"', False),
            ("?k <= ?k", True),
            ("?k == ?p.predicate_ref", True),
            ("?k <= ?p.predicate_ref", True),
            ("?k < ?p.predicate_ref", False),
            ('?p.predicate_ref > "kip"', True),
            ('?a.schema_ref < "zzz"', True),
            ('CONTAINS(?k, "@2.0.0/")', True),
            ('CONTAINS(?p.predicate_ref, "@2.0.0/")', True),
            ('REGEX(?a.schema_ref, "@[0-9.]+/Person$")', True),
            ('STARTS_WITH(?k, "kip://")', True),
            ('ENDS_WITH(?p.predicate_ref, "/prefers")', True),
            ("?a.name < ?k", True),
            ('IN(?k, ["x"])', False),
            ("IS_LITERAL(?k)", True),
        )
    ),
    (f"FIND(MIN(?k)) WHERE {{ {_EDGE} }}", [f"{REF}/prefers"]),
    (f"FIND(MAX(?p.predicate_ref)) WHERE {{ {_EDGE} }}", [f"{REF}/prefers"]),
    (f"FIND(COUNT(DISTINCT ?k)) WHERE {{ {_EDGE} }}", [1]),
    (f"FIND(?k) WHERE {{ {_EDGE} }} ORDER BY ?k", [f"{REF}/prefers"]),
    (f"FIND(?k, COUNT(?b)) WHERE {{ {_EDGE} }}", [(f"{REF}/prefers", 1)]),
    # one variable twice, bound in no solution before: both ends are one element
    (f'FIND(?c.name) WHERE {{ {_LOST} NOT {{ (?x, "prefers", ?x) }} }}', ["C"]),
    (f'FIND(?c.name, ?x.name) WHERE {{ {_LOST} (?x, "prefers", ?x) }}', []),
    (f'FIND(?c.name, ?x.name) WHERE {{ {_LOST} OPTIONAL {{ ?p (?x, "prefers", ?x) }} }}', [("C", None)]),
    (f'FIND(?c.name, ?x.name) WHERE {{ {_LOST} (?x, "prefers"{{1,2}}, ?x) }}', []),
    (f'FIND(?c.name, ?x.name) WHERE {{ {_LOST} (?x, "prefers", ?y) }}', [("C", "A")]),
    ('FIND(?c.name) WHERE { ?c {key: "c"} OPTIONAL { ?x {key: "nope"} } ?x (?x, "prefers", ?y) }', []),
    ('FIND(?c.name) WHERE { ?c {key: "c"} OPTIONAL { ?x {key: "no", name: ?v} } ?z {key: ?v, name: ?v} }', []),
    # no solutions, no groups (§44.6); an aggregate alone has one all the same
    ('FIND(?k.nothing, COUNT(?x)) WHERE { ?x {key: "nope"} (?x, ?k, ?y) }', []),
    ('FIND(COUNT(?x)) WHERE { ?x {key: "nope"} }', [0]),
    (f"FIND(?k.nothing, COUNT(?a)) WHERE {{ {_EDGE} }}", [(None, 1)]),
]


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    folder = tmp_path_factory.mktemp("semantics") / "lake"
    with kipql.open() as nexus:
        nexus.execute(STORY)
        lake.export(nexus, folder, name="one")
        with lake.open(folder, space="one") as opened:
            yield nexus, opened


@pytest.mark.parametrize(("text", "rows"), CASES, ids=[text for text, _ in CASES])
def test_the_process_and_the_lake_say_what_kql_says(sides: tuple[Any, Any], text: str, rows: list[Any]) -> None:
    for side in sides:
        assert side.query(text).rows == rows


def test_two_versions_of_a_predicate_are_one_symbol_that_reads_as_it_was_written(tmp_path: Path) -> None:
    with kipql.open(packages=[_package("1.0.0")]) as nexus:
        for name in "AB":
            nexus.execute(f'CREATE CONCEPT ?t {{ TYPE "Thing" NAME "{name}" }}')
        nexus.execute('ASSERT ("C-1", "likes", "C-2") {by: "C-1", mode: "stated"}')
        nexus.install_package(_package("1.1.0"))
        nexus.execute('ASSERT ("C-2", "likes", "C-1") {by: "C-1", mode: "stated"}')
        lake.export(nexus, tmp_path / "lake", name="one")
        with lake.open(tmp_path / "lake", space="one") as opened:
            for side in (nexus, opened):
                find = "FIND({}) WHERE {{ ?p (?a, ?k, ?b) {} }}"
                assert side.query(find.format("?a.name", 'FILTER(CONTAINS(?k, "@1.0.0"))')).rows == ["A"]
                assert side.query(find.format("?a.name", 'FILTER(CONTAINS(?p.predicate_ref, "@1.1.0"))')).rows == ["B"]
                assert side.query(find.format("COUNT(DISTINCT ?k)", "")).rows == [1]
                assert side.query(find.format("MIN(?k), MAX(?k)", "")).rows == [
                    ("kip://tests/likes@1.0.0/likes", "kip://tests/likes@1.1.0/likes")
                ]
                # a member is plain text: both refs count (§43.3 makes one of a variable's alone)
                assert side.query(find.format("COUNT(DISTINCT ?p.predicate_ref)", "")).rows == [2]


def test_a_merge_stays_when_the_merged_concept_is_written_again(tmp_path: Path) -> None:
    with kipql.open() as nexus:
        for name in "ABC":
            nexus.execute(f'CREATE CONCEPT ?c {{ TYPE "Person" NAME "{name}" SET FIELDS {{key: "{name}"}} }}')
        nexus.execute('ASSERT ("C-1", "prefers", "C-3") {by: "C-1", mode: "stated"}')
        nexus.execute('MERGE CONCEPT "C-1" INTO "C-2"')
        lake.export(nexus, tmp_path / "lake", name="one")
        nexus.execute('SET RETENTION "C-1" {retention_class: "short"}')
        lake.export(nexus, tmp_path / "lake", name="one")
        with lake.open(tmp_path / "lake", space="one") as opened:
            asked = 'FIND(?p.canonical_subject) WHERE { ?p ("C-2", "prefers", ?b) }'
            for side in (nexus, opened):
                assert side.query(asked).rows == [{"id": "C-2"}]


def _package(version: str) -> dict[str, Any]:
    ends = {"concept_types": ["Thing"]}
    return {
        "manifest": {"package_id": "kip://tests/likes", "version": version},
        "definitions": {
            "concept_types": {"Thing": {"kind": "ConceptType", "description": "A thing."}},
            "predicates": {"likes": {"kind": "PredicateType", "subject": ends, "object": ends}},
        },
    }
