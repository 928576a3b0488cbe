"""Scenarios of world time: a change, a correction, coarse times, preferences that change."""

from tests.conformance.vectors.registry import observe
from tests.conformance.vectors.scene import DAY, STATED, Scene, scene

OPTIONS = {
    "manifest": {"package_id": "kip://vectors/options", "version": "1.0.0"},
    "definitions": {"concept_types": {name: {"description": name} for name in ("ColorScheme", "Editor")}},
}


def statuses(given: Scene, subject: str, predicate: str, values: list[object], **epistemic: object) -> list[str]:
    return [given.belief(subject, predicate, value, **epistemic)["status"] for value in values]


def test_mem_026_a_change_of_the_world_is_one_claim() -> None:
    given = scene(now=DAY("09-06"))
    alice, bob = given.ids["alice"], given.ids["bob"]
    given.say(alice, "test/timezone", "+08:00", DAY("01-02"))
    given.say(alice, "test/timezone", "+01:00", DAY("06-02"), ", valid: :valid", valid={"from": DAY("06-01")})
    now, then = given.slot(alice, "test/timezone"), given.slot(alice, "test/timezone", DAY("03-01"))
    given.say(bob, "test/timezone", "+09:00", DAY("07-01"), s=alice)
    lifecycles = given.statuses()
    changes = given.nexus.query("CHANGES AFTER SEQ 0").rows
    observe(
        "MEM-026",
        now_accepted_values=now["accepted_values"],
        before_change_accepted_values=then["accepted_values"],
        cross_actor_slot_status=given.slot(alice, "test/timezone")["status"],
        superseded_count=lifecycles.count("superseded"),
        stored_lifecycle_changes=sum(
            entry["op"] == "lifecycle" for envelope in changes for entry in envelope["changes"]
        ),
    )
    assert lifecycles == ["active"] * 5


MALFORMED = [
    {"from": {}},
    {"from": {"earliest": DAY("06-01"), "latest": DAY("01-01")}},
    {"from": {"about": DAY("06-01")}},
    {"from": {"latest": "2026-06"}},
    {"from": {"earliest": DAY("06-01")}, "until": {"latest": DAY("03-01")}},
    {"until": {"earliest": "June"}},
]


def test_mem_027_a_coarse_time_is_never_an_invented_instant() -> None:
    given = scene(now=DAY("09-06"))
    alice = given.ids["alice"]
    since = {"from": {"earliest": DAY("02-01"), "latest": DAY("05-01")}}
    given.say(alice, "test/timezone", "+08:00", DAY("06-01"), ", valid: :valid", valid=since)
    outside, between, inside = (
        given.belief(alice, "test/timezone", "+08:00", DAY(day)) for day in ("01-15", "03-15", "05-01")
    )
    assert (outside["status"], inside["status"]) == ("insufficient", "accepted")
    text = STATED.format(predicate="test/timezone", more=", valid: :valid")
    codes = [given.refused(text, s=alice, by=alice, o="x", at=DAY("06-01"), valid=valid) for valid in MALFORMED]
    (reason,) = between["uncertainty"]["reasons"]
    observe(
        "MEM-027",
        indeterminate_status=between["status"],
        uncertainty_reason=reason,
        malformed_bounds_rejected=len(codes) == len(MALFORMED),
        stored_lifecycle_changes=sum(status != "active" for status in given.statuses()),
    )


def preferring() -> tuple[Scene, list[str]]:
    """A person who liked it dark and uses vim, and then says she prefers it light; the names that are accepted."""
    given = scene(now=DAY("09-06"))
    given.nexus.install_packages([OPTIONS])
    made = given.do(
        """MUTATE {
          CREATE CONCEPT ?ann { TYPE "mem/Person" NAME "Ann" }
          CREATE CONCEPT ?dark { TYPE "ColorScheme" NAME "dark" }
          CREATE CONCEPT ?light { TYPE "ColorScheme" NAME "light" }
          CREATE CONCEPT ?vim { TYPE "Editor" NAME "vim" }
        }"""
    )
    ann = given.ids["ann"] = made["ann"]
    given.say(ann, "mem/prefers", made["dark"], DAY("01-02"))
    given.say(ann, "mem/prefers", made["vim"], DAY("01-02"))
    given.say(ann, "mem/prefers", made["light"], DAY("05-02"), ", valid: :valid", valid={"from": DAY("05-02")})
    names = {id_: name for name, id_ in made.items()}
    return given, sorted(names[value["id"]] for value in given.slot(ann, "mem/prefers")["accepted_values"])


def test_mem_028_a_preference_changes_among_options_of_one_kind() -> None:
    given, accepted = preferring()
    slot = given.slot(given.ids["ann"], "mem/prefers")
    observe(
        "MEM-028",
        accepted_values=accepted,
        conflict_count=sum(len(each["conflict_refs"]) for each in slot["candidate_projections"]),
        stored_lifecycle_changes=sum(status != "active" for status in given.statuses()),
    )


def test_mif_016_a_preference_that_changed_is_past_and_no_contradiction() -> None:
    given, accepted = preferring()
    ann = given.ids["ann"]
    every = given.rows('FIND(?o.name, ?b.status) WHERE { ?b BELIEF (:ann, "mem/prefers", ?o) ?o CONCEPT {} }')
    assert dict(every)["dark"] == "insufficient"
    past = [each["id"] for each in given.slot(ann, "mem/prefers", DAY("03-01"))["accepted_values"]]
    named = given.rows("FIND(?c.name) WHERE { ?c CONCEPT {} FILTER(IN(?c.id, :past)) }", past=past)
    assert sorted(named) == ["dark", "vim"]
    observe(
        "MIF-016",
        current_preferences=accepted,
        contested_count=sum(status == "contested" for _, status in every),
        retracted_count=given.statuses().count("retracted"),
    )


def test_mif_014_a_correction_was_never_true() -> None:
    given = scene("core-basic", now=DAY("09-06"))
    alice = given.ids["alice"]
    said, mended, between = DAY("02-01"), DAY("06-01"), DAY("04-01")
    old = given.say(alice, "test/timezone", "+08:00", said)
    assert given.slot(alice, "test/timezone", between)["accepted_values"] == ["+08:00"]
    known = given.nexus.space_seq
    given.do(
        'ASSERT ?a (:alice, "test/timezone", "+07:00") {by: :alice, mode: "stated", at: :at, valid: :valid} '
        "SUPERSEDING :old",
        at=mended,
        valid={"from": {"latest": said}},  # what the original left open began when it was said, at the latest
        old=old,
    )
    (answer,) = given.slot(alice, "test/timezone")["accepted_values"]
    (historical,) = given.slot(alice, "test/timezone", between)["accepted_values"]
    states = given.statuses()
    raw = given.element(old)
    assert raw["asserted_by"] == {"id": alice} and raw["proposition"]["id"]
    before = given.rows(
        f'FIND(?b.accepted_values) WHERE {{ ?b BELIEF SLOT (:alice, "test/timezone") }} AS OF SEQ {known}'
    )
    assert before == [["+08:00"]]
    observe(
        "MIF-014",
        answer=answer,
        old_lifecycle=raw["lifecycle"]["status"],
        historical_answer=historical,
        supersession_count=states.count("superseded"),
    )


def test_mif_015_a_move_answers_old_and_new_times_in_whatever_order_it_is_recorded() -> None:
    given = scene("core-basic", now=DAY("09-06"))
    alice = given.ids["alice"]
    given.say(alice, "test/timezone", "beijing", DAY("02-01"))
    count = given.nexus.stats()["elements"]["assertion"]
    given.say(alice, "test/timezone", "shanghai", DAY("09-02"), ", valid: :valid", valid={"from": DAY("09-01")})
    written = given.nexus.stats()["elements"]["assertion"] - count
    (now,) = given.slot(alice, "test/timezone")["accepted_values"]
    (before,) = given.slot(alice, "test/timezone", DAY("08-01"))["accepted_values"]
    # An old message is processed late: it carries the time it was said.
    given.say(alice, "test/timezone", "beijing", DAY("03-01"))
    late = given.slot(alice, "test/timezone")["accepted_values"]
    states = given.statuses()
    assert set(states) == {"active"}
    observe(
        "MIF-015",
        answer_now=now,
        answer_before_move=before,
        assertions_written_by_revise=written,
        late_history_displaces=late != ["shanghai"],
        supersession_count=states.count("superseded"),
    )
