"""The whole of a plain slot as it reads, from the claims that a quick projection found to hold (`belief.quick`).

Where a slot is plain every claim has one root: its one Evidence, or its actor's own account. So sides, groups and
scores need no graph walk, and the wire objects of `belief.output` are built at once. A property test holds
them equal.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kipql.belief.core.candidate import ACCEPTED, CONTESTED, INSUFFICIENT, REJECTED, UNCERTAIN
from kipql.belief.core.policy import SCORE_SEMANTICS
from kipql.belief.output import copied_basis
from kipql.belief.quick import Held, Quick, candidate_rows
from kipql.model import element_id
from kipql.store.records import ROLE_MASK, ROLE_SHIFT, ROLES
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View

_SUPPORT, _REJECT = 0, 1
_COUNTING = (None, "support")


class Details:
    """One slot being written.

    scored  whether the policy discloses a score
    basis   of every projection in it
    value   an object term as it reads
    """

    __slots__ = ("_groups", "_sides", "basis", "functional", "propositions", "quick", "scored", "value", "view")

    def __init__(
        self,
        view: "View",
        subject: int,
        lineage: int,
        quick: Quick,
        functional: bool,
        scored: bool,
        basis: Mapping[str, Any],
        value: Callable[[int], Json],
    ) -> None:
        self.view = view
        self.quick = quick
        self.functional = functional
        self.scored = scored
        self.basis = basis
        self.value = value
        self.propositions: Mapping[object, int] = candidate_rows(view, subject, lineage)  # type: ignore[assignment]
        self._sides: dict[tuple[object, int], list[Held]] = {}
        for claim in sorted(quick.standing, key=lambda held: held[5]):
            self._sides.setdefault((claim[1], claim[2]), []).append(claim)
        self._groups = {key: self._grouped(claims) for key, claims in self._sides.items()}

    def slot(self, subject: Json, predicate_ref: str) -> dict[str, Json]:
        """Every member of the slot (§47.3)."""
        candidates = [self.candidate(term) for term in self.propositions]
        reasons = [reason for one in candidates for reason in one["uncertainty"]["reasons"]]
        return {
            "status": self.quick.status,
            "subject": subject,
            "predicate_ref": predicate_ref,
            "accepted_values": [self.value(term) for term in self.quick.accepted],
            "candidate_projections": candidates,
            "uncertainty": {"level": None, "reasons": [*dict.fromkeys(reasons)]},
            "basis": copied_basis(self.basis),
            "explanation": None,
        }

    def candidate(self, term: object, asked: int | None = None) -> dict[str, Json]:
        """Every member of a candidate, stored or not (§27.2); `asked` is the Proposition that was asked for."""
        quick = self.quick
        status = first = INSUFFICIENT
        if isinstance(term, int):
            status, first = quick.statuses.get(term, INSUFFICIENT), quick.candidates.get(term, INSUFFICIENT)
        row = self.propositions.get(term) if asked is None else asked >> 3
        rivals = self._rivals(term)
        conflict = ["direct_stance"] if first == CONTESTED else []
        if rivals:
            conflict.append("functional_value")
        unsure = first == UNCERTAIN
        return {
            "status": status,
            "candidate_status": first,
            "slot_status": quick.status,
            "leading": self._leading(status, term, rivals),
            "proposition_id": None if row is None else f"P-{row + 1}",
            "conflict_refs": [f"P-{self.propositions[rival] + 1}" for rival in rivals],
            "conflict_reasons": conflict,
            "support": self._side(term, _SUPPORT),
            "opposition": self._side(term, _REJECT),
            "uncertainty": {"level": None, "reasons": ["uncertain_stance"] if unsure else []},
            "precedence": None,
            "dependency_validity": {
                "status": "current",
                "action_eligible": True,
                "reasons": [],
                "basis": copied_basis(self.basis),
            },
            "basis": copied_basis(self.basis),
            "explanation": None,
        }

    def _rivals(self, term: object) -> list[object]:
        """The other supported values, where only one can be accepted."""
        if not self.functional or (term, _SUPPORT) not in self._sides:
            return []
        return [other for other in self.propositions if other != term and (other, _SUPPORT) in self._sides]

    def _leading(self, status: str, term: object, rivals: list[object]) -> str:
        if status == ACCEPTED:
            return "support"
        if status == REJECTED:
            return "opposition"
        if status != CONTESTED:
            return "none"
        ours = len(self._groups.get((term, _SUPPORT), ()))
        against = set(self._groups.get((term, _REJECT), ()))
        against.update(root for rival in rivals for root in self._groups[rival, _SUPPORT])
        if ours == len(against):
            return "none"
        return "support" if ours > len(against) else "opposition"

    def _side(self, term: object, stance: int) -> dict[str, Json]:
        claims = self._sides.get((term, stance), ())
        groups = [_group(root, members, self._contribution(members)) for root, members in self._roots(term, stance)]
        return {
            "score": _score([group["contribution"] for group in groups]) if self.scored else None,
            "score_semantics": SCORE_SEMANTICS if self.scored else None,
            "assertion_ids": [f"A-{claim[5] + 1}" for claim in claims],
            "root_groups": groups,
        }

    def _roots(self, term: object, stance: int) -> Any:
        return self._groups.get((term, stance), {}).items()

    def _contribution(self, members: list[Held]) -> int | float | None:
        if not self.scored:
            return None
        stated = self.view.graph.assertions.stated_confidence
        numbers = [number for claim in members if (number := stated(claim[5])) is not None]
        return max(numbers, default=None)

    def _grouped(self, claims: list[Held]) -> dict[int, list[Held]]:
        """Claims by root: the row of their Evidence, or -1 - actor."""
        columns = self.view.graph.assertions
        groups: dict[int, list[Held]] = {}
        for claim in claims:
            row = claim[5]
            evidence = columns.cited[row]
            if evidence >= 0 and ROLES[columns.read(row).flags >> ROLE_SHIFT & ROLE_MASK] in _COUNTING:
                groups.setdefault(evidence, []).append(claim)
            else:
                groups.setdefault(-1 - claim[0], []).append(claim)
        return groups


def _group(root: int, members: list[Held], contribution: int | float | None) -> dict[str, Json]:
    return {
        "actors": [{"id": element_id(actor)} for actor in dict.fromkeys(claim[0] for claim in members)],
        "assertion_ids": [f"A-{claim[5] + 1}" for claim in members],
        "contribution": contribution,
        "evidence": [f"E-{root + 1}"] if root >= 0 else [],
    }


def _score(contributions: list[int | float | None]) -> float | None:
    stated = [number for number in contributions if number is not None]
    if contributions and not stated:
        return None
    doubt = 1.0
    for number in stated:
        doubt *= 1.0 - number
    return round(1.0 - doubt, 12) if contributions else 0.0
