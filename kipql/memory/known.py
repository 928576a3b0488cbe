"""What a Brain knows that could stand in a prompt: constraints, failures, beliefs, experiences and skills.

The reads, the judgement of beliefs and standings, and the order are those of `kipql.memory.brief`; here they become
items of an assembly. All of them are of one state of the memory.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kipql.memory.brief.constraints import constraint_asks, constraints
from kipql.memory.brief.facts import facts
from kipql.memory.brief.items import STALE, Channel, Plain
from kipql.memory.brief.memories import commitments, experiences
from kipql.memory.brief.naming import RECORDS, Candidate, Subject, resolve
from kipql.memory.brief.question import question
from kipql.memory.brief.reading import Ask, Reading
from kipql.memory.brief.skills import skills
from kipql.memory.graph import session_row
from kipql.memory.item import Item, source_of, text_item
from kipql.memory.profiles import Profile

if TYPE_CHECKING:
    from kipql import Nexus

_ALWAYS = ("lesson", "heed")
"""Constraints that hold whatever the topic is; the articles of a canon are taken by topic."""


@dataclass(slots=True)
class Known:
    """Items of the channels that a Brain fills. `cut` names those that a limit left further items out of."""

    items: dict[str, list[Item]] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)

    def add(self, name: str, items: Sequence[Item], *read: Channel) -> None:
        """More items of a channel, and whether that is all there is."""
        self.items.setdefault(name, []).extend(items)
        if any(one.truncated or not one.completed for one in read):
            self.cut.add(name)


def read_known(nexus: "Nexus", session: str, probes: Sequence[str], profile: Profile) -> Known:
    """All that is known for a turn of a session: for each probe what it is about, and what always binds."""
    known = Known()
    readings = _readings(nexus, probes, profile)
    first = next(readings)
    _binding(first, known)
    if (own := session_row(nexus, session).id) is not None:
        _believed(first, [Subject(Candidate(own, "this session", None, (), ""), "given")], known)
    for reading in readings:
        _tried(reading, profile, known)
        _believed(reading, _subjects(reading, profile), known)
    return known


def _readings(nexus: "Nexus", probes: Sequence[str], profile: Profile) -> Iterator[Reading]:
    """A reading of what does not depend on a probe, then one a probe; all at one sequence."""
    seq, budget = nexus.space_seq, {"items": profile.beliefs}
    for probe in ("", *probes):
        yield Reading(nexus, question(probe, time={"as_of_seq": seq}, budget=budget))


def _binding(reading: Reading, known: Known) -> None:
    asks = [Ask("commitment", {"limit": 200}), *constraint_asks(reading)]
    owed, *rules = reading.batch(*asks)
    due, channel = commitments(reading, owed), constraints(reading, *rules)
    known.add("constraints", [_commitment(item) for item in due.items], due)
    held = [item for item in channel.items if item["source"] in _ALWAYS]
    known.add("constraints", [_constraint(item) for item in held], channel)
    known.add(
        "warnings", [_warned(one.text, one.refs, one.kind) for one in channel.warnings if one.severity == "critical"]
    )


def _tried(reading: Reading, profile: Profile, known: Known) -> None:
    """What was tried before, and the skills there are for it: failures first among the warnings, revoked skills too."""
    text, few = reading.asked.query, {"limit": profile.experiences}
    some = {"text": text, "limit": profile.skills}
    asks = [Ask("failure", {"text": text, **few}), Ask("success", {"text": text, **few})]
    failed, worked, by_name, by_text = reading.batch(*asks, Ask("procedure", some), Ask("procedure_text", some))
    bad, good = experiences(reading, failed, None), experiences(reading, worked, None)
    able = skills(reading, by_name, by_text)
    bad.truncated, good.truncated = failed.truncated, worked.truncated
    able.truncated = by_name.truncated or by_text.truncated or len(able.items) > profile.skills
    known.add("warnings", [_experience("warnings", item, "failed experience") for item in bad.items], bad)
    revoked = [one for one in able.warnings if one.kind == "revoked_skill"]
    known.add("warnings", [_warned(one.text, one.refs, "revoked", "Skill") for one in revoked])
    known.add("experiences", [_experience("experiences", item, "experience") for item in good.items], good)
    known.add("skills", [_skill(item) for item in able.items[: profile.skills]], able)


def _believed(reading: Reading, subjects: Sequence[Subject], known: Known) -> None:
    for subject in subjects:
        channel = facts(reading, subject, incoming=False)
        shown = [item for item in channel.items if _settles(item)]
        known.add("beliefs", [_belief(item) for item in shown], channel)
    held = known.items.get("beliefs", [])
    held.sort(key=lambda item: item.reason != "accepted")


def _settles(item: Plain) -> bool:
    return item["status"] in ("accepted", "contested") or item["dependency_validity"] in STALE


def _subjects(reading: Reading, profile: Profile) -> list[Subject]:
    """Who the probe names, then what it might mean, at most as many as the profile looks at."""
    found = resolve(reading)
    named = [*([found.chosen] if found.chosen else []), *found.also, *found.others]
    meant = [hit for hit in found.hits if hit.schema_ref.rsplit("/", 1)[-1] not in RECORDS]
    chosen = {one.id: one for one in reversed([*named, *meant])}
    ordered = dict.fromkeys(one.id for one in (*named, *meant))
    return [Subject(chosen[identity], "named", hits=found.hits) for identity in ordered][: profile.concepts]


def _commitment(item: Plain) -> Item:
    due = f", due {item['due_at']}" if item["due_at"] else ""
    text = f"[commitment, {item['status']}{due}] {item['text']}"
    return text_item("constraints", item["key"] or item["ref"], text, source_of(item["ref"], "Commitment"), "required")


def _constraint(item: Plain) -> Item:
    kind = "Insight" if item["source"] == "lesson" else "Proposition"
    text = f"[constraint] {item['text']}"
    return text_item("constraints", item["key"] or item["ref"], text, source_of(item["ref"], kind), "required")


def _warned(text: str, refs: Sequence[str], reason: str, kind: str = "Proposition") -> Item:
    provenance: Mapping[str, Any] = {"ids": list(refs), "kind": kind}
    return text_item("warnings", refs[0] if refs else text, f"[warning] {text}", provenance, reason)


def _experience(channel: str, item: Plain, word: str) -> Item:
    ended = f": {item['summary']}" if item["summary"] else ""
    said = f"{item['goal']}{ended}" if item["own"] else item["text"]
    text = f"[{word}, {item['outcome']}] {said}"
    return text_item(channel, item["key"] or item["ref"], text, source_of(item["ref"], "Experience"), item["outcome"])


def _belief(item: Plain) -> Item:
    status, validity, said = item["status"], item["dependency_validity"], item["text"]
    stale = f", {validity}" if validity in STALE else ""
    warning = f"contested: {said}" if status == "contested" else None
    if stale:
        warning = f"what this rests on changed ({validity}): {said}"
    provenance = {**source_of(item["ref"], "Proposition"), "status": status, "dependency_validity": validity}
    return text_item("beliefs", item["ref"], f"[{status}{stale}] {said}", provenance, status, warning)


def _skill(item: Plain) -> Item:
    mark = item["standing"] if item["validated"] else f"{item['standing']}, unproven"
    said = item["text"].removeprefix(f"unproven ({item['standing']}): ")
    provenance = {**source_of(item["ref"], "Skill"), "standing": item["standing"], "why": item["standing_reason"]}
    text = f"[skill, {mark}] {item['name']}: {said}"
    return text_item("skills", item["key"] or item["ref"], text, provenance, item["standing"])
