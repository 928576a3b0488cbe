"""Watch evaluation over the change stream (`watch_evaluation`; Profile §5.11)."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import KipError, Nexus

WATCH = """CREATE CONCEPT ?w { TYPE "Watch" SET ATTRIBUTES {
  watch_class: :kind, summary: "s", status: "armed", condition: :condition, due_at: :due } }"""
DUE = "2026-01-02T00:00:00.000Z"


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_(self, **span: float) -> None:
        self.now += timedelta(**span)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def nexus(clock: Clock) -> Nexus:
    """C-1 Ada, C-2 Bo; P-1 Ada same_as Bo."""
    nexus = kipql.open(clock=clock)
    nexus.execute(
        """MUTATE {
          CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }
          CREATE CONCEPT ?b { TYPE "Person" NAME "Bo" }
          ENSURE PROPOSITION ?p (?a, "same_as", ?b)
        }"""
    )
    return nexus


def arm(nexus: Nexus, condition: Any, kind: str = "delta", due: str | None = None) -> None:
    nexus.execute(WATCH, {"kind": kind, "condition": condition, "due": due})


def status(nexus: Nexus) -> str:
    return str(nexus.query('FIND(?w.attributes.status) WHERE { ?w {type: "Watch"} }').scalar())


RENAME = 'UPDATE "C-1" SET FIELDS {name: "Ada L."}'
CLAIM = 'ASSERT ("C-1", "same_as", "C-2") {by: "C-1", mode: "stated"}'
OTHER = 'ASSERT ("C-2", "same_as", "C-2") {by: "C-1", mode: "stated"}'
NEW = 'CREATE CONCEPT ?n { TYPE "Person" NAME "New" }'

DELTAS: dict[str, tuple[Any, str, bool]] = {
    "its element changes": ({"element": "C-1"}, RENAME, True),
    "another element changes": ({"element": "C-2"}, RENAME, False),
    "an element by reference": ({"element": {"id": "C-1"}}, RENAME, True),
    "an element that is not there": ({"element": "C-99"}, RENAME, False),
    "a claim in its slot": ({"slot": {"subject": "C-1", "predicate": "same_as"}}, CLAIM, True),
    "a claim in another slot": ({"slot": {"subject": "C-1", "predicate": "same_as"}}, OTHER, False),
    "a claim of another Predicate": ({"slot": {"subject": "C-1", "predicate": "prefers"}}, CLAIM, False),
    "a new element of its type": ({"type": "Person"}, NEW, True),
    "an element of another type": ({"type": "Event"}, NEW, False),
    "an op that counts": ({"type": "Person", "ops": ["create", "purge"]}, NEW, True),
    "an op that does not": ({"type": "Person", "ops": ["create"]}, RENAME, False),
    "one op as a string": ({"type": "Person", "ops": "update"}, RENAME, True),
    "a touched path": ({"type": "Person", "touched": ["fields.name"]}, RENAME, True),
    "a path above it": ({"element": "C-1", "touched": "fields"}, RENAME, True),
    "another path": ({"element": "C-1", "touched": ["attributes.role"]}, RENAME, False),
    "a create touches nothing": ({"type": "Person", "touched": ["fields.name"]}, NEW, False),
    "all selectors hold": ({"element": "C-1", "type": "Person"}, RENAME, True),
    "one selector fails": ({"element": "C-1", "type": "Event"}, RENAME, False),
    "text beside a selector": ({"element": "C-1", "text": "anything"}, RENAME, True),
    "text alone is a Brain's": ({"text": "anything"}, RENAME, False),
    "a plain string is a Brain's": ("anything", RENAME, False),
    "an unknown member is a Brain's": ({"element": "C-1", "mood": "calm"}, RENAME, False),
}


@pytest.mark.parametrize(("condition", "change", "fires"), DELTAS.values(), ids=DELTAS)
def test_a_delta_watch_fires_at_a_matching_change(nexus: Nexus, condition: Any, change: str, fires: bool) -> None:
    arm(nexus, condition)
    assert nexus.watches.evaluate() == []
    nexus.execute(change)
    assert len(nexus.watches.evaluate()) == fires


def test_what_was_committed_before_the_arming_does_not_count(nexus: Nexus) -> None:
    nexus.execute(RENAME)
    arm(nexus, {"element": "C-1"})
    assert nexus.watches.evaluate() == []


def test_a_firing_is_one_guarded_transaction(nexus: Nexus) -> None:
    arm(nexus, {"element": "C-1"})
    nexus.execute(RENAME)
    (firing,) = nexus.watches.evaluate()
    assert (firing.watch, firing.cause, firing.space_seq, firing.generation) == ("C-3", "C-1", 3, 1)
    activity = nexus.query("FIND(?x) WHERE { ?x ACTIVITY {} }").scalar()
    assert activity["client_key"] == firing.key == "watch_fire:C-3:1:3"
    assert activity["activity_class"] == "watch_fire" and activity["inputs"] == [{"id": "C-3"}, {"id": "C-1"}]
    assert nexus.space_seq == 4 and status(nexus) == "fired"
    state = nexus.query('FIND(?w.facets["WatchState"]) WHERE { ?w {type: "Watch"} }').scalar()
    assert (state["arm_generation"], state["armed_seq"], state["consumed_seq"], state["matched"]) == (1, 2, 3, True)


def test_it_fires_once_however_often_it_is_evaluated(nexus: Nexus) -> None:
    arm(nexus, {"element": "C-1"})
    nexus.execute(RENAME)
    first, second = nexus.watches, nexus.watches
    assert len(second.due()) == 1
    assert len(first.evaluate()) == 1
    assert second.evaluate() == []
    nexus.execute('UPDATE "C-1" SET FIELDS {name: "again"}')
    assert first.evaluate() == []


def test_arming_again_is_a_new_generation(nexus: Nexus) -> None:
    arm(nexus, {"element": "C-1"})
    nexus.execute(RENAME)
    watches = nexus.watches
    watches.evaluate()
    nexus.execute('UPDATE "C-3" SET ATTRIBUTES {status: "armed"}')
    assert watches.evaluate() == []
    nexus.execute('UPDATE "C-3" SET ATTRIBUTES {condition: {element: "C-2"}}')
    nexus.execute('UPDATE "C-3" SET ATTRIBUTES {summary: "other words"}')
    assert [(row["arm_generation"], row["armed_seq"]) for row in watches.armed()] == [(3, 6)]
    nexus.execute('UPDATE "C-2" SET FIELDS {name: "B"}')
    assert [firing.key for firing in watches.evaluate()] == ["watch_fire:C-3:3:8"]


def test_a_disarmed_or_archived_watch_is_not_evaluated(nexus: Nexus) -> None:
    arm(nexus, {"element": "C-1"})
    arm(nexus, {"element": "C-1"})
    nexus.execute('UPDATE "C-3" SET ATTRIBUTES {status: "disarmed"}')
    nexus.execute('TRANSITION "C-4" TO "archived"')
    nexus.execute(RENAME)
    assert nexus.watches.armed() == nexus.watches.evaluate() == []


# --- silence ------------------------------------------------------------------------------------------


def test_silence_needs_the_deadline_and_no_match(nexus: Nexus, clock: Clock) -> None:
    arm(nexus, {"element": "C-1"}, "silence", DUE)
    assert nexus.watches.evaluate() == []
    clock.pass_(hours=23)
    assert nexus.watches.evaluate() == []
    clock.pass_(hours=1)
    (firing,) = nexus.watches.evaluate()
    assert firing.key == f"watch_fire:C-3:1:silence:{DUE}"
    assert (firing.cause, firing.space_seq) == (None, 2)


def test_a_match_before_the_deadline_is_no_silence_even_when_it_was_not_looked_at(nexus: Nexus, clock: Clock) -> None:
    arm(nexus, {"element": "C-1"}, "silence", DUE)
    nexus.execute(RENAME)
    clock.pass_(days=2)
    assert nexus.watches.evaluate() == [] and status(nexus) == "armed"


def test_a_match_after_the_deadline_comes_too_late(nexus: Nexus, clock: Clock) -> None:
    arm(nexus, {"element": "C-1"}, "silence", DUE)
    clock.pass_(days=2)
    nexus.execute(RENAME)
    assert len(nexus.watches.evaluate()) == 1


def test_silence_without_a_deadline_never_fires(nexus: Nexus, clock: Clock) -> None:
    arm(nexus, {"element": "C-1"}, "silence")
    clock.pass_(days=9)
    assert nexus.watches.evaluate() == []


def test_a_restart_forgets_no_match(tmp_path: Path, clock: Clock) -> None:
    with kipql.open(tmp_path / "m", clock=clock) as nexus:
        nexus.execute(NEW)
        arm(nexus, {"element": "C-1"}, "silence", DUE)
        nexus.watches.evaluate()
        nexus.execute(RENAME)
    clock.pass_(days=2)
    with kipql.open(tmp_path / "m", clock=clock) as again:
        assert again.watches.evaluate() == []


# --- following ----------------------------------------------------------------------------------------


def test_following_fires_in_the_wake_of_a_commit(nexus: Nexus) -> None:
    seen: list[str] = []
    end = nexus.watches.follow(lambda firing: seen.append(firing.watch))
    arm(nexus, {"element": "C-1"})
    arm(nexus, {"type": "Person", "ops": ["update"]})
    nexus.execute(RENAME)
    assert sorted(seen) == ["C-3", "C-4"]
    end()
    arm(nexus, {"element": "C-1"})
    nexus.execute('UPDATE "C-1" SET FIELDS {name: "x"}')
    assert len(seen) == 2


def test_a_watch_on_watches_sees_the_firing_of_another(nexus: Nexus) -> None:
    arm(nexus, {"element": "C-1"})
    arm(nexus, {"type": "Watch", "touched": ["attributes.status"]})
    nexus.execute(RENAME)
    watches = nexus.watches
    assert [firing.watch for firing in (*watches.evaluate(), *watches.evaluate())] == ["C-3", "C-4"]


def test_a_reader_sees_what_is_due_and_fires_nothing(nexus: Nexus) -> None:
    arm(nexus, {"element": "C-1"})
    nexus.execute(RENAME)
    reader = nexus.readonly().watches
    assert [firing.watch for firing in reader.due()] == ["C-3"]
    with pytest.raises(KipError) as caught:
        reader.evaluate()
    assert caught.value.code == "ReadonlyViolation"


def test_what_fired_it_may_be_gone_by_then(nexus: Nexus) -> None:
    arm(nexus, {"type": "Person", "ops": ["create"]})
    nexus.execute(NEW)
    nexus.execute('PURGE "C-4" CONFIRM "PURGE"')
    (firing,) = nexus.watches.evaluate()
    assert firing.cause == "C-4"
    assert nexus.query("FIND(?x.inputs) WHERE { ?x ACTIVITY {} }").scalar() == [{"id": "C-3"}]
