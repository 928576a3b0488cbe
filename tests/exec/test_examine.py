"""`Statement.examine`: what the counters of a run must come to, over many queries."""

import json
from pathlib import Path

import pytest

import kipql
from kipql.lang import ast

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
LIBRARY = Path(kipql.__file__).parent / "audit" / "library"
SCRIPTS = [EXAMPLES / "audits.kql", EXAMPLES / "robots.kql", *sorted(LIBRARY.glob("*.kql"))]
NOW = {"now": "2026-11-01T00:00:00.000Z"}
AGENT = "kip://kipql/agent@1.0.0"


@pytest.fixture(scope="module")
def memory():
    with kipql.open(packages=[json.loads((EXAMPLES / "lab.json").read_text("utf-8")), AGENT]) as nexus:
        for part in kipql.split((EXAMPLES / "lab.kql").read_text("utf-8")):
            nexus.execute(part.text)
        yield nexus


def queries():
    for path in SCRIPTS:
        for part in kipql.split(path.read_text("utf-8")):
            if isinstance(part.statement, ast.Find) and part.statement.limit is None:
                yield pytest.param(part.text, id=f"{path.name}:{part.span.start}")


@pytest.mark.parametrize("text", list(queries()))
def test_a_run_that_is_examined_gives_the_rows_of_one_that_is_not(memory, text):
    statement = memory.prepare(text)
    found = statement.examine(NOW)
    assert found.rows == len(statement.query(NOW).rows)
    assert len(statement.examine().lines) == len(found.lines) > 0


@pytest.mark.parametrize("text", list(queries()))
def test_an_operator_passes_on_no_more_than_its_starts_and_candidates_allow(memory, text):
    for line in memory.prepare(text).examine(NOW).lines:
        if line.estimated is not None:
            assert line.rows <= line.starts * line.estimated


def test_without_parameters_nothing_is_run(memory):
    found = memory.prepare('FIND(?r) WHERE { ?r {type: "Robot"} }').examine()
    assert (found.rows, found.probes, found.seconds) == (None, None, None)
    assert [(line.estimated, line.starts, line.rows) for line in found.lines] == [(None, None, None)]


def test_only_a_query_has_a_plan(memory):
    with pytest.raises(kipql.KipError) as caught:
        memory.prepare("DESCRIBE PROTOCOL").examine({})
    assert caught.value.code == "UnsupportedCapability"


def test_a_narrower_limit_holds(memory):
    with pytest.raises(kipql.KipError) as caught:
        memory.prepare("FIND(?a) WHERE { ?a ASSERTION {} }").examine({}, limits=kipql.Limits(ticks=1))
    assert caught.value.code == "ResourceExhausted"
