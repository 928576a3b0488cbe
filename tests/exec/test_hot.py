"""Fields read from packed records say what the whole record says (`kipql.exec.hot`)."""

import pytest

import kipql
from tests.belief.world import PEOPLE
from tests.exec.running import MODES, rows_of, run

VALID = (
    "",
    ', valid: {from: "2026-01-01T00:00:00.000Z"}',
    ', valid: {from: "2026-02-01T00:00:00.000Z", until: "2026-03-01T00:00:00.000Z"}',
    ', valid: {from: {earliest: "2026-01-01T00:00:00.000Z", latest: "2026-02-01T00:00:00.000Z"}}',
    ', valid: {until: "2026-02-01T00:00:00.000Z"}',
    ', valid: {until: {earliest: "2026-02-01T00:00:00.000Z"}}',
)
CLAIMS = [(stance, mode, valid) for valid in VALID for stance, mode in (("support", "stated"), ("reject", "observed"))]


@pytest.fixture(scope="module")
def nexus() -> kipql.Nexus:
    made = kipql.open(packages=[PEOPLE])
    made.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ann" }')
    for number, (stance, mode, valid) in enumerate(CLAIMS):
        made.execute(
            f'ASSERT ("C-1", "height", {100 + number}) {{by: "C-1", mode: "{mode}", stance: "{stance}"{valid}}}'
        )
    made.execute('TRANSITION "A-3" TO "retracted"')
    made.execute('TRANSITION "A-4" TO "archived"')
    made.execute('PURGE "A-6" REFERENCE POLICY "tombstone_reference" CONFIRM "PURGE"')
    return made


@pytest.mark.parametrize("end", ["from", "until"])
@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "==", "!="])
@pytest.mark.parametrize("value", ["2026-02-01T00:00:00.000Z", "2026-01-15T12:00:00.001Z", "2026", "", 7, None])
def test_a_comparison_with_an_end_is_the_same_in_every_mode(
    nexus: kipql.Nexus, end: str, op: str, value: object
) -> None:
    text = f"FIND(?a.id) WHERE {{ ?a ASSERTION {{}} FILTER(?a.valid_time.{end} {op} :t) }}"
    found = [sorted(rows_of(run(nexus, text, {"t": value}, mode))) for mode in MODES]
    assert found[0] == found[1] == found[2]
    flipped = f"FIND(?a.id) WHERE {{ ?a ASSERTION {{}} FILTER(:t {op} ?a.valid_time.{end}) }}"
    found = [sorted(rows_of(run(nexus, flipped, {"t": value}, mode))) for mode in MODES]
    assert found[0] == found[1] == found[2]


def test_an_exact_end_orders_as_its_instant(nexus: kipql.Nexus) -> None:
    text = "FIND(?a.id) WHERE { ?a ASSERTION {} FILTER(?a.valid_time.from <= :t) }"
    held = {row[0] for row in rows_of(run(nexus, text, {"t": "2026-01-31T23:59:59.999Z"}))}
    assert held == {"A-3"} and "A-5" not in held


@pytest.mark.parametrize("item", ["stance", "mode"])
def test_stance_and_mode_read_the_same_in_every_mode(nexus: kipql.Nexus, item: str) -> None:
    text = f"FIND(?a.id, ?a.{item}) WHERE {{ ?a ASSERTION {{}} }}"
    found = [sorted(rows_of(run(nexus, text, {}, mode))) for mode in MODES]
    assert found[0] == found[1] == found[2]
    assert ["A-1", CLAIMS[0][item == "mode"]] in found[0] and ["A-2", CLAIMS[1][item == "mode"]] in found[0]
    tested = f"FIND(?a.id) WHERE {{ ?a ASSERTION {{{item}: :v}} }}"
    for value in (CLAIMS[0][item == "mode"], CLAIMS[1][item == "mode"], "other", 3, None):
        found = [sorted(rows_of(run(nexus, tested, {"v": value}, mode))) for mode in MODES]
        assert found[0] == found[1] == found[2]
