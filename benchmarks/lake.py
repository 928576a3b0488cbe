"""`python -m benchmarks.lake`: the six questions on a lake, on DuckDB and Spark, beside the process (README.md here).

The lake is written from the generator's columns, which gives the rows of an export (`--export` times a true one). Every
answer is the process's, or SQLite's where the process holds no memory of the size, before anything is timed. Times are
medians in milliseconds of `.query(text, parameters).rows`, on an engine that is open; nothing is prepared.
"""

import argparse
import gc
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from benchmarks import lake_data
from benchmarks.measure import Mismatch, normal
from benchmarks.questions_data import Asked, World, inputs, world
from benchmarks.questions_sides import NAMES, QUERIES, Kipql, Sqlite
from kipql import lake
from kipql.lake import manifest

PROCESS_UP_TO = 2_000_000
"""Assertions up to which the process holds the memory beside the lake."""


@dataclass(slots=True)
class Built:
    """What making a lake took, and what opening it takes."""

    size: int
    write: float = 0.0
    load: float | None = None
    export: float | None = None
    bytes: int = 0
    rows: int = 0
    open: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Line:
    """One question at one size: median and least milliseconds by engine, and the median of the processor's time in
    this process, all threads together: beside other work it says more. Spark's work is elsewhere."""

    question: str
    size: int
    rows: float
    times: dict[str, float]
    least: dict[str, float]
    processor: dict[str, float]


class OnLake:
    """A lake as a side of the questions, asked in the same words as the process."""

    def __init__(self, data: World, folder: Path, engine: str, master: str | None) -> None:
        self.keys = [human.key for human in data.people]
        self.name = {"duckdb": "DuckDB", "spark": "Spark"}[engine]
        self.lake = lake.open(folder, engine=engine, master=master)

    prepare = Kipql.prepare
    shown = Kipql.shown

    def ask(self, question: str) -> Callable[[Any], Sequence[Any]]:
        return lambda given: self.lake.query(QUERIES[question], given).rows


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call gives, and its seconds."""
    began = perf_counter()
    found = call()
    return found, perf_counter() - began


def built(data: World, size: int, folder: Path, export: bool) -> tuple[Built, Any]:
    """The lake in the folder, and the side that its answers are checked against."""
    made = Built(size)
    if not (folder / "spaces").is_dir():
        held, made.write = timed(lambda: lake_data.write(data, folder))
    else:
        held = manifest.read(folder, "one")
    made.bytes, made.rows = held.bytes, sum(part.rows for part in held.parts)
    side, made.load = timed(lambda: (Kipql if size <= PROCESS_UP_TO else Sqlite)(data))
    if export and isinstance(side, Kipql):
        with tempfile.TemporaryDirectory(dir=folder.parent) as other:
            _, made.export = timed(lambda: lake.export(side.nexus, other, name="one"))
    return made, side


def measured(question: str, size: int, sides: Sequence[Any], asked: Sequence[Asked], rounds: int) -> Line:
    """Every side on every input in turn. Raises Mismatch before a clock is looked at."""
    calls = [(side.name, side.ask(question), [side.prepare(question, one) for one in asked]) for side in sides]
    total = 0
    for at, one in enumerate(asked):
        shown = [
            normal(side.shown(question, ask(given[at]))) for side, (_, ask, given) in zip(sides, calls, strict=True)
        ]
        total += len(shown[0])
        for side, answer in zip(sides, shown, strict=True):
            if answer != shown[0]:
                raise Mismatch(f"{question} on {one}: {sides[0].name} {shown[0][:4]}, {side.name} {answer[:4]}")
    spent: dict[str, list[float]] = {name: [] for name, _, _ in calls}
    worked: dict[str, list[float]] = {name: [] for name, _, _ in calls}
    gc.collect()
    for _ in range(rounds):
        for at in range(len(asked)):
            for name, ask, given in calls:
                busy = process_time()
                spent[name].append(timed(partial(ask, given[at]))[1] * 1000)
                worked[name].append((process_time() - busy) * 1000)
    times, least = ({name: of(each) for name, each in spent.items()} for of in (median, min))
    processor = {name: median(each) for name, each in worked.items()}
    return Line(question, size, total / len(asked), times, least, processor)


def table(found: Sequence[Line]) -> str:
    """Median and least milliseconds, and the processor's."""
    names = list(dict.fromkeys(name for line in found for name in line.times))
    shown = [
        f"| question | assertions | rows | {' | '.join(f'{n} ms' for n in names)} |",
        f"|---|--:|--:|{'--:|' * len(names)}",
    ]
    for line in found:
        times = [
            f"{line.times[n]:,.2f}, {line.least[n]:,.2f}, {line.processor[n]:,.2f}" if n in line.times else ""
            for n in names
        ]
        shown.append(f"| {line.question} | {line.size:,} | {line.rows:.1f} | {' | '.join(times)} |")
    return "\n".join(shown)


def about(made: Built) -> str:
    """One line of how a lake was made."""
    parts = [f"{made.size:,} Assertions: {made.rows:,} rows, {made.bytes / 1e6:.1f} MB"]
    parts += [f"written in {made.write:.1f} s"] if made.write else []
    parts += [f"loaded by the other side in {made.load:.1f} s"] if made.load is not None else []
    parts += [f"exported in {made.export:.1f} s"] if made.export is not None else []
    parts += [f"{name} opens it in {seconds:.2f} s" for name, seconds in made.open.items()]
    return ", ".join(parts)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lake", description="Measure the questions on a lake.")
    parser.add_argument("--size", type=int, action="append", help="Assertions (repeatable; default 100000)")
    parser.add_argument("--engines", default="duckdb", help="duckdb, spark or duckdb,spark")
    parser.add_argument("--master", help="where Spark is (default local[*])")
    parser.add_argument("--question", action="append", help="only questions that start with this (repeatable)")
    parser.add_argument("--calls", type=int, default=10, help="inputs of a question (default 10)")
    parser.add_argument("--rounds", type=int, default=3, help="times that each input is asked (default 3)")
    parser.add_argument("--export", action="store_true", help="time a true export of the loaded memory, too")
    parser.add_argument("--folder", type=Path, help="where the lakes are kept; one that is there is not written again")
    parser.add_argument("--out", type=Path, help="a file for the figures as JSON")
    chosen = parser.parse_args(arguments)
    wanted = [name for name in NAMES if not chosen.question or name.startswith(tuple(chosen.question))]
    found: list[Line] = []
    builds: list[Built] = []
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="lake-"))
    try:
        for size in chosen.size or [100_000]:
            data = world(size)
            made, side = built(data, size, folder / str(size), chosen.export)
            sides = [side]
            for engine in chosen.engines.split(","):
                opened, seconds = timed(partial(OnLake, data, folder / str(size), engine, chosen.master))
                made.open[opened.name] = seconds
                sides.append(opened)
            print(about(made), file=sys.stderr, flush=True)
            builds.append(made)
            gc.freeze()
            for question in wanted:
                line = measured(question, size, sides, inputs(data, chosen.calls, 7), chosen.rounds)
                print(table([line]).splitlines()[-1], file=sys.stderr, flush=True)
                found.append(line)
            for opened in sides[1:]:
                opened.lake.close()
    finally:
        if chosen.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(f"- {about(made)}" for made in builds))
    print(f"\n{table(found)}")
    if chosen.out:
        figures = {"built": [asdict(made) for made in builds], "lines": [asdict(line) for line in found]}
        chosen.out.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
