"""What a tool call asks and what it is answered: arguments to an envelope (§71), a response of bounded size (§81).

The arguments of a tool are the members of a request envelope; what nobody wants to write each time is filled in:
`kip`, and for several reads the mode. Whether a call may write is decided by the memory that it reaches and the parse
tree of its statements, never by the name of the tool.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kipql.errors import KipError
from kipql.escape import json_text
from kipql.fronts.bounded import bounded
from kipql.nexus import Nexus
from kipql.values import Json


@dataclass(frozen=True, slots=True)
class Page:
    """How much an operation answers at once: rows, and characters of JSON."""

    rows: int = 100
    characters: int = 200_000


def answer(nexus: Nexus, arguments: Mapping[str, Json], page: Page, *, reads: bool) -> dict[str, Any]:
    """The response to a tool call; an error is in the response.

    reads  the call may only read; several operations then need no mode. Of several writes somebody has to say whether
           they belong together (§75)
    """
    envelope: dict[str, Any] = {"kip": "2.0", **arguments}
    operations = envelope.get("operations")
    if reads and "execution" not in envelope and isinstance(operations, list) and len(operations) > 1:
        envelope["execution"] = {"mode": "independent"}
    asked = bounded(envelope, page.rows, nexus.limits)
    reply: dict[str, Any] = nexus.request(asked.envelope)
    for at, result in enumerate(reply["results"]):
        if at in asked.cut:
            _remark(result, page.rows)
        if (
            reply.get("receipt") is None
            and "receipt" not in result
            and len(json_text(result.get("result"))) > page.characters
        ):
            _refuse(reply, at, page)
    return reply


def _remark(result: dict[str, Any], rows: int) -> None:
    message = f"at most {rows} rows a page here; repeat the statement with CURSOR and next_cursor for the next"
    result["warnings"] = [*result.get("warnings", ()), {"code": "PageBounded", "message": message}]


def _refuse(reply: dict[str, Any], at: int, page: Page) -> None:
    """A read whose rows are too large for a page fails as a whole: half of an answer would read like one. What was
    committed is told whatever its size."""
    error = KipError(
        "ResultLimitExceeded",
        f"the rows are more than {page.characters} characters",
        hint="ask for members instead of whole elements, or set a smaller LIMIT and follow next_cursor",
        details={"limit": "characters", "value": page.characters},
    )
    result = reply["results"][at]
    named = {"op_id": result["op_id"]} if "op_id" in result else {}
    reply["results"][at] = {**named, "status": "failed", "error": error.to_dict()}
    good = any(each["status"] in ("succeeded", "no_effect") for each in reply["results"])
    reply["status"] = "partial" if good else "failed"
