"""`python -m benchmarks.worker ENGINE SIZE ...`: one engine in a process of its own; a line of JSON in, a line out.

It makes the data set, loads it, and answers what `benchmarks.peers` asks: `check` gives digests of answers, `time`
nanoseconds of calls. Only one worker runs at a time.
"""

import argparse
import gc
import json
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from time import perf_counter, perf_counter_ns, process_time
from typing import Any

from benchmarks import sides
from benchmarks.measure import normal
from benchmarks.questions_data import inputs, world

SEEDS = {"warm": 7, "cold": 8, "scan": 7}


class Worker:
    """An engine with its inputs: `kinds` are numbers of inputs by kind (warm, cold, scan)."""

    def __init__(self, engine: str, size: int, kinds: dict[str, int]) -> None:
        made = world(size)
        self.asked = {kind: inputs(made, count, SEEDS[kind]) for kind, count in kinds.items()}
        kind = sides.side(engine)
        gc.collect()
        before, began = resident(), process_time()
        self.side: Any = kind(made)
        self.built = process_time() - began
        gc.collect()
        self.bytes = resident() - before
        self.claims = len(made.claims)
        del made
        gc.collect()
        gc.freeze()
        self._ready: dict[tuple[str, str], tuple[Any, list[Any]]] = {}

    def about(self) -> dict[str, Any]:
        """What loading cost: seconds of processor time, and the growth of what is resident."""
        return {"seconds": self.built, "bytes": self.bytes, "claims": self.claims}

    def ready(self, question: str, kind: str) -> tuple[Any, list[Any]]:
        """The function that answers a question, and its arguments."""
        found = self._ready.get((question, kind))
        if found is None:
            given = [self.side.prepare(question, one) for one in self.asked[kind]]
            found = self._ready[question, kind] = (self.side.ask(question), given)
        return found

    def answers(self, question: str, kind: str, budget: float) -> Iterator[list[str]]:
        """The answers to the inputs in turn, in comparable form, as many as the budget of seconds allows."""
        ask, given = self.ready(question, kind)
        until = perf_counter() + budget
        for value in given:
            yield normal(self.side.shown(question, ask(value)))
            if perf_counter() > until:
                return

    def check(self, question: str, kind: str, budget: float) -> dict[str, Any]:
        """Digests of the answers and the number of their rows."""
        found = [
            (len(rows), sha256(repr(rows).encode()).hexdigest()[:16]) for rows in self.answers(question, kind, budget)
        ]
        return {"rows": sum(count for count, _ in found), "digests": [digest for _, digest in found]}

    def show(self, question: str, kind: str, at: int) -> list[str]:
        """One answer in full."""
        ask, given = self.ready(question, kind)
        return normal(self.side.shown(question, ask(given[at])))

    def time(self, question: str, kind: str, first: int, last: int) -> list[int]:
        """Nanoseconds of the calls on some of the inputs."""
        ask, given = self.ready(question, kind)
        spent = []
        gc.disable()
        try:
            for value in given[first:last]:
                began = perf_counter_ns()
                ask(value)
                spent.append(perf_counter_ns() - began)
        finally:
            gc.enable()
        return spent


def resident() -> int:
    """Bytes of this process that are in memory."""
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worker", description=__doc__)
    parser.add_argument("engine", choices=sides.NAMES)
    parser.add_argument("size", type=int)
    for kind in SEEDS:
        parser.add_argument(f"--{kind}", type=int, default=0)
    given = parser.parse_args(arguments)
    worker = Worker(given.engine, given.size, {kind: getattr(given, kind) for kind in SEEDS})
    print(json.dumps(worker.about()), flush=True)
    for line in sys.stdin:
        call, *values = json.loads(line)
        print(json.dumps(getattr(worker, call)(*values)), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
