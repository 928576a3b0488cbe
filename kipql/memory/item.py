"""An item of an assembly: one thing that stands in a prompt whole or not at all, with where it comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is shown whole or not at all."""

    channel: str
    key: str
    messages: tuple[Mapping[str, Any], ...]
    provenance: Mapping[str, Any]
    reason: str
    warning: str | None = None


def text_item(
    channel: str, key: str, text: str, provenance: Mapping[str, Any], reason: str, warning: str | None = None
) -> Item:
    """An item that is a text beside the conversation."""
    return Item(channel, key, ({"role": "system", "content": text},), provenance, reason, warning)


def source_of(identity: str, kind: str) -> dict[str, Any]:
    """Where an item comes from: one element."""
    return {"ids": [identity], "kind": kind}
