"""Laws of projection that need no expected value (§21.11, §23, §25.4)."""

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from kipql.belief.core import Candidate, Claim, Policy, Request, Side, Slot, SlotRules, project
from kipql.times import Bound, Interval
from tests.belief.slots import POLICIES, claims, requests, rules, slots


def verdicts(slot: Slot) -> dict:
    """What a consumer acts on, by candidate."""
    return {
        belief.candidate.key: (belief.status, belief.candidate_status, belief.slot_status, belief.leading)
        for belief in slot.beliefs
    }


@given(slots(), rules(), requests(), POLICIES, st.randoms(use_true_random=False))
def test_arrival_order_never_matters(
    candidates: list[Candidate], declared: SlotRules, request: Request, policy: Policy, shuffle: random.Random
) -> None:
    shuffled = [replace(one, claims=tuple(shuffle.sample(one.claims, len(one.claims)))) for one in candidates]
    shuffle.shuffle(shuffled)
    before, after = (project(given, declared, request, policy) for given in (candidates, shuffled))
    assert verdicts(before) == verdicts(after)
    assert (before.status, before.next_invalid_at) == (after.status, after.next_invalid_at)


@given(slots(), rules(), requests(), POLICIES)
def test_shifting_every_instant_shifts_the_answers(
    candidates: list[Candidate], declared: SlotRules, request: Request, policy: Policy
) -> None:
    def bound(one: Bound | None) -> Bound | None:
        return None if one is None else Bound(*(None if side is None else side + 1000 for side in one))

    def moved(claim: Claim) -> Claim:
        valid = Interval(bound(claim.valid.start), bound(claim.valid.end))
        return replace(claim, asserted_at=claim.asserted_at + 1000, valid=valid)

    later = [replace(one, claims=tuple(map(moved, one.claims))) for one in candidates]
    before = project(candidates, declared, request, policy)
    after = project(later, declared, replace(request, valid_at=request.valid_at + 1000), policy)
    assert verdicts(before) == verdicts(after)
    assert after.next_invalid_at == (None if before.next_invalid_at is None else before.next_invalid_at + 1000)


@given(slots(), rules(), requests(), POLICIES)
def test_the_answer_is_constant_until_next_invalid_at(
    candidates: list[Candidate], declared: SlotRules, request: Request, policy: Policy
) -> None:
    slot = project(candidates, declared, request, policy)
    until = 20 if slot.next_invalid_at is None else slot.next_invalid_at
    for instant in range(request.valid_at, until):
        assert verdicts(project(candidates, declared, replace(request, valid_at=instant), policy)) == verdicts(slot)


@given(slots(), rules(), requests(), POLICIES, claims(key=99))
def test_an_unrelated_actor_elsewhere_changes_nothing(
    candidates: list[Candidate], declared: SlotRules, request: Request, policy: Policy, other: Claim
) -> None:
    stranger = replace(other, actor="stranger", roots=frozenset(("E99",)))
    elsewhere = Candidate("P99", "value 99", (stranger,), "another partition")
    scoped = replace(declared, functional=False, functional_by=True, complete=False, boolean_completeness=False)
    before = project(candidates, scoped, request, policy)
    after = project([*candidates, elsewhere], scoped, request, policy)
    assert verdicts(before).items() <= verdicts(after).items()


@given(slots(), rules(), requests(), POLICIES, st.data())
def test_repeating_a_claim_changes_no_status(
    candidates: list[Candidate], declared: SlotRules, request: Request, policy: Policy, data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, len(candidates) - 1))
    if not candidates[index].claims:
        return
    repeated = replace(data.draw(st.sampled_from(candidates[index].claims)), key=99)
    again = list(candidates)
    again[index] = replace(again[index], claims=(*again[index].claims, repeated))
    before, after = (project(given, declared, request, policy) for given in (candidates, again))
    assert verdicts(before) == verdicts(after)


@given(slots(), rules(), requests(), POLICIES, claims(key=99), st.sampled_from(("support", "reject")), st.data())
def test_a_counted_root_adds_no_group_and_no_score(
    candidates: list[Candidate],
    declared: SlotRules,
    request: Request,
    policy: Policy,
    other: Claim,
    stance: str,
    data: st.DataObject,
) -> None:
    """Whoever makes it, and on whichever side (§23.1, §23.2)."""

    def side(slot: Slot, index: int) -> Side:
        belief = slot.beliefs[index]
        return belief.support if stance == "support" else belief.opposition

    slot = project(candidates, declared, request, policy)
    counted = [(index, group, claim) for index in range(len(candidates)) for group in side(slot, index).groups
               for claim in side(slot, index).claims if claim.key in group.claims and claim.roots]  # fmt: skip
    if not counted:
        return
    index, group, claim = data.draw(st.sampled_from(counted))
    echo = replace(
        other,
        stance=stance,
        status="active",
        barred=None,
        mode="inferred",
        valid=Interval(None, None),
        asserted_at=min(claim.asserted_at, request.valid_at),
        context=frozenset(),
        roots=claim.roots,
        confidence=group.contribution,
    )
    again = list(candidates)
    again[index] = replace(again[index], claims=(*again[index].claims, echo))
    after, before = side(project(again, declared, request, policy), index), side(slot, index)
    assert len(after.claims) == len(before.claims) + 1
    assert (len(after.groups), after.score) == (len(before.groups), before.score)


@given(slots(), rules(), requests(), POLICIES)
def test_slot_and_candidate_agree_on_acceptance(
    candidates: list[Candidate], declared: SlotRules, request: Request, policy: Policy
) -> None:
    """Of one projection; `test_asked` has it of the slot and each candidate asked for apart."""
    slot = project(candidates, declared, request, policy)
    accepted = [belief.candidate.value for belief in slot.beliefs if belief.status == "accepted"]
    assert slot.accepted_values == accepted
    for belief in slot.beliefs:
        assert (belief.status == "accepted") <= (belief.slot_status in ("accepted", "contested"))
        assert belief.leading == "support" or belief.status != "accepted"


@settings(max_examples=300)
@given(slots(), rules(), requests(), POLICIES, st.data())
def test_removing_a_successor_restores_its_predecessor(
    candidates: list[Candidate], declared: SlotRules, request: Request, policy: Policy, data: st.DataObject
) -> None:
    slot = project(candidates, declared, request, policy)
    cut = [key for key, interval in slot.effective.items() if interval.cut_by]
    if not cut:
        return
    key = data.draw(st.sampled_from(cut))
    claim = next(one for candidate in candidates for one in candidate.claims if one.key == key)
    later = {one.key for candidate in candidates for one in candidate.claims if one.start_key > claim.start_key}
    without = [
        replace(one, claims=tuple(replace(c, status="retracted") if c.key in later else c for c in one.claims))
        for one in candidates
    ]
    restored = project(without, declared, request, policy).effective[key]
    assert restored.end is None and not restored.cut_by
