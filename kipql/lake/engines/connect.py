"""A session on a Spark Connect server, `sc://host:port`: the client has no Java, the server has the lake's files.

The server's Python workers run the process's own functions, so that they need kipql and the same minor Python.
"""

import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from kipql.errors import KipError

SCHEME = "sc://"
PORT = 15002
REACHED = 10.0
"""Seconds in which a server takes a connection."""
RETRIES = {"max_retries": 6, "max_backoff": 5_000}
"""About fifteen seconds in all; what Spark does by itself waits ten minutes for a server that is gone."""


def is_connect(master: str) -> bool:
    return master.startswith(SCHEME)


def connected(master: str, settings: Mapping[str, str]) -> Any:
    """A session of its own, to be stopped: one that is forgotten holds its interpreter up at the end.

    settings  of which the ones of SQL are a session's; the others are the server's business

    Raises UnsupportedCapability without Connect's packages, MemoryUnavailable where no server answers.
    """
    session_class, policy = _client()
    _reach(master)
    builder: Any = session_class.builder.remote(master)
    session = builder.create()
    try:
        session.client.set_retry_policies([policy(**RETRIES)])
        for name, value in settings.items():
            if name.startswith("spark.sql."):
                session.conf.set(name, value)
    except BaseException:
        session.stop()
        raise
    return session


def _client() -> tuple[Any, Any]:
    try:
        # Not SparkSession.builder: it turns the whole process to Connect, and a cluster could not be opened any more.
        from pyspark.sql.connect.client.retries import DefaultPolicy
        from pyspark.sql.connect.session import SparkSession
    except ImportError as error:
        first = next(iter(str(error).splitlines()), "")
        raise KipError(
            "UnsupportedCapability",
            f"Spark Connect needs packages that are not there: {first}",
            hint="install kipql with the extra `spark-connect`",
        ) from None
    return SparkSession, DefaultPolicy


def _reach(master: str) -> None:
    """Raises MemoryUnavailable where nothing listens, before a client tries again for long."""
    try:
        parts = urlsplit(master)
        host, port = parts.hostname, parts.port or PORT
        if not host:
            raise ValueError("it names no host")
        socket.create_connection((host, port), timeout=REACHED).close()
    except (OSError, ValueError) as error:
        raise KipError(
            "MemoryUnavailable",
            f"Spark Connect at {master} could not be reached: {error}",
            hint="start a server (docs/scale.md), or give its address as sc://HOST:PORT",
        ) from error
