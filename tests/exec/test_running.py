"""What a run does besides rows: budgets, laziness, selection, caches, deep plans, environments."""

import gc
import linecache
from typing import Any

import pytest

import kipql
from kipql import lang
from kipql.errors import KipError
from kipql.exec import engine, explain, prepare, select
from kipql.lang import ast
from kipql.limits import Budget, Limits
from kipql.plan import prepare as plans
from kipql.plan.cells import Value
from tests.exec.memories import LAB, memory
from tests.exec.running import MODES, run


def find(text: str) -> ast.Find:
    parsed = lang.parse(text)
    assert isinstance(parsed, ast.Find)
    return parsed


def view_of(nexus: kipql.Nexus) -> Any:
    return nexus._session.view()


# --- budgets ------------------------------------------------------------------------------------------

CROSS = "FIND(COUNT(?a)) WHERE { ?a {} ?b {} ?c {} ?d {} }"


@pytest.mark.parametrize("mode", MODES)
def test_too_much_work_is_an_error_and_never_a_shorter_answer(mode: str) -> None:
    with pytest.raises(KipError) as caught:
        run(memory("lab"), CROSS, {}, mode, Limits(ticks=5_000))
    assert caught.value.code == "ResourceExhausted"
    assert caught.value.details["limit"] == "ticks"


@pytest.mark.parametrize("mode", MODES)
def test_a_passed_deadline_stops_the_query(mode: str) -> None:
    with pytest.raises(KipError) as caught:
        run(memory("lab"), CROSS, {}, mode, Limits(seconds=0.0))
    assert caught.value.code == "ExecutionTimeout"


@pytest.mark.parametrize("mode", MODES)
def test_too_many_rows_are_an_error(mode: str) -> None:
    with pytest.raises(KipError) as caught:
        run(memory("lab"), "FIND(?a.id) WHERE { ?a {} }", {}, mode, Limits(rows=5))
    assert caught.value.details["limit"] == "rows"


@pytest.mark.parametrize("mode", MODES)
def test_the_hop_limit_never_cuts_silently(mode: str) -> None:
    text = 'FIND(?x.key) WHERE { ("C-7", "leads_to"{1,}, ?x) }'
    assert len(run(memory("lab"), text, {}, mode, Limits(hops=3)).rows) == 3
    with pytest.raises(KipError) as caught:
        run(memory("lab"), text, {}, mode, Limits(hops=2))
    assert caught.value.details["limit"] == "hops"


@pytest.mark.parametrize("mode", MODES)
def test_a_regular_expression_has_a_time_limit(mode: str) -> None:
    nexus = kipql.open()
    nexus.execute('CREATE CONCEPT ?c { TYPE "Person" NAME :n }', {"n": "a" * 40 + "b"})
    text = 'FIND(?c.id) WHERE { ?c {} FILTER(REGEX(?c.name, "^(a|aa)+$")) }'
    with pytest.raises(KipError) as caught:
        run(nexus, text, {}, mode, Limits(regex_match=0.01))
    assert caught.value.code == "ResourceExhausted"
    assert caught.value.span is not None


# --- rows ---------------------------------------------------------------------------------------------


def test_elements_project_whole_and_columns_have_names() -> None:
    rows = run(
        memory("lab"),
        'FIND(?r, ?r.facets["Wear"].level, COUNT(DISTINCT ?p)) WHERE { ?r {key: "arm"} ?p (?x, "has_part", ?r) }',
    )
    assert rows.columns == ("r", "r.facets.Wear.level", "COUNT(DISTINCT p)")
    ((element, level, count),) = rows.rows
    assert (element["id"], element["kind"], level, count) == ("C-5", "concept", 0.9, 1)
    assert rows.context == {
        "space_id": "kip:space:default",
        "snapshot_seq": 4,
        "schema_environment_version": 1,
    }


def test_a_query_with_for_time_says_so_in_its_context() -> None:
    rows = run(memory("lab"), 'FIND(?r.key) WHERE { ?r {key: "arm"} } FOR TIME "2026-01-01T00:00:00.000Z"')
    assert rows.context["valid_at"] == "2026-01-01T00:00:00.000Z"


# --- selection ----------------------------------------------------------------------------------------


def chosen(text: str, *names: str, **parameters: Any) -> list[tuple[Any, ...]]:
    return select(find(f"FIND(?x) WHERE {{ {text} }}").where, names, view_of(memory("lab")), parameters)


def test_select_gives_each_binding_once_elements_as_codes() -> None:
    assert chosen('(?x, "has_part", ?p)', "x") == [(0,), (8,)]
    assert sorted(chosen('?x {key: :k} OPTIONAL { (?x, "stands_in", ?y) }', "x", "y", k="leg")) == [(24, None)]


def test_select_boxes_what_is_no_element() -> None:
    ((value,),) = chosen('({key: "r2"}, "weight", ?w)', "w")
    assert isinstance(value, Value) and value.json == 7.5
    ((value,),) = chosen('?x {key: "arm", type: ?t}', "t")
    assert value.json == "kip://test/lab@1.0.0/Part"


def test_select_refuses_a_variable_that_only_not_binds() -> None:
    with pytest.raises(KipError) as caught:
        chosen('?x {key: "arm"} NOT { ?y {key: "r9"} }', "y")
    assert caught.value.code == "InvalidSyntax"


# --- shapes and environments --------------------------------------------------------------------------


def test_queries_that_differ_in_literals_share_a_plan() -> None:
    environment = view_of(memory("lab")).environment
    one = prepare(find('FIND(?r.key) WHERE { ?r {name: "Ada"} FILTER(?r.key != "r3") }'), environment)
    other = prepare(find('FIND( ?r.key ) WHERE { ?r {name: "Bob"}\nFILTER(?r.key != "r9") }'), environment)
    assert one.planned(environment) is other.planned(environment)
    assert one.run(view_of(memory("lab"))).rows == ["r1"]
    assert other.run(view_of(memory("lab"))).rows == ["r2"]


def test_a_shared_plan_reports_positions_of_the_text_at_hand() -> None:
    nexus = memory("lab")
    for text in ('FIND(SUM(?r.name)) WHERE { ?r {name: "Ada"} }', 'FIND(   SUM(?r.name)) WHERE { ?r {name: "Bob"} }'):
        with pytest.raises(KipError) as caught:
            run(nexus, text)
        assert caught.value.span is not None and caught.value.span.start == text.index("SUM")


def test_a_prepared_query_follows_the_environment_of_its_view() -> None:
    nexus = kipql.open()
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
    before = view_of(nexus)
    prepared = prepare(find("FIND(?t) WHERE { ?x {type: ?t} }"), before.environment)
    assert prepared.run(before).rows == ["kip://profiles/cognitive-memory@2.0.0/Person"]
    nexus.install_packages([LAB])
    nexus.execute('CREATE CONCEPT ?s { TYPE "Robot" NAME "One" }')
    after = view_of(nexus)
    assert after.environment is not before.environment
    assert sorted(prepared.run(after).rows) == [
        "kip://profiles/cognitive-memory@2.0.0/Person",
        "kip://test/lab@1.0.0/Robot",
    ]
    assert prepared.run(before).rows == ["kip://profiles/cognitive-memory@2.0.0/Person"]


def test_a_symbol_that_the_past_did_not_have_is_unknown_there() -> None:
    nexus = kipql.open()
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
    nexus.install_packages([LAB])
    with pytest.raises(KipError) as caught:
        run(nexus, 'FIND(?x) WHERE { ?x {type: "Robot"} } AS OF SEQ 1')
    assert caught.value.code == "SchemaSymbolNotFound"


# --- big plans ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_many_patterns_compile_and_run(mode: str) -> None:
    hops = " ".join(f'(?x{n}, "leads_to", ?x{n + 1})' for n in range(60))
    text = f'FIND(?x60.key) WHERE {{ ?x0 {{key: "hall"}} {hops} }}'
    assert run(memory("lab"), text, {}, mode).rows == ["hall"]
    unordered = " ".join(f'OPTIONAL {{ (?x, "leads_to", ?y{n}) NOT {{ ?y{n} {{key: "hall"}} }} }}' for n in range(30))
    text = f'FIND(?x.key, ?y29.key) WHERE {{ ?x {{key: "hall"}} {unordered} }}'
    assert run(memory("lab"), text, {}, mode).rows == [("hall", "attic")]


@pytest.mark.parametrize("mode", MODES)
def test_deep_blocks_compile_and_run(mode: str) -> None:
    text = '?r {type: "Robot"}'
    for depth in range(20):
        text = f'?x{depth} {{key: "hall"}} OPTIONAL {{ {text} }}'
    assert run(memory("lab"), f"FIND(COUNT(?r)) WHERE {{ {text} }}", {}, mode).rows == [3]


def test_too_many_clauses_are_refused() -> None:
    text = "?x {} " * (plans.MOST_OPERATORS + 1)
    with pytest.raises(KipError) as caught:
        run(memory("lab"), f"FIND(?x.id) WHERE {{ {text} }}")
    assert caught.value.code == "ResourceExhausted"


# --- explain ------------------------------------------------------------------------------------------


def test_explain_counts_what_each_operator_did() -> None:
    view = view_of(memory("lab"))
    prepared = prepare(
        find('FIND(?p.key) WHERE { ?r {key: "r1", type: "Robot"} (?r, "has_part", ?p) }'), view.environment
    )
    assert "(starts" not in explain(prepared, view)
    text = explain(prepared, view, {}, Budget())
    assert "concept ?r [key = $0, type Robot]  (starts 1, rows 1)" in text
    assert "proposition (?r, has_part, ?p)  (starts 1, rows 2)" in text
    assert "2 rows" in text
    assert "def run(view, p, budget" in explain(prepared, view, source=True)


def test_generated_source_is_kept_as_long_as_its_function() -> None:
    namespace: dict[str, Any] = {}
    made = engine.function("def made():\n    return 1\n", "made", namespace)
    file = made.__code__.co_filename
    assert linecache.getline(file, 2) == "    return 1\n"
    del made
    namespace.clear()
    gc.collect()
    assert file not in linecache.cache
