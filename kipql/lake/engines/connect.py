"""A session on a Spark Connect server, `sc://host:port`: the client has no Java, the server has the lake's files.

The server's Python workers run the process's own functions, so that they need kipql and the same minor Python.
"""

from typing import Any
from urllib.parse import urlsplit

from kipql.errors import KipError
from kipql.lake.engines.listening import must_listen

SCHEME = "sc://"
PORT = 15002
RETRIES = {"max_retries": 6, "max_backoff": 5_000}
"""About fifteen seconds in all; what Spark does by itself waits ten minutes for a server that is gone."""


def is_connect(master: str) -> bool:
    return master.startswith(SCHEME)


def connected(master: str) -> Any:
    """A session of its own, to be stopped: one that is forgotten holds its interpreter up at the end.

    Raises UnsupportedCapability without Connect's packages, MemoryUnavailable where no server answers.
    """
    session_class, policy = _client()
    must_listen("Spark Connect", master, [urlsplit(master).netloc], PORT)
    session = session_class.builder.remote(master).create()
    session.client.set_retry_policies([policy(**RETRIES)])
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
