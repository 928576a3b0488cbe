"""The audits of docs/examples find what they say, and nothing that is in order (§25.4, Appendix F.2)."""

from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql.audit.script import read_script
from tests.belief.world import PEOPLE

AUDITS = Path(__file__).parents[2] / "docs" / "examples" / "audits.kql"
PEOPLE_ARE = """MUTATE {
  CREATE CONCEPT ?ann { TYPE "Person" NAME "Ann" }
  CREATE CONCEPT ?bob { TYPE "Person" NAME "Bob" }
}"""
ANN, BOB = "C-1", "C-2"


def audit(name: str) -> str:
    (step,) = (step for step in read_script(str(AUDITS)).steps if step.directives.check == name)
    return step.text


def said(*claims: tuple[str, str, str]) -> kipql.Nexus:
    nexus = kipql.open(packages=[PEOPLE])
    nexus.execute(PEOPLE_ARE)
    for who, stance, since in claims:
        nexus.execute(
            'ASSERT ("C-1", "height", 170) {by: :who, mode: "stated", stance: :stance, at: :since}',
            {"who": who, "stance": stance, "since": f"{since}-01-01T00:00:00.000Z"},
        )
    return nexus


# who says what of one Proposition since when, and who contradicts whom now
CASES: list[tuple[list[tuple[str, str, str]], list[tuple[str, str]]]] = [
    ([(ANN, "support", "2020"), (BOB, "reject", "2021")], [("Ann", "Bob")]),
    ([(ANN, "support", "2021"), (BOB, "reject", "2020")], [("Ann", "Bob")]),
    # Ann ends her own claim: what she said held until then
    ([(ANN, "support", "2020"), (ANN, "reject", "2021")], []),
    # Bob denies what Ann says no more
    ([(ANN, "support", "2020"), (ANN, "reject", "2021"), (BOB, "reject", "2022")], []),
    # Bob says what Ann has ended
    ([(ANN, "support", "2020"), (ANN, "reject", "2021"), (BOB, "support", "2022")], [("Bob", "Ann")]),
    ([(ANN, "support", "2020"), (BOB, "support", "2021")], []),
    # of one moment, neither ends the other
    ([(ANN, "support", "2020"), (ANN, "reject", "2020")], [("Ann", "Ann")]),
]


@pytest.mark.parametrize(("claims", "found"), CASES)
def test_a_contradiction_is_between_claims_that_count_now(claims: Any, found: list[tuple[str, str]]) -> None:
    rows = said(*claims).query(audit("contradicting-claims")).rows
    assert sorted((says, denies) for _, says, denies, _, _ in rows) == found
