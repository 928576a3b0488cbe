"""Groups and aggregates (specification §44.6).

The plain FIND items are the group key; with aggregates alone there is one group, also when nothing matches.
Groups come in the order their first solution came. Nulls are ignored; what an aggregate can not take is
TypeMismatch, never a zero.
"""

from collections.abc import Callable, Iterable, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.exec.expressions import portable
from kipql.plan import nodes
from kipql.plan.cells import identity, kind_told
from kipql.spans import Span
from kipql.values import json_type

if TYPE_CHECKING:
    from kipql.limits import Budget

Row = tuple[Any, ...]


def grouped(items: Sequence[nodes.Expression | nodes.Aggregate], rows: Iterable[Row], budget: "Budget") -> list[Row]:
    """One row per group. `rows` holds, per solution, the value of each plain item and aggregate operand."""
    plain = [at for at, item in enumerate(items) if not isinstance(item, nodes.Aggregate)]
    groups: dict[object, list[Row]] = {}
    held = 0
    for held, row in enumerate(rows, 1):
        groups.setdefault(tuple(identity(row[at]) for at in plain), []).append(row)
        if held % 1_024 == 0:
            budget.buffer(held)
            budget.check()
    budget.buffer(held)
    if not groups and not plain:
        groups[()] = []
    return [_row(items, members, budget) for members in groups.values()]


def _row(items: Sequence[nodes.Expression | nodes.Aggregate], members: list[Row], budget: "Budget") -> Row:
    cells = []
    work = 0
    for at, item in enumerate(items):
        cells.append(_cell(item, at, members))
        work += len(members)
        if work >= budget.STRIDE:
            work = 0
            budget.check()
    return tuple(cells)


def _cell(item: nodes.Expression | nodes.Aggregate, at: int, members: list[Row]) -> object:
    if not isinstance(item, nodes.Aggregate):
        return members[0][at]
    inputs = [row[at] for row in members if row[at] is not None]
    if item.function == "COUNT":
        return len({identity(value) for value in inputs}) if item.distinct else len(inputs)
    return AGGREGATES[item.function](inputs, item.where) if inputs else None


def total(inputs: list[Any], where: Span) -> int | float:
    """SUM: exact for integers, correctly rounded otherwise, whatever the order."""
    _check(inputs, ("number",), "SUM", where)
    return portable(_sum(inputs), where)


def mean(inputs: list[Any], where: Span) -> int | float:
    """AVG."""
    _check(inputs, ("number",), "AVG", where)
    return portable(_sum(inputs) / len(inputs), where)


def _sum(inputs: list[Any]) -> int | float:
    try:
        return sum(inputs) if all(isinstance(value, int) for value in inputs) else fsum(inputs)
    except OverflowError:
        return float("inf")


def _extreme(choose: Callable[..., Any], name: str) -> Callable[[list[Any], Span], Any]:
    def pick(inputs: list[Any], where: Span) -> Any:
        _check(inputs, ("number", "string", "boolean"), name, where)
        kinds = sorted({json_type(value) for value in inputs})
        if len(kinds) > 1:
            raise KipError("TypeMismatch", f"{name} can not compare {' with '.join(kinds)}", span=where)
        return choose(inputs)

    return pick


def _check(inputs: list[Any], admitted: tuple[str, ...], name: str, where: Span) -> None:
    for value in inputs:
        if json_type(value) not in admitted:
            raise KipError(
                "TypeMismatch",
                f"{name} takes {' or '.join(admitted)} values and meets a value of type {kind_told(value)}",
                span=where,
                hint="filter such values out, or aggregate another field",
            )


AGGREGATES: dict[str, Callable[[list[Any], Span], Any]] = {
    "SUM": total,
    "AVG": mean,
    "MIN": _extreme(min, "MIN"),
    "MAX": _extreme(max, "MAX"),
}
