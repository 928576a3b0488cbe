"""`import chat`: a conversation of dated sessions as Experience, Events, Evidence and claims.

One Experience per conversation (`has_turn` its sessions), one Event per session (`has_message` its messages
in order), one Evidence per message whose payload is the message object itself and whose source is the
speaker. The listed events of a session become Event Concepts; that somebody took part in one is a claim of
the conversation's annotator, with the listing itself as Evidence.

Every element has a key made of the file's stem and its place, so a second run finds everything there and
changes nothing. A conversation is one transaction: a run that fails has written nothing of it.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.importers.conversation import Conversation, Listing, Session, read_conversation
from kipql.importers.dates import When
from kipql.importers.writing import Block, Edge, Handle
from kipql.times import format_bound, format_instant
from kipql.values import Json

if TYPE_CHECKING:
    from kipql import Nexus

PROFILE = "kip://profiles/cognitive-memory"
AGENT = "kip://kipql/agent"
CHAT = "kip://kipql/chat"
PER_BLOCK = 100


@dataclass(frozen=True, slots=True)
class Imported:
    """What one conversation came to. `status` is the transaction's: committed or no_effect."""

    stem: str
    status: str
    sessions: int
    messages: int
    events: int
    claims: int
    left_out: tuple[str, ...]


def chat_package() -> Json:
    """The schema package of the importer, `kip://kipql/chat@1.0.0`."""
    return json.loads(resources.files("kipql.importers").joinpath("chat-1.0.0.json").read_text(encoding="utf-8"))


def import_chat(nexus: "Nexus", path: str | Path, *, zone: str = "UTC") -> Imported:
    """Import one conversation file.

    nexus  a writable memory; the packages `kip://kipql/agent` and `kip://kipql/chat` are installed when missing
    path   a JSON file as `read_conversation` describes it; its stem names the conversation
    zone   IANA name of the zone of the session dates: the caller's decision, kept beside the original text

    Raises what `read_conversation` raises, before anything is written; ReadonlyViolation for a read-only
    memory; ClientKeyConflict when another conversation was imported under this stem.
    """
    return import_conversation(nexus, read_conversation(path, zone))


def import_conversation(nexus: "Nexus", conversation: Conversation) -> Imported:
    """Import a conversation that was read before; see `import_chat`."""
    install(nexus)
    try:
        with nexus.transaction() as transaction:
            for block in blocks(conversation):
                transaction.execute(block.text, block.parameters)
    except KipError as error:
        hint = error.hint
        if error.code == "ClientKeyConflict":
            hint = f"something else was imported under the name {conversation.stem!r}; rename the file"
        raise KipError(error.code, f"{conversation.stem}: {error.message}", hint=hint, details=error.details) from None
    listed = [event for session in conversation.sessions if session.listing for event in session.listing.events]
    return Imported(
        conversation.stem,
        "no_effect" if transaction.receipt is None else transaction.receipt.status,
        len(conversation.sessions),
        conversation.message_count,
        len(listed),
        sum(len(event.people) for event in listed),
        conversation.left_out,
    )


def install(nexus: "Nexus") -> None:
    """Install the two packages that are missing (a host decision: the host asked for the import)."""
    present = {row["package_id"] for row in nexus.query("LIST SCHEMA PACKAGES")}
    wanted = {AGENT: f"{AGENT}@1.0.0", CHAT: chat_package()}
    missing = [package for package_id, package in wanted.items() if package_id not in present]
    if missing:
        nexus.install_packages(missing)


def blocks(conversation: Conversation) -> Iterator[Block]:
    """The statements of one conversation in order; each refers to what came before by key."""
    yield _frame(conversation)
    for turn, session in enumerate(conversation.sessions):
        messages = session.messages
        for first in range(0, max(len(messages), 1), PER_BLOCK):
            yield _session(conversation, session, first)
        if session.listing is not None:
            yield _listing(conversation.stem, session, session.listing)
        yield _turn(conversation, session, turn)


def _frame(conversation: Conversation) -> Block:
    """The people, the annotator and the Experience."""
    stem, block = conversation.stem, Block()
    people = [
        ("involves", block.upsert(f"{PROFILE}/Person", _person_key(stem, name), name, {"display_name": name}))
        for name in conversation.people
    ]
    annotator = {"description": "whoever listed the events of this conversation; not named in the file"}
    block.upsert(f"{PROFILE}/Person", _annotator_key(stem), f"annotator of {stem}", annotator)
    between = " and ".join(conversation.people[:2])
    goal = f"not stated; a conversation between {between}"
    attributes = {"experience_class": "conversation", "goal": goal, "outcome_status": "unknown"}
    block.upsert(f"{PROFILE}/Experience", f"chat:{stem}", f"conversation {stem}", attributes, _fields(people))
    return block


def _session(conversation: Conversation, session: Session, first: int) -> Block:
    """The Event of a session with its messages from `first` on."""
    stem, block = conversation.stem, Block()
    messages = session.messages[first : first + PER_BLOCK]
    edges: list[Edge] = []
    for index, message in enumerate(messages, first):
        handle = block.evidence(
            f"chat:{stem}:{message.dia_id}", "message", message.payload, _person(stem, message.speaker)
        )
        edges.append((f"{AGENT}/has_message", handle, index))
    speakers = dict.fromkeys(message.speaker for message in messages)
    edges += _fields([("involves", _person(stem, name)) for name in speakers])
    between = " and ".join(conversation.people[:2])
    attributes = {
        "event_class": "conversation_session",
        "summary": f"session {session.number} of a conversation between {between}",
        "outcome_status": "unknown",
        "session": session.number,
        **_when("started", session.when),
    }
    block.upsert(f"{PROFILE}/Event", _session_key(stem, session), f"session {session.number}", attributes, edges)
    return block


def _turn(conversation: Conversation, session: Session, index: int) -> Block:
    """The session's place in the Experience."""
    block, event = Block(), _concept("Event", _session_key(conversation.stem, session))
    block.upsert(f"{PROFILE}/Experience", f"chat:{conversation.stem}", None, {}, [(f"{AGENT}/has_turn", event, index)])
    return block


def _listing(stem: str, session: Session, listing: Listing) -> Block:
    """The listed events of a session, and who took part according to the annotator."""
    block, annotator = Block(), _concept("Person", _annotator_key(stem))
    base = f"{_session_key(stem, session)}:events"
    evidence = block.evidence(base, "kipql:event_listing", listing.payload, annotator)
    valid = None if listing.when is None else {"from": format_bound(listing.when.bound)}
    for number, event in enumerate(listing.events, 1):
        attributes = {
            "event_class": "listed_event",
            "summary": event.summary,
            "outcome_status": "unknown",
            **_when("dated", listing.when),
        }
        people = [("involves", _person(stem, name)) for name in event.people]
        handle = block.upsert(f"{PROFILE}/Event", f"{base}:{number}", None, attributes, _fields(people))
        for name in event.people:
            block.claim(
                _person(stem, name),
                f"{CHAT}/took_part_in",
                handle,
                {
                    "by": annotator,
                    "mode": "stated",
                    "evidence": evidence,
                    "valid": valid,
                    "key": f"{base}:{number}:{name}",
                },
            )
    return block


def _when(verb: str, when: When | None) -> dict[str, Json]:
    """A date as attributes: `started_at` for an instant, `started_within` for a bound; the text and the zone."""
    if when is None:
        return {}
    text = {f"{verb}_text": when.text, "timezone": when.zone}
    if when.bound.exact and when.bound.earliest is not None:
        return {f"{verb}_at": format_instant(when.bound.earliest), **text}
    return {f"{verb}_within": format_bound(when.bound), **text}


def _fields(edges: Sequence[tuple[str, Json | Handle]]) -> list[Edge]:
    """Unordered references of the Profile."""
    return [(f"{PROFILE}/{field}", target, None) for field, target in edges]


def _concept(type_name: str, key: str) -> Json:
    return {"type": f"{PROFILE}/{type_name}", "key": key}


def _person_key(stem: str, name: str) -> str:
    return f"chat:{stem}:person:{name}"


def _person(stem: str, name: str) -> Json:
    return _concept("Person", _person_key(stem, name))


def _annotator_key(stem: str) -> str:
    return f"chat:{stem}:annotator"


def _session_key(stem: str, session: Session) -> str:
    return f"chat:{stem}:session:{session.number}"
