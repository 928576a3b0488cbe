"""Reading and testing one field of an element (specification §43.1, §44.1).

Built on the store's getters. An absent optional field of Core reads as null and is absent; an explicit null
exists only where an author can write one: in attributes, Facets and payloads.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from kipql.model import KINDS
from kipql.plan.cells import WRITTEN, Cell, Value, Virtual
from kipql.plan.logic import equal, reference
from kipql.plan.nodes import Steps
from kipql.store.fields import getter as store_getter
from kipql.values import Json, json_type, value_key

if TYPE_CHECKING:
    from kipql.store.view import View

Reader = Callable[["View", int], Json]


@lru_cache(maxsize=4_096)
def reader(kind: int, steps: Steps) -> Reader:
    """Reads a path of an element of a kind by its row; a number steps into an array."""
    index = next((at for at, step in enumerate(steps) if isinstance(step, int)), None)
    if index is None:
        return store_getter(kind, steps)  # type: ignore[arg-type]
    outer = store_getter(kind, steps[:index])  # type: ignore[arg-type]
    rest = steps[index:]
    return lambda view, row: walk(outer(view, row), rest)


@lru_cache(maxsize=4_096)
def readers(steps: tuple[str, ...]) -> tuple[Reader, ...]:
    """The readers of a path for every kind, indexed by kind."""
    return tuple(reader(kind, steps) for kind in range(len(KINDS)))


def walk(value: Json, steps: Steps) -> Json:
    """A path inside a JSON value; null where it is missing."""
    for step in steps:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list | tuple) and step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value


def explicit_null(view: "View", kind: int, row: int, steps: Steps) -> bool:
    """Whether a path that reads as null was written as null."""
    if steps[0] not in WRITTEN or len(steps) < 2:
        return False
    holder = reader(kind, steps[:-1])(view, row)
    last = steps[-1]
    if isinstance(last, int):
        return isinstance(holder, list | tuple) and last < len(holder) and holder[last] is None
    return isinstance(holder, Mapping) and last in holder and holder[last] is None


def member(view: "View", cell: Cell, steps: tuple[str, ...]) -> Json:
    """A field path of any cell; null for what has no such member."""
    if cell.__class__ is int:
        return readers(steps)[cell & 7](view, cell >> 3) if cell >= 0 else None
    if isinstance(cell, Virtual):
        return walk(cell.member(steps[0]), steps[1:])
    if isinstance(cell, Value):
        return walk(cell.json, steps)
    return None


def plain_class(value: Json) -> type:
    """The class of a scalar that is not null; `object`, which is no value's class, for everything else."""
    return value.__class__ if isinstance(value, str | int | float | bool) else object


def matches(value: Json, pattern: Json) -> bool:
    """Whether a field's value satisfies a constant: scalars equal, named members hold, arrays item by item."""
    if isinstance(pattern, Mapping):
        if not isinstance(value, Mapping):
            return False
        if "id" in pattern and "id" in value:
            return reference(value) == reference(pattern)
        return all(name in value and matches(value[name], part) for name, part in pattern.items())
    if isinstance(pattern, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(pattern)
            and all(matches(item, part) for item, part in zip(value, pattern, strict=True))
        )
    if isinstance(value, Mapping):
        return isinstance(pattern, str) and reference(value) == pattern
    return json_type(value) == json_type(pattern) and value_key(value) == value_key(pattern)


def is_equal(value: Json, constant: Json) -> bool:
    """`value == constant` is true: the test that an equality of a FILTER becomes."""
    return equal(value, constant) is True
