"""Every engine that is installed gives the same answers, and nothing is timed before that is known."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks import cold_text, comparing, operations, peers, sides
from benchmarks.comparing import Pairs, laid_out
from benchmarks.measure import Mismatch, normal
from benchmarks.peers import Asking, Found, Loaded, asked
from benchmarks.questions_data import World, inputs, world
from benchmarks.questions_sides import NAMES, Dicts
from benchmarks.sides.succession import accepted
from kipql.times import FOREVER


@pytest.fixture(scope="module")
def small() -> World:
    return world(420)


@pytest.mark.parametrize("engine", sides.NAMES)
def test_an_engine_answers_as_the_dicts_do(engine: str, small: World) -> None:
    if engine not in sides.installed():
        pytest.skip(f"{engine} is not installed: pip install kipql[bench]")
    ours, by_hand = sides.side(engine)(small), Dicts(small)
    empty = set(NAMES)
    for question in NAMES:
        ask, expected = ours.ask(question), by_hand.ask(question)
        for one in inputs(small, 40, 7):
            wanted = normal(by_hand.shown(question, expected(by_hand.prepare(question, one))))
            assert normal(ours.shown(question, ask(ours.prepare(question, one)))) == wanted, (question, one)
            if wanted:
                empty.discard(question)
    assert not empty, "a question that finds nothing compares nothing"


A, B, C = 1, 2, 3
SLOTS = {
    "the later claim of an actor": ([("x", A, 0, FOREVER), ("y", A, 5, FOREVER)], 9, ["y"]),
    "not before it begins": ([("x", A, 0, FOREVER)], 9, ["x"]),
    "two actors disagree": ([("x", A, 0, FOREVER), ("y", B, 5, FOREVER)], 9, []),
    "two actors agree": ([("x", A, 0, FOREVER), ("x", B, 5, FOREVER)], 9, ["x"]),
    "an end of its own is not succeeded": ([("x", A, 0, 20), ("y", A, 5, FOREVER)], 9, []),
    "past its own end": ([("x", A, 0, 8), ("y", A, 5, FOREVER)], 9, ["y"]),
    "a successor that has ended still ended it": ([("x", A, 0, FOREVER), ("y", A, 5, 8)], 9, []),
    "three claims": ([("x", A, 0, FOREVER), ("y", A, 5, FOREVER), ("x", A, 7, FOREVER)], 9, ["x"]),
}


@pytest.mark.parametrize("name", SLOTS)
def test_the_accepted_value_by_hand(name: str) -> None:
    begun, at, value = SLOTS[name]
    assert accepted(begun, at) == value  # type: ignore[arg-type]


class Fake:
    """A process that gives prepared answers."""

    def __init__(self, name: str, answers: list[str]) -> None:
        self.name, self.answers, self.timed = name, answers, 0

    def __call__(self, call: str, *values: Any) -> Any:
        if call == "check":
            return {"rows": len(self.answers), "digests": self.answers}
        if call == "show":
            return [self.answers[values[2]]]
        first, last = values[2:]
        self.timed += last - first
        return [1000] * (last - first)


def test_an_engine_that_differs_is_named_and_none_is_timed() -> None:
    sides_ = [Fake("kipql", ["a", "b"]), Fake("other", ["a", "c"])]
    with pytest.raises(Mismatch, match=r"input 1 of 10, other: .*'b'.*'c'"):
        asked(sides_, 10, "q1 key", "warm", Asking())  # type: ignore[arg-type]
    assert [side.timed for side in sides_] == [0, 0]


def test_an_engine_that_ran_out_of_its_budget_is_timed_on_what_it_answered() -> None:
    quick, slow = Fake("kipql", ["a"] * 250), Fake("slow", ["a"] * 3)
    found = asked([quick, slow], 10, "q1 key", "warm", Asking(rounds=2))  # type: ignore[arg-type]
    assert [(one.engine, one.calls, one.micros) for one in found] == [("kipql", 500, 1.0), ("slow", 6, 1.0)]


def test_the_table_tells_how_many_times_the_time_of_each_engine_the_first_one_takes() -> None:
    found = [Found(10, "q1 key", "warm", engine, micros, 3, 1.0) for engine, micros in (("kipql", 2.0), ("x", 4.0))]
    shown = peers.table(found, [Loaded(10, "kipql", 1000, 50), Loaded(10, "x", 10, 500)])
    assert "| kipql | 2.00 | 1,000 | 50 |" in shown
    assert "| x | 4.00 (0.5x) | 10 | 500 |" in shown


@pytest.mark.slow
def test_engines_run_in_processes_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["--size", "420", "--calls", "5", "--rounds", "1", "--engine", "kipql", "--engine", "SQLite"]
    assert peers.main([*chosen, "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in NAMES)
    assert (tmp_path / "peers.md").read_text("utf-8").endswith(shown.strip() + "\n")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "kipql").mkdir(parents=True)
    (folder / "benchmarks").mkdir()
    (folder / "benchmarks" / "theirs.py").write_text("old")
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    for text, commands in (("first", [("init", "-q")]), ("second", [])):
        (folder / "kipql" / "what.py").write_text(text)
        for command in (*commands, ("add", "."), (*identity, "commit", "-q", "-m", text)):
            subprocess.run(["git", "-C", str(folder), *command], check=True, capture_output=True)
    return folder


def test_a_commit_is_laid_out_with_these_benchmarks_and_leaves_nothing(repository: Path) -> None:
    for commit, text in (("HEAD~1", "first"), ("HEAD", "second")):
        with laid_out(commit, repository) as folder:
            assert (folder / "kipql" / "what.py").read_text() == text
            assert (folder / "benchmarks" / "comparing.py").read_text() == Path(comparing.__file__).read_text()
            assert not (folder / "benchmarks" / "theirs.py").exists()
        assert not folder.exists()
        listed = subprocess.run(["git", "-C", str(repository), "worktree", "list"], capture_output=True, text=True)
        assert len(listed.stdout.splitlines()) == 1
    assert (repository / "benchmarks" / "theirs.py").exists()


def test_the_ratio_of_a_pair_is_the_second_over_the_first() -> None:
    shown = comparing.table(("A1", "B1"), [Pairs("q1 key", "warm", (2.0, 4.0, 2.0), (1.0, 4.0, 3.0))])
    assert "| q1 key | warm | 2.00 | 3.00 | 1.00 | 0.50 | 1.50 |" in shown


@pytest.mark.slow
def test_new_texts_and_operations_are_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cold_text.main(["--size", "420", "--calls", "10", "--out", str(tmp_path / "texts.json")]) == 0
    assert operations.main(["--size", "420", "--calls", "10", "--out", str(tmp_path / "operations.json")]) == 0
    shown = capsys.readouterr().out
    assert all(f"| {kind} |" in shown for kind in ("known shape", "new shape", "same text", "prepared"))
    for start in ("q2 at a past sequence", "path", "page 1 of", "SEARCH, first", "ASSERT", "MUTATE", "load", "bytes"):
        assert f"| {start}" in shown
