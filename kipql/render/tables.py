"""A plain text table: columns as wide as their cells on the screen, numbers to the right.

Wide and combining characters count as the terminal counts them. Cells are escaped for a terminal; a cell
longer than `widest` is cut and ends with an ellipsis, rows and columns never are. No date, id or number is cut in its
middle, where it would say another one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from kipql.escape import terminal
from kipql.render.people import show
from kipql.values import Json

WIDEST = 80
_WHOLE = re.compile(r"[A-Z]-\d+|\d[\d:.TZ-]*", re.ASCII)  # what may not be cut in its middle


def table(
    columns: Sequence[str], rows: Iterable[Sequence[Json]], *, widest: int | Sequence[int] | None = WIDEST
) -> str:
    """The table as lines of text without a final line break.

    columns  headings, one for each member of a row
    rows     JSON values; strings and elements as `show` has them
    widest   the most screen cells of one value, of all columns or of each; None cuts nothing

    >>> print(table(["name", "n"], [["Ada", 1], ["Bo", 12]]))
    name   n
    ----  --
    Ada    1
    Bo    12
    """
    held = list(rows)
    most = [widest] * len(columns) if widest is None or isinstance(widest, int) else widest
    body = [[cut(terminal(show(value)), each) for value, each in zip(row, most, strict=True)] for row in held]
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


def cut(text: str, widest: int | None) -> str:
    """A text in so many cells, with an ellipsis where it is cut."""
    if widest is None or width(text) <= widest:
        return text
    from rich.cells import set_cell_size

    kept = set_cell_size(text, widest - 1).rstrip()
    at = next((found.start() for found in _WHOLE.finditer(text) if found.start() < len(kept) < found.end()), len(kept))
    return f"{text[:at].rstrip() or kept}…"


def wrapped(pieces: Iterable[str], screen: int, first: str = "", more: str = "") -> Iterator[str]:
    """Pieces with blanks between them on lines that fit the screen, each after its margin; a piece is never broken."""
    line, empty = first, True
    for piece in pieces:
        if not empty and width(line) + 1 + width(piece) > screen:
            yield line.rstrip()
            line, empty = more, True
        line = f"{line}{'' if empty else ' '}{piece}"
        empty = False
    yield line.rstrip()
