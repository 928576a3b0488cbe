"""The reads of one recall: batches of shipped queries, all at one state of the memory and one moment of the world.

Every batch is one request of the read-only memory. A read that fails leaves its channel incomplete and is told; it is
never replaced by a read of something less protected.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.brief.queries import query
from kipql.memory.brief.question import Question
from kipql.memory.graph import now

if TYPE_CHECKING:
    from kipql import Nexus

CANDIDATES = 200
_ABSENT = "SchemaSymbolNotFound"
_REASONS = {"ExecutionTimeout": "deadline", "ResourceExhausted": "budget", "SearchIndexUnavailable": "index_lag"}
_FATAL = ("HistoricalSnapshotUnavailable", "ProjectionPolicyUnavailable", "InvalidRequestEnvelope", "TypeMismatch")


@dataclass(frozen=True, slots=True)
class Ask:
    """One shipped query with its values."""

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """The rows of one read. `error` is the code of one that failed, `truncated` says that a limit left rows out,
    `absent` that its vocabulary is not here, in the engine's words."""

    name: str
    rows: Sequence[Any]
    truncated: bool = False
    error: str | None = None
    message: str = ""
    index_seq: int | None = None
    approximate: bool = False
    cursor: str | None = None
    absent: str = ""

    @property
    def complete(self) -> bool:
        """Whether this is all there is."""
        return self.error is None and not self.truncated

    @property
    def reason(self) -> str | None:
        """Why it is not, in the words of a RecallPlan."""
        if self.complete:
            return None
        return "page_limit" if self.error is None else _REASONS.get(self.error, "unsupported")


class Reading:
    """One recall's view: `seq`, `when` and `basis` are fixed by its first read.

    Raises what the first read raises: HistoricalSnapshotUnavailable, NotAuthorized, ProjectionPolicyUnavailable, ...
    """

    def __init__(self, nexus: "Nexus", asked: Question) -> None:
        self._nexus = nexus.readonly()
        self.asked = asked
        self.batches = 0
        self.gaps: list[str] = []
        self.found: list[Found] = []
        self.bases: list[dict[str, Any]] = []
        self._until = None if asked.budget.deadline_ms is None else time.monotonic() + asked.budget.deadline_ms / 1000
        self.seq = nexus.space_seq if asked.time.as_of_seq is None else asked.time.as_of_seq
        self._values: dict[str, Any] = {
            "seq": self.seq,
            "policy": asked.policy,
            "contexts": list(asked.scope.context_refs),
            "purpose": "recall",
            "candidates": CANDIDATES,
            "limit": asked.budget.items,
        }
        self.basis = self._begin()
        self.when = self._values["when"] = self.basis["valid_at"]

    def _begin(self) -> dict[str, Any]:
        text, valid_at = query("basis"), self.asked.time.valid_at
        if valid_at is not None:
            text = text.replace("AS OF SEQ :seq", "AS OF SEQ :seq FOR TIME :when")
            self._values["when"] = valid_at
        self.batches += 1
        try:
            return dict(self._nexus.query(text, self._values).context["basis"])
        except kipql.KipError as error:
            if error.code != "ProjectionNotAuthorized":
                raise
        self.gaps.append("beliefs: not read (ProjectionNotAuthorized); stored claims are not shown in their place")
        return self._without_beliefs(valid_at)

    def _without_beliefs(self, valid_at: str | None) -> dict[str, Any]:
        """The coordinates of a caller who may read, but not have beliefs made."""
        state, access = self._nexus.stats(), self._nexus.query("DESCRIBE ACCESS").one()
        return {
            "space_id": self.space_id,
            "snapshot_seq": self.seq,
            "schema_environment_version": state["schema_environment_version"],
            "identity_version": state["identity_version"],
            "policy": {"id": self.asked.policy, "version": "not read"},
            "trust_version": "not read",
            "authorization_view": access["authorization_view"],
            "context_refs": list(self.asked.scope.context_refs),
            "purpose": self._values["purpose"],
            "risk": "unspecified",
            "valid_at": valid_at or now(),
            "next_invalid_at": None,
        }

    @property
    def space_id(self) -> str:
        """The Space that is read."""
        return self._nexus.space_id

    @property
    def principal_id(self) -> str:
        """Who reads."""
        return self._nexus.principal.id

    def self_id(self) -> str | None:
        """Whose memory this is, where the host said so. Being it is identity, no right."""
        primer = self.meta('DESCRIBE PRIMER MODE "compact"')
        identity = primer.rows[0].get("cognitive_identity", {}).get("self") if primer.rows else None
        return identity.get("id") if isinstance(identity, Mapping) else identity

    def meta(self, text: str, values: Mapping[str, Any] | None = None) -> Found:
        """One META statement."""
        return self._send([("meta", text, dict(values or {}))])[0]

    def ask(self, name: str, **values: Any) -> Found:
        """One shipped query."""
        return self.batch(Ask(name, values))[0]

    def batch(self, *asks: Ask) -> list[Found]:
        """Independent reads as one request."""
        return self._send([(ask.name, query(ask.name), {**self._values, **ask.values}) for ask in asks])

    def _send(self, operations: Sequence[tuple[str, str, dict[str, Any]]]) -> list[Found]:
        if not operations:
            return []
        envelope: dict[str, Any] = {
            "kip": "2.0",
            "operations": [{"command": text, "parameters": values} for _, text, values in operations],
            "execution": {"mode": "independent"},
        }
        if self._until is not None:
            left = int((self._until - time.monotonic()) * 1000)
            if left < 1:
                return [self._note(Found(name, [], error="ExecutionTimeout")) for name, _, _ in operations]
            envelope["options"] = {"deadline_ms": left}
        self.batches += 1
        reply = self._nexus.request(envelope)
        if "results" not in reply:
            raise _raised(reply["error"])
        self.bases += [one["context"]["basis"] for one in reply["results"] if "basis" in one.get("context", {})]
        return [
            self._note(_found(name, text, answer))
            for (name, text, _), answer in zip(operations, reply["results"], strict=True)
        ]

    def _note(self, found: Found) -> Found:
        self.found.append(found)
        if found.error is not None:
            self.gaps.append(f"{found.name.replace('_', ' ')}: not read ({found.error})")
        return found

    def pin_of(self, name: str) -> dict[str, str]:
        """A shipped query as an artifact that a RecallPlan names."""
        digest = hashlib.sha256(query(name).encode()).hexdigest()
        return {"artifact_ref": f"kipql:brief/{name}.kql", "content_digest": f"sha256:{digest}"}


def _found(name: str, text: str, answer: Mapping[str, Any]) -> Found:
    context = answer.get("context", {})
    fuzzy = " SEARCH " in text
    if answer["status"] != "succeeded":
        error = answer["error"]
        if error["code"] == _ABSENT:  # its vocabulary is not here, so nothing can have been written with it
            return Found(name, [], absent=" ".join(filter(None, (error["message"] + ";", error.get("hint")))))
        if error["code"] in _FATAL:
            raise _raised(error)
        return Found(name, [], error=error["code"], message=error["message"], approximate=fuzzy)
    rows = answer["result"]
    rows = rows if isinstance(rows, list) else [rows]
    index = context.get("search", context).get("index_seq")
    if index is not None and index < context["snapshot_seq"]:
        return Found(name, rows, truncated=True, index_seq=index, approximate=True)
    cursor = answer.get("next_cursor")
    return Found(name, rows, cursor is not None, index_seq=index, approximate=fuzzy, cursor=cursor)


def _raised(error: Mapping[str, Any]) -> kipql.KipError:
    return kipql.KipError(
        error["code"], error["message"], hint=error.get("hint", ""), details=dict(error.get("details", {}))
    )
