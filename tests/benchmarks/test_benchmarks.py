"""The benchmarks run and agree with SQLite, and the work of a look-up does not grow with the memory."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import belief, belief_sides, questions, shell_start, start
from benchmarks.__main__ import EVERY, main
from benchmarks.kip_side import QUERIES, Kipql
from benchmarks.measure import Measure, Mismatch, compare
from benchmarks.questions_sides import NAMES
from benchmarks.report import table
from benchmarks.world import Thing, World
from kipql import exec as execution
from kipql import lang
from kipql.belief import quick
from kipql.lang import ast
from kipql.limits import Budget


@pytest.mark.slow
def test_every_group_runs_and_both_sides_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--smoke", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert all(f"| {group} |" in shown for group in EVERY)
    report = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert [measure["group"] for measure in report["measures"]] == list(EVERY)
    assert shown.strip() in (tmp_path / "results.md").read_text("utf-8")


@pytest.mark.slow
def test_belief_agrees_with_sql_that_does_the_same_succession(capsys: pytest.CaptureFixture[str]) -> None:
    assert belief.main(["--size", "500", "--calls", "40"]) == 0
    shown = capsys.readouterr().out
    assert all(f"| {group} |" in shown for group in (*belief.QUERIES, "contested, scan"))


@pytest.mark.slow
def test_the_six_questions_have_one_answer_on_every_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert questions.main(["--size", "1200", "--calls", "60", "--out", str(tmp_path / "lines.json")]) == 0
    shown = capsys.readouterr().out
    assert all(f"| {name} |" in shown for name in NAMES)
    lines = json.loads((tmp_path / "lines.json").read_text("utf-8"))
    assert {line["question"] for line in lines} == set(NAMES)
    assert all(set(line["times"]) == {"kipql", "SQLite", "dicts"} for line in lines)


@pytest.mark.slow
def test_starts_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert start.main(["--runs", "1", "--size", "300"]) == 0
    shown = capsys.readouterr().out
    assert all(f"| {name} |" in shown for name in (*start.starts(Path()), start.PROMPT))
    assert all(f"| `{place}` |" in shown for place in shell_start.PLACES)


def test_a_world_follows_from_its_size() -> None:
    assert World(200).claims == World(200).claims
    assert World(200).things[0] == World(200).things[0]
    assert len({(claim.subject, claim.predicate, claim.object) for claim in World(200).claims}) == 200
    assert isinstance(World(200).things[0], Thing)


def test_different_answers_are_never_timed() -> None:
    with pytest.raises(Mismatch, match="key on 1"):
        compare("key", 1, [1], lambda value: [value], lambda value: [value, value])


def test_a_ratio_below_one_is_kipql_faster() -> None:
    assert "| key | 1,000 | 1.0 | 2.0 | 0.50 | 1 | 7 |" in table([Measure("key", 1000, 1.0, 2.0, 7, 1)])


def ticks(size: int, group: str) -> int:
    """The most work that a group's query does on any of some inputs."""
    side = Kipql()
    world = World(size)
    seqs = side.build(world)
    view = side.nexus._session.view()
    tree = lang.parse(QUERIES[group])
    assert isinstance(tree, ast.Find)
    prepared = execution.prepare(tree, view.environment)
    spent = []
    for key in world.sample(40):
        budget = Budget()
        at = side.nexus._session.space.at(seqs[len(seqs) // 2]) if group == "as of" else view
        prepared.run(at, {"key": key, "seq": at.seq}, budget)
        spent.append(budget.ticks)
    return max(spent)


@pytest.mark.parametrize("group", ["key", "one hop", "as of"])
def test_the_work_of_a_look_up_does_not_grow_with_the_memory(group: str) -> None:
    """Ten times the memory, the same work for one key: what is read is what the key leads to."""
    small, large = ticks(300, group), ticks(3000, group)
    assert large <= 3 * small + 30, (small, large)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Where the packed records lie that are read from now on."""
    read: list[int] = []

    def counting(unpack: Callable[..., object]) -> Callable[..., object]:
        def unpacked(hot: bytearray, at: int) -> object:
            read.append(at)
            return unpack(hot, at)

        return unpacked

    for name in ("placed", "unpack"):
        monkeypatch.setattr(quick, name, counting(getattr(quick, name)))
    return read


@pytest.mark.parametrize("size", [200, 2_000])
@pytest.mark.parametrize("group", ["accepted value", "status", "full output"])
def test_a_slot_reads_each_of_its_claims_once_and_no_other(
    group: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five claims a slot, in any memory, in the past and the present."""
    sides = belief_sides.Sides(size)
    statement = sides.nexus.prepare(belief.QUERIES[group])
    inputs = belief.asked(sides, sides.inputs(30))
    for one in inputs[:4]:
        statement.query(one.ours)
    read = counted(monkeypatch)
    for one in inputs:
        read.clear()
        _ = statement.query(one.ours).rows
        assert len(read) == len(set(read)) <= belief_sides.PER_SLOT


def test_a_scan_for_contested_slots_reads_each_claim_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sides = belief_sides.Sides(500)
    read = counted(monkeypatch)
    _ = sides.nexus.query(belief.CONTESTED, {"k": sides.head, "t": "2100-01-01T00:00:00.000Z"}).rows
    assert len(read) == len(set(read)) == 500
