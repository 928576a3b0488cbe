"""What a mode found, before it becomes an answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kipql.memory.brief.items import Channel, Plain, Warned
from kipql.memory.brief.naming import Subject

NO_SUBJECT = "no entity of the question was found, nor a counterparty; `context` names one by its key, never by a name"


@dataclass(slots=True)
class Draft:
    """What a mode found. `thin` says that it is less than a direct and current answer, `match` how far it speaks of
    what is asked."""

    answer: Any = None
    lines: list[str] = field(default_factory=list)
    refs: list[str] = field(default_factory=list)
    belief: str | None = None
    support: list[Plain] = field(default_factory=list)
    opposition: list[Plain] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    channels: dict[str, Channel] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)
    thin: bool = False
    match: float = 1.0
    found: bool = False

    def show(self, items: Sequence[Plain], channel: Channel | None = None, name: str | None = None) -> None:
        """Make items the answer, and their channel part of the coverage."""
        self.answer = [*(self.answer or ()), *items]
        self.lines += [str(item["text"]) for item in items]
        self.refs += [item["ref"] for item in items]
        self.found = self.found or bool(items)
        if channel is not None:
            self.take(channel, name)

    def beside(self, items: Sequence[Plain]) -> None:
        """Items that are shown after the answer and count as none."""
        found = self.found
        self.show([item | {"text": f"background: {item['text']}"} for item in items])
        self.found = found

    def take(self, channel: Channel, name: str | None = None) -> None:
        """What a channel warns of and lacks."""
        self.warnings += channel.warnings
        self.channels[name or channel.name] = channel
        if channel.truncated:
            self.gaps.append(f"{channel.name.replace('_', ' ')}: more than the budget allows was found")


def about(subject: Subject, *, needed: bool = True) -> Draft:
    draft = Draft()
    if subject.ambiguous:
        named = ", ".join(f"{one.label} ({one.id})" for one in subject.others)
        draft.gaps.append(f"the name fits several, and none was chosen: {named}")
        refs = tuple(one.id for one in subject.others)
        draft.warnings.append(Warned("warning", "ambiguous", f"which one is meant? {named}", refs))
    elif subject.id is None and needed:
        draft.gaps.append(NO_SUBJECT)
    return draft
