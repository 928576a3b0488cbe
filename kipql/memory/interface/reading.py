"""One recall reads one state: a sequence, a world time, a scope and the policy of memory (§6, specification §21.13)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.brief.question import POLICY, question
from kipql.memory.brief.reading import Reading as Recall
from kipql.memory.interface.scopes import FACET, Scope
from kipql.memory.interface.sources import digest

if TYPE_CHECKING:
    from kipql import Nexus, Result

_BASIS = 'FIND(?b.basis) WHERE { ?b BELIEF SLOT ("C-1", "kip://profiles/cognitive-memory/same_as") }'


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The coordinates of a recall; `basis` is the ProjectionBasis that they make."""

    nexus: "Nexus"
    seq: int
    valid_at: str
    scope: Scope
    basis: Mapping[str, Any]

    def find(self, find: str, where: str, parameters: Mapping[str, Any], *, tail: str = "") -> "Result":
        """Run a FIND at this state. `tail` is ORDER BY and LIMIT."""
        text = f"FIND({find}) WHERE {{ {where} }} AS OF SEQ :seq_ FOR TIME :at_ {_EPISTEMIC} {tail}"
        fixed = {"seq_": self.seq, "at_": self.valid_at, "contexts_": list(self.scope.contexts)}
        return self.nexus.query(text, {**parameters, **fixed})

    def brain(self, query: str = "") -> Recall:
        """The same state, time and scope as a Brain reads them, without the claims that are rules of this binding."""
        time = {"as_of_seq": self.seq, "valid_at": self.valid_at}
        scope = {"task_ref": self.scope.task_id, "context_refs": list(self.scope.contexts)}
        return Recall(self.nexus, question(query, time=time, scope=scope, policy=POLICY, heed=()))

    def elements(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Whole elements as the wire has them, at this state; what may not be seen is left out."""
        operations = [
            {"command": f"FIND(?x) WHERE {{ ?x {_NAMED[each[0]]} }} AS OF SEQ {self.seq}", "parameters": {"id": each}}
            for each in ids
        ]
        found: list[dict[str, Any]] = []
        for operation in operations:
            reply: Any = self.nexus.request({"kip": "2.0", "operations": [operation]})
            results = reply.get("results") or [{}]
            found += [each for each in results[0].get("result") or () if isinstance(each, dict)]
        return found

    def plan(self, name: str, *, exact: bool, reason: str | None) -> dict[str, Any]:
        """The RecallPlan of a channel: how it was read, up to where, and why it is not complete (Profile §20.2)."""
        return {
            "selector": {"artifact_ref": f"kipql:memory:{name}", "content_digest": digest(name, self.scope.contexts)},
            "scope": {"task_ref": self.scope.task_id, "context_refs": list(self.scope.contexts)},
            "method": "exact" if exact else "approximate",
            "snapshot_seq": self.seq,
            "index_seq": None if exact else self.seq,
            "covered_through_seq": self.seq,
            "authorization_view": self.basis["authorization_view"],
            "complete": reason is None,
            "truncation_reason": reason,
        }


_EPISTEMIC = f'WITH EPISTEMIC {{policy: "{POLICY}", context_refs: :contexts_}}'
_NAMED = {
    "C": "CONCEPT {id: :id}", "P": "(id: :id)", "A": "ASSERTION {id: :id}", "E": "EVIDENCE {id: :id}",
    "X": "ACTIVITY {id: :id}",
}  # fmt: skip


def reading(nexus: "Nexus", scope: Scope, seq: int | None, valid_at: str | None) -> Reading:
    """A reading at a sequence (default: now) and a world time (default: now).

    Raises HistoricalSnapshotUnavailable for a sequence that is not there, ConstraintViolation for a time that is none.
    """
    head = nexus.space_seq if seq is None else seq
    at = "" if valid_at is None else " FOR TIME :at"
    text = f"{_BASIS} AS OF SEQ {head}{at} {_EPISTEMIC}"
    basis = nexus.query(text, {"at": valid_at, "contexts_": list(scope.contexts)}).scalar()
    if not isinstance(basis, Mapping):
        raise kipql.KipError("ProjectionPolicyUnavailable", "there is no basis to recall on here")
    return Reading(nexus=nexus, seq=head, valid_at=basis["valid_at"], scope=scope, basis=dict(basis))


__all__ = ["FACET", "POLICY", "Reading", "reading"]
