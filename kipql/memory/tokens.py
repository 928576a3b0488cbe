"""Estimates of tokens: of a text for pins and assembly, and of a history for compaction.

A text costs half a token per Han character and a quarter per other one, rounded down, and one. A message of a
history costs its characters and those of its call arguments by four, at least one, and ten for the frame.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Message = Mapping[str, Any]
Estimate = Callable[[str], int]

FRAME = 10
_HAN = ("\u4e00", "\u9fff")


def estimate_text(text: str) -> int:
    """The tokens of a text: `han // 2 + other // 4 + 1`.

    >>> estimate_text(""), estimate_text("a" * 3196)
    (1, 800)
    """
    han = sum(_HAN[0] <= character <= _HAN[1] for character in text)
    return han // 2 + (len(text) - han) // 4 + 1


def estimate_history(
    messages: Sequence[Message], system: str = "", tools: str = "", *, count: Estimate | None = None
) -> int:
    """The tokens that messages, a system prompt and tool schemas take of a context window.

    >>> estimate_history([{"role": "user", "content": "x" * 400}], system="x" * 400, tools="x" * 40)
    220
    """
    count = count or _quarter
    around = sum(count(text) for text in (system, tools) if text)
    return around + sum(estimate_message(message, count) for message in messages)


def estimate_message(message: Message, count: Estimate | None = None) -> int:
    """The tokens of one message of a history."""
    count = count or _quarter
    text, arguments = content_text(message), call_arguments(message)
    return max(1, count(text)) + (count(arguments) if arguments else 0) + FRAME


def content_text(message: Message) -> str:
    """What a message says, as one text: the parts of a list are joined, what is no text is JSON."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    return "\n".join(_part(part) for part in parts if part is not None)


def call_arguments(message: Message) -> str:
    """The arguments of all calls of a message, one after another."""
    calls = message.get("tool_calls") or ()
    return "".join(_argument(call) for call in calls if isinstance(call, Mapping))


def _argument(call: Mapping[str, Any]) -> str:
    function = call.get("function")
    owner = function if isinstance(function, Mapping) else call
    arguments = owner.get("arguments", owner.get("args", owner.get("input")))
    return "" if arguments is None else arguments if isinstance(arguments, str) else _json(arguments)


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else _json(part)


def _quarter(text: str) -> int:
    return len(text) // 4


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
