"""Recorded sources that a question might mean: messages and documents, word for word.

A source shows what was said, not that it is so. Erased and withheld ones are told as such and never rebuilt from
anything else. The answer to a question rarely repeats its words, so what stands beside a match in a conversation takes
a share of its score, the next message more than the one before; and what the subject itself said counts a little more.
The shares were chosen on the conversations of `python -m benchmarks.recall`.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kipql.memory.brief.items import SOURCE, Channel, Plain, in_scope, shown
from kipql.memory.brief.memories import cut, share
from kipql.memory.brief.naming import Subject
from kipql.memory.brief.reading import Ask, Found, Reading

HITS, NEAR = 50, 10
NEXT, BEFORE, OWN = 0.5, 0.25, 1.25


@dataclass(frozen=True, slots=True)
class _Source:
    id: str
    kind: str
    payload: Any
    at: str | None
    task: str | None
    imported: str | None
    who: str | None
    score: float = 0.0


def source_asks(reading: Reading) -> list[Ask]:
    """The reads that `sources` takes."""
    text, limit = reading.asked.goal, max(HITS, reading.asked.budget.items)
    return [Ask("source", {"text": text, "limit": limit}), Ask("source_place", {"text": text, "limit": NEAR})]


def sources(reading: Reading, subject: Subject, found: Found, places: Found) -> Channel:
    """Sources, best first, at most as many as the budget has items."""
    channel, limit = Channel("evidence"), reading.asked.budget.items
    scored = {row[0]: _Source(*row) for row in reversed(found.rows)}
    beside = _beside(reading, scored, places)
    for one in beside:
        known = scored.get(one.id, one)
        scored[one.id] = replace(known, score=known.score + one.score) if one.id in scored else one
    ranked = sorted(scored.values(), key=lambda one: -_weight(one, subject.id))
    fitting = [one for one in ranked if in_scope(one.task, reading.asked.scope.task_ref)]
    for one in fitting[:limit]:
        relevance = share(_weight(one, subject.id))
        item = source(one.id, one.kind, one.payload, one.at, relevance, remote=one.imported is not None)
        channel.items.append(item | {"by": one.who})
    channel.completed = found.error is None and places.error is None
    over = Found("source", [(row[-1],) for row in found.rows[:limit]], found.truncated or len(found.rows) > limit)
    channel.truncated = cut(over)
    return channel


def source(
    identity: str, kind: str, payload: Any, at: str | None, relevance: float | None, *, remote: bool = False
) -> Plain:
    """One source as an item. It is no belief, so it has no epistemic status."""
    text, redacted = shown(payload)
    item = {"ref": identity, "role": SOURCE, "text": "[erased]" if redacted else text, "class": kind, "at": at}
    return item | {"status": "not_applicable", "redacted": redacted, "remote": remote, "relevance": relevance}


def _weight(one: _Source, subject: str | None) -> float:
    return one.score * (OWN if subject is not None and one.who == subject else 1.0)


def _beside(reading: Reading, scored: dict[str, _Source], places: Found) -> list[_Source]:
    """What stands beside the matches, with its share of their scores; one read for each turn."""
    shares: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for identity, turn, index in places.rows:
        if identity in scored and isinstance(index, int):
            score = scored[identity].score
            shares[turn][index + 1] += NEXT * score
            if index > 0:
                shares[turn][index - 1] += BEFORE * score
    asks = [Ask("source_beside", {"turn": turn, "indexes": list(wanted)}) for turn, wanted in shares.items()]
    found = zip(shares, reading.batch(*asks), strict=True)
    return [replace(_Source(*row[:-1]), score=shares[turn][row[-1]]) for turn, one in found for row in one.rows]


def confident(items: Sequence[Plain], least: float) -> list[Plain]:
    """The items at or above a relevance."""
    return [item for item in items if (item["relevance"] or 0) >= least]
