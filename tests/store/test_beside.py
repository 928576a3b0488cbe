"""A snapshot is written beside what is committed meanwhile (decision 0014): it is the Space of one moment, the journal
keeps what came after, and a purge stops it."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from kipql.model import CONCEPT
from kipql.mutate.purge import stub
from kipql.store import Store
from kipql.store import store as storing
from kipql.store.freeze import freeze
from kipql.store.snapshot import Section
from kipql.store.still import still_graph
from tests.crash.life import in_the_middle
from tests.store.disks import Unsynced
from tests.store.small import Writer, change, commit, concept, grown, store
from tests.store.test_purge import Purging
from tests.store.test_replay import facts
from tests.store.test_snapshot import SECRET, answers, written


def _of(graph: Any, space: Store) -> list[Section]:
    return [
        Section(each.name, each.kind, bytes(each.content) if each.kind != "m" else each.content)
        for each in freeze(graph, space.notes, space.idempotency)
    ]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [Writer, Purging])
def test_a_graph_held_still_says_what_the_graph_says(seed: int, kind: Any, tmp_path: Path) -> None:
    """Fresh, and opened from a snapshot, where most of it is frozen."""
    writer = kind(seed)
    with store(tmp_path / "space", files=Unsynced()) as space:
        for _ in range(30):
            commit(space, writer.transaction)
        assert _of(still_graph(space.graph), space) == written(space)
        space.snapshot()
    with store(tmp_path / "space", files=Unsynced()) as again:
        for _ in range(6):
            commit(again, writer.transaction)
        assert _of(still_graph(again.graph), again) == written(again)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("reopened", [False, True])
def test_what_is_committed_later_is_not_in_a_graph_held_still(seed: int, reopened: bool, tmp_path: Path) -> None:
    """Rows never; of the values that an older element got later only that a posting may name it too, which readers
    verify. Rolled back transactions leave nothing."""
    writer = Writer(seed)
    space = store(tmp_path / "space", files=Unsynced(), snapshot_after=None)
    for _ in range(20):
        commit(space, writer.transaction)
    if reopened:
        space.snapshot()
        space.close()
        space = store(tmp_path / "space", files=Unsynced(), snapshot_after=None)
    still, then = still_graph(space.graph), dict(_named(written(space)))
    for _ in range(15):
        tx = space.begin(99_000)
        tx.create(concept("rolled back", key="gone"))
        tx.rollback()
        commit(space, writer.transaction)
    verified = ("named", "referrers")
    for name, content in _named(_of(still, space)):
        if not name.startswith((*verified, "notes", "outcomes")):
            assert content == then[name], name
    space.close()


def _named(sections: list[Section]) -> list[tuple[str, Any]]:
    return [(each.name, each.content) for each in sections]


@pytest.mark.parametrize("durability", ["fsync", "os", "none"])
@pytest.mark.parametrize("seed", range(3))
def test_commits_in_the_middle_of_a_snapshot_are_kept_by_the_journal(
    seed: int, durability: str, tmp_path: Path
) -> None:
    writer, memory, plain = Writer(seed), store(), Writer(seed)
    folder = tmp_path / "space"

    def write(space: Store, by: Writer) -> None:
        for _ in range(8):
            commit(space, by.transaction)
        space.note("idempotency", {"key": "one", "n": 1})

    with store(folder, durability=durability, files=Unsynced(), snapshot_after=None) as space:
        for _ in range(10):
            commit(space, writer.transaction)
        head = space.head
        with in_the_middle(lambda: write(space, writer)):
            space.snapshot()
        assert [each.name for each in folder.glob("snapshot*")] == [f"snapshot-{head:012d}"]
        assert space.head > head
        commit(space, writer.transaction)
        space._disk.flush()  # type: ignore[union-attr]
        with store(folder, readonly=True) as reader:
            assert reader.head == space.head and facts(reader) == facts(space)
    for _ in range(10):
        commit(memory, plain.transaction)
    write(memory, plain)
    commit(memory, plain.transaction)
    with store(folder, files=Unsynced()) as again:
        assert facts(again) == facts(memory) and answers(again.view()) == answers(memory.view())
        assert again.idempotency["one"]["n"] == 1
        again.snapshot()
    with store(folder, readonly=True) as last:
        assert facts(last) == facts(memory)


def test_a_purge_in_the_middle_of_a_snapshot_stops_it(tmp_path: Path) -> None:
    folder = tmp_path / "space"
    with store(folder, snapshot_after=None) as space:
        commit(space, lambda tx: tx.create(concept(f"Alice {SECRET}", key="a")))
        space.snapshot()
        change(space, 0, name=f"Al {SECRET}")
        done = list[threading.Thread]()

        def purge() -> None:
            thread = threading.Thread(target=lambda: commit(space, lambda tx: tx.put(0, stub(tx.view.record(0)))))
            thread.start()
            done.append(thread)
            until = time.monotonic() + 20
            while space.head < 3 and time.monotonic() < until:
                time.sleep(0.001)

        with in_the_middle(purge):
            space.snapshot()
        done[0].join()
        assert space.head == 3
        assert SECRET.encode() not in b"".join(each.read_bytes() for each in folder.iterdir())
        assert [each.name for each in folder.glob("snapshot*")] == ["snapshot-000000000003"]
        said = facts(space)
    with store(folder, readonly=True) as again:
        assert facts(again) == said


def test_a_large_space_leaves_its_snapshot_to_a_thread_and_close_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "_SMALL", 10)
    folder, go_on = tmp_path / "space", threading.Event()
    space = store(folder, durability="os", snapshot_after=4_000)
    threads = set[str]()

    def wait() -> None:
        threads.add(threading.current_thread().name)
        go_on.wait(20)

    with in_the_middle(wait):
        writer = Writer(1)
        while not threads:
            commit(space, writer.transaction)
            assert space.head < 2_000
        head = space.head
        for number in range(5):  # of the writer's transactions some change nothing, which is no commit
            commit(space, lambda tx, name=f"n{number}": tx.create(concept(name)))  # type: ignore[misc]  # nobody waits
        assert space.head == head + 5 and not list(folder.glob("snapshot-*"))
        go_on.set()
        said = facts(space)
        space.close()
    assert threads == {"kipql snapshot"} and list(folder.glob("snapshot*"))
    with store(folder, readonly=True) as again:
        assert facts(again) == said


def test_many_threads_write_while_snapshots_are_written(tmp_path: Path) -> None:
    folder = tmp_path / "space"
    space = grown(3, 40, folder)
    done, wrong = threading.Event(), list[BaseException]()

    def write(thread: int) -> None:
        number = 0
        try:
            while not done.is_set():
                name = f"{thread} {number}"
                commit(space, lambda tx, name=name: tx.create(concept(name, key=name)))  # type: ignore[misc]
                number += 1
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=write, args=(thread,)) for thread in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(8):
        space.snapshot()
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong
    head, digest, rows = space.head, space.digest(), len(space.view().rows(CONCEPT))
    space.close()
    with store(folder, readonly=True) as again:
        assert (again.head, again.digest(), len(again.view().rows(CONCEPT))) == (head, digest, rows)


def test_a_commit_that_begins_while_the_journal_is_exchanged_waits_for_it(tmp_path: Path) -> None:
    """The old file is closed and the new one not open yet: that is no reason to refuse."""
    found: list[object] = []

    class Exchanging(Unsynced):
        def rename(self, source: Path, target: Path) -> None:
            super().rename(source, target)
            if target.name == "journal" and ready:
                ready.pop().start()

        def sync_folder(self, path: Path) -> None:
            if any(thread.is_alive() for thread in threads):
                time.sleep(0.2)  # the other thread gets to the journal

    def write() -> None:
        try:
            found.append(commit(space, lambda tx: tx.create(concept("meanwhile"))))
        except Exception as error:
            found.append(error)

    ready: list[threading.Thread] = []
    threads = [threading.Thread(target=write)]
    with store(tmp_path / "space", files=Exchanging(), snapshot_after=None) as space:
        commit(space, lambda tx: tx.create(concept("before")))
        ready += threads
        space.snapshot()
        threads[0].join(20)
        assert not ready and [type(each) for each in found] == [int], found
    with store(tmp_path / "space", readonly=True) as again:
        assert again.head == 2
