"""The journal of 200 commits, every truncation and a flip of every byte; and the whole recovery at chosen offsets.

The recovery runs at every frame boundary, one byte either side, and at 400 seeded offsets; with `KIPQL_CRASH=all` at
2,000.
"""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from kipql.errors import KipError
from kipql.store.journal import Journal
from tests.crash.disk import FOLDER, MemoryDisk
from tests.store.small import commit, concept, store

COMMITS = 200
WHOLE = os.environ.get("KIPQL_CRASH") == "all"
HEADER = 16


@pytest.fixture(scope="module")
def journal() -> bytes:
    disk = MemoryDisk()
    with store(FOLDER, files=disk, snapshot_after=None) as space:
        for number in range(COMMITS):
            commit(space, lambda tx, number=number: tx.create(concept(f"{number}")))  # type: ignore[misc]
    return disk.read(FOLDER / "journal")


def _ends(data: bytes) -> list[int]:
    """Where the header and each frame end, by the lengths that the frames say."""
    ends = [HEADER]
    while ends[-1] < len(data):
        ends.append(ends[-1] + 16 + int.from_bytes(data[ends[-1] : ends[-1] + 4], "little"))
    return ends


class Held(MemoryDisk):
    """One journal, to be read only."""

    data: bytes = b""

    def read(self, path: Path) -> bytes:
        return self.data


@pytest.fixture(scope="module")
def held() -> Held:
    return Held()


def _read(held: Held, data: bytes) -> tuple[int, int]:
    """How many frames there are, and how long the torn tail is."""
    held.data = data
    reader = Journal(FOLDER, held, "fsync", 1 << 26, readonly=True)
    reader.read()
    count = sum(1 for _ in reader.frames())
    return count, reader.tail.length if reader.tail is not None else 0


def test_every_truncation_is_read_up_to_the_last_whole_frame(journal: bytes, held: Held) -> None:
    ends = _ends(journal)
    assert len(ends) == COMMITS + 1
    whole = -1
    for length in range(len(journal) + 1):
        whole += length in set(ends[whole + 1 : whole + 2])
        if length < HEADER:
            with pytest.raises(KipError) as raised:
                _read(held, journal[:length])
            assert (raised.value.code, raised.value.details["offset"]) == ("MemoryDamaged", 0)
        else:
            assert _read(held, journal[:length]) == (whole, length - ends[whole]), length


@pytest.mark.parametrize("bit", [0x01, 0x80])
def test_a_flip_of_every_byte_is_refused_at_its_frame(bit: int, journal: bytes, held: Held) -> None:
    ends, wrong = _ends(journal), bytearray(journal)
    at_frame = 0
    for at in range(len(journal)):
        if at >= HEADER and at >= ends[at_frame + (at_frame > 0 or at >= HEADER)]:
            at_frame += 1
        wrong[at] ^= bit
        with pytest.raises(KipError) as raised:
            _read(held, bytes(wrong))
        wrong[at] ^= bit
        assert raised.value.code in ("MemoryDamaged", "MemoryFormatUnsupported"), at
        if at >= HEADER:
            start = max(end for end in ends if end <= at)
            assert raised.value.details["offset"] == start, at


def test_a_tail_that_was_made_to_take_long_is_refused_soon(journal: bytes, held: Held) -> None:
    """Every sixteenth byte begins what looks like a long frame, whose checksum would have to be computed."""
    import time

    size = 1 << 21
    looks = ((size // 3).to_bytes(4, "little") + bytes(8) + b"\1\1\1\1") * (size // 16)
    started = time.process_time()
    with pytest.raises(KipError) as raised:
        _read(held, journal + (1 << 30).to_bytes(4, "little") + bytes(12) + looks)
    assert raised.value.code == "MemoryDamaged" and raised.value.details["offset"] == len(journal)
    assert time.process_time() - started < 5


def _offsets(data: bytes) -> Iterator[int]:
    boundaries = [near for end in _ends(data) for near in (end - 1, end, end + 1) if near <= len(data)]
    own = random.Random(7)
    seeded = [own.randrange(len(data) + 1) for _ in range(2_000)]
    yield from boundaries
    yield from seeded if WHOLE else seeded[:400]


def test_a_torn_journal_is_recovered_written_and_opened_again(journal: bytes) -> None:
    ends, seen = _ends(journal), 0
    for length in _offsets(journal):
        disk = MemoryDisk({"journal": journal[:length]})
        if length < HEADER:
            with pytest.raises(KipError):
                store(FOLDER, files=disk)
            continue
        whole = sum(end <= length for end in ends) - 1
        with store(FOLDER, files=disk, snapshot_after=None) as space:
            assert space.head == whole
            assert [space.view().record(row * 8).name for row in (0, whole - 1) if 0 <= row < whole] == (  # type: ignore[union-attr]
                [str(row) for row in (0, whole - 1) if 0 <= row < whole]
            )
            code = commit(space, lambda tx: tx.create(concept("after")))
            assert code == whole * 8
        with store(FOLDER, files=disk.after_power_loss(length), readonly=True) as again:
            assert (again.head, again.tail) == (whole + 1, None)
            assert again.view().record(code).name == "after"  # type: ignore[union-attr]
        seen += 1
    assert seen >= (2_500 if WHOLE else 950)
