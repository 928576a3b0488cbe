"""FILTER(IN(?x.id, ...)) is look-ups for every kind: the rows are those of the filter, and nothing is scanned."""

import pytest

import kipql
from kipql.errors import KipError
from tests.exec.memories import memory
from tests.exec.running import MODES, rows_of, run

KINDS = {
    "CONCEPT": "FIND(?x.id) WHERE { ?x {} FILTER(IN(?x.id, :ids)) }",
    "EVIDENCE": "FIND(?x.id) WHERE { ?x EVIDENCE {} FILTER(IN(?x.id, :ids)) }",
    "ASSERTION": "FIND(?x.id) WHERE { ?x ASSERTION {} FILTER(IN(?x.id, :ids)) }",
    "ACTIVITY": "FIND(?x.id) WHERE { ?x ACTIVITY {} FILTER(IN(?x.id, :ids)) }",
    "PROPOSITION": "FIND(?x.id) WHERE { ?x (?s, ?p, ?o) FILTER(IN(?x.id, :ids)) }",
}
PREFIX = {"CONCEPT": "C", "EVIDENCE": "E", "ASSERTION": "A", "ACTIVITY": "X", "PROPOSITION": "P"}


def said(count):
    """A memory with at least `count` elements of each kind."""
    nexus = kipql.open(packages=["kip://domains/general@1.0.0"])
    with nexus.transaction() as tx:
        for n in range(count):
            tx.execute(
                """MUTATE {
                  CREATE CONCEPT ?c { TYPE "Person" NAME "Ada" }
                  CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "hello"} }
                  CREATE ACTIVITY ?x { SET FIELDS {activity_class: "kipql:test", status: "completed"} }
                  ASSERT (?c, "speaks", :o) {by: ?c, mode: "stated", evidence: ?e}
                }""",
                {"o": f"language {n}"},
            )
    return nexus


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_those_of_the_filter(kind, mode):
    one, two, other = (f"{PREFIX[kind]}-{n}" for n in (1, 2, 3))
    strange = [
        "nobody",
        f"{PREFIX[kind]}-999",
        f"{PREFIX[kind]}-01",
        None,
        7,
        [other],
        {"id": two},
        one,
        one,
        "E-9",
        "C-9",
    ]
    assert sorted(rows_of(run(said(3), KINDS[kind], {"ids": strange}, mode))) == [[one], [two]]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("ids", [[], None, [None], ["E-1"]])
def test_nothing_of_the_kind_is_no_row(ids, mode):
    assert rows_of(run(said(1), KINDS["CONCEPT"], {"ids": ids}, mode)) == []


@pytest.mark.parametrize("mode", MODES)
def test_every_other_test_of_the_pattern_holds(mode):
    text = 'FIND(?x.id) WHERE { ?x {type: "Robot"} FILTER(IN(?x.id, :ids)) FILTER(IN(?x.key, ["r1", "leg"])) }'
    known = run(memory("lab"), "FIND(?x.id) WHERE { ?x {} }", {}, mode).rows
    robot = run(memory("lab"), 'FIND(?x.id) WHERE { ?x {type: "Robot", key: "r1"} }', {}, mode).rows
    assert run(memory("lab"), text, {"ids": list(known)}, mode).rows == robot != []


@pytest.mark.parametrize("mode", MODES)
def test_a_merged_concept_stays_left_out(mode):
    whole, any_state = "FIND(?x.id) WHERE { ?x {} %s }", "FIND(?x.id) WHERE { ?x {state: ?s} %s }"
    ids = {"ids": [row[0] for row in rows_of(run(memory("merged"), any_state % "", {}, mode))]}
    given = "FILTER(IN(?x.id, :ids))"
    expected = rows_of(run(memory("merged"), whole % "", {}, mode))
    assert len(expected) < len(ids["ids"])
    assert sorted(rows_of(run(memory("merged"), whole % given, ids, mode))) == sorted(expected)
    assert len(rows_of(run(memory("merged"), any_state % given, ids, mode))) == len(ids["ids"])


@pytest.mark.parametrize("mode", MODES)
def test_no_list_is_an_error_even_without_a_row(mode):
    with pytest.raises(KipError, match="must be a list"):
        run(memory("empty"), KINDS["CONCEPT"], {"ids": "C-1"}, mode)


@pytest.mark.parametrize("kind", KINDS)
def test_probes_do_not_grow_with_the_memory(kind):
    def probes(count):
        ids = [f"{PREFIX[kind]}-1", f"{PREFIX[kind]}-2", "nobody"]
        return said(count).explain(KINDS[kind], {"ids": ids}).rpartition("\n")[2]

    assert probes(3) == probes(400)
    assert probes(3).startswith("2 rows")


def test_an_element_that_is_hidden_is_not_found_by_its_id():
    nexus = said(2)
    nexus.execute('TRANSITION :c TO "archived"', {"c": "C-2"})
    assert nexus.query(KINDS["CONCEPT"], {"ids": ["C-1", "C-2"]}).rows == ["C-1"]


@pytest.mark.parametrize("mode", ["compiled", "closures"])
def test_ids_are_charged_to_the_budget(mode):
    with pytest.raises(KipError) as raised:
        run(
            memory("lab"), KINDS["CONCEPT"], {"ids": [f"C-{n}" for n in range(1, 1_001)]}, mode, kipql.Limits(ticks=100)
        )
    assert raised.value.details["limit"] == "ticks"
