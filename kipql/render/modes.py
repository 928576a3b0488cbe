"""The output modes of the shell: rows for people (table, vertical), for documents (markdown), for programs and agents.

table     columns, cut to fit the screen; vertical where that is too narrow
vertical  a line per value
compact   a header, a row a line, ` | ` between values: few tokens, nothing cut; what a pipe gets
markdown, tsv, csv, json, jsonl
"""

import re
from collections.abc import Callable, Mapping, Sequence

from kipql.escape import csv_cell, markdown, terminal
from kipql.render.formats import Rows, as_csv, as_json, as_jsonl, column_keys
from kipql.render.people import Label, number, people
from kipql.render.tables import table, width
from kipql.render.values import compact, many
from kipql.values import Json

_MISTAKEN = re.compile(
    r"\Z|.*\||[\"\[{]|(?:null|true|false|[-+]?\d[\d.eE+\-]*)\Z", re.ASCII | re.DOTALL
)  # for what it is not
LEAST = 8  # screen cells that a column of a table may be cut to; narrower, vertical is easier to read


def as_fitted(columns: Sequence[str], rows: Rows, label: Label, screen: int) -> str:
    """A table cut to the width of the screen, a cut value with an ellipsis; vertical when even that is too wide."""
    shown = [[_cell(value, label) for value in row] for row in rows]
    widest = _widest(columns, shown, screen)
    if widest is None:
        return as_vertical(columns, rows, label, screen)
    head = [terminal(column) for column in columns]
    return table(head, shown, widest=widest)


def _cell(value: Json, label: Label) -> Json:
    """Numbers and null stay what they are, so that their column is set to the right."""
    if type(value) in (int, type(None)):
        return value
    return float(number(value)) if isinstance(value, float) else people(value, label)


def _widest(columns: Sequence[str], rows: Sequence[Sequence[Json]], screen: int) -> int | None:
    """The most cells a value may take so that the table fits, None when no such number is at least `LEAST`."""
    cells = [[compact(value) if not isinstance(value, str) else terminal(value) for value in row] for row in rows]
    body = [max((width(cell) for cell in column), default=0) for column in zip(*cells, strict=True)] or [0] * len(
        columns
    )
    heads = [width(terminal(column)) for column in columns]
    room = screen - 2 * (len(columns) - 1)

    def total(limit: int) -> int:
        return sum(max(head, min(size, limit)) for head, size in zip(heads, body, strict=True))

    most = max(body, default=0)
    if total(most) <= room:
        return max(most, LEAST)
    fitting = [limit for limit in range(LEAST, most) if total(limit) <= room]
    return fitting[-1] if fitting else None


def as_vertical(columns: Sequence[str], rows: Rows, label: Label, screen: int) -> str:
    """A heading per row and a line per value."""
    heads = [terminal(column) for column in columns]
    wide = max((width(head) for head in heads), default=0)
    blocks = []
    for at, row in enumerate(rows, 1):
        lines = [f"-- {at} {'-' * max(0, min(screen, 40) - 4 - len(str(at)))}"]
        lines += [
            f"{head}{' ' * (wide - width(head))}  {terminal(people(value, label))}"
            for head, value in zip(heads, row, strict=True)
        ]
        blocks.append("\n".join(line.rstrip() for line in lines))
    return "\n".join(blocks)


def as_compact(columns: Sequence[str], rows: Rows, label: Label, screen: int) -> str:
    """A header and a row a line; a text that could be mistaken for two values or for another kind is quoted."""
    lines = [" | ".join(terminal(column) for column in columns)] if columns else []
    lines += [" | ".join(terminal(_quoted(value, label)) for value in row) for row in rows]
    return "\n".join(lines)


def _quoted(value: Json, label: Label) -> str:
    if isinstance(value, str) and (_MISTAKEN.match(value) or value != value.strip() or not value.isprintable()):
        return compact(value)
    return value if isinstance(value, str) else people(value, label)


def as_markdown(columns: Sequence[str], rows: Rows, label: Label, screen: int) -> str:
    """A Markdown table."""
    lines = [[markdown(column) for column in columns], ["---"] * len(columns)]
    lines += [[people(value) if _is_number(value) else markdown(people(value, label)) for value in row] for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _is_number(value: Json) -> bool:
    return type(value) in (int, float)


def as_tsv(columns: Sequence[str], rows: Rows, label: Label, screen: int) -> str:
    """Tab-separated values: a tab or a line end inside one is `\\t`, `\\n`; null is empty."""
    lines = [[_tab(key) for key in column_keys(columns)], *([_tab(value) for value in row] for row in rows)]
    return "\n".join("\t".join(cells) for cells in lines)


def _tab(value: Json) -> str:
    if value is None:
        return ""
    return terminal(csv_cell(value if isinstance(value, str) else compact(value)))


Mode = Callable[[Sequence[str], Rows, Label, int], str]
MODES: Mapping[str, Mode] = {
    "table": as_fitted,
    "vertical": as_vertical,
    "json": lambda columns, rows, label, screen: as_json(columns, rows),
    "jsonl": lambda columns, rows, label, screen: as_jsonl(columns, rows),
    "csv": lambda columns, rows, label, screen: as_csv(columns, rows),
    "tsv": as_tsv,
    "markdown": as_markdown,
    "compact": as_compact,
}
COUNTED = ("table", "vertical", "compact")


def counted(mode: str, rows: Rows) -> str:
    """`(3 rows)` under the forms for people and agents, nothing under those for programs."""
    return f"({many(len(rows), 'row')})" if mode in COUNTED else ""
