"""A conversation file read and checked as a whole, before anything is written.

The file is one JSON object: `speaker_a`, `speaker_b`, `session_<n>` (a list of messages, each with `dia_id`
and `speaker`), `session_<n>_date_time`, and `events_session_<n>` (lists of event sentences by person, and a
`date`). Everything else in it is left alone and counted.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kipql.errors import KipError
from kipql.importers.dates import When, load_zone, read_when
from kipql.values import Json, check_json

_SESSION = re.compile(r"session_([1-9]\d{0,8})", re.ASCII)
_DATE = re.compile(r"session_([1-9]\d{0,8})_date_time", re.ASCII)
_EVENTS = re.compile(r"events_session_([1-9]\d{0,8})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Message:
    """One message; `payload` is the object of the file, unchanged."""

    dia_id: str
    speaker: str
    payload: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Listed:
    """One listed event and everybody it is listed for."""

    summary: str
    people: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """The listed events of a session; `payload` is the object of the file, unchanged."""

    payload: Mapping[str, Json]
    when: When | None
    events: tuple[Listed, ...]


@dataclass(frozen=True, slots=True)
class Session:
    """One dated session; `when` and `listing` are None where the file has none."""

    number: int
    when: When | None
    messages: tuple[Message, ...]
    listing: Listing | None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A whole file. `people` are speakers and everybody listed, in order of appearance."""

    stem: str
    people: tuple[str, ...]
    sessions: tuple[Session, ...]
    left_out: tuple[str, ...]

    @property
    def message_count(self) -> int:
        """The messages of all sessions."""
        return sum(len(session.messages) for session in self.sessions)


def read_conversation(path: str | Path, zone: str) -> Conversation:
    """A conversation from a file.

    path  a JSON file in UTF-8; its stem names the conversation
    zone  the IANA name of the zone in which the session dates are to be read

    Raises ArtifactUnavailable for a file that can not be read, ArtifactParseError (its message names the
    member) for what is not such a conversation, ConstraintViolation for an unknown zone or an illegal number.
    """
    load_zone(zone)
    path = Path(path)
    try:
        value = _load(path)
        return _conversation(path.stem, value, zone)
    except KipError as error:
        raise KipError(error.code, f"{path}: {error.message}", hint=error.hint, details=error.details) from None


def _load(path: Path) -> Mapping[str, Json]:
    try:
        value = json.loads(path.read_bytes(), object_pairs_hook=_distinct)
    except OSError as error:
        raise KipError("ArtifactUnavailable", error.strerror or "can not be read") from None
    except json.JSONDecodeError as error:
        raise _bad(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise _bad("nested too deep" if isinstance(error, RecursionError) else f"not UTF-8: {error}") from None
    if not isinstance(value, dict):
        raise _bad("a conversation is one JSON object")
    checked: dict[str, Json] = check_json(value)
    return checked


def _distinct(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        raise _bad(f"{next(name for name in names if names.count(name) > 1)!r} is given twice in one object")
    return value


def _conversation(stem: str, value: Mapping[str, Json], zone: str) -> Conversation:
    numbers = sorted(int(match[1]) for name in value if (match := _SESSION.fullmatch(name)))
    listed = sorted(int(match[1]) for name in value if (match := _EVENTS.fullmatch(name)))
    if not numbers:
        raise _bad("there is no session in it", hint="sessions are members named session_1, session_2, ...")
    if orphans := sorted(set(listed) - set(numbers)):
        raise _bad(f"events_session_{orphans[0]} has no session_{orphans[0]}")
    sessions = tuple(_session(number, value, zone) for number in numbers)
    _check_ids(sessions)
    return Conversation(stem, _people(value, sessions), sessions, _left_out(value))


def _session(number: int, value: Mapping[str, Json], zone: str) -> Session:
    name = f"session_{number}"
    messages = value[name]
    if not isinstance(messages, list):
        raise _bad(f"{name} is not a list of messages")
    when = value.get(f"{name}_date_time")
    listing = value.get(f"events_{name}")
    return Session(
        number,
        None if when is None else read_when(when, zone, f"{name}_date_time"),
        tuple(_message(message, f"{name}[{index}]") for index, message in enumerate(messages)),
        None if listing is None else _listing(listing, zone, f"events_{name}"),
    )


def _message(value: Json, what: str) -> Message:
    if not isinstance(value, dict):
        raise _bad(f"{what} is not a message object")
    for name in ("dia_id", "speaker"):
        if not isinstance(value.get(name), str) or not value[name]:
            raise _bad(f"{what} has no {name}")
    return Message(value["dia_id"], value["speaker"], value)


def _listing(value: Json, zone: str, what: str) -> Listing:
    if not isinstance(value, dict):
        raise _bad(f"{what} is not an object of lists")
    people: dict[str, list[str]] = {}
    for name, sentences in value.items():
        if name == "date":
            continue
        if not isinstance(sentences, list) or not all(isinstance(item, str) for item in sentences):
            raise _bad(f"{what}.{name} is not a list of sentences")
        for sentence in filter(str.strip, sentences):  # a blank one lists nothing
            listed = people.setdefault(sentence, [])
            if name not in listed:
                listed.append(name)
    date = value.get("date")
    events = tuple(Listed(sentence, tuple(names)) for sentence, names in people.items())
    return Listing(value, None if date is None else read_when(date, zone, f"{what}.date"), events)


def _check_ids(sessions: tuple[Session, ...]) -> None:
    seen: set[str] = set()
    for session in sessions:
        for message in session.messages:
            if message.dia_id in seen:
                raise _bad(f"two messages have the dia_id {message.dia_id!r}")
            seen.add(message.dia_id)


def _people(value: Mapping[str, Json], sessions: tuple[Session, ...]) -> tuple[str, ...]:
    """Everybody, each once: the two speakers, who else speaks, who else has events."""
    names: list[str] = []
    for member in ("speaker_a", "speaker_b"):
        name = value.get(member)
        if name is not None and (not isinstance(name, str) or not name):
            raise _bad(f"{member} is not a name")
        names += [name] if name else []
    for session in sessions:
        names += [message.speaker for message in session.messages]
        names += [name for event in (session.listing.events if session.listing else ()) for name in event.people]
    return tuple(dict.fromkeys(names))


def _left_out(value: Mapping[str, Json]) -> tuple[str, ...]:
    """Members that are not imported: what is no part of the shape, and dates of sessions that are not there."""
    return tuple(name for name in value if not _taken(name, value))


def _taken(name: str, value: Mapping[str, Json]) -> bool:
    if name in ("speaker_a", "speaker_b") or _SESSION.fullmatch(name) or _EVENTS.fullmatch(name):
        return True
    match = _DATE.fullmatch(name)
    return match is not None and f"session_{match[1]}" in value


def _bad(message: str, hint: str | None = None) -> KipError:
    return KipError("ArtifactParseError", message, hint=hint)
