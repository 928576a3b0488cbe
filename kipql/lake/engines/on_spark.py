"""Spark over the Parquet files of one Space: a local one, a standalone cluster, or Spark Connect.

Sessions of one process share what Spark starts; each opened Space has a session, and so names, of its own.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlglot import exp

from kipql.errors import KipError
from kipql.lake import layout
from kipql.lake.cells import FUNCTIONS
from kipql.lake.engines import SQL_TYPES, Row, retold, told, view_of
from kipql.lake.lower.sql import table
from kipql.lake.manifest import Manifest

DIALECT = "spark"
LOCAL = "local[*]"
_TYPES = {"VARCHAR": "string", "BIGINT": "bigint", "DOUBLE": "double", "BOOLEAN": "boolean", "INTEGER": "int"}
_COLUMNS: dict[layout.Kind, str] = {
    "int64": "bigint",
    "int32": "int",
    "bool": "boolean",
    "double": "double",
    "string": "string",
    "map": "map<string,string>",
}
_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.pythonUDF.arrow.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "8",  # a Space of a lake is small for Spark; adaptive execution splits large ones
}


class Spark:
    """One Spark session over the views of one Space."""

    name = "spark"

    def __init__(self, lake: Path, manifest: Manifest, master: str | None = None) -> None:
        """Raises UnsupportedCapability without pyspark, MemoryUnavailable where Spark can not be reached."""
        self._session = _session(master)
        self._kept: dict[str, Any] = {}
        self.facts: dict[str, Any] = {}
        try:
            for function in FUNCTIONS:
                self._session.udf.register(function.name, told(function.call), _TYPES[function.gives])
            has_ends = bool(manifest.of(layout.ENDS.name))
            for each in (layout.ENDS, *(one for one in layout.TABLES if one is not layout.ENDS)):
                self._define(each, [lake / part.path for part in manifest.of(each.name)], has_ends)
        except KipError:
            raise
        except Exception as error:
            raise retold(error, "Spark") from error

    def rows(self, select: exp.Select) -> list[Row]:
        try:
            return [tuple(row) for row in self._frame(select).collect()]
        except Exception as error:
            raise retold(error, "Spark") from error

    def keep(self, select: exp.Select) -> str:
        name = f"kept{len(self._kept)}"
        try:
            frame = self._frame(select).persist()
            frame.createOrReplaceTempView(name)
        except Exception as error:
            raise retold(error, "Spark") from error
        self._kept[name] = frame
        return name

    def put(self, rows: Sequence[Row], columns: Sequence[tuple[str, layout.Kind]]) -> str:
        name = f"kept{len(self._kept)}"
        kinds = ", ".join(f"`{column}` {_TYPES[SQL_TYPES[kind]]}" for column, kind in columns)
        try:
            frame = self._session.createDataFrame(list(rows), kinds)
            frame.createOrReplaceTempView(name)
        except Exception as error:
            raise retold(error, "Spark") from error
        self._kept[name] = frame
        return name

    def count(self, kept: str) -> int:
        try:
            return int(self._kept[kept].count())
        except Exception as error:
            raise retold(error, "Spark") from error

    def forget(self) -> None:
        for name, frame in self._kept.items():
            self._session.catalog.dropTempView(name)
            frame.unpersist()
        self._kept = {}

    def interrupt(self) -> None:
        self._session.interruptAll()

    def close(self) -> None:
        self.forget()

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


def reach(master: str | None) -> None:
    """Raises UnsupportedCapability without pyspark, MemoryUnavailable where Spark can not be reached."""
    _session(master)


def _session(master: str | None) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise KipError(
            "UnsupportedCapability", "this engine needs pyspark", hint="install kipql with the extra `spark`"
        ) from None
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder.appName("kipql")
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    where = master or LOCAL
    try:
        if where.startswith("sc://"):
            return builder.remote(where).create()
        session = builder.master(where).getOrCreate().newSession()
        session.sparkContext.setLogLevel("ERROR")
        return session
    except Exception as error:
        raise KipError("MemoryUnavailable", f"Spark at {where} could not be reached: {error}") from error
