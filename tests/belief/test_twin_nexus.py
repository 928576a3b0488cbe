"""BELIEF through a Nexus agrees with the twin fed from raw rows (AS OF, FOR TIME, context, policy, merges).

KIPQL_TWIN_MEMORIES=10000 pytest tests/belief/test_twin_nexus.py     how many random memories (20 otherwise)
KIPQL_TWIN_SEED=7                                                    where the seeds begin (0 otherwise)
"""

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import pytest

import kipql
from kipql.belief.core import Candidate, Policy, Request
from kipql.times import format_instant
from tests.belief import random_memories as memories
from tests.belief.naive import Answer, naive

COUNT = int(os.environ.get("KIPQL_TWIN_MEMORIES", "20"))
SEED = int(os.environ.get("KIPQL_TWIN_SEED", "0"))
CHUNKS = 10
QUESTIONS = 12
PATHS = ("status", "basis.next_invalid_at", "leading", "candidate_status")
SLOT_PATHS = ("status", "accepted_values", "basis.next_invalid_at")


@dataclass(frozen=True)
class Question:
    """One belief at random coordinates; `value` None asks for the whole slot."""

    subject: str
    predicate: str
    value: Any
    seq: int
    at: int
    context: tuple[str, ...]
    policy: Policy
    forecasts: bool

    def command(self, pattern: str, columns: str = "?b") -> str:
        settings = "policy: :policy, context_refs: :context, include_hypothetical: :forecasts"
        where = f"?b BELIEF {pattern.format(self.predicate)}"
        return f"FIND({columns}) WHERE {{ {where} }} AS OF SEQ :seq FOR TIME :at WITH EPISTEMIC {{{settings}}}"

    def parameters(self) -> dict[str, Any]:
        return {
            "subject": {"id": self.subject},
            "value": {"id": self.value} if self.predicate == "likes" else self.value,
            "seq": self.seq,
            "at": format_instant(self.at),
            "context": list(self.context),
            "policy": self.policy.id,
            "forecasts": self.forecasts,
        }

    def twin(self, raw: memories.Raw) -> tuple[list[Candidate], Answer]:
        modes = self.policy.modes | ({"predicted", "hypothetical"} if self.forecasts else set())
        request = Request(self.at, frozenset(map(raw.canonical, self.context)), modes, raw.canonical(self.subject))
        candidates = raw.candidates(self.subject, self.predicate, self.value)
        return candidates, naive(candidates, memories.rules(self.predicate), request, self.policy, raw.trust)


def some_question(draw: random.Random, predicates: Sequence[str], head: int) -> Question:
    predicate = draw.choice(predicates)
    day = draw.choice((draw.randint(-1, memories.DAYS + 2), memories.DAYS + 1))
    return Question(
        draw.choice(memories.SUBJECTS),
        predicate,
        draw.choice((None, draw.choice(memories.objects(predicate)))),
        draw.choice((draw.randint(1, head), head, head)),
        memories.FIRST + day * memories.DAY,
        tuple(draw.sample(memories.CONTEXTS, draw.choice((0, 1, 3, 3)))),
        draw.choice(memories.POLICIES),
        draw.random() < 0.3,
    )


# -- both answers, in one shape -------------------------------------------------------------------------


def of_nexus(nexus: kipql.Nexus, asked: Question) -> Any:
    if asked.value is not None:
        belief = whole(nexus, asked, '(:subject, "{}", :value)', PATHS)
        return of_belief(belief), belief["slot_status"], belief["basis"]["next_invalid_at"]
    slot = whole(nexus, asked, 'SLOT (:subject, "{}")', SLOT_PATHS)
    candidates = sorted(map(of_belief, slot["candidate_projections"]), key=repr)
    opened = nexus.query(asked.command('(:subject, "{}", ?o)'), asked.parameters()).rows
    # an open object asks for each stored Proposition, of which merged objects may have several
    assert {repr(of_belief(one)[1:]) for one in opened} == {repr(one[1:]) for one in candidates}
    return slot["status"], sorted(map(repr, slot["accepted_values"])), slot["basis"]["next_invalid_at"], candidates


def whole(nexus: kipql.Nexus, asked: Question, pattern: str, paths: tuple[str, ...]) -> dict[str, Any]:
    """The whole projection, which is the same when only some of its paths are asked for."""
    element: dict[str, Any] = nexus.query(asked.command(pattern), asked.parameters()).one()
    for some in (paths[:1], paths[:2], paths):
        (row,) = nexus.query(asked.command(pattern, ", ".join(f"?b.{one}" for one in some)), asked.parameters()).rows
        assert ([row] if len(some) == 1 else [*row]) == [member(element, one) for one in some], some
    return element


def member(element: Any, path: str) -> Any:
    for step in path.split("."):
        element = element[step]
    return element


def of_belief(belief: dict[str, Any]) -> tuple[Any, ...]:
    sides = [belief["support"], belief["opposition"]]
    return (
        belief["proposition_id"],
        belief["status"],
        belief["candidate_status"],
        belief["leading"],
        [len(side["root_groups"]) for side in sides],
        [side["score"] and round(side["score"], 9) for side in sides],
        sorted(belief["uncertainty"]["reasons"]),
        belief["precedence"] and belief["precedence"]["rule"],
    )


def of_twin(raw: memories.Raw, asked: Question) -> Any:
    candidates, answer = asked.twin(raw)
    following = None if answer.next_invalid_at is None else format_instant(int(answer.next_invalid_at))
    beliefs = [
        (
            candidate.key,
            one.status,
            one.candidate_status,
            one.leading,
            one.groups,
            [score and round(score, 9) for score in one.scores],
            sorted(one.reasons),
            one.rule,
        )
        for candidate, one in zip(candidates, answer.verdicts, strict=True)
    ]
    if asked.value is not None:
        mine = [one.value for one in candidates].index(raw.canonical(asked.value))
        return beliefs[mine], answer.verdicts[mine].slot_status, following
    values = [{"id": value} if value in raw.concepts else value for value in answer.accepted_values]
    return answer.slot_status, sorted(map(repr, values)), following, sorted(beliefs, key=repr)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_nexus_and_the_twin_agree_on_random_memories(chunk: int) -> None:
    for seed in range(SEED + chunk, SEED + COUNT, CHUNKS):
        draw = random.Random(seed)
        memory = memories.write(draw)
        reading = cache(partial(memories.Raw, memory))
        for _ in range(QUESTIONS):
            asked = some_question(draw, memory.predicates, memory.nexus.space_seq)
            assert of_nexus(memory.nexus, asked) == of_twin(reading(asked.seq), asked), f"seed {seed}: {asked}"
        memory.nexus.close()
