"""A snapshot that someone made, with right checksums: MemoryDamaged or a memory that can be read, nothing else."""

import random
from array import array
from pathlib import Path
from typing import Any

import pytest

from kipql.errors import KipError
from kipql.store import snapshot
from kipql.store.journal import Base, header
from kipql.store.snapshot import Section
from tests.crash.disk import FOLDER, MemoryDisk
from tests.store.disks import sealed
from tests.store.small import grown, store
from tests.store.test_purge import Purging
from tests.store.test_replay import facts
from tests.store.test_snapshot import answers

NOWHERE = (-1, -2, -9, 1, 2, 7, 4_096, 1 << 20, (1 << 31) - 1)
STRANGE = (None, True, -1, 1 << 40, 1.5, "x", [], {}, [[]], {"a": 1}, [None] * 3)


@pytest.fixture(scope="module")
def written() -> tuple[int, dict[str, Any]]:
    disk = MemoryDisk()
    with grown(5, 12, FOLDER, files=disk) as space:
        from tests.store.small import commit

        writer = Purging(5)
        for _ in range(6):
            commit(space, writer.transaction)
        space.snapshot()
        found = snapshot.read(disk, FOLDER / snapshot.name_of(space.head))
    return found.seq, found.sections


def _kind(content: Any) -> str:
    return str(content.typecode) if isinstance(content, array) else "b" if isinstance(content, bytearray) else "m"


def _opens(seq: int, sections: dict[str, Any]) -> bool:
    """Whether it opens and all of it can be read. Raises whatever is no refusal."""
    disk = MemoryDisk({"journal": header(Base(seq, 0))})
    made = [Section(name, _kind(content), content) for name, content in sections.items()]
    sealed(disk, FOLDER, seq, 0, made)
    try:
        with store(FOLDER, files=disk, readonly=True) as space:
            facts(space)
            answers(space.view())
            for at in range(1, space.head + 1):
                space.envelope(space.view().commit(at))
            for each in (*space.view().graph.keyed.items(), *space.idempotency.items()):
                assert each
    except KipError as error:
        assert error.code == "MemoryDamaged" and Path(str(error.details["path"])).name.startswith("snapshot")
        return False
    return True


def test_what_was_written_opens(written: tuple[int, dict[str, Any]]) -> None:
    assert _opens(*written)


@pytest.mark.parametrize("seed", range(1))
def test_a_number_that_points_nowhere_is_damage(seed: int, written: tuple[int, dict[str, Any]]) -> None:
    seq, sections = written
    own, refused, tried = random.Random(seed), 0, 0
    for name, content in sections.items():
        if not isinstance(content, array) or not content:
            continue
        for _ in range(4):
            wrong = content[:]
            value = own.choice(NOWHERE)
            if content.typecode in "IQ":
                value = abs(value)
            wrong[own.randrange(len(wrong))] = value
            refused += not _opens(seq, {**sections, name: wrong})
            tried += 1
    assert refused > tried / 4


@pytest.mark.parametrize("seed", range(1))
def test_bytes_that_say_something_else_are_damage_or_something_else(
    seed: int, written: tuple[int, dict[str, Any]]
) -> None:
    seq, sections = written
    own = random.Random(seed)
    for name, content in sections.items():
        if not isinstance(content, bytearray) or not content:
            continue
        for _ in range(8):
            wrong = bytearray(content)
            wrong[own.randrange(len(wrong))] ^= 1 << own.randrange(8)
            _opens(seq, {**sections, name: wrong})


def test_members_of_other_types_are_damage(written: tuple[int, dict[str, Any]]) -> None:
    seq, sections = written
    for name, content in sections.items():
        if isinstance(content, array | bytearray):
            continue
        for strange in STRANGE:
            _opens(seq, {**sections, name: strange})
            if isinstance(content, list) and content:
                _opens(seq, {**sections, name: [strange, *content[1:]]})
                if isinstance(content[0], list):
                    for at in range(len(content[0])):
                        row = [*content[0][:at], strange, *content[0][at + 1 :]]
                        _opens(seq, {**sections, name: [row, *content[1:]]})
            if isinstance(content, dict):
                for key in content:
                    _opens(seq, {**sections, name: {**content, key: strange}})
