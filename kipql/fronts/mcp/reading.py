"""What is no message of the protocol is answered, where somebody waits for an answer.

The SDK reads a line with a reader of JSON that knows no lone surrogates and at most some 200 levels, and drops what it
can not read; the client of a call then waits for ever. Here it is answered with an error (JSON-RPC 2.0 §5.1): it is no
JSON (-32700) or no message (-32600), for the request that the line names if it names one. Notifications and answers
get none.
"""

import json
import re
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import anyio
from mcp import types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

LONGEST = 300  # characters of what is said
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]++')
_INTEGER = re.compile(r"-?[0-9]{1,18}")


class Readable:
    """The messages that a transport received; what it could not read is answered and passed over.

    received, sent  the streams of the transport
    """

    def __init__(self, received: Any, sent: Any) -> None:
        self._received, self._sent = received, sent

    @property
    def last_context(self) -> Any:
        """The context of the sender of the last message, as the SDK asks for it."""
        return getattr(self._received, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        while isinstance(item := await self._received.receive(), Exception):
            reply = refusal(item)
            if reply is not None:
                await self._sent.send(SessionMessage(reply))
        return item  # type: ignore[no-any-return]

    async def aclose(self) -> None:
        await self._received.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def refusal(error: Exception) -> types.JSONRPCError | None:
    """The answer to a line that is no message, None where nobody waits for one."""
    found = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    unread = next((each for each in found if each["type"] == "json_invalid"), None)
    if unread is not None:
        line = unread["input"]
        if not line.strip():
            return None
        named = members(line)
        return _answer(named.get("id") if "method" in named else None, types.PARSE_ERROR, unread["msg"])
    whole = next((each["input"] for each in found if each["type"] in ("missing", "model_type")), None)
    if isinstance(whole, Mapping) and not ("id" in whole and "method" in whole):
        return None
    id_ = whole.get("id") if isinstance(whole, Mapping) else None
    return _answer(id_, types.INVALID_REQUEST, "this is no message of JSON-RPC 2.0 as MCP has it")


def _answer(id_: object, code: int, message: str) -> types.JSONRPCError:
    named = id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None
    return types.JSONRPCError(jsonrpc="2.0", id=named, error=types.ErrorData(code=code, message=message[:LONGEST]))


def members(line: str) -> dict[str, str | int | None]:
    """The members of an object that a reader of JSON gave up on: `id` with its value where it has one that an id can
    be, of the others the names. However deep it is, nothing recurses."""
    found: dict[str, str | int | None] = {}
    depth, name, is_value = 0, "", False
    for token in _TOKEN.findall(line):
        if token in "[{":
            depth += 1
            is_value = is_value and depth != 1
        elif token in "]}":
            depth -= 1
        if depth != 1:
            continue
        if token == ",":
            name, is_value = "", False
        elif token == ":":
            is_value = True
            found[name] = None
        elif not is_value:
            name = token[1:-1] if token[0] == '"' else ""
        elif name == "id":
            found["id"] = _id(token)
    return found


def _id(token: str) -> str | int | None:
    if _INTEGER.fullmatch(token):
        return int(token)
    try:
        text = json.loads(token)
        text.encode("utf-8")
    except (ValueError, AttributeError):
        return None
    return text  # type: ignore[no-any-return]
