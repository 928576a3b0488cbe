"""Sources: what a host captured before anybody makes something of it (§3).

A `source_ref` is a handle of the host: staged with `MemoryInterface.stage`, found by the host's resolver, or the id of
Evidence that is there already. The host says who speaks and in which role; no request can.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.graph import checked_timestamp

if TYPE_CHECKING:
    from kipql.memory.graph import Reader

CLASSES: Mapping[str, str] = {
    "user": "user_statement",
    "agent": "agent_statement",
    "tool": "tool_result",
    "document": "document",
    "message": "message",
    "instrument": "outcome",
}
"""The role of a source as the host attests it -> the evidence class it is captured in."""

_ROLES = {name: role for role, name in CLASSES.items()}
OWN = "kipql:"
"""What the classes of a binding's own Evidence begin with: never served as a source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """An immutable source, as the host captured it.

    ref          the handle that requests cite
    content      the exact text, or a JSON value
    role         "user", "agent", "tool", "document", "message" (nobody's in particular) or "instrument"
    speaker      the key or id of the Person who speaks, None where that is not known
    observed_at  when it was said, as a protocol timestamp
    stream, ordinal, after   its place in a stream, and the `source_ref`s that have to be settled before it (§5.1)
    """

    ref: str
    content: Any
    role: str = "user"
    speaker: str | None = None
    observed_at: str | None = None
    stream: str | None = None
    ordinal: int | None = None
    after: tuple[str, ...] = ()

    @property
    def client_key(self) -> str:
        """The client key of its Evidence: one source is captured once."""
        return source_key(self.ref)


Sources = Callable[[str], Source | None]
Admission = Callable[[Source], str | None]
"""Why a source may not be kept, or None. Asked before anything of it is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """A source on the graph."""

    id: str
    role: str
    ref: str
    payload: Any
    observed_at: str | None
    speaker: str | None

    @property
    def content(self) -> Any:
        """Its content, None where that was erased."""
        return self.payload.get("inline") if isinstance(self.payload, Mapping) else None

    @property
    def held(self) -> bool:
        """Whether the content is still there."""
        return isinstance(self.payload, Mapping) and self.payload.get("mode") == "inline"


def check(source: Any) -> Source:
    """A Source that can be captured. Raises TypeMismatch or ConstraintViolation: the host got it wrong."""
    if not isinstance(source, Source):
        raise kipql.KipError(
            "TypeMismatch", f"a source is a kipql.memory.interface.Source, not {type(source).__name__}"
        )
    if not isinstance(source.ref, str) or not 0 < len(source.ref) <= 1024:
        raise kipql.KipError("ConstraintViolation", "the ref of a source has 1 to 1,024 characters")
    if source.role not in CLASSES:
        raise kipql.KipError("ConstraintViolation", f"{source.role!r} is no role of a source", hint=", ".join(CLASSES))
    if source.observed_at is not None:
        if not isinstance(source.observed_at, str):
            raise kipql.KipError("TypeMismatch", "`observed_at` of a source is a timestamp as text, in UTC")
        checked_timestamp(source.observed_at, "observed_at")
    if source.speaker is not None and (not isinstance(source.speaker, str) or not source.speaker):
        raise kipql.KipError("TypeMismatch", "`speaker` of a source is the key or id of a Person")
    if not isinstance(source.after, tuple) or not all(isinstance(each, str) for each in source.after):
        raise kipql.KipError("TypeMismatch", "`after` of a source is a tuple of source refs")
    try:
        json.dumps(source.content, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise kipql.KipError("TypeMismatch", "the content of a source is a text or a JSON value") from None
    return source


def source_key(ref: str) -> str:
    return f"kip_memory:source:{ref}"


def digest(*parts: Any) -> str:
    """A sha256 over JSON values, in one canonical form."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


_CAPTURED = """FIND(?e.id, ?e.evidence_class, ?e.client_key, ?e.payload, ?e.observed_at) WHERE {
  ?e EVIDENCE {%s: :named}
}"""
_SPEAKER = 'FIND(?s.id) WHERE { ?e EVIDENCE {id: :id} STRUCTURAL (?e, "source", ?s) ?s CONCEPT {} } LIMIT 1'


def captured(reader: "Reader", ref: str) -> Captured | None:
    """The Evidence of a source ref: captured under it, or Evidence by its id. None where there is none to see."""
    for member, named in (("client_key", source_key(ref)), ("id", ref)):
        try:
            rows = reader.query(_CAPTURED % member, {"named": named}).rows
        except kipql.KipError as error:
            if error.code not in ("ReferenceError", "NotFoundOrNotVisible", "InvalidIdentifier", "TypeMismatch"):
                raise
            continue
        if rows and not rows[0][1].startswith(OWN):
            identity, evidence_class, key, payload, observed_at = rows[0]
            speakers = reader.query(_SPEAKER, {"id": identity}).rows
            return Captured(
                id=identity,
                role=_ROLES.get(evidence_class, "message"),
                ref=ref_of(identity, key),
                payload=payload,
                observed_at=observed_at,
                speaker=speakers[0] if speakers else None,
            )
    return None


def ref_of(identity: str, client_key: str | None) -> str:
    """How Evidence is cited: by the host's handle where it was captured under one, else by its id."""
    prefix = source_key("")
    return client_key[len(prefix) :] if client_key and client_key.startswith(prefix) else identity


def speaker_id(tx: "Reader", nexus: Any, speaker: str | None) -> str | None:
    """The Concept of a speaker, made under the key where there is none."""
    if speaker is None:
        return None
    by_id = tx.query("FIND(?c.id) WHERE { ?c CONCEPT {id: :id} }", {"id": speaker}).rows if _id(speaker) else []
    if by_id:
        return str(by_id[0])
    person = "kip://profiles/cognitive-memory/Person"
    found = tx.query(f'FIND(?c.id) WHERE {{ ?c {{type: "{person}", key: :key}} }}', {"key": speaker}).rows
    if found:
        return str(found[0])
    text = f'CREATE CONCEPT ?c {{ TYPE "{person}" NAME :key SET FIELDS {{key: :key}} }}'
    return str(nexus.execute(text, {"key": speaker}).handles["c"])


def _id(text: str) -> bool:
    return text[:2] == "C-" and text[2:].isdecimal()
