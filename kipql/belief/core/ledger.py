"""The Epistemic Ledger: every claim considered, why it was in or out, what cut it and which rule decided (§27.4)."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

from kipql.belief.core.claims import Candidate, Claim
from kipql.belief.core.conflicts import Belief, Precedence
from kipql.belief.core.project import Slot
from kipql.belief.core.succession import INDETERMINATE, INSIDE, OUTSIDE, Effective


@dataclass(frozen=True, slots=True)
class Entry:
    """One claim's line in the ledger.

    verdict     "support", "opposition" or "uncertain" when it counts; else why it does not: an exclusion
                (§25.3, §26), "expired", "not_yet_valid" or "temporal_indeterminate"
    effective   its interval after succession; None when it was not eligible
    root_group  index into that side's groups of its belief, or None
    precedence  the policy rule that decided the conflict its candidate was in; None when none did
    """

    claim: Claim
    candidate: Candidate
    verdict: str
    counts: bool
    effective: Effective | None
    root_group: int | None
    precedence: Precedence | None = None

    @property
    def historical(self) -> bool:
        """Whether it stood once and does not any more: withdrawn, corrected, or over at the instant asked for."""
        return self.verdict in HISTORICAL


HISTORICAL = ("retracted", "superseded", "expired")


def ledger(slot: Slot, valid_at: int) -> tuple[Entry, ...]:
    """The entries of a slot, candidate by candidate."""
    return tuple(entry for belief in slot.beliefs for entry in _entries(belief, slot, valid_at))


def _entries(belief: Belief, slot: Slot, valid_at: int) -> Iterator[Entry]:
    groups = _group_of(belief)
    for claim in belief.candidate.claims:
        excluded = slot.exclusions.get(claim.key)
        if excluded is not None:
            yield Entry(claim, belief.candidate, excluded, False, None, None)
            continue
        effective = slot.effective[claim.key]
        verdict, counts = _verdict(claim, effective, valid_at)
        rule = belief.precedence if counts else None
        yield Entry(claim, belief.candidate, verdict, counts, effective, groups.get(claim.key), rule)


def _group_of(belief: Belief) -> Mapping[Hashable, int]:
    return {
        key: index
        for side in (belief.support, belief.opposition)
        for index, group in enumerate(side.groups)
        for key in group.claims
    }


def _verdict(claim: Claim, effective: Effective, valid_at: int) -> tuple[str, bool]:
    status = effective.at(valid_at)
    if status == OUTSIDE:
        begins = effective.start.earliest
        return ("not_yet_valid" if begins is not None and begins > valid_at else "expired"), False
    if status == INDETERMINATE:
        return "temporal_indeterminate", False
    assert status == INSIDE
    return {"support": "support", "reject": "opposition"}.get(claim.stance, "uncertain"), True
