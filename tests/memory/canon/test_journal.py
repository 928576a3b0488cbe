"""The journal: names, order, subjects, and what can not happen to it."""

import pytest

import kipql


@pytest.mark.parametrize(
    ("slug", "name"),
    [
        (None, "2026-08-11-entry.md"),
        ("", "2026-08-11-entry.md"),
        ("???", "2026-08-11-entry.md"),
        ("Vendor: cap!", "2026-08-11-vendor-cap.md"),
        ("../../etc/passwd", "2026-08-11-etc-passwd.md"),
        ("a\0b", "2026-08-11-a-b.md"),
        ("Über", "2026-08-11-ber.md"),
        ("x" * 200, f"2026-08-11-{'x' * 80}.md"),
    ],
)
def test_C08_a_slug_is_safe_in_a_file_name(canon, slug, name):
    assert canon.journal("text", slug=slug).name == name


def test_C08_a_subject_with_a_comma_stays_one(canon):
    subjects = ["src/a", "docs/a, b and c", "src/b"]
    assert canon.journal("text", subject=subjects).subject == subjects
    assert [len(canon.read(one).journal) for one in subjects] == [0, 0, 0], "no article, no list"
    for one in subjects:
        canon.write(one, capsule="c", body="b")
    assert [canon.read(one).journal for one in subjects] == [["2026-08-11-entry.md"]] * 3


def test_the_text_is_kept_byte_for_byte(canon):
    text = '  "quoted"\r\n\ttab \u202e \U0001f600\n\n'
    name = canon.journal(text).name
    find = 'FIND(?e.payload.inline) WHERE { ?j {type: "Event", key: :k} STRUCTURAL (?j, "has_message", ?e) }'
    assert canon.nexus.query(find, {"k": name}).scalar() == text


@pytest.mark.parametrize("text", ["", "  \n", None, 3])
def test_an_entry_has_a_text(canon, text):
    with pytest.raises(kipql.KipError) as raised:
        canon.journal(text)
    assert raised.value.code == "ConstraintViolation"
    assert canon.nexus.space_seq == 0


def test_order_is_by_when_it_was_logged_then_by_number(canon):
    canon.write("a", capsule="c", body="b")
    canon.journal("late", subject="a", slug="a", logged="2026-08-12T00:00:00.000Z")
    canon.journal("early", subject="a", slug="z", logged="2026-08-10T00:00:00.000Z")
    assert canon.read("a").journal == ["2026-08-12-a.md", "2026-08-10-z.md"]


def test_names_that_look_alike_do_not_collide(canon):
    first = canon.journal("one", slug="phase-2").name
    assert canon.journal("two", slug="phase").name == "2026-08-11-phase.md"
    third = canon.journal("three", slug="phase").name
    assert (first, third) == ("2026-08-11-phase-2.md", "2026-08-11-phase-3.md")


def test_a_name_whose_entry_was_purged_is_not_given_out_again(canon):
    name = canon.journal("secret", slug="s").name
    rows = canon.nexus.query(
        'FIND(?j.id, ?e.id) WHERE { ?j {type: "Event", key: :k} STRUCTURAL (?j, "has_message", ?e) }', {"k": name}
    ).one()
    for element in rows:
        canon.nexus.execute('PURGE :x CONFIRM "PURGE"', {"x": element})
    again = canon.journal("new", slug="s").name
    assert again == "2026-08-11-s-2.md"
    assert canon.nexus.query('FIND(?j.key) WHERE { ?j {type: "Event"} }').rows == [again]


def test_a_gap_in_the_numbers_is_filled_first(canon):
    canon.journal("three", slug="s", name="2026-08-11-s-3.md")
    assert [canon.journal("x", slug="s").name for _ in range(3)] == [
        *("2026-08-11-s.md", "2026-08-11-s-2.md", "2026-08-11-s-4.md"),
    ]


def test_a_name_that_is_taken_is_an_error(canon):
    canon.journal("one", slug="s")
    with pytest.raises(kipql.KipError) as raised:
        canon.journal("other", name="2026-08-11-s.md")
    assert raised.value.code in ("ClientKeyConflict", "IdentityConflict")


def test_the_day_is_that_of_the_memory_or_of_the_host(canon):
    from datetime import datetime, timedelta, timezone

    local = datetime(2026, 8, 12, 1, tzinfo=timezone(timedelta(hours=2)))
    assert canon.journal("x", logged=local).name == "2026-08-11-entry.md"
    for odd in (datetime(2026, 8, 12), "yesterday", 5):
        with pytest.raises(kipql.KipError) as raised:
            canon.journal("x", logged=odd)
        assert raised.value.code == "TypeMismatch"


def test_harness_and_session_are_kept(canon):
    canon.journal("x", harness="pi", session="run-1")
    find = 'FIND(?j.attributes.harness, ?j.attributes.session) WHERE { ?j {type: "Event"} }'
    assert canon.nexus.query(find).one() == ("pi", "run-1")
