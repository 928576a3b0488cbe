"""Writing the Parquet files of one export, one per table that has rows.

Most that a lake is asked for is few rows by what they refer to. Row groups follow the order of creation, and rows in
one the `order` of the table; a page has few rows, and an index says between which values they are, so that an engine
reads the pages that can hold what is asked. What hardly repeats has no dictionary: all of one is read for a single row.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from inspect import signature
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kipql.lake import layout
from kipql.lake.door import damaged
from kipql.lake.layout import Column, Kind, Table
from kipql.lake.manifest import Part, check_part, part_of, partition
from kipql.lake.place import drop_empty
from kipql.runtime.folder import sync_folder

BATCH = 100_000
"""Rows of a row group."""

PAGE = 2_048
"""Rows of a page: as many as DuckDB looks at in one go."""

_TYPES: Mapping[Kind, Callable[[], Any]] = {
    "int64": pa.int64,
    "int32": pa.int32,
    "bool": pa.bool_,
    "double": pa.float64,
    "string": pa.string,
    "map": lambda: pa.map_(pa.string(), pa.string()),
}

_PAGES: Mapping[str, int] = (  # an older pyarrow counts bytes alone
    {"max_rows_per_page": PAGE} if "max_rows_per_page" in signature(pq.ParquetWriter).parameters
    else {"data_page_size": 8 * PAGE}
)  # fmt: skip


def schema_of(table: Table) -> Any:
    """The Arrow schema of a table; the documentation of each column is its metadata."""
    fields = [pa.field(column.name, _TYPES[column.kind](), metadata={"doc": column.doc}) for column in table.columns]
    return pa.schema(fields, metadata={"doc": table.doc})


def _encoding(column: Column) -> str:
    """How a column without a dictionary is written: as differences, but JSON as it is."""
    if column.name in layout.JSON:
        return "PLAIN"
    return "DELTA_BINARY_PACKED" if column.kind == "int64" else "DELTA_BYTE_ARRAY"


def _writer(path: Path, table: Table) -> Any:
    """What writes the file of a table."""
    encodings = {column.name: _encoding(column) for column in table.columns if column.name in layout.UNREPEATED}
    return pq.ParquetWriter(
        path,
        schema_of(table),
        compression="zstd",
        use_dictionary=[column.name for column in table.columns if column.name not in encodings],
        column_encoding=encodings,
        write_page_index=True,
        **_PAGES,
    )


class Parts:
    """The files of one export of one Space. `close` makes them durable and says what was written."""

    def __init__(self, lake: Path, name: str, mark: str) -> None:
        self._lake = lake
        self._name = name
        self._mark = mark
        self._rows: dict[str, list[tuple[Any, ...]]] = {}
        self._writers: dict[str, tuple[Path, Any, Table]] = {}
        self._made: list[Path] = []
        self._counts: dict[str, int] = {}

    def put(self, table: Table, row: tuple[Any, ...]) -> None:
        """One row."""
        rows = self._rows.setdefault(table.name, [])
        rows.append(row)
        if len(rows) >= BATCH:
            self._flush(table)
        elif table.name not in self._writers:
            self._open(table)

    def kept(self, part: Part, without_: Sequence[int]) -> Part | None:
        """A part of an earlier export without the rows of some elements, None when nothing is left."""
        found = without(self._lake, part, without_, os.urandom(4).hex()) if without_ else part
        if found is not None and found is not part:
            self._made.append(self._lake / found.path)
        return found

    def close(self) -> tuple[Part, ...]:
        """Finish every file. Raises OSError."""
        found = []
        for name, (path, writer, table) in self._writers.items():
            self._flush(table)
            writer.close()
            _sync(path)
            found.append(part_of(self._lake, name, path, self._counts[name]))
        self._writers = {}
        return tuple(found)

    def abandon(self) -> None:
        """Give up: nothing of this export stays."""
        for _, writer, _ in self._writers.values():
            with suppress(Exception):  # of a full disk, say: what is written goes anyway
                writer.close()
        for path in self._made:
            path.unlink(missing_ok=True)
            drop_empty(path.parent)

    def _open(self, table: Table) -> None:
        path = self._lake / table.name / partition(self._name) / f"part-{self._mark}.parquet"
        if path.parent.is_symlink() or path.parent.parent.is_symlink():
            raise damaged(self._lake, path.parent, "it is a link, which leads out of the lake", "remove the link")
        self._made.append(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._writers[table.name] = (path, _writer(path, table), table)

    def _flush(self, table: Table) -> None:
        rows = self._rows.get(table.name)
        if not rows:
            return
        if table.name not in self._writers:
            self._open(table)
        self._writers[table.name][1].write_table(_arrow(table, rows))
        self._counts[table.name] = self._counts.get(table.name, 0) + len(rows)
        self._rows[table.name] = []


def arrow_of(rows: Sequence[tuple[Any, ...]], columns: Sequence[tuple[str, Kind]]) -> Any:
    """Rows as an Arrow table; `columns` are (name, kind)."""
    values = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    arrays = {name: pa.array(held, type=_TYPES[kind]()) for (name, kind), held in zip(columns, values, strict=True)}
    return pa.table(arrays)


def _arrow(table: Table, rows: Sequence[tuple[Any, ...]]) -> Any:
    columns = zip(*rows, strict=True)
    arrays = [
        pa.array(values, type=_TYPES[column.kind]()) for column, values in zip(table.columns, columns, strict=True)
    ]
    made = pa.table(arrays, schema=schema_of(table))
    return made.sort_by([(name, "ascending") for name in table.order]) if table.order else made


def without(lake: Path, part: Part, codes: Sequence[int], mark: str) -> Part | None:
    """A part without the rows of some elements: itself when it has none, None when nothing is left.

    Raises OSError, MemoryDamaged where its bytes are not those that were written.
    """
    path = lake / part.path
    check_part(lake, part, whole=True, links=False)
    gone = pa.array(codes, type=pa.int64())
    table = next(each for each in layout.TABLES if each.name == part.table)
    fresh = path.with_name(f"{path.stem.rpartition('-')[0]}-{mark}.parquet")
    try:
        rows = _filtered(path, fresh, table, gone)
        if rows is None:
            return part
        if rows:
            _sync(fresh)
            return part_of(lake, part.table, fresh, rows)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    fresh.unlink()
    return None


def _filtered(path: Path, fresh: Path, table: Table, gone: Any) -> int | None:
    """Write the rows of a file that are not `gone` to another, and say how many; None, and nothing, where none is."""
    rows = 0
    with pq.ParquetFile(path) as file:
        groups = range(file.num_row_groups)
        if not any(
            pc.any(pc.is_in(file.read_row_group(at, ["code"])["code"], value_set=gone)).as_py() for at in groups
        ):
            return None
        with _writer(fresh, table) as writer:
            for at in groups:
                data = file.read_row_group(at)
                kept = data.filter(pc.invert(pc.is_in(data["code"], value_set=gone)))
                rows += kept.num_rows
                if kept.num_rows:
                    writer.write_table(kept)
    return rows


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
    sync_folder(path.parent)
