"""`python -m benchmarks.questions`: six questions about one data set, in kipql, in SQLite and by hand (README.md here).

Warm asks about 300 people again and again, cold about 3,000 in turn, first about 1,000 of whom the question was not
asked yet. The sides take turns; answers are equal before anything is timed, or of a first call before its time counts.
Times are medians in microseconds of the call with its rows, on one thread.
"""

import argparse
import gc
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Any

from benchmarks.measure import Mismatch, normal
from benchmarks.questions_data import Asked, World, inputs, world
from benchmarks.questions_sides import NAMES, Q6, Dicts, Kipql, Side, Sqlite

WARM, COLD, FIRST, SCANS, ROUNDS = 300, 3_000, 1_000, 3, 10
COUNTED = 20  # inputs whose probes are counted
SIDES = (Kipql, Sqlite, Dicts)


@dataclass(frozen=True, slots=True)
class Line:
    """One question at one size: median microseconds by side, and the probes of kipql's plan a call."""

    question: str
    size: int
    kind: str
    rows: float
    times: dict[str, float]
    probes: float = 0.0


def measured(question: str, size: int, kind: str, sides: Sequence[Side], asked: Sequence[Asked], rounds: int) -> Line:
    """Every side on every input, taking turns in who goes first. Raises Mismatch before a clock is looked at."""
    calls = [(side.name, side.ask(question), [side.prepare(question, one) for one in asked]) for side in sides]
    total = 0
    for at, one in enumerate(asked):
        answers = [side.shown(question, ask(given[at])) for side, (_, ask, given) in zip(sides, calls, strict=True)]
        first = normal(answers[0])
        total += len(first)
        for (name, _, _), answer in zip(calls, answers, strict=True):
            if normal(answer) != first:
                raise Mismatch(f"{question} on {one}: {sides[0].name} {first[:4]}, {name} {normal(answer)[:4]}")
    spent: dict[str, list[int]] = {name: [] for name, _, _ in calls}
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            for at in range(len(asked)):
                for number in range(len(calls)):
                    name, ask, given = calls[(number + turn + at) % len(calls)]
                    value = given[at]
                    began = perf_counter_ns()
                    ask(value)
                    spent[name].append(perf_counter_ns() - began)
    finally:
        gc.enable()
    times = {name: median(each) / 1000 for name, each in spent.items()}
    return Line(question, size, kind, total / max(1, len(asked)), times)


def unseen(question: str, size: int, sides: Sequence[Side], asked: Sequence[Asked]) -> Line:
    """Every side on inputs that it was not asked about before. Raises Mismatch where the answers differ."""
    calls = [(side, side.ask(question), [side.prepare(question, one) for one in asked]) for side in sides]
    for _, ask, given in calls:
        for value in given[:COUNTED]:
            ask(value)
    spent: dict[str, list[int]] = {side.name: [] for side, _, _ in calls}
    total = 0
    gc.collect()
    gc.disable()
    try:
        for at in range(COUNTED, len(asked)):
            answers = {}
            for number in range(len(calls)):
                side, ask, given = calls[(number + at) % len(calls)]
                value = given[at]
                began = perf_counter_ns()
                found = ask(value)
                spent[side.name].append(perf_counter_ns() - began)
                answers[side.name] = normal(side.shown(question, found))
            first = answers[sides[0].name]
            total += len(first)
            if any(answer != first for answer in answers.values()):
                raise Mismatch(f"{question} on {asked[at]}: {answers}")
    finally:
        gc.enable()
    times = {name: median(each) / 1000 for name, each in spent.items()}
    return Line(question, size, "first", total / max(1, len(asked) - COUNTED), times)


def lines(size: int, questions: Sequence[str], warm: int = WARM, cold: int = COLD) -> list[Line]:
    """Every question at one size, warm and cold; the scan is asked a few times only."""
    sides, data = built(size)
    found = []
    for question in questions:
        if question == Q6:
            found.append(measured(question, size, "scan", sides, inputs(data, SCANS, 7), 1))
            continue
        found.append(
            unseen(question, size, sides, inputs(data, COUNTED + min(FIRST, cold), 9 + questions.index(question)))
        )
        few = inputs(data, COUNTED, 7)
        probes = sum(sides[0].probes(question, sides[0].prepare(question, one)) for one in few) / len(few)
        line = measured(question, size, "warm", sides, inputs(data, warm, 7), ROUNDS)
        found.append(replace(line, probes=probes))
        found.append(measured(question, size, "cold", sides, inputs(data, cold, 8), 1))
    return found


def built(size: int) -> tuple[list[Any], World]:
    """The sides, loaded one after the other. What they hold stays: the collector need not look at it again, which took
    most of the time at a million."""
    gc.disable()
    try:
        data = world(size)
        sides = []
        for side in SIDES:
            began = perf_counter_ns()
            sides.append(side(data))
            print(f"{size:,}: {side.name} in {(perf_counter_ns() - began) / 1e9:.0f} s", file=sys.stderr, flush=True)
        gc.freeze()
    finally:
        gc.enable()
    return sides, data


def table(found: Sequence[Line]) -> str:
    """Medians in microseconds, and kipql's time as a multiple of each other side's."""
    names = [side.name for side in SIDES]
    head = ["question", "assertions", "", "rows", *(f"{name} µs" for name in names), *(f"/ {n}" for n in names[1:])]
    shown = [f"| {' | '.join(head)} |", f"|---|--:|---|--:|{'--:|' * (2 * len(names) - 1)}"]
    for line in found:
        times = [line.times[name] for name in names]
        ratios = [f"{times[0] / other:.2f}" for other in times[1:]]
        cells = [line.question, f"{line.size:,}", line.kind, f"{line.rows:.1f}", *(f"{t:,.2f}" for t in times), *ratios]
        shown.append(f"| {' | '.join(cells)} |")
    return "\n".join(shown)


def growth(found: Sequence[Line]) -> str:
    """What the same question costs at each size: kipql's time and counters, and how the time grew from the first."""
    sizes = list(dict.fromkeys(line.size for line in found))
    head = ["question", *(f"{size:,}: µs, rows, probes" for size in sizes), "grew"]
    shown = [f"| {' | '.join(head)} |", f"|---|{'--:|' * (len(sizes) + 1)}"]
    for question in dict.fromkeys(line.question for line in found if line.kind == "warm"):
        lines = [line for line in found if (line.question, line.kind) == (question, "warm")]
        times = [line.times[Kipql.name] for line in lines]
        cells = [f"{line.times[Kipql.name]:,.2f}, {line.rows:.1f}, {line.probes:.1f}" for line in lines]
        shown.append(f"| {question} | {' | '.join(cells)} | {times[-1] / times[0]:.2f} |")
    return "\n".join(shown)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.questions", description="Measure the six questions.")
    parser.add_argument("--size", type=int, action="append", help="Assertions (repeatable; default 100000)")
    parser.add_argument("--question", action="append", help="only questions that start with this (repeatable)")
    parser.add_argument("--calls", type=int, help="fewer inputs, warm and cold")
    parser.add_argument("--out", type=Path, help="a file for the lines as JSON")
    chosen = parser.parse_args(arguments)
    wanted = [name for name in NAMES if not chosen.question or name.startswith(tuple(chosen.question))]
    warm, cold = (min(count, chosen.calls or count) for count in (WARM, COLD))
    found = [line for size in chosen.size or [100_000] for line in lines(size, wanted, warm, cold)]
    print(table(found))
    if len({line.size for line in found}) > 1:
        print(f"\n{growth(found)}")
    if chosen.out:
        chosen.out.write_text(json.dumps([asdict(line) for line in found], indent=2) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
