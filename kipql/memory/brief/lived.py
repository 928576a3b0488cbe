"""The modes about what was lived: events, experiences, procedures, failures, what is owed, waking up, the self."""

from collections.abc import Sequence
from typing import Any

from kipql.memory.brief import facts, memories
from kipql.memory.brief.draft import Draft, about
from kipql.memory.brief.items import STALE, Plain, Warned
from kipql.memory.brief.naming import Candidate, Subject
from kipql.memory.brief.reading import Ask, Reading
from kipql.memory.brief.skills import skills
from kipql.memory.brief.wake import changes, working_states


def event(reading: Reading, subject: Subject) -> Draft:
    """What took place?"""
    asks = [Ask("event", {"text": reading.asked.goal})]
    asks += [Ask("event_of", {"subject": subject.id})] if subject.id else []
    found, *of = reading.batch(*asks)
    draft, channel = about(subject, needed=False), memories.events(reading, found, of[0] if of else None)
    draft.show(channel.items, channel, "experiences")
    return draft


def experience(reading: Reading, subject: Subject) -> Draft:
    """What was tried, how did it go, step by step?"""
    draft = Draft()
    channel = memories.experiences(reading, reading.ask("experience", text=reading.asked.goal), reading.self_id())
    if channel.items:
        channel.items[0]["steps"] = memories.steps(reading, channel.items[0]["ref"])
    draft.show(channel.items, channel, "experiences")
    return draft


def procedure(reading: Reading, subject: Subject) -> Draft:
    """How is this done? Proven Skills first, the others as unproven, revoked ones as a warning; what failed beside."""
    asks = [Ask(name, {"text": reading.asked.goal}) for name in ("procedure", "procedure_text", "failure")]
    by_name, by_text, failed = reading.batch(*asks)
    draft, channel = Draft(), skills(reading, by_name, by_text)
    draft.show(channel.items, channel)
    draft.thin = not any(item["validated"] for item in channel.items)
    counter = memories.experiences(reading, failed, None, critical=True)
    draft.opposition = counter.items
    draft.take(counter)
    return draft


def failure(reading: Reading, subject: Subject) -> Draft:
    """What failed before, and which Skills not to use?"""
    asks = [Ask(name, {"text": reading.asked.goal}) for name in ("failure", "procedure", "procedure_text")]
    failed, by_name, by_text = reading.batch(*asks)
    draft, known = Draft(), skills(reading, by_name, by_text)
    channel = memories.experiences(reading, failed, reading.self_id(), critical=True)
    draft.show(channel.items, channel)
    draft.take(known)
    draft.found = draft.found or bool(known.warnings)
    return draft


def wake(reading: Reading, subject: Subject) -> Draft:
    """Where was I, and what changed since?"""
    draft, states = Draft(), working_states(reading)
    draft.show(states.items, states)
    owed = memories.commitments(reading, reading.ask("commitment", limit=200))
    draft.take(owed)
    answer: Plain = {"working_state": None, "since": None, "changes": [], "commitments": owed.items}
    if states.items:
        state = states.items[0]
        since = changes(reading, state["basis_seq"])
        draft.take(since)
        answer |= {"working_state": state, "since": state["basis_seq"], "changes": since.items}
        draft.lines.append(f"{len(since.items)} commits since sequence {state['basis_seq']}")
        draft.thin = not since.completed or since.truncated or state["dependency_validity"] in STALE
    else:
        draft.gaps.append("no working picture was kept for this")
    draft.answer = answer
    draft.lines += [f"owed: {item['text']}" for item in owed.items]
    draft.refs += [item["ref"] for item in owed.items]
    draft.found = draft.found or bool(owed.items)
    return draft


def commitments(reading: Reading, subject: Subject) -> Draft:
    """What is owed?"""
    draft, found = Draft(), reading.ask("commitment", limit=200)
    channel = memories.commitments(reading, found, subject if subject.how in ("named", "given") else None)
    draft.show(channel.items, channel)
    return draft


def own(reading: Reading, subject: Subject) -> Draft:
    """Who am I, as this memory describes it? A description gives no right and binds nobody."""
    draft, identity = Draft(), reading.self_id()
    model, lessons = reading.batch(Ask("self"), Ask("insight", {"text": reading.asked.goal}))
    names = ("summary", "identity_summary", "capabilities", "limitations", "values", "goals")
    for ref, key, *cells in model.rows:
        *told, validity, imported = cells
        item = {"ref": ref, "key": key, "role": "self_model", "text": str(told[0]), "remote": imported is not None}
        item |= dict(zip(names, told, strict=True)) | {
            "governance": False,
            "dependency_validity": validity or "current",
        }
        draft.thin = draft.thin or validity in STALE
        draft.show([item])
    if identity is not None:
        row = reading.ask("entity", subject=identity).rows
        if row:
            known = facts.facts(reading, Subject(_candidate(row[0]), "self"), incoming=False)
            draft.show(facts.accepted(known.items), known, "facts")
    learned = memories.insights(reading, lessons)
    draft.show(learned.items, learned)
    draft.warnings.append(Warned("note", "self_model", "a self-model describes; it is no governance and no right"))
    return draft


def _candidate(row: Sequence[Any]) -> Candidate:
    """A Candidate from a row of `entity.kql`."""
    identity, ref, name, key, aliases = row[:5]
    return Candidate(identity, name, key, tuple(aliases or ()), ref)
