"""Independent provenance roots: repetition is one voice (§23, §21.10).

Claims of one side that share a root, directly or through a chain of others, form one group. A claim without
Evidence stands on its actor's own account, so an actor who repeats themselves is one group too. A claim whose
Evidence gives no root (corrected, circular) is material but adds no group.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kipql.belief.core.claims import Claim
from kipql.belief.core.policy import SCORE_SEMANTICS, Policy


@dataclass(frozen=True, slots=True)
class RootGroup:
    """Claims that are one voice; `contribution` is the strongest stated confidence, or None."""

    actors: tuple[Hashable, ...]
    claims: tuple[Hashable, ...]
    evidence: tuple[Hashable, ...]
    contribution: float | None


@dataclass(frozen=True, slots=True)
class Side:
    """Support or opposition. `score` is 1 - product(1 - contribution): 0.0 with no group, None when no group
    states a number or the policy discloses none."""

    claims: tuple[Claim, ...]
    groups: tuple[RootGroup, ...]
    score: float | None
    score_semantics: str | None

    @property
    def independent(self) -> tuple[Claim, ...]:
        """The claims that have a root. Corrected Evidence is not eligible (§22.4), so only these settle a conflict."""
        return tuple(claim for claim in self.claims if _roots(claim))


def side(claims: Sequence[Claim], policy: Policy, trust: Mapping[Hashable, float]) -> Side:
    """The root groups and score of one side's claims, in the order given."""
    groups = tuple(_group(members, policy, trust) for members in _connected(claims))
    if not policy.scored:
        return Side(tuple(claims), groups, None, None)
    return Side(tuple(claims), groups, _score(groups), SCORE_SEMANTICS)


def voices(claims: Iterable[Claim]) -> int:
    """How many root groups claims form together; one root behind several of them is one (§23.1)."""
    return len(_connected(claims))


def _roots(claim: Claim) -> frozenset[Hashable]:
    return claim.roots if claim.roots is not None else frozenset((("actor", claim.actor),))


def _connected(claims: Iterable[Claim]) -> list[list[Claim]]:
    """Claims joined by shared roots, groups in the order of their first claim."""
    group_of: dict[Hashable, list[Claim]] = {}
    groups: list[list[Claim]] = []
    for claim in claims:
        roots = _roots(claim)
        if not roots:
            continue
        touched = {id(group): group for root in roots if (group := group_of.get(root)) is not None}
        joined = next((group for group in groups if id(group) in touched), None)
        if joined is None:
            joined = []
            groups.append(joined)
        for other in [group for group in groups if id(group) in touched and group is not joined]:
            joined.extend(other)
            groups.remove(other)
            for member in other:
                group_of.update(dict.fromkeys(_roots(member), joined))
        joined.append(claim)
        group_of.update(dict.fromkeys(roots, joined))
    return groups


def _group(members: Sequence[Claim], policy: Policy, trust: Mapping[Hashable, float]) -> RootGroup:
    return RootGroup(
        tuple(dict.fromkeys(member.actor for member in members)),
        tuple(member.key for member in members),
        tuple(dict.fromkeys(evidence for member in members for evidence in member.evidence)),
        _contribution(members, policy, trust) if policy.scored else None,
    )


def _contribution(members: Sequence[Claim], policy: Policy, trust: Mapping[Hashable, float]) -> float | None:
    if (weights := policy.weights) is None:
        return max((member.confidence for member in members if member.confidence is not None), default=None)
    return max(
        (weights.unstated if member.confidence is None else member.confidence)
        * trust.get(member.actor, weights.default_trust)
        for member in members
    )


def _score(groups: Sequence[RootGroup]) -> float | None:
    stated = [group.contribution for group in groups if group.contribution is not None]
    if groups and not stated:
        return None
    doubt = 1.0
    for contribution in stated:
        doubt *= 1.0 - contribution
    return 0.0 if not groups else round(1.0 - doubt, 12)
