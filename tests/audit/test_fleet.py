"""Auditing many Spaces: one report whatever runs at once, and a Space that fails hides no other."""

import json
import os
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import kipql
from kipql.audit import baseline, parallel
from kipql.audit.fleet import Memory, run_fleet
from kipql.audit.reports import FORMATS, rendered
from kipql.audit.script import parse_script
from kipql.audit.settings import Settings
from kipql.errors import KipError

TEXT = """
//! check: people
//! message: {key} is here
FIND(?p.key) WHERE { ?p {type: "Person"} } ORDER BY ?p.key;
//! check: nobody
FIND(?p.key) WHERE { ?p {type: "Person", key: "zoe"} };
FIND(COUNT(?p)) WHERE { ?p CONCEPT {} };
"""
SCRIPTS = [parse_script("s.kql", TEXT)]


@pytest.fixture
def memories(tmp_path: Path) -> list[Memory]:
    """Six memories, each with one person named like it."""
    made = []
    for name in "abcdef":
        folder = tmp_path / f"{name}.kip"
        with kipql.open(folder) as nexus:
            nexus.execute('CREATE CONCEPT ?p { TYPE "Person" SET FIELDS {key: :key} }', {"key": name})
        made.append(Memory(str(folder)))
    return made


def damage(memory: Memory) -> None:
    """Change a byte in the middle of the journal."""
    (journal,) = (Path(memory.name) / "spaces").glob("*/journal")
    content = bytearray(journal.read_bytes())
    content[len(content) // 2] ^= 0xFF
    journal.write_bytes(content)


def found(report: object) -> list[tuple[str, str]]:
    people = next(check for check in report.checks if check.step.name == "people")  # type: ignore[attr-defined]
    return [(Path(finding.space_id).stem, finding.message) for finding in people.findings]


def untimed(report):
    return replace(report, outcomes=tuple(replace(outcome, seconds=0.0) for outcome in report.outcomes))


NOW = "2026-12-01T00:00:00.000Z"


@pytest.mark.parametrize("jobs", [1, 2, 20])
@pytest.mark.parametrize("fork", [True, False])
def test_the_report_does_not_depend_on_how_many_run_at_once(memories, monkeypatch, jobs, fork):
    if jobs == 1 and not fork:
        pytest.skip("one at a time needs no process")
    if fork and not parallel.can_fork():
        pytest.skip("workers are spawned here")
    monkeypatch.setattr("kipql.audit.fleet.can_fork", lambda: fork)
    several = run_fleet(memories, SCRIPTS, settings=Settings(now=NOW, jobs=jobs))
    assert found(several) == [(name, f"{name} is here") for name in "abcdef"]
    one = run_fleet(memories, SCRIPTS, settings=Settings(now=NOW))
    for form in ("text", "github", "sarif"):
        assert rendered(several, form, "warning") == rendered(one, form, "warning")
    assert [(space.space_id, space.space_seq) for space in several.spaces] == [(each.name, 1) for each in memories]


def test_a_check_is_one_outcome_and_a_statement_names_the_space_of_a_row(memories):
    report = run_fleet(memories, SCRIPTS)
    assert [(check.step.name, check.found, check.passed) for check in report.checks] == [
        ("people", 6, False),
        ("nobody", 0, True),
    ]
    (statement,) = [outcome for outcome in report.outcomes if not outcome.step.directives.is_check]
    assert statement.columns == ("space_id", "COUNT(p)")
    assert statement.rows == [[memory.name, 1] for memory in memories]
    assert len({finding.fingerprint for finding in report.checks[0].findings}) == 6


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_damaged_memory_is_one_problem_in_every_report(memories, jobs):
    damage(memories[2])
    report = run_fleet(memories, SCRIPTS, settings=Settings(jobs=jobs))
    assert [name for name, _ in found(report)] == list("abdef")
    (problem,) = report.problems
    assert (problem.space_id, problem.error.code) == (memories[2].name, "MemoryDamaged")
    assert report.exit_code("never") == 2
    assert [space.answered for space in report.spaces] == [True, True, False, True, True, True]
    for form in (*FORMATS, "summary"):
        if form != "text":  # there it goes to standard error
            assert "MemoryDamaged" in rendered(report, form, "warning"), form
            assert "c.kip" in rendered(report, form, "warning"), form
    assert "5 of 6 Spaces" in rendered(report, "text", "warning")


def test_no_check_passes_that_a_space_did_not_answer(memories):
    damage(memories[0])
    report = run_fleet(memories, SCRIPTS)
    assert [(check.step.name, check.passed, check.unanswered) for check in report.checks] == [
        ("people", False, 1),
        ("nobody", False, 1),
    ]


def test_what_a_lost_space_had_is_not_called_fixed(memories, tmp_path):
    whole = run_fleet(memories, SCRIPTS)
    path = tmp_path / "baseline.json"
    path.write_text(baseline.baseline_text(whole, baseline.NOTHING))
    known = baseline.read_baseline(str(path))
    assert baseline.compared(whole, known).count("warning") == 0
    damage(memories[3])
    again = baseline.compared(run_fleet(memories, SCRIPTS), known)
    assert (again.fixed, again.count("warning"), again.known) == ((), 0, 5)


@dataclass(frozen=True)
class Dying:
    """A place at which the process ends, as one does that takes more memory than there is."""

    name: str

    def opened(self, settings: Settings) -> Iterator[tuple[str, object]]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield self.name, None


@pytest.mark.parametrize("at", [0, 3, 6])
def test_a_worker_that_dies_loses_nobody_elses_answer(memories, at):
    places = [*memories[:at], Dying("dying"), *memories[at:]]
    report = run_fleet(places, SCRIPTS, settings=Settings(jobs=2))
    assert [name for name, _ in found(report)] == list("abcdef")
    assert [(problem.space_id, problem.error.code) for problem in report.problems] == [("dying", "InternalError")]


@dataclass(frozen=True)
class Broken:
    """A place that fails as no place should."""

    name: str

    def opened(self, settings: Settings) -> Iterator[tuple[str, object]]:
        yield self.name, KipError("MemoryLocked", "one Space of it")
        raise ZeroDivisionError("a defect")


@pytest.mark.parametrize("jobs", [1, 2])
def test_whatever_a_place_raises_is_its_problem(memories, jobs):
    report = run_fleet([Broken("broken"), *memories], SCRIPTS, settings=Settings(jobs=jobs))
    assert [problem.error.code for problem in report.problems] == ["MemoryLocked", "InternalError"]
    assert len(found(report)) == 6


def test_every_space_of_a_memory_is_audited_and_named(tmp_path):
    folder = tmp_path / "both.kip"
    with kipql.open(folder) as nexus:
        for space, key in ((nexus, "home"), (nexus.space("kip:space:work"), "work")):
            space.execute('CREATE CONCEPT ?p { TYPE "Person" SET FIELDS {key: :key} }', {"key": key})
    report = run_fleet([Memory(str(folder))], SCRIPTS)
    assert [(finding.space_id, finding.message) for finding in report.checks[0].findings] == [
        (str(folder), "home is here"),
        (f"{folder}#kip:space:work", "work is here"),
    ]


def test_what_is_wrong_with_a_script_is_told_once(memories):
    text = TEXT + "//! check: broken\n//! expect: nonsense\nFIND(?p) WHERE { ?p CONCEPT {} };"
    report = run_fleet(memories, [parse_script("s.kql", text)], settings=Settings(parameters={"unused": 1}))
    assert sorted(problem.error.code for problem in report.problems) == ["InvalidSyntax", "ReferenceError"]


def test_a_check_that_can_not_run_is_told_for_each_space(memories):
    bad = parse_script("s.kql", '//! check: bad\nFIND(?p) WHERE { ?p {type: "Nonsense"} };')
    report = run_fleet(memories, [bad])
    assert [Path(problem.space_id).stem for problem in report.problems] == list("abcdef")
    assert {(problem.line, problem.error.code) for problem in report.problems} == {(2, "SchemaSymbolNotFound")}


def test_workers_of_ones_own_give_the_same_report(memories):
    with ThreadPoolExecutor(3) as executor:
        report = run_fleet(memories, SCRIPTS, settings=Settings(now=NOW), executor=executor)
    alone = run_fleet(memories, SCRIPTS, settings=Settings(now=NOW))
    assert rendered(report, "sarif", "warning") == rendered(alone, "sarif", "warning")
    assert untimed(report).spaces == untimed(alone).spaces


def test_every_place_is_heard_of_when_it_is_done(memories):
    told: list[tuple[int, int, str]] = []
    run_fleet(memories, SCRIPTS, settings=Settings(jobs=2), heard=lambda *each: told.append(each))
    assert [(done, total) for done, total, _ in told] == [(number, 6) for number in range(1, 7)]
    assert {name for _, _, name in told} == {memory.name for memory in memories}


def test_json_lists_the_spaces(memories):
    damage(memories[1])
    data = json.loads(rendered(run_fleet(memories, SCRIPTS), "json", "warning"))
    assert data["space_seq"] is None
    assert [space["answered"] for space in data["spaces"]] == [True, False, True, True, True, True]
    assert [re.sub(r".*/", "", error["space_id"]) for error in data["errors"]] == ["b.kip"]
    assert data["checks"][0]["unanswered"] == 1


def test_a_script_that_is_given_twice_passes_twice(memories):
    report = run_fleet(memories, [*SCRIPTS, *SCRIPTS])
    assert [(check.found, check.unanswered, check.passed) for check in report.checks] == [
        (6, 0, False),
        (0, 0, True),
    ] * 2
