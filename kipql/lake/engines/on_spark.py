"""Spark over the Parquet files of one Space: a local one, a standalone cluster, or Spark Connect.

Sessions of one process share what Spark starts; each opened Space has a session, and so names, of its own. What a
server of Spark Connect does not do is refused by name, as everywhere.
"""

import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlglot import exp

import kipql
from kipql.errors import KipError
from kipql.extras import need
from kipql.lake import layout
from kipql.lake.cells import FUNCTIONS
from kipql.lake.engines import Row, retold, told, view_of
from kipql.lake.engines.classic import LOCAL, driven
from kipql.lake.engines.connect import connected, is_connect
from kipql.lake.lower.sql import table
from kipql.lake.manifest import Manifest

DIALECT = "spark"
_CLASSES = {
    "VARCHAR": "StringType",
    "BIGINT": "LongType",
    "DOUBLE": "DoubleType",
    "BOOLEAN": "BooleanType",
    "INTEGER": "IntegerType",
}
_COLUMNS: dict[layout.Kind, str] = {
    "int64": "bigint",
    "int32": "int",
    "bool": "boolean",
    "double": "double",
    "string": "string",
    "map": "map<string,string>",
}
_STARTED = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
"""Settings of a Spark that is started here."""
_SETTINGS = {
    "spark.sql.variable.substitute": "false",  # a `${...}` in a value is that text
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.pythonUDF.arrow.enabled": "true",
    "spark.sql.ansi.enabled": "true",  # a conversion that fails is an error
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "8",  # a Space of a lake is small for Spark; adaptive execution splits large ones
}
"""Settings of each session: what changes the meaning of a statement is never the user's."""
_LEGACY = "spark.sql.legacy."
"""Begins the settings by which a Spark means what an older one meant."""
_LACKING = {
    "No module named 'kipql": "have no kipql",
    "[PYTHON_VERSION_MISMATCH]": "have another Python than this process",
}


class Spark:
    """One Spark session over the views of one Space."""

    name = "spark"
    repeats = True

    def __init__(self, lake: Path, manifest: Manifest, master: str | None = None) -> None:
        """Raises UnsupportedCapability without pyspark, MemoryUnavailable where Spark can not be reached."""
        self._session, stop = _session(master)
        self._stop = weakref.finalize(self, stop)  # also where nobody closes it, before the interpreter ends
        self._kept: dict[str, Any] = {}
        self.facts: dict[str, Any] = {}
        try:
            with _failing():
                for function in FUNCTIONS:
                    self._session.udf.register(function.name, _shipped(function.call), _type(function.gives))
                has_ends = bool(manifest.of(layout.ENDS.name))
                for each in (layout.ENDS, *(one for one in layout.TABLES if one is not layout.ENDS)):
                    self._define(each, [lake / part.path for part in manifest.of(each.name)], has_ends)
        except KipError:
            self._stop()
            raise

    def rows(self, select: exp.Select) -> list[Row]:
        with _failing():
            return [tuple(row) for row in self._frame(select).collect()]

    def keep(self, select: exp.Select) -> str:
        from pyspark.storagelevel import StorageLevel

        with _failing():
            # Not `persist`: a plan with WITH is not found again among what is cached, and would be run by each reader.
            # Twice: a worker that goes away takes nothing along.
            return self._named(self._frame(select).localCheckpoint(storageLevel=StorageLevel.MEMORY_AND_DISK_2))

    def put(self, rows: Sequence[Row], columns: Sequence[tuple[str, layout.Kind]]) -> str:
        kinds = ", ".join(f"`{column}` {_COLUMNS[kind]}" for column, kind in columns)
        with _failing():
            return self._named(self._session.createDataFrame(list(rows), kinds))

    def count(self, kept: str) -> int:
        with _failing():
            return int(self._kept[kept].count())

    def forget(self) -> None:
        kept, self._kept = self._kept, {}
        with suppress(Exception):  # what can not be dropped goes with the session; the query's own error is what counts
            # The last one first, and each before its name goes: Connect reads a frame's plan, with names, again.
            for name, frame in reversed(kept.items()):
                frame.unpersist()
                self._session.catalog.dropTempView(name)

    def interrupt(self) -> None:
        with suppress(Exception):  # a server that is gone runs nothing
            self._session.interruptAll()

    def close(self) -> None:
        try:
            self.forget()
        finally:
            self._stop()

    def _named(self, frame: Any) -> str:
        name = f"kept{len(self._kept)}"
        frame.createOrReplaceTempView(name)
        self._kept[name] = frame
        return name

    def _frame(self, select: exp.Select) -> Any:
        for cte in select.find_all(exp.CTE):
            cte.set("materialized", None)  # every one is read where it is used
        return self._session.sql(select.sql(DIALECT, copy=False))

    def _define(self, each: layout.Table, paths: list[Path], ends: bool) -> None:
        source = None
        if paths:
            raw = f"{each.name}_files"
            schema = ", ".join(f"`{column.name}` {_COLUMNS[column.kind]}" for column in each.columns)
            self._session.read.schema(schema).parquet(*map(str, paths)).createOrReplaceTempView(raw)
            source = table(raw)
        self._frame(view_of(each, source, ends)).createOrReplaceTempView(each.name)


def _shipped(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function as workers run it, out of their own kipql: of another version it might mean something else."""
    version = kipql.__version__

    def call_(*args: Any) -> Any:
        if kipql.__version__ != version:
            raise KipError(
                "UnsupportedCapability",
                f"Spark's Python workers have kipql {kipql.__version__}, and this process has {version}",
                hint="install the same one everywhere (docs/scale.md)",
            )
        return function(*args)

    return told(call_)


def check_reachable(master: str | None) -> None:
    """Raises UnsupportedCapability without pyspark, MemoryUnavailable where Spark can not be reached."""
    _, stop = _session(master)
    stop()


@contextmanager
def _failing() -> Iterator[None]:
    """What Spark raises, as a KipError."""
    try:
        yield
    except KipError:
        raise
    except Exception as error:
        raise _as_kip(error) from error


def _as_kip(error: Exception) -> KipError:
    said = str(error)
    for lacking, what in _LACKING.items():
        if lacking in said:
            return KipError(
                "UnsupportedCapability",
                f"Spark's Python workers {what}",
                hint=f"they need this kipql and Python {sys.version_info[0]}.{sys.version_info[1]} (docs/scale.md)",
            )
    return retold(error, "Spark", _details(error))


def _details(error: Exception) -> str | None:
    """What an error of the JVM or of a server says, without what is around it; None of any other error."""
    java = getattr(error, "java_exception", None)
    if java is not None:
        return str(java.toString())
    details = getattr(error.__context__, "details", None)
    return str(details()) if callable(details) else None


def _session(master: str | None) -> tuple[Any, Callable[[], None]]:
    """A session with the settings, and what gives it up: one of this process is left to the Spark that all share."""
    need("spark", "pyspark")
    session: Any
    stop: Callable[[], None]
    try:
        if master is not None and is_connect(master):
            session = connected(master)
            stop = session.stop
        else:
            session, stop = driven(master, _STARTED), _nothing
        try:
            _settle(session)
        except BaseException:
            stop()
            raise
        return session, stop
    except KipError:
        raise
    except Exception as error:
        found = f"Spark at {master or LOCAL} could not be started: {_details(error) or error}"
        raise KipError("MemoryUnavailable", found, hint="it needs Java 17 or newer (JAVA_HOME)") from error


def _settle(session: Any) -> None:
    for name in [name for name in session.conf.getAll if name.startswith(_LEGACY)]:
        session.conf.unset(name)
    for name, value in _SETTINGS.items():
        session.conf.set(name, value)


def _type(name: str) -> Any:
    """A type as an object: the text of one is read by the Spark of this process, which a client has not."""
    from pyspark.sql import types

    return getattr(types, _CLASSES[name])()


def _nothing() -> None:
    pass
