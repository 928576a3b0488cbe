"""MERGE CONCEPT, and what a merge means for the writes after it (§11, §61)."""

import pytest

import kipql
from tests.mutate.kml_space import Space


@pytest.fixture
def merged(lab: Space) -> Space:
    """Ada (C-1) is merged into Bob (C-2)."""
    lab.write('MERGE CONCEPT "C-1" INTO "C-2"')
    return lab


def test_a_merge_rewrites_nothing(merged: Space) -> None:
    ada = merged.element("C-1")
    assert (ada["name"], ada["key"], ada["_system"]["state"]) == ("Ada", "ada", "merged")
    assert merged.element("P-1")["subject"] == {"id": "C-1"}
    assert merged.element("A-1")["asserted_by"] == {"id": "C-1"}
    assert merged.element("C-2")["_system"]["version"] == 1


def test_new_writes_land_on_the_survivor(merged: Space) -> None:
    made = merged.write(
        """MUTATE {
          UPSERT CONCEPT ?a { MATCH {type: "Person", key: "ada"} SET FIELDS {name: "Both"} }
          ENSURE PROPOSITION ?p (?a, "near", "C-3")
          ASSERT ?s ("C-1", "near", "C-3") {by: {type: "Person", key: "ada"}, mode: "stated", context: ["C-1"]}
        }"""
    )
    assert made == {"a": "C-2", "p": "P-2", "s": "A-2"}
    assert merged.element("C-2")["name"] == "Both"
    claim = merged.element("A-2")
    assert (claim["proposition"], claim["asserted_by"]) == ({"id": "P-2"}, {"id": "C-2"})
    assert claim["context_refs"] == [{"id": "C-2"}]


def test_only_a_tuple_stored_with_exactly_those_endpoints_is_reused(merged: Space) -> None:
    assert merged.write('ENSURE PROPOSITION ?p ("C-1", "near", "C-3")') == {"p": "P-2"}
    assert merged.write('ENSURE PROPOSITION ?p ("C-1", "near", "C-3")') == {"p": "P-2"}
    assert not merged.changed


def test_the_short_assert_lands_on_the_survivor_too(merged: Space) -> None:
    merged.write('ASSERT ("C-1", "near", "C-1") {by: "C-1", mode: "stated"}')
    assert merged.element("P-2")["subject"] == {"id": "C-2"}
    assert merged.element("P-2")["object"] == {"id": "C-2"}


def test_a_direct_update_lands_on_the_survivor(merged: Space) -> None:
    merged.write('UPDATE "C-1" SET ATTRIBUTES {seen: true}')
    assert merged.element("C-2")["attributes"] == {"seen": True}


@pytest.mark.parametrize("text", ['MERGE CONCEPT "C-1" INTO "C-2"', 'MERGE CONCEPT "C-2" INTO "C-2"'])
def test_a_completed_merge_and_a_merge_into_itself_have_no_effect(merged: Space, text: str) -> None:
    merged.write(text)
    assert not merged.changed


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('MERGE CONCEPT "C-2" INTO "C-1"', "IdentityMergeConflict"),
        ('MERGE CONCEPT "C-1" INTO "C-5"', "IdentityMergeConflict"),
        ('MERGE CONCEPT "C-3" INTO "C-2"', "IdentityMergeConflict"),
        ('MERGE CONCEPT "C-9" INTO "C-2"', "NotFoundOrNotVisible"),
        ('MERGE CONCEPT "P-1" INTO "C-2"', "NotFoundOrNotVisible"),
        ('MERGE CONCEPT ?s INTO "C-2" WHERE { ?s {key: "nobody"} }', "NotFoundOrNotVisible"),
        ('MERGE CONCEPT ?s INTO "C-2" WHERE { ?s {type: "Person"} }', "IdentityMergeConflict"),
        ('MUTATE { MERGE CONCEPT "C-5" INTO "C-6" MERGE CONCEPT "C-6" INTO "C-5" }', "IdentityMergeConflict"),
        ('MUTATE { MERGE CONCEPT "C-5" INTO "C-2" MERGE CONCEPT "C-5" INTO "C-6" }', "DuplicateMutationTarget"),
    ],
)
def test_an_arbitrary_or_circular_merge_is_refused(merged: Space, text: str, code: str) -> None:
    merged.write('MUTATE { CREATE CONCEPT ?c {TYPE "Person"} CREATE CONCEPT ?d {TYPE "Person"} }')
    error = merged.refused(text)
    assert (error.code, error.span is not None) == (code, True)


def test_a_chain_of_merges_ends_at_its_last_target(merged: Space) -> None:
    merged.write('CREATE CONCEPT ?c {TYPE "Person"}')
    merged.write('MERGE CONCEPT "C-2" INTO "C-5"')
    merged.write('ENSURE PROPOSITION ?p ("C-1", "near", "C-3")')
    assert merged.element("P-2")["subject"] == {"id": "C-5"}


def test_endpoints_come_from_the_where(lab: Space) -> None:
    lab.write('MERGE CONCEPT ?s INTO ?t WHERE { ?s {key: "ada"} ?t {key: "bob"} }')
    assert lab.element("C-1")["merged_into"] == {"id": "C-2"} or lab.element("C-1")["merged_into"] == "C-2"


def test_canonical_ids_are_unique(lab: Space) -> None:
    lab.write('UPDATE "C-1" SET FIELDS {canonical_id: "urn:x"}')
    assert lab.refused('UPDATE "C-2" SET FIELDS {canonical_id: "urn:x"}').code == "IdentityConflict"


@pytest.mark.parametrize("by", ["constant", "parameter", "variable"])
@pytest.mark.parametrize("runs", [1, 3])
def test_a_merge_widens_tuples_and_leaves_whose_claim_it_is_as_written(by: str, runs: int) -> None:
    """An object pattern constrains the stored field (§43.1); only the ends of a tuple are read through merges (§43.2),
    and a merge does not make two actors' Assertions those of one (§11.2, §61)."""
    nexus = kipql.open()
    ids = dict(
        nexus.execute("""MUTATE {
      CREATE CONCEPT ?al { TYPE "Person" NAME "Al" SET FIELDS {key: "al"} }
      CREATE CONCEPT ?alice { TYPE "Person" NAME "Alice" SET FIELDS {key: "alice"} }
      ASSERT ?one (?al, "same_as", ?alice) {by: ?al, mode: "stated"}
      ASSERT ?two (?al, "same_as", ?alice) {by: ?alice, mode: "stated"}
    }""").handles
    )
    nexus.execute("MERGE CONCEPT :al INTO :alice", ids)
    term = {"constant": '"{}"', "parameter": ":who", "variable": "?who"}[by]
    for name, claim in (("al", "one"), ("alice", "two")):
        extra = f'?who CONCEPT {{id: "{ids[name]}"}} ' if by == "variable" else ""
        text = f"FIND(?a.id) WHERE {{ {extra}?a ASSERTION {{asserted_by: {term.format(ids[name])}}} }}"
        for _ in range(runs):  # the first runs as closures, later ones as generated source
            assert nexus.query(text, {"who": ids[name]}).rows == [ids[claim]]
    tuples = 'FIND(COUNT(?p)) WHERE { ?p (:who, "same_as", ?o) }'
    assert [nexus.query(tuples, {"who": ids[name]}).scalar() for name in ("al", "alice")] == [1, 1]
