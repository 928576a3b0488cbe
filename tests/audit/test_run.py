"""Auditing one memory: coordinates, parameters, bounds, and the same report however many run at once."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

import kipql
from kipql.audit import parallel
from kipql.audit.report import Outcome
from kipql.audit.run import run_scripts
from kipql.audit.script import parse_script
from kipql.audit.settings import Settings

GOOD = '//! check: c{0}\n//! message: {{key}} {0}\nFIND(?p.key) WHERE {{ ?p {{type: "Person"}} }} ORDER BY ?p.key;'
BAD = '//! check: c{0}\nFIND(?p) WHERE {{ ?p {{type: "Nonsense{0}"}} }};'
MANY = "\n".join((GOOD if number % 3 else BAD).format(number) for number in range(12))


@pytest.fixture
def nexus():
    with kipql.open() as opened:
        for key in ("ada", "bo"):
            opened.execute('CREATE CONCEPT ?p { TYPE "Person" SET FIELDS {key: :key} }', {"key": key})
        yield opened


def run(nexus, text, **settings):
    return run_scripts(nexus.readonly(), [parse_script("s.kql", text)], settings=Settings(**settings))


def same(report):
    """A report without how long things took."""
    return [replace(outcome, seconds=0.0) for outcome in report.outcomes], [str(p.error) for p in report.problems]


@pytest.mark.parametrize("jobs", [2, 5, 40])
@pytest.mark.parametrize("fork", [True, False])
def test_several_at_once_give_the_same_report(nexus, monkeypatch, jobs, fork):
    if fork and not parallel.can_fork():
        pytest.skip("workers are threads here")
    monkeypatch.setattr(parallel, "can_fork", lambda: fork)
    one, several = run(nexus, MANY), run(nexus, MANY, jobs=jobs)
    assert len(one.outcomes) == 8 and len(one.problems) == 4
    assert same(several) == same(one)
    assert [problem.line for problem in several.problems] == [problem.line for problem in one.problems]


@pytest.mark.parametrize("fork", [True, False])
def test_checks_run_beside_each_other(nexus, monkeypatch, fork):
    if fork and not parallel.can_fork():
        pytest.skip("workers are threads here")
    barrier = multiprocessing.get_context("fork").Barrier(3) if fork else threading.Barrier(3)

    def meet(nexus, step, asked):
        barrier.wait(timeout=30)
        return Outcome(step)

    monkeypatch.setattr(parallel, "can_fork", lambda: fork)
    monkeypatch.setattr(parallel, "run_step", meet)
    assert len(run(nexus, MANY, jobs=3).outcomes) == 12


@pytest.mark.skipif(sys.platform != "linux", reason="workers are threads here")
def test_another_thread_keeps_workers_from_being_forked():
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        assert not parallel.can_fork()
    finally:
        stop.set()
        thread.join()


@pytest.mark.skipif(sys.platform != "linux", reason="workers are threads here")
def test_a_worker_that_dies_is_a_problem_and_the_run_ends(nexus, monkeypatch):
    monkeypatch.setattr(parallel, "run_step", lambda *given: os._exit(9))
    monkeypatch.setattr(parallel, "can_fork", lambda: True)
    report = run(nexus, MANY, jobs=2)
    assert report.outcomes == () and len(report.problems) == 12
    assert {problem.error.code for problem in report.problems} == {"InternalError"}
    assert report.exit_code("never") == 2


def test_a_defect_in_one_check_is_its_problem(nexus, monkeypatch):
    def broken(nexus, step, asked):
        if step.name == "c1":
            raise ZeroDivisionError("x")
        return Outcome(step)

    monkeypatch.setattr(parallel, "run_step", broken)
    report = run(nexus, MANY)
    assert [problem.error.code for problem in report.problems] == ["InternalError"]
    assert len(report.outcomes) == 11


PEOPLE = '//! check: a\n{}FIND(?p.key) WHERE {{ ?p {{type: "Person"}} }}'


@pytest.mark.parametrize(
    ("directive", "as_of", "found", "at"),
    [
        ("", None, 2, None),
        ("", 1, 1, 1),
        ("", 0, 0, 0),
        ("//! as_of: 1\n", None, 1, None),
        ("//! as_of: 1\n", 0, 1, 0),
        ("//! as_of: 2000-01-01\n", None, 0, None),
        ("", "2000-01-01T00:00:00.000Z", 0, 0),
        ("", "9999-01-01T00:00:00.000Z", 2, 2),
    ],
)
def test_a_check_is_asked_as_of_a_state(nexus, directive, as_of, found, at):
    report = run(nexus, PEOPLE.format(directive), as_of=as_of)
    assert (report.checks[0].found, report.at, report.problems) == (found, at, ())


def test_what_a_statement_says_itself_wins(nexus):
    assert run(nexus, PEOPLE.format("") + " AS OF SEQ 1", as_of=0).checks[0].found == 1


def test_a_state_that_is_not_there_could_not_run(nexus):
    assert [p.error.code for p in run(nexus, PEOPLE.format(""), as_of=99).problems] == ["HistoricalSnapshotUnavailable"]


def test_a_check_of_the_present_could_not_run_as_of_an_earlier_state(nexus):
    text = "//! check: a\nLIST TYPES"
    assert run(nexus, text).problems == ()
    assert [problem.error.code for problem in run(nexus, text, as_of=1).problems] == ["UnsupportedCapability"]
    assert run(nexus, "//! check: a\nDESCRIBE SNAPSHOT AS OF SEQ 1", as_of=0).problems == ()
    assert run(nexus, "//! check: a\nDESCRIBE SNAPSHOT", as_of=1).problems == ()


@pytest.mark.parametrize("statement", ["LIST TYPES", 'FIND(?p) WHERE { ?p {type: "Person"} } AS OF SEQ 1'])
def test_as_of_needs_a_statement_that_takes_it(nexus, statement):
    (problem,) = run(nexus, f"//! check: a\n//! as_of: 1\n{statement}").problems
    assert (problem.error.code, problem.line) == ("InvalidSyntax", 2)


def test_a_parameter_of_the_run_wins_over_that_of_the_check(nexus):
    text = '//! check: a\n//! params: {"key": "ada"}\nFIND(?p.key) WHERE { ?p {type: "Person", key: :key} }'
    assert [f.row["p.key"] for f in run(nexus, text).checks[0].findings] == ["ada"]
    assert [f.row["p.key"] for f in run(nexus, text, parameters={"key": "bo"}).checks[0].findings] == ["bo"]


def test_a_parameter_that_nothing_uses_is_a_problem(nexus):
    text = 'FIND(?p.key) WHERE { ?p {type: "Person", key: :key} }'
    (problem,) = run(nexus, f"//! check: a\n{text}", parameters={"key": "x", "kye": 1}).problems
    assert (problem.error.code, problem.error.hint) == ("ReferenceError", "did you mean key?")
    (problem,) = run(nexus, f'//! check: a\n//! params: {{"kye": 1, "key": "x"}}\n{text}').problems
    assert problem.error.code == "InvalidSyntax" and "kye" in problem.error.message


def test_a_missing_parameter_could_not_run(nexus):
    text = '//! check: a\nFIND(?p.key) WHERE { ?p {type: "Person", key: :key} }'
    assert [problem.error.code for problem in run(nexus, text).problems] == ["ReferenceError"]


def test_now_is_a_parameter_and_the_time_of_beliefs(nexus):
    claim = 'ASSERT ("C-1", "same_as", "C-2") {by: "C-1", mode: "stated", valid: {from: :since}}'
    nexus.execute(claim, {"since": "2026-05-01T00:00:00.000Z"})
    text = """//! check: a
    FIND(?b.status, ?p.key)
    WHERE {
      ?b BELIEF ("C-1", "same_as", "C-2")
      ?p {id: "C-1"}
      FILTER(:now > "2026-04-02T00:00:00.000Z")
    }"""
    for now, statuses in (
        ("2026-04-01T00:00:00.000Z", []),
        ("2026-04-03T00:00:00.000Z", ["insufficient"]),
        ("2026-06-01T00:00:00.000Z", ["accepted"]),
    ):
        report = run(nexus, text, now=now)
        assert report.problems == () and report.now == now
        assert [finding.row["b.status"] for finding in report.checks[0].findings] == statuses


@pytest.mark.parametrize(("now", "counting", "lapsed"), [("2027-01-31", 0, False), ("2027-02-01", 2, True)])
def test_a_suppression_that_is_over_counts_again(nexus, now, counting, lapsed):
    text = PEOPLE.format("//! suppress: on its way until 2027-01-31\n")
    (check,) = run(nexus, text, now=f"{now}T08:00:00.000Z").checks
    assert (check.found, check.counting, check.lapsed, check.suppressed) == (2, counting, lapsed, not lapsed)


def test_what_could_not_run_is_never_suppressed(nexus):
    text = '//! check: a\n//! suppress: x until 9999-01-01\nFIND(?p) WHERE { ?p {type: "Nonsense"} }'
    assert run(nexus, text).exit_code("never") == 2


def test_a_budget_that_does_not_do_could_not_run(nexus):
    (problem,) = run(nexus, PEOPLE.format("//! budget: ticks 0\n")).problems
    assert (problem.error.code, problem.error.details["limit"]) == ("ResourceExhausted", "ticks")
    assert run(nexus, PEOPLE.format("//! budget: ticks 100000\n")).problems == ()


def test_a_limit_names_what_raises_it_in_a_script(nexus):
    (problem,) = run(nexus, PEOPLE.format("//! budget: ticks 0\n")).problems
    assert problem.error.hint == "narrow the query, or raise ticks in its //! budget:"
    slow = f"FIND(COUNT(?a)) WHERE {{ {' '.join(f'?{name} CONCEPT {{}}' for name in 'abcdefghijklmnopqrst')} }}"
    (problem,) = run(nexus, f"//! check: slow\n//! budget: seconds 0.05\n{slow}").problems
    assert problem.error.hint == "narrow the query, or raise seconds in its //! budget:"
    (problem,) = run(nexus, f"//! check: slow\n{slow}", timeout=0.05).problems
    assert problem.error.hint == "narrow the query, or allow more with --timeout SECONDS"


def test_a_timeout_is_of_each_statement(nexus):
    slow = " ".join(f"?{name} CONCEPT {{}}" for name in "abcdefghijklmnopqrst")
    text = PEOPLE.format("") + f";\n//! check: slow\nFIND(COUNT(?a)) WHERE {{ {slow} }}"
    report = run(nexus, text, timeout=0.1)
    assert [problem.error.code for problem in report.problems] == ["ExecutionTimeout"]
    assert [check.step.name for check in report.checks] == ["a"]


def test_a_check_is_asked_where_its_packages_are():
    text = "//! check: a\n//! requires: kip://kipql/agent\n//! expect: nonempty\nLIST TYPES;\n" \
        "//! check: b\n//! unless: kip://kipql/agent\n//! expect: empty\nLIST TYPES"  # fmt: skip
    for packages, states in (
        ((), ["kip://kipql/agent is not active", None]),
        (("kip://kipql/agent@1.0.0",), [None, "kip://kipql/agent is active"]),
    ):
        report = run(kipql.open(packages=packages), text)
        assert [check.skipped for check in report.checks] == states


def test_findings_carry_their_space(nexus):
    scripts = [parse_script("s", PEOPLE.format(""))]
    report = run_scripts(nexus, scripts, space_id="kip:space:work")
    assert {finding.space_id for finding in report.checks[0].findings} == {"kip:space:work"}
    plain = run_scripts(nexus, scripts)
    assert report.checks[0].findings[0].fingerprint != plain.checks[0].findings[0].fingerprint


def test_progress_is_told_in_order(nexus):
    told = []
    run_scripts(nexus, [parse_script("s", MANY)], told=lambda done, total, step: told.append((done, total, step.name)))
    assert told == [(number + 1, 12, f"c{number}") for number in range(12)]


@pytest.mark.skipif(sys.platform != "linux", reason="workers are threads here")
def test_an_interrupt_ends_a_run_with_workers_at_once(tmp_path):
    slow = " ".join(f"?{name} CONCEPT {{}}" for name in "abcdefghijklmnopqrst")
    (tmp_path / "slow.kql").write_text(
        "\n".join(f"//! check: c{number}\nFIND(COUNT(?a)) WHERE {{ {slow} }};" for number in range(2))
    )
    with kipql.open(tmp_path / "m") as nexus:
        nexus.load([{"kind": "concept", "type": "Person", "key": f"p{number}"} for number in range(9)])
    command = [sys.executable, "-m", "kipql", "run", "--db", "m", "--jobs", "2", "slow.kql"]
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    run_ = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 30
    while len(_children(run_.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    os.killpg(run_.pid, signal.SIGINT)
    _, said = run_.communicate(timeout=20)
    assert (run_.returncode, said.strip()) == (2, "interrupted")


def _children(pid):
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
