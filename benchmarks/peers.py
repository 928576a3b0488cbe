"""`python -m benchmarks.peers`: the six questions in every engine, one process each, on one generated data set.

Answers are compared before anything is timed, and the engines take turns, a few inputs at a time, so that what else
the machine does falls on all of them alike. An engine that spends its budget on a question is asked fewer inputs.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import sides
from benchmarks.about import about
from benchmarks.measure import Mismatch
from benchmarks.questions import COLD, ROUNDS, SCANS, WARM
from benchmarks.questions_sides import NAMES, Q6

TURN, BUDGET, SCAN_ROUNDS = 100, 20.0, 3


@dataclass(frozen=True, slots=True)
class Asking:
    """How much is asked: inputs by kind, rounds of the warm ones, seconds an engine may take for one check."""

    warm: int = WARM
    cold: int = COLD
    scan: int = SCANS
    rounds: int = ROUNDS
    budget: float = BUDGET


class Process:
    """An engine in its own process. `folder` is where `benchmarks` and `kipql` are imported from."""

    def __init__(self, name: str, engine: str, size: int, asking: Asking, folder: Path | None = None) -> None:
        counts = [f"--{kind}={getattr(asking, kind)}" for kind in ("warm", "cold", "scan")]
        self.name = name
        self._child = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", engine, str(size), *counts],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder or Path(__file__).parents[1],
            text=True,
        )
        self._about: dict[str, Any] | None = None

    @property
    def about(self) -> dict[str, Any]:
        """What loading cost; waits for it. Engines load at the same time."""
        if self._about is None:
            self._about = self._answer()
        return self._about

    def end(self) -> None:
        """Let it go."""
        assert self._child.stdin is not None
        self._child.stdin.close()
        self._child.wait(60)

    def __call__(self, *call: Any) -> Any:
        assert self.about and self._child.stdin is not None
        self._child.stdin.write(json.dumps(call) + "\n")
        self._child.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended: its message is above")
        return json.loads(line)


@dataclass(frozen=True, slots=True)
class Found:
    """One question, one kind, one engine: median microseconds of `calls` calls."""

    size: int
    question: str
    kind: str
    engine: str
    micros: float
    calls: int
    rows: float


def asked(processes: Sequence[Process], size: int, question: str, kind: str, asking: Asking) -> list[Found]:
    """Check, then time. Raises Mismatch when two engines answer differently."""
    checks = [process("check", question, kind, asking.budget) for process in processes]
    whole = max(checks, key=lambda check: len(check["digests"]))["digests"]
    for process, check in zip(processes, checks, strict=True):
        for at, (ours, first) in enumerate(zip(check["digests"], whole, strict=False)):
            if ours != first:
                shown = {p.name: p("show", question, kind, at)[:4] for p in (processes[0], process)}
                raise Mismatch(f"{question}, {kind}, input {at} of {size}, {process.name}: {shown}")
    limits = [len(check["digests"]) for check in checks]
    rounds = {"warm": asking.rounds, "cold": 1, "scan": SCAN_ROUNDS}[kind]
    spent: list[list[int]] = [[] for _ in processes]
    turns = range(0, max(limits), TURN if kind != "scan" else 1)
    for turn in range(rounds):
        for number, first in enumerate(turns):
            for place in range(len(processes)):
                at = (place + turn + number) % len(processes)
                enough = sum(spent[at]) > asking.budget * 1e9
                if first < limits[at] and not enough:
                    last = min(first + turns.step, limits[at])
                    spent[at] += processes[at]("time", question, kind, first, last)
    return [
        Found(size, question, kind, process.name, median(times) / 1000, len(times), check["rows"] / max(1, limit))
        for process, times, check, limit in zip(processes, spent, checks, limits, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Loaded:
    """What it cost to load an engine; a second is one of processor time."""

    size: int
    engine: str
    per_second: float
    bytes_each: float


def run(
    size: int, engines: Sequence[str], questions: Sequence[str], asking: Asking
) -> tuple[list[Found], list[Loaded]]:
    """Every question at one size."""
    processes = [Process(engine, engine, size, asking) for engine in engines]
    return ask_all(processes, size, questions, asking)


def ask_all(
    processes: Sequence[Process], size: int, questions: Sequence[str], asking: Asking
) -> tuple[list[Found], list[Loaded]]:
    """The same with processes that run; they are ended."""
    found: list[Found] = []
    try:
        loads = [process.about for process in processes]
        for question in questions:
            for kind in ("scan",) if question == Q6 else ("warm", "cold"):
                print(f"{size:,}: {question}, {kind}", file=sys.stderr, flush=True)
                found += asked(processes, size, question, kind, asking)
    finally:
        for process in processes:
            process.end()
    loaded = [
        Loaded(size, process.name, cost["claims"] / cost["seconds"], cost["bytes"] / cost["claims"])
        for process, cost in zip(processes, loads, strict=True)
    ]
    return found, loaded


def table(found: Sequence[Found], loaded: Sequence[Loaded]) -> str:
    """A table per size and kind; in brackets the time of the first engine as a multiple of this one's."""
    parts = []
    for size in dict.fromkeys(one.size for one in found):
        for kinds in (("warm", "scan"), ("cold",)):
            lines = [one for one in found if one.size == size and one.kind in kinds]
            if lines:
                parts.append(_table(size, kinds[0], lines, [one for one in loaded if one.size == size]))
    return "\n\n".join(parts)


def _table(size: int, kind: str, lines: Sequence[Found], loaded: Sequence[Loaded]) -> str:
    questions = list(dict.fromkeys(one.question for one in lines))
    engines = list(dict.fromkeys(one.engine for one in lines))
    times = {(one.engine, one.question): one.micros for one in lines}
    with_load = kind == "warm"
    head = [f"{size:,} {kind}, µs", *questions, *(("load/CPU s", "bytes each") if with_load else ())]
    rows = [f"| {' | '.join(head)} |", f"|---|{'--:|' * (len(head) - 1)}"]
    costs = {one.engine: one for one in loaded}
    for engine in engines:
        cells = [engine]
        for question in questions:
            mine, first = times[engine, question], times[engines[0], question]
            cells.append(figure(mine) if engine == engines[0] else f"{figure(mine)} ({first / mine:.2g}x)")
        if with_load:
            cells += [f"{costs[engine].per_second:,.0f}", f"{costs[engine].bytes_each:,.0f}"]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def figure(micros: float) -> str:
    return f"{micros:,.0f}" if micros >= 100 else f"{micros:.1f}" if micros >= 10 else f"{micros:.2f}"


def write(folder: Path, found: Sequence[Found], loaded: Sequence[Loaded], facts: dict[str, Any]) -> None:
    """`peers.json` and `peers.md` in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = {"about": facts, "questions": [asdict(one) for one in found], "loads": [asdict(one) for one in loaded]}
    (folder / "peers.json").write_text(json.dumps(lines, indent=2) + "\n", "utf-8")
    said = ", ".join(f"{name} {value}" for name, value in facts.items())
    (folder / "peers.md").write_text(f"{said}\n\n{table(found, loaded)}\n", "utf-8")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description="The six questions in every engine."
    )
    parser.add_argument("--size", type=int, action="append", help="Assertions (repeatable; default 10000)")
    parser.add_argument("--engine", action="append", choices=sides.NAMES, help="(repeatable; default all installed)")
    parser.add_argument("--question", action="append", help="only questions that start with this (repeatable)")
    parser.add_argument("--calls", type=int, help="fewer inputs, warm and cold")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="times the warm inputs are asked")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds an engine may take for one check")
    parser.add_argument("--out", type=Path, help="a folder for peers.json and peers.md")
    given = parser.parse_args(arguments)
    engines = given.engine or sides.installed()
    asking = Asking(min(WARM, given.calls or WARM), min(COLD, given.calls or COLD), SCANS, given.rounds, given.budget)
    wanted = [name for name in NAMES if not given.question or name.startswith(tuple(given.question))]
    begun = about(engines)
    found: list[Found] = []
    loaded: list[Loaded] = []
    for size in given.size or [10_000]:
        more, costs = run(size, engines, wanted, asking)
        found, loaded = found + more, loaded + costs
        print(table(more, costs), end="\n\n", flush=True)
        if given.out:
            write(given.out, found, loaded, {**begun, "load at the end": about(())["load"]})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
