"""`effective_strength` in a query: computed at the read's instant, never stored (§59.1)."""

from datetime import UTC, datetime
from typing import Any

import pytest

import kipql
from kipql.errors import KipError
from kipql.strength import HALF_LIFE_30D, HALF_LIFE_30D_DIGEST

PIN = {"artifact_ref": HALF_LIFE_30D, "content_digest": HALF_LIFE_30D_DIGEST}
STRENGTH = '?c.facets["MnemonicState"].effective_strength'


class Clock:
    now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def nexus() -> kipql.Nexus:
    clock = Clock()
    nexus = kipql.open(clock=clock)
    for name, base in (("fresh", 0.8), ("faint", 0.2)):
        nexus.execute(
            """CREATE CONCEPT ?c { TYPE "Person" NAME :name SET FACET "MnemonicState" {
              memory_strength: :base, last_metabolized_at: "2026-01-01T00:00:00.000Z", strength_policy: :pin} }""",
            {"name": name, "base": base, "pin": PIN},
        )
    nexus.execute('CREATE CONCEPT ?c { TYPE "Person" NAME "bare" }')
    clock.now = datetime(2026, 1, 31, tzinfo=UTC)
    return nexus


@pytest.mark.parametrize("runs", [1, 3], ids=["closures", "compiled"])
def test_it_halves_in_thirty_days(nexus: kipql.Nexus, runs: int) -> None:
    text = f"FIND(?c.name, {STRENGTH}) WHERE {{ ?c CONCEPT {{}} }} ORDER BY {STRENGTH} DESC"
    for _ in range(runs):
        rows = nexus.query(text).rows
    assert rows == [("fresh", 0.4), ("faint", 0.1), ("bare", None)]


def test_it_is_of_the_reads_instant_whatever_the_world_time_or_snapshot(nexus: kipql.Nexus) -> None:
    text = f'FIND({STRENGTH}) WHERE {{ ?c CONCEPT {{name: "fresh"}} }}'
    assert nexus.query(text + ' FOR TIME "2026-01-01T00:00:00.000Z"').rows == [0.4]
    assert nexus.query(text + " AS OF SEQ 1").rows == [0.4]


def test_it_filters_patterns_and_aggregates(nexus: kipql.Nexus) -> None:
    def rows(text: str, **parameters: Any) -> list[Any]:
        return nexus.query(text, parameters).rows

    assert rows(f"FIND(?c.name) WHERE {{ ?c CONCEPT {{}} FILTER({STRENGTH} < 0.2) }}") == ["faint"]
    pattern = 'FIND(?c.name) WHERE { ?c CONCEPT {facets: {"MnemonicState": {effective_strength: :s}}} }'
    assert rows(pattern, s=0.4) == ["fresh"]
    assert rows(pattern, s=0.8) == []
    assert rows(f"FIND(SUM({STRENGTH})) WHERE {{ ?c CONCEPT {{}} }}") == [0.5]
    with pytest.raises(KipError) as caught:
        rows('FIND(?s) WHERE { ?c CONCEPT {facets: {"MnemonicState": {effective_strength: ?s}}} }')
    assert caught.value.code == "InvalidSyntax"


def test_the_stored_facet_has_no_such_member(nexus: kipql.Nexus) -> None:
    facet = nexus.query('FIND(?c.facets["MnemonicState"]) WHERE { ?c CONCEPT {name: "fresh"} }').scalar()
    assert set(facet) == {"memory_strength", "last_metabolized_at", "strength_policy"}
    before = nexus.digest()
    nexus.query(f"FIND({STRENGTH}) WHERE {{ ?c CONCEPT {{}} }}")
    assert nexus.digest() == before


def test_a_mutation_selects_by_the_strength_of_its_own_instant(nexus: kipql.Nexus) -> None:
    nexus.execute(f'UPDATE ?c SET FIELDS {{name: "gone"}} WHERE {{ ?c CONCEPT {{}} FILTER({STRENGTH} < 0.2) }}')
    assert nexus.query('FIND(?c.id) WHERE { ?c {name: "gone"} }').rows == ["C-2"]
