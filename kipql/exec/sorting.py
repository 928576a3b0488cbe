"""ORDER BY: keys from left to right, nulls last in both directions, ties in the order they came (§44.7).

Booleans come before numbers, numbers before strings; strings by code point. Elements, arrays and objects have
no order: meeting one is TypeMismatch.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.plan import nodes
from kipql.values import json_type, sort_key

if TYPE_CHECKING:
    from kipql.limits import Budget


def sorted_by(
    rows: list[Any], columns: Sequence[list[object]], order: Sequence[nodes.Sort], budget: "Budget"
) -> list[Any]:
    """The rows by the values of their keys (`columns[k][i]` is key k of `rows[i]`)."""
    positions = list(range(len(rows)))
    for values, sort in zip(reversed(columns), reversed(order), strict=True):
        ranked = values if _alike(values) else [_ranked(value, sort) for value in values]
        budget.check()
        positions.sort(key=ranked.__getitem__, reverse=sort.descending)  # type: ignore[arg-type]
    return [rows[position] for position in positions]


def _alike(values: list[object]) -> bool:
    """Whether the values are all strings or all numbers: then they order as they are."""
    classes = set(map(type, values))
    return classes == {str} or classes <= {int, float}


def _ranked(value: object, sort: nodes.Sort) -> tuple[Any, ...]:
    """What sorts a value; null after everything, also when the order is reversed."""
    if value is None:
        return (-1,) if sort.descending else (9,)
    try:
        return sort_key(value)  # type: ignore[arg-type]
    except KeyError:
        what = "an element" if json_type(value) == "Ref" else f"an {json_type(value)}"
        raise KipError(
            "TypeMismatch",
            f"ORDER BY meets {what}, which has no order",
            span=sort.where,
            hint="sort by a scalar field, such as ?x.name or ?x.id",
        ) from None
