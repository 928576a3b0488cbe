"""Sessions: budget, messages, delivery, what a host may get wrong."""

import json

import pytest

import kipql
from kipql.memory import Canon, SurfacePolicy
from kipql.memory.canon.says import flushed, touched

POINTER = "there is an article, read it"


def articles(canon, **sizes):
    for name, size in sizes.items():
        canon.write(name, capsule="x" * size if size else None, body="b")


def test_C13_the_budget_is_tested_for_each_capsule(canon):
    articles(canon, first=3900, a=200, b=101, c=100, d=1)
    session = canon.session("s")
    session.touch(["first"])
    session.flush()
    session.touch(["a", "b", "c", "d"])
    assert session.flush().splitlines() == [
        f"[canon] a: {POINTER}",
        f"[canon] b: {POINTER}",
        f"[canon] c: {'x' * 100}",
        f"[canon] d: {POINTER}",
    ]
    assert (session.stats.spent, session.stats.surfaced, session.stats.pointers) == (4000, 2, 3)


def test_without_a_bound_everything_lands(nexus):
    canon = Canon(nexus, policy=SurfacePolicy(budget_chars=None))
    articles(canon, a=5000, b=5000)
    session = canon.session("s")
    session.touch(["a", "b"])
    session.flush()
    assert (session.stats.spent, session.stats.pointers) == (10_000, 0)


def test_an_article_without_capsule_is_a_pointer_and_free(canon):
    articles(canon, a=0)
    session = canon.session("s")
    session.touch("a")
    assert session.flush() == f"[canon] a: {POINTER}"
    assert session.stats["spent"] == 0
    session.touch("a")
    assert session.flush() is None


def test_C14_what_does_not_fit_a_message_is_carried_over(nexus):
    canon = Canon(nexus, policy=SurfacePolicy(message_chars=2000))
    articles(canon, a=900, b=900, c=900, d=900)
    session = canon.session("s")
    session.touch(["a", "b", "c", "d"])
    first = session.flush().splitlines()
    assert [line[8] for line in first[:2]] == ["a", "b"]
    assert first[2:] == ["2 more staged; they surface next turn"]
    assert [line[8] for line in session.flush().splitlines()] == ["c", "d"]
    assert session.flush() is None


def test_a_line_longer_than_a_message_still_lands(nexus):
    canon = Canon(nexus, policy=SurfacePolicy(message_chars=10))
    articles(canon, a=900)
    session = canon.session("s")
    session.touch("a")
    assert session.flush() is not None


def test_C18_a_failed_delivery_is_retried_and_never_larger(canon):
    articles(canon, a=100, b=100)
    session = canon.session("s")
    session.touch("a")
    message = session.flush()
    session.undo()
    assert (session.stats.spent, session.stats.seen, session.stats.staged) == (0, 0, 1)
    session.touch("b")
    assert session.flush() == message
    assert session.flush() == f"[canon] b: {'x' * 100}"
    session.undo()
    session.undo()
    assert (session.stats.spent, session.stats.flushed) == (100, 1)


def test_what_was_read_after_a_failed_delivery_is_not_retried(canon):
    articles(canon, a=100)
    session = canon.session("s")
    session.touch("a")
    session.flush()
    session.undo()
    canon.read("a")
    assert session.flush() is None


def test_the_capsule_is_that_of_the_flush(canon):
    canon.write("a", capsule="old", body="b")
    session = canon.session("s")
    session.touch("a")
    canon.write("a", capsule="new", body="b")
    assert session.flush() == "[canon] a: new"


def test_an_article_that_was_archived_meanwhile_is_not_shown(canon):
    articles(canon, a=10)
    session = canon.session("s")
    session.touch("a")
    canon.nexus.execute('UPDATE ?a SET ATTRIBUTES {note: "x"} WHERE { ?a {type: "CanonArticle"} }')
    article = canon.nexus.query('FIND(?a.id) WHERE { ?a {type: "CanonArticle"} }').scalar()
    canon.nexus.execute('TRANSITION :a TO "archived"', {"a": article})
    assert session.flush() is None
    assert session.stats.staged == 0


def test_present_does_not_repeat_what_is_in_the_window(nexus):
    canon = Canon(nexus, policy=SurfacePolicy(once="present"))
    canon.write("a", capsule="The vendor caps every page at fifty items", body="b")
    session = canon.session("s")
    session.touch("a")
    assert session.flush('{"text": "[canon] a: The vendor caps every page at fifty items"}') is None
    assert session.stats.spent == 0
    session.touch("a", "gone")
    assert session.flush("gone") is not None


def test_reading_counts_as_shown_until_the_body_has_left_the_window(nexus):
    canon = Canon(nexus, policy=SurfacePolicy(once="present"))
    canon.write("a", capsule="The vendor caps every page at fifty items", body="A body that is long enough to tell.")
    session = canon.session("s")
    body = canon.read("a").body
    session.touch("a", f"read a: {body}")
    assert session.flush() is None
    session.touch("a", "gone")
    assert session.flush() is not None


def test_a_read_can_be_one_sessions_alone(canon):
    articles(canon, a=10)
    one, other = canon.session("one"), canon.session("other")
    one.touch("a")
    other.touch("a")
    canon.read("a", session="one")
    assert one.flush() is None
    assert other.flush() is not None


def test_sessions_do_not_share_a_budget(canon):
    articles(canon, a=4000)
    for name in ("one", "two"):
        session = canon.session(name)
        session.touch("a")
        assert POINTER not in session.flush()
    assert canon.session("one") is canon.session("one")
    canon.forget("one")
    assert canon.session("one").stats.seen == 0


def test_tools_may_touch_anything(canon):
    articles(canon, a=10)
    session = canon.session("s")
    odd = ["a\0b", "", "..", "x\n" * 9, "y" * 9_000, None, 7, ["a"], "a"]
    assert session.touch(odd) == ["a"]
    assert session.stats.touched == 1


def test_settle_reminds_once_of_what_was_changed_and_not_written(canon):
    articles(canon, a=10, b=10)
    session = canon.session("s")
    canon.write("b", body="rewritten")
    reminder = session.settle(["a/x.py", "b/y.py", "tools/z.py"])
    assert reminder == "Changed, and not updated since: a. Do these articles still hold?"
    assert session.settle(["a/x.py"]) is None
    assert canon.session("t").settle(["tools/z.py"]) is None


def test_a_session_goes_on_in_another_process(nexus):
    canon = Canon(nexus)
    articles(canon, a=100, b=100)
    session = canon.session("s")
    session.touch(["a", "b"])
    session.flush()
    session.undo()
    canon.read("b")
    state = json.loads(json.dumps(session.to_dict()))
    later = Canon(nexus).session("s", state)
    assert later.stats == session.stats
    later.touch(["a", "b"])
    assert later.flush() == f"[canon] a: {'x' * 100}"


@pytest.mark.parametrize("state", [{}, {"staged": 1}, {"staged": [], "seen": [], "written": [], "counts": {}}])
def test_a_broken_state_is_a_typed_error(canon, state):
    with pytest.raises(kipql.KipError) as raised:
        canon.session("s", state)
    assert raised.value.code == "ArtifactParseError"


@pytest.mark.parametrize(
    "given", [{"once": "always"}, {"budget_chars": -1}, {"budget_chars": "4"}, {"message_chars": True}]
)
def test_a_policy_is_checked(given):
    with pytest.raises(kipql.KipError) as raised:
        SurfacePolicy(**given)
    assert raised.value.code == "ConstraintViolation"


def test_a_flush_writes_nothing_and_a_touch_only_the_asset(canon):
    articles(canon, a=10)
    session, seq = canon.session("s"), canon.nexus.space_seq
    session.touch("a")
    session.flush()
    assert canon.nexus.space_seq == seq
    session.touch(["a/deep/x.py", "tools/y.py"])
    assert canon.nexus.space_seq == seq + 1
    assert sorted(canon.nexus.query('FIND(?x.key) WHERE { ?x {type: "Asset"} }').rows) == [
        ":a",
        ":a/deep/x",
        ":tools/y",
    ]
    digest = canon.nexus.digest()
    session.touch(["a/deep/x.py", "tools/y.py"])
    session.flush()
    Canon(canon.nexus).session("t").touch(["a/deep/x.py"])
    Canon(canon.nexus, policy=SurfacePolicy(make_assets=False)).session("u").touch(["new/z.py"])
    assert canon.nexus.digest() == digest


def test_a_touch_answers_while_a_transaction_is_open(canon):
    articles(canon, a=10)
    session = canon.session("s")
    with canon.nexus.transaction() as tx:
        tx.execute('CREATE CONCEPT ?p { TYPE "Person" NAME "Ada" }')
        assert session.touch("a/x.py") == ["a"]
    assert canon.nexus.query('FIND(?x.key) WHERE { ?x {type: "Asset", key: ":a/x"} }').rows == []
    session.touch("a/x.py")
    assert canon.nexus.query('FIND(?x.key) WHERE { ?x {type: "Asset", key: ":a/x"} }').rows == [":a/x"]


def test_C26_a_read_only_memory_answers_everything_but_writes(canon):
    articles(canon, a=10)
    canon.journal("entry", subject="a")
    digest = canon.nexus.digest()
    reading = Canon(canon.nexus.readonly())
    session = reading.session("s")
    assert session.touch(["a/x.py", "unknown/y.py"]) == ["a"]
    assert session.flush() == f"[canon] a: {'x' * 10}"
    assert reading.read("a").journal == ["2026-08-11-entry.md"]
    assert reading.map() and reading.search("entry", journal=True) and reading.audit.orphans() == []
    for call in (lambda: reading.write("a", body="c"), lambda: reading.journal("more")):
        with pytest.raises(kipql.KipError) as raised:
            call()
        assert raised.value.code == "ReadonlyViolation"
    assert canon.nexus.digest() == digest


def test_a_memory_without_the_package_says_how_to_get_it():
    with pytest.raises(kipql.KipError) as raised:
        Canon(kipql.open().readonly())
    assert raised.value.code == "ReadonlyViolation"
    assert "kip://kipql/agent" in raised.value.hint


def test_the_trace_has_a_line_for_each_decision(nexus, tmp_path):
    canon = Canon(nexus, trace=tmp_path / "trace.jsonl")
    articles(canon, a=10, b=0)
    session = canon.session("s")
    session.touch(["a", "b"])
    canon.read("b")
    session.flush()
    events = [json.loads(line) for line in (tmp_path / "trace.jsonl").read_text("utf-8").splitlines()]
    assert [(one["event"], one.get("article")) for one in events] == [
        *(("staged", "a"), ("staged", "b"), ("withdrawn", "b"), ("surfaced", "a"), ("flushed", None)),
    ]
    assert {one["session"] for one in events} == {"s"}


def test_touch_and_flush_as_text(canon):
    articles(canon, a=10)
    session = canon.session("s")
    assert touched(session, ["a/x.py"]) == "staged: a"
    assert touched(session, ["a/x.py"]) == "nothing new is staged"
    assert flushed(session) == f"[canon] a: {'x' * 10}"
    assert flushed(session) == "nothing to surface"
