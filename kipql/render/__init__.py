"""Results for people: values, tables, beliefs, and the machine formats of the command line.

    from kipql.render import ledger, timeline

`timeline(slot)` draws a belief read with `explanation: "ledger"` as a heading, a bar per claim over world time and the
claims; `ledger(slot)` is the claims alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kipql.render.beliefs import ledger, timeline

__all__ = ["ledger", "timeline"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("kipql.render.beliefs"), name)
    raise AttributeError(f"module 'kipql.render' has no attribute {name!r}")
