"""The server: it listens, and on SIGINT or SIGTERM stops taking requests, finishes those under way, and returns."""

import signal
import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from kipql.fronts.http.app import Settings, application
from kipql.fronts.http.tokens import Tokens
from kipql.nexus import Nexus


def run(
    nexus: Nexus, tokens: Tokens, settings: Settings, *, host: str, port: int, listening: Callable[[str], None]
) -> None:
    """Serve a memory until a signal. `listening` is called with the address once it is bound.

    Raises OSError when the address can not be bound.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=2048) as bound:
        config = uvicorn.Config(
            application(nexus, tokens, settings),
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_keep_alive=5,
            timeout_graceful_shutdown=int(settings.timeout) + 1,
        )
        server = uvicorn.Server(config)
        _stop_at_signals(server)
        shown = f"[{host}]" if family == socket.AF_INET6 else host
        listening(f"http://{shown}:{bound.getsockname()[1]}")
        server.run(sockets=[bound])


def _stop_at_signals(server: Any) -> None:
    """uvicorn stops at a signal and raises it again for whoever listened before it: that is us, and we are done."""

    def stop(*_: object) -> None:
        server.should_exit = True

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, stop)
