"""Pins: texts an agent keeps in view under a hard budget. Nothing is ever evicted, cut or unpinned for it.

A text's identity is the SHA-256 of its UTF-8, nothing trimmed. While a pin of a text is in effect, pinning it again
answers that pin; once it expired or was removed, a fresh one is made. Only pins in effect count against the budget.
"""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kipql.memory.answers import Pin, PinResult, UnpinResult
from kipql.memory.graph import Row, now, rows, session_row
from kipql.memory.messages import inline, inline_text
from kipql.memory.names import pin_digest, pin_key, session_key
from kipql.memory.queries import query
from kipql.memory.tokens import Estimate

if TYPE_CHECKING:
    from kipql import Nexus, Transaction

SHORTEST_ID = 8
UNKNOWN = "unknown pin_id (already removed or never existed)"
_SHORTER = "unpin something, pin a shorter text, or record the facts as claims instead"
_LATER = "give a turn that is still to come, or none"


def pin(
    nexus: "Nexus", session: str, content: str, label: str | None, until_turn: int | None, cap: int, count: Estimate
) -> PinResult:
    """Pin a text in the session's current turn. Raises KipError where nothing may be written."""
    if not content:
        return refused("empty_content", nexus.space_seq, label, until_turn)
    tokens, sha = count(content), hashlib.sha256(content.encode()).hexdigest()
    with nexus.transaction() as tx:
        turn = session_row(tx, session).last_turn
        known = rows(tx, "pins_of_content", {"session": session, "sha": sha})
        if (held := _in_effect(known, turn)) is not None:
            return PinResult(
                pinned=True,
                pin_id=held[0],
                label=held[1],
                until_turn=held[3],
                already_pinned=True,
                code="ok",
                snapshot_seq=nexus.space_seq,
            )
        if until_turn is not None and until_turn < turn:
            return refused("until_turn_passed", nexus.space_seq, label, until_turn, suggestion=_LATER)
        spent = budget(tx, session, turn)
        if spent + tokens > cap:
            figures = {"current_pin_tokens": spent, "requested_tokens": tokens, "cap": cap, "suggestion": _SHORTER}
            return refused("pin_budget_exceeded", nexus.space_seq, label, until_turn, **figures)
        pin_id = _write(tx, session, content, sha, label, tokens, turn, until_turn, known)
    return PinResult(
        pinned=True,
        pin_id=pin_id,
        label=label,
        until_turn=until_turn,
        already_pinned=False,
        code="ok",
        snapshot_seq=nexus.space_seq,
    )


def unpin(nexus: "Nexus", session: str, pin_id: str) -> UnpinResult:
    """Remove a pin; the element stays, with the turn of it. Raises KipError where nothing may be written."""
    with nexus.transaction() as tx:
        held = rows(tx, "pin_named", {"session": session, "pin_id": pin_id})
        if not held or held[0][1] != "active":
            return UnpinResult(
                unpinned=False, pin_id=pin_id, note=UNKNOWN, code="unknown_pin", snapshot_seq=nexus.space_seq
            )
        tx.execute(query("unpin"), {"pin": held[0][0], "turn": session_row(tx, session).last_turn})
    return UnpinResult(unpinned=True, pin_id=pin_id, note=None, code="ok", snapshot_seq=nexus.space_seq)


def pins(nexus: "Nexus", session: str, turn: int | None = None, as_of_seq: int | None = None) -> list[Pin]:
    """The pins in effect, in the order they were made: now, at a turn, or as the memory stood at a sequence."""
    if as_of_seq is None:
        at = session_row(nexus, session).last_turn if turn is None else turn
        return [_pin(row) for row in rows(nexus, "pins_at_turn", {"session": session, "turn": at})]
    if turn is None:
        last: Sequence[Any] = rows(nexus, "session_as_of", {"session_key": session_key(session), "seq": as_of_seq})
        turn = (last[0] if last else 0) or 0
    return [_pin(row) for row in rows(nexus, "pins_as_of", {"session": session, "turn": turn, "seq": as_of_seq})]


def budget(tx: "Nexus | Transaction", session: str, turn: int) -> int:
    """The tokens of the pins in effect."""
    found = rows(tx, "pin_budget", {"session": session, "turn": turn})
    return (found[0][0] if found else 0) or 0


def refused(reason: str, seq: int, label: str | None, until_turn: int | None, **figures: Any) -> PinResult:
    """A text that was not pinned, and why."""
    return PinResult(
        pinned=False,
        pin_id=None,
        label=label,
        until_turn=until_turn,
        already_pinned=False,
        code=reason,
        snapshot_seq=seq,
        reason=reason,
        **figures,
    )


def _write(
    tx: "Transaction",
    session: str,
    content: str,
    sha: str,
    label: str | None,
    tokens: int,
    turn: int,
    until_turn: int | None,
    known: Sequence[Row],
) -> str:
    """Write a pin and return its short id."""
    nth = sum(row[2] == turn for row in known)
    key = pin_key(session, sha, turn, nth)
    pin_id = _free_id(tx, session, pin_digest(session, sha, turn, nth))
    tx.execute(
        query("pin"),
        {
            "content_key": f"pin:{key}:content",
            "content": inline(content),
            "client_key": f"pin:{key}",
            "pin_key": key,
            "session": session,
            "pin_id": pin_id,
            "sha": sha,
            "label": label,
            "tokens": tokens,
            "turn": turn,
            "until_turn": until_turn,
            "ordinal": rows(tx, "pin_count", {"session": session})[0],
            "now": now(),
        },
    )
    return pin_id


def _free_id(tx: "Transaction", session: str, digest: str) -> str:
    """The shortest id of eight or more digits that no pin of the session has."""
    for length in range(SHORTEST_ID, len(digest)):
        pin_id = f"p_{digest[:length]}"
        if not rows(tx, "pin_named", {"session": session, "pin_id": pin_id}):
            return pin_id
    return f"p_{digest}"


def _in_effect(known: Sequence[Row], turn: int) -> Row | None:
    for row in known:
        if row[4] == "active" and (row[3] is None or row[3] >= turn):
            return row
    return None


def _pin(row: Row) -> Pin:
    identity, pin_id, label, tokens, created, until, removed, sha, payload = row
    return Pin(
        pin_id=pin_id,
        label=label,
        content=inline_text(payload),
        token_count=tokens,
        created_turn=created,
        until_turn=until,
        removed_turn=removed,
        content_sha256=sha,
        id=identity,
    )
