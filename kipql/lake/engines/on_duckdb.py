"""DuckDB over the Parquet files of one Space: the default engine of a lake.

The lakes of a process share one DuckDB in memory, in which the functions are registered once; each has a connection and
a schema of its own there. Nothing is written beside a lake.
"""

import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from sqlglot import exp

from kipql.errors import KipError
from kipql.extras import need
from kipql.lake import layout
from kipql.lake.cells import FUNCTIONS, TOLD
from kipql.lake.door import malformed
from kipql.lake.engines import Row, files, retold, told, view_of
from kipql.lake.lower.sql import everything, named, table
from kipql.lake.manifest import Manifest
from kipql.lake.parts import arrow_of

DIALECT = "duckdb"
READ_WHOLE = 4 * 1024 * 1024
"""Bytes of files up to which a Space is read once, when it is opened; above that each query asks the files."""

_INTERRUPTED = "Query interrupted"
"""What DuckDB makes of a Ctrl-C that it meets while it works."""
_STOPPED = "executing the UDF: KeyboardInterrupt"
"""What it makes of one that a function of ours meets."""

_shared: dict[tuple[int, int | None], Any] = {}
_sharing = threading.Lock()
_homes = count(1)


def _in_child() -> None:
    """A fork may copy a lock that nobody in the child gives back."""
    global _sharing
    _sharing = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


class DuckDB:
    """A connection of its own to what the lakes of the process share."""

    name = "duckdb"
    repeats = False

    def __init__(self, lake: Path, manifest: Manifest, threads: int | None = None) -> None:
        """Raises UnsupportedCapability without duckdb, MemoryDamaged where a file is missing or is none."""
        self._connection = _connected(threads)
        self._kept: list[str] = []
        self._names = count()
        self.facts: dict[str, Any] = {}
        home = f"lake{next(_homes)}"
        self._left = weakref.finalize(self, _left, self._connection, home, os.getpid())
        self._left.atexit = False
        self._connection.execute(f"CREATE SCHEMA {home}; SET search_path = '{home},main'")
        has_ends = bool(manifest.of(layout.ENDS.name))
        kind = "TABLE" if manifest.bytes <= READ_WHOLE else "VIEW"
        try:
            for each in (layout.ENDS, *(one for one in layout.TABLES if one is not layout.ENDS)):
                if paths := [lake / part.path for part in manifest.of(each.name)]:
                    self._run(_defined(each, kind, _parquet(paths), has_ends))
        except BaseException:
            self._left()
            raise

    def rows(self, select: exp.Select) -> list[Row]:
        with _failing():  # rows are made while they are fetched, and fail then
            return self._execute(select).fetchall()  # type: ignore[no-any-return]

    def keep(self, select: exp.Select) -> str:
        name = f"kept{next(self._names)}"
        temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
        made = exp.Create(this=table(name), kind="TABLE", expression=select, properties=temporary)
        self._run(made)
        self._kept.append(name)
        return name

    def put(self, rows: Sequence[Row], columns: Sequence[tuple[str, layout.Kind]]) -> str:
        given = "given"
        self._connection.register(given, arrow_of(rows, columns))
        try:
            return self.keep(everything().from_(table(given)))
        finally:
            self._connection.unregister(given)

    def count(self, kept: str) -> int:
        counted = exp.select(named(exp.Count(this=exp.Star()), "n")).from_(table(kept))
        return int(self.rows(counted)[0][0])

    def forget(self) -> None:
        kept, self._kept = self._kept, []
        for name in kept:
            with suppress(KipError):  # what can not be dropped goes with the connection; the query's own error counts
                self._run(exp.Drop(tables=[table(name)], kind="TABLE"))

    def interrupt(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        self._left()

    def _run(self, tree: exp.Expression) -> None:
        with _failing():
            self._execute(tree)

    def _execute(self, tree: exp.Expression) -> Any:
        return self._connection.execute(tree.sql(DIALECT, copy=False))


@contextmanager
def _failing() -> Iterator[None]:
    """What DuckDB raises, as a KipError: files that are no Parquet, or have other columns, are damage."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        said = str(error)
        if _STOPPED in said:
            raise KeyboardInterrupt from None
        if TOLD not in said and (isinstance(error, _misread(duckdb)) or ".parquet" in said):
            raise malformed(said) from error
        raise retold(error, "DuckDB") from error
    except RuntimeError as error:
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from None
        raise


def _misread(duckdb: Any) -> tuple[type[Exception], ...]:
    return duckdb.BinderException, duckdb.ConversionException, duckdb.SerializationException


def _defined(each: layout.Table, kind: str, source: exp.Expression | None, ends: bool) -> exp.Create:
    return exp.Create(this=table(each.name), kind=kind, expression=view_of(each, source, ends))


def _parquet(paths: list[Path]) -> exp.Expression:
    partitioning = exp.EQ(this=exp.to_identifier("hive_partitioning"), expression=exp.false())
    return exp.Table(this=exp.Anonymous(this="read_parquet", expressions=[files(paths), partitioning]))


def _connected(threads: int | None) -> Any:
    """A connection to the process's DuckDB. What another process made is no use after a fork, and is left alone."""
    need("lake", "duckdb")
    import duckdb

    key = os.getpid(), threads
    with _sharing:
        if key in _shared:
            try:
                connection = _shared[key].cursor()
                connection.execute("SELECT 1")
                return connection
            except duckdb.Error:  # a fatal error ends a DuckDB
                pass
        _shared[key] = _made({} if threads is None else {"threads": threads})
        return _shared[key].cursor()


def _made(config: dict[str, Any]) -> Any:
    """A DuckDB with the functions, and with every table, empty: what a Space has no file of."""
    import duckdb

    made: Any = duckdb.connect(":memory:", config=config)
    with suppress(duckdb.Error):  # one that is older does not know it
        made.execute("SET GLOBAL parquet_metadata_cache = true")
    for function in FUNCTIONS:
        made.create_function(
            function.name, told(function.call), list(function.takes), function.gives, null_handling="special"
        )
    for each in layout.TABLES:
        made.execute(_defined(each, "VIEW", None, False).sql(DIALECT))
    return made


def _left(connection: Any, home: str, process: int) -> None:
    """Drop what a lake had in the shared DuckDB; not in a fork, which has but a picture of it."""
    import duckdb

    if process != os.getpid():
        return
    with suppress(duckdb.Error):
        connection.execute(f"SET search_path = 'main'; DROP SCHEMA IF EXISTS {home} CASCADE")
    connection.close()
