"""Both time axes at once: (before, after) in the memory x (before, after) in the world, for all that can happen.

Each story has two moments: a sequence at which the memory did not know yet, and a day on which the world was still
the old one. The four answers are the four questions of §48.4.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

import kipql
from tests.belief.world import PEOPLE

ROME, OSLO, BERN = ({"id": id_} for id_ in ("C-3", "C-4", "C-5"))
OLD, NEW = "2026-03-01T00:00:00.000Z", "2026-09-01T00:00:00.000Z"
LIVES = 'ASSERT ?a (:who, "lives_in", :where) {by: :by, mode: "stated", at: :at'
MOVED = "2026-06-01T00:00:00.000Z"


@dataclass
class Story:
    """A memory in which something happened; `known` is the sequence before it did."""

    nexus: kipql.Nexus
    known: int = 0
    said: dict[str, str] = field(default_factory=dict)

    def say(self, name: str, where: str, at: str, by: str = "C-1", more: str = "", **parameters: Any) -> None:
        tail = more.partition("} ")
        text = f"{LIVES}{tail[0]}}} {tail[2]}"
        given = {"who": "C-1", "where": where, "by": by, "at": at, **parameters}
        receipt = self.nexus.execute(text, given)
        self.said[name] = receipt.handles["a"]  # type: ignore[union-attr]

    def now(self) -> None:
        """From here on things happen."""
        self.known = self.nexus.space_seq

    def do(self, text: str, **parameters: Any) -> None:
        self.nexus.execute(text, parameters)


def memory() -> Story:
    nexus = kipql.open(packages=[PEOPLE])
    nexus.execute(
        """MUTATE {
          CREATE CONCEPT ?ann { TYPE "Person" NAME "Ann" }
          CREATE CONCEPT ?ben { TYPE "Person" NAME "Ben" }
          CREATE CONCEPT ?rome { TYPE "Place" NAME "Rome" }
          CREATE CONCEPT ?oslo { TYPE "Place" NAME "Oslo" }
          CREATE CONCEPT ?bern { TYPE "Place" NAME "Bern" }
          CREATE CONCEPT ?roma { TYPE "Place" NAME "Roma" }
          CREATE EVIDENCE ?letter { SET FIELDS {evidence_class: "message", payload: "I live in Rome"} }
        }"""
    )
    return Story(nexus)


def change(story: Story) -> None:
    """The world moved: one claim from when it did."""
    story.say("old", "C-3", "2026-01-10T00:00:00.000Z")
    story.now()
    story.say("new", "C-4", "2026-06-10T00:00:00.000Z", more=", valid: {from: :from}", **{"from": MOVED})


def correction(story: Story) -> None:
    """The claim was never true: the new one takes its interval and supersedes it."""
    story.say("wrong", "C-3", "2026-01-10T00:00:00.000Z")
    story.now()
    story.say(
        "right",
        "C-4",
        "2026-06-10T00:00:00.000Z",
        more=", valid: {from: {latest: :was}}} SUPERSEDING :wrong",
        was="2026-01-10T00:00:00.000Z",
        wrong=story.said["wrong"],
    )


def ended(story: Story) -> None:
    """It stopped, and nothing came after it: the same actor, the opposite stance."""
    story.say("old", "C-3", "2026-01-10T00:00:00.000Z")
    story.now()
    story.say(
        "end", "C-3", "2026-06-10T00:00:00.000Z", more=', stance: "reject", valid: {from: :from}', **{"from": MOVED}
    )


def late(story: Story) -> None:
    """An old claim is recorded last, with the time it was made: it displaces nothing."""
    story.say("current", "C-4", "2026-06-10T00:00:00.000Z", more=", valid: {from: :from}", **{"from": MOVED})
    story.now()
    story.say("letter", "C-3", "2026-01-10T00:00:00.000Z")


def coarse(story: Story) -> None:
    """The move is known only as "some day of the summer"."""
    story.say("old", "C-3", "2026-01-10T00:00:00.000Z")
    story.now()
    story.say(
        "new",
        "C-4",
        "2026-08-31T00:00:00.000Z",
        more=", valid: {from: {earliest: :first, latest: :last}}",
        first="2026-06-01T00:00:00.000Z",
        last="2026-08-31T23:59:59.999Z",
    )


def retracted(story: Story) -> None:
    """The successor is withdrawn: its predecessor's open end returns (§25.4)."""
    story.say("old", "C-3", "2026-01-10T00:00:00.000Z")
    story.say("new", "C-4", "2026-06-10T00:00:00.000Z", more=", valid: {from: :from}", **{"from": MOVED})
    story.now()
    story.do('TRANSITION :a TO "retracted"', a=story.said["new"])


def merged(story: Story) -> None:
    """Two names of one place become one: what looked like two values is one."""
    story.say("one", "C-3", "2026-01-10T00:00:00.000Z")
    story.say("two", "C-6", "2026-01-20T00:00:00.000Z", by="C-2")
    story.now()
    story.do('MERGE CONCEPT "C-6" INTO "C-3"')


def superseded(story: Story) -> None:
    """Someone else corrects themselves: the other's claim stands alone."""
    story.say("hers", "C-3", "2026-01-10T00:00:00.000Z")
    story.say("his", "C-5", "2026-01-20T00:00:00.000Z", by="C-2")
    story.now()
    story.say(
        "his new",
        "C-3",
        "2026-02-20T00:00:00.000Z",
        by="C-2",
        more="} SUPERSEDING :wrong",
        wrong=story.said["his"],
    )


def corrected_source(story: Story) -> None:
    """The Evidence was a misreading: what rests on it alone has no root any more (§22.4)."""
    story.say("old", "C-3", "2026-01-10T00:00:00.000Z", more=", evidence: :e", e="E-1")
    story.now()
    story.do(
        """MUTATE {
          CREATE EVIDENCE ?new { SET FIELDS {evidence_class: "message", payload: "I lived in Rome"} }
          TRANSITION "E-1" TO "corrected" BY ?new
        }"""
    )


def purged_source(story: Story) -> None:
    """Only the bytes of the Evidence are gone: it still is a root (§60.6)."""
    story.say("old", "C-3", "2026-01-10T00:00:00.000Z", more=", evidence: :e", e="E-1")
    story.now()
    story.do('PURGE PAYLOAD "E-1" CONFIRM "PURGE"')


def archived(story: Story) -> None:
    """The claim is archived: recall, and belief with it, leaves it out."""
    story.say("old", "C-3", "2026-01-10T00:00:00.000Z")
    story.now()
    story.do('TRANSITION :a TO "archived"', a=story.said["old"])


Answer = tuple[str, list[dict[str, str]]]
NOTHING: Answer = ("insufficient", [])
UNSURE: Answer = ("uncertain", [])
CLASH: Answer = ("contested", [])


def only(*values: dict[str, str]) -> Answer:
    return ("accepted", [*values])


# story -> ((memory before, world before), (before, after), (after, before), (after, after))
TABLE: dict[Callable[[Story], None], tuple[Answer, Answer, Answer, Answer]] = {
    change: (only(ROME), only(ROME), only(ROME), only(OSLO)),
    correction: (only(ROME), only(ROME), only(OSLO), only(OSLO)),
    ended: (only(ROME), only(ROME), only(ROME), NOTHING),
    late: (NOTHING, only(OSLO), only(ROME), only(OSLO)),
    coarse: (only(ROME), only(ROME), only(ROME), only(OSLO)),
    retracted: (only(ROME), only(OSLO), only(ROME), only(ROME)),
    merged: (CLASH, CLASH, only(ROME), only(ROME)),
    superseded: (CLASH, CLASH, only(ROME), only(ROME)),
    corrected_source: (only(ROME), only(ROME), UNSURE, UNSURE),
    purged_source: (only(ROME), only(ROME), only(ROME), only(ROME)),
    archived: (only(ROME), only(ROME), NOTHING, NOTHING),
}
SLOT = """FIND(?home.status, ?home.accepted_values) WHERE { ?home BELIEF SLOT ("C-1", "lives_in") }
AS OF SEQ :seq FOR TIME :at"""


@pytest.mark.parametrize("happened", TABLE, ids=lambda story: story.__name__)
def test_the_four_questions(happened: Callable[[Story], None]) -> None:
    story = memory()
    happened(story)
    found = [
        story.nexus.query(SLOT, {"seq": seq, "at": at}).one()
        for seq in (story.known, story.nexus.space_seq)
        for at in (OLD, NEW)
    ]
    assert found == list(TABLE[happened])


@pytest.mark.parametrize("happened", TABLE, ids=lambda story: story.__name__)
def test_the_present_is_a_past_as_soon_as_something_follows(happened: Callable[[Story], None]) -> None:
    story = memory()
    happened(story)
    seq = story.nexus.space_seq
    now = [story.nexus.query(SLOT.replace("AS OF SEQ :seq", ""), {"at": at}).one() for at in (OLD, NEW)]
    story.say("later", "C-5", "2026-12-01T00:00:00.000Z", by="C-2")
    assert [story.nexus.query(SLOT, {"seq": seq, "at": at}).one() for at in (OLD, NEW)] == now


def test_a_coarse_move_is_uncertain_while_it_may_have_happened() -> None:
    story = memory()
    coarse(story)
    answers = [
        story.nexus.query(SLOT, {"seq": story.nexus.space_seq, "at": f"2026-{day}T00:00:00.000Z"}).one()[0]
        for day in ("05-31", "06-01", "07-15", "08-31", "09-01")
    ]
    assert answers == ["accepted", "uncertain", "uncertain", "uncertain", "accepted"]


def test_a_rejected_end_is_told_apart_from_silence() -> None:
    story = memory()
    ended(story)
    grounded = 'FIND(?b.status) WHERE { ?b BELIEF ("C-1", "lives_in", "C-3") } FOR TIME :at'
    assert story.nexus.query(grounded, {"at": NEW}).scalar() == "rejected"
    assert story.nexus.query(grounded.replace('"C-3"', '"C-5"'), {"at": NEW}).scalar() == "insufficient"


def test_without_for_time_a_belief_is_about_the_clock() -> None:
    from datetime import UTC, datetime

    nexus = kipql.open(packages=[PEOPLE], clock=lambda: datetime(2026, 3, 1, tzinfo=UTC))
    nexus.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ann" }')
    nexus.execute('CREATE CONCEPT ?a { TYPE "Place" NAME "Rome" }')
    claim = 'ASSERT ("C-1", "lives_in", "C-2") {by: "C-1", mode: "stated", valid: {from: :from}}'
    nexus.execute(claim, {"from": "2026-03-02T00:00:00.000Z"})
    slot = nexus.query(
        'FIND(?b.status, ?b.basis.valid_at, ?b.basis.next_invalid_at) WHERE { ?b BELIEF SLOT ("C-1", "lives_in") }'
    )
    assert slot.one() == ("insufficient", "2026-03-01T00:00:00.000Z", "2026-03-02T00:00:00.000Z")
