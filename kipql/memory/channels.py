"""The channels of an assembly: what could stand in a prompt, each item with where it comes from, best first.

A channel reads and ranks; whether an item fits is decided in `kipql.memory.assembly`. The tail of the conversation
is the one channel whose items have several messages: a call and its results are one item.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kipql.memory.graph import found
from kipql.memory.item import Item, source_of, text_item
from kipql.memory.known import read_known
from kipql.memory.pairs import groups
from kipql.memory.pinning import pins
from kipql.memory.profiles import Profile
from kipql.memory.searching import search
from kipql.memory.window import Live, read_state, read_window

if TYPE_CHECKING:
    from kipql import Nexus

CHANNELS = (
    "constraints",
    "pins",
    "working_state",
    "tail",
    "warnings",
    "beliefs",
    "experiences",
    "skills",
    "capsules",
    "search",
)
REQUIRED = ("constraints", "pins")


@dataclass(frozen=True, slots=True)
class Question:
    """What an assembly is for."""

    session: str
    goal: str
    topics: tuple[str, ...]
    capsules: tuple[str, ...]
    profile: Profile

    @property
    def probes(self) -> tuple[str, ...]:
        """What is searched for: the topics, or without any the goal."""
        return tuple(text for text in self.topics or (self.goal,) if text.strip())


@dataclass(slots=True)
class Channel:
    """The items of one channel. `cut` says that a limit left further ones out."""

    name: str
    items: list[Item]
    cut: bool = False


def read_channels(nexus: "Nexus", question: Question) -> Iterator[Channel]:
    """All channels in the order they are served."""
    tail = read_window(nexus, question.session)
    known = read_known(nexus, question.session, question.probes, question.profile)
    for name in CHANNELS:
        channel = Channel(name, list(known.items.get(name, ())), name in known.cut)
        if name in _READ:
            _READ[name](nexus, question, tail, channel)
        seen: dict[str, Item] = {}
        for item in channel.items:
            seen.setdefault(item.key, item)
        channel.items = list(seen.values())
        yield channel


def _rules(nexus: "Nexus", question: Question, tail: Sequence[Live], channel: Channel) -> None:
    """The articles of a canon that declare a rule and that a probe might mean."""
    for probe in question.probes:
        for identity, key, address, capsule, body in _rows(nexus, "rules_matching", {"text": probe}, channel):
            text = f"[rule {address}] {capsule or body or ''}"
            source = source_of(identity, "CanonArticle")
            channel.items.append(text_item("constraints", key or identity, text, source, "required"))


def _pins(nexus: "Nexus", question: Question, tail: Sequence[Live], channel: Channel) -> None:
    for pin in pins(nexus, question.session):
        provenance = {**source_of(pin.id, "Pin"), "turn": pin.created_turn, "sha256": pin.content_sha256}
        channel.items.append(text_item("pins", pin.pin_id, pin.text, provenance, "pinned"))


def _working_state(nexus: "Nexus", question: Question, tail: Sequence[Live], channel: Channel) -> None:
    state = read_state(nexus, question.session)
    if state is None or not state.in_window:
        return
    provenance = {
        **source_of(state.id, "WorkingState"),
        "basis_seq": state.basis_seq,
        "through_turn": state.through_turn,
    }
    text = f"[summary of earlier turns]\n{state.summary}"
    channel.items.append(text_item("working_state", state.id, text, provenance, "summary"))


def _tail(nexus: "Nexus", question: Question, tail: Sequence[Live], channel: Channel) -> None:
    for first, end in reversed(list(units([live.message for live in tail]))):
        part = tail[first:end]
        provenance = {
            "ids": [live.evidence_id for live in part],
            "kind": "Evidence",
            "turn": part[0].turn,
            "indices": [live.index for live in part],
        }
        messages = tuple(_said(live.message) for live in part)
        warning = f"turn {part[0].turn} has messages that were erased" if any(x.redacted for x in part) else None
        channel.items.append(Item("tail", f"{part[0].turn}:{part[0].index}", messages, provenance, "recent", warning))


def _capsules(nexus: "Nexus", question: Question, tail: Sequence[Live], channel: Channel) -> None:
    for number, capsule in enumerate(question.capsules):
        channel.items.append(text_item("capsules", f"capsule:{number}", capsule, {"kind": "host"}, "surfaced"))


def _search(nexus: "Nexus", question: Question, tail: Sequence[Live], channel: Channel) -> None:
    shown = {live.evidence_id for live in tail}
    for probe in question.probes:
        hits = search(nexus, question.session, probe, threshold=0.0, limit=question.profile.hits + len(shown))
        fresh = [hit for hit in hits["results"] if hit["id"] not in shown and "redacted" not in hit["message"]]
        for hit in fresh[: question.profile.hits]:
            content = hit["message"].get("content")
            text = f"[turn {hit['turn']}, {hit['message'].get('role')}] {content if isinstance(content, str) else ''}"
            provenance = {**source_of(hit["id"], "Evidence"), "turn": hit["turn"], "score": hit["score"]}
            channel.items.append(text_item("search", hit["id"], text, provenance, "relevant"))


_READ: Mapping[str, Callable[["Nexus", Question, Sequence[Live], Channel], None]] = {
    "constraints": _rules,
    "pins": _pins,
    "working_state": _working_state,
    "tail": _tail,
    "capsules": _capsules,
    "search": _search,
}


def units(messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, int]]:
    """The history as `(first, end)` pieces that may be cut apart: calls stay with their results."""
    spans, at = groups(messages), 0
    while at < len(messages):
        end = at + 1
        while (further := max((last + 1 for first, last in spans if at <= first < end), default=end)) > end:
            end = further
        yield at, end
        at = end


def _rows(nexus: "Nexus", name: str, parameters: Mapping[str, Any], channel: Channel | None) -> list[Any]:
    result = found(nexus, name, parameters)
    if result is None:
        return []
    if channel is not None and result.truncated:
        channel.cut = True
    return result.rows


def _said(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message as it goes to a model; of an erased one the slot stays, so that nothing is silently closed up."""
    return {"role": message["role"], "content": "[erased]"} if set(message) == {"role", "redacted"} else message
