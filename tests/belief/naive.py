"""Epistemic Projection a second time, read plainly off the rules (§14, §20.15, §21-§27, §57.6).

The twin of `kipql.belief.core` shares its input records and no code. A rule is a loop over lists that follows the
specification's sentence; where that leaves a choice, the comment says which reading this is ("settled").
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, prod

from kipql.belief.core import Candidate, Claim, Policy, Request, SlotRules
from kipql.times import Bound

Span = tuple[float, float]
Claims = Sequence[Claim]
Candidates = Sequence[Candidate]
Trust = Mapping[Hashable, float]
FLIP = {"support": "reject", "reject": "support", "uncertain": "uncertain"}


@dataclass
class Item:
    """An eligible Assertion: its candidate, the Proposition it stands on, its stance there, its effective times."""

    claim: Claim
    at: int
    proposition: object
    stance: str
    start: Span = (0, 0)
    end: Span = (0, 0)

    def place(self, instant: float) -> str:
        """§25.5. Outside is asked first: no line makes eligible what the written interval excludes (§25.4)."""
        if self.start[0] > instant or self.end[1] <= instant:
            return "outside"
        return "inside" if self.start[1] <= instant and self.end[0] > instant else "indeterminate"


@dataclass
class Verdict:
    """What the twin says of one candidate; groups and scores are of its support and its own opposition."""

    status: str
    candidate_status: str
    groups: list[int]
    scores: list[float | None]
    reasons: set[str]
    slot_status: str = ""
    leading: str = "none"
    rule: str | None = None


@dataclass
class Answer:
    verdicts: list[Verdict]
    slot_status: str
    accepted_values: list[object]
    next_invalid_at: float | None


def span(bound: Bound) -> Span:
    return (-inf if bound.earliest is None else bound.earliest, inf if bound.latest is None else bound.latest)


def written(claim: Claim) -> Span:
    return (-inf, claim.asserted_at) if claim.valid.start is None else span(claim.valid.start)


def start_key(claim: Claim) -> float:
    return claim.asserted_at if written(claim)[1] == inf else written(claim)[1]


def disagree(one: Item, other: Item, line: str, candidates: Candidates, rules: SlotRules) -> bool:
    """Whether both Assertions are on this line and disagree there."""
    a, b = one.claim, other.claim
    if any(claim.mode not in ("stated", "observed") and claim.valid.start is None for claim in (a, b)):
        return False
    if a.actor != b.actor or a.context != b.context:
        return False
    if line == "proposition":
        return one.proposition == other.proposition and one.stance != other.stance
    one_slot = rules.functional_by and candidates[one.at].partition == candidates[other.at].partition
    return (rules.functional or one_slot) and one.at != other.at and a.stance == b.stance == "support"


def succession(items: Sequence[Item], candidates: Candidates, rules: SlotRules) -> None:
    """Give every item its effective start and end."""
    for item in items:
        item.start, given, key = written(item.claim), [], start_key(item.claim)
        for line in ("proposition", "slot"):
            on = [start_key(other.claim) for other in items if disagree(item, other, line, candidates, rules)]
            earlier = [other for other in on if other < key]
            # settled: a line without a predecessor gives nothing, so that `from {earliest}` is only ever narrowed
            if earlier and item.start[0] != item.start[1]:
                given.append((max(item.start[0], max(earlier)), key))
        if given:
            item.start = (max(earliest for earliest, _ in given), max(latest for _, latest in given))
    for item in items:
        ends = [(inf, inf)]
        for line in ("proposition", "slot"):
            later = [other for other in items if disagree(item, other, line, candidates, rules)]
            later = [other for other in later if start_key(other.claim) > start_key(item.claim)]
            first = min((start_key(other.claim) for other in later), default=inf)
            ends += [other.start for other in later if start_key(other.claim) == first]
        item.end = (min(earliest for earliest, _ in ends), min(latest for _, latest in ends))
        if item.claim.valid.end is not None:
            item.end = span(item.claim.valid.end)


def next_change(items: Sequence[Item], now: int) -> float | None:
    """The first instant after now at which some eligible Assertion is placed otherwise than now (§21.12)."""
    sides = [side for item in items for side in (*item.start, *item.end) if now < side < inf]
    return min((one for one in sides if any(item.place(one) != item.place(now) for item in items)), default=None)


def roots(claim: Claim) -> set[Hashable]:
    """What an Assertion rests on; without Evidence it is its actor's own claim, however often repeated."""
    return {("actor", claim.actor)} if claim.roots is None else set(claim.roots)


def root_groups(claims: Claims) -> list[list[Claim]]:
    """Settled: Assertions that share a root, also through others, are one group (§23.4). It is the narrower
    reading: one Assertion on two roots is one voice, and a summary of two roots joins them."""
    groups: list[list[Claim]] = []
    for claim in claims:
        if roots(claim):
            joined = [group for group in groups if any(roots(claim) & roots(other) for other in group)]
            groups = [group for group in groups if group not in joined]
            groups.append([claim, *(other for group in joined for other in group)])
    return groups


def score(claims: Claims, policy: Policy, trust: Trust) -> float | None:
    """A root group counts once, with the strongest number stated in it; null when nobody states one."""

    def number(claim: Claim) -> float | None:
        if policy.weights is None:
            return claim.confidence
        stated = policy.weights.unstated if claim.confidence is None else claim.confidence
        return stated * trust.get(claim.actor, policy.weights.default_trust)

    stated = [[n for one in group if (n := number(one)) is not None] for group in root_groups(claims)]
    if not policy.scored or (stated and not any(stated)):
        return None
    return round(1 - prod(1 - max(numbers) for numbers in stated if numbers), 12)


def prevails(rule: str, a: Claims, b: Claims, subject: Hashable) -> bool:
    """§21.13, over the support that is inside and has a root: corrected Evidence is not eligible (policy artifact)."""
    if rule == "context_specificity":
        return any(all(one.context > other.context for other in b) for one in a)
    if rule == "first_person_testimony":
        own = any(one.actor == subject and one.mode in ("stated", "observed") for one in a)
        return own and not any(other.actor == subject or other.mode == "observed" for other in b)
    return max(map(start_key, a)) > max(map(start_key, b))


def naive(candidates: Candidates, rules: SlotRules, request: Request, policy: Policy, trust: Trust) -> Answer:
    # -- eligibility (§14, §25.3, §26): time plays no part in it
    # Settled: under `boolean_completeness` a claim on false is the opposite claim on true, for proposition lines as
    # for the sides; slot lines still ask for a written support (§25.4).
    boolean = [rules.boolean_completeness and one.truth is not None for one in candidates]
    items = []
    for at, candidate in enumerate(candidates):
        for claim in candidate.claims:
            recalled = claim.status == "active" and claim.barred is None
            if recalled and claim.mode in request.modes and claim.context <= request.context:
                stance = FLIP[claim.stance] if boolean[at] and candidate.truth is False else claim.stance
                items.append(Item(claim, at, "true" if boolean[at] else at, stance))
    succession(items, candidates, rules)

    # -- the first stage: each candidate alone (§21.3-21.8)
    # Settled: under `temporal_conflict: "none"` no value excludes another, not even if the slot is `complete`.
    exclusive = (rules.functional or rules.functional_by or rules.complete) and rules.temporal_conflict
    every, verdicts, supporting, opposing = range(len(candidates)), [], [], []
    for at in every:
        toward = [(item, item.claim.stance) for item in items if item.at == at]
        if boolean[at]:
            toward += [(item, FLIP[item.claim.stance]) for item in items if boolean[item.at] and item.at != at]
        placed = [(item.claim, stance, item.place(request.valid_at)) for item, stance in toward]
        material = [(claim, stance, place) for claim, stance, place in placed if place != "outside"]
        inside = [(claim, stance) for claim, stance, place in material if place == "inside"]
        sides = [[claim for claim, stance in inside if stance == one and roots(claim)] for one in ("support", "reject")]
        scores = [score(side, policy, trust) for side in sides]
        bars = (0.0, 0.0) if policy.weights is None else (policy.weights.accept_at, policy.weights.reject_at)
        counts = [bool(sides[i]) and (scores[i] or 0) >= bars[i] for i in (0, 1)]  # from its threshold on (§22)
        reasons = set()
        if counts[0]:
            # settled: in a slot, what opposes true supports false, so the two meet in the second stage (§21.11)
            status = "contested" if counts[1] and not (boolean[at] and exclusive) else "accepted"
            if status == "accepted" and all(claim.dependency != "current" for claim in sides[0]):
                # §57.6: derivations that are not current accept nothing; any other support may
                review = all(claim.dependency == "needs_review" for claim in sides[0])
                status, reasons = "uncertain", {"dependency_needs_review" if review else "dependency_unverifiable"}
        elif counts[1]:
            status = "rejected"
        elif material:
            status = "uncertain"
            reasons |= {"temporal_indeterminate"} if len(inside) < len(material) else set()
            reasons |= {"uncertain_stance" for _, stance in inside if stance == "uncertain"}
            reasons |= {"no_independent_root" for claim, _ in inside if not roots(claim)}
            reasons |= {"below_policy_threshold"} if sides[0] or sides[1] else set()
        else:
            status = "insufficient" if rules.open_world else "rejected"  # §24.2
        verdicts.append(Verdict(status, status, [len(root_groups(side)) for side in sides], scores, reasons))
        supporting.append(sides[0])
        opposing.append(sides[1])

    # -- the second stage: conflicts (§21.11); a derivation that is not current is weak material and contests nothing
    def others(at: int) -> list[int]:
        """The other candidates of the same slot, which is the partition under `functional_by`."""
        slots = [one.partition if rules.functional_by else None for one in candidates]
        return [to for to in every if to != at and slots[to] == slots[at]]

    strong = [at for at in every if verdicts[at].candidate_status in ("accepted", "contested")]
    rivals = [[to for to in others(at) if exclusive and at in strong and to in strong] for at in every]
    for rule in policy.precedence:
        for at in every:
            undecided = rivals[at] and verdicts[at].rule is None
            if undecided and all(prevails(rule, supporting[at], supporting[to], request.subject) for to in rivals[at]):
                verdicts[at].rule = rule
                for to in rivals[at]:
                    verdicts[to].rule, verdicts[to].status = rule, "uncertain"
                    verdicts[to].reasons.add("outranked")
    conflicts = [at for at in every if rivals[at] and verdicts[at].rule is None]
    for at in conflicts:
        verdicts[at].status = "contested"
    accepted = [at for at in every if verdicts[at].status == "accepted"]
    for at in every:
        # §20.15 `complete`; settled: the outranked stay uncertain, "never rejected" (§21.13)
        rejected = rules.complete and exclusive and any(to in accepted for to in others(at))
        if rejected and "outranked" not in verdicts[at].reasons:
            verdicts[at].status = "rejected"

    # -- the slot (§47.3) and the side each candidate leans to (§27.2): independent roots, each counted once
    for at, verdict in enumerate(verdicts):
        verdict.slot_status = slot_status([verdict, *(verdicts[to] for to in others(at))])
        against = opposing[at] + [claim for to in rivals[at] if at in conflicts for claim in supporting[to]]
        margin = len(root_groups(supporting[at])) - len(root_groups(against))
        heavier = "support" if margin > 0 else "opposition" if margin < 0 else "none"
        leading = {"accepted": "support", "rejected": "opposition", "contested": heavier}
        verdict.leading = leading.get(verdict.status, "none")
    values = [one.value for one, verdict in zip(candidates, verdicts, strict=True) if verdict.status == "accepted"]
    return Answer(verdicts, slot_status(verdicts), values, next_change(items, request.valid_at))


def slot_status(verdicts: Sequence[Verdict]) -> str:
    found = [verdict.status for verdict in verdicts]
    return next((one for one in ("contested", "accepted", "uncertain") if one in found), "insufficient")
