"""Reading a trace back: its events as lines, and one turn as it was.

The turn of an event is the last one recorded when it happened. Pins in effect at a turn follow from the pin and
unpin events up to it, so a later pin or unpin changes nothing about it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kipql.memory.ledger import COMPACTION, CONTEXT, PRIMITIVE, RESET, SEEDED, TURN, UNREADABLE, read

Event = Mapping[str, Any]
SHOWN = 100
DONE, NOTHING, NO_TURN = 0, 1, 2


def show_text(path: str | Path, *, cognitive: bool = False, context: bool = False, agent: str | None = None) -> str:
    """The events of a trace, one a line.

    cognitive  only recall, pin and unpin
    context    only assembled prompts, with a line per block; pinned ones are marked [PIN]
    agent      only those of one agent: its session, or the last part of it
    """
    events = [event for event in read(path) if _of(event, agent)]
    if cognitive or context:
        wanted = {name for name, asked in ((PRIMITIVE, cognitive), (CONTEXT, context)) if asked}
        events = [event for event in events if event["event"] in wanted]
    return "\n".join(line for event in events for line in _lines(event, blocks=context))


def agents(path: str | Path) -> list[str]:
    """The agents of a trace."""
    return sorted({str(event["agent"]) for event in read(path) if event["event"] != UNREADABLE})


def replay_text(path: str | Path, turn: int | None, *, agent: str | None = None) -> tuple[str, int]:
    """One turn of a trace as text, and an exit code.

    0 with what was decided at that turn, the prompt and the pins in effect; 2 without a turn, with the turns there
    are; 1 when there is nothing to replay.
    """
    events = [event for event in read(path) if event["event"] != UNREADABLE and _of(event, agent)]
    turns = sorted({event["turn"] for event in events if event["turn"] > 0})
    if not turns:
        return "nothing to replay", NOTHING
    listed = ", ".join(map(str, turns))
    if turn is None:
        return f"turns: {listed}", NO_TURN
    if turn < turns[0] or turn > turns[-1]:
        return f"nothing to replay for turn {turn}; turns: {listed}", NOTHING
    agents = dict.fromkeys(event["agent"] for event in events)
    return "\n\n".join(
        _turn([event for event in events if event["agent"] == name], name, turn) for name in agents
    ), DONE


def pins_in_effect(events: Sequence[Event], turn: int) -> list[dict[str, Any]]:
    """The pins that the pin and unpin events of one agent leave in effect at a turn, in the order they were made."""
    made: dict[str, dict[str, Any]] = {}
    for event in events:
        result, primitive = event["metadata"].get("result"), event["metadata"].get("primitive")
        if event["event"] != PRIMITIVE or not isinstance(result, dict):
            continue
        if primitive == "pin" and result.get("pinned") and not result.get("already_pinned"):
            arguments = event["metadata"].get("args")
            content = arguments.get("content") if isinstance(arguments, dict) else None
            made[result["pin_id"]] = {**result, "content": content, "created_turn": event["turn"], "removed_turn": None}
        elif primitive == "unpin" and result.get("unpinned") and result.get("pin_id") in made:
            made[result["pin_id"]]["removed_turn"] = event["turn"]
    return [pin for pin in made.values() if _in_effect(pin, turn)]


def _in_effect(pin: Mapping[str, Any], turn: int) -> bool:
    until, removed = pin.get("until_turn"), pin["removed_turn"]
    ended = (until is not None and until < turn) or (removed is not None and removed <= turn)
    return not ended and bool(pin["created_turn"] <= turn)


def _turn(events: Sequence[Event], agent: str, turn: int) -> str:
    contexts = [event["metadata"] for event in events if event["event"] == CONTEXT and event["turn"] == turn]
    lines = [f"turn {turn} of {agent}"]
    lines += _section("decisions", [line for context in contexts for line in _decisions(context)])
    lines += _section("prompt", [line for context in contexts for line in _prompt(context)])
    lines += _section("primitives", [_summary(event) for event in events if _primitive_at(event, turn)])
    lines += _section("pins in effect", [_pin(pin) for pin in pins_in_effect(events, turn)])
    return "\n".join(lines)


def _primitive_at(event: Event, turn: int) -> bool:
    return bool(event["event"] == PRIMITIVE and event["turn"] == turn)


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return [f"{title}:", *(f"  {line}" for line in lines or ["none"])]


def _decisions(context: Event) -> Iterator[str]:
    for block in [*context.get("blocks", ()), *context.get("skipped", ())]:
        yield _block(block)
    if not context.get("ok"):
        yield f"no prompt: {context.get('reason')}"


def _prompt(context: Event) -> Iterator[str]:
    for block in context.get("blocks", ()):
        mark = "[PIN]" if block["channel"] == "pins" else f"[{block['channel']}]"
        yield from (f"{mark} {line}" for line in str(block.get("text", "(text not kept)")).split("\n"))


def _lines(event: Event, *, blocks: bool) -> Iterator[str]:
    if event["event"] == UNREADABLE:
        yield f"line {event['metadata']['line']} can not be read"
        return
    yield f"{event['at']} {event['agent']} turn {event['turn']} {_summary(event)}"
    if blocks and event["event"] == CONTEXT:
        yield from (f"  {line}" for line in _decisions(event["metadata"]))


def _block(block: Mapping[str, Any]) -> str:
    decision = block["decision"]
    mark = "[PIN] " if block["channel"] == "pins" else ""
    fidelity = f" {decision['fidelity']}" if decision.get("fidelity") else ""
    return (
        f"{mark}{block['channel']} {block['key']}: {decision['outcome']}{fidelity}, {decision['reason']}, "
        f"{block['tokens']} tokens"
    )


def _summary(event: Event) -> str:
    """What an event says, in one line."""
    held = event["metadata"]
    if event["event"] == PRIMITIVE:
        return f"{held.get('primitive')} {_cut(held.get('args'))} -> {_cut(held.get('result'))}"
    if event["event"] == TURN:
        return f"recorded {held.get('messages')} messages"
    if event["event"] == CONTEXT:
        coverage = held.get("coverage") or {}
        state = "complete" if coverage.get("complete") else "incomplete"
        used = f"{coverage.get('used')} of {coverage.get('budget')} tokens"
        return (
            f"assembled {len(held.get('blocks', ()))} blocks, {used}, {state}"
            if held.get("ok")
            else f"no prompt: {held.get('reason')}"
        )
    if event["event"] in (COMPACTION, SEEDED, RESET):
        return f"{event['event'].replace('_', ' ')} {_cut(held)}" if held else event["event"].replace("_", " ")
    return f"{event['event']} {_cut(held)}"


def _pin(pin: Mapping[str, Any]) -> str:
    label = f" {pin['label']}" if pin.get("label") else ""
    until = f", until turn {pin['until_turn']}" if pin.get("until_turn") is not None else ""
    return f"[PIN] {pin['pin_id']}{label} (pinned at turn {pin['created_turn']}{until}): {_cut(pin.get('content'))}"


def _cut(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = text.replace("\r", " ").replace("\n", " ")
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _of(event: Event, agent: str | None) -> bool:
    name = str(event["agent"])
    return agent is None or name == agent or name.rsplit("/", 1)[-1] == agent
