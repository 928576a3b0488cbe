"""FILTER(IN(?x.key, ...)) is look-ups: the rows are those of the filter, and no scan stands behind them."""

import pytest

import kipql
from kipql.errors import KipError
from tests.exec.memories import memory
from tests.exec.running import MODES, rows_of, run

ANY = "FIND(?x.key, ?x.name) WHERE { ?x {} FILTER(IN(?x.key, :keys)) }"
ROBOTS = 'FIND(?x.key) WHERE { ?x {type: "Robot"} FILTER(IN(?x.key, :keys)) }'
LISTS = {
    "one": (["leg"], [["leg", "Leg"]]),
    "two Concepts share a key": (["r1"], [["r1", "Ada"], ["r1", "Key"]]),
    "again": (["leg", "leg", "arm"], [["arm", "Arm"], ["leg", "Leg"]]),
    "unknown": (["nobody"], []),
    "empty": ([], []),
    "null matches nothing": ([None, "leg"], [["leg", "Leg"]]),
    "a number is no key": ([1, True, 2.5, "leg"], [["leg", "Leg"]]),
    "an object is none either": ([{"a": 1}, ["leg"], "leg"], [["leg", "Leg"]]),
    "null instead of a list": (None, []),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", LISTS)
def test_rows_are_those_of_the_filter(name, mode):
    keys, expected = LISTS[name]
    assert sorted(rows_of(run(memory("lab"), ANY, {"keys": keys}, mode))) == expected


@pytest.mark.parametrize("mode", MODES)
def test_the_type_of_the_pattern_holds(mode):
    assert sorted(rows_of(run(memory("lab"), ROBOTS, {"keys": ["r2", "leg", "r1"]}, mode))) == [["r1"], ["r2"]]


@pytest.mark.parametrize("mode", MODES)
def test_two_lists_both_hold(mode):
    text = 'FIND(?x.key) WHERE { ?x {} FILTER(IN(?x.key, ["leg", "arm"])) FILTER(IN(?x.key, :keys)) }'
    assert rows_of(run(memory("lab"), text, {"keys": ["arm", "r1"]}, mode)) == [["arm"]]


@pytest.mark.parametrize("mode", MODES)
def test_a_bound_concept_is_tested(mode):
    text = 'FIND(?p.key) WHERE { ({key: "r1", type: "Robot"}, "has_part", ?p) ?p {} FILTER(IN(?p.key, :keys)) }'
    assert rows_of(run(memory("lab"), text, {"keys": ["leg", "hall"]}, mode)) == [["leg"]]


@pytest.mark.parametrize("mode", MODES)
def test_what_default_recall_leaves_out_stays_out(mode):
    text = "FIND(?x.key) WHERE { ?x {} FILTER(IN(?x.key, :keys)) }"
    state = "FIND(?x.key) WHERE { ?x {state: ?s} FILTER(IN(?x.key, :keys)) }"
    keys = {"keys": ["arm", "old"]}  # a merged and an active Concept
    assert rows_of(run(memory("merged"), text, keys, mode)) == [["arm"]]
    assert sorted(rows_of(run(memory("merged"), state, keys, mode))) == [["arm"], ["old"]]


@pytest.mark.parametrize("mode", MODES)
def test_no_list_is_an_error_even_without_a_row(mode):
    with pytest.raises(KipError, match="must be a list"):
        run(memory("empty"), ANY, {"keys": "leg"}, mode)


def test_probes_do_not_grow_with_the_memory():
    def probes(count):
        nexus = kipql.open(packages=["kip://domains/general@1.0.0"])
        nexus.load({"kind": "concept", "type": "Person", "key": f"p{n}", "name": f"P{n}"} for n in range(count))
        text = 'FIND(?x.name) WHERE { ?x {type: "Person"} FILTER(IN(?x.key, :keys)) }'
        return nexus.explain(text, {"keys": ["p3", "p7", "nobody"]}).rpartition("\n")[2]

    assert probes(10) == probes(2_000) == "2 rows, 5 probes"


@pytest.mark.parametrize("mode", ["compiled", "closures"])
def test_keys_are_charged_to_the_budget(mode):
    limits = kipql.Limits(ticks=100)
    with pytest.raises(KipError) as raised:
        run(memory("lab"), ANY, {"keys": [f"k{n}" for n in range(1_000)]}, mode, limits)
    assert raised.value.details["limit"] == "ticks"
