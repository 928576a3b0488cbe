"""Requests: the members that kip-memory knows, with its bounds; anything else is InvalidRequestEnvelope (§3, §4).

Model-written input selects no authority: a role, an observer or an outcome class is no member of a request, so one that
carries it is refused instead of read past.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import kipql
from kipql.memory.graph import checked_timestamp

VERSION = "2.0"
LEVELS = ("memory_basic",)
MUTATIONS = ("observe", "revise", "feedback", "forget")
OPERATIONS = ("observe", "recall", "revise", "feedback", "forget")
MODES = ("answer", "action", "resume", "attention")
CHANGE_KINDS = ("correction", "world_change", "misrecorded", "unspecified")
FORGET_MODES = ("payload_only", "semantic")
_LIKE = {"remember": "observe", "store": "observe", "search": "recall", "update": "revise", "delete": "forget"}
"""What the operations are called elsewhere."""
LARGEST = 9007199254740991
MOST = 128

_MEMBERS = {
    "kip_memory", "request_id", "operation", "space", "scope", "budget", "idempotency_key", "requires", "input",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request of the right shape; `input` holds its members with their defaults."""

    operation: str
    input: Mapping[str, Any]
    request_id: str | None = None
    space: Mapping[str, str] = field(default_factory=dict)
    task_ref: str | None = None
    context_refs: tuple[str, ...] = ()
    max_output_tokens: int | None = None
    deadline_ms: int | None = None
    tokenizer: str | None = None
    key: str = ""


def read(envelope: Any) -> Request:
    """A request, checked. Raises InvalidRequestEnvelope, UnsupportedProtocolVersion or UnsupportedCapability."""
    given = _object(envelope, "the request", _MEMBERS)
    if given.get("kip_memory") != VERSION:
        raise kipql.KipError(
            "UnsupportedProtocolVersion", "kip_memory is not a version served here", hint=f'"kip_memory": "{VERSION}"'
        )
    operation = _operation(given.get("operation"))
    _levels(given.get("requires", []))
    mutation = operation in MUTATIONS
    if mutation and "idempotency_key" not in given:
        raise _wrong(
            f"{operation} needs an idempotency_key", "derive it from what is observed, and keep it for retries"
        )
    if not mutation and "idempotency_key" in given:
        raise _wrong("recall writes nothing and takes no idempotency_key")
    scope = _object(given.get("scope", {}), "scope", {"task_ref", "context_refs"})
    budget = _object(given.get("budget", {}), "budget", {"max_output_tokens", "deadline_ms", "tokenizer"})
    return Request(
        operation=operation,
        input=_INPUTS[operation](_object(given.get("input"), "input", _INPUT_MEMBERS[operation])),
        request_id=_optional(given, "request_id", _ref),
        space=_space(given["space"]) if "space" in given else {},
        task_ref=_optional(scope, "task_ref", _ref),
        context_refs=tuple(_refs(scope.get("context_refs", []), "context_refs")),
        max_output_tokens=_optional(budget, "max_output_tokens", _count),
        deadline_ms=_optional(budget, "deadline_ms", _count),
        tokenizer=_optional(budget, "tokenizer", _text),
        key=_ref(given["idempotency_key"], "idempotency_key") if mutation else "",
    )


def echo(envelope: Any) -> dict[str, Any]:
    """What a response says back of a request that may have any shape. A response names an operation: `recall`, which
    changes nothing, where the request names none."""
    given = envelope if isinstance(envelope, Mapping) else {}
    operation, request_id = given.get("operation"), given.get("request_id")
    head = {"kip_memory": VERSION, "operation": operation if operation in OPERATIONS else "recall"}
    return head | ({"request_id": request_id} if _is_ref(request_id) else {})


def wire_error(error: kipql.KipError) -> dict[str, Any]:
    """An error as kip-response has it: what is not there is left out."""
    return {name: value for name, value in error.to_dict().items() if value is not None}


def _operation(given: Any) -> str:
    """One of the five. The response has to name one of them too, so what was asked stands in the error."""
    if isinstance(given, str) and given in OPERATIONS:
        return given
    asked = given[:64] if isinstance(given, str) else None
    near = get_close_matches(asked.casefold(), (*OPERATIONS, *_LIKE), n=1) if asked else []
    meant = f"did you mean {_LIKE.get(near[0], near[0])!r}? " if near else ""
    raise kipql.KipError(
        "InvalidRequestEnvelope",
        f"there is no operation {asked!r}" if asked is not None else "the request names no operation",
        hint=f"{meant}The operations are {', '.join(OPERATIONS)}",
        details={} if asked is None else {"operation": asked},
    )


def _levels(given: Any) -> None:
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given) or len(given) > 5:
        raise _wrong("requires is a list of at most five levels")
    missing = [each for each in given if each not in LEVELS]
    if missing:
        raise kipql.KipError(
            "UnsupportedCapability",
            f"the level {missing[0][:64]!r} is not served here",
            hint=f"this binding serves {', '.join(LEVELS)}",
            details={"capability": missing[0][:64]},
        )
    if len(set(given)) < len(given):
        raise _wrong("requires names a level twice")


def _observe(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"source_ref": _required(given, "source_ref")}


def _revise(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "source_ref": _required(given, "source_ref"),
        "target_ref": _optional(given, "target_ref", _ref),
        "change_kind": _one_of(given.get("change_kind", "unspecified"), "change_kind", CHANGE_KINDS),
    }


def _feedback(given: Mapping[str, Any]) -> Mapping[str, Any]:
    names = ("decision_ref", "attempt_ref")
    return {"source_ref": _required(given, "source_ref"), **{name: _optional(given, name, _ref) for name in names}}


def _forget(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"target_ref": _required(given, "target_ref"), "mode": _one_of(given.get("mode"), "mode", FORGET_MODES)}


def _recall(given: Mapping[str, Any]) -> Mapping[str, Any]:
    mode = _one_of(given.get("mode", "answer"), "mode", MODES)
    if "query" not in given and "target_ref" not in given and mode != "attention":
        raise _wrong("recall needs a query, a target_ref or the mode attention")
    time = _object(given["time"], "time", {"valid_at", "as_of_seq"}) if "time" in given else {}
    if "time" in given and not time:
        raise _wrong("time names valid_at or as_of_seq")
    seq = _optional(time, "as_of_seq", lambda value, name: _count(value, name, least=0))
    return {
        "mode": mode,
        "detail": _one_of(given.get("detail", "brief"), "detail", ("brief", "evidence")),
        "after": _refs(given.get("after", []), "after"),
        **{name: _optional(given, name, _text) for name in ("query", "goal", "context")},
        **{name: _optional(given, name, _ref) for name in ("target_ref", "attention_cursor")},
        "valid_at": _optional(time, "valid_at", _moment),
        "as_of_seq": seq,
    }


_INPUTS: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = {
    "observe": _observe, "recall": _recall, "revise": _revise, "feedback": _feedback, "forget": _forget,
}  # fmt: skip
_INPUT_MEMBERS: Mapping[str, Collection[str]] = {
    "observe": {"source_ref"},
    "recall": {
        "query", "target_ref", "mode", "goal", "context", "after", "detail", "time", "attention_cursor",
    },
    "revise": {"source_ref", "target_ref", "change_kind"},
    "feedback": {"source_ref", "decision_ref", "attempt_ref"},
    "forget": {"target_ref", "mode"},
}  # fmt: skip


def _object(value: Any, name: str, members: Collection[str]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(f"{name} is no object")
    unknown = [each for each in value if each not in members]
    if unknown:
        raise _wrong(f"{name} has no member {str(unknown[0])[:64]!r}", f"it has {', '.join(sorted(members))}")
    return value


def _required(given: Mapping[str, Any], name: str) -> str:
    if name not in given:
        raise _wrong(f"input needs {name}")
    return _ref(given[name], name)


def _optional(given: Mapping[str, Any], name: str, check: Callable[[Any, str], Any]) -> Any:
    return check(given[name], name) if name in given else None


def _one_of(value: Any, name: str, words: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in words:
        raise _wrong(f"{name} is one of {', '.join(words)}")
    return value


def _is_ref(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 1024


def _ref(value: Any, name: str) -> str:
    if not _is_ref(value):
        raise _wrong(f"{name} is a reference: a string of 1 to 1,024 characters")
    _encodable(value, name)
    return str(value)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 4096:
        raise _wrong(f"{name} is a text of 1 to 4,096 characters")
    _encodable(value, name)
    return value


def _moment(value: Any, name: str) -> str:
    return checked_timestamp(_text(value, name), f"time.{name}")


def _encodable(value: str, name: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _wrong(f"{name} is no text: it holds half of a surrogate pair") from None


def _refs(value: Any, name: str) -> list[str]:
    if not isinstance(value, list) or len(value) > MOST:
        raise _wrong(f"{name} is a list of at most {MOST} references")
    found = [_ref(each, f"a member of {name}") for each in value]
    if len(set(found)) < len(found):
        raise _wrong(f"{name} names something twice")
    return found


def _count(value: Any, name: str, least: int = 1) -> int:
    whole = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
    if not whole or not least <= value <= LARGEST:
        raise _wrong(f"{name} is a whole number from {least}")
    return int(value)


def _space(value: Any) -> Mapping[str, str]:
    given = _object(value, "space", {"id", "uri"})
    if not given:
        raise _wrong("space names an id or a uri")
    most = {"id": 512, "uri": 2048}
    for name, each in given.items():
        if not isinstance(each, str) or not 0 < len(each) <= most[name]:
            raise _wrong(f"space.{name} is a string of 1 to {most[name]} characters")
    return given


def _wrong(message: str, hint: str | None = None) -> kipql.KipError:
    return kipql.KipError("InvalidRequestEnvelope", message, hint=hint)
