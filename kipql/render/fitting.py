"""How a table is made to fit a screen.

What is too wide loses, in this order, the columns that are empty in every row and the ends of its widest texts. A date,
an id and a number are never shortened: what is left of one says something else.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kipql.escape import terminal
from kipql.render.tables import width
from kipql.render.values import compact
from kipql.values import Json

LEAST = 8  # screen cells that a text may be cut to; narrower, rows are easier to read another way
GAP = 2
# A cell that is a date, an id, a number or a number of a list; or a short phrase about dates: "by 2026-04-01".
_WHOLE = re.compile(r"#?[+-]?\d[\d.,:eE+\-]*Z?|[A-Z]-\d+|.{0,8}\d{4}-\d\d-\d\d.{0,16}", re.ASCII)
_WORTH = 40  # cells; something longer is no short phrase

Cells = Sequence[Sequence[Json]]


@dataclass(frozen=True, slots=True)
class Fit:
    """kept    the columns that are shown, by their numbers
    widest  the most cells that a value of each may take
    empty   the columns that are left out
    """

    kept: tuple[int, ...]
    widest: tuple[int, ...]
    empty: tuple[int, ...] = ()


def fit(columns: Sequence[str], rows: Cells, screen: int, least: int = LEAST) -> Fit | None:
    """How the rows fit; None when a text would be cut to less than `least` cells."""
    every = tuple(range(len(columns)))
    if (whole := _narrowed(columns, rows, every, screen, None)) is not None:
        return Fit(every, whole)
    told = tuple(at for at in every if any(row[at] not in (None, "") for row in rows)) or every
    empty = tuple(at for at in every if at not in told)
    widest = _narrowed(columns, rows, told, screen, least)
    return None if widest is None else Fit(told, widest, empty)


def _narrowed(
    columns: Sequence[str], rows: Cells, kept: Sequence[int], screen: int, least: int | None
) -> tuple[int, ...] | None:
    """The cells of each column, so that the widest texts lose most; None for `least` cuts nothing."""
    room = screen - GAP * (len(kept) - 1)
    full, floor = [], []
    for at in kept:
        cells = [_text(row[at]) for row in rows]
        head = width(terminal(columns[at]))
        full.append(max([head, *map(width, cells)]))
        floor.append(max([head, *(_floor(cell, least) for cell in cells)]) if least is not None else full[-1])
    if sum(floor) > room:
        return None
    limit = max(full, default=0)
    while sum(sizes := _sizes(full, floor, limit)) > room:
        limit -= 1
    return tuple(sizes)


def _sizes(full: Sequence[int], floor: Sequence[int], limit: int) -> list[int]:
    return [max(low, min(size, limit)) for size, low in zip(full, floor, strict=True)]


def _floor(text: str, least: int | None) -> int:
    size = width(text)
    whole = size <= _WORTH and _WHOLE.fullmatch(text) is not None
    return size if whole or least is None else min(size, least)


def _text(value: Json) -> str:
    return terminal(value) if isinstance(value, str) else compact(value)
