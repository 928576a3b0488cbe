"""Whether flags alone tell that a claim cites something, against the records (`kipql.exec.loose`), and what follows."""

from random import Random

import pytest

import kipql
from kipql.exec.loose import loosely_cited
from kipql.model import ASSERTION
from kipql.store.records import ROLE_MASK, ROLE_SHIFT
from tests.belief.world import PEOPLE

CITATIONS = ("", ', evidence: "E-1"', ', evidence: ["E-1", "E-2"]')


def told(seed: int, kinds: tuple[str, ...]) -> kipql.Nexus:
    """Claims about slots, which cite nothing, one Evidence or two."""
    draw, nexus = Random(seed), kipql.open(packages=[PEOPLE])
    for number in range(3):
        nexus.execute(f'CREATE CONCEPT ?p {{TYPE "Person" NAME "P{number}"}}')
        nexus.execute('CREATE EVIDENCE ?e {SET FIELDS {evidence_class: "message", payload: "said"}}')
    for number in range(12):
        nexus.execute(
            f'ASSERT ("C-{draw.randint(1, 3)}", "height", {draw.randint(170, 172)}) {{by: "C-{draw.randint(1, 3)}", '
            f'mode: "stated", valid: {{from: "2026-01-{number + 1:02}T00:00:00.000Z"}}{draw.choice(kinds)}}}'
        )
    return nexus


@pytest.mark.parametrize("kinds", [CITATIONS[:1], CITATIONS[:2], CITATIONS])
@pytest.mark.parametrize("seed", range(6))
def test_what_the_flags_do_not_tell_is_known(seed: int, kinds: tuple[str, ...]) -> None:
    nexus = told(seed, kinds)
    view = nexus._session.view()
    columns, untold = view.graph.assertions, False
    for row in range(view.bounds[ASSERTION]):
        flags = columns.read(row).flags
        untold |= bool(columns.evidence(row, flags)) and not flags >> ROLE_SHIFT & ROLE_MASK
        found = loosely_cited(view.graph, row + 1)  # asked after every claim, as it is after every commit
        assert found or not untold
        assert not found or untold or columns.citations
    assert loosely_cited(view.graph, view.bounds[ASSERTION]) == untold


@pytest.mark.parametrize("kinds", [CITATIONS[:1], CITATIONS[:2], CITATIONS])
@pytest.mark.parametrize("seed", range(6))
def test_a_slot_reads_the_same_on_the_ready_path(seed: int, kinds: tuple[str, ...]) -> None:
    nexus = told(seed, kinds)
    query = "FIND(?b.status, ?b.accepted_values) WHERE { ?b BELIEF SLOT (:s, :p) } AS OF SEQ :k FOR TIME :t"
    statement = nexus.prepare(query)
    for seq in (8, 12, nexus.space_seq):
        for day in (1, 6, 12, 20):
            given = {"s": f"C-{seed % 3 + 1}", "p": "height", "k": seq, "t": f"2026-01-{day:02}T12:00:00.000Z"}
            wanted = nexus.query(query, given, limits=kipql.Limits()).rows  # limits of a call: the general path
            for _ in range(4):
                assert statement.query(given).rows == wanted
