"""Calls and their results: which message owns a tool result, and a history in which no pair is broken.

A provider refuses a history that holds a call without its result or a result without its call, so these stay
together wherever a history is cut.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from kipql.memory.tokens import Message, content_text

STUB = "[the result of this call is not in the window]"
KEPT_WHOLE = 36
PRUNED_ABOVE = 200


def calls_of(message: Message) -> list[Any]:
    """The calls of an assistant message; none for any other."""
    calls = message.get("tool_calls")
    return list(calls) if message.get("role") == "assistant" and isinstance(calls, (list, tuple)) else []


def call_ids(message: Message) -> list[str]:
    """The ids of the calls of a message, those that have one."""
    ids = (call.get("id") for call in calls_of(message) if isinstance(call, dict))
    return [identity for identity in ids if isinstance(identity, str)]


def is_result(message: Message) -> bool:
    """Whether a message is the result of a call."""
    return message.get("role") == "tool"


def owners(messages: Sequence[Message]) -> list[int | None]:
    """For each message the index of the assistant message whose call it answers, or None.

    By id, the nearest one before it; a result without an id belongs to the calls it directly follows.
    """
    by_id: dict[str, int] = {}
    adjacent: int | None = None
    found: list[int | None] = []
    for index, message in enumerate(messages):
        owner = None
        if is_result(message):
            identity = message.get("tool_call_id")
            owner = by_id.get(identity) if isinstance(identity, str) else adjacent
        else:
            adjacent = index if calls_of(message) else None
            by_id.update(dict.fromkeys(call_ids(message), index))
        found.append(owner)
    return found


def groups(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """Each call and its results as `(first, last)` indices, in order; a call without results is left out."""
    last = {owner: index for index, owner in enumerate(owners(messages)) if owner is not None}
    return sorted(last.items())


def sanitize_pairs(messages: Sequence[Message]) -> list[Message]:
    """The messages without results whose call is gone, and with a stub directly after a call for each missing result.

    >>> sanitize_pairs([{"role": "tool", "tool_call_id": "c0", "content": "1"}, {"role": "user", "content": "hi"}])
    [{'role': 'user', 'content': 'hi'}]
    """
    owned = owners(messages)
    answered = {
        (owner, message.get("tool_call_id"))
        for message, owner in zip(messages, owned, strict=True)
        if owner is not None
    }
    kept: list[Message] = []
    for index, (message, owner) in enumerate(zip(messages, owned, strict=True)):
        if is_result(message) and owner is None:
            continue
        kept.append(message)
        kept += (_stub(identity) for identity in call_ids(message) if (index, identity) not in answered)
    return kept


def prune_tool_results(
    messages: Sequence[Message], *, keep_last: int = KEPT_WHOLE, above: int = PRUNED_ABOVE
) -> list[Message]:
    """The messages with long tool results outside the last `keep_last` replaced by a line that says so.

    The messages given are not changed, and the originals stay recorded.
    """
    whole_from = max(0, len(messages) - keep_last)
    return [
        _pruned(message)
        if index < whole_from and is_result(message) and len(content_text(message)) > above
        else message
        for index, message in enumerate(messages)
    ]


def split_pairs(messages: Sequence[Message], cuts: Sequence[int]) -> Iterator[int]:
    """The indices of results that a cut separates from their call."""
    for index, owner in enumerate(owners(messages)):
        if owner is not None and any(owner < cut <= index for cut in cuts):
            yield index


def _stub(identity: str) -> Message:
    return {"role": "tool", "tool_call_id": identity, "content": STUB}


def _pruned(message: Message) -> Message:
    size = len(content_text(message))
    return {**message, "content": f"[a tool result of {size:,} characters, left out here; recall shows it]"}
