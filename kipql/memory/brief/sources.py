"""Recorded sources that a question might mean: messages and documents, word for word.

A source shows what was said, not that it is so. Erased and withheld ones are told as such and never rebuilt from
anything else. The answer to a question rarely repeats its words, so what stands beside a match in a conversation takes
a share of its score, the next message more than the one before; and what the subject itself said counts a little more.
The shares were chosen on the conversations of `python -m benchmarks.recall`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kipql.memory.brief.asking import ENOUGH, asked
from kipql.memory.brief.items import SOURCE, Channel, Plain, in_scope, shown
from kipql.memory.brief.memories import CONFIDENT, cut, share
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


def source_asks(reading: Reading) -> list[Ask]:
    """The reads that `sources` takes."""
    text, limit = reading.asked.goal, max(HITS, reading.asked.budget.items)
    found = Ask("source", {"text": text, "limit": limit, "candidates": limit + 1})
    return [found, Ask("source_place", {"text": text, "limit": NEAR})]


def sources(reading: Reading, subject: Subject, found: Found, places: Found) -> Channel:
    """Sources, best first, at most as many as the budget has items."""
    channel, limit = Channel("evidence"), reading.asked.budget.items
    scores = dict(found.rows)
    for identity, more in _beside(reading, scores, places).items():
        scores[identity] = scores.get(identity, 0.0) + more
    held = _texts(reading, scores)
    weights = {
        one.id: scores[one.id] * (OWN if subject.id is not None and one.who == subject.id else 1.0) for one in held
    }
    ranked = sorted(held, key=lambda one: -weights[one.id])
    fitting = [one for one in ranked if in_scope(one.task, reading.asked.scope.task_ref)]
    wanting = asked(reading.asked, subject)
    for one in fitting[:limit]:
        relevance = share(weights[one.id])
        item = source(one.id, one.kind, one.payload, one.at, relevance, remote=one.imported is not None)
        channel.items.append(item | {"by": one.who, "answers": wanting.said(item["text"] or "") >= ENOUGH})
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


def _texts(reading: Reading, scores: Mapping[str, float]) -> list[_Source]:
    """The sources of these ids, the better match first."""
    if not scores:
        return []
    found = {row[0]: _Source(*row) for row in reading.ask("source_text", ids=list(scores)).rows}
    return [found[identity] for identity in scores if identity in found]


def _beside(reading: Reading, scores: Mapping[str, float], places: Found) -> dict[str, float]:
    """What stands beside the matches, with its share of their scores; one read for all of them."""
    shares: dict[tuple[str, int], float] = defaultdict(float)
    for identity, turn, index in places.rows:
        if identity in scores and isinstance(index, int):
            shares[turn, index + 1] += NEXT * scores[identity]
            shares[turn, index - 1] += BEFORE * scores[identity]
    if not shares:
        return {}
    turns, indexes = zip(*shares, strict=True)
    found = reading.ask("source_beside", turns=list(dict.fromkeys(turns)), indexes=list(dict.fromkeys(indexes)))
    return {row[2]: shares[row[0], row[1]] for row in found.rows if (row[0], row[1]) in shares}


def matching(items: Sequence[Plain]) -> list[Plain]:
    """The sources that speak of what is asked, and those that SEARCH or their place finds likely."""
    return [item for item in items if item["answers"] or (item["relevance"] or 0) >= CONFIDENT]
