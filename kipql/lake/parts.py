"""Writing the Parquet files of one export, one per table that has rows."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kipql.lake.layout import Kind, Table
from kipql.lake.manifest import Part, check_part, part_of, partition
from kipql.runtime.folder import sync_folder

BATCH = 100_000
"""Rows of a row group."""

_TYPES: Mapping[Kind, Callable[[], Any]] = {
    "int64": pa.int64,
    "int32": pa.int32,
    "bool": pa.bool_,
    "double": pa.float64,
    "string": pa.string,
    "map": lambda: pa.map_(pa.string(), pa.string()),
}


def schema_of(table: Table) -> Any:
    """The Arrow schema of a table; the documentation of each column is its metadata."""
    fields = [pa.field(column.name, _TYPES[column.kind](), metadata={"doc": column.doc}) for column in table.columns]
    return pa.schema(fields, metadata={"doc": table.doc})


class Parts:
    """The files of one export of one Space. `close` makes them durable and says what was written."""

    def __init__(self, lake: Path, name: str, mark: str) -> None:
        self._lake = lake
        self._name = name
        self._mark = mark
        self._rows: dict[str, list[tuple[Any, ...]]] = {}
        self._writers: dict[str, tuple[Path, Any, Table]] = {}
        self._counts: dict[str, int] = {}

    def put(self, table: Table, row: tuple[Any, ...]) -> None:
        """One row."""
        rows = self._rows.setdefault(table.name, [])
        rows.append(row)
        if len(rows) >= BATCH:
            self._flush(table)
        elif table.name not in self._writers:
            self._open(table)

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
        for path, writer, _ in self._writers.values():
            writer.close()
            path.unlink(missing_ok=True)

    def _open(self, table: Table) -> None:
        path = self._lake / table.name / partition(self._name) / f"part-{self._mark}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._writers[table.name] = (path, pq.ParquetWriter(path, schema_of(table), compression="zstd"), table)

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
    return pa.table(arrays, schema=schema_of(table))


def without(lake: Path, part: Part, codes: Sequence[int], mark: str) -> Part | None:
    """A part without the rows of some elements: itself when it has none, None when nothing is left.

    Raises OSError, MemoryDamaged where its bytes are not those that were written.
    """
    path = lake / part.path
    check_part(lake, part, whole=True)
    data = pq.read_table(path, partitioning=None)
    kept = data.filter(pc.invert(pc.is_in(data["code"], value_set=pa.array(codes, type=pa.int64()))))
    if kept.num_rows == data.num_rows:
        return part
    if not kept.num_rows:
        return None
    fresh = path.with_name(f"{path.stem}-{mark}.parquet")
    pq.write_table(kept, fresh, compression="zstd", row_group_size=BATCH)
    _sync(fresh)
    return part_of(lake, part.table, fresh, kept.num_rows)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
    sync_folder(path.parent)
