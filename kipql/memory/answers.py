"""What the agent layer answers: small frozen records that read like the dicts they become.

A tool shows `to_dict()` to a model; a program reads attributes or members (`answer.found`, `answer["found"]`).
"""

from dataclasses import dataclass, fields
from typing import Any


class Answer:
    """The base of every answer."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON values."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]

    def __getitem__(self, name: str) -> Any:
        if name not in self.__dataclass_fields__:  # type: ignore[attr-defined]
            raise KeyError(name)
        return getattr(self, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded(Answer):
    """`record_turn`: how many messages were new; `recorded` is False only where nothing may be written."""

    recorded: bool
    turn: int
    messages: int
    code: str
    snapshot_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeded(Answer):
    """`seed_history`: the turns that a history was divided into."""

    seeded: bool
    turns: list[int]
    messages: int
    code: str
    snapshot_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult(Answer):
    """`recall`: the messages of a turn, word for word; `note` says why there are none."""

    turn: int
    found: bool
    messages: list[dict[str, Any]]
    note: str | None
    code: str
    snapshot_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin(Answer):
    """A pin; `content` is None where its text was erased or may not be seen."""

    pin_id: str
    label: str | None
    content: str | None
    token_count: int
    created_turn: int
    until_turn: int | None
    removed_turn: int | None
    content_sha256: str
    id: str

    @property
    def text(self) -> str:
        """The pin as it stands in a prompt."""
        head = f"[pinned: {self.label}]" if self.label else "[pinned]"
        return f"{head}\n{'[erased]' if self.content is None else self.content}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PinResult(Answer):
    """`pin`: the pin in effect, or why there is none and the figures of the budget."""

    pinned: bool
    pin_id: str | None
    label: str | None
    until_turn: int | None
    already_pinned: bool
    code: str
    snapshot_seq: int
    reason: str | None = None
    current_pin_tokens: int | None = None
    requested_tokens: int | None = None
    cap: int | None = None
    suggestion: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON values; what does not apply is left out."""
        shown = Answer.to_dict(self)
        optional = ("reason", "current_pin_tokens", "requested_tokens", "cap", "suggestion")
        return {name: value for name, value in shown.items() if value is not None or name not in optional}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpinResult(Answer):
    """`unpin`: whether there was such a pin to remove."""

    unpinned: bool
    pin_id: str
    note: str | None
    code: str
    snapshot_seq: int


def _plain(value: Any) -> Any:
    if isinstance(value, Answer):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
