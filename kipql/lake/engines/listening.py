"""Whether anything listens where a Spark is said to be, asked before its client tries again for minutes."""

import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from kipql.errors import KipError

REACHED = 10.0
"""Seconds in which a server takes a connection."""


def must_listen(what: str, master: str, hosts: Sequence[str], port: int) -> None:
    """Raises MemoryUnavailable where none of the hosts, `host` or `host:port`, takes a connection."""
    failed = ""
    for host in hosts:
        try:
            _connect(host, port)
            return
        except OSError as error:
            failed = failed or error.strerror or str(error)
        except ValueError as error:
            failed = failed or str(error)
    raise KipError(
        "MemoryUnavailable",
        f"{what} at {master} could not be reached: {failed}",
        hint="start it there (docs/scale.md), or say where it is",
    )


def _connect(host: str, port: int) -> None:
    parts = urlsplit(f"//{host}")
    if not parts.hostname:
        raise ValueError("it names no host")
    socket.create_connection((parts.hostname, parts.port or port), timeout=REACHED).close()
