"""One connection, and how long it may wait: a client that says nothing, or little by little, holds no place for ever.

uvicorn ends a connection that is idle after an answer; from the first byte of a request on, it waits. Here the request
line and headers have `head` seconds from the beginning of the wait, however they drip, and so has the rest of a body
whose answer is out already; an answer has `reading` seconds to be read. Beyond `connections` at once the next is told
so and let go.
"""

import asyncio
from typing import Any, cast

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from kipql.errors import KipError
from kipql.escape import json_text
from kipql.fronts.http.settings import Settings
from kipql.runtime.response import refusal


def connection(settings: Settings) -> type[H11Protocol]:
    """The class of the connections of a server with these settings."""

    class Bounded(Connection):
        bounds = settings

    return Bounded


class Connection(H11Protocol):
    """A connection with deadlines. uvicorn makes it, and speaks HTTP; `connection` says of which bounds."""

    bounds = Settings()

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        if len(self.connections) > self.bounds.connections:
            self._turn_away(503, KipError("RateLimited", "too many connections are open", hint="try again in a second"))
        else:
            self._look()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._drop(self._unread)
        self._unread = self.loop.call_later(self.bounds.reading, self._read_by_now)
        if self.conn.their_state is not h11.IDLE:  # an idle one has the keep-alive time
            self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        self._drop(self._deadline, self._unread)
        super().connection_lost(exc)

    def _look(self) -> None:
        """Begin to wait, or end the wait. More bytes of the same wait are no new one."""
        answered = self.cycle is not None and self.cycle.response_complete
        waits = self.conn.their_state is h11.IDLE or (answered and self.conn.their_state is h11.SEND_BODY)
        if not waits or self.transport.is_closing():
            self._drop(self._deadline)
            self._deadline = None
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.bounds.head, self._late)

    def _late(self) -> None:
        if self.conn.their_state is h11.IDLE:
            self._turn_away(408, KipError("ExecutionTimeout", "the headers did not arrive in time"))
        else:
            self.transport.abort()

    def _read_by_now(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def _turn_away(self, status: int, error: KipError) -> None:
        """Answer without a request, and close."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
            return
        body = json_text(refusal(None, None, error)).encode()
        head = f"HTTP/1.1 {status} {_REASONS[status]}\r\ncontent-type: application/json\r\nconnection: close\r\n"
        self.transport.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        self.transport.close()

    def _drop(self, *timers: asyncio.TimerHandle | None) -> None:
        for each in timers:
            if each is not None:
                each.cancel()


_REASONS = {408: "Request Timeout", 503: "Service Unavailable"}
