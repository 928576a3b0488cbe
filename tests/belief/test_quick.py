"""The quick projection says what the full one says, or leaves it to it (kipql.belief.quick)."""

import os
import random

import pytest

import kipql
from kipql.belief.core.policy import BASELINE, MEMORY_DEFAULT
from kipql.belief.output import BELIEF, SLOT, whole
from kipql.exec.beliefs import CandidateBinding, Predicate, SlotBinding
from kipql.exec.reading import Asked, Reading
from kipql.model import parse_id
from tests.belief import random_memories as memories
from tests.belief.world import PEOPLE

COUNT = int(os.environ.get("KIPQL_QUICK_MEMORIES", "60"))
SEED = int(os.environ.get("KIPQL_TWIN_SEED", "0"))
CHUNKS = 4
QUICK = 0
ASKED = 0


def compared(nexus: kipql.Nexus, draw: random.Random, predicate: str) -> None:
    """One slot and its candidates, quickly and in full."""
    global QUICK, ASKED
    view = nexus._session.at(draw.choice((draw.randint(1, nexus.space_seq), nexus.space_seq)))
    at = memories.FIRST + draw.randint(-1, memories.DAYS + 2) * memories.DAY
    asked = Asked(draw.choice((BASELINE, MEMORY_DEFAULT)))
    lineage = view.environment.predicate(predicate).lineage
    subject = parse_id(draw.choice(memories.SUBJECTS))
    assert subject is not None

    def slot(quickly: bool) -> SlotBinding:
        projector = Reading(view, asked=asked, valid_at=at).projector
        projector.plain = quickly
        return SlotBinding(projector, Predicate.of(lineage, projector), subject)

    quick, full = slot(True), slot(False)
    ASKED += 1
    QUICK += quick.quick() is not None
    for name in ("status", "accepted_values"):
        assert quick.member(name) == SLOT[name](full._projected())
    assert quick.next_invalid_at == full.next_invalid_at
    assert quick.json() == whole(SLOT, full._projected())
    for belief in full._projected().slot.beliefs:
        args = (subject, belief.candidate.value, None)
        one, other = (CandidateBinding(each.projector, each.predicate, *args) for each in (quick, full))
        for name in ("status", "candidate_status", "slot_status", "leading", "support"):
            assert one.member(name) == BELIEF[name](other._projected())
        assert one.json() == whole(BELIEF, other._projected())


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_quick_and_full_agree_on_random_memories(chunk: int) -> None:
    for seed in range(SEED + chunk, SEED + COUNT, CHUNKS):
        draw = random.Random(seed)
        memory = memories.write(draw)
        for _ in range(40):
            compared(memory.nexus, draw, draw.choice(memory.predicates))
    print(f"\n{QUICK} of {ASKED} slots were answered quickly, seeds {SEED} to {SEED + COUNT - 1}")


def test_long_lines_of_one_actor_are_cut_like_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kipql.belief.standing.FEW", 1)
    for seed in range(SEED, SEED + COUNT // 3):
        draw = random.Random(seed)
        memory = memories.write(draw)
        for _ in range(40):
            compared(memory.nexus, draw, draw.choice(memory.predicates))


def test_most_plain_slots_are_answered_quickly() -> None:
    assert ASKED == 0 or QUICK > ASKED / 10


def test_status_and_values_of_a_plain_slot_never_reach_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    from kipql.belief.read import Reader

    nexus = kipql.open(packages=[PEOPLE])
    nexus.execute(
        """MUTATE {
          CREATE CONCEPT ?a { TYPE "Person" NAME "Ann" }
          CREATE CONCEPT ?b { TYPE "Person" NAME "Bob" }
          CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "hello"} }
          ASSERT (?a, "likes", ?b) {by: ?a, mode: "stated", evidence: ?e}
        }"""
    )
    monkeypatch.setattr(Reader, "__init__", None)
    for _ in range(3):
        found = nexus.query('FIND(?b.status, ?b.accepted_values) WHERE { ?b BELIEF SLOT ("C-1", "likes") }').rows
        assert found == [("accepted", [{"id": "C-2"}])]
        found = nexus.query('FIND(?o.name, ?b.status, ?b.slot_status) WHERE { ?b BELIEF ("C-1", "likes", ?o) }').rows
        assert found == [("Bob", "accepted", "accepted")]
