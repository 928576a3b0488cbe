"""The output modes of the shell: rows for people (table, vertical), for documents (markdown), for programs and agents.

table     columns that fit the screen, shortened where they must be; vertical where that is too narrow
vertical  a line per value
compact   a header, a row a line, ` | ` between values: few tokens, nothing cut; what a pipe gets
markdown, tsv, csv, json, jsonl
"""

import re
from collections.abc import Callable, Mapping, Sequence

from kipql.escape import csv_cell, markdown, terminal
from kipql.render.fitting import fit
from kipql.render.formats import Rows, as_csv, as_json, as_jsonl, column_keys
from kipql.render.people import Label, cell, json_line, people
from kipql.render.tables import table, width
from kipql.render.values import compact, many
from kipql.values import Json

_MISTAKEN = re.compile(
    r"\Z|.*\||[\"\[{]|(?:null|true|false|[-+]?\d[\d.eE+\-]*)\Z", re.ASCII | re.DOTALL
)  # for what it is not


def as_fitted(columns: Sequence[str], rows: Rows, label: Label, screen: int) -> str:
    """A table that fits the screen (`kipql.render.fitting`), the columns it left out named below it; vertical when even
    that is too wide."""
    shown = [[cell(value, label) for value in row] for row in rows]
    fitted = fit(columns, shown, screen)
    if fitted is None:
        return as_vertical(columns, rows, label, screen)
    kept = [columns[at] for at in fitted.kept]
    drawn = table(kept, [[row[at] for at in fitted.kept] for row in shown], widest=fitted.widest)
    empty = ", ".join(terminal(columns[at]) for at in fitted.empty)
    return f"{drawn}\nempty in every row: {empty}" if empty else drawn


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
        return json_line(value)
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
