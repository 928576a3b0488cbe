"""Rows in the formats of `--format`: a table for people, JSON, JSON lines and CSV for programs.

JSON is one array of objects keyed by column (a repeated column gets a number), JSON lines one such object a
line, CSV has a header line and cells that no spreadsheet runs.
"""

import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from kipql.escape import csv_cell, json_text
from kipql.render.people import Label, cell
from kipql.render.tables import WIDEST, table
from kipql.render.values import many
from kipql.values import Json

Rows = Sequence[Sequence[Json]]


def column_keys(columns: Sequence[str]) -> list[str]:
    """Columns as distinct object keys: without `?`, a repetition numbered (`name`, `name_2`)."""
    seen: Counter[str] = Counter()
    keys = []
    for column in columns:
        key = column.removeprefix("?")
        seen[key] += 1
        keys.append(key if seen[key] == 1 else f"{key}_{seen[key]}")
    return keys


def as_table(columns: Sequence[str], rows: Rows, widest: int | None = WIDEST, label: Label = str) -> str:
    """The rows as a table and their number.

    label  what to call an element id inside a value
    """
    count = f"({many(len(rows), 'row')})"
    shown = [[cell(value, label) for value in row] for row in rows]
    return f"{table(columns, shown, widest=widest)}\n{count}" if columns else count


def as_json(columns: Sequence[str], rows: Rows) -> str:
    """One JSON array of objects."""
    keys = column_keys(columns)
    return json_text([dict(zip(keys, row, strict=True)) for row in rows], indent=2)


def as_jsonl(columns: Sequence[str], rows: Rows) -> str:
    """One JSON object a line."""
    keys = column_keys(columns)
    return "\n".join(json_text(dict(zip(keys, row, strict=True))) for row in rows)


def as_csv(columns: Sequence[str], rows: Rows) -> str:
    """A header line and one line a row (RFC 4180); null is an empty cell, objects are JSON."""
    import csv

    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow([csv_cell(key) for key in column_keys(columns)])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return target.getvalue().removesuffix("\n")


def _cell(value: Json) -> str:
    if value is None:
        return ""
    return csv_cell(value) if isinstance(value, str) else json_text(value)


FORMATS: Mapping[str, Callable[[Sequence[str], Rows], str]] = {
    "table": as_table,
    "json": as_json,
    "jsonl": as_jsonl,
    "csv": as_csv,
}
