"""Readings on which the text leaves a choice: what was settled, in both implementations (`core` and `naive`)."""

from collections.abc import Sequence

import pytest

from kipql.belief.core import MEMORY_DEFAULT, STRUCTURAL, Candidate, Claim, Policy, Request, SlotRules, project
from kipql.times import Bound, Interval
from tests.belief.naive import naive

FUNCTIONAL = SlotRules(functional=True)
FROM_FIVE_OR_LATER = Interval(Bound(5, None), None)
UNTIL_SEVEN = Interval(None, Bound(7, 7))


def said(key: int, actor: str, at: int = 0, roots: Sequence[str] | None = None, **more: object) -> Claim:
    return Claim(key, actor, "support", "stated", at, roots=None if roots is None else frozenset(roots), **more)  # type: ignore[arg-type]


def slot(*claims: tuple[Claim, ...], truths: Sequence[bool | None] = ()) -> list[Candidate]:
    known = dict(enumerate(truths))
    return [Candidate(f"P{at}", at, given, truth=known.get(at)) for at, given in enumerate(claims)]


@pytest.mark.parametrize(
    ("reading", "candidates", "rules", "policy", "statuses", "leading"),
    [
        (
            "one root behind two rivals opposes once (§23.1, §27.2)",
            slot((said(1, "alice"),), (said(2, "bob", roots=("E1",)),), (said(3, "bob", roots=("E1",)),)),
            FUNCTIONAL,
            STRUCTURAL,
            ["contested", "contested", "contested"],
            ["none", "opposition", "opposition"],
        ),
        (
            "true and false as each other's negation and rival are still one voice against one",
            slot((said(1, "alice"),), (said(2, "bob"),), truths=(True, False)),
            SlotRules(functional=True, boolean_completeness=True),
            STRUCTURAL,
            ["contested", "contested"],
            ["none", "none"],
        ),
        (
            "an Assertion on two roots is one voice (§23.4)",
            slot((said(1, "alice", roots=("E1", "E2")),), (said(2, "bob", roots=("E3",)),)),
            FUNCTIONAL,
            STRUCTURAL,
            ["contested", "contested"],
            ["none", "none"],
        ),
        (
            "corrected Evidence decides no conflict, however recent (§22.4, §21.13)",
            slot((said(1, "alice", 1), said(2, "alice", 9, roots=())), (said(3, "bob", 5),)),
            FUNCTIONAL,
            MEMORY_DEFAULT,
            ["uncertain", "accepted"],
            ["none", "support"],
        ),
        (
            "a derivation that is not current contests nothing (§57.6)",
            slot((said(1, "alice"),), (said(2, "bob", dependency="needs_review"),)),
            FUNCTIONAL,
            STRUCTURAL,
            ["accepted", "uncertain"],
            ["support", "none"],
        ),
        (
            "`complete` rejects what is not accepted, even the never claimed (§20.15)",
            slot((said(1, "alice"),), ()),
            SlotRules(functional=True, complete=True),
            STRUCTURAL,
            ["accepted", "rejected"],
            ["support", "opposition"],
        ),
        (
            "but not the outranked (§21.13)",
            slot((said(1, "alice", 1),), (said(2, "bob", 5),)),
            SlotRules(functional=True, complete=True),
            MEMORY_DEFAULT,
            ["uncertain", "accepted"],
            ["none", "support"],
        ),
        (
            '`temporal_conflict: "none"`: no value excludes another, even under `complete`',
            slot((said(1, "alice"),), (said(2, "bob"),), ()),
            SlotRules(functional=True, complete=True, temporal_conflict=False),
            STRUCTURAL,
            ["accepted", "accepted", "insufficient"],
            ["support", "support", "none"],
        ),
        (
            "`boolean_completeness`: false is on the slot line of a third value (§25.4)",
            slot((said(1, "alice", 1),), (said(2, "alice", 5),), truths=(None, False)),
            SlotRules(functional=True, boolean_completeness=True),
            STRUCTURAL,
            ["insufficient", "accepted"],
            ["none", "support"],
        ),
        (
            "and ends a true by the same actor, as its negation, without being functional",
            slot((said(1, "alice", 1),), (said(2, "alice", 5),), truths=(True, False)),
            SlotRules(boolean_completeness=True),
            STRUCTURAL,
            ["rejected", "accepted"],
            ["opposition", "support"],
        ),
        (
            "an agreeing repetition does not undo what a predecessor narrowed (§25.4)",
            slot(
                (said(1, "alice", 1),),
                (said(2, "alice", 7, valid=FROM_FIVE_OR_LATER), said(3, "alice", 6, valid=UNTIL_SEVEN)),
            ),
            FUNCTIONAL,
            STRUCTURAL,
            ["insufficient", "accepted"],
            ["none", "support"],
        ),
    ],
)
def test_settled(
    reading: str,
    candidates: list[Candidate],
    rules: SlotRules,
    policy: Policy,
    statuses: list[str],
    leading: list[str],
) -> None:
    request = Request(10)
    beliefs = project(candidates, rules, request, policy).beliefs
    assert ([one.status for one in beliefs], [one.leading for one in beliefs]) == (statuses, leading), reading
    twin = naive(candidates, rules, request, policy, {}).verdicts
    assert ([one.status for one in twin], [one.leading for one in twin]) == (statuses, leading), reading
