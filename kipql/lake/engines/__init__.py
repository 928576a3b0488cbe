"""What a lake asks of a SQL engine, whichever it is."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Protocol

from sqlglot import exp

from kipql.errors import KipError
from kipql.lake import layout
from kipql.lake.cells import TOLD
from kipql.lake.door import as_kip
from kipql.lake.lower.sql import Sql, coalesce, col, eq, every, left_joined, lit, named, null, table
from kipql.spans import Span

Row = tuple[Any, ...]
SQL_TYPES: Mapping[layout.Kind, str] = {
    "int64": "BIGINT",
    "int32": "INTEGER",
    "bool": "BOOLEAN",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "map": "MAP(VARCHAR, VARCHAR)",
}


class Engine(Protocol):
    """Runs SQL trees over the tables of one Space of a lake; a tree is the engine's from then on.

    facts    what was looked up of the tables, which do not change while they are open
    repeats  whether a step is planned again wherever it is read, so that what nested blocks read twice is better kept
    """

    name: str
    repeats: bool
    facts: dict[str, Any]

    def rows(self, select: exp.Select) -> list[Row]:
        """The rows of a SELECT."""

    def keep(self, select: exp.Select) -> str:
        """Run a SELECT and keep its rows as a table until `forget`; its name."""

    def put(self, rows: Sequence[Row], columns: Sequence[tuple[str, layout.Kind]]) -> str:
        """Rows that come from here, as a table until `forget`; its name. `columns` are (name, kind)."""

    def count(self, kept: str) -> int:
        """How many rows a kept table has."""

    def forget(self) -> None:
        """Drop what was kept."""

    def interrupt(self) -> None:
        """End what is running, from another thread; nothing where nothing is."""

    def close(self) -> None:
        """Give up what the engine holds."""


def told(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose error goes through an engine as text, and comes out of `retold` as a KipError."""

    @wraps(function)
    def call_(*args: Any) -> Any:
        try:
            return function(*args)
        except Exception as raised:
            if isinstance(raised, ValueError) and TOLD in str(raised):
                raise
            error = as_kip(raised)
            span = None if error.span is None else [error.span.start, error.span.end]
            data: dict[str, Any] = {"code": error.code, "message": error.message, "hint": error.hint, "span": span}
            data["details"] = error.details
            raise ValueError(f"{TOLD}{json.dumps(data, default=str)}{TOLD}") from None

    return call_


def retold(error: Exception, engine: str, said: str | None = None) -> KipError:
    """The KipError that an engine's error carries; else what the engine `said`, as one of ours."""
    found = re.search(f"{TOLD}(.*?){TOLD}", str(error), re.DOTALL)
    if found is None:
        lines = (line.strip() for line in (said or str(error)).splitlines())
        first_line = next(filter(None, lines), type(error).__name__)
        return KipError("MemoryUnavailable", f"{engine} could not run the query: {first_line[:500]}")
    data = json.loads(found[1])
    span = None if data.get("span") is None else Span(*data["span"])
    return KipError(data["code"], data["message"], span=span, hint=data.get("hint"), details=data.get("details"))


def view_of(each: layout.Table, source: Sql | None, ends: bool) -> exp.Select:
    """What a table of a lake reads: its files, with the ends of later exports; an empty table where it has none."""
    if source is None:
        nothing = (named(null(SQL_TYPES[column.kind]), column.name) for column in each.columns)
        return exp.select(*nothing).where(exp.false())
    select = exp.select().from_(exp.alias_(source, "t", table=True, quoted=True))
    if not ends or "seq_from" not in each.names or each is layout.ENDS or each in layout.WHOLE:
        return select.select(*(col(name, "t") for name in each.names))
    on = every(eq(col(name, "e"), col(name, "t")) for name in ("code", "seq_from"))
    left_joined(select, table(layout.ENDS.name, "e"), on)
    closed = named(coalesce(col("seq_to", "t"), col("seq_to", "e")), "seq_to")
    return select.select(*(closed if name == "seq_to" else col(name, "t") for name in each.names))


def files(paths: Sequence[Path]) -> exp.Array:
    """The paths of files as a list."""
    return exp.Array(expressions=[lit(str(path)) for path in paths])


__all__ = ["Engine", "Row", "files", "retold", "told", "view_of"]
