"""Messages as Evidence: what is accepted, which evidence class it gets, and how it comes back.

The payload is the message object itself, unchanged. Where it was erased or may not be seen, only its role is left,
which follows from the class.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import kipql
from kipql.memory.pairs import calls_of

ROLES = ("user", "assistant", "tool", "system", "developer")
_CLASSES = {"user": "user_statement", "tool": "tool_result"}
_ROLES = {
    "user_statement": "user",
    "agent_statement": "assistant",
    "kipql:tool_call": "assistant",
    "tool_result": "tool",
    "message": "system",
}
INCLUDE: Mapping[str, tuple[str, ...]] = {
    "all": tuple(_ROLES),
    "assistant_only": ("agent_statement", "kipql:tool_call"),
    "tool_calls": ("kipql:tool_call", "tool_result"),
}


def checked(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The messages of a turn. Raises TypeMismatch for what is none, naming its place."""
    if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Sequence):
        raise kipql.KipError("TypeMismatch", "messages are a list of objects with `role` and `content`")
    return [_checked(message, index) for index, message in enumerate(messages)]


def evidence_class(message: Mapping[str, Any]) -> str:
    """The evidence class of a message."""
    if message["role"] == "assistant":
        return "kipql:tool_call" if calls_of(message) else "agent_statement"
    return _CLASSES.get(message["role"], "message")


def inline(value: Any) -> dict[str, Any]:
    """A payload that is kept as it is."""
    return {"mode": "inline", "inline": value}


def shown(evidence: str, payload: Any) -> dict[str, Any]:
    """A message from its payload, or `{role, redacted: true}` where that is not there."""
    if isinstance(payload, Mapping) and isinstance(message := payload.get("inline"), Mapping):
        return dict(message)
    return {"role": _ROLES.get(evidence, "system"), "redacted": True}


def inline_text(payload: Any) -> str | None:
    """The text of a payload that holds one."""
    text = payload.get("inline") if isinstance(payload, Mapping) else None
    return text if isinstance(text, str) else None


def stub(turn: int, messages: Sequence[Mapping[str, Any]]) -> str:
    """What stands for a turn in a list of turns. It says nothing of what was said, so that erasing that is enough."""
    roles = ", ".join(dict.fromkeys(str(message.get("role")) for message in messages))
    count = len(messages)
    return f"turn {turn}: {count} {'message' if count == 1 else 'messages'}" + (f" ({roles})" if roles else "")


def _checked(message: Any, index: int) -> dict[str, Any]:
    if not isinstance(message, Mapping):
        raise kipql.KipError("TypeMismatch", f"message {index} is no object", hint='{"role": "user", "content": "..."}')
    if not isinstance(message.get("role"), str) or not message["role"]:
        raise kipql.KipError("TypeMismatch", f"message {index} has no role", hint=", ".join(ROLES))
    if (role := message["role"]) not in ROLES:
        near = get_close_matches(role.casefold(), ROLES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else ", ".join(ROLES)
        raise kipql.KipError(
            "TypeMismatch", f"message {index} has the role {role[:40]!r}, which there is not", hint=hint
        )
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, (list, tuple)):
        raise kipql.KipError("TypeMismatch", f"tool_calls of message {index} is no list")
    return dict(message)
