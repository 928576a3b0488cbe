"""Whatever file call fails, and how, the memory is as before or after the commit, never between (docs/storage.md)."""

import errno
from pathlib import Path

import pytest

import kipql
from kipql.errors import KipError
from kipql.store.files import Files
from tests.crash.disk import FAILS, FOLDER, SHORT, FailingDisk, MemoryDisk
from tests.crash.life import STEPS, UNTOUCHED, Facts, Life, facts, lived, whole_life
from tests.crash.words import CREATE, LIVE, PURGE
from tests.store.small import commit, concept, store

ALLOWED = {"MemoryUnavailable", "OutcomeUnknown"}


@pytest.fixture(scope="module")
def said() -> list[Facts]:
    return whole_life()


@pytest.mark.parametrize(
    ("error", "durability", "step"),
    [(errno.ENOSPC, "fsync", 1), (errno.EIO, "fsync", 3), (SHORT, "fsync", 1), (errno.ENOSPC, "os", 3)],
    ids=["full", "broken", "short", "full, os"],
)
def test_whatever_call_fails_a_life_stops_between_two_commits(
    error: int, durability: str, step: int, said: list[Facts]
) -> None:
    failed = set()
    for number in range(1, 1_000, step):
        disk = FailingDisk()
        disk.fail_at, disk.error = number, error
        life = Life(disk, durability)
        broken = lived(life)
        if not disk.failed:
            break
        failed.add(disk.failed)
        at = (number, disk.failed)
        if broken is None:  # of no consequence: closing, or tidying up
            assert disk.failed in ("close", "fsync", "write", "remove", "sync_folder", "names", "open", "rename"), at
            possible = [said[-1]]
        else:
            assert broken.error.code in ALLOWED, (at, broken.error)
            possible = [said[broken.step], said[broken.step + 1]]
            _stops_or_goes_on(life, broken.error, possible, at)
        if durability == "fsync":
            _opens(disk.after_power_loss(number), possible, at)
        life.close()
        _opens(disk.copied(), possible, at)
    assert number > 100 and broken is None
    assert step > 1 or failed >= set(FAILS) - {"truncate"}


def _stops_or_goes_on(life: Life, error: KipError, possible: list[Facts], at: object) -> None:
    """In the process in which it failed: a reader sees one of two states, a writer works or is refused."""
    if life.space is None:
        return
    before = life.facts()
    assert before in possible, at
    if error.code == "OutcomeUnknown":
        for _ in range(2):
            with pytest.raises(KipError) as raised:
                life.space.begin(1)
            assert raised.value.code == "MemoryUnavailable", at
    assert life.facts() == before


def _opens(disk: MemoryDisk, possible: list[Facts], at: object) -> None:
    """It opens with one of these states, takes a commit, and has it when it opens again."""
    with store(FOLDER, files=disk) as space:
        found = facts(space)
        assert found in possible or (UNTOUCHED in possible and space.head == 0), at
        commit(space, lambda tx: tx.create(concept("after")))
        found = facts(space)
    with store(FOLDER, files=disk.after_power_loss(1), readonly=True) as again:
        assert facts(again) == found, at


def test_a_life_without_a_failure_says_the_same_twice(said: list[Facts]) -> None:
    assert whole_life() == said and len(said) == len(STEPS) + 1
    assert len({repr(each) for each in said}) >= 10


@pytest.mark.parametrize("lost", ["fsync", "truncate"])
def test_after_a_failed_sync_the_writer_stops_and_says_so(lost: str) -> None:
    disk = FailingDisk()
    life = Life(disk)
    life.open()
    assert life.space is not None
    commit(life.space, lambda tx: tx.create(concept("kept")))
    before = life.facts()
    disk.fsync = disk.failing if lost == "fsync" else _both(disk)  # type: ignore[method-assign]
    with pytest.raises(KipError) as raised:
        commit(life.space, lambda tx: tx.create(concept("unknown")))
    assert raised.value.code == "OutcomeUnknown" and "open it again" in str(raised.value.hint)
    assert life.facts() == before, "no reader sees it"
    for write in (
        life.space.snapshot,
        lambda: life.space and life.space.note("n", 1),
        lambda: life.space and life.space.begin(1),
    ):
        with pytest.raises(KipError) as refused:
            write()
        assert refused.value.code == "MemoryUnavailable" and "sync failed" in refused.value.message


def _both(disk: FailingDisk):  # type: ignore[no-untyped-def]
    disk.truncate = disk.failing  # type: ignore[method-assign]
    return disk.failing


class Counting:
    """The n-th call of the seam fails, for a whole memory on real files."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.calls, self.fail_at = 0, 0
        patch.setattr(Files, "fsync", lambda *_: None)
        for name in (*FAILS, "exists"):
            patch.setattr(Files, name, self._counting(getattr(Files, name)))

    def _counting(self, call):  # type: ignore[no-untyped-def]
        def counted(*args: object, **options: object) -> object:
            self.calls += 1
            if self.calls == self.fail_at:
                raise OSError(errno.ENOSPC, "No space left on device")
            return call(*args, **options)

        return counted


def test_whatever_call_fails_a_memory_opens_with_what_was_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = Counting(monkeypatch)
    for number in range(1, 400):
        counting.calls, counting.fail_at = 0, number
        path, done = tmp_path / str(number), list[str]()
        failed = _remember(path, done)
        complete, counting.fail_at = counting.calls < number, 0
        with kipql.open(path) as again:
            keys = set(again.query(LIVE).rows)
        wanted = set(done) - ({"a"} if "-a" in done else set()) - {"-a"}
        assert keys == wanted or (failed and keys in _next(done)), (number, done, keys)
        if complete:
            break
    assert complete and not failed and number > 50


def _next(done: list[str]) -> list[set[str]]:
    """What one more write would leave."""
    return [{"a"}, {"a", "b"}, {"b"}] if len(done) < 3 else [{"b", "c"}]


def _remember(path: Path, done: list[str]) -> bool:
    """Whether a call failed in the life of a memory."""
    try:
        with kipql.open(path) as nexus:
            for key in ("a", "b"):
                nexus.execute(CREATE, {"key": key})
                done.append(key)
            nexus.snapshot()
            nexus.execute(PURGE, {"key": "a"})
            done.append("-a")
            nexus.execute(CREATE, {"key": "c"})
            done.append("c")
    except KipError as error:
        assert error.code in ALLOWED, error
        return True
    return False
