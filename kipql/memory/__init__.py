"""kipql.memory: the layer that agent frameworks embed, written on the public surface of kipql alone.

    import kipql
    from kipql.memory import AgentMemory

    memory = AgentMemory(kipql.open("brain.kip"), session="run-1/planner", window_tokens=8000)
    memory.record_turn(1, [{"role": "user", "content": "plan?"}, {"role": "assistant", "content": "first ..."}])
    memory.pin("the client wants metric units", label="units")
    memory.recall(1)

Names are loaded when first used, so that importing one part costs only that part.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kipql.memory.answers import Pin, PinResult, RecallResult, UnpinResult
    from kipql.memory.assembly import Context
    from kipql.memory.brief import Brain, Briefing, Recalled
    from kipql.memory.canon import Canon, CanonSession, SurfacePolicy, address, ancestor_chain, canon_chain, paths_in
    from kipql.memory.compaction import Plan, boundaries, plan_compaction, prune_tool_results, sanitize_pairs
    from kipql.memory.interface import MemoryInterface, MemorySession, RuleFormation
    from kipql.memory.ledger import Trace
    from kipql.memory.pool import AgentPool
    from kipql.memory.primitives import is_cognitive_tool
    from kipql.memory.session import AgentMemory
    from kipql.memory.wiki import Wiki

_HOME = {
    "AgentMemory": "session",
    "AgentPool": "pool",
    "Brain": "brief",
    "Briefing": "brief",
    "Canon": "canon",
    "CanonSession": "canon",
    "Context": "assembly",
    "MemoryInterface": "interface",
    "MemorySession": "interface",
    "Pin": "answers",
    "PinResult": "answers",
    "Plan": "compaction",
    "RecallResult": "answers",
    "RuleFormation": "interface",
    "Recalled": "brief",
    "SurfacePolicy": "canon",
    "Trace": "ledger",
    "UnpinResult": "answers",
    "Wiki": "wiki",
    "address": "canon",
    "ancestor_chain": "canon",
    "boundaries": "compaction",
    "canon_chain": "canon",
    "is_cognitive_tool": "primitives",
    "paths_in": "canon",
    "plan_compaction": "compaction",
    "prune_tool_results": "compaction",
    "sanitize_pairs": "compaction",
}

__all__ = [
    "AgentMemory",
    "AgentPool",
    "Brain",
    "Briefing",
    "Canon",
    "CanonSession",
    "Context",
    "MemoryInterface",
    "MemorySession",
    "Pin",
    "PinResult",
    "Plan",
    "RecallResult",
    "Recalled",
    "RuleFormation",
    "SurfacePolicy",
    "Trace",
    "UnpinResult",
    "Wiki",
    "address",
    "ancestor_chain",
    "boundaries",
    "canon_chain",
    "is_cognitive_tool",
    "paths_in",
    "plan_compaction",
    "prune_tool_results",
    "sanitize_pairs",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'kipql.memory' has no attribute {name!r}")
    value = getattr(import_module(f"kipql.memory.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
