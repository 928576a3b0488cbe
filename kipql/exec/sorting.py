"""ORDER BY: keys from left to right, nulls last in both directions, ties in the order they came (§44.7).

Booleans come before numbers, numbers before strings; strings by code point. Elements, arrays and objects have
no order: meeting one is TypeMismatch.
"""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.plan import nodes
from kipql.plan.cells import kind_told
from kipql.values import sort_key

if TYPE_CHECKING:
    from kipql.limits import Budget


def sorted_by(
    rows: list[Any], columns: Sequence[list[object]], order: Sequence[nodes.Sort], budget: "Budget"
) -> list[Any]:
    """The rows by the values of their keys (`columns[k][i]` is key k of `rows[i]`)."""
    if len(rows) < 2:
        return rows
    if all(not sort.descending for sort in order) and all(map(_alike, columns)):
        budget.check()
        if len(columns) == 1:
            pairs = list(zip(columns[0], rows, strict=True))
            return [row for _, row in _in_order(pairs, _first, False, budget)]
        keys = list(zip(*columns, strict=True))
        return [rows[position] for position in _in_order(list(range(len(rows))), keys.__getitem__, False, budget)]
    positions = list(range(len(rows)))
    for values, sort in zip(reversed(columns), reversed(order), strict=True):
        ranked = values if _alike(values) else [_ranked(value, sort) for value in values]
        budget.check()
        positions = _in_order(positions, ranked.__getitem__, sort.descending, budget)
    return [rows[position] for position in positions]


_first = itemgetter(0)
FEW = 4_096  # rows that are sorted without a look at the clock
_AT_ONCE = 65_536


def _in_order(items: list[Any], key: Callable[[Any], Any], descending: bool, budget: "Budget") -> list[Any]:
    """The items in order of their keys, ties as they were. A long sort can not be stopped, so it is many short ones,
    and then merges of two runs each, which the sort itself does in one pass."""
    if len(items) <= _AT_ONCE:
        items.sort(key=key, reverse=descending)
        return items
    runs = [items[at : at + _AT_ONCE] for at in range(0, len(items), _AT_ONCE)]
    for run in runs:
        budget.check()
        run.sort(key=key, reverse=descending)
    while len(runs) > 1:
        merged = []
        for at in range(0, len(runs), 2):
            budget.check()
            run = runs[at]
            if at + 1 < len(runs):
                run += runs[at + 1]
                run.sort(key=key, reverse=descending)
            merged.append(run)
        runs = merged
    return runs[0]


def _alike(values: list[object]) -> bool:
    """Whether the values are all strings or all numbers: then they order as they are."""
    classes = set(map(type, values))
    return classes == {str} or classes <= {int, float}


def unordered(kind: str) -> str:
    """The message about a value that has no order."""
    return f"ORDER BY meets {'a' if kind == 'belief' else 'an'} {kind}, which has no order"


def _ranked(value: object, sort: nodes.Sort) -> tuple[Any, ...]:
    """What sorts a value; null after everything, also when the order is reversed."""
    if value is None:
        return (-1,) if sort.descending else (9,)
    try:
        return sort_key(value)  # type: ignore[arg-type]
    except KeyError:
        raise KipError(
            "TypeMismatch",
            unordered(kind_told(value)),
            span=sort.where,
            hint="sort by a scalar field, such as ?x.name or ?x.id",
        ) from None
