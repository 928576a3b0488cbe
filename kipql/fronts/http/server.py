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
    with _bound(host, port) as bound:
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
        listening(f"http://{f'[{host}]' if ':' in host else host}:{bound.getsockname()[1]}")
        server.run(sockets=[bound])


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens. It names its protocol: asyncio sets TCP_NODELAY only where it is named, and without that
    an answer waits 40 ms for an acknowledgement."""
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(2048)
    except OSError:
        bound.close()
        raise
    return bound


def _stop_at_signals(server: Any) -> None:
    """uvicorn stops at a signal and raises it again for whoever listened before it: that is us, and we are done."""

    def stop(*_: object) -> None:
        server.should_exit = True

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, stop)
