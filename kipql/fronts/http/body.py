"""The body of a request: measured while it arrives, and JSON as the protocol has it (§70.2)."""

import json
from collections.abc import AsyncIterator

from kipql.errors import KipError
from kipql.values import Json, members_once


async def read_body(chunks: AsyncIterator[bytes], most: int, promised: str | None = None) -> bytes:
    """The body. Raises ResourceExhausted as soon as it is, or says it will be, more than `most` bytes."""
    if promised is not None and promised.isdecimal() and int(promised) > most:
        _too_large(most)
    parts, size = [], 0
    async for chunk in chunks:
        size += len(chunk)
        if size > most:
            _too_large(most)
        parts.append(chunk)
    return b"".join(parts)


def decoded(body: bytes) -> Json:
    """The JSON in a body. Raises InvalidRequestEnvelope for what is no JSON in UTF-8, a member given twice included."""
    try:
        # Not json.loads(body): of bytes it guesses UTF-16 and UTF-32 too.
        return json.loads(body.decode("utf-8"), parse_constant=_no_number, object_pairs_hook=members_once)
    except (ValueError, RecursionError) as error:
        raise KipError("InvalidRequestEnvelope", f"the body is not JSON: {error}") from None


def _too_large(most: int) -> None:
    raise KipError("ResourceExhausted", f"the body is more than {most} bytes", details={"limit": "body", "value": most})


def _no_number(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")
