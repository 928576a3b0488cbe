"""Sessions opened and closed a thousand times leave nothing: no file, no thread, no memory."""

import gc
import threading
import tracemalloc
import weakref
from pathlib import Path

import pytest

import kipql
from kipql import KipError
from kipql.nexus import session_of
from tests.crash.soak import soak
from tests.crash.words import CREATE, LIVE

OPEN_FILES = Path("/proc/self/fd")
ROUNDS = 1_000


def _files() -> int:
    return sum(1 for _ in OPEN_FILES.iterdir())


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="needs /proc")
def test_a_thousand_sessions_leave_no_file_no_thread_and_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "m"
    with kipql.open(path, durability="os") as nexus:
        nexus.execute(CREATE, {"key": "a"})
        nexus.snapshot()

    def session(number: int) -> None:
        with kipql.open(path, readonly=number % 2 == 0, durability="os") as nexus:
            assert nexus.query(LIVE).rows == ["a"]

    for number in range(20):  # what is made once
        session(number)
    gc.collect()
    files, threads = _files(), threading.active_count()
    before = _objects()
    for number in range(ROUNDS):
        session(number)
    gc.collect()
    assert (_files(), threading.active_count()) == (files, threads)
    assert _objects() - before < ROUNDS / 2, "not one object a session"


@pytest.mark.parametrize("readonly", [True, False])
def test_sessions_leave_no_bytes(tmp_path: Path, readonly: bool) -> None:
    """What Python allocated, over 500 sessions that read and 500 that could write: less than 100 bytes a session."""
    path = tmp_path / "m"
    with kipql.open(path, durability="os") as nexus:
        nexus.execute(CREATE, {"key": "a"})
        nexus.snapshot()

    def session() -> None:
        with kipql.open(path, readonly=readonly, durability="os") as nexus:
            assert nexus.query(LIVE).rows == ["a"]

    for _ in range(20):
        session()
    tracemalloc.start()
    try:
        for _ in range(20):
            session()
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(ROUNDS // 2):
            session()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    print(f"\n{(after - before) / (ROUNDS // 2):.0f} bytes a session")
    assert after - before < 100 * ROUNDS // 2


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="needs /proc")
def test_sessions_that_could_not_be_opened_leave_no_file(tmp_path: Path) -> None:
    path = tmp_path / "m"
    kipql.open(path).close()
    journal = next(path.glob("spaces/*/journal"))
    right = journal.read_bytes()
    for wrong in (b"", right[:20], right[:-1] + b"\xff", right + right[16:]):
        journal.write_bytes(wrong)
        before = _files()
        for _ in range(20):
            try:
                kipql.open(path).close()
            except KipError as error:
                assert error.code == "MemoryDamaged"
        gc.collect()
        assert _files() == before
    journal.write_bytes(right)
    kipql.open(path).close()


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="needs /proc")
def test_a_short_soak_reads_what_was_written(tmp_path: Path) -> None:
    found = soak(tmp_path, 2_000, 2)
    assert not found.wrong and found.reads > 0


def _objects() -> int:
    gc.collect()
    return len(gc.get_objects())


@pytest.mark.parametrize("path", [None, "m"])
def test_a_memory_that_is_closed_and_forgotten_is_gone(tmp_path: Path, path: str | None) -> None:
    """Nothing that a query remembers between calls outlives the graph that it is about."""
    nexus = kipql.open(None if path is None else tmp_path / path, durability="os")
    for key in ("a", "b"):
        nexus.execute(CREATE, {"key": key})
    nexus.execute('ASSERT ({id: "C-1"}, "prefers", {id: "C-2"}) {by: {id: "C-1"}, mode: "stated"}')
    for text in (
        LIVE,
        'FIND(?c.name) WHERE { ?c {type: "Person", key: "a"} }',
        'FIND(?c.name) WHERE { ?c {type: "Person", name: "a"} }',
        'FIND(?y.name) WHERE { ?x {type: "Person", name: "a"} (?x, "prefers", ?y) }',
        'FIND(?b.status) WHERE { ?b BELIEF ({id: "C-1"}, "prefers", {id: "C-2"}) }',
        'FIND(?s) WHERE { ?x {type: "Person", name: "a"} ?s BELIEF SLOT (?x, "prefers") } AS OF SEQ 2',
        'SEARCH CONCEPT "a"',
    ):
        for _ in range(6):
            nexus.query(text).rows  # noqa: B018
    graph = weakref.ref(session_of(nexus).space.store.graph)
    nexus.close()
    del nexus
    gc.collect()
    assert graph() is None
