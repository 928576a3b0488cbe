"""What a surface that shows the chat is told while an agent's window is condensed.

`{"status": "compacting" | "compacted" | "failed", "messages", "turns", ...}`: first how much is about to be
condensed, then how many messages there were and are, or why nothing changed.
"""

from collections.abc import Callable
from typing import Any

from kipql.memory.window import WindowPlan

Progress = Callable[[dict[str, Any]], Any]
Summarise = Callable[[WindowPlan], str | None]


def compacting(plan: WindowPlan) -> dict[str, Any]:
    """That a summary is about to be made."""
    return {
        "status": "compacting",
        "messages": len(plan.live),
        "turns": list(plan.turns),
        "tokens": plan.estimated_tokens,
    }


def compacted(plan: WindowPlan) -> dict[str, Any]:
    """That turns were condensed."""
    chosen = set(plan.turns)
    after = sum(each.turn not in chosen for each in plan.live)
    return {
        "status": "compacted",
        "messages_before": len(plan.live),
        "messages_after": after,
        "turns": list(plan.turns),
    }


def failed(reason: str) -> dict[str, Any]:
    """That nothing changed, and why."""
    return {"status": "failed", "reason": reason}
