"""The precedence rules that may settle a slot conflict (§21.13).

Each rule answers whether one candidate prevails over another, from the support of both that holds at the
instant. The first rule of the policy under which one candidate prevails over every other decides.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

from kipql.belief.core.claims import Claim

Supports = Sequence[Claim]


class Decision(NamedTuple):
    """Which candidate won, under which rule."""

    rule: str
    winner: Hashable


def decide(conflict: Mapping[Hashable, Supports], rules: Sequence[str], subject: Hashable) -> Decision | None:
    """The decision for a conflict set {candidate: its support}, or None when the conflict stands."""
    for rule in rules:
        prevails = _RULES[rule]
        for candidate, support in conflict.items():
            others = (other for key, other in conflict.items() if key != candidate)
            if all(prevails(support, other, subject) for other in others):
                return Decision(rule, candidate)
    return None


def _context_specificity(one: Supports, other: Supports, subject: Hashable) -> bool:
    return any(all(claim.context > rival.context for rival in other) for claim in one)


def _first_person_testimony(one: Supports, other: Supports, subject: Hashable) -> bool:
    if subject is None:
        return False
    own = any(claim.actor == subject and claim.mode in ("stated", "observed") for claim in one)
    return own and not any(rival.actor == subject or rival.mode == "observed" for rival in other)


def _recency(one: Supports, other: Supports, subject: Hashable) -> bool:
    return max(claim.start_key for claim in one) > max(claim.start_key for claim in other)


_RULES: dict[str, Callable[[Supports, Supports, Hashable], bool]] = {
    "context_specificity": _context_specificity,
    "first_person_testimony": _first_person_testimony,
    "recency": _recency,
}
