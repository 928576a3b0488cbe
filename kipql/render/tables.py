"""A plain text table: columns as wide as their cells on the screen, numbers to the right.

Wide and combining characters count as the terminal counts them. Cells are escaped for a terminal; a cell
longer than `widest` is cut and ends with an ellipsis, rows and columns never are.
"""

from collections.abc import Iterable, Sequence

from kipql.escape import terminal
from kipql.render.values import show
from kipql.values import Json

WIDEST = 80


def table(columns: Sequence[str], rows: Iterable[Sequence[Json]], *, widest: int | None = WIDEST) -> str:
    """The table as lines of text without a final line break.

    columns  headings, one for each member of a row
    rows     JSON values; strings and elements as `show` has them
    widest   the most screen cells of one value; None cuts nothing

    >>> print(table(["name", "n"], [["Ada", 1], ["Bo", 12]]))
    name   n
    ----  --
    Ada    1
    Bo    12
    """
    held = list(rows)
    body = [[_cut(terminal(show(value)), widest) for value in row] for row in held]
    head = [terminal(column) for column in columns]
    widths = [max(width(cell) for cell in column) for column in zip(head, *body, strict=True)]
    right = [_numeric(held, index) for index in range(len(head))]
    lines = [head, ["-" * size for size in widths], *body]
    return "\n".join(_line(cells, widths, right) for cells in lines)


def width(text: str) -> int:
    """The number of screen cells that `text` takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _numeric(rows: Sequence[Sequence[Json]], index: int) -> bool:
    """Whether a column holds numbers (and perhaps null) only, at least one."""
    kinds = {type(row[index]) for row in rows} - {type(None)}
    return bool(kinds) and kinds <= {int, float}


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = [
        " " * (size - width(cell)) + cell if flush else cell + " " * (size - width(cell))
        for cell, size, flush in zip(cells, widths, right, strict=True)
    ]
    return "  ".join(padded).rstrip()


def _cut(text: str, widest: int | None) -> str:
    if widest is None or width(text) <= widest:
        return text
    from rich.cells import set_cell_size

    return f"{set_cell_size(text, widest - 1).rstrip()}…"
