"""The Memory Interface at level `memory_basic`: five intents between a business agent and its memory.

`observe`, `recall`, `revise`, `feedback` and `forget`, one JSON request each, over the graph and the public surface of
kipql alone (KIP 2.0 Memory Interface, kip-memory).
"""

from kipql.memory.interface.binding import MemoryInterface
from kipql.memory.interface.forming import Claim, Formation, Formed, Heard, Named, Promise
from kipql.memory.interface.rules import RuleFormation
from kipql.memory.interface.session import MemorySession
from kipql.memory.interface.sources import Source

__all__ = [
    "Claim",
    "Formation",
    "Formed",
    "Heard",
    "MemoryInterface",
    "MemorySession",
    "Named",
    "Promise",
    "RuleFormation",
    "Source",
]
