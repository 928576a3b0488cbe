"""`python -m benchmarks.cold_text`: a new text, from its bytes to its rows, and where the time goes.

Agents send new text all the time. An eight-line query differs from the one before in its literals (its shape is known)
or in what it filters by (a new shape); or it is the same text again. Every text is sent once. The total is the
public call, `nexus.query(text).rows`; the steps are timed one after the other on other texts of the same kinds, and
what they leave of the total is between them. The rows of every text are compared with those of its plan as written,
without any rule and any cache. A machine with other work interrupts what takes a millisecond: times are of the
processor, on the one thread there is, and the quickest tenth is shown beside the median; the steps are their quickest
tenths.

known  form: the text is cut and its literals are decoded; given: they join the parameters; run: the ready path
new    form: no form fits; parse; check; shape: literals are lifted; plan; learn: the form is kept; run: on closures
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
from benchmarks.measure import Mismatch
from benchmarks.questions_data import BATCH, PACKAGE, world
from kipql import exec as execution
from kipql import lang
from kipql.lang import ast
from kipql.plan import prepare, shape
from kipql.plan.forms import Forms

TEXT = """FIND(?o.name, ?o.key) WHERE {{
  ?c {{type: "Human", key: "h{person}"}}
  (?c, "{predicate}", ?via)
  (?via, "trusts", ?o)
  FILTER(?o.attributes.rank < {rank})
  FILTER(IS_NULL(?via.attributes.field{shape}))
}} ORDER BY ?o.key
LIMIT 20"""
KNOWN, NEW = "known shape", "new shape"
STEPS = {KNOWN: ("form", "given", "run"), NEW: ("form", "parse", "check", "shape", "plan", "learn", "run")}


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
    """Microseconds from text to rows, by kind of text: the median and the quickest tenth. Raises Mismatch."""
    for _ in range(5):
        _ = nexus.query(texts.next(new_shape=False)).rows
    for kind in (KNOWN, NEW):
        made = [texts.next(new_shape=kind == NEW) for _ in range(calls)]
        found = [timed(lambda text=text: nexus.query(text).rows) for text in made]  # type: ignore[misc]
        for text, (_, rows) in zip(made, found, strict=True):
            if rows != as_written(nexus, text):
                raise Mismatch(f"{kind}: {text}")
        yield kind, _both([time for time, _ in found])
    text = texts.next(new_shape=False)
    statement = nexus.prepare(text)
    again, prepared = [], []
    for _ in range(calls):
        again.append(timed(lambda: nexus.query(text).rows)[0])
        prepared.append(timed(lambda: statement.query().rows)[0])
    yield "same text", _both(again[5:])
    yield "prepared", _both(prepared[5:])


def as_written(nexus: kipql.Nexus, text: str) -> list[Any]:
    """The rows by the plan without any rule."""
    view, find = nexus._session.view(), lang.parse(text)
    assert isinstance(find, ast.Find)
    return list(execution.prepare(find, view.environment).run(view, mode="unoptimised").rows)


def split(nexus: kipql.Nexus, texts: Texts, calls: int, kind: str) -> dict[str, float]:
    """Microseconds of each step, its quickest tenth, so that they nearly add up to that of the whole."""
    step = _new if kind == NEW else _known
    spent: dict[str, list[float]] = {name: [] for name in STEPS[kind]}
    for _ in range(calls):
        for name, time in step(nexus, texts.next(new_shape=kind == NEW)):
            spent[name].append(time)
    return {name: quantiles(times, n=10)[0] for name, times in spent.items()}


def _known(nexus: kipql.Nexus, text: str) -> Iterator[tuple[str, float]]:
    session = nexus._session
    time, parsed = timed(lambda: session.statements._formed(text))
    yield "form", time
    time, (ready, given) = timed(lambda: parsed.shared(None, session.space.view().environment))
    yield "given", time
    yield "run", timed(lambda: ready.state.run(given, session.projecting, session.space.cursors).rows)[0]


def _new(nexus: kipql.Nexus, text: str) -> Iterator[tuple[str, float]]:
    session, view = nexus._session, nexus._session.view()
    yield "form", timed(lambda: session.statements._formed(text))[0]
    time, find = timed(lambda: lang.parse(text))
    yield "parse", time
    yield "check", timed(lambda: prepare.checked_find(find))[0]
    time, shaped = timed(lambda: shape.lift_find(find))
    yield "shape", time
    yield "plan", timed(lambda: prepare.planned_find(shaped.node, view.environment))[0]
    yield "learn", timed(lambda: Forms[int]().learn(text, shaped, 1))[0]
    made = execution.Prepared(find, view.environment)
    yield "run", timed(lambda: made.run(view).rows)[0]


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
        steps = {kind: split(nexus, texts, given.calls, kind) for kind in (KNOWN, NEW)}
    print("| text | bytes to rows, µs | quickest tenth | steps |\n|---|--:|--:|---|")
    for kind, (time, quick) in whole.items():
        shown = ", ".join(f"{step} {spent:,.1f}" for step, spent in steps.get(kind, {}).items())
        print(f"| {kind} | {time:,.1f} | {quick:,.1f} | {shown} |")
    if given.out:
        given.out.write_text(
            json.dumps({"about": about(()), "totals": whole, "steps": steps}, indent=2) + "\n", "utf-8"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
