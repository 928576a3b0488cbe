"""The shape of a question decides nothing (§21.11): slot, candidate, Proposition and id agree on random memories."""

import os
import random

import pytest

from kipql.times import format_instant
from tests.belief import random_memories as memories

COUNT = int(os.environ.get("KIPQL_ASKED_MEMORIES", "40"))
SEED = int(os.environ.get("KIPQL_TWIN_SEED", "0"))
TAIL = "AS OF SEQ :seq FOR TIME :at WITH EPISTEMIC {policy: :policy, context_refs: :context}"
SLOT = "FIND(?s.status, ?s.accepted_values, ?s.candidate_projections) WHERE { ?s BELIEF SLOT (:who, :p) }"
OPEN = "FIND(?value, ?b.status, ?b.slot_status) WHERE { ?b BELIEF (:who, :p, ?value) }"
GROUNDED = "FIND(?b.status) WHERE { ?b BELIEF (:who, :p, :value) }"
BOUND = "FIND(?link.id, ?b.status) WHERE { ?link (:who, :p, :value) ?b BELIEF (?link) }"
BY_ID = "FIND(?b.status) WHERE { ?b BELIEF (id: :id) }"


@pytest.mark.parametrize("seed", range(SEED, SEED + COUNT))
def test_slot_and_candidate_agree_however_they_are_asked(seed: int) -> None:
    draw = random.Random(seed)
    memory = memories.write(draw)
    nexus = memory.nexus
    for _ in range(4):
        predicate = draw.choice(memory.predicates)
        given = {
            "who": {"id": draw.choice(memories.SUBJECTS)},
            "p": predicate,
            "seq": draw.randint(1, nexus.space_seq),
            "at": format_instant(memories.FIRST + draw.randint(-1, memories.DAYS + 2) * memories.DAY),
            "policy": draw.choice(memories.POLICIES[:4]).id,
            "context": draw.sample(memories.CONTEXTS, draw.randint(0, 2)),
        }
        status, accepted, candidates = nexus.query(f"{SLOT} {TAIL}", given).one()
        rows = nexus.query(f"{OPEN} {TAIL}", given).rows
        by_value = {repr(value): one for value, one, _ in rows}
        believed = [value for value, one, _ in rows if one == "accepted"]
        assert sorted(map(repr, accepted)) == sorted({repr(_id(value)) for value in believed}), seed
        if predicate != "likes":  # one partition: the slot's status is each candidate's
            assert {slot for _, _, slot in rows} <= {status}, seed
        assert sorted(by_value.values()) == sorted(one["status"] for one in candidates), seed
        for value in (value for value, _, _ in rows):
            asked = {**given, "value": _id(value)}
            assert nexus.query(f"{GROUNDED} {TAIL}", asked).scalar() == by_value[repr(value)], seed
            for link, one in nexus.query(f"{BOUND} {TAIL}", asked).rows:
                assert one == by_value[repr(value)] == nexus.query(f"{BY_ID} {TAIL}", {**given, "id": link}).scalar(), (
                    seed
                )


def _id(value: object) -> object:
    """An element as a reference."""
    return {"id": value["id"]} if isinstance(value, dict) else value
