"""Assembling a prompt under a token budget: whole items only, channel by channel, and a report of what is missing.

Constraints and pins must fit, else there is no prompt (`required_channel_exceeds_budget`). After them every item
that fits is taken in order; the tail of the conversation ends at the first that does not, so that it has no holes.
Whatever was left out makes the coverage incomplete, and then no automatic action may rest on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kipql.memory.answers import Answer
from kipql.memory.channels import CHANNELS, REQUIRED, Channel, Question, read_channels
from kipql.memory.item import Item
from kipql.memory.tokens import FRAME, Estimate, call_arguments, content_text

if TYPE_CHECKING:
    from kipql import Nexus

ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis(Answer):
    """What an assembly was made from."""

    snapshot_seq: int
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage(Answer):
    """How much of what there was is in a prompt.

    complete                  nothing was left out, neither over the budget nor by a limit of the profile
    automatic_action_allowed  whether an action may rest on the prompt alone
    budget, used              tokens
    channels                  per channel `{considered, kept, skipped, limited}`
    """

    complete: bool
    automatic_action_allowed: bool
    budget: int
    used: int
    channels: dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Answer):
    """A prompt and how it came about.

    ok        False when no prompt can be made; `reason` says why and `blocks` is empty
    blocks    `{channel, key, tokens, provenance, decision, text}` in channel order
    messages  the prompt: a system message per block, then the tail in the order it was said
    skipped   blocks that did not fit, without their text
    coverage  how much of what there was is in it
    warnings  what the reader should know: contested or outdated beliefs, erased messages
    """

    ok: bool
    reason: str
    blocks: list[dict[str, Any]]
    messages: list[dict[str, Any]]
    skipped: list[dict[str, Any]]
    coverage: Coverage
    basis: Basis
    warnings: list[str]


def assemble(
    nexus: "Nexus", question: Question, turn: int, window_tokens: int, reserve: int, count: Estimate
) -> Context:
    """The prompt for a question; see `AgentMemory.assemble`."""
    budget = window_tokens - reserve
    if budget <= 0:
        return _refused("window_smaller_than_reserve", nexus.space_seq, turn, max(0, budget), [])
    seq, channels = _read(nexus, question)
    taken = _Taken(budget, count)
    for channel in channels:
        taken.take(channel)
        if channel.name in REQUIRED and taken.skipped:
            return _refused("required_channel_exceeds_budget", seq, turn, budget, taken.warnings)
    return Context(
        ok=True,
        reason="ok",
        blocks=taken.blocks,
        messages=taken.prompt(),
        skipped=taken.skipped,
        coverage=taken.coverage(),
        basis=Basis(snapshot_seq=seq, turn=turn),
        warnings=taken.warnings + ([] if nexus.space_seq == seq else ["the memory changed while this was read"]),
    )


def _read(nexus: "Nexus", question: Question) -> tuple[int, list[Channel]]:
    """All channels of one state of the memory: read again while somebody writes, a few times."""
    for _ in range(ATTEMPTS):
        seq = nexus.space_seq
        channels = list(read_channels(nexus, question))
        if nexus.space_seq == seq:
            break
    return seq, channels


class _Taken:
    """What was taken so far, and what it cost."""

    def __init__(self, budget: int, count: Estimate) -> None:
        self.budget, self.count, self.used = budget, count, 0
        self.blocks: list[dict[str, Any]] = []
        self.skipped: list[dict[str, Any]] = []
        self.warnings: list[str] = []
        self._channels: dict[str, dict[str, Any]] = {}
        self._tail: list[Item] = []
        self._said: list[Mapping[str, Any]] = []

    def take(self, channel: Channel) -> None:
        """Take from a channel what fits."""
        kept, closed = 0, False
        for item in channel.items:
            tokens = sum(cost(message, self.count) for message in item.messages)
            fits = not closed and self.used + tokens <= self.budget
            closed = closed or (not fits and channel.name == "tail")
            kept += fits
            self._note(item, tokens, fits=fits)
        considered = len(channel.items)
        self._channels[channel.name] = {
            "considered": considered,
            "kept": kept,
            "skipped": considered - kept,
            "limited": channel.cut,
        }

    def _note(self, item: Item, tokens: int, *, fits: bool) -> None:
        block = {"channel": item.channel, "key": item.key, "tokens": tokens, "provenance": dict(item.provenance)}
        if not fits:
            dropped = {"outcome": "dropped", "fidelity": None, "reason": "over_budget"}
            self.skipped.append({**block, "decision": dropped})
            return
        self.used += tokens
        kept = {"outcome": "kept", "fidelity": "L0", "reason": item.reason}
        self.blocks.append({**block, "decision": kept, "text": text_of(item.messages)})
        if item.channel == "tail":
            self._tail.append(item)
        else:
            self._said += item.messages
        if item.warning is not None:
            self.warnings.append(item.warning)

    def prompt(self) -> list[dict[str, Any]]:
        """The messages for the model."""
        tail = [message for item in reversed(self._tail) for message in item.messages]
        return [dict(message) for message in [*self._said, *tail]]

    def coverage(self) -> Coverage:
        """What was read to the end, and what may rest on it."""
        complete = not self.skipped and not any(channel["limited"] for channel in self._channels.values())
        return Coverage(
            complete=complete,
            automatic_action_allowed=complete,
            budget=self.budget,
            used=self.used,
            channels={name: self._channels[name] for name in CHANNELS},
        )


def cost(message: Mapping[str, Any], count: Estimate) -> int:
    """The tokens of a message in a prompt: its text, its call arguments and the frame."""
    return count(content_text(message) + call_arguments(message)) + FRAME


def text_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """A block as text: what is said, calls by name."""
    return "\n".join(_line(message) for message in messages)


def _line(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls") or ()
    names = [str((call.get("function") or call).get("name")) for call in calls if isinstance(call, Mapping)]
    called = f" calls {', '.join(names)}" if names else ""
    return (
        content_text(message) if message["role"] == "system" else f"{message['role']}{called}: {content_text(message)}"
    )


def _refused(reason: str, seq: int, turn: int, budget: int, warnings: list[str]) -> Context:
    coverage = Coverage(complete=False, automatic_action_allowed=False, budget=budget, used=0, channels={})
    return Context(
        ok=False,
        reason=reason,
        blocks=[],
        messages=[],
        skipped=[],
        coverage=coverage,
        basis=Basis(snapshot_seq=seq, turn=turn),
        warnings=warnings,
    )
