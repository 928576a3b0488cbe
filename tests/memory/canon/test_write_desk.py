"""Writing articles: what is kept, and what the advice is about."""

import pytest

import kipql
from kipql.memory.canon import prose
from tests.counting import calls


def test_C05_an_identical_write_is_unchanged_and_keeps_the_day(nexus):
    from datetime import UTC, datetime

    from kipql.memory import Canon

    days = iter([datetime(2026, 8, day, tzinfo=UTC) for day in (1, 2, 3)])
    canon = Canon(nexus, clock=lambda: next(days))
    assert canon.write("a", capsule="c", body="b").status == "created"
    seq = nexus.space_seq
    assert canon.write("a", capsule="c", body="b").status == "unchanged"
    assert (canon.read("a").updated, nexus.space_seq) == ("2026-08-01", seq)
    assert canon.write("a", body="d").status == "updated"
    assert canon.read("a").updated == "2026-08-03"


def test_the_earlier_wording_stays_readable(canon):
    seq = canon.write("a", capsule="c", body="first").seq
    canon.write("a", body="second")
    assert (canon.read("a", as_of=seq).body, canon.read("a").body) == ("first", "second")


def test_two_writers_on_one_address_leave_one_article(canon):
    canon.write("a.py", capsule="c", body="one")
    canon.write("a.ts", capsule="c", body="two")
    assert canon.nexus.query('FIND(COUNT(?a)) WHERE { ?a {type: "CanonArticle"} }').scalar() == 1
    assert canon.read("a").body == "two"


def governed(canon):
    text = 'FIND(?x.key) WHERE { ?a {type: "CanonArticle"} STRUCTURAL (?a, "governs", ?x) }'
    return canon.nexus.query(text).rows


def test_a_rule_governs_nothing_until_it_is_taken_back(canon):
    canon.write("style/commas", capsule="c", body="b", scope="rule")
    assert (governed(canon), canon.audit.orphans()) == ([], [])
    canon.write("style/commas", scope="asset")
    assert governed(canon) == [":style/commas"]
    canon.write("style/commas", body="b2", scope="")
    assert governed(canon) == [":style/commas"]
    canon.write("style/commas", scope="rule")
    assert governed(canon) == []


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"scope": "global"}, "ConstraintViolation"),
        ({"body": 3}, "TypeMismatch"),
        ({"capsule": ["a"]}, "TypeMismatch"),
    ],
)
def test_what_is_no_article_is_refused(canon, given, code):
    with pytest.raises(kipql.KipError) as raised:
        canon.write("a", **given)
    assert raised.value.code == code


def test_an_archived_article_keeps_its_address(canon):
    canon.write("a", capsule="c", body="b")
    article = canon.nexus.query('FIND(?a.id) WHERE { ?a {type: "CanonArticle"} }').scalar()
    canon.nexus.execute('TRANSITION :a TO "archived"', {"a": article})
    assert canon.read("a").found is False
    with pytest.raises(kipql.KipError) as raised:
        canon.write("a", body="again")
    assert raised.value.code == "ConstraintViolation"


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"capsule": "c", "body": "x" * 8_001}, "8001 characters"),
        ({"capsule": "c", "body": "x" * 20_001}, "go hierarchical"),
        ({"body": "b"}, "no capsule"),
        ({"capsule": "c" * 1_001, "body": "b"}, "1001 characters"),
        ({"capsule": "Added a retry loop", "body": "b"}, "like a changelog"),
        ({"capsule": "c", "body": "see [[src/nowhere]]"}, "[[src/nowhere]] leads nowhere"),
    ],
)
def test_lint_is_advice(canon, given, part):
    advice = canon.write("src/a.py", **given).advice
    assert len(advice) == 1
    assert part in advice[0]


@pytest.mark.parametrize(
    "given",
    [
        {"capsule": "c", "body": "x" * 8_000},
        {"capsule": "c" * 1_000, "body": "b"},
        {"capsule": "Addresses", "body": "b"},
    ],
)
def test_lint_is_silent_below_its_bounds(canon, given):
    assert canon.write("src/a.py", **given).advice == []


def test_a_short_article_below_another_is_to_be_folded_up(canon):
    canon.write("src/feed", capsule="c", body="x" * 500)
    assert "fold it up" in canon.write("src/feed/client.py", capsule="c", body="short").advice[0]
    assert canon.write("src/feed/sync.py", capsule="c", body="x" * 400).advice == []
    assert canon.write("src/other.py", capsule="c", body="short").advice == []


@pytest.mark.parametrize("path", ["journal/2026", "notes/x", "src/2026-08-11-crash"])
def test_what_looks_like_a_journal_belongs_there(canon, path):
    assert "belongs into the journal" in canon.write(path, capsule="c", body="b").advice[0]


def test_links_that_lead_somewhere_are_no_news(canon):
    canon.write("src/b.py", capsule="c", body="b")
    name = canon.journal("entry").name
    body = (
        f"[[src/b]] [[src/b.py|the other]] [[{name}]] [[journal/{name}]] [[src/a]] `[[code]]`\n```\n[[ -f x ]]\n```\n"
    )
    assert canon.write("src/a.py", capsule="c", body=body).advice == []


def test_C21_journal_values_that_the_article_does_not_hold(canon):
    canon.journal('the cap is 42, ticket ABC-17, flag "no_commas", window two hours', subject="src/a", slug="cap")
    held = "142 and 42.5; ticket ABC-170; no_comma; two hour"
    advice = canon.write("src/a.py", capsule="c", body=held).advice
    entry = "2026-08-11-cap.md"
    assert advice == [
        "The journal has values that the article does not hold: "
        f"42 ({entry}), ABC-17 ({entry}), no_commas ({entry}), two hours ({entry})"
    ]
    assert canon.write("src/a.py", body='42. (ABC-17) "no_commas", two  hours').advice == []


def test_C21_at_most_six_values_are_named(canon):
    canon.journal(" ".join(str(n) for n in range(101, 110)), subject="src/a")
    advice = canon.write("src/a.py", capsule="c", body="b").advice
    assert advice[0].count("2026-08-11-entry.md") == 6
    assert advice[0].endswith("and 3 more")


def test_C21_the_journal_of_another_asset_does_not_count(canon):
    canon.journal("the cap is 42", subject="src/a/deep")
    assert canon.write("src/a.py", capsule="c", body="b").advice == []


def test_C22_growth_is_a_note_and_no_fault(canon):
    canon.write("src/a.py", capsule="c", body="é" * 50)
    written = canon.write("src/a.py", body="é" * 200)
    assert (written.notes, written.advice) == (["Body grew 100 -> 400 bytes."], [])
    assert canon.write("src/a.py", body="é" * 210).notes == []


def test_C22_an_article_about_no_file_is_asked_about(nexus, tmp_path):
    from kipql.memory import Canon

    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").touch()
    canon = Canon(nexus, root=tmp_path)
    assert canon.write(str(tmp_path / "src" / "a.py"), capsule="c", body="b").notes == []
    assert canon.write("src", capsule="c", body="b").notes == []
    assert "is it a rule?" in canon.write("src/gone.py", capsule="c", body="b").notes[0]
    assert canon.write("commas", capsule="c", body="b", scope="rule").notes == []
    assert canon.audit.orphans() == [{"address": "src/gone"}]
    (tmp_path / "src" / "gone.py").touch()
    assert canon.write("src/gone.py", body="b").notes == []
    assert canon.audit.orphans() == []


@pytest.mark.parametrize(
    ("line", "is_rule"),
    [
        ("You must not.", True),
        ("NEVER do that", True),
        ("it always holds", True),
        ("requires a token", True),
        ("a token is required", True),
        ("do not call", True),
        ("don't call", True),
        ("don’t call", True),
        ("mustard is fine", False),
        ("nevertheless", False),
        ("requirement", False),
    ],
)
def test_words_of_a_rule(line, is_rule):
    assert bool(prose.rule_lines(line)) == is_rule


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("cap is 50", ["50"]),
        ("between 1,000 and 2.5%", ["1,000", "2.5%"]),
        ("v1.2.3 and PR#42.", ["v1.2.3", "PR#42"]),
        ("see src/v2/x since 2026-08-11, 12:30", ["2026-08-11", "12:30"]),
        ('he said "keep it" twice', ["keep it"]),
        ("`x_1` and `x_1`", ["x_1"]),
        ("wait three  days", ["three days"]),
        ("nothing here", []),
    ],
)
def test_values_of_a_text(text, values):
    assert prose.values(text) == values


def test_prose_is_read_in_linear_time():
    def read(size):
        for text in (
            "[[" * size,
            "`" * 2 * size,
            '"' * 2 * size,
            "1," * size,
            "a-" * size,
            "- " * size,
            "must " * size,
        ):
            prose.values(text)
            prose.links(text)
            prose.dropped_rules(text, "x")

    read(10)  # what is imported and compiled once
    assert calls(lambda: read(40_000)) < 5 * calls(lambda: read(10_000)) + 1_000
