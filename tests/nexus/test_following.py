"""A read-only opener follows the writer: every operation sees what was acknowledged before it began (decision 0011)."""

import gc
import shutil
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kipql
from kipql import KipError
from kipql.nexus import session_of
from tests.crash.words import CREATE, DEFINE, LIVE, PURGE

CHANGES = "CHANGES AFTER SEQ 0"
COUNT = 'FIND(COUNT(?c)) WHERE { ?c {type: "Person"} }'
SEARCH = 'SEARCH CONCEPT "%s" WITH TYPE "Person"'


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[kipql.Nexus]:
    with kipql.open(tmp_path / "m", durability="os", snapshot_after=None) as nexus:
        nexus.execute(CREATE, {"key": "first"})
        yield nexus


@pytest.fixture
def reader(writer: kipql.Nexus, tmp_path: Path) -> Iterator[kipql.Nexus]:
    with kipql.open(tmp_path / "m", readonly=True) as nexus:
        yield nexus


def _graph(nexus: kipql.Nexus) -> object:
    return nexus._session.space.store.graph


def _files(path: Path) -> dict[Path, tuple[bytes, int]]:
    return {each: (each.read_bytes(), each.stat().st_mtime_ns) for each in path.rglob("*") if each.is_file()}


def test_every_way_to_read_sees_the_next_commit(writer: kipql.Nexus, reader: kipql.Nexus) -> None:
    prepared = reader.prepare(COUNT)
    ways: dict[str, tuple[Callable[[], object], Callable[[int], object]]] = {
        "query": (lambda: reader.query(COUNT).scalar(), lambda n: n),
        "prepared": (lambda: prepared.query().scalar(), lambda n: n),
        "prepared, executed": (lambda: prepared.execute().scalar(), lambda n: n),  # type: ignore[union-attr]
        "execute": (lambda: reader.execute(COUNT).scalar(), lambda n: n),  # type: ignore[union-attr]
        "request": (
            lambda: reader.request({"kip": "2.0", "operations": [{"command": COUNT}]})["results"][0]["result"],  # type: ignore[index,call-overload]
            lambda n: writer.request({"kip": "2.0", "operations": [{"command": COUNT}]})["results"][0]["result"],  # type: ignore[index,call-overload]
        ),
        "head": (lambda: reader.space_seq, lambda n: n),
        "stats": (lambda: reader.stats()["elements"], lambda n: writer.stats()["elements"]),
        "digest": (reader.digest, lambda n: writer.digest()),
        "changes": (lambda: reader.query(CHANGES).rows, lambda n: writer.query(CHANGES).rows),
        "another view": (lambda: reader.readonly().query(COUNT).scalar(), lambda n: n),
        "another Principal": (lambda: reader.as_principal("p").query(COUNT).scalar(), lambda n: n),
        "networkx": (lambda: sorted(reader.to_networkx()), lambda n: sorted(f"C-{k + 1}" for k in range(n))),
        "refresh": (reader.refresh, lambda n: n),
        "spaces": (lambda: reader.query("LIST SPACES").rows, lambda n: writer.query("LIST SPACES").rows),
    }
    made = 1
    for _ in range(3):  # the ready path of a statement begins with its second run
        for name, (ask, expected) in ways.items():
            writer.execute(CREATE, {"key": f"k{made}"})
            made += 1
            assert ask() == expected(writer.space_seq), name


def test_the_graph_stays_while_the_reader_keeps_up(writer: kipql.Nexus, reader: kipql.Nexus) -> None:
    """Also when a purge rewrote the journal, or a snapshot cut it down: nothing that was warm is made again."""
    graph = _graph(reader)
    for step in range(6):
        writer.execute(CREATE, {"key": f"k{step}"})
        assert reader.space_seq == writer.space_seq
        if step < 3:
            writer.execute(PURGE, {"key": f"k{step}"})
        else:
            writer.snapshot()
        assert reader.digest() == writer.digest() and _graph(reader) is graph


def test_a_reader_that_is_behind_a_snapshot_opens_it_and_queries_under_way_keep_theirs(
    writer: kipql.Nexus, reader: kipql.Nexus
) -> None:
    graph, space = _graph(reader), reader._session.space
    rows = iter(reader.query(LIVE).rows)
    view = space.view()
    for key in ("a", "b", "c"):
        writer.execute(CREATE, {"key": key})
        writer.snapshot()
    assert view is space.view() and list(rows) == ["first"], "nobody looked yet"
    assert reader.query(LIVE).rows == ["first", "a", "b", "c"]
    assert _graph(reader) is not graph and view.graph is graph and view.bounds[0] == 1
    assert reader.digest() == writer.digest()
    writer.execute(CREATE, {"key": "d"})
    assert reader.space_seq == 5


@pytest.mark.parametrize("behind", [False, True], ids=["in place", "opened anew"])
def test_purged_bytes_vanish_from_the_reader(behind: bool, writer: kipql.Nexus, reader: kipql.Nexus) -> None:
    writer.execute(CREATE, {"key": "secret-0123456789"})
    writer.execute(CREATE, {"key": "other"})
    writer.snapshot()
    assert reader.query(SEARCH % "secret-0123456789").rows and len(reader.query(LIVE).rows) == 3
    if behind:
        writer.execute(CREATE, {"key": "more"})
    writer.execute(PURGE, {"key": "secret-0123456789"})
    assert "secret-0123456789" not in reader.query(LIVE).rows
    assert reader.query(SEARCH % "secret-0123456789").rows == []
    assert reader.digest() == writer.digest()
    states: list[Any] = [reader._session.space.store.graph.head(8)]
    while states[-1].prev is not None:
        states.append(states[-1].prev)
    assert "secret" not in repr(states)
    for seq in range(reader.space_seq + 1):
        assert "secret-0123456789" not in reader.query(LIVE + " AS OF SEQ :seq", {"seq": seq}).rows


@pytest.mark.parametrize("behind", [False, True], ids=["in place", "opened anew"])
def test_control_state_is_the_writers(behind: bool, writer: kipql.Nexus, reader: kipql.Nexus) -> None:
    def gone_on() -> None:
        if behind:
            writer.execute(CREATE, {"key": f"k{writer.space_seq}"})
            writer.snapshot()
            writer.execute(CREATE, {"key": f"k{writer.space_seq}"})
            writer.snapshot()

    writer.install_package("kip://domains/general@1.0.0")
    gone_on()
    lives = reader.prepare('FIND(?o) WHERE { (?s, "lives_in", ?o) }')
    assert lives.query().rows == []
    writer.execute(DEFINE % "likes_best")
    gone_on()
    assert reader.query('DESCRIBE PREDICATE "likes_best"').one()["local_name"] == "likes_best"

    policy = 'DESCRIBE EPISTEMIC POLICY "acme:newest"'
    with pytest.raises(KipError):
        reader.query(policy)
    writer.install_policy({"policy_id": "acme:newest", "version": "1", "precedence": {"order": ["recency"]}})
    gone_on()
    assert reader.query(policy).one() == writer.query(policy).one()

    guest = reader.as_principal("guest")
    assert guest.query(COUNT).scalar() >= 1, "nothing is governed yet"
    grant = writer.govern.grant("guest", "discover", "read")
    gone_on()
    assert guest.query(COUNT).scalar() >= 1 and reader.govern.describe("guest")["permissions"] == ["discover", "read"]
    prepared = guest.prepare(COUNT)
    prepared.query()
    writer.govern.revoke(grant)
    gone_on()
    for ask in (lambda: guest.query(COUNT), prepared.query):
        with pytest.raises(KipError) as raised:
            ask()
        assert raised.value.code == "NotAuthorized"


def test_a_snapshot_token_and_as_of_do_not_move(writer: kipql.Nexus, reader: kipql.Nexus) -> None:
    asked = {"kip": "2.0", "operations": [{"command": COUNT}]}
    first: Any = reader.request(asked)
    token = {**asked, "read": {"snapshot_token": first["snapshot"]["snapshot_token"]}}
    for step in range(4):
        writer.execute(CREATE, {"key": f"k{step}"})
        if step == 2:
            writer.snapshot()
        again: Any = reader.request(token)
        assert again["results"][0]["result"] == first["results"][0]["result"]
        assert reader.query(COUNT + " AS OF SEQ 1").scalar() == 1
    assert reader.query(COUNT).scalar() == 5


def test_a_cursor_goes_on_where_it_was(writer: kipql.Nexus, reader: kipql.Nexus) -> None:
    for n in range(5):
        writer.execute(CREATE, {"key": f"k{n}"})
    page = reader.query(LIVE + " LIMIT 3")
    writer.execute(CREATE, {"key": "late"})
    writer.snapshot()
    writer.execute(CREATE, {"key": "later"})
    writer.snapshot()
    rest = reader.query(LIVE + " LIMIT 3 CURSOR :c", {"c": page.next_cursor})
    assert [*page.rows, *rest.rows] == ["first", "k0", "k1", "k2", "k3", "k4"]


def test_follow_off_stands_still_until_it_is_asked(writer: kipql.Nexus, tmp_path: Path) -> None:
    with kipql.open(tmp_path / "m", readonly=True, follow=False) as still:
        prepared = still.prepare(COUNT)
        for expected in (1, 2, 3):
            writer.execute(CREATE, {"key": f"k{expected}"})
            writer.snapshot()
            seen = [still.query(COUNT).scalar(), prepared.query().scalar(), still.space_seq, still.stats()["space_seq"]]
            assert seen == [expected] * 4
            assert still.refresh() == expected + 1
            assert prepared.query().scalar() == expected + 1


def test_a_writer_and_a_memory_without_a_folder_have_nothing_to_look_for(writer: kipql.Nexus) -> None:
    assert writer.refresh() == 1 and type(writer) is kipql.Nexus and type(writer.readonly()) is kipql.Nexus
    assert kipql.open().refresh() == 0
    with pytest.raises(KipError) as raised:
        kipql.open(follow="no")  # type: ignore[arg-type]
    assert raised.value.code == "TypeMismatch"


def test_a_reader_changes_nothing_in_the_folder(writer: kipql.Nexus, reader: kipql.Nexus, tmp_path: Path) -> None:
    for step in range(6):
        writer.execute(CREATE, {"key": f"k{step}"})
        if step % 2:
            writer.snapshot()
        before = _files(tmp_path / "m")
        assert len(reader.query(LIVE).rows) == step + 2
        reader.query(SEARCH % "first")
        assert _files(tmp_path / "m") == before


def test_a_new_space_and_its_commits_are_seen(writer: kipql.Nexus, reader: kipql.Nexus) -> None:
    work = writer.space("kip:space:work")
    work.execute(CREATE, {"key": "w"})
    other = reader.space("kip:space:work")
    assert other.query(LIVE).rows == ["w"]
    work.execute(CREATE, {"key": "x"})
    assert other.query(LIVE).rows == ["w", "x"] and reader.query(LIVE).rows == ["first"]


def test_a_retained_outcome_is_known(writer: kipql.Nexus, reader: kipql.Nexus) -> None:
    reader.query(COUNT)
    envelope = {
        "kip": "2.0",
        "execution": {"mode": "atomic", "idempotency_key": "once"},
        "operations": [{"command": CREATE, "parameters": {"key": "a"}}],
    }
    said: Any = writer.request(envelope)
    asked = 'DESCRIBE TRANSACTION BY IDEMPOTENCY KEY "once"'
    assert said["status"] == "succeeded"
    assert reader.query(asked).rows == writer.query(asked).rows


def test_subscribers_of_a_reader_are_told_of_every_commit_once_and_in_order(
    writer: kipql.Nexus, reader: kipql.Nexus
) -> None:
    told: list[int] = []
    reader.subscribe(lambda envelope: told.append(envelope["space_seq"]))
    for step in range(6):
        writer.execute(CREATE, {"key": f"k{step}"})
        if step in (1, 3, 4):
            writer.snapshot()
        if step in (2, 5):
            reader.refresh()
    assert told == [2, 3, 4, 5, 6, 7]


def test_reads_go_on_when_the_folder_is_gone(writer: kipql.Nexus, reader: kipql.Nexus, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "m")
    assert reader.query(LIVE).rows == ["first"]


def test_a_memory_that_went_back_is_read_as_it_is(tmp_path: Path) -> None:
    """A machine lost commits without a sync, and others were written in their place."""
    path = tmp_path / "m"
    with kipql.open(path, durability="os", snapshot_after=None) as writer:
        writer.execute(CREATE, {"key": "kept"})
        held = next(path.glob("spaces/*/journal"))
        before = held.read_bytes()
        reader = kipql.open(path, readonly=True)
        writer.execute(CREATE, {"key": "lost"})
        assert reader.query(LIVE).rows == ["kept", "lost"]
    held.write_bytes(before)
    assert reader.query(LIVE).rows == ["kept"]
    with kipql.open(path, durability="os", snapshot_after=None) as writer:
        writer.execute(CREATE, {"key": "instead"})
        assert reader.query(LIVE).rows == ["kept", "instead"] and reader.digest() == writer.digest()
    reader.close()


def test_damage_is_told_and_what_was_seen_is_not_lost(writer: kipql.Nexus, reader: kipql.Nexus, tmp_path: Path) -> None:
    held = next((tmp_path / "m").glob("spaces/*/journal"))
    for step in range(3):
        writer.execute(CREATE, {"key": f"k{step}"})
    whole = held.read_bytes()
    broken = bytearray(whole)
    broken[-200] ^= 1
    held.write_bytes(broken)
    for _ in range(2):
        with pytest.raises(KipError) as raised:
            reader.query(LIVE)
        assert raised.value.code == "MemoryDamaged"
    held.write_bytes(whole)
    assert reader.query(LIVE).rows == ["first", "k0", "k1", "k2"]


def test_many_threads_read_one_reader_while_it_follows(writer: kipql.Nexus, reader: kipql.Nexus) -> None:
    done, wrong = threading.Event(), list[object]()

    def read() -> None:
        prepared, last = reader.prepare(LIVE), 0
        try:
            while not done.is_set():
                acknowledged = writer.space_seq
                rows = prepared.query().rows
                keys = ["first", *(f"k{n:03}" for n in range(len(rows) - 1))]
                if rows != keys or not max(last, acknowledged) <= len(rows):
                    wrong.append((rows, acknowledged))
                last = len(rows)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(200):
        writer.execute(CREATE, {"key": f"k{number:03}"})
        if number % 20 == 19:
            writer.snapshot()
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[0]


def test_a_rehearsal_in_a_reader_and_a_look_do_not_meet(writer: kipql.Nexus, reader: kipql.Nexus) -> None:
    preview = "PREVIEW KML :text"
    text = 'CREATE CONCEPT ?c { TYPE "Person" NAME "nobody" }'
    done, wrong = threading.Event(), list[object]()

    def rehearse() -> None:
        try:
            while not done.is_set():
                reader.query(preview, {"text": text})
        except BaseException as error:
            wrong.append(error)

    thread = threading.Thread(target=rehearse)
    thread.start()
    for number in range(100):
        writer.execute(CREATE, {"key": f"k{number:03}"})
        reader.query(COUNT)
    done.set()
    thread.join()
    assert not wrong, wrong[0]
    assert reader.digest() == writer.digest()


def test_idle_statements_let_go_of_a_state_that_was_read_anew(tmp_path: Path) -> None:
    """What was purged goes with the last query that still runs on the old state; what waits to be run again holds
    none (docs/storage.md)."""
    path = tmp_path / "m"
    with kipql.open(path, snapshot_after=None) as writer:
        writer.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "secret" SET FIELDS {key: "k"} }')
        with kipql.open(path, readonly=True) as reader:
            find = 'FIND(?c.name) WHERE { ?c {type: "Person", key: :key} }'
            idle = reader.prepare(find)
            for _ in range(5):
                assert idle.query({"key": "k"}).rows == ["secret"]
                assert reader.query(find, {"key": "k"}).rows == ["secret"]
                assert reader.query('FIND(?c.name) WHERE { ?c {name: "secret"} }').rows == ["secret"]
            old = weakref.ref(session_of(reader).space.store.graph)
            writer.execute('PURGE ?c WHERE { ?c {key: "k"} } CONFIRM "PURGE"')
            writer.snapshot()
            writer.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "later" }')
            assert reader.query('FIND(?c.name) WHERE { ?c {name: "later"} }').rows == ["later"]
            gc.collect()
            assert old() is None
            assert idle.query({"key": "k"}).rows == []
