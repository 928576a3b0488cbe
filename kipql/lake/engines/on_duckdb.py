"""DuckDB over the Parquet files of one Space: the default engine of a lake."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlglot import exp

from kipql.errors import KipError
from kipql.lake import layout
from kipql.lake.cells import FUNCTIONS
from kipql.lake.engines import Row, files, retold, told, view_of
from kipql.lake.lower.sql import named, table
from kipql.lake.manifest import RESIDENT, Manifest
from kipql.lake.parts import arrow_of

DIALECT = "duckdb"


class DuckDB:
    """One connection in memory; nothing is written beside the lake."""

    name = "duckdb"

    def __init__(self, lake: Path, manifest: Manifest, threads: int | None = None) -> None:
        """Raises UnsupportedCapability without duckdb, MemoryDamaged where a file is missing or is none."""
        self._connection = _connected(threads)
        self._kept: list[str] = []
        self.facts: dict[str, Any] = {}
        for function in FUNCTIONS:
            self._connection.create_function(
                function.name, told(function.call), list(function.takes), function.gives, null_handling="special"
            )
        has_ends = bool(manifest.of(layout.ENDS.name))
        self._kind = "TABLE" if manifest.bytes <= RESIDENT else "VIEW"
        for each in (layout.ENDS, *(one for one in layout.TABLES if one is not layout.ENDS)):
            paths = [lake / part.path for part in manifest.of(each.name)]
            source = _parquet(paths) if paths else None
            self._define(each.name, view_of(each, source, has_ends))

    def rows(self, select: exp.Select) -> list[Row]:
        return self._run(select).fetchall()  # type: ignore[no-any-return]

    def keep(self, select: exp.Select) -> str:
        name = f"kept{len(self._kept)}"
        self._kept.append(name)
        temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
        made = exp.Create(this=table(name), kind="TABLE", expression=select, properties=temporary)
        self._run(made)
        return name

    def put(self, rows: Sequence[Row], columns: Sequence[tuple[str, layout.Kind]]) -> str:
        given = "given"
        self._connection.register(given, arrow_of(rows, columns))
        try:
            return self.keep(exp.select("*").from_(table(given)))
        finally:
            self._connection.unregister(given)

    def count(self, kept: str) -> int:
        counted = exp.select(named(exp.Count(this=exp.Star()), "n")).from_(table(kept))
        return int(self.rows(counted)[0][0])

    def forget(self) -> None:
        for name in self._kept:
            self._run(exp.Drop(tables=[table(name)], kind="TABLE"))
        self._kept = []

    def interrupt(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()

    def _define(self, name: str, select: exp.Select) -> None:
        self._run(exp.Create(this=table(name), kind=self._kind, expression=select))

    def _run(self, tree: exp.Expression) -> Any:
        import duckdb

        try:
            return self._connection.execute(tree.sql(DIALECT, copy=False))
        except duckdb.Error as error:
            raise retold(error, "DuckDB") from error


def _parquet(paths: list[Path]) -> exp.Expression:
    partitioning = exp.EQ(this=exp.to_identifier("hive_partitioning"), expression=exp.false())
    return exp.Table(this=exp.Anonymous(this="read_parquet", expressions=[files(paths), partitioning]))


def _connected(threads: int | None) -> Any:
    try:
        import duckdb
    except ImportError:
        raise KipError(
            "UnsupportedCapability", "this engine needs duckdb", hint="install kipql with the extra `lake`"
        ) from None
    config: dict[str, Any] = {} if threads is None else {"threads": threads}
    return duckdb.connect(":memory:", config=config)
