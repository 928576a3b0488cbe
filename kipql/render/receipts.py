"""What a write did, as one line."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kipql.escape import terminal
from kipql.render.values import many
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.runtime.receipt import Receipt

_ENDED = frozenset(("superseded", "retracted", "expired", "corrected", "archived", "tombstoned"))


def receipt_line(receipt: "Receipt") -> str:
    """`committed at 3: 2 elements created, 1 ended; ?a = C-1`."""
    if receipt.space_seq is None:
        return terminal(receipt.status)
    handles = ", ".join(f"?{handle} = {identity}" for handle, identity in receipt.handles.items())
    line = f"{receipt.status} at {receipt.space_seq}: {_counted(receipt)}"
    return terminal(f"{line}; {handles}" if handles else line)


def _counted(receipt: "Receipt") -> str:
    """`2 elements created, 1 changed, 1 ended`; what is zero is left out."""
    counts = Counter(effect(change) for change in receipt.changes)
    named = [(name, counts[name]) for name in ("created", "changed", "ended") if counts[name]]
    if not named:
        return "no element changed"
    (first, count), *rest = named
    return ", ".join((f"{many(count, 'element')} {first}", *(f"{count} {name}" for name, count in rest)))


def effect(change: Mapping[str, Json]) -> str:
    """What became of an element: ended is retracted, superseded, corrected, archived, merged, purged and so on."""
    if change["op"] == "create":
        return "created"
    if change["op"] in ("merge", "purge"):
        return "ended"
    return "ended" if change.get("state", {}).get("to") in _ENDED else "changed"
