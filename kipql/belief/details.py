"""The whole of a plain slot as it reads, from the claims that a quick projection found to hold (`belief.quick`).

Where a slot is plain every claim has one root: its one Evidence, or its actor's own account. So sides, groups and
scores need no graph walk, and the wire objects of `belief.output` are written at once; every one of them belongs to
the caller alone. A property test holds them equal.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kipql.belief.core.candidate import ACCEPTED, CONTESTED, INSUFFICIENT, REJECTED, UNCERTAIN
from kipql.belief.core.policy import SCORE_SEMANTICS
from kipql.belief.quick import Quick, Weighed, candidate_rows
from kipql.model import PREFIXES, element_id
from kipql.store.records import ROLE_MASK, ROLE_SHIFT, ROLES, STANCE_MASK
from kipql.values import Json, canonical_number

if TYPE_CHECKING:
    from kipql.store.view import View

_SUPPORT, _REJECT = 0, 1
_COUNTING = tuple(role in (None, "support") for role in ROLES)

Groups = dict[int, list[int]]
"""Positions in `Quick.standing` by root: the row of their Evidence, or -1 - actor."""


class Details:
    """One slot being written.

    propositions  candidates by object term, with the row of their first Proposition
    scored        whether the policy discloses a score
    basis         of every projection in it; a plain slot is read in no context (`belief.quick`)
    """

    __slots__ = ("_opposed", "_supported", "basis", "functional", "propositions", "quick", "scored", "view")

    def __init__(
        self,
        view: "View",
        propositions: Mapping[int, int],
        quick: Quick | Weighed,
        functional: bool,
        scored: bool,
        basis: dict[str, Any],
    ) -> None:
        self.view = view
        self.quick = quick
        self.functional = functional
        self.scored = scored
        self.basis = basis
        self.propositions = propositions
        supported: dict[int, Groups] = {}
        opposed: dict[int, Groups] = {}
        _, _, _, _, _, standing, rows = quick
        cited = view.graph.assertions.cited
        for at, (_, flags, _, _, actor, term) in enumerate(standing):
            stance = flags & STANCE_MASK
            if stance > _REJECT:
                continue
            root = cited[rows[at]]
            if root < 0 or not _COUNTING[flags >> ROLE_SHIFT & ROLE_MASK]:
                root = -1 - actor
            sides = opposed if stance else supported
            groups = sides.get(term)
            if groups is None:
                sides[term] = {root: [at]}
            else:
                groups.setdefault(root, []).append(at)
        self._supported, self._opposed = supported, opposed

    @classmethod
    def of(
        cls,
        view: "View",
        subject: int,
        lineage: int,
        quick: Quick,
        functional: bool,
        scored: bool,
        basis: dict[str, Any],
    ) -> "Details":
        """The same of a slot whose candidates are still to be found."""
        return cls(view, candidate_rows(view, subject, lineage), quick, functional, scored, basis)

    def slot(self, subject: int, predicate_ref: str) -> dict[str, Json]:
        """Every member of the slot (§47.3)."""
        status, accepted, _, firsts, _, _, _ = self.quick
        view = self.view
        return {
            "status": status,
            "subject": {"id": element_id(subject)},
            "predicate_ref": predicate_ref,
            "accepted_values": [
                {"id": f"{PREFIXES[term & 7]}-{(term >> 3) + 1}"} if term >= 0 else view.literal(term)
                for term in accepted
            ],
            "candidate_projections": [self.candidate(term) for term in self.propositions],
            "uncertainty": {"level": None, "reasons": ["uncertain_stance"] if UNCERTAIN in firsts.values() else []},
            "basis": {**self.basis, "policy": self.basis["policy"].copy(), "context_refs": []},
            "explanation": None,
        }

    def candidate(self, term: object, asked: int | None = None) -> dict[str, Json]:
        """Every member of a candidate, stored or not (§27.2); `asked` is the Proposition that was asked for."""
        whole, _, statuses, firsts, _, _, _ = self.quick
        row = self.propositions.get(term) if asked is None else asked >> 3  # type: ignore[call-overload]
        proposition = None if row is None else f"P-{row + 1}"
        # Nobody shares what a caller may change.
        basis, policy = self.basis, self.basis["policy"]
        one, other = basis.copy(), basis.copy()
        one["policy"], one["context_refs"] = policy.copy(), []
        other["policy"], other["context_refs"] = policy.copy(), []
        first = firsts.get(term)  # type: ignore[call-overload]
        if first is None:
            score, semantics = (0.0, SCORE_SEMANTICS) if self.scored else (None, None)
            return {
                "status": INSUFFICIENT,
                "candidate_status": INSUFFICIENT,
                "slot_status": whole,
                "leading": "none",
                "proposition_id": proposition,
                "conflict_refs": [],
                "conflict_reasons": [],
                "support": {"score": score, "score_semantics": semantics, "assertion_ids": [], "root_groups": []},
                "opposition": {"score": score, "score_semantics": semantics, "assertion_ids": [], "root_groups": []},
                "uncertainty": {"level": None, "reasons": []},
                "precedence": None,
                "dependency_validity": {"status": "current", "action_eligible": True, "reasons": [], "basis": one},
                "basis": other,
                "explanation": None,
            }
        assert isinstance(term, int)
        status = statuses[term]
        supported, opposed = self._supported.get(term), self._opposed.get(term)
        rivals: list[int] = []
        if self.functional and supported is not None and len(self._supported) > 1:
            rivals = [each for each in self.propositions if each != term and each in self._supported]
        conflict = ["direct_stance"] if first == CONTESTED else []
        if rivals:
            conflict.append("functional_value")
        return {
            "status": status,
            "candidate_status": first,
            "slot_status": whole,
            "leading": self._leading(supported, opposed, rivals) if status == CONTESTED else _LEADING[status],
            "proposition_id": proposition,
            "conflict_refs": [f"P-{self.propositions[rival] + 1}" for rival in rivals] if rivals else [],
            "conflict_reasons": conflict,
            "support": self._side(supported),
            "opposition": self._side(opposed),
            "uncertainty": {"level": None, "reasons": ["uncertain_stance"] if first == UNCERTAIN else []},
            "precedence": None,
            "dependency_validity": {"status": "current", "action_eligible": True, "reasons": [], "basis": one},
            "basis": other,
            "explanation": None,
        }

    def _leading(self, supported: Groups | None, opposed: Groups | None, rivals: list[int]) -> str:
        """Which side of a contested candidate has more root groups."""
        against = set(opposed or ())
        for rival in rivals:
            against.update(self._supported[rival])
        ours = len(supported or ())
        if ours == len(against):
            return "none"
        return "support" if ours > len(against) else "opposition"

    def _side(self, groups: Groups | None) -> dict[str, Json]:
        if groups is None:
            score, semantics = (0.0, SCORE_SEMANTICS) if self.scored else (None, None)
            return {"score": score, "score_semantics": semantics, "assertion_ids": [], "root_groups": []}
        rows = self.quick[6]
        if len(groups) == 1:
            ((root, members),) = groups.items()
            if len(members) == 1:
                return self._lone(root, members[0])
            shown = [self._group(root, members)]
        else:
            shown = [self._group(root, members) for root, members in groups.items()]
            members = sorted(at for places in groups.values() for at in places)
        return {
            "score": _score(shown) if self.scored else None,
            "score_semantics": SCORE_SEMANTICS if self.scored else None,
            "assertion_ids": [f"A-{rows[at] + 1}" for at in members],
            "root_groups": shown,
        }

    def _lone(self, root: int, at: int) -> dict[str, Json]:
        """A side that one claim makes."""
        row, actor = self.quick[6][at], self.quick[5][at][4]
        name, stated = f"A-{row + 1}", None
        if self.scored:
            confidence = self.view.graph.assertions.confidence[row]
            stated = canonical_number(confidence) if confidence == confidence else None  # NaN is unequal to itself
        return {
            "score": None if stated is None else round(1.0 - (1.0 - stated), 12),
            "score_semantics": SCORE_SEMANTICS if self.scored else None,
            "assertion_ids": [name],
            "root_groups": [
                {
                    "actors": [{"id": f"{PREFIXES[actor & 7]}-{(actor >> 3) + 1}"}],
                    "assertion_ids": [name],
                    "contribution": stated,
                    "evidence": [f"E-{root + 1}"] if root >= 0 else [],
                }
            ],
        }

    def _group(self, root: int, members: list[int]) -> dict[str, Json]:
        standing, rows = self.quick[5], self.quick[6]
        actors = dict.fromkeys(standing[at][4] for at in members)
        return {
            "actors": [{"id": element_id(actor)} for actor in actors],
            "assertion_ids": [f"A-{rows[at] + 1}" for at in members],
            "contribution": self._contribution(members) if self.scored else None,
            "evidence": [f"E-{root + 1}"] if root >= 0 else [],
        }

    def _contribution(self, members: list[int]) -> int | float | None:
        """The greatest stated confidence."""
        stated, rows = self.view.graph.assertions.confidence, self.quick[6]
        numbers = [number for at in members if (number := stated[rows[at]]) == number]  # NaN is unequal to itself
        return canonical_number(max(numbers)) if numbers else None


_LEADING = {ACCEPTED: "support", REJECTED: "opposition", UNCERTAIN: "none"}


def _score(groups: list[dict[str, Any]]) -> float | None:
    """The noisy OR of what the groups contribute; null where no group states anything."""
    stated = [group["contribution"] for group in groups if group["contribution"] is not None]
    if not stated:
        return None
    doubt = 1.0
    for number in stated:
        doubt *= 1.0 - number
    return round(1.0 - doubt, 12)
