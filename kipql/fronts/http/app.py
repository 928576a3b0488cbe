"""The application: POST /kip, GET /health, GET /metrics.

What an envelope asks is answered by an envelope, with status 200 also where operations failed: the transport did its
work. What never reached the memory (no token, no JSON, too large, too many at once) has a status of its own and an
envelope with the error. Each request runs in a thread, at most `threads` at once; writes take turns by themselves.
"""

import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kipql.errors import KipError
from kipql.escape import json_text
from kipql.fronts.http.body import decoded, read_body
from kipql.fronts.http.metrics import TYPE, Metrics
from kipql.fronts.http.settings import Settings
from kipql.fronts.http.tokens import Tokens
from kipql.govern.principals import Principal
from kipql.nexus import Nexus
from kipql.runtime.response import refusal
from kipql.values import Json


class Refused(Exception):
    """A request that does not reach the memory."""

    def __init__(self, status: int, error: KipError, **headers: str) -> None:
        super().__init__(error.message)
        self.status, self.error, self.headers = status, error, headers


def application(nexus: Nexus, tokens: Tokens, settings: Settings) -> Starlette:
    """The ASGI application of a memory; who opened the memory closes it."""
    service = _Service(nexus, tokens, settings)
    routes = [
        Route("/kip", service.counted(service.kip), methods=["POST"]),
        Route("/metrics", service.metrics, methods=["GET"]),
        Route("/health", service.health, methods=["GET"]),
    ]
    made = Starlette(routes=routes)
    made.router.redirect_slashes = False
    return made


class _Service:
    def __init__(self, nexus: Nexus, tokens: Tokens, settings: Settings) -> None:
        self._nexus, self._tokens, self._settings = nexus, tokens, settings
        self._counts = Metrics(lambda: float(nexus.space_seq))
        self._slots: anyio.CapacityLimiter | None = None

    async def health(self, _: Request) -> Response:
        """Whether the server answers; who asks needs no token and learns nothing else."""
        return JSONResponse({"status": "ok"})

    async def metrics(self, request: Request) -> Response:
        """The counters, for whoever holds a token."""
        try:
            self._principal(request)
        except Refused as refused:
            return _refusal(refused)
        return Response(self._counts.text(), headers={"content-type": TYPE})

    def counted(
        self, answer: Callable[[Request], Awaitable[dict[str, Any]]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """The endpoint of an answer: counted, timed, an envelope whatever happens."""

        async def endpoint(request: Request) -> Response:
            began = time.perf_counter()
            with self._counts.running.track_inprogress():
                try:
                    reply = await answer(request)
                    response, status = _json(reply), 200
                except Refused as refused:
                    response, status, reply = _refusal(refused), refused.status, _envelope(refused.error)
            self._counts.answered(status, reply, time.perf_counter() - began)
            return response

        return endpoint

    async def kip(self, request: Request) -> dict[str, Any]:
        """The response envelope. Raises Refused."""
        principal = self._principal(request)
        envelope = self._timed(await self._body(request))
        slots = self._slots = self._slots or anyio.CapacityLimiter(self._settings.threads)
        if slots.statistics().tasks_waiting >= self._settings.waiting:
            error = KipError("RateLimited", "too many requests wait already", hint="try again in a second")
            raise Refused(503, error, **{"retry-after": "1"})
        return await to_thread.run_sync(lambda: self._nexus.request(envelope, principal=principal), limiter=slots)

    def _principal(self, request: Request) -> Principal:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        principal = self._tokens.principal(token.strip()) if scheme.lower() == "bearer" else None
        if principal is None:
            error = KipError("Unauthenticated", "the request carries no token of this server")
            raise Refused(401, error, **{"www-authenticate": 'Bearer realm="kipql"'})
        return principal

    async def _body(self, request: Request) -> Json:
        kind, _, parameters = request.headers.get("content-type", "").partition(";")
        charset = parameters.strip().lower().removeprefix("charset=").strip('"')
        if kind.strip().lower() != "application/json" or charset not in ("", "utf-8"):
            raise Refused(415, KipError("InvalidRequestEnvelope", "the content type is application/json in UTF-8"))
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            raise Refused(415, KipError("InvalidRequestEnvelope", "the body can not be compressed"))
        try:
            with anyio.fail_after(self._settings.arriving):
                body = await read_body(request.stream(), self._settings.body, request.headers.get("content-length"))
        except TimeoutError:
            raise Refused(408, KipError("ExecutionTimeout", "the body did not arrive in time")) from None
        except ClientDisconnect:
            raise Refused(400, KipError("InvalidRequestEnvelope", "the body did not arrive")) from None
        except KipError as error:
            raise Refused(413, error) from None
        try:
            return decoded(body)
        except KipError as error:
            raise Refused(400, error) from None

    def _timed(self, envelope: Json) -> Any:
        """The envelope with the server's deadline where it has none or a later one; a malformed one is left to fail."""
        most = int(self._settings.timeout * 1000)
        if not isinstance(envelope, dict) or not isinstance(options := envelope.get("options", {}), dict):
            return envelope
        asked = options.get("deadline_ms", most)
        if not isinstance(asked, int) or isinstance(asked, bool) or asked < 1:
            return envelope
        return {**envelope, "options": {**options, "deadline_ms": min(asked, most)}}


def _json(reply: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(json_text(reply), status, headers, media_type="application/json")


def _refusal(refused: Refused) -> Response:
    return _json(_envelope(refused.error), refused.status, refused.headers)


def _envelope(error: KipError) -> dict[str, Any]:
    return refusal(None, None, error)
