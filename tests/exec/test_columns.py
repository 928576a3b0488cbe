"""A count over columns says what the operators say, or leaves it to them (`kipql.exec.operators.columns`)."""

import random
from typing import Any

import pytest

import kipql
from kipql.exec.operators import columns
from kipql.times import format_instant
from tests.belief.world import PEOPLE
from tests.exec.running import rows_of, run

FIRST, DAY, DAYS = 1_767_225_600_000, 86_400_000, 30
JOINED = "?p (?s, ?pr, ?o) ?a ASSERTION {proposition: ?p}"
QUERIES = (
    f"FIND(?pr, COUNT(?a)) WHERE {{ {JOINED} FILTER(?a.valid_time.from <= :t) }}",
    f"FIND(COUNT(?a)) WHERE {{ {JOINED} FILTER(:t > ?a.valid_time.until) }}",
    f"FIND(?a.stance, ?pr, COUNT(DISTINCT ?a), COUNT(?p)) WHERE {{ {JOINED} FILTER(?a.asserted_at < :t) }}",
    f"FIND(?s, COUNT(?a)) WHERE {{ {JOINED} FILTER(?a.confidence >= 0.5) }} ORDER BY COUNT(?a) DESC",
    f"FIND(?o, ?a.mode, COUNT(?a)) WHERE {{ {JOINED} }}",
    'FIND(?a.mode, COUNT(?a)) WHERE { ?a ASSERTION {stance: "support"} }',
    'FIND(COUNT(?a)) WHERE { ?a ASSERTION {mode: "observed", stance: :stance} FILTER(?a.valid_time.from > :t) }',
    'FIND(?s, COUNT(?a)) WHERE { ?p (?s, "likes", ?o) ?a ASSERTION {proposition: ?p} }',
)
ANSWERED = ASKED = 0


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "LEAST", 1)
    monkeypatch.setattr(columns, "PART", 7)
    counted = columns.counted

    def noted(*given: Any) -> Any:
        global ANSWERED, ASKED
        found = counted(*given)
        ASKED, ANSWERED = ASKED + 1, ANSWERED + (found is not None)
        return found

    monkeypatch.setattr(columns, "counted", noted)


def written(draw: random.Random) -> kipql.Nexus:
    """People who like one another and are of a height; some claims are retracted, archived, ranged or erased."""
    nexus = kipql.open(packages=[PEOPLE])
    for number in range(4):
        nexus.execute(f'CREATE CONCEPT ?p {{TYPE "Person" NAME "P{number}"}}')
    strange = draw.random() < 0.3
    for claim in range(1, 40):
        what, end = draw.choice(("likes", "height")), ""
        target = f'"C-{draw.randint(1, 4)}"' if what == "likes" else str(draw.randint(170, 172))
        start = FIRST + draw.randint(0, DAYS) * DAY
        if draw.random() < 0.5:
            end = f', until: "{format_instant(start + draw.randint(1, 9) * DAY)}"'
        valid = f', valid: {{from: "{format_instant(start)}"{end}}}' if draw.random() < 0.8 else ""
        if strange and draw.random() < 0.05:
            last = format_instant(start + DAY)
            valid = f', valid: {{from: {{earliest: "{format_instant(start)}", latest: "{last}"}}}}'
        certain = f", confidence: {draw.choice((0, 0.25, 0.5, 1))}" if draw.random() < 0.5 else ""
        nexus.execute(
            f'ASSERT ("C-{draw.randint(1, 4)}", "{what}", {target}) {{by: "C-{draw.randint(1, 4)}", '
            f'mode: "{draw.choice(("stated", "observed"))}", stance: "{draw.choice(("support", "reject"))}"'
            f"{valid}{certain}}}"
        )
        old = draw.randint(1, claim)
        if draw.random() < 0.2:
            _try(nexus, f'TRANSITION "A-{old}" TO "{draw.choice(("retracted", "archived"))}"')
        if strange and draw.random() < 0.05:
            _try(nexus, f'PURGE "A-{old}" REFERENCE POLICY "tombstone_reference" CONFIRM "PURGE"')
        if draw.random() < 0.05:
            _try(nexus, f'TRANSITION "P-{draw.randint(1, 5)}" TO "archived"')
    if strange and draw.random() < 0.5:
        nexus.execute('MERGE CONCEPT "C-2" INTO "C-1"')
    return nexus


def _try(nexus: kipql.Nexus, text: str) -> None:
    try:
        nexus.execute(text)
    except kipql.KipError as error:
        assert error.code != "InternalError", error


@pytest.mark.parametrize("seed", range(10))
def test_columns_and_operators_count_the_same_at_every_sequence(seed: int) -> None:
    draw = random.Random(seed)
    nexus = written(draw)
    for seq in (*draw.sample(range(nexus.space_seq), 6), nexus.space_seq):
        given = {"t": format_instant(FIRST + draw.randint(0, DAYS) * DAY), "k": seq, "stance": "reject"}
        for text in QUERIES:
            body, order, rest = text.partition(" ORDER BY")
            whole = f"{body} AS OF SEQ :k{order}{rest}"
            plain = sorted(map(repr, rows_of(run(nexus, whole, given, "unoptimised"))))
            for mode in ("closures", "compiled"):
                assert sorted(map(repr, rows_of(run(nexus, whole, given, mode)))) == plain, (mode, whole, given)


def test_many_of_those_counts_were_made_over_columns() -> None:
    assert ASKED == 0 or ANSWERED > ASKED / 3, (ANSWERED, ASKED)


@pytest.mark.parametrize("given", [{"t": "2026"}, {"t": 7}, {"t": None}])
def test_a_constant_that_is_no_timestamp_is_for_the_operators(given: dict[str, Any]) -> None:
    nexus = written(random.Random(1))
    found = [sorted(map(repr, rows_of(run(nexus, QUERIES[0], given, mode)))) for mode in ("compiled", "unoptimised")]
    assert found[0] == found[1]


def test_a_writer_goes_on_while_a_count_holds_the_records() -> None:
    nexus = written(random.Random(2))
    import numpy as np

    held = np.frombuffer(nexus._session.space.store.graph.assertions.hot, "u1")
    before = run(nexus, QUERIES[5]).rows
    nexus.execute('ASSERT ("C-1", "likes", "C-3") {by: "C-1", mode: "stated"}')
    assert sum(count for _, count in run(nexus, QUERIES[5]).rows) == sum(count for _, count in before) + 1
    assert len(held) > 0
