"""Epistemic Projection of one slot: candidates first, then the conflicts between them (§21.11).

The shape of a question decides nothing: a single BELIEF is one candidate of the same projection that a
BELIEF SLOT returns whole, so both agree on acceptance.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from kipql.belief.core.candidate import ACCEPTED, weigh
from kipql.belief.core.claims import REJECT, SUPPORT, Candidate, Claim, Request, SlotRules
from kipql.belief.core.conflicts import Belief, resolve, slot_status
from kipql.belief.core.eligibility import exclusion
from kipql.belief.core.policy import BASELINE, Policy
from kipql.belief.core.succession import OUTSIDE, Effective, Placed, effective_intervals


@dataclass(frozen=True, slots=True)
class Slot:
    """The whole projection: beliefs in the order of the candidates given, and why each claim was in or out.

    exclusions  eligibility: claim key -> reason
    effective   claim key -> interval after succession, of the eligible claims
    negating    whether false is the negation of true here, so that claims on one are claims on the other
    """

    status: str
    beliefs: tuple[Belief, ...]
    reasons: tuple[str, ...]
    next_invalid_at: int | None
    exclusions: Mapping[Hashable, str]
    effective: Mapping[Hashable, Effective]
    negating: bool = False

    def bears_on(self, other: Candidate, belief: Belief) -> bool:
        """Whether claims on a candidate are claims on the one that a belief is about."""
        if other is belief.candidate:
            return True
        return self.negating and None not in (other.truth, belief.candidate.truth)

    @property
    def accepted_values(self) -> list[object]:
        """The values finally accepted, whatever the slot's status."""
        return [belief.candidate.value for belief in self.beliefs if belief.status == ACCEPTED]


def project(
    candidates: Sequence[Candidate],
    rules: SlotRules,
    request: Request,
    policy: Policy = BASELINE,
    trust: Mapping[Hashable, float] | None = None,
) -> Slot:
    """Project a slot at `request.valid_at`.

    candidates  every candidate of the slot, each once
    trust       weight by actor, for weighted policies

    Deterministic: neither the order of candidates nor that of their claims changes a status.
    """
    exclusions = _exclusions(candidates, request)
    effective = effective_intervals(_placed(candidates, rules, exclusions), rules.succeeds)
    weighed = [
        weigh(material, policy, trust or {}, rules.open_world, rivalled=rules.exclusive and _negated(candidate, rules))
        for candidate, material in zip(
            candidates, _material(candidates, rules, effective, request.valid_at), strict=True
        )
    ]
    beliefs = resolve(candidates, weighed, rules, policy, request)
    status = slot_status([belief.status for belief in beliefs])
    changes = (interval.next_change(request.valid_at) for interval in effective.values())
    return Slot(
        status,
        beliefs,
        tuple(dict.fromkeys(reason for belief in beliefs for reason in belief.reasons)),
        min((change for change in changes if change is not None), default=None),
        exclusions,
        effective,
        rules.boolean_completeness,
    )


def effective_times(candidates: Sequence[Candidate], rules: SlotRules, request: Request) -> dict[Hashable, Effective]:
    """The effective interval of every eligible claim of a slot, by claim key (§25.4)."""
    return effective_intervals(_placed(candidates, rules, _exclusions(candidates, request)), rules.succeeds)


def _exclusions(candidates: Sequence[Candidate], request: Request) -> dict[Hashable, str]:
    return {
        claim.key: reason
        for candidate in candidates
        for claim in candidate.claims
        if (reason := exclusion(claim, request)) is not None
    }


# --- claims and the candidates they bear on -----------------------------------------------------------


def _mirrored(candidate: Candidate, rules: SlotRules) -> bool:
    """Whether a candidate is the `false` that `boolean_completeness` makes the negation of `true`."""
    return rules.boolean_completeness and candidate.truth is False


def _negated(candidate: Candidate, rules: SlotRules) -> bool:
    """Whether another value is this one's negation, so that what opposes it supports that one (§20.15)."""
    return rules.boolean_completeness and candidate.truth is not None


def _flip(stance: str) -> str:
    return {SUPPORT: REJECT, REJECT: SUPPORT}.get(stance, stance)


def _placed(candidates: Sequence[Candidate], rules: SlotRules, exclusions: Mapping[Hashable, str]) -> list[Placed]:
    return [
        Placed(
            replace(claim, stance=_flip(claim.stance)) if _mirrored(candidate, rules) else claim,
            _proposition(candidate, rules, index),
            candidate.partition if rules.functional_by else None,
            index if claim.stance == SUPPORT else None,
        )
        for index, candidate in enumerate(candidates)
        for claim in candidate.claims
        if claim.key not in exclusions
    ]


def _proposition(candidate: Candidate, rules: SlotRules, index: int) -> Hashable:
    return "boolean" if _negated(candidate, rules) else index


def _material(
    candidates: Sequence[Candidate], rules: SlotRules, effective: Mapping[Hashable, Effective], valid_at: int
) -> list[list[tuple[Claim, str, str]]]:
    """For each candidate the eligible claims that bear on it and are not outside, in canonical order."""
    at = {key: interval.at(valid_at) for key, interval in effective.items()}

    def bearing(candidate: Candidate, flipped: bool) -> list[tuple[Claim, str, str]]:
        return [
            (claim, _flip(claim.stance) if flipped else claim.stance, at[claim.key])
            for claim in candidate.claims
            if at.get(claim.key, OUTSIDE) != OUTSIDE
        ]

    material = []
    for candidate in candidates:
        own = bearing(candidate, flipped=False)
        if _negated(candidate, rules):
            for other in candidates:
                if other.truth is (not candidate.truth):
                    own += bearing(other, flipped=True)
        own.sort(key=lambda item: _order(item[0].key))
        material.append(own)
    return material


def _order(key: Hashable) -> tuple[str, object]:
    return (type(key).__name__, key)
