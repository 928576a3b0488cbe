"""Two implementations of one specification agree: `kipql.belief.core` and `naive`, on random slots.

    KIPQL_TWIN=10000 pytest tests/belief/test_twin.py     how many slots (2,000 otherwise)
    KIPQL_TWIN_SEED=7                                     where the seeds begin (0 otherwise)

Few actors, instants, contexts and roots, so that ties, lines and bounds meet often. A disagreement is shrunk by
dropping whatever it does not need, and printed with its seed.
"""

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from kipql.belief.core import (
    BASELINE,
    MEMORY_DEFAULT,
    STRUCTURAL,
    Candidate,
    Claim,
    Policy,
    Request,
    SlotRules,
    project,
)
from kipql.belief.core.claims import MODES
from kipql.belief.core.policy import PRECEDENCE_RULES, Weights
from kipql.times import ALWAYS, Bound, Interval, parse_instant
from tests.belief.naive import naive
from tests.belief.test_contract_vectors import CASES, claim

COUNT = int(os.environ.get("KIPQL_TWIN", "2000"))
SEED = int(os.environ.get("KIPQL_TWIN_SEED", "0"))
CHUNKS = 10


@dataclass(frozen=True)
class Case:
    candidates: tuple[Candidate, ...]
    rules: SlotRules
    request: Request
    policy: Policy
    trust: tuple[tuple[str, float], ...] = ()


# -- random cases ---------------------------------------------------------------------------------------


def some_bound(draw: random.Random, last: int) -> Bound | None:
    one, other = sorted((draw.randint(0, last), draw.randint(0, last)))
    return draw.choice(
        (None, None, Bound(one, one), Bound(one, one), Bound(one, other), Bound(one, None), Bound(None, one))
    )


def some_interval(draw: random.Random, last: int) -> Interval:
    start, end = some_bound(draw, last), draw.choice((None, None, None, some_bound(draw, last)))
    if start is not None and end is not None:
        first = -1 if start.earliest is None else start.earliest
        if end.latest is not None and first >= end.latest:
            end = None
    return Interval(start, end)


def some_claim(draw: random.Random, key: int, last: int) -> Claim:
    roots = draw.choice((None,) * 4 + ((), ("E1",), ("E2",), ("E3",), ("E1", "E2"), ("E2", "E3"), (("actor", "bob"),)))
    return Claim(
        key,
        draw.choice(("alice", "alice", "bob", "carol")),
        draw.choice(("support",) * 8 + ("reject", "reject", "uncertain")),
        draw.choice(("stated",) * 6 + ("observed", "observed", "inferred", "inferred", "predicted", "imported")),
        draw.randint(0, last),
        draw.choice((None, 0.0, 0.2, 0.5, 0.9, 1.0)),
        some_interval(draw, last),
        frozenset(draw.choice(((), (), (), ("work",), ("home",), ("home", "work")))),
        draw.choice(("active",) * 12 + ("retracted", "superseded")),
        draw.choice((None,) * 12 + ("quarantined",)),
        roots=None if roots is None else frozenset(roots),
        dependency=draw.choice(("current",) * 8 + ("needs_review", "unverifiable")),
    )


def own_account(one: Claim) -> Claim:
    """The claim as a part of one actor's story, where lines meet lines."""
    plain = Claim(one.key, "alice", one.stance, "stated", one.asserted_at)
    return replace(plain, valid=Interval(one.valid.start, None), roots=one.roots, confidence=one.confidence)


def some_candidates(draw: random.Random, last: int) -> tuple[Candidate, ...]:
    count = draw.randint(1, 4)
    claims: list[list[Claim]] = [[] for _ in range(count)]
    one_story = draw.random() < 0.4
    for key in range(draw.choice((2, 4, 6, 8, 10))):
        one = some_claim(draw, key, last)
        draw.choice(claims).append(own_account(one) if one_story and draw.random() < 0.9 else one)
    truths = [True, False, None, None][:count]
    draw.shuffle(truths)
    return tuple(
        Candidate(
            None if not claims[at] and draw.random() < 0.2 else f"P{at}",
            f"value {at}",
            tuple(claims[at]),
            draw.choice(("one", "one", "two", None)),
            truths[at],
        )
        for at in range(count)
    )


def some_rules(draw: random.Random) -> SlotRules:
    shape = draw.choice(("plain", "functional", "functional", "functional_by"))
    return SlotRules(
        functional=shape == "functional",
        functional_by=shape == "functional_by",
        open_world=draw.random() < 0.8,
        complete=draw.random() < 0.3,
        boolean_completeness=draw.random() < 0.3,
        temporal_conflict=draw.random() < 0.85,
    )


def some_policy(draw: random.Random) -> Policy:
    order = tuple(draw.sample(PRECEDENCE_RULES, draw.randint(0, 3)))
    bars = (0.0, 0.2, 0.5, 0.8, 1.0)
    weights = Weights(draw.choice(bars), draw.choice(bars), draw.choice(bars), draw.choice(bars))
    return draw.choice(
        (
            BASELINE,
            STRUCTURAL,
            MEMORY_DEFAULT,
            MEMORY_DEFAULT,
            MEMORY_DEFAULT,
            Policy("ordered", precedence=order, scored=draw.random() < 0.5),
            Policy("weighted", precedence=order, scored=True, weights=weights),
        )
    )


def some_case(seed: int) -> Case:
    draw = random.Random(seed)
    last = draw.choice((3, 6, 12))
    modes = MODES | frozenset(draw.choice(((), (), ("imported",), ("predicted", "hypothetical"))))
    context = frozenset(draw.choice(((), ("work",), ("home", "work"), ("home", "work"), ("home", "work"))))
    return Case(
        some_candidates(draw, last),
        some_rules(draw),
        Request(
            draw.choice((draw.randint(-1, last + 2), last + 1)),
            context,
            modes,
            draw.choice((None, "alice", "bob", "carol")),
        ),
        some_policy(draw),
        draw.choice(((), (("alice", 0.5), ("bob", 0.9)))),
    )


# -- both answers ---------------------------------------------------------------------------------------


def of_core(case: Case) -> dict[str, Any]:
    slot = project(case.candidates, case.rules, case.request, case.policy, dict(case.trust))
    return {
        "slot": (slot.status, slot.accepted_values, slot.next_invalid_at),
        **{
            f"candidate {at}": (
                (belief.status, belief.candidate_status, belief.slot_status, belief.leading),
                (len(belief.support.groups), len(belief.opposition.groups)),
                (belief.support.score, belief.opposition.score),
                set(belief.reasons),
                belief.precedence.rule if belief.precedence else None,
            )
            for at, belief in enumerate(slot.beliefs)
        },
    }


def of_twin(case: Case) -> dict[str, Any]:
    answer = naive(case.candidates, case.rules, case.request, case.policy, dict(case.trust))
    return {
        "slot": (answer.slot_status, answer.accepted_values, answer.next_invalid_at),
        **{
            f"candidate {at}": (
                (one.status, one.candidate_status, one.slot_status, one.leading),
                tuple(one.groups),
                tuple(one.scores),
                one.reasons,
                one.rule,
            )
            for at, one in enumerate(answer.verdicts)
        },
    }


def agree(case: Case) -> bool:
    return of_core(case) == of_twin(case)


# -- shrinking ------------------------------------------------------------------------------------------


def simpler(case: Case) -> Iterator[Case]:
    """Cases with one thing less, the largest things first."""
    for at, candidate in enumerate(case.candidates):
        before, after = case.candidates[:at], case.candidates[at + 1 :]
        if before or after:
            yield replace(case, candidates=before + after)
        for which, one in enumerate(candidate.claims):
            others = candidate.claims[:which], candidate.claims[which + 1 :]
            yield replace(case, candidates=(*before, replace(candidate, claims=others[0] + others[1]), *after))
            for plainer in plainer_claims(one):
                claims = (*others[0], plainer, *others[1])
                yield replace(case, candidates=(*before, replace(candidate, claims=claims), *after))
    plain = SlotRules()
    for name in ("complete", "open_world", "boolean_completeness", "temporal_conflict", "functional_by", "functional"):
        yield replace(case, rules=replace(case.rules, **{name: getattr(plain, name)}))
    for policy in (STRUCTURAL, BASELINE, MEMORY_DEFAULT):
        if case.policy not in (STRUCTURAL, BASELINE, MEMORY_DEFAULT) or case.policy is MEMORY_DEFAULT:
            yield replace(case, policy=policy, trust=())
    yield replace(case, trust=())
    yield replace(case, request=Request(case.request.valid_at, subject=case.request.subject))
    yield replace(case, request=replace(case.request, subject=None))


def plainer_claims(one: Claim) -> Iterator[Claim]:
    usual = Claim(one.key, one.actor, "support", "stated", one.asserted_at)
    for name in ("status", "barred", "context", "mode", "stance", "dependency", "roots", "confidence"):
        yield replace(one, **{name: getattr(usual, name)})
    if one.roots is not None and len(one.roots) > 1:
        yield replace(one, roots=frozenset((min(map(str, one.roots)),)))
    yield replace(one, valid=ALWAYS)
    yield replace(one, valid=Interval(one.valid.start, None))
    yield replace(one, valid=Interval(None, one.valid.end))


def shrunk(case: Case, agrees: Callable[[Case], bool] = agree) -> Case:
    while True:
        smaller = next((one for one in simpler(case) if one != case and not agrees(one)), None)
        if smaller is None:
            return case
        case = smaller


def report(seed: int) -> str:
    case = shrunk(some_case(seed))
    core, twin = of_core(case), of_twin(case)
    lines = [f"seed {seed}, shrunk:", f"  {case.rules}", f"  {case.request}", f"  {case.policy} {dict(case.trust)}"]
    for at, candidate in enumerate(case.candidates):
        lines.append(f"  candidate {at}: partition {candidate.partition}, truth {candidate.truth}")
        lines += [f"    {one}" for one in candidate.claims]
    lines += [f"  {part}:\n    core {core[part]}\n    twin {twin[part]}" for part in core if core[part] != twin[part]]
    return "\n".join(lines)


# -- the tests ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_core_and_twin_agree_on_random_slots(chunk: int) -> None:
    seeds = range(SEED + chunk, SEED + COUNT, CHUNKS)
    for seed in seeds:
        if not agree(some_case(seed)):
            pytest.fail(report(seed), pytrace=False)


def test_the_random_slots_reach_every_status_rule_and_place() -> None:
    seen: set[object] = set()
    for seed in range(SEED, SEED + 500):
        answer = naive(*_parts(some_case(seed)))
        for one in answer.verdicts:
            seen |= {one.status, one.rule, one.leading, *one.reasons}
    assert {"accepted", "rejected", "contested", "uncertain", "insufficient", *PRECEDENCE_RULES} <= seen
    assert {"outranked", "temporal_indeterminate", "support", "opposition", "none"} <= seen


def _parts(case: Case) -> tuple[Any, ...]:
    return case.candidates, case.rules, case.request, case.policy, dict(case.trust)


@pytest.mark.skipif(not CASES, reason="shared data absent")
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_twin_passes_the_projection_vectors(case: dict[str, Any]) -> None:
    candidates = [
        Candidate(
            given["id"],
            given["value"],
            tuple(
                claim(f"{given['id']}/{index}", one, given.get("dependency_validity", "current"))
                for index, one in enumerate(given["assertions"])
            ),
            given.get("partition"),
        )
        for given in case["candidates"]
    ]
    asked, expected = case["request"], case["expected"]
    answer = naive(
        candidates,
        SlotRules(functional=asked.get("functional", False), functional_by=asked.get("functional_by", False)),
        Request(
            parse_instant(asked["valid_at"]), frozenset(asked.get("context_refs", ())), subject=asked.get("subject")
        ),
        MEMORY_DEFAULT if asked.get("policy") == "memory-default" else STRUCTURAL,
        {},
    )
    assert [one.status for one in answer.verdicts] == expected["candidate_statuses"]
    assert (answer.slot_status, answer.accepted_values) == (expected["slot_status"], expected["accepted_values"])
