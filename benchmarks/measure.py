"""Timing two sides against each other: alternating calls, medians, answers checked first."""

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter_ns
from typing import Any

Call = Callable[[Any], object]


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the report: median microseconds of each side over `calls` calls."""

    group: str
    size: int
    kipql: float
    sqlite: float | None
    calls: int
    rows: int

    @property
    def ratio(self) -> float | None:
        return None if self.sqlite is None else self.kipql / self.sqlite


class Mismatch(Exception):
    """The two sides answer differently: nothing is timed."""


def same(answer: Any) -> Any:
    """An answer as it is."""
    return answer


def compare(
    group: str,
    size: int,
    inputs: Sequence[Any],
    kipql: Call,
    sqlite: Call,
    *,
    check: bool = True,
    rounds: int = 3,
    shown: tuple[Call, Call] = (same, same),
) -> Measure:
    """Time both sides on every input, `rounds` times, taking turns in who goes first.

    With `check` the answers must be equal on every input (as multisets) before a clock is looked at; `shown` is what
    is compared of each side's answer, made outside the clock.
    """
    rows = 0
    if check:
        for value in inputs:
            ours, theirs = normal(shown[0](kipql(value))), normal(shown[1](sqlite(value)))
            if ours != theirs:
                raise Mismatch(
                    f"{group} on {value!r}: kipql {ours[:3]} of {len(ours)}, SQLite {theirs[:3]} of {len(theirs)}"
                )
            rows += len(ours)
    spent: tuple[list[int], list[int]] = ([], [])
    sides = (kipql, sqlite)
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            for number, value in enumerate(inputs):
                first = (turn + number) % 2
                for side in (first, 1 - first):
                    spent[side].append(timed(sides[side], value))
    finally:
        gc.enable()
    ours_us, theirs_us = (median(times) / 1000 for times in spent)
    return Measure(group, size, ours_us, theirs_us, len(spent[0]), rows // max(1, len(inputs)))


def timed(call: Call, value: Any) -> int:
    began = perf_counter_ns()
    call(value)
    return perf_counter_ns() - began


def normal(answer: object) -> list[str]:
    """Rows in a comparable order; a row is a row, tuple or list."""
    rows = answer if isinstance(answer, list | tuple) else [answer]
    return sorted(repr(list(row)) if isinstance(row, tuple) else repr(row) for row in rows)
