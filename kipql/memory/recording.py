"""Recording turns: every message is kept word for word as Evidence, and never changes afterwards.

A turn is one transaction. Recording it again with the same messages changes nothing; with more messages after them,
those are added, and the turn is in the live window (again); with others it is refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.block import Block
from kipql.memory.graph import Reader, ask, rows, session_row
from kipql.memory.messages import INCLUDE, evidence_class, inline, shown, stub
from kipql.memory.names import message_key, session_key, turn_key
from kipql.memory.tokens import Estimate, call_arguments, content_text

if TYPE_CHECKING:
    from kipql import Transaction

PER_STATEMENT = 100

_SESSION = """UPSERT CONCEPT ?session {
    MATCH {type: "kip://profiles/cognitive-memory/Experience", key: :session_key}
    SET ATTRIBUTES {experience_class: "agent_session", goal: :goal, outcome_status: "unknown", last_turn: :last_turn}
    SET STRUCTURAL { ("kip://kipql/agent/has_turn", ?turn)%s }
  }"""
_TURN = """CREATE CONCEPT ?turn {
    TYPE "kip://profiles/cognitive-memory/Event"
    CLIENT KEY :turn_key
    SET FIELDS {key: :turn_key}
    SET ATTRIBUTES {
      event_class: "conversation_turn", session: :session, turn: :turn, summary: :stub, token_count: :tokens,
      in_window: true
    }
  }"""
_GROWN = "UPDATE :turn SET ATTRIBUTES {summary: :summary, token_count: :token_count, in_window: true}"


def record(
    tx: "Transaction", session: str, turn: int, messages: Sequence[dict[str, Any]], at: str, count: Estimate
) -> int:
    """Write what is new of a turn and return how many messages that is.

    Raises ConstraintViolation for a turn below 1, ClientKeyConflict when the turn holds other messages.
    """
    if isinstance(turn, bool) or not isinstance(turn, int) or turn < 1:
        raise kipql.KipError("ConstraintViolation", f"turns are numbered from 1; {turn!r} is no turn")
    identity = _turn_id(tx, session, turn)
    held = 0 if identity is None else _held(tx, session, turn, messages)
    if identity is None:
        identity = _begin(tx, session, turn, messages, count)
    elif held < len(messages):
        sizes = {"summary": stub(turn, messages), "token_count": tokens_of(messages, count)}
        tx.execute(_GROWN, {"turn": identity, **sizes})
    for first in range(held, len(messages), PER_STATEMENT):
        block = _messages(session, turn, identity, messages[first : first + PER_STATEMENT], first, at)
        tx.execute(block.text, block.parameters)
    return max(0, len(messages) - held)


def tokens_of(messages: Sequence[Mapping[str, Any]], count: Estimate) -> int:
    """What the texts and call arguments of messages cost."""
    return sum(count(content_text(message) + call_arguments(message)) for message in messages)


def turns_of(messages: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """A history divided into turns: each begins with a user message; what comes before the first belongs to it."""
    turn: list[dict[str, Any]] = []
    asked = False
    for message in messages:
        if message["role"] == "user" and asked:
            yield turn
            turn, asked = [], False
        turn.append(message)
        asked = asked or message["role"] == "user"
    if turn:
        yield turn


def _turn_id(reader: Reader, session: str, turn: int) -> str | None:
    found = ask(reader, "turn_size", {"turn_key": turn_key(session, turn)}).rows
    return found[0][0] if found else None


def _held(reader: Reader, session: str, turn: int, messages: Sequence[dict[str, Any]]) -> int:
    """How many of the messages the turn holds already. Raises ClientKeyConflict when they are others."""
    found = rows(reader, "recall_turn", {"turn_key": turn_key(session, turn), "classes": list(INCLUDE["all"])})
    same = all(_same(shown(row[1], row[2]), messages[row[0]]) for row in found if row[0] < len(messages))
    if not same or len(found) > len(messages) > 0:
        raise kipql.KipError(
            "ClientKeyConflict",
            f"turn {turn} of session {session!r} holds other messages",
            hint="record the same messages again, more after them, or another turn",
        )
    return len(found)


def _same(held: dict[str, Any], given: dict[str, Any]) -> bool:
    return bool(held.get("redacted")) or held == given


def _begin(tx: "Transaction", session: str, turn: int, messages: Sequence[dict[str, Any]], count: Estimate) -> str:
    """Make the Event of a turn in its place among the turns of the session, and return its id."""
    last = session_row(tx, session).last_turn
    block = Block(
        session_key=session_key(session),
        session=session,
        goal=f"not stated; session {session}",
        last_turn=max(last, turn),
        turn_key=turn_key(session, turn),
        turn=turn,
        stub=stub(turn, messages),
        tokens=tokens_of(messages, count),
    )
    place = ""
    if turn < last:
        place = " {index: :place}"
        block.parameters["place"] = ask(tx, "turns_before", {"session": session, "turn": turn}).scalar()
    block.add(_TURN)
    block.add(_SESSION % place)
    receipt = tx.execute(block.text, block.parameters)
    assert isinstance(receipt, kipql.Receipt)
    return receipt.handles["turn"]


def _messages(session: str, turn: int, identity: str, messages: Sequence[dict[str, Any]], first: int, at: str) -> Block:
    """The statement that adds messages to a turn, from index `first` on."""
    block, entries = Block(turn=identity, at=at), []
    for offset, message in enumerate(messages):
        block.add(
            f"CREATE EVIDENCE ?m{offset} {{ CLIENT KEY :k{offset} "
            f"SET FIELDS {{evidence_class: :c{offset}, payload: :p{offset}, observed_at: :at}} }}",
            **{
                f"k{offset}": message_key(session, turn, first + offset),
                f"c{offset}": evidence_class(message),
                f"p{offset}": inline(message),
            },
        )
        entries.append(f'("kip://kipql/agent/has_message", ?m{offset})')
    block.add(f"UPDATE :turn SET STRUCTURAL {{ {' '.join(entries)} }}")
    return block
