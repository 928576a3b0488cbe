"""A reader in another process follows a writer that rotates, purges, governs and is killed (decision 0011)."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

import kipql
from kipql import KipError
from kipql.store.files import Files
from kipql.store.journal import NAME, frame
from tests.crash.kill import _killed
from tests.crash.words import CREATE, DEFINE, LIVE, PURGE
from tests.store.disks import Unsynced
from tests.store.small import Writer, change, commit, grown, store
from tests.store.test_replay import facts

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
COMMITS = 1_000
PATIENCE = 120


def _writing(path: Path, told: int) -> None:
    """The writer's process: 1,000 acknowledged commits, each told by a byte, and a rotation, purges, a package, a
    grant and its revocation on the way."""
    with kipql.open(path, durability="os", snapshot_after=None) as nexus:
        for number in range(COMMITS):
            key = f"k{number:04}"
            if number == 300:
                nexus.install_package("kip://domains/general@1.0.0")
            elif number == 400:
                nexus.execute(DEFINE % "likes_best")
            elif number == 600:
                nexus.execute(PURGE, {"key": "k0599"})
            elif number == 700:
                nexus.govern.grant("guest", "discover", "read")
            elif number == 800:
                nexus.govern.revoke(next(iter(nexus.govern.policy()["grants"]))["id"])
            else:
                nexus.execute(CREATE, {"key": key})
            os.write(told, b".")
            if number in (500, 650, 900):
                nexus.snapshot()
        os.write(told, b"!")
        time.sleep(PATIENCE)


def _keys(commits: int) -> list[str]:
    """The live keys after so many commits."""
    others = {300, 400, 600, 700, 800} | ({599} if commits > 600 else set())
    return [f"k{number:04}" for number in range(commits) if number not in others]


def test_a_reader_in_another_process_sees_every_acknowledged_commit(tmp_path: Path) -> None:
    path = tmp_path / "m"
    kipql.open(path).close()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _writing(path, writing)
        finally:
            os._exit(1)
    os.close(writing)
    heads, refused = list[int](), 0
    try:
        with kipql.open(path, readonly=True) as reader:
            live, guest, acknowledged = reader.prepare(LIVE), reader.as_principal("guest"), 0
            said = b""
            while b"!" not in said:
                said = os.read(reading, 64)
                assert said, "the writer ended by itself"
                acknowledged += said.count(b".")
                rows = live.query().rows
                head = reader.space_seq
                heads.append(head)
                assert head >= acknowledged
                commits = next(n for n in range(acknowledged, head + 1) if sorted(rows) == _keys(n))
                if commits > 300:
                    reader.query('FIND(?o) WHERE { (?s, "lives_in", ?o) }')
                try:
                    seen = sorted(guest.query(LIVE).rows)
                    assert any(seen == _keys(n) for n in range(acknowledged, reader.space_seq + 1))
                except KipError as error:
                    assert error.code == "NotAuthorized"
                    assert reader.space_seq > 800 or acknowledged <= 700  # governed, and the first grant is being made
                    refused += 1
                else:
                    assert acknowledged <= 800, "a revoked grant is gone at once"
            assert acknowledged == COMMITS and heads == sorted(heads) and refused
            assert reader.query(LIVE).rows == _keys(COMMITS)
            with kipql.open(path, readonly=True) as fresh:
                assert fresh.digest() == reader.digest()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)


def test_a_reader_outlives_writers_that_are_killed(tmp_path: Path) -> None:
    """kill -9 in the middle of whatever a writer does; the same reader goes on with what the next opener finds."""
    path, seeds = tmp_path / "m", random.Random(5)
    kipql.open(path).close()
    with kipql.open(path, readonly=True) as reader:
        for number in range(12):
            _killed(path, seeds, number)
            reader.refresh()  # the torn tail is still there
            with kipql.open(path, readonly=True) as fresh:
                assert fresh.digest() == reader.digest() and fresh.space_seq == reader.space_seq
            kipql.open(path, snapshot_after=None).close()  # cuts it
            with kipql.open(path, readonly=True) as fresh:
                assert sorted(reader.query(LIVE).rows) == sorted(fresh.query(LIVE).rows)
                assert fresh.digest() == reader.digest()


@pytest.mark.parametrize("kept", ["header", "header and half", "all but a byte", "zeros"])
def test_a_frame_that_is_being_written_is_not_taken(kept: str, tmp_path: Path) -> None:
    folder = tmp_path / "space"
    with grown(1, 6, folder) as writer, store(folder, readonly=True) as reader:
        path = folder / NAME
        before, said = path.read_bytes(), facts(reader)
        change(writer, 0, name="Next")
        whole = path.read_bytes()
        new = whole[len(before) :]
        parts = {"header": new[:16], "header and half": new[: len(new) // 2], "all but a byte": new[:-1]}
        path.write_bytes(before + parts.get(kept, bytes(len(new))))
        for _ in range(3):
            assert reader.follow() and facts(reader) == said
        path.write_bytes(whole)
        assert reader.follow() and reader.head == writer.head and facts(reader) == facts(writer)


def test_at_every_byte_of_a_growing_journal_the_reader_has_the_whole_commits(tmp_path: Path) -> None:
    folder, copy = tmp_path / "space", tmp_path / "copy"
    with grown(2, 12, folder) as space:
        data, said = (folder / NAME).read_bytes(), facts(space)
        digests = [space.digest(space.view(seq)) for seq in range(13)]
    copy.mkdir()
    start = 16
    (copy / NAME).write_bytes(data[:start])
    with store(copy, readonly=True, files=Unsynced()) as reader:
        for end in range(start, len(data) + 1):
            with (copy / NAME).open("ab") as file:
                file.write(data[(copy / NAME).stat().st_size : end])
            assert reader.follow()
            assert reader.digest() == digests[reader.head]
        assert facts(reader) == said


def test_a_frame_that_does_not_follow_is_damage_and_never_half_taken(tmp_path: Path) -> None:
    folder = tmp_path / "space"
    with grown(1, 6, folder), store(folder, readonly=True) as reader:
        said = facts(reader)
        with (folder / NAME).open("ab") as file:
            file.write(frame(7, b"\x80"))
        for _ in range(2):
            try:
                followed = reader.follow()
            except KipError as error:
                assert error.code == "MemoryDamaged"
            else:
                assert not followed, "after a half a frame only a new store goes on"
            assert facts(reader) == said


class Counting(Files):
    """Files that count how often they are asked."""

    def __init__(self) -> None:
        self.stamps = self.opened = 0

    def stamp(self, path: Path) -> tuple[int, ...]:
        self.stamps += 1
        return super().stamp(path)

    def open_to_read(self, path: Path):  # type: ignore[no-untyped-def]
        self.opened += 1
        return super().open_to_read(path)


def test_nothing_is_read_when_nothing_changed(tmp_path: Path) -> None:
    folder, files = tmp_path / "space", Counting()
    with grown(1, 6, folder) as writer, store(folder, readonly=True, files=files) as reader:
        reader.follow()
        files.stamps = files.opened = 0
        for _ in range(5):
            assert reader.follow()
        assert (files.stamps, files.opened) == (5, 0)
        commit(writer, Writer(3).transaction)
        assert reader.follow() and reader.head == writer.head and files.opened == 1


def test_a_backup_made_by_a_reader_while_another_process_writes(tmp_path: Path) -> None:
    """Each copy is a whole memory: as many commits as were acknowledged before, or more, and the keys of as many."""
    path = tmp_path / "m"
    kipql.open(path).close()
    child = os.fork()
    if child == 0:
        try:
            with kipql.open(path, durability="os", snapshot_after=20_000) as nexus:
                number = 0
                while True:
                    nexus.execute(CREATE, {"key": f"k{number:05}"})
                    number += 1
        finally:
            os._exit(1)
    try:
        with kipql.open(path, readonly=True) as reader:
            last = 0
            for number in range(12):
                time.sleep(0.05)
                before = reader.space_seq
                reader.backup(tmp_path / f"copy-{number}")
                with kipql.open(tmp_path / f"copy-{number}") as copy:
                    head = copy.space_seq
                    assert last <= before <= head
                    assert sorted(copy.query(LIVE).rows) == [f"k{n:05}" for n in range(head)]
                    copy.execute(CREATE, {"key": "own"})
                reader.refresh()
                same = reader.query(LIVE + " AS OF SEQ :seq", {"seq": head}).rows
                assert sorted(same) == [f"k{n:05}" for n in range(head)]
                last = head
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
