"""The acceptance tests of the canon (design §4.4), each under its id."""

import threading
from random import Random

import pytest

import kipql
from kipql.memory import Canon, SurfacePolicy, address, ancestor_chain, canon_chain, paths_in
from kipql.memory.canon.queries import query

LISTED = (
    *("C01", "C02", "C03", "C04", "C06", "C07", "C09", "C10", "C11", "C12", "C15", "C16", "C17"),
    *("C19", "C20", "C23", "C24", "C25", "C27"),
)
ADDRESSES = {
    "src/core/config.ts": "src/core/config",
    ".env": ".env",
    "docs/v1.2/notes.md": "docs/v1.2/notes",
    "src/core/config.test.ts": "src/core/config.test",
    "../../journal/x": "journal/x",
    "a/../../../outside/p": "outside/p",
    "a\\b\\c.py": "a/b/c",
    "x.tar.gz": "x.tar",
    "dir.d/": "dir",
    "/abs/p.py": "abs/p",
    "": "",
}
RULE = "- report lines must never contain commas because finance drops every line that has one, silently"


def test_every_listed_id_is_a_test():
    tested = {part for name in globals() if name.startswith("test_C") for part in name.split("_")}
    assert set(LISTED) <= tested


@pytest.mark.parametrize("path", ADDRESSES)
def test_C01_address(path):
    assert address(path) == ADDRESSES[path]


@pytest.mark.parametrize("path", ["src/feed", "a/b/c", ".env", "x", "", "docs/v1.2/notes"])
def test_C01_an_address_without_extension_is_its_own(path):
    assert address(path) == path


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/feed/sync.py", "src/feed/sync"),
        ("src/feed/client.py", "src/feed"),
        ("src/feed/deep/er/x.py", "src/feed"),
        ("tools/cron.py", None),
        ("src/fee.py", None),
        ("src/feedback.py", None),
    ],
)
def test_C02_C03_the_nearest_article_answers(feed, path, expected):
    assert feed.resolve(path) == expected
    assert (feed.read(path).found, feed.read(path)["address"]) == (expected is not None, expected)
    rows = feed.nexus.query(query("resolve"), {"keys": canon_chain(path)}).rows
    assert [row[0] for row in rows] == ([] if expected is None else [expected])


@pytest.mark.parametrize("seed", range(6))
def test_C04_the_query_is_the_longest_prefix_by_segments(canon, seed):
    random = Random(seed)
    names = ("a", "ab", "b", "a.b", "é")
    tree = {"/".join(random.choices(names, k=random.randint(1, 4))) for _ in range(12)}
    for one in tree:
        canon.nexus.execute(
            'CREATE CONCEPT ?a { TYPE "CanonArticle" SET FIELDS {key: :key} '
            'SET ATTRIBUTES {mount: "", address: :one, scope: ""} }',
            {"key": f":{one}", "one": one},
        )
    for _ in range(60):
        path = "/".join(random.choices(names, k=random.randint(1, 5))) + random.choice(("", ".py"))
        segments = address(path).split("/")
        prefixes = ("/".join(segments[:count]) for count in range(len(segments), 0, -1))
        wanted = next((one for one in prefixes if one in tree), None)
        rows = canon.nexus.query(query("resolve"), {"keys": canon_chain(path)}).rows
        assert [row[0] for row in rows] == ([] if wanted is None else [wanted]), path


@pytest.mark.parametrize("blank", [None, "", "  ", "\n"])
def test_C06_what_is_blank_stays(canon, blank):
    canon.write("src/a.py", capsule="holds", body="  body\n")
    assert canon.write("src/a.py", capsule=blank, body=blank).status == "unchanged"
    assert (canon.read("src/a").capsule, canon.read("src/a").body) == ("holds", "  body\n")


def test_C06_line_breaks_of_a_capsule_become_blanks(canon):
    canon.write("src/a.py", capsule="one\n  two\r\n\nthree\u2028four", body="b")
    assert canon.read("src/a").capsule == "one two three four"


def test_C07_entries_of_one_slug_and_day_are_numbered(canon):
    canon.write("src/feed", capsule="c", body="b")
    names = [canon.journal("cap is 50", subject=["src/feed"], slug="vendor cap")["name"] for _ in range(11)]
    stem = "2026-08-11-vendor-cap"
    assert names == [f"{stem}.md", *(f"{stem}-{n}.md" for n in range(2, 12))]
    article = canon.read("src/feed")
    assert article["journal"] == [f"{stem}-11.md", f"{stem}-10.md", f"{stem}-9.md"]
    assert article["earlier"] == 8


def test_C07_the_text_of_an_article_says_how_many_entries_are_earlier(canon):
    from kipql.memory.canon.says import article_text

    canon.write("src/feed", capsule="c", body="b")
    for _ in range(11):
        canon.journal("cap is 50", subject=["src/feed"], slug="vendor cap")
    assert "and 8 earlier" in article_text(canon.read("src/feed"))


def test_C09_a_journal_text_can_not_be_changed(canon):
    name = canon.journal("the vendor said 50", subject="src/feed", slug="cap").name
    find = 'FIND(?e.id) WHERE { ?j {type: "Event", key: :k} STRUCTURAL (?j, "has_message", ?e) }'
    evidence = canon.nexus.query(find, {"k": name}).scalar()
    for member in ("payload", "evidence_class"):
        with pytest.raises(kipql.KipError) as raised:
            canon.nexus.execute(f"UPDATE :e SET FIELDS {{{member}: :p}}", {"e": evidence, "p": "message"})
        assert raised.value.code == "EvidenceCorrectionRequired"
    with pytest.raises(kipql.KipError) as raised:
        canon.nexus.execute(
            'CREATE EVIDENCE ?e { CLIENT KEY :k SET FIELDS {evidence_class: "document", payload: "other"} }',
            {"k": f"journal:{name}:source"},
        )
    assert raised.value.code == "ClientKeyConflict"
    entry = canon.nexus.query('FIND(?j.id) WHERE { ?j {type: "Event", key: :k} }', {"k": name}).scalar()
    canon.nexus.execute('TRANSITION :j TO "tombstoned"', {"j": entry})
    assert canon.journal("another", subject="src/feed", slug="cap").name == "2026-08-11-cap-2.md"
    assert canon.read("src/feed").journal == []


def test_C10_concurrent_entries_all_get_a_name(canon):
    names: list[str] = []
    gate = threading.Barrier(10)

    def log(number):
        gate.wait()
        names.extend(canon.journal(f"entry {number}.{n}", slug="race").name for n in range(5))

    threads = [threading.Thread(target=log, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(names)) == 50
    assert set(names) == {"2026-08-11-race.md", *(f"2026-08-11-race-{n}.md" for n in range(2, 51))}
    said = canon.nexus.query('FIND(?e.payload.inline) WHERE { ?e EVIDENCE {evidence_class: "document"} }').rows
    assert len(set(said)) == 50


def test_C11_an_entry_is_listed_for_exactly_its_subject(feed):
    feed.journal("about sync", subject=["src/feed/sync"])
    assert feed.read("src/feed").journal == []
    assert feed.read("src/feed/sync.py").journal == ["2026-08-11-entry.md"]


def test_C12_once_a_session(feed):
    session = feed.session("run-1")
    session.touch(["src/feed/sync.py"])
    session.touch(["src/feed/sync.py", "src/feed/sync.ts"])
    line = session.flush()
    assert line is not None and line.splitlines() == ["[canon] src/feed/sync: API caps pages at 50"]
    session.touch(["src/feed/sync.py"])
    assert session.flush() is None
    other = feed.session("run-2")
    other.touch(["src/feed/sync.py"])
    assert other.flush() == line


def test_C15_reading_the_article_withdraws_it(feed):
    session = feed.session("run-1")
    session.touch(["src/feed/sync.py"])
    feed.read("src/feed/sync.py")
    assert session.flush() is None
    assert session.stats["spent"] == 0
    assert session.stats["withdrawn"] == 1
    session.touch(["src/feed/sync.py"])
    assert session.flush() is None


def test_C15_a_query_of_the_asset_does_not_withdraw(feed):
    session = feed.session("run-1")
    session.touch(["src/feed/sync.py"])
    assert feed.nexus.query('FIND(?a.id) WHERE { ?a {type: "Asset", key: ":src/feed/sync"} }').rows
    assert session.flush() == "[canon] src/feed/sync: API caps pages at 50"


def test_C16_what_nothing_governs_stages_nothing(feed):
    session = feed.session("run-1")
    assert session.touch(["tools/cron.py"]) == []
    assert (session.flush(), session.stats.staged, session.stats.spent) == (None, 0, 0)
    session.touch(["src/feed/sync.py"])
    assert (session.stats.staged, session.stats.spent, session.stats.seen) == (1, 0, 0)


def test_C17_once_present_shows_again_what_left_the_window(nexus):
    canon = Canon(nexus, policy=SurfacePolicy(budget_chars=None, once="present"))
    canon.write("src/feed", capsule="The vendor's API caps every page at 50 items, whatever is asked for.", body="b")
    session = canon.session("run-1")
    session.touch(["src/feed/x.py"], "")
    line = session.flush("")
    window = f"user: hello\n{line}\nassistant: ok"
    session.touch(["src/feed/x.py"], window)
    assert session.flush(window) is None
    assert session.flush("all is gone") is None, "absence alone surfaces nothing"
    session.touch(["src/feed/x.py"], "all is gone")
    assert session.flush("all is gone") == line


def test_C17_a_short_line_stays_seen(nexus):
    canon = Canon(nexus, policy=SurfacePolicy(once="present"))
    canon.write("a", capsule="short", body="b")
    session = canon.session("run-1")
    session.touch(["a/x.py"])
    assert session.flush() == "[canon] a: short"
    session.touch(["a/x.py"], "all is gone")
    assert session.flush("all is gone") is None


@pytest.mark.parametrize(
    ("tool_input", "expected"),
    [
        ({"command": "ls src/feed"}, ["src/feed"]),
        ({"command": "cat package.json"}, []),
        ({"path": "src/feed/new.py"}, ["src/feed/new.py"]),
        ({"path": "package.json"}, ["package.json"]),
        ({"edits": [{"file": "src/feed/sync.py"}, {"file": "src/feed/sync.py"}]}, ["src/feed/sync.py"]),
    ],
)
def test_C19_paths_in_a_tool_input(tmp_path, canon, tool_input, expected):
    (tmp_path / "src" / "feed").mkdir(parents=True)
    (tmp_path / "src" / "feed" / "sync.py").touch()
    (tmp_path / "package.json").touch()
    assert paths_in(tool_input, tmp_path) == expected
    assert canon.paths_in(tool_input, tmp_path) == expected


def test_C20_a_rewrite_that_drops_a_rule_is_told(canon):
    long = RULE + " and has done so since the migration of the ledger, which nobody remembers any more, so keep to it"
    canon.write("src/report/writer.py", capsule="How reports are written", body=f"# Writer\n\n{long}\n")
    advice = canon.write("src/report/writer.py", body="# Writer\n\nReports are written line by line.\n").advice
    assert len(advice) == 1
    assert long[:160] in advice[0] and long[:161] not in advice[0]


@pytest.mark.parametrize(
    "kept",
    [
        f"# Writer\n\n{RULE}\n\nMore.",
        f"* {RULE[2:]}",
        RULE.replace("because finance", "because\n  finance"),
        RULE.replace("must never", "MUST NEVER"),
    ],
)
def test_C20_a_rule_that_is_kept_is_no_news(canon, kept):
    canon.write("src/report/writer.py", capsule="How reports are written", body=f"# Writer\n\n{RULE}\n")
    assert canon.write("src/report/writer.py", body=kept).advice == []


def test_C20_at_most_two_rules_are_quoted(canon):
    rules = [f"- rule {word} must hold" for word in ("one", "two", "three")]
    canon.write("src/a.py", capsule="c", body="\n".join(rules))
    advice = canon.write("src/a.py", body="nothing of that").advice
    assert [rules[0] in advice[0], rules[1] in advice[1], len(advice)] == [True, True, 2]
    assert advice[1].endswith("(and 1 more)")


def assert_rule(nexus, who, stance="support"):
    nexus.execute(
        """MUTATE {
          UPSERT CONCEPT ?who { MATCH {type: "Person", key: :who} SET FIELDS {name: :who} }
          ASSERT (:asset, "must_not_contain", "comma") { by: ?who, mode: "stated", stance: :stance }
        }""",
        {"who": who, "stance": stance, "asset": asset(nexus)},
    )


def asset(nexus):
    return nexus.query('FIND(?a.id) WHERE { ?a {type: "Asset", key: ":src/report/writer"} }').scalar()


def belief(nexus):
    text = 'FIND(?b.status) WHERE { ?p (:asset, "must_not_contain", "comma") ?b BELIEF (?p) }'
    return nexus.query(text, {"asset": asset(nexus)}).scalar()


def test_C23_a_rule_as_a_claim_outlives_the_prose(canon):
    canon.write("src/report/writer.py", capsule="c", body="A report line must never contain a comma.")
    assert_rule(canon.nexus, "finance")
    canon.write("src/report/writer.py", body="Reports are written line by line.")
    assert belief(canon.nexus) == "accepted"
    assert_rule(canon.nexus, "somebody else", "reject")
    assert belief(canon.nexus) == "contested"


def test_C24_the_map_ends_at_segments(feed):
    feed.write("src/feedback", capsule="Another thing", body="b")
    assert feed.map("src/feed").splitlines() == [
        "src/feed: The feed client",
        "src/feed/sync: API caps pages at 50",
    ]
    assert feed.map("tools") == "There are no articles at or below tools."


def test_C25_search_covers_articles_and_says_that_there_is_a_journal(canon):
    for n in range(13):
        canon.write(f"src/part{n}", capsule=f"part {n} talks to the vendor", body="b")
    for n in range(7):
        canon.journal(f"the vendor called, {n}", slug="call")
    lines = canon.search("vendor").splitlines()
    assert sum(line.startswith("src/part") for line in lines) == 10
    assert not any(line.startswith("journal/") for line in lines)
    assert "3 more matched." in lines
    assert lines[-1] == "The journal was not searched; it holds 7 entries."


@pytest.mark.parametrize(
    ("articles", "entries", "shown"), [(13, 7, (5, 5)), (2, 7, (2, 7)), (13, 1, (9, 1)), (3, 3, (3, 3))]
)
def test_C25_with_the_journal_a_short_side_cedes(canon, articles, entries, shown):
    for n in range(articles):
        canon.write(f"src/part{n}", capsule=f"part {n} talks to the vendor", body="b")
    for n in range(entries):
        canon.journal(f"the vendor called, {n}", slug="call")
    lines = canon.search("vendor", journal=True).splitlines()
    found = tuple(sum(line.startswith(start) for line in lines) for start in ("src/part", "journal/"))
    more = articles + entries - sum(shown)
    assert found == shown
    assert (f"{more} more matched." in lines) == (more > 0)


def test_C27_ten_thousand_touches_over_five_thousand_articles_are_probes_only(tmp_path):
    folders = [f"src/mod{n // 50}/part{n % 50}" for n in range(5_000)]
    with kipql.open(tmp_path / "m.kip", packages=["kip://kipql/agent@1.0.0"], durability="none") as nexus:
        nexus.load(
            {
                "kind": "concept",
                "type": "CanonArticle",
                "key": f":{one}",
                "attributes": {"mount": "", "address": one, "capsule": f"about {one}", "scope": ""},
            }
            for one in folders
        )
    # Under this limit a query that looks at 5,000 articles is ResourceExhausted.
    limits = kipql.Limits(ticks=300)
    with kipql.open(tmp_path / "m.kip", durability="none", limits=limits) as nexus:
        session = Canon(nexus, policy=SurfacePolicy(budget_chars=None, make_assets=False)).session("run-1")
        with pytest.raises(kipql.KipError, match="too much work"):
            nexus.query('FIND(COUNT(?a)) WHERE { ?a {type: "CanonArticle"} FILTER(CONTAINS(?a.key, "x")) }')
        for n in range(10_000):
            folder = folders[n % 5_000]
            assert session.touch([f"{folder}/deep/file{n}.py"]) == ([folder] if n < 5_000 else [])
        assert session.stats.queries == session.stats.touched == 10_000
        keys = canon_chain("src/mod7/part7/deep/file.py")
        assert nexus.explain(query("governing"), {"keys": keys}).endswith(f"1 rows, {len(keys) + 1} probes")


def test_ancestor_chain_ends_at_the_first_segment():
    assert ancestor_chain("src/feed/client.py") == ["src/feed/client", "src/feed", "src"]
    assert canon_chain("src/feed/client.py", "lib") == ["lib:src/feed/client", "lib:src/feed", "lib:src"]
    assert ancestor_chain("") == []


def test_end_to_end_a_rule_that_the_prose_lost(nexus):
    """Session 1 logs, writes and claims; session 2 rewrites without the clause; session 3 touches the file."""
    first, said = Canon(nexus), "finance drops any report line containing a comma, silently"
    first.journal(said, subject=["src/report/writer"], slug="commas")
    clause = "- report lines must never contain a comma: finance drops such a line silently"
    first.write("src/report/writer.py", capsule="Reports, one line a booking", body=f"{clause}\n- UTF-8\n")
    seq = nexus.space_seq
    assert_rule(nexus, "finance")
    second = Canon(nexus)
    written = second.write("src/report/writer.py", body="- UTF-8, one line a booking\n")
    assert any(clause in one for one in written.advice)
    session = Canon(nexus).session("run-3")
    session.touch(["src/report/writer.py"])
    assert session.flush() == "[canon] src/report/writer: Reports, one line a booking"
    lost = [{"address": "src/report/writer", "line": clause, "evidence": ["2026-08-11-commas.md"]}]
    assert second.audit.constraint_loss(from_seq=seq) == second.audit.constraint_loss() == lost
    assert belief(nexus) == "accepted"
    assert [one["rule"] for one in second.audit.rules_without_sentence()] == ["comma"]
    assert nexus.query(query("journal_body"), {"name": "2026-08-11-commas.md"}).scalar() == said
