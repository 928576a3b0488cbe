"""Recall: the messages of one turn exactly as they were recorded, or why there are none. It reads, nothing else."""

from typing import TYPE_CHECKING

from kipql.memory.answers import RecallResult
from kipql.memory.graph import found, rows, session_row
from kipql.memory.messages import INCLUDE, shown
from kipql.memory.names import turn_key

if TYPE_CHECKING:
    from kipql import Nexus


def recall(nexus: "Nexus", session: str, turn: int, include: str = "all") -> RecallResult:
    """The messages of a turn. Every failure is an answer with its code:

    InvalidTurn, TurnOutOfRange, TurnEmpty (a gap), TraceUnavailable (an unknown session); Redacted where messages
    are shown as `{role, redacted: true}`.
    """
    seq = nexus.space_seq
    if turn < 1:
        note = f"turn must be 1 or greater (turns are 1-indexed). received: {turn}"
        return _absent(turn, note, "InvalidTurn", seq)
    result = found(nexus, "recall_turn", {"turn_key": turn_key(session, turn), "classes": list(INCLUDE[include])})
    messages = [shown(evidence, payload) for _, evidence, payload in result.rows] if result else []
    seq = result.context["snapshot_seq"] if result else seq
    if messages:
        code = "Redacted" if any(set(message) == {"role", "redacted"} for message in messages) else "ok"
        return RecallResult(turn=turn, found=True, messages=messages, note=None, code=code, snapshot_seq=seq)
    if _size(nexus, session, turn):
        note = f"turn {turn} was recorded and has no message that include={include!r} asks for"
        return RecallResult(turn=turn, found=True, messages=[], note=note, code="ok", snapshot_seq=seq)
    return _missing(nexus, session, turn, seq)


def _missing(nexus: "Nexus", session: str, turn: int, seq: int) -> RecallResult:
    last = session_row(nexus, session).last_turn
    if last == 0:
        note = "trace not available for this run; no history has been recorded yet."
        return _absent(turn, note, "TraceUnavailable", seq)
    if turn > last:
        return _absent(turn, f"turn out of range: {turn}, max={last}", "TurnOutOfRange", seq)
    return _absent(turn, f"no messages recorded for turn {turn}", "TurnEmpty", seq)


def _size(nexus: "Nexus", session: str, turn: int) -> int:
    sizes = rows(nexus, "turn_size", {"turn_key": turn_key(session, turn)})
    return sizes[0][1] if sizes else 0


def _absent(turn: int, note: str, code: str, seq: int) -> RecallResult:
    return RecallResult(turn=turn, found=False, messages=[], note=note, code=code, snapshot_seq=seq)
