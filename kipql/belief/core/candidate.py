"""The first stage: one candidate's status from its own support and opposition (§21.3-21.8, §25.5, §57.6)."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from kipql.belief.core.claims import REJECT, SUPPORT, Claim
from kipql.belief.core.policy import Policy
from kipql.belief.core.roots import Side, side
from kipql.belief.core.succession import INDETERMINATE, INSIDE
from kipql.model import BELIEF_STATUSES

ACCEPTED, REJECTED, CONTESTED, UNCERTAIN, INSUFFICIENT = BELIEF_STATUSES
CURRENT = "current"
_WORST = ("current", "needs_review", "unverifiable")


@dataclass(frozen=True, slots=True)
class Dependency:
    """Validity of what the support was derived from (§57.6)."""

    status: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Weighed:
    """A candidate after the first stage."""

    status: str
    support: Side
    opposition: Side
    reasons: tuple[str, ...]
    dependency: Dependency


def weigh(
    material: Sequence[tuple[Claim, str, str]],
    policy: Policy,
    trust: Mapping[Hashable, float],
    open_world: bool,
    *,
    rivalled: bool = False,
) -> Weighed:
    """Weigh `(claim, stance toward this candidate, time status)` of the eligible claims not outside.

    rivalled  whether whatever opposes this candidate supports a rival of its slot: two that are both supported are
              then in the conflict of the second stage, which a policy's rules may decide (§21.11, §21.13)
    """
    support = side(_certain(material, SUPPORT), policy, trust)
    opposition = side(_certain(material, REJECT), policy, trust)
    reasons: list[str] = []
    supported = _counts(support, policy, accepting=True)
    status = _status(supported, _counts(opposition, policy, accepting=False) and not (rivalled and supported))
    dependency = _dependency(support)
    if status == ACCEPTED and dependency.status != CURRENT:
        status = UNCERTAIN
        reasons.append(f"dependency_{dependency.status}")
    if status is None:
        reasons.extend(_weak_reasons(material, support, opposition))
        status = UNCERTAIN if material else (INSUFFICIENT if open_world else REJECTED)
    return Weighed(status, support, opposition, tuple(reasons), dependency)


def _certain(material: Sequence[tuple[Claim, str, str]], stance: str) -> list[Claim]:
    return [claim for claim, toward, status in material if toward == stance and status == INSIDE]


def _counts(weighed: Side, policy: Policy, *, accepting: bool) -> bool:
    """Whether a side is material: it has an independent root and, under a weighted policy, enough score."""
    if not weighed.groups:
        return False
    if policy.weights is None:
        return True
    threshold = policy.weights.accept_at if accepting else policy.weights.reject_at
    return (weighed.score or 0.0) >= threshold


def _status(supported: bool, opposed: bool) -> str | None:
    if supported:
        return CONTESTED if opposed else ACCEPTED
    return REJECTED if opposed else None


def _dependency(support: Side) -> Dependency:
    """Current when some independent support is current; else the worst of what the support rests on."""
    reasons = tuple(dict.fromkeys(reason for claim in support.claims for reason in claim.reasons))
    statuses = {claim.key: claim.dependency for claim in support.claims}
    grouped = [statuses[key] for group in support.groups for key in group.claims]
    if not grouped or CURRENT in grouped:
        return Dependency(CURRENT, () if not grouped else reasons)
    return Dependency(max(grouped, key=_WORST.index), reasons)


def _weak_reasons(material: Sequence[tuple[Claim, str, str]], support: Side, opposition: Side) -> list[str]:
    reasons = []
    if any(status == INDETERMINATE for _, _, status in material):
        reasons.append("temporal_indeterminate")
    certain = [(claim, toward) for claim, toward, status in material if status == INSIDE]
    if any(toward not in (SUPPORT, REJECT) for _, toward in certain):
        reasons.append("uncertain_stance")
    if any(claim.roots is not None and not claim.roots for claim, _ in certain):
        reasons.append("no_independent_root")
    if support.groups or opposition.groups:
        reasons.append("below_policy_threshold")
    return reasons
