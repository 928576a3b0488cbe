"""The request envelope: from a wire object to a checked Request (§71, kip-request.schema.json).

Only what needs no memory is decided here: the form of every member, the mode rule of §75, and what this
engine does not offer whatever the Space (another protocol version, isolation, an AST instead of text, a
compatibility profile). Unknown members are refused, never ignored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NoReturn

from kipql.errors import KipError
from kipql.runtime import form
from kipql.runtime.ingestion import Entry, entries
from kipql.store.changes import KIP as PROTOCOL
from kipql.values import Json

MODES = ("independent", "sequence", "atomic")
ISOLATIONS = ("serializable",)

_REQUEST = (
    "kip", "request_id", "space", "compatibility_profile", "execution", "read", "ingest", "preconditions",
    "operations", "parameters", "context", "requires", "options", "extensions",
)  # fmt: skip
_NOTHING: Mapping[str, Json] = MappingProxyType({})
_OPERATION = ("op_id", "language", "command", "ast", "parameters", "idempotency_key", "options", "extensions")


@dataclass(frozen=True, slots=True)
class Operation:
    """One command with the parameters that hold for it (§74)."""

    command: str
    parameters: Mapping[str, Json]
    op_id: str | None = None
    language: str | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request whose form is right."""

    operations: tuple[Operation, ...]
    mode: str | None = None
    on_error: str = "stop"
    isolation: str | None = None
    idempotency_key: str | None = None
    request_id: str | None = None
    space: str | None = None
    ingest: tuple[Entry, ...] = ()
    space_seq: int | None = None
    schema_environment_version: int | None = None
    snapshot_token: str | None = None
    requires: Mapping[str, Json] = field(default_factory=dict)
    context: Mapping[str, Json] = field(default_factory=dict)
    dry_run: bool = False
    deadline_ms: int | None = None


def read_envelope(value: object) -> Request:
    """Check a wire request. Raises InvalidRequestEnvelope, UnsupportedProtocolVersion, UnsupportedCapability
    or UnsupportedIsolation."""
    form.check_depth(value)
    wire = form.members(value, "request", _REQUEST, ("kip", "operations"))
    _version(wire["kip"])
    form.extensions(wire, "request")
    execution = _execution(wire)
    shared = form.named(wire.get("parameters", {}), "parameters", form.NAME)
    operations = _operations(wire["operations"], shared)
    mode = execution.get("mode")
    if len(operations) > 1 and mode is None:
        form.refuse("execution", "is needed for several operations", f"set execution.mode to {', '.join(MODES)}")
    preconditions = _part(wire, "preconditions", ("space_seq", "schema_environment_version"))
    options = _part(wire, "options", ("dry_run", "deadline_ms"))
    _refuse_profile(wire)
    return Request(
        operations=operations,
        mode=mode,
        on_error=execution.get("on_error", "stop"),
        isolation=execution.get("isolation"),
        idempotency_key=execution.get("idempotency_key"),
        request_id=form.string(wire["request_id"], "request_id", 256) if "request_id" in wire else None,
        space=_space(wire),
        ingest=_ingest(wire),
        space_seq=_bound(preconditions, "preconditions", "space_seq"),
        schema_environment_version=_bound(preconditions, "preconditions", "schema_environment_version"),
        snapshot_token=_token(wire),
        requires=form.named(wire.get("requires", {}), "requires", form.CAPABILITY),
        context=_context(wire),
        dry_run=form.boolean(options.get("dry_run", False), "options.dry_run"),
        deadline_ms=_bound(options, "options", "deadline_ms", 1),
    )


def _version(kip: Json) -> None:
    if form.string(kip, "kip") != PROTOCOL:
        raise KipError(
            "UnsupportedProtocolVersion",
            f"this engine speaks KIP {PROTOCOL}, not {kip!r}",
            details={"supported": [PROTOCOL]},
        )


def _part(wire: Mapping[str, Json], name: str, known: tuple[str, ...]) -> Mapping[str, Json]:
    if name not in wire:
        return _NOTHING
    part = form.members(wire[name], name, (*known, "extensions"))
    form.extensions(part, name)
    return part


def _bound(part: Mapping[str, Json], where: str, name: str, least: int = 0) -> int | None:
    return form.integer(part[name], f"{where}.{name}", least) if name in part else None


def _execution(wire: Mapping[str, Json]) -> Mapping[str, Json]:
    if "execution" not in wire:
        return {}
    known = ("mode", "on_error", "isolation", "idempotency_key", "extensions")
    execution = form.members(wire["execution"], "execution", known, ("mode",))
    form.extensions(execution, "execution")
    form.choice(execution["mode"], "execution.mode", MODES)
    if "on_error" in execution:
        form.choice(execution["on_error"], "execution.on_error", ("stop", "continue"))
        if execution["mode"] == "atomic" and execution["on_error"] == "continue":
            form.refuse("execution.on_error", "can not be continue in atomic mode: an error aborts everything")
    if "idempotency_key" in execution:
        form.string(execution["idempotency_key"], "execution.idempotency_key", 1024)
    if "isolation" in execution and form.string(execution["isolation"], "execution.isolation", 64) not in ISOLATIONS:
        raise KipError(
            "UnsupportedIsolation",
            f"the isolation {execution['isolation']!r} is not provided",
            details={"supported": list(ISOLATIONS)},
        )
    return execution


def _operations(value: Json, shared: Mapping[str, Json]) -> tuple[Operation, ...]:
    if not isinstance(value, list | tuple) or not value:
        form.refuse("operations", "must be an array with at least one operation")
    operations = tuple(_operation(each, f"operations[{at}]", shared) for at, each in enumerate(value))
    ids = [operation.op_id for operation in operations if operation.op_id is not None]
    if len(set(ids)) < len(ids):
        form.refuse("operations", "use one op_id twice")
    return operations


def _operation(value: Json, where: str, shared: Mapping[str, Json]) -> Operation:
    operation = form.members(value, where, _OPERATION)
    form.extensions(operation, where)
    if "ast" in operation and "command" not in operation:
        _unsupported("structured ASTs are not accepted", "send the command as text", "ast")
    if "ast" in operation or "command" not in operation:
        form.refuse(where, "needs exactly one of command and ast")
    if "options" in operation:
        form.extensions(form.members(operation["options"], f"{where}.options", ("extensions",)), f"{where}.options")
    own = form.named(operation.get("parameters", {}), f"{where}.parameters", form.NAME)
    language = operation.get("language")
    if "language" in operation:
        form.choice(language, f"{where}.language", ("KQL", "KML", "META"))
    key = operation.get("idempotency_key")
    # §73 shows null for "no key", although the schema wants the member left out.
    return Operation(
        command=form.string(operation["command"], f"{where}.command"),
        parameters={**shared, **own},
        op_id=form.string(operation["op_id"], f"{where}.op_id", 256) if "op_id" in operation else None,
        language=language,
        idempotency_key=form.string(key, f"{where}.idempotency_key", 1024) if key is not None else None,
    )


def _space(wire: Mapping[str, Json]) -> str | None:
    if "space" not in wire:
        return None
    selector = form.members(wire["space"], "space", ("id", "uri"))
    most = {"id": 512, "uri": 2048}
    named = {form.string(value, f"space.{name}", most[name]) for name, value in selector.items()}
    if len(named) != 1:
        form.refuse("space", "needs an id or a uri" if not named else "names two different Spaces")
    return named.pop()


def _ingest(wire: Mapping[str, Json]) -> tuple[Entry, ...]:
    if "ingest" not in wire:
        return ()
    ingest = form.members(wire["ingest"], "ingest", ("evidence", "extensions"))
    form.extensions(ingest, "ingest")
    return entries(ingest["evidence"]) if "evidence" in ingest else ()


def _context(wire: Mapping[str, Json]) -> Mapping[str, Json]:
    context = _part(wire, "context", ("purpose", "risk", "locale", "client"))
    for name, most in (("purpose", 256), ("risk", 128), ("locale", 64), ("client", 256)):
        if name in context:
            form.string(context[name], f"context.{name}", most)
    return context


def _token(wire: Mapping[str, Json]) -> str | None:
    read = _part(wire, "read", ("snapshot_token",))
    return form.string(read["snapshot_token"], "read.snapshot_token", 8192) if "snapshot_token" in read else None


def _refuse_profile(wire: Mapping[str, Json]) -> None:
    if "compatibility_profile" in wire:
        profile = form.string(wire["compatibility_profile"], "compatibility_profile", 128)
        _unsupported(
            f"the compatibility profile {profile!r} is not available", "write native KIP 2.0", "kip1_migration"
        )


def _unsupported(problem: str, hint: str, capability: str) -> NoReturn:
    raise KipError("UnsupportedCapability", problem, hint=hint, details={"capability": capability})
