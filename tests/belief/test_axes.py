"""Both time axes at once: (before, after) in the memory x (before, after) in the world, for all that can happen.

Each story has two moments: a sequence at which the memory did not know yet, and a day on which the world was still
the old one. The four answers are the four questions of §48.4: a row of the table each.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
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


def misrecorded(story: Story) -> None:
    """The memory misheard: she never said Rome, and the message it was read out of stays (§57.8)."""
    story.say("misheard", "C-3", "2026-01-10T00:00:00.000Z", more=", evidence: :e", e="E-1")
    story.now()
    digest = story.nexus.query('FIND(?e.content_digest) WHERE { ?e EVIDENCE {id: "E-1"} }').scalar()
    story.nexus.repair.recording(
        source_ref="E-1",
        source_digest=digest,
        source_locator="bytes:10-14",
        invalidated_refs=[story.said["misheard"]],
        reason="extraction_error",
        expected_versions={story.said["misheard"]: 1},
        replacement_refs=["?a"],
        statement=f"""{LIVES}, evidence: "E-1"}}""",
        parameters={"who": "C-1", "where": "C-5", "by": "C-1", "at": "2026-01-10T00:00:00.000Z"},
    )


def withdrawn_merge(story: Story) -> None:
    """Two places were taken for one by mistake: the merge is withdrawn, and they are two values again (§11.5)."""
    story.say("one", "C-3", "2026-01-10T00:00:00.000Z")
    story.say("two", "C-6", "2026-01-20T00:00:00.000Z", by="C-2")
    story.do('MERGE CONCEPT "C-6" INTO "C-3"')
    story.now()
    (decision,) = story.nexus.repair.decisions()
    story.nexus.repair.identity(
        decision_id=decision["decision_id"],
        expected_identity_version=story.nexus.stats()["identity_version"],
        action="withdraw",
        reason_evidence="E-1",
    )


def bounded(story: Story) -> None:
    """She said beforehand until when: nothing has to end it."""
    story.now()
    story.say(
        "stay",
        "C-3",
        "2026-01-10T00:00:00.000Z",
        more=", valid: {from: :from, until: :until}",
        **{"from": "2026-01-10T00:00:00.000Z", "until": MOVED},
    )


Answer = tuple[str, list[dict[str, str]]]
NOTHING: Answer = ("insufficient", [])
UNSURE: Answer = ("uncertain", [])
CLASH: Answer = ("contested", [])


def only(*values: dict[str, str]) -> Answer:
    return ("accepted", [*values])


# story: the memory before and the world before, the memory before and the world after, and so on
TABLE: list[tuple[Callable[[Story], None], str, str, Answer]] = [
    (change, "before", "before", only(ROME)),
    (change, "before", "after", only(ROME)),
    (change, "after", "before", only(ROME)),
    (change, "after", "after", only(OSLO)),
    (correction, "before", "before", only(ROME)),
    (correction, "before", "after", only(ROME)),
    (correction, "after", "before", only(OSLO)),
    (correction, "after", "after", only(OSLO)),
    (ended, "before", "before", only(ROME)),
    (ended, "before", "after", only(ROME)),
    (ended, "after", "before", only(ROME)),
    (ended, "after", "after", NOTHING),
    (late, "before", "before", NOTHING),
    (late, "before", "after", only(OSLO)),
    (late, "after", "before", only(ROME)),
    (late, "after", "after", only(OSLO)),
    (coarse, "before", "before", only(ROME)),
    (coarse, "before", "during", only(ROME)),
    (coarse, "before", "after", only(ROME)),
    (coarse, "after", "before", only(ROME)),
    (coarse, "after", "during", UNSURE),
    (coarse, "after", "after", only(OSLO)),
    (retracted, "before", "before", only(ROME)),
    (retracted, "before", "after", only(OSLO)),
    (retracted, "after", "before", only(ROME)),
    (retracted, "after", "after", only(ROME)),
    (merged, "before", "before", CLASH),
    (merged, "before", "after", CLASH),
    (merged, "after", "before", only(ROME)),
    (merged, "after", "after", only(ROME)),
    (superseded, "before", "before", CLASH),
    (superseded, "before", "after", CLASH),
    (superseded, "after", "before", only(ROME)),
    (superseded, "after", "after", only(ROME)),
    (corrected_source, "before", "before", only(ROME)),
    (corrected_source, "before", "after", only(ROME)),
    (corrected_source, "after", "before", UNSURE),
    (corrected_source, "after", "after", UNSURE),
    (purged_source, "before", "before", only(ROME)),
    (purged_source, "before", "after", only(ROME)),
    (purged_source, "after", "before", only(ROME)),
    (purged_source, "after", "after", only(ROME)),
    (archived, "before", "before", only(ROME)),
    (archived, "before", "after", only(ROME)),
    (archived, "after", "before", NOTHING),
    (archived, "after", "after", NOTHING),
    (misrecorded, "before", "before", only(ROME)),
    (misrecorded, "before", "after", only(ROME)),
    (misrecorded, "after", "before", only(BERN)),
    (misrecorded, "after", "after", only(BERN)),
    (withdrawn_merge, "before", "before", only(ROME)),
    (withdrawn_merge, "before", "after", only(ROME)),
    (withdrawn_merge, "after", "before", CLASH),
    (withdrawn_merge, "after", "after", CLASH),
    (bounded, "before", "before", NOTHING),
    (bounded, "before", "after", NOTHING),
    (bounded, "after", "before", only(ROME)),
    (bounded, "after", "after", NOTHING),
]
WORLD = {"before": OLD, "during": "2026-07-15T00:00:00.000Z", "after": NEW}
STORIES = list(dict.fromkeys(row[0] for row in TABLE))
SLOT = """FIND(?home.status, ?home.accepted_values) WHERE { ?home BELIEF SLOT ("C-1", "lives_in") }
AS OF SEQ :seq FOR TIME :at"""


@cache
def told(happened: Callable[[Story], None]) -> Story:
    story = memory()
    happened(story)
    return story


@pytest.mark.parametrize(
    ("happened", "in_memory", "in_world", "answer"), TABLE, ids=lambda cell: getattr(cell, "__name__", str(cell)[:40])
)
def test_both_axes(happened: Callable[[Story], None], in_memory: str, in_world: str, answer: Answer) -> None:
    story = told(happened)
    seq = story.known if in_memory == "before" else story.nexus.space_seq
    assert story.nexus.query(SLOT, {"seq": seq, "at": WORLD[in_world]}).one() == answer


def test_the_table_asks_all_four_of_every_story() -> None:
    asked = [(row[0], row[1], row[2]) for row in TABLE]
    assert len(asked) == len({*asked}) >= 40
    corners = [(one, other) for one in ("before", "after") for other in ("before", "after")]
    assert all((story, *corner) in asked for story in STORIES for corner in corners)


@pytest.mark.parametrize("happened", STORIES, ids=lambda story: story.__name__)
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
