"""Audits as functions and as shipped scripts."""

import pytest

import kipql
from kipql.audit.run import run_scripts
from kipql.audit.script import read_script
from kipql.memory.canon import audit, queries

FOLDER = queries.resources.files("kipql.memory.canon.queries")
SCRIPTS = ("orphans", "rules-without-sentence", "entries-without-subject", "two-articles")


def findings(nexus, name):
    report = run_scripts(nexus.readonly(), [read_script(str(FOLDER / f"{name}.kql"))])
    assert not report.problems
    return [finding.row for outcome in report.outcomes for finding in outcome.findings], report.exit_code("warning")


def test_every_query_parses_and_is_clean():
    from kipql.audit.static import check_script

    for entry in FOLDER.iterdir():
        if entry.name.endswith(".kql"):
            assert list(check_script(str(entry))) == [], entry.name


@pytest.mark.parametrize("name", audit.NAMES)
def test_an_empty_canon_has_no_findings(canon, name):
    assert canon.audit.run(name) == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_over_an_empty_canon_is_clean(canon, name):
    assert findings(canon.nexus, name) == ([], 0)


def test_an_unknown_audit_is_named(canon):
    with pytest.raises(kipql.KipError) as raised:
        canon.audit.run("constraint_lost")
    assert "constraint-loss" in raised.value.hint


def test_orphans(canon):
    canon.write("a", capsule="c", body="b")
    canon.write("rule", capsule="c", body="b", scope="rule")
    canon.write("lost", capsule="c", body="b", governs=False)
    assert canon.audit.orphans() == [{"address": "lost"}]
    rows, code = findings(canon.nexus, "orphans")
    assert ([row["art.attributes.address"] for row in rows], code) == (["lost"], 1)


def test_constraint_loss_names_the_line_and_the_entries_that_still_say_it(canon):
    line = "- uploads must never exceed eight megabytes"
    canon.journal("The gateway drops uploads over eight megabytes.", subject="up", slug="limit")
    canon.journal("Nothing to do with it.", subject="up", slug="other")
    canon.write("up.py", capsule="c", body=f"{line}\n- always retry\n")
    first = canon.nexus.space_seq
    canon.write("up.py", body="- always retry\n")
    second = canon.nexus.space_seq
    canon.write("up.py", body="- always retry\n- more\n")
    lost = [{"address": "up", "line": line, "evidence": ["2026-08-11-limit.md"]}]
    assert canon.audit.constraint_loss(from_seq=first) == lost
    assert canon.audit.constraint_loss(from_seq=second) == []
    assert canon.audit.constraint_loss() == lost
    canon.write("up.py", body=f"{line}\n")
    assert canon.audit.constraint_loss(from_seq=first) == [{"address": "up", "line": "- always retry", "evidence": []}]


def test_constraint_loss_of_an_article_that_was_archived(canon):
    canon.write("a", capsule="c", body="it must hold")
    seq = canon.nexus.space_seq
    article = canon.nexus.query('FIND(?a.id) WHERE { ?a {type: "CanonArticle"} }').scalar()
    canon.nexus.execute('TRANSITION :a TO "archived"', {"a": article})
    lost = [{"address": "a", "line": "it must hold", "evidence": []}]
    assert canon.audit.constraint_loss(from_seq=seq) == canon.audit.constraint_loss() == lost


def test_the_left_side_of_constraint_loss_is_a_query(canon):
    canon.write("a", capsule="c", body="it must hold")
    canon.write("b", capsule="c", body="mustard")
    seq = canon.nexus.space_seq
    canon.write("a", body="gone")
    rows = canon.nexus.query(queries.query("constraint-loss"), {"release_seq": seq}).rows
    assert ("", "a", "it must hold") in rows


def claim(canon, key, predicate, rule):
    text = f"""MUTATE {{
      UPSERT CONCEPT ?who {{ MATCH {{type: "Person", key: "ann"}} SET FIELDS {{name: "Ann"}} }}
      ASSERT ({{type: "Asset", key: "{key}"}}, "{predicate}", "{rule}") {{ by: ?who, mode: "stated" }}
    }}"""
    canon.nexus.execute(text)


def test_rules_without_sentence(canon):
    canon.write("a", capsule="c", body="keep the header")
    canon.write("a/deep", capsule="no comma here", body="b")
    canon.session("s").touch(["a/other.py"])
    for key, predicate, rule in (
        (":a", "must_contain", "header"),
        (":a", "must_contain", "footer"),
        (":a/deep", "must_not_contain", "comma"),
        (":a/deep", "must_not_contain", "tab"),
        (":a/other", "must_contain", "header"),
    ):
        claim(canon, key, predicate, rule)
    assert canon.audit.rules_without_sentence() == [
        {"address": "a", "predicate": "must_contain", "rule": "footer"},
        {"address": "a/deep", "predicate": "must_not_contain", "rule": "tab"},
    ]
    rows, code = findings(canon.nexus, "rules-without-sentence")
    # The script looks at the asset's own article only, so a/other, which `a` governs from above, is listed too.
    assert ([(row["asset.key"], row["rule"]) for row in rows], code) == (
        [(":a", "footer"), (":a/other", "header"), (":a/deep", "tab")],
        1,
    )


def test_a_rule_that_is_contested_needs_no_sentence(canon):
    canon.write("a", capsule="c", body="b")
    claim(canon, ":a", "must_contain", "header")
    canon.nexus.execute("""MUTATE {
      UPSERT CONCEPT ?who { MATCH {type: "Person", key: "bob"} SET FIELDS {name: "Bob"} }
      ASSERT ({type: "Asset", key: ":a"}, "must_contain", "header") { by: ?who, mode: "stated", stance: "reject" }
    }""")
    assert canon.audit.rules_without_sentence() == []


def test_unretained_values(canon):
    canon.journal("the cap is 42, was 40", subject=["a", "b"], slug="cap")
    canon.write("a", capsule="at most 42", body="it was 40")
    canon.write("b", capsule="c", body="142")
    assert canon.audit.unretained_values() == [
        {"address": "b", "value": "42", "entry": "2026-08-11-cap.md"},
        {"address": "b", "value": "40", "entry": "2026-08-11-cap.md"},
    ]


def test_dead_links(canon):
    canon.write("a", capsule="c", body="[[b]] [[c|see c]] [[d#part]] [[a]]")
    canon.write("b", capsule="c", body="no links")
    assert canon.audit.dead_links() == [{"address": "a", "link": "c"}, {"address": "a", "link": "d"}]


def test_two_articles_for_one_asset(canon):
    canon.write("a", capsule="c", body="b")
    canon.write("b", capsule="c", body="b")
    canon.nexus.execute("""UPDATE ?one SET STRUCTURAL { ("governs", ?asset) }
      WHERE { ?one {type: "CanonArticle", key: ":b"} ?asset {type: "Asset", key: ":a"} }""")
    assert canon.audit.two_articles() == [{"asset": "a", "articles": ["a", "b"]}]
    assert findings(canon.nexus, "two-articles")[1] == 1


def test_long_articles_and_entries_without_subject(canon):
    canon.write("a", capsule="c", body="x" * 8_001)
    canon.write("b", capsule="c", body="x" * 8_000)
    canon.journal("about nothing", slug="n")
    canon.journal("about a", subject="a", slug="a")
    assert canon.audit.long_articles() == [{"address": "a", "characters": 8_001}]
    assert canon.audit.entries_without_subject() == [{"entry": "2026-08-11-n.md"}]
    assert findings(canon.nexus, "entries-without-subject") == ([{"entry.key": "2026-08-11-n.md"}], 0)
