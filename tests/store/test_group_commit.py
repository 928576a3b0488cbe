"""Threads that commit at once share a sync; no reader sees a commit before it is durable (specification §32)."""

import threading
import time
from pathlib import Path
from typing import BinaryIO

import pytest

from kipql.errors import KipError
from kipql.store import Store
from kipql.store.files import Files
from tests.store.small import concept, pair, store
from tests.store.test_replay import facts

THREADS, EACH = 6, 12


class Slow(Files):
    """A disk that takes its time to sync, counts, and can fail."""

    def __init__(self) -> None:
        self.syncs = 0
        self.fails = False
        self.durable = 0  # bytes of the journal

    def fsync(self, file: BinaryIO) -> None:
        size = self.size(file)
        time.sleep(0.004)
        self.syncs += 1
        if self.fails:
            raise OSError(5, "Input/output error")
        self.durable = size


def _at_once(space: Store, write: "list[int]", failures: list[KipError]) -> None:
    def work(number: int) -> None:
        try:
            for step in range(EACH):
                tx = space.begin(5_000)
                tx.create(concept(f"{number}-{step}"))
                tx.commit()
                assert space.head >= tx.seq
                write.append(tx.seq)
        except KipError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_syncs_are_shared_and_every_commit_is_there(tmp_path: Path) -> None:
    files = Slow()
    with store(tmp_path / "space", files=files) as space:
        pair(space)
        before, made = files.syncs, list[int]()
        _at_once(space, made, [])
        assert sorted(made) == list(range(2, THREADS * EACH + 2))
        assert files.syncs - before < THREADS * EACH * 0.7
        said = facts(space)
    with store(tmp_path / "space") as again:
        assert facts(again) == said


def test_no_reader_sees_what_is_not_durable(tmp_path: Path) -> None:
    files, seen, done = Slow(), list[tuple[int, int]](), threading.Event()
    with store(tmp_path / "space", files=files) as space:
        pair(space)

        def read() -> None:
            while not done.is_set():
                head = space.head
                seen.append((head, files.durable))  # the head first: what is durable only grows
                time.sleep(0.0005)

        reader = threading.Thread(target=read)
        reader.start()
        _at_once(space, [], [])
        done.set()
        reader.join()
        journal = (tmp_path / "space" / "journal").read_bytes()
    ends = _ends(journal)
    assert len({head for head, _ in seen}) > 5
    assert all(ends[head] <= durable for head, durable in seen)


def test_a_failed_sync_fails_all_that_wait_for_it_and_shows_none(tmp_path: Path) -> None:
    files = Slow()
    space = store(tmp_path / "space", files=files)
    pair(space)
    said, failures, made = facts(space), list[KipError](), list[int]()
    files.fails = True
    _at_once(space, made, failures)
    assert not made and len(failures) == THREADS
    assert {error.code for error in failures} <= {"OutcomeUnknown", "MemoryUnavailable"}
    assert "OutcomeUnknown" in {error.code for error in failures}
    assert facts(space) == said, "readers are where they were"
    with pytest.raises(KipError) as raised:
        space.begin(1)
    assert raised.value.code == "MemoryUnavailable"
    space.close()
    with store(tmp_path / "space") as again:
        assert facts(again)[: len(said)] == said


def _ends(journal: bytes) -> dict[int, int]:
    """Sequence -> where its frame ends."""
    found, offset = {0: 16}, 16
    while offset < len(journal):
        length, seq = int.from_bytes(journal[offset : offset + 4], "little"), journal[offset + 4 : offset + 12]
        offset += 16 + length
        found[int.from_bytes(seq, "little")] = offset
    return found
