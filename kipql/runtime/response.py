"""The response envelope: what each operation did and what became of the request (§81-§83)."""

from collections.abc import Mapping, Sequence
from typing import Any

from kipql.errors import KipError
from kipql.runtime.envelope import Request
from kipql.runtime.guard import as_kip_error, wire_error
from kipql.runtime.receipt import Receipt
from kipql.runtime.result import Result
from kipql.runtime.session import Session
from kipql.runtime.shapes import context_on_wire, on_wire
from kipql.runtime.snapshots import coordinate
from kipql.store.changes import KIP as PROTOCOL
from kipql.values import Json

Wire = dict[str, Json]
_GOOD = {"succeeded", "no_effect"}


def read_result(result: Result) -> Wire:
    """The operation result of a read."""
    wire: Wire = {"status": "succeeded", "result": on_wire(result.result), "context": context_on_wire(result.context)}
    if result.next_cursor is not None:
        wire["next_cursor"] = result.next_cursor
    return wire


def write_result(session: Session, receipt: Receipt) -> Wire:
    """The operation result of a write that committed by itself, with its own Receipt (§75)."""
    return {
        "status": "no_effect" if receipt.status == "no_effect" else "succeeded",
        "result": receipt.result,
        "context": context(session, receipt.snapshot_seq),
        "receipt": receipt.to_dict(),
    }


def rehearsed_result(session: Session, foreseen: Wire) -> Wire:
    """The operation result of a dry run."""
    return {"status": "succeeded", "result": foreseen, "context": context(session, foreseen["snapshot_seq"])}


def failure(error: Exception, text: str) -> Wire:
    """The operation result of an error."""
    return {"status": "failed", "error": wire_error(as_kip_error(error, text))}


def context(session: Session, seq: int) -> Wire:
    """Which snapshot an operation observed."""
    return {"space_id": session.space.id, "snapshot_seq": seq}


def response(
    request: Request,
    session: Session,
    results: Sequence[Wire],
    receipt: Receipt | None = None,
    warnings: Sequence[Json] = (),
) -> Wire:
    """The envelope around the results of every operation; `receipt` is that of an atomic transaction."""
    statuses = {result["status"] for result in results}
    if statuses <= _GOOD:
        status = "succeeded"
    else:
        status = "partial" if statuses & _GOOD else "failed"
    view = session.view()
    wire: Wire = {"kip": PROTOCOL, "status": status, "results": list(results)}
    if request.request_id is not None:
        wire["request_id"] = request.request_id
    if (execution := _echo(request)) is not None:
        wire["execution"] = execution
    wire["context"] = {"space_id": view.space_id, "schema_environment_version": view.environment.version}
    wire["snapshot"] = _snapshot(session, results, receipt)
    wire["receipt"] = receipt.to_dict() if receipt is not None else None
    wire["warnings"] = list(warnings)
    return wire


def _snapshot(session: Session, results: Sequence[Wire], receipt: Receipt | None) -> Wire | None:
    """The state that all of the request observed, with its token (§78); None where there were several, or none."""
    seen = {result["context"]["snapshot_seq"] for result in results if "context" in result}
    if receipt is not None:
        seen.add(receipt.snapshot_seq)
    return coordinate(session, seen.pop()) if len(seen) == 1 else None


def refusal(envelope: Any, request: Request | None, error: KipError) -> Wire:
    """The envelope of a request that failed before any operation started."""
    wire: Wire = {"kip": PROTOCOL, "status": "failed", "results": [], "error": wire_error(error)}
    request_id = envelope.get("request_id") if isinstance(envelope, Mapping) else None
    if isinstance(request_id, str) and 0 < len(request_id) <= 256:
        wire["request_id"] = request_id
    if request is not None and (execution := _echo(request)) is not None:
        wire["execution"] = execution
    return wire


def _echo(request: Request) -> Wire | None:
    if request.mode is None:
        return None
    echo: Wire = {"mode": request.mode}
    if request.mode == "sequence":
        echo["on_error"] = request.on_error
    for name in ("isolation", "idempotency_key"):
        if (value := getattr(request, name)) is not None:
            echo[name] = value
    return echo
