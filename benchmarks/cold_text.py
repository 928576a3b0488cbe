"""`python -m benchmarks.cold_text`: a new text, from its bytes to its rows, and where the time goes.

Agents send new text all the time. An eight-line query differs from the one before in a literal (its shape is known)
or in what it filters by (a new shape); or it is the same text again. Every text is sent once. The total is the
public call, `nexus.query(text).rows`; the steps are timed one after the other on other texts of the same kinds.
`compile` is what the first run takes longer than the second: with LIMIT even a first run is on generated source.
A machine with other work interrupts what takes a millisecond: times are of the processor, on the one thread there is,
and the quickest tenth is shown beside the median; the steps are their quickest tenths.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median, quantiles
from time import thread_time_ns
from typing import Any

import kipql
from benchmarks.about import about
from benchmarks.questions_data import BATCH, PACKAGE, world
from kipql import exec as execution
from kipql import lang
from kipql.lang import ast
from kipql.plan import prepare

TEXT = """FIND(?o.name, ?o.key) WHERE {{
  ?c {{type: "Human", key: "h{person}"}}
  (?c, "{predicate}", ?via)
  (?via, "trusts", ?o)
  FILTER(?o.attributes.rank < {rank})
  FILTER(IS_NULL(?via.attributes.field{shape}))
}} ORDER BY ?o.key
LIMIT 20"""
STEPS = ("parse", "check", "plan", "compile", "run")


class Texts:
    """Texts that were not sent before."""

    def __init__(self, people: int) -> None:
        self._people, self._sent = people, 0

    def next(self, *, new_shape: bool) -> str:
        """The next one: another person and bound, and another field when the shape is to be new."""
        self._sent += 1
        sent = self._sent
        return TEXT.format(
            person=sent * 7 % self._people,
            predicate="knows",
            rank=300 + sent,
            shape=sent if new_shape else 0,
        )


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Microseconds, and what the call gave."""
    began = thread_time_ns()
    given = call()
    return (thread_time_ns() - began) / 1000, given


def _both(times: list[float]) -> tuple[float, float]:
    """The median and the quickest tenth."""
    return median(times), quantiles(times, n=10)[0]


def totals(nexus: kipql.Nexus, texts: Texts, calls: int) -> Iterator[tuple[str, tuple[float, float]]]:
    """Microseconds from text to rows, by kind of text: the median and the quickest tenth."""
    for _ in range(5):
        _ = nexus.query(texts.next(new_shape=False)).rows
    for kind, new in (("known shape", False), ("new shape", True)):
        made = [texts.next(new_shape=new) for _ in range(calls)]
        yield kind, _both([timed(lambda text=text: nexus.query(text).rows)[0] for text in made])  # type: ignore[misc]
    text = texts.next(new_shape=False)
    statement = nexus.prepare(text)
    again, prepared = [], []
    for _ in range(calls):
        again.append(timed(lambda: nexus.query(text).rows)[0])
        prepared.append(timed(lambda: statement.query().rows)[0])
    yield "same text", _both(again[5:])
    yield "prepared", _both(prepared[5:])


def split(nexus: kipql.Nexus, texts: Texts, calls: int, new_shape: bool) -> dict[str, float]:
    """Microseconds of each step, its quickest tenth, so that they add up to that of the whole."""
    view = nexus._session.view()
    spent: dict[str, list[float]] = {step: [] for step in STEPS}
    for _ in range(calls):
        text = texts.next(new_shape=new_shape)
        times: dict[str, float] = {}
        times["parse"], find = timed(lambda text=text: lang.parse(text))  # type: ignore[misc]
        assert isinstance(find, ast.Find)
        times["check"], _none = timed(lambda find=find: prepare.checked_find(find))  # type: ignore[misc]
        times["plan"], made = timed(lambda find=find: execution.Prepared(find, view.environment))  # type: ignore[misc]
        first, _rows = timed(lambda made=made: list(made.run(view).rows))  # type: ignore[misc]
        times["run"], _rows = timed(lambda made=made: list(made.run(view).rows))  # type: ignore[misc]
        times["compile"] = max(0.0, first - times["run"])
        for step, time in times.items():
            spent[step].append(time)
    return {step: quantiles(times, n=10)[0] for step, times in spent.items()}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold_text", description="New texts, and their steps.")
    parser.add_argument("--size", type=int, default=100_000, help="Assertions")
    parser.add_argument("--calls", type=int, default=300, help="texts of each kind")
    parser.add_argument("--out", type=Path, help="a file for the figures as JSON")
    given = parser.parse_args(arguments)
    made = world(given.size)
    texts = Texts(len(made.people))
    with kipql.open(packages=[PACKAGE]) as nexus:
        nexus.load(made.records(), batch=BATCH)
        whole = dict(totals(nexus, texts, given.calls))
        steps = {kind: split(nexus, texts, given.calls, kind == "new shape") for kind in list(whole)[:2]}
    print(f"| text | bytes to rows, µs | quickest tenth | {' | '.join(STEPS)} |\n|---|--:|--:|{'--:|' * len(STEPS)}")
    for kind, (time, quick) in whole.items():
        cells = [f"{steps[kind][step]:,.0f}" if kind in steps else "" for step in STEPS]
        print(f"| {kind} | {time:,.1f} | {quick:,.1f} | {' | '.join(cells)} |")
    if given.out:
        given.out.write_text(
            json.dumps({"about": about(()), "totals": whole, "steps": steps}, indent=2) + "\n", "utf-8"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
