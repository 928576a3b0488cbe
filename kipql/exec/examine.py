"""`examine`: a run of a query as data, an operator a line: what was expected of each and what it did (§45).

`estimated` is how many candidates the postings hold for an operator by its constants alone, which is what the order of
a join is decided by: an operator that runs after others finds at most as many a start. What has no posting has no
estimate. Starts and rows are those of `explain`.
"""

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kipql.exec import prepared
from kipql.exec.context import Context
from kipql.exec.estimate import estimate
from kipql.exec.paging import page
from kipql.exec.reading import DEFAULTS, Projections, reading
from kipql.limits import Budget
from kipql.plan import nodes
from kipql.plan.show import describe, shown
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.exec.prepared import Prepared
    from kipql.store.view import View


@dataclass(frozen=True, slots=True)
class Line:
    """One operator of a plan.

    depth      how many blocks it is in
    text       what it does, constants as `$n`
    estimated  candidates by the postings, None where they do not tell
    starts     how often it began, None where the query was not run
    rows       solutions that it passed on
    """

    depth: int
    text: str
    estimated: int | None = None
    starts: int | None = None
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Examined:
    """A plan, and where it was run what that cost.

    lines      the operators, in the order they run
    after      what becomes of their solutions: groups, order, duplicates
    constants  what the `$n` of the lines stand for
    rows       rows of the answer before LIMIT, None where it was not run
    probes     what the run spent of its ticks
    seconds    how long it took on closures, counters and all; a run for an answer is faster
    """

    lines: tuple[Line, ...]
    after: tuple[str, ...]
    constants: dict[str, Json]
    rows: int | None = None
    probes: int | None = None
    seconds: float | None = None


def examine(
    query: "Prepared",
    view: "View",
    parameters: Mapping[str, Json] | None,
    budget: Budget,
    projections: Projections = DEFAULTS,
) -> Examined:
    """The plan of a query; with parameters (also none at all, `{}`) it is run. Raises as a run does."""
    if parameters is None:
        plan = query.planned(view.environment).plan
        return Examined(tuple(Line(depth, describe(one)) for depth, one in _operators(plan.block, 0)), _after(plan), {})
    view = page(query.find, view, parameters, None, None).view
    planned = query.planned(view.environment)
    made = reading(query.find, view, parameters, projections)
    values = prepared.values_of(planned, query.literals, {**parameters, nodes.READING: made})
    plan = prepared.chosen(planned, view, values, budget, "closures")
    expected = Context.of(plan, view, values, budget)
    estimates = [_estimate(one, expected) for _, one in _operators(plan.block, 0)]
    context = Context.of(plan, view, values, budget)
    counters = context.counters = {}
    before, begun = budget.ticks, time.perf_counter()
    rows = prepared.finished(prepared.solutions(context), context, None)
    seconds = time.perf_counter() - begun
    lines = [
        Line(depth, describe(one), estimated, *counters.get(id(one), (0, 0)))
        for (depth, one), estimated in zip(_operators(plan.block, 0), estimates, strict=True)
    ]
    after = _after(plan)
    text = "\n".join((*(line.text for line in lines), *after))
    return Examined(tuple(lines), after, _constants(text, values), len(rows), budget.ticks - before, seconds)


def _operators(block: nodes.Block, depth: int) -> Iterator[tuple[int, nodes.Operator]]:
    """The operators of a block with their depth, in the order of `plan.show`."""
    for one in block.operators:
        match one:
            case nodes.Without(block=inner) | nodes.Maybe(block=inner):
                yield depth, one
                yield from _operators(inner, depth + 1)
            case nodes.Either(left=left, right=right):
                if left is not None:
                    yield from _operators(left, depth)
                yield depth, one
                yield from _operators(right, depth + 1)
            case _:
                yield depth, one


def _after(plan: nodes.Plan) -> tuple[str, ...]:
    """What the text of the plan says below its operators."""
    return tuple(shown(plan).split("\n")[sum(1 for _ in _operators(plan.block, 0)) :])


def _estimate(one: nodes.Operator, context: Context) -> int | None:
    return estimate(one, context) if isinstance(one, nodes.Elements | nodes.Triple) else None


def _constants(text: str, values: tuple[Json, ...]) -> dict[str, Json]:
    """The constants that a text names."""
    numbers = dict.fromkeys(int(found) for found in re.findall(r"\$(\d+)", text))
    return {f"${number}": values[number] for number in numbers if _is_json(values[number])}


def _is_json(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool | list | dict)
