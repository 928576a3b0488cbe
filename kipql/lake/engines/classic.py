"""A session of the Spark that this process drives itself: a local one, or a standalone cluster.

A process drives one Spark, which all in it share. One that is there already is taken as it is: only the session is
kipql's, and what a caller set elsewhere stays.
"""

import os
import re
import sys
from collections.abc import Mapping
from typing import Any

from kipql.errors import KipError
from kipql.lake.engines.listening import must_listen

LOCAL = "local[*]"
SCHEME = "spark://"
PORT = 7077
_MASTER = re.compile(r"local(\[(\*|[1-9]\d*)(, *\d+)?\])?|spark://.+|yarn|k8s://.+|sc://.+", re.ASCII)
QUIET = {"spark.log.level": "OFF"}
"""What Spark would say of an error on the terminal, over hundreds of lines, the error itself says."""


def check_master(master: str) -> None:
    """Raises ConstraintViolation for what is no address of a Spark."""
    if not _MASTER.fullmatch(master):
        raise KipError(
            "ConstraintViolation",
            f"{master!r} is no master of Spark",
            hint="write local[2], spark://HOST:PORT or sc://HOST:PORT",
        )


def driven(master: str | None, settings: Mapping[str, str]) -> Any:
    """A session with these settings, over the Spark of this process, which is started where there is none.

    master  where; without one, the Spark that is there, else a local one on all cores

    Raises MemoryUnavailable where no master answers, UnsupportedCapability where the process drives another one.
    """
    running = _running() or _started(master or LOCAL, settings)
    there = running.sparkContext.master
    if master is not None and there != master:
        raise KipError(
            "UnsupportedCapability",
            f"this process drives Spark at {there} already, and a process drives one",
            hint="stop that one, or ask from another process",
        )
    return running.newSession()


def _running() -> Any:
    """Some session of the Spark that this process drives; None where it drives none."""
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    try:
        found = SparkSession.active()
    except PySparkRuntimeError:
        return None
    context = found.sparkContext._jsc
    return None if context is None or context.sc().isStopped() else found


def _started(where: str, settings: Mapping[str, str]) -> Any:
    from pyspark.sql import SparkSession

    if where.startswith(SCHEME):
        must_listen("Spark", where, where.removeprefix(SCHEME).split(","), PORT)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return SparkSession.builder.appName("kipql").config(map={**settings, **QUIET}).master(where).getOrCreate()
