"""The channels of an assembly: what could stand in a prompt, each item with where it comes from, best first.

A channel reads and ranks; whether an item fits is decided in `kipql.memory.assembly`. The tail of the conversation
is the one channel whose items have several messages: a call and its results are one item.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kipql.memory.graph import found, session_row
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
_APART = frozenset(
    ("Event", "Experience", "Pin", "WorkingState", "Commitment", "Skill", "SkillRevision", "CanonArticle")
)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is shown whole or not at all."""

    channel: str
    key: str
    messages: tuple[Mapping[str, Any], ...]
    provenance: Mapping[str, Any]
    reason: str
    warning: str | None = None


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
    for name in CHANNELS:
        channel = Channel(name, [])
        _READ[name](nexus, question, tail, channel)
        seen: dict[str, Item] = {}
        for item in channel.items:
            seen.setdefault(item.key, item)
        channel.items = list(seen.values())
        yield channel


def _constraints(nexus: "Nexus", question: Question, tail: Sequence[Live], channel: Channel) -> None:
    for identity, key, summary, status, due in _rows(nexus, "open_commitments", {}, channel):
        text = f"[commitment, {status}{f', due {due}' if due else ''}] {summary}"
        channel.items.append(_text("constraints", key or identity, text, _from(identity, "Commitment"), "required"))
    for probe in question.probes:
        for identity, key, address, capsule, body in _rows(nexus, "rules_matching", {"text": probe}, channel):
            text = f"[rule {address}] {capsule or body or ''}"
            channel.items.append(
                _text("constraints", key or identity, text, _from(identity, "CanonArticle"), "required")
            )


def _pins(nexus: "Nexus", question: Question, tail: Sequence[Live], channel: Channel) -> None:
    for pin in pins(nexus, question.session):
        provenance = {**_from(pin.id, "Pin"), "turn": pin.created_turn, "sha256": pin.content_sha256}
        channel.items.append(_text("pins", pin.pin_id, pin.text, provenance, "pinned"))


def _working_state(nexus: "Nexus", question: Question, tail: Sequence[Live], channel: Channel) -> None:
    state = read_state(nexus, question.session)
    if state is None or not state.in_window:
        return
    provenance = {**_from(state.id, "WorkingState"), "basis_seq": state.basis_seq, "through_turn": state.through_turn}
    text = f"[summary of earlier turns]\n{state.summary}"
    channel.items.append(_text("working_state", state.id, text, provenance, "summary"))


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


def _warnings(nexus: "Nexus", question: Question, tail: Sequence[Live], channel: Channel) -> None:
    _experiences_with(nexus, question, channel, ["failure", "aborted"], "failed experience")
    for probe in question.probes:
        asked = {"text": probe, "standings": ["revoked"], "limit": question.profile.skills}
        for identity, key, name, summary, _ in _rows(nexus, "skills_matching", asked, channel):
            text = f"[revoked skill, do not use] {name or key or identity}: {summary}"
            channel.items.append(_text("warnings", key or identity, text, _from(identity, "Skill"), "revoked"))


def _beliefs(nexus: "Nexus", question: Question, tail: Sequence[Live], channel: Channel) -> None:
    accepted: list[Item] = []
    others: list[Item] = []
    for subject, name in _subjects(nexus, question, channel):
        asked = {"subject": subject, "limit": question.profile.beliefs}
        for row in _rows(nexus, "beliefs_about", asked, channel):
            (accepted if row[4] == "accepted" else others).append(_belief(name, row))
    channel.items += [*accepted, *others]


def _belief(name: str, row: Sequence[Any]) -> Item:
    identity, predicate, target, target_name, status, validity = row
    words = predicate.rsplit("/", 1)[-1].replace("_", " ")
    said = target if isinstance(target, str) else target_name or (target.get("key") or target.get("id"))
    stale = "" if validity in (None, "current") else f", {validity}"
    text = f"[{status}{stale}] {name} {words} {said}"
    warning = f"contested: {name} {words} {said}" if status == "contested" else None
    if stale:
        warning = f"what this rests on changed ({validity}): {name} {words} {said}"
    provenance = {**_from(identity, "Proposition"), "status": status, "dependency_validity": validity}
    return _text("beliefs", identity, text, provenance, status, warning)


def _experiences(nexus: "Nexus", question: Question, tail: Sequence[Live], channel: Channel) -> None:
    _experiences_with(nexus, question, channel, ["success", "partial"], "experience")


def _skills(nexus: "Nexus", question: Question, tail: Sequence[Live], channel: Channel) -> None:
    for standing in ("adopted", "trialed", "proposed"):
        for probe in question.probes:
            asked = {"text": probe, "standings": [standing], "limit": question.profile.skills}
            for identity, key, name, summary, _ in _rows(nexus, "skills_matching", asked, channel):
                mark = standing if standing == "adopted" else f"{standing}, unproven"
                text = f"[skill, {mark}] {name or key or identity}: {summary}"
                channel.items.append(_text("skills", key or identity, text, _from(identity, "Skill"), standing))


def _capsules(nexus: "Nexus", question: Question, tail: Sequence[Live], channel: Channel) -> None:
    for number, capsule in enumerate(question.capsules):
        channel.items.append(_text("capsules", f"capsule:{number}", capsule, {"kind": "host"}, "surfaced"))


def _search(nexus: "Nexus", question: Question, tail: Sequence[Live], channel: Channel) -> None:
    shown = {live.evidence_id for live in tail}
    for probe in question.probes:
        hits = search(nexus, question.session, probe, threshold=0.0, limit=question.profile.hits + len(shown))
        fresh = [hit for hit in hits["results"] if hit["id"] not in shown and "redacted" not in hit["message"]]
        for hit in fresh[: question.profile.hits]:
            content = hit["message"].get("content")
            text = f"[turn {hit['turn']}, {hit['message'].get('role')}] {content if isinstance(content, str) else ''}"
            provenance = {**_from(hit["id"], "Evidence"), "turn": hit["turn"], "score": hit["score"]}
            channel.items.append(_text("search", hit["id"], text, provenance, "relevant"))


_READ: Mapping[str, Callable[["Nexus", Question, Sequence[Live], Channel], None]] = {
    "constraints": _constraints,
    "pins": _pins,
    "working_state": _working_state,
    "tail": _tail,
    "warnings": _warnings,
    "beliefs": _beliefs,
    "experiences": _experiences,
    "skills": _skills,
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


def _experiences_with(nexus: "Nexus", question: Question, channel: Channel, outcomes: list[str], word: str) -> None:
    for probe in question.probes:
        asked = {"text": probe, "outcomes": outcomes, "limit": question.profile.experiences}
        for identity, key, goal, status, outcome in _rows(nexus, "experiences_matching", asked, channel):
            text = f"[{word}, {status}] {goal}" + (f": {outcome}" if outcome else "")
            channel.items.append(_text(channel.name, key or identity, text, _from(identity, "Experience"), status))


def _subjects(nexus: "Nexus", question: Question, channel: Channel) -> Iterator[tuple[str, str]]:
    """What beliefs are read about: this session, and the concepts the topics might mean."""
    if (own := session_row(nexus, question.session).id) is not None:
        yield own, "this session"
    for probe in question.probes:
        asked = {"text": probe, "limit": question.profile.concepts}
        for identity, name, key, schema_ref in _rows(nexus, "concepts_matching", asked, None):
            if schema_ref.rsplit("/", 1)[-1] not in _APART:
                yield identity, name or key or identity


def _rows(nexus: "Nexus", name: str, parameters: Mapping[str, Any], channel: Channel | None) -> list[Any]:
    result = found(nexus, name, parameters)
    if result is None:
        return []
    if channel is not None and result.truncated:
        channel.cut = True
    return result.rows


def _text(
    channel: str, key: str, text: str, provenance: Mapping[str, Any], reason: str, warning: str | None = None
) -> Item:
    return Item(channel, key, ({"role": "system", "content": text},), provenance, reason, warning)


def _said(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message as it goes to a model; of an erased one the slot stays, so that nothing is silently closed up."""
    return {"role": message["role"], "content": "[erased]"} if set(message) == {"role", "redacted"} else message


def _from(identity: str, kind: str) -> dict[str, Any]:
    return {"ids": [identity], "kind": kind}
