"""The second stage: conflicts between the candidates of a slot, and what decides them (§20.15, §21.11, §21.13).

Candidates of one partition that are all materially supported contest one another where their Predicate says so, unless
a precedence rule of the policy decides; under `complete` an accepted value rejects the others.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from kipql.belief.core.candidate import (
    ACCEPTED,
    CONTESTED,
    INSUFFICIENT,
    REJECTED,
    UNCERTAIN,
    Dependency,
    Weighed,
)
from kipql.belief.core.claims import Candidate, Claim, Request, SlotRules
from kipql.belief.core.policy import Policy
from kipql.belief.core.precedence import decide
from kipql.belief.core.roots import Side, voices


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


def resolve(
    candidates: Sequence[Candidate],
    weighed: Sequence[Weighed],
    rules: SlotRules,
    policy: Policy,
    request: Request,
) -> tuple[Belief, ...]:
    """The belief in each candidate, once the conflicts of its partition are settled, marked or decided."""
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


def slot_status(statuses: Sequence[str]) -> str:
    """A slot's status from its candidates' final ones; it is never rejected (§47.3)."""
    return next((status for status in (CONTESTED, ACCEPTED, UNCERTAIN) if status in statuses), INSUFFICIENT)


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
