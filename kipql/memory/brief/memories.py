"""Events, Experiences, lessons and commitments: what was lived through and what is owed.

They are ranked by relevance, then salience, then effective strength. Commitments are not: what is owed is owed, however
faint the memory of it. What came with an import, or was lived through by somebody else, is not told as one's own.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kipql.memory.brief.items import Channel, Plain, Warned, best_first, in_scope, provenance, ranks
from kipql.memory.brief.naming import Subject
from kipql.memory.brief.reading import Found, Reading

ALL_WORDS = 0.7 / 1.9
CONFIDENT = 0.5
"""The share of a question's words from which on a match counts as one; what a limit cuts below it is no gap."""


def share(score: float | None) -> float | None:
    """A keyword score as the share of the text that was found (docs/search.md, Ranking)."""
    return None if score is None else round(min(1.0, score / ALL_WORDS), 6)


def cut(found: Found, *, strict: bool = False) -> bool:
    """Whether a limit left out what a question may be about."""
    if not found.truncated or not found.rows:
        return found.truncated
    return strict or (share(found.rows[-1][-1]) or 0) >= CONFIDENT


def events(reading: Reading, found: Found, of: Found | None) -> Channel:
    """Events that match, then those that involve the subject."""
    channel = Channel("events")
    rows = [(*row[:11], share(row[11])) for row in found.rows] + [(*row, None) for row in (of.rows if of else ())]
    seen: dict[str, Plain] = {}
    for row in rows:
        identity, key, summary, kind, outcome, at, validity, imported, salience, strength, task, relevance = row
        if identity in seen or not in_scope(task, reading.asked.scope.task_ref):
            continue
        item = {"ref": identity, "key": key, "role": "event", "text": summary, "class": kind, "outcome": outcome}
        item |= {"at": at, "relevance": relevance, **ranks(salience, strength)}
        label = str(summary)
        seen[identity] = provenance(item, validity, imported, channel.warnings, what="an Event", label=label)
    channel.items = best_first(list(seen.values()))
    _extent(channel, [found, *([of] if of else [])], cut(found) or bool(of and of.truncated))
    return channel


def experiences(reading: Reading, found: Found, owner: str | None, *, critical: bool = False) -> Channel:
    """Experiences as items; `owner` is whose memory this is. Of critical ones everything that was cut is a gap."""
    channel = Channel("failures" if critical else "experiences")
    for row in found.rows:
        identity, key, goal, outcome, ended, began, who, who_name, *rest = row
        validity, imported, salience, strength, task, score = rest
        if not in_scope(task, reading.asked.scope.task_ref):
            continue
        own = imported is None and (who is None or owner is None or who == owner)
        text = f"{goal}: {outcome}" + (f", {ended}" if ended else "")
        text = text if own else f"not this memory's own experience ({who_name or who or 'imported'}): {text}"
        item = {
            "ref": identity,
            "key": key,
            "role": "experience",
            "text": text,
            "outcome": outcome,
            "goal": goal,
            "summary": ended,
        }
        item |= {"initial_state": began, "experienced_by": who, "own": own, "relevance": share(score)}
        item |= ranks(salience, strength)
        label = str(goal)
        provenance(item, validity, imported, channel.warnings, what="an Experience", label=label)
        channel.items.append(item)
    channel.items = best_first(channel.items)
    _extent(channel, [found], cut(found, strict=critical))
    return channel


def steps(reading: Reading, experience: str) -> list[Plain]:
    """The steps of an Experience in order; the order says nothing about causes."""
    found = reading.ask("steps", experience=experience, limit=200)
    names = ("index", "ref", "kind", "text", "result", "decision")
    return [dict(zip(names, row, strict=True)) for row in found.rows]


def insights(reading: Reading, found: Found) -> Channel:
    """Lessons as items."""
    channel = Channel("insights")
    for row in found.rows:
        identity, key, summary, validity, imported, salience, strength, task, score = row
        if in_scope(task, reading.asked.scope.task_ref):
            item = {"ref": identity, "key": key, "role": "lesson", "text": summary, "relevance": share(score)}
            item |= ranks(salience, strength)
            provenance(item, validity, imported, channel.warnings, what="a lesson", label=str(summary))
            channel.items.append(item)
    channel.items = best_first(channel.items)
    _extent(channel, [found], cut(found))
    return channel


def commitments(reading: Reading, found: Found, subject: Subject | None = None) -> Channel:
    """What is owed, the nearest due first; with a subject, what it owes or is owed."""
    channel = Channel("commitments")
    seen: dict[str, Plain] = {}
    for row in found.rows:
        identity, key, summary, status, due, priority, by, by_name, to, to_name, validity, imported, task = row
        if not in_scope(task, reading.asked.scope.task_ref):
            continue
        item = seen.get(identity)
        if item is None:
            overdue = due is not None and due < reading.when
            item = {"ref": identity, "key": key, "role": "commitment", "text": summary, "status": status}
            item |= {"due_at": due, "overdue": overdue, "priority": priority, "by": by, "by_name": by_name, "to": []}
            label = str(summary)
            seen[identity] = provenance(item, validity, imported, channel.warnings, what="a commitment", label=label)
            if overdue:
                channel.warnings.append(Warned("warning", "overdue", f"overdue since {due}: {summary}", (identity,)))
        if to is not None:
            item["to"].append({"ref": to, "name": to_name})
    channel.items = [item for item in seen.values() if subject is None or subject.id is None or _party(item, subject)]
    _extent(channel, [found], found.truncated)
    return channel


def _party(item: Mapping[str, Any], subject: Subject) -> bool:
    return subject.id == item["by"] or any(to["ref"] == subject.id for to in item["to"])


def _extent(channel: Channel, reads: Sequence[Found], truncated: bool) -> None:
    channel.completed = all(found.error is None for found in reads)
    channel.truncated = truncated
