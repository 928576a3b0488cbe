"""From solutions to rows: deduplication, groups, order, page, projection (specification §42.5).

The logical order is the specification's: identical complete solutions once, then groups and aggregates, then
sort keys, then the window. Projected values are never made distinct.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from kipql.exec import fields
from kipql.exec.context import Context
from kipql.exec.expressions import Evaluate, value_of
from kipql.exec.grouping import grouped
from kipql.exec.sorting import sorted_by
from kipql.exec.terms import identity_of
from kipql.limits import Budget
from kipql.plan import nodes

Solution = tuple[Any, ...]


def distinct(solutions: Iterable[Solution], context: Context) -> Iterator[Solution]:
    """Each complete solution once (§42.5): elements by identity, Literals canonical, symbols by lineage."""
    keys = identity_keys(context)
    seen: set[Solution] = set()
    for solution in solutions:
        key = tuple(one(cell) for one, cell in zip(keys, solution, strict=True))
        if key not in seen:
            seen.add(key)
            if len(seen) % 1_024 == 0:
                context.budget.buffer(len(seen))
            yield solution


def identity_keys(context: Context) -> list[Callable[[Any], object]]:
    """Per visible variable, what makes two of its cells one."""
    view, lineage_of = context.view, context.view.lineage_of
    kinds: dict[str, Callable[[Any], object]] = {
        "term": lambda cell: cell,
        "symbol": lambda cell: None if cell is None else lineage_of[cell],
        "belief": lambda cell: cell,
        "any": lambda cell: identity_of(view, cell),
    }
    return [kinds[context.shapes[name]] for name in context.plan.visible]


def evaluators(expressions: Sequence[nodes.Expression], context: Context) -> list[Callable[[Solution], object]]:
    """Functions from a solution over the visible variables to the value of an expression."""
    places = [context.index[name] for name in context.plan.visible]
    size = len(context.index)
    return [_on_solution(value_of(expression, context), places, size) for expression in expressions]


def _on_solution(evaluate: Evaluate, places: list[int], size: int) -> Callable[[Solution], object]:
    def run(solution: Solution) -> object:
        frame: list[Any] = [None] * size
        for at, cell in zip(places, solution, strict=True):
            frame[at] = cell
        return evaluate(frame)

    return run


def values_of(
    items: Sequence[nodes.Expression | nodes.Aggregate], context: Context
) -> list[Callable[[Solution], object]]:
    """The value of each item, or of the operand of an aggregate."""
    places = [context.index[name] for name in context.plan.visible]
    size = len(context.index)
    plain = [item.operand if isinstance(item, nodes.Aggregate) else item for item in items]
    return [_on_solution(item_value(expression, context), places, size) for expression in plain]


def item_value(expression: nodes.Expression, context: Context) -> Evaluate:
    """The value of a FIND item: as `value_of`, but a path to an exact ref is text, not a symbol."""
    if not isinstance(expression, nodes.Member) or context.shapes[expression.name] == "symbol":
        return value_of(expression, context)
    at, view, steps = context.index[expression.name], context.view, expression.steps
    return lambda frame: fields.member(view, frame[at], steps)


def group_rows(solutions: Iterable[Solution], context: Context) -> list[Solution]:
    """The rows of a query with aggregates, in order of ORDER BY where there is one."""
    items = context.plan.items
    values = values_of(items, context)
    rows = grouped(items, _evaluated(solutions, values, context.budget), context.budget)
    order = context.plan.order
    if order:
        places = [sort.key for sort in order if isinstance(sort.key, int)]
        rows = sorted_by(rows, [[row[place] for row in rows] for place in places], order, context.budget)
    return rows


def order_solutions(solutions: list[Solution], context: Context) -> list[Solution]:
    """The solutions in the order of ORDER BY."""
    order, items = context.plan.order, context.plan.items
    expressions = [items[sort.key] if isinstance(sort.key, int) else sort.key for sort in order]
    keys = evaluators(expressions, context)  # type: ignore[arg-type]
    columns = []
    for key in keys:
        columns.append([key(solution) for solution in solutions])
        context.budget.check()
    return sorted_by(solutions, columns, order, context.budget)


def project(solutions: Iterable[Solution], context: Context) -> list[Any]:
    """The projected rows: bare values for one item, tuples for several; an element stays a Ref."""
    values = values_of(context.plan.items, context)
    if len(values) == 1:
        only = values[0]
        return [only(solution) for solution in solutions]
    return list(_evaluated(solutions, values, context.budget))


def _evaluated(
    solutions: Iterable[Solution], values: Sequence[Callable[[Solution], object]], budget: Budget
) -> Iterator[Solution]:
    """The values per solution; the clock is looked at as often as for any other work."""
    every = max(1, budget.STRIDE // len(values))
    for count, solution in enumerate(solutions, 1):
        yield tuple(value(solution) for value in values)
        if not count % every:
            budget.check()


def lazy_columns(plan: nodes.Plan) -> tuple[int, ...]:
    """The items whose values may hold elements, edges or symbols, so that `Rows` must complete them."""
    return tuple(
        at for at, item in enumerate(plan.items) if isinstance(item, nodes.Load | nodes.Listing | nodes.Record)
    )
