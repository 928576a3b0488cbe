"""Readings on which the text leaves a choice: what was settled, in both implementations (`core` and `naive`)."""

from collections.abc import Sequence

import pytest

import kipql
from kipql.belief.core import MEMORY_DEFAULT, STRUCTURAL, Candidate, Claim, Policy, Request, SlotRules, project
from kipql.times import Bound, Interval
from tests.belief.naive import naive
from tests.belief.world import PEOPLE

FUNCTIONAL = SlotRules(functional=True)
FROM_FIVE_OR_LATER = Interval(Bound(5, None), None)
UNTIL_SEVEN = Interval(None, Bound(7, 7))


def said(key: int, actor: str, at: int = 0, roots: Sequence[str] | None = None, **more: object) -> Claim:
    return Claim(key, actor, "support", "stated", at, roots=None if roots is None else frozenset(roots), **more)  # type: ignore[arg-type]


def denied(key: int, actor: str, at: int) -> Claim:
    return Claim(key, actor, "reject", "stated", at)


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
            # §21.11: the constraint is opposition to accepting, no stored reject; so true against false is the slot's
            # conflict, and the winner gets its candidate status (§21.13), which is not contested by what it outranked.
            "a policy's rule decides between true and false as between any two values of a slot",
            slot((said(1, "alice", 5),), (said(2, "bob", 1),), truths=(True, False)),
            SlotRules(functional=True, boolean_completeness=True),
            MEMORY_DEFAULT,
            ["accepted", "uncertain"],
            ["support", "none"],
        ),
        (
            "and a rejection of true is what a support of false is (§20.15)",
            slot((said(1, "alice", 5), denied(2, "bob", 1)), (), truths=(True, False)),
            SlotRules(functional=True, boolean_completeness=True),
            MEMORY_DEFAULT,
            ["accepted", "uncertain"],
            ["support", "none"],
        ),
        (
            "a tie between true and false stays one (§21.13)",
            slot((said(1, "alice", 5),), (said(2, "bob", 5),), truths=(True, False)),
            SlotRules(functional=True, boolean_completeness=True),
            MEMORY_DEFAULT,
            ["contested", "contested"],
            ["none", "none"],
        ),
        (
            "without a slot the negation is a direct stance conflict, which no rule of the policy decides (§21.13)",
            slot((said(1, "alice", 5),), (said(2, "bob", 1),), truths=(True, False)),
            SlotRules(boolean_completeness=True),
            MEMORY_DEFAULT,
            ["contested", "contested"],
            ["none", "none"],
        ),
        (
            "a direct rejection of one value is no conflict of two candidates either: the winner stays contested",
            slot((said(1, "alice", 5), denied(2, "bob", 1)), (said(3, "carol", 2),)),
            FUNCTIONAL,
            MEMORY_DEFAULT,
            ["contested", "uncertain"],
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


AWAKE = """MUTATE {
  CREATE CONCEPT ?ann { TYPE "Person" NAME "Ann" }
  CREATE CONCEPT ?bob { TYPE "Person" NAME "Bob" }
  ASSERT (?ann, "awake", true) {by: ?ann, mode: "stated", at: "2026-01-01T00:00:00.000Z"}
  ASSERT (?ann, "awake", false) {by: ?bob, mode: "stated", at: "2026-02-01T00:00:00.000Z"}
}"""


@pytest.mark.parametrize(
    ("policy", "slot", "true", "false"),
    [
        ("kip:policy:structural", ("contested", []), "contested", "contested"),
        # Her own word about herself prevails over newer hearsay (§21.13), also where false is the negation of true.
        ("kip:memory-default", ("accepted", [True]), "accepted", "uncertain"),
    ],
)
def test_true_against_false_through_a_nexus(policy: str, slot: tuple[str, list[bool]], true: str, false: str) -> None:
    nexus = kipql.open(packages=[PEOPLE])
    nexus.execute(AWAKE)
    tail = 'FOR TIME "2026-03-01T00:00:00.000Z" WITH EPISTEMIC {policy: :policy, explanation: "ledger"}'
    whole = f'FIND(?b.status, ?b.accepted_values) WHERE {{ ?b BELIEF SLOT ("C-1", "awake") }} {tail}'
    one = f'FIND(?b.status, ?b.explanation.entries) WHERE {{ ?b BELIEF ("C-1", "awake", :value) }} {tail}'
    assert nexus.query(whole, {"policy": policy}).one() == slot
    for value, status in ((True, true), (False, false)):
        found, entries = nexus.query(one, {"policy": policy, "value": value}).one()
        assert found == status
        # What is said of one is said of the other: both are in the ledger of each.
        assert [(entry["assertion_id"], entry["value"]) for entry in entries] == [("A-1", True), ("A-2", False)]
