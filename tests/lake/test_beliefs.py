"""Belief on a lake is the process's: rows, contexts and errors, at any sequence and world time (§21, §46, §47, §49).

KIPQL_LAKE_BELIEFS=300 pytest tests/lake/test_beliefs.py     how many random memories (10 otherwise)
KIPQL_LAKE_SEED=7                                            where the seeds begin (0 otherwise)
"""

import os
import random
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import lake
from kipql.errors import KipError
from kipql.lake.lower import beliefs
from kipql.times import format_instant
from tests.belief import random_memories as memories

COUNT = int(os.environ.get("KIPQL_LAKE_BELIEFS", "10"))
SEED = int(os.environ.get("KIPQL_LAKE_SEED", "0"))
QUESTIONS = 12
READ = datetime(2026, 1, 9, tzinfo=UTC)


# -- random questions -----------------------------------------------------------------------------------

WHERE = (
    '?b BELIEF SLOT (:subject, "{0}")',
    '?b BELIEF (:subject, "{0}", ?o)',
    '?b BELIEF (:subject, "{0}", :value)',
    "?b BELIEF (:subject, :predicate, ?o)",
    '?s {{type: "Person"}} ?b BELIEF SLOT (?s, "{0}")',
    '?s CONCEPT {{}} ?b BELIEF (?s, "{0}", ?o)',
    '?s {{type: "Person"}} ?b BELIEF (?s, "{0}", :value)',
    '?s {{type: "Person", name: ?n}} ?b BELIEF (?s, "{0}", ?n)',
    '?p (?s, "{0}", ?o) ?b BELIEF (?p)',
    "?p (?s, ?k, ?o) ?b BELIEF (?p)",
    "(?s, ?k, ?o) ?b BELIEF (?s, ?k, ?o)",
    "(?s, ?k, ?o) ?b BELIEF SLOT (?s, ?k)",
    '?a ASSERTION {{asserted_by: ?s}} ?b BELIEF SLOT (?s, "{0}")',
    '?s {{type: "Person"}} OPTIONAL {{ ?b BELIEF (?s, "{0}", ?o) FILTER(?b.status == "accepted") }}',
    '?s {{type: "Person"}} OPTIONAL {{ ?p (?s, "{0}", ?o) }} ?b BELIEF (?p)',
    '?s {{type: "Person"}} NOT {{ ?n BELIEF SLOT (?s, "{0}") FILTER(?n.status == "insufficient") }} '
    '?b BELIEF SLOT (?s, "{0}")',
    '?b BELIEF SLOT (:subject, "{0}") UNION {{ ?s {{type: "Person"}} ?b BELIEF SLOT (?s, "{1}") }}',
    '?s {{type: "Person"}} ?b BELIEF SLOT (?s, "{0}") ?d BELIEF (?s, "{0}", ?o) FILTER(?d.status != ?b.status)',
    '?s {{type: "Person"}} ?b BELIEF SLOT (?s, "{0}") ?b BELIEF SLOT (?t, "{0}") ?t {{type: "Person"}}',
)
FILTERS = (
    "",
    "",
    "",
    'FILTER(?b.status == "accepted")',
    'FILTER(IN(?b.status, ["contested", "uncertain"]) || ?b.basis.next_invalid_at > "2026-01-06T00:00:00.000Z")',
    "FILTER(?b.support.score > 0.4)",
    "FILTER(IS_NOT_NULL(?b.precedence) || IS_NULL(?b.leading))",
    "FILTER(IS_NULL(?b) || ?b == ?b)",
)
ITEMS = (
    "?b",
    "?b, ?b.status",
    "?b.status",
    "?b.status, ?b.candidate_status, ?b.slot_status, ?b.accepted_values",
    "?b.accepted_values, ?b.basis.next_invalid_at, ?b.dependency_validity.status",
    "?b.uncertainty.reasons, ?b.explanation, ?b.support.root_groups",
    "COUNT(?b)",
    "?b.status, COUNT(DISTINCT ?b)",
    "{belief: ?b.status, all: [?b.proposition_id, ?b.subject]}",
)


def question(draw: random.Random, memory: memories.Memory) -> tuple[str, dict[str, Any]]:
    """A FIND at random coordinates with its parameters."""
    predicates = [draw.choice(memory.predicates), draw.choice(memory.predicates)]
    where, items = draw.choice(WHERE), draw.choice(ITEMS)
    more = {name: f"?{name}" for name in "sok" if f"?{name}" in where and draw.random() < 0.6}
    if "COUNT" not in items and more:
        items = f"{items}, {', '.join(more.values())}"
    policy, context = draw.choice(memories.POLICIES).id, draw.sample(memories.CONTEXTS, draw.choice((0, 0, 1, 3)))
    level = draw.choice(("none", "none", "summary", "ledger"))
    epistemic = (
        f'WITH EPISTEMIC {{policy: "{policy}", context_refs: :context, explanation: "{level}", purpose: "audit", '
        f"include_hypothetical: {draw.choice(('true', 'false'))}, "
        f"include_historical: {draw.choice(('true', 'false'))}}}"
    )
    day = draw.randint(-1, memories.DAYS + 2)
    clauses = (
        f"AS OF SEQ {draw.choice((draw.randint(1, memory.nexus.space_seq), memory.nexus.space_seq))}",
        draw.choice(("", f'FOR TIME "{format_instant(memories.FIRST + day * memories.DAY)}"')),
        draw.choice((epistemic, epistemic, "")),
    )
    value = draw.choice(memories.objects(predicates[0]))
    text = f"FIND({items}) WHERE {{ {where.format(*predicates)} {draw.choice(FILTERS)} }} "
    given = {
        "subject": draw.choice(memories.SUBJECTS),
        "predicate": draw.choice(memory.predicates),
        "value": {"id": value} if predicates[0] == "likes" else value,
        "context": context,
    }
    text += " ".join(clauses)
    return text, {name: given[name] for name in given if f":{name}" in text}


def told(one: Any, text: str, parameters: Any = None, **limits: Any) -> Any:
    """Rows without an order and the context, or the error and where it stands."""
    try:
        result = one.query(text, parameters, **limits)
    except KipError as error:
        return error.code, error.message, error.span
    return sorted(repr(_ordered(row)) for row in result.rows), result.context


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _ordered(value[name]) for name in sorted(value)}
    return [_ordered(item) for item in value] if isinstance(value, list | tuple) else value


def differences(seed: int, folder: Path, **engine: Any) -> list[str]:
    """What an engine answers otherwise than the process about a random memory. One answer at least is no error."""
    draw = random.Random(seed)
    memory = memories.write(draw)
    lake.export(memory.nexus, folder, name=f"memory{seed}")
    found, answered = [], 0
    with lake.open(folder, space=f"memory{seed}", clock=lambda: READ, **engine) as opened:
        for _ in range(QUESTIONS):
            text, parameters = question(draw, memory)
            expected, said = told(memory.nexus, text, parameters), told(opened, text, parameters)
            answered += len(expected) == 2
            if said != expected:
                found.append(f"seed {seed}: {text} {parameters}\n  process {expected}\n     lake {said}")
    return found if answered else [*found, f"seed {seed}: not one question had an answer"]


@pytest.mark.parametrize("seed", range(SEED, SEED + COUNT))
def test_random_questions_about_random_memories(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kipql, "open", partial(kipql.open, clock=lambda: READ))
    monkeypatch.setattr(beliefs, "CHUNK", (1, 2, 5_000)[seed % 3])
    problems = differences(seed, tmp_path)
    assert not problems, "\n\n".join(problems)
