"""Epistemic Projection of one slot: candidates first, then the conflicts between them (§21.11).

The shape of a question decides nothing: a single BELIEF is one candidate of the same projection that a
BELIEF SLOT returns whole, so both agree on acceptance.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from kipql.belief.core.candidate import (
    ACCEPTED,
    CONTESTED,
    INSUFFICIENT,
    REJECTED,
    UNCERTAIN,
    Dependency,
    Weighed,
    weigh,
)
from kipql.belief.core.claims import REJECT, SUPPORT, Candidate, Claim, Request, SlotRules
from kipql.belief.core.eligibility import exclusion
from kipql.belief.core.policy import BASELINE, Policy
from kipql.belief.core.precedence import decide
from kipql.belief.core.roots import Side, voices
from kipql.belief.core.succession import OUTSIDE, Effective, Placed, effective_intervals


@dataclass(frozen=True, slots=True)
class Precedence:
    """The rule that decided a conflict, seen from one candidate."""

    rule: str
    prevailed_over: tuple[Hashable, ...] = ()
    outranked_by: Hashable = None


@dataclass(frozen=True, slots=True)
class Belief:
    """One candidate's projection. `status` is the result; `candidate_status` is diagnosis before conflicts."""

    candidate: Candidate
    status: str
    candidate_status: str
    slot_status: str
    leading: str
    support: Side
    opposition: Side
    reasons: tuple[str, ...]
    conflict_refs: tuple[Hashable, ...]
    conflict_reasons: tuple[str, ...]
    precedence: Precedence | None
    dependency: Dependency


@dataclass(frozen=True, slots=True)
class Slot:
    """The whole projection: beliefs in the order of the candidates given, and why each claim was in or out.

    exclusions  eligibility: claim key -> reason
    effective   claim key -> interval after succession, of the eligible claims
    """

    status: str
    beliefs: tuple[Belief, ...]
    reasons: tuple[str, ...]
    next_invalid_at: int | None
    exclusions: Mapping[Hashable, str]
    effective: Mapping[Hashable, Effective]

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
        weigh(material, policy, trust or {}, rules.open_world)
        for material in _material(candidates, rules, effective, request.valid_at)
    ]
    beliefs = _resolve(candidates, weighed, rules, policy, request)
    status = slot_status([belief.status for belief in beliefs])
    changes = (interval.next_change(request.valid_at) for interval in effective.values())
    return Slot(
        status,
        beliefs,
        tuple(dict.fromkeys(reason for belief in beliefs for reason in belief.reasons)),
        min((change for change in changes if change is not None), default=None),
        exclusions,
        effective,
    )


def effective_times(candidates: Sequence[Candidate], rules: SlotRules, request: Request) -> dict[Hashable, Effective]:
    """The effective interval of every eligible claim of a slot, by claim key (§25.4)."""
    return effective_intervals(_placed(candidates, rules, _exclusions(candidates, request)), rules.succeeds)


def slot_status(statuses: Sequence[str]) -> str:
    """A slot's status from its candidates' final ones; it is never rejected (§47.3)."""
    return next((status for status in (CONTESTED, ACCEPTED, UNCERTAIN) if status in statuses), INSUFFICIENT)


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
    if rules.boolean_completeness and candidate.truth is not None:
        return "boolean"
    return index


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
        if rules.boolean_completeness and candidate.truth is not None:
            for other in candidates:
                if other.truth is (not candidate.truth):
                    own += bearing(other, flipped=True)
        own.sort(key=lambda item: _order(item[0].key))
        material.append(own)
    return material


def _order(key: Hashable) -> tuple[str, object]:
    return (type(key).__name__, key)


# --- the second stage: conflicts ----------------------------------------------------------------------


def _resolve(
    candidates: Sequence[Candidate],
    weighed: Sequence[Weighed],
    rules: SlotRules,
    policy: Policy,
    request: Request,
) -> tuple[Belief, ...]:
    beliefs = [_standing(candidate, first) for candidate, first in zip(candidates, weighed, strict=True)]
    for members in _partitions(candidates, rules):
        if rules.exclusive:
            _settle(beliefs, members, rules, policy, request)
        if rules.exclusive and rules.complete:
            _exclude(beliefs, members)
        status = slot_status([beliefs[index].status for index in members])
        for index in members:
            beliefs[index] = replace(beliefs[index], slot_status=status)
    return tuple(beliefs)


def _standing(candidate: Candidate, first: Weighed) -> Belief:
    """A candidate's belief while no other is looked at."""
    return Belief(
        candidate,
        first.status,
        first.status,
        first.status,
        _leading(first.status, len(first.support.groups), len(first.opposition.groups)),
        first.support,
        first.opposition,
        first.reasons,
        (),
        ("direct_stance",) if first.status == CONTESTED else (),
        None,
        first.dependency,
    )


def _partitions(candidates: Sequence[Candidate], rules: SlotRules) -> list[list[int]]:
    """Candidate indexes by partition; without `functional_by` the slot is one."""
    members: dict[Hashable, list[int]] = {}
    for index, candidate in enumerate(candidates):
        members.setdefault(candidate.partition if rules.functional_by else None, []).append(index)
    return list(members.values())


def _settle(beliefs: list[Belief], members: Sequence[int], rules: SlotRules, policy: Policy, request: Request) -> None:
    """Mark the conflict between materially supported candidates, or let a precedence rule decide it."""
    conflict = [index for index in members if beliefs[index].status in (ACCEPTED, CONTESTED)]
    if len(conflict) < 2:
        return
    supports: dict[Hashable, Sequence[Claim]] = {index: beliefs[index].support.independent for index in conflict}
    decision = decide(supports, policy.precedence, request.subject)
    for index in conflict:
        others = [other for other in conflict if other != index]
        if decision is None:
            beliefs[index] = _contested(beliefs, index, others, rules)
        elif decision.winner == index:
            over = tuple(beliefs[other].candidate.key for other in others)
            beliefs[index] = replace(beliefs[index], precedence=Precedence(decision.rule, over))
        else:
            by = beliefs[decision.winner].candidate.key  # type: ignore[call-overload]
            beliefs[index] = replace(
                beliefs[index],
                status=UNCERTAIN,
                leading="none",
                reasons=(*beliefs[index].reasons, "outranked"),
                precedence=Precedence(decision.rule, (), by),
            )


def _contested(beliefs: Sequence[Belief], index: int, others: Sequence[int], rules: SlotRules) -> Belief:
    belief = beliefs[index]
    rivals = (claim for other in others for claim in beliefs[other].support.claims)
    against = voices((*belief.opposition.claims, *rivals))
    reason = "functional_value" if rules.succeeds else "exclusive_value"
    return replace(
        belief,
        status=CONTESTED,
        leading=_leading(CONTESTED, len(belief.support.groups), against),
        conflict_refs=tuple(beliefs[other].candidate.key for other in others),
        conflict_reasons=(*belief.conflict_reasons, reason),
    )


def _exclude(beliefs: list[Belief], members: Sequence[int]) -> None:
    """`complete`: an accepted value rejects the others of its partition (§20.15)."""
    accepted = [index for index in members if beliefs[index].status == ACCEPTED]
    if not accepted:
        return
    for index in members:
        if beliefs[index].status in (INSUFFICIENT, UNCERTAIN) and beliefs[index].precedence is None:
            beliefs[index] = replace(
                beliefs[index],
                status=REJECTED,
                leading="opposition",
                conflict_refs=tuple(beliefs[other].candidate.key for other in accepted),
                conflict_reasons=(*beliefs[index].conflict_reasons, "exclusive_value"),
            )


def _leading(status: str, supporting: int, opposing: int) -> str:
    """The heavier side, as disclosure (§27.2)."""
    if status == ACCEPTED:
        return "support"
    if status == REJECTED:
        return "opposition"
    if status != CONTESTED or supporting == opposing:
        return "none"
    return "support" if supporting > opposing else "opposition"
