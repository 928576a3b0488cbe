"""Searching what was said in a session. A score is relevance, not confidence, and a miss does not mean it never was."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kipql.memory.graph import found
from kipql.memory.messages import shown

if TYPE_CHECKING:
    from kipql import Nexus, Result

CANDIDATES = (200, 2_000, 20_000)
"""How many messages of all sessions are ranked, until those of this one are enough."""
ALL_WORDS = 0.7 / 1.9
"""What SEARCH gives a message of average length that has each word of the query once (docs/search.md, Ranking)."""

_NO_MATCH = "nothing recorded matches with confidence; do not infer that it was or was not said"


def search(nexus: "Nexus", session: str, text: str, *, threshold: float, limit: int) -> dict[str, Any]:
    """`{ok, outcome, results}`: hits at or above the threshold, best first.

    outcome  "found", or "no_confident_match" with a note and no results
    results  `{turn, index, score, message, id}`; a score is 1 for a message with every word of the text, less for
             one with some of them or with much else
    """
    result = _ranked(nexus, session, text, limit) if text.strip() else None
    hits = [_hit(row) for row in result.rows if _share(row[4]) >= threshold] if result else []
    seq = result.context["snapshot_seq"] if result else nexus.space_seq
    if hits:
        return {"ok": True, "outcome": "found", "results": hits, "snapshot_seq": seq}
    return {"ok": True, "outcome": "no_confident_match", "results": [], "note": _NO_MATCH, "snapshot_seq": seq}


def _ranked(nexus: "Nexus", session: str, text: str, limit: int) -> "Result | None":
    for candidates in CANDIDATES:
        asked = {"session": session, "text": text, "candidates": max(candidates, limit), "limit": limit}
        result = found(nexus, "search_messages", asked)
        if result is None or len(result) >= limit:
            break
    return result


def _hit(row: Sequence[Any]) -> dict[str, Any]:
    turn, index, evidence, payload, score, identity = row
    return {"turn": turn, "index": index, "score": _share(score), "message": shown(evidence, payload), "id": identity}


def _share(score: float) -> float:
    """A keyword score as the share of the text that a message has."""
    return round(min(1.0, score / ALL_WORDS), 6)
