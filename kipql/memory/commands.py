"""What a session shows a person: one function each, from arguments to text, for `kipql memory` and the shell.

`touch` and `flush` are `kipql.memory.canon.says`.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kipql.memory.assembly import text_of
from kipql.memory.replay import show_text

if TYPE_CHECKING:
    from kipql.memory.session import AgentMemory


def recall_text(memory: "AgentMemory", turn: int, include: str = "all") -> str:
    """`recall`: the messages of a turn, or why there are none. Raises TypeMismatch for another `include`."""
    answer = memory.recall(turn, include)
    if not answer.messages:
        return str(answer.note)
    return "\n".join(_message(message) for message in answer.messages)


def pins_text(memory: "AgentMemory", turn: int | None = None, as_of_seq: int | None = None) -> str:
    """`pins`: the pins in effect now, at a turn or as of a sequence."""
    pins = memory.pins(turn, as_of_seq=as_of_seq)
    if not pins:
        return "no pins in effect"
    return "\n".join(
        f"{pin.pin_id} turn {pin.created_turn}{f' to {pin.until_turn}' if pin.until_turn is not None else ''}, "
        f"{pin.token_count} tokens\n{pin.text}"
        for pin in pins
    )


def compact_plan_text(memory: "AgentMemory", **settings: Any) -> str:
    """`compact plan`: what a compaction would do now."""
    plan = memory.plan_compaction(**settings)
    figures = f"{plan.estimated_tokens} tokens, threshold {plan.threshold}"
    if not plan.triggered:
        return f"nothing to compact: {plan.reason} ({figures})"
    lines = [f"to compact: {len(plan.turns)} turns ({figures})"]
    for name in ("head", "middle", "tail"):
        first, end = getattr(plan, name)
        lines.append(f"{name}: messages {first} to {end - 1}" if end > first else f"{name}: none")
    return "\n".join([*lines, f"turns: {', '.join(map(str, plan.turns))}"])


def assemble_text(memory: "AgentMemory", goal: str = "", **settings: Any) -> str:
    """`assemble`: the prompt for a goal and its coverage. Takes the arguments of `AgentMemory.assemble`."""
    context = memory.assemble(goal, **settings)
    if not context.ok:
        return f"no prompt: {context.reason}"
    lines = [f"[{block['channel']}] {block['tokens']} tokens: {block['text']}" for block in context.blocks]
    lines += [f"warning: {warning}" for warning in context.warnings]
    coverage = context.coverage
    state = "complete" if coverage["complete"] else f"incomplete, {len(context.skipped)} left out"
    return "\n".join([*lines, f"{coverage['used']} of {coverage['budget']} tokens, {state}"])


def trace_text(memory: "AgentMemory", *, cognitive: bool = False, context: bool = False) -> str:
    """`trace`: the events of the session's trace file."""
    if memory.trace.path is None:
        return "no trace file is open"
    return show_text(memory.trace.path, cognitive=cognitive, context=context, agent=memory.session) or "no events"


def _message(message: dict[str, Any]) -> str:
    calls: Sequence[Any] = message.get("tool_calls") or ()
    shown = [f"  -> {json.dumps(call, ensure_ascii=False, default=str)}" for call in calls]
    said = (
        "[erased]" if message.get("redacted") else text_of([{**message, "role": message["role"], "tool_calls": None}])
    )
    return "\n".join([said, *shown])
