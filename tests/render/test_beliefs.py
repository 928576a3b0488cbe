"""The ledger and the timeline of a belief, drawn: each line says what the rules say of that claim (§27.4)."""

import re
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql.errors import KipError
from kipql.render import ledger, timeline
from kipql.render.tables import width
from tests.belief.world import PEOPLE

# One claim for each thing that can be said of a claim; the comment is what the rules say in August, without a context.
TOLD = """MUTATE {
  CREATE CONCEPT ?ann { TYPE "Person" NAME "Ann" }
  CREATE CONCEPT ?bob { TYPE "Person" NAME "Bob" }
  CREATE CONCEPT ?cid { TYPE "Person" NAME "Cid" }
  CREATE CONCEPT ?dee { TYPE "Person" NAME "Dee" }
  CREATE CONCEPT ?work { TYPE "Setting" NAME "Work" }
  CREATE EVIDENCE ?mail { SET FIELDS {evidence_class: "message", payload: "Oslo it is"} }
  ASSERT ?a1 (?ann, "height", 170) {by: ?ann, mode: "stated", at: "2026-01-10T00:00:00.000Z"}
  ASSERT ?a2 (?ann, "height", 172) {by: ?ann, mode: "stated", at: "2026-06-10T00:00:00.000Z",
    valid: {from: "2026-06-01T00:00:00.000Z"}, evidence: ?mail}
  ASSERT ?a3 (?ann, "height", 172) {by: ?cid, mode: "stated", at: "2026-06-11T00:00:00.000Z", evidence: ?mail}
  ASSERT ?a4 (?ann, "height", 170) {by: ?dee, mode: "stated", at: "2026-05-01T00:00:00.000Z", stance: "reject"}
  ASSERT ?a5 (?ann, "height", 180) {by: ?bob, mode: "stated", at: "2026-07-01T00:00:00.000Z"}
  ASSERT ?a6 (?ann, "height", 171) {by: ?dee, mode: "stated", at: "2026-02-01T00:00:00.000Z"}
  ASSERT ?a7 (?ann, "height", 181) {by: ?bob, mode: "stated", at: "2026-02-01T00:00:00.000Z"}
  ASSERT ?a8 (?ann, "height", 182) {by: ?bob, mode: "predicted", at: "2026-02-01T00:00:00.000Z"}
  ASSERT ?a9 (?ann, "height", 183) {by: ?bob, mode: "stated", at: "2026-02-01T00:00:00.000Z", context: [?work]}
  ASSERT ?a10 (?ann, "height", 184) {by: ?ann, mode: "stated", at: "2026-02-01T00:00:00.000Z",
    valid: {from: "2027-01-01T00:00:00.000Z"}}
  ASSERT ?a11 (?ann, "height", 185) {by: ?dee, mode: "inferred", at: "2026-02-01T00:00:00.000Z"}
  ASSERT ?a12 (?ann, "height", 186) {by: ?bob, mode: "observed", at: "2026-02-01T00:00:00.000Z",
    valid: {from: {earliest: "2026-07-01T00:00:00.000Z", latest: "2026-09-30T00:00:00.000Z"}}}
}"""
REVISED = (
    'ASSERT ?a ("C-1", "height", 171) {by: "C-4", mode: "stated", at: "2026-07-20T00:00:00.000Z"} SUPERSEDING "A-6"',
    'TRANSITION "A-7" TO "retracted"',
)
NAMES = {"C-1": "Ann", "C-2": "Bob", "C-3": "Cid", "C-4": "Dee"}
SLOT = """FIND(?b) WHERE { ?b BELIEF SLOT ("C-1", "height") } FOR TIME "2026-08-01T00:00:00.000Z"
WITH EPISTEMIC {policy: "kip:memory-default", explanation: "ledger"}"""


def name(element: str) -> str:
    return NAMES.get(element, element)


@pytest.fixture
def nexus() -> kipql.Nexus:
    nexus = kipql.open(packages=[PEOPLE])
    nexus.execute(TOLD)
    for text in REVISED:
        nexus.execute(text)
    return nexus


GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "beliefs"


@pytest.mark.parametrize(("drawn", "golden"), [(ledger, "ledger.txt"), (timeline, "timeline.txt")])
def test_a_slot_with_everything_in_it(nexus: kipql.Nexus, drawn: Any, golden: str) -> None:
    expected = (GOLDEN / golden).read_text(encoding="utf-8")
    assert drawn(nexus.query(SLOT).scalar(), name) + "\n" == expected


# claim -> (why it counts or not, its root group, the line and the claims that cut it, the rule that decided)
WHY = {
    "A-1": ("expired", None, ("slot", ["A-2"]), None),
    "A-2": ("support", 0, ("slot", ["A-10"]), "first_person_testimony"),
    "A-3": ("support", 0, None, "first_person_testimony"),
    "A-4": ("opposition", 0, None, None),
    "A-5": ("temporal_indeterminate", None, ("slot", ["A-12"]), None),
    "A-6": ("superseded", None, None, None),
    "A-7": ("retracted", None, None, None),
    "A-8": ("mode_predicted", None, None, None),
    "A-9": ("context_mismatch", None, None, None),
    "A-10": ("not_yet_valid", None, None, None),
    "A-11": ("support", 0, None, None),
    "A-12": ("temporal_indeterminate", None, None, None),
    "A-13": ("support", 0, None, "first_person_testimony"),
}


@pytest.mark.parametrize("screen", [40, 60, 80, 100])
def test_a_narrow_screen_cuts_no_claim_date_or_number(nexus: kipql.Nexus, screen: int) -> None:
    slot = nexus.query(SLOT).one()
    whole = timeline(slot, name).splitlines()
    drawn = timeline(slot, name, screen=screen)
    lines = drawn.splitlines()
    assert max(map(width, lines)) <= max(screen, max(map(len, drawn.split())))
    for row in whole[whole.index(next(line for line in whole if line.startswith("claim "))) + 2 :]:
        for word in re.findall(r"A-\d+|\d{4}-\d\d-\d\d|#\d+", row):
            assert word in drawn
    assert not re.search(r"(?:A-\d*|\d)…", drawn)


def test_the_claims_are_a_tree_where_a_table_does_not_fit(nexus: kipql.Nexus) -> None:
    lines = ledger(nexus.query(SLOT).one(), name, screen=60).splitlines()
    heads = [line for line in lines if line.startswith(("|- ", "`- "))]
    assert {line.split()[1] for line in heads} == {f"A-{number}" for number in range(1, 14)} and len(heads) == 13
    assert heads[-1].startswith("`- ") and all(
        line.startswith(("|    ", "     ")) for line in lines if line not in heads
    )
    assert "-> superseded by A-13" in " ".join(lines)
    assert not any(line.startswith("-- 1") for line in lines)


def test_the_ledger_says_of_every_claim_why(nexus: kipql.Nexus) -> None:
    entries = nexus.query(SLOT).scalar()["explanation"]["entries"]
    found = {
        entry["assertion_id"]: (
            entry["verdict"],
            entry["root_group"],
            None if entry["ended_by"] is None else (entry["ended_by"]["line"], entry["ended_by"]["assertion_ids"]),
            None if entry["precedence"] is None else entry["precedence"]["rule"],
        )
        for entry in entries
    }
    assert found == WHY
    assert {entry["assertion_id"]: entry["revised_by"] for entry in entries if entry["revised_by"]} == {"A-6": ["A-13"]}


def test_a_proposition_line_is_named_as_one(nexus: kipql.Nexus) -> None:
    nexus.execute(
        """ASSERT ("C-1", "height", 170) {by: "C-4", mode: "stated", at: "2026-07-01T00:00:00.000Z",
        valid: {from: "2026-07-01T00:00:00.000Z"}}"""
    )
    drawn = ledger(nexus.query(SLOT).scalar(), name)
    assert (
        next(line for line in drawn.splitlines() if line.startswith("A-4 "))
        .rstrip()
        .endswith("expired                                                proposition line: A-14")
    )


def test_what_carries_no_ledger_draws_none(nexus: kipql.Nexus) -> None:
    for drawn in (ledger, timeline):
        with pytest.raises(KipError) as caught:
            drawn(nexus.query(SLOT.replace(', explanation: "ledger"', "")).scalar())
        assert caught.value.code == "ConstraintViolation"


# --- what stood once (§27.1, §49) ---------------------------------------------------------------------

PAST = [("A-1", "expired"), ("A-6", "superseded"), ("A-7", "retracted")]


@pytest.mark.parametrize("level", ["none", "summary", "ledger"])
def test_the_historical_claims_are_named_when_asked_for(nexus: kipql.Nexus, level: str) -> None:
    text = SLOT.replace('explanation: "ledger"', f'explanation: "{level}"')
    without = nexus.query(text).scalar()
    asked = nexus.query(text.replace("explanation:", "include_historical: true, explanation:")).scalar()
    told = asked["explanation"]["historical"]
    assert [(entry["assertion_id"], entry["verdict"]) for entry in told] == PAST
    assert not any(entry["counts"] for entry in told)
    # It is disclosure: nothing else of the answer is another one.
    for slot in (without, asked):
        for one in (slot, *slot["candidate_projections"]):
            del one["explanation"]
    assert without == asked


def test_without_asking_nothing_is_said_of_the_past(nexus: kipql.Nexus) -> None:
    for more in ("", "include_historical: false, "):
        slot = nexus.query(SLOT.replace("explanation:", f"{more}explanation:")).scalar()
        assert "historical" not in slot["explanation"]
    plain = 'FIND(?b.explanation) WHERE { ?b BELIEF SLOT ("C-1", "height") } WITH EPISTEMIC {include_historical: %s}'
    assert nexus.query(plain % "false").scalar() is None
    assert nexus.query(plain % "true").scalar()["level"] == "none"


def test_a_single_belief_names_its_own_past(nexus: kipql.Nexus) -> None:
    text = """FIND(?b.explanation.historical) WHERE { ?b BELIEF ("C-1", "height", 181) }
    FOR TIME "2026-08-01T00:00:00.000Z" WITH EPISTEMIC {include_historical: true}"""
    assert [entry["assertion_id"] for entry in nexus.query(text).scalar()] == ["A-7"]
    # What the request could not have counted anyway is no history of it: another context, another mode.
    nexus.execute('TRANSITION "A-9" TO "retracted"')
    assert nexus.query(text.replace("181", "183")).scalar() == []
