"""The journal: whole frames or none, a torn tail is cut, damage inside is refused (architecture §5)."""

import struct
from pathlib import Path
from typing import BinaryIO

import msgpack
import pytest

from kipql.errors import KipError
from kipql.limits import Limits
from kipql.store import Store
from kipql.store.files import Files
from kipql.store.journal import frame
from tests.store.small import change, commit, concept, grown, pair, store

HEADER = 16


def frames(data: bytes) -> list[tuple[int, int]]:
    """(offset, end) of each frame, by their lengths."""
    found, offset = [], HEADER
    while offset < len(data):
        length = struct.unpack_from("<I", data, offset)[0]
        found.append((offset, offset + 16 + length))
        offset += 16 + length
    return found


@pytest.fixture
def small(tmp_path: Path) -> tuple[Path, bytes, list[str]]:
    """A Space of three commits and a note: its folder, its journal, its digest after each frame."""
    folder = tmp_path / "space"
    with store(folder) as space:
        digests = [space.digest()]
        alice, *_ = pair(space)
        digests.append(space.digest())
        space.note("cursor_key", "00")
        digests.append(space.digest())
        for name in ("Al", "Ali"):
            change(space, alice, name=name)
            digests.append(space.digest())
    return folder, (folder / "journal").read_bytes(), digests


def test_every_truncation_opens_at_the_last_whole_frame(small: tuple[Path, bytes, list[str]]) -> None:
    folder, data, digests = small
    ends = [HEADER, *(end for _, end in frames(data))]
    for length in range(HEADER, len(data) + 1):
        (folder / "journal").write_bytes(data[:length])
        whole = sum(end <= length for end in ends) - 1
        with store(folder, readonly=True) as reader:
            assert reader.digest() == digests[whole]
            assert (folder / "journal").stat().st_size == length, "a reader cuts nothing"
        with store(folder) as space:
            assert space.digest() == digests[whole]
            torn = length - ends[whole]
            assert space.tail == ((ends[whole], torn) if torn else None)
            assert (folder / "journal").stat().st_size == ends[whole]
            commit(space, lambda tx: tx.create(concept("after")))
        with store(folder, readonly=True) as reader:
            assert reader.head == [0, 1, 1, 2, 3][whole] + 1


def test_a_torn_tail_of_unwritten_space_is_cut(small: tuple[Path, bytes, list[str]]) -> None:
    folder, data, digests = small
    start, end = frames(data)[-1]
    for lost in (data[:start] + bytes(end - start), data[: start + 40] + bytes(400), data[:end] + bytes(16)):
        (folder / "journal").write_bytes(lost)
        with store(folder, readonly=True) as space:
            assert space.digest() == digests[4 if lost[:end] == data else 3]


def test_a_flipped_bit_is_refused_with_the_offset_of_its_frame(small: tuple[Path, bytes, list[str]]) -> None:
    folder, data, _ = small
    spans = [(0, HEADER), *frames(data)]
    for at in range(0, len(data), 3):
        for bit in (1, 0x80):
            wrong = bytearray(data)
            wrong[at] ^= bit
            (folder / "journal").write_bytes(wrong)
            with pytest.raises(KipError) as raised:
                store(folder)
            assert raised.value.code in ("MemoryDamaged", "MemoryFormatUnsupported")
            if raised.value.code == "MemoryDamaged":
                assert raised.value.details["offset"] == next(start for start, end in spans if start <= at < end)
            assert (folder / "journal").read_bytes() == wrong, "nothing was touched"


@pytest.mark.parametrize(
    "payload",
    [
        msgpack.packb(7),
        msgpack.packb({"t": 1}),
        msgpack.packb({"t": 1, "c": "cognitive", "o": ["a", "b", 7]}),
        msgpack.packb({"t": "now", "c": "cognitive", "o": ["a", "b", None]}),
        msgpack.packb({"t": 1, "c": "cognitive", "o": ["a", "b", None], "n": [[[0]], [], [], [], []]}),
        msgpack.packb({"t": 1, "c": "cognitive", "o": ["a", "b", None], "n": [[], [], [[9, 8, "support"]], [], []]}),
        msgpack.packb({"t": 1, "c": "cognitive", "o": ["a", "b", None], "u": [[80, None, 1, [0, 0, 0, {}]]]}),
        msgpack.packb({1: 2}),
        msgpack.packb(msgpack.ExtType(5, b"x")),
        b"\xc1",
        msgpack.packb({"t": 1})[:-1],
    ],
)
def test_a_frame_that_checks_but_says_nonsense_is_damage(payload: bytes, small: tuple[Path, bytes, list[str]]) -> None:
    folder, data, _ = small
    (folder / "journal").write_bytes(data + frame(4, payload))
    with pytest.raises(KipError) as raised:
        store(folder)
    assert (raised.value.code, raised.value.details["offset"]) == ("MemoryDamaged", len(data))


def test_a_sequence_that_skips_is_damage(small: tuple[Path, bytes, list[str]]) -> None:
    folder, data, _ = small
    start, end = frames(data)[-1]
    (folder / "journal").write_bytes(data + data[start:end])
    with pytest.raises(KipError) as raised:
        store(folder)
    assert (raised.value.code, raised.value.details["offset"]) == ("MemoryDamaged", len(data))


def test_a_newer_format_is_refused(small: tuple[Path, bytes, list[str]]) -> None:
    from kipql.store.journal import MAGIC, crc32c

    folder, data, _ = small
    newer = struct.pack("<8sI", MAGIC, 3)
    (folder / "journal").write_bytes(newer + struct.pack("<I", crc32c(newer)) + data[HEADER:])
    with pytest.raises(KipError) as raised:
        store(folder)
    assert raised.value.code == "MemoryFormatUnsupported"


def test_a_folder_that_is_no_memory_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear Bob")
    (tmp_path / "file").write_text("x")
    for path, options in ((tmp_path, {}), (tmp_path / "file", {}), (tmp_path / "missing", {"readonly": True})):
        with pytest.raises(KipError) as raised:
            store(path, **options)
        assert raised.value.code == "NotAMemory"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "letter.txt"]
    assert (tmp_path / "letter.txt").read_text() == "dear Bob"


def test_a_second_writer_is_locked_out_and_readers_are_not(tmp_path: Path) -> None:
    with store(tmp_path / "space") as first:
        pair(first)
        with pytest.raises(KipError) as raised:
            store(tmp_path / "space")
        assert raised.value.code == "MemoryLocked"
        with store(tmp_path / "space", readonly=True) as reader:
            assert reader.digest() == first.digest()
            preview = reader.begin(1)
            preview.create(concept("only previewed"))
            assert preview.seal()
            with pytest.raises(KipError) as refused:
                preview.commit()
            assert refused.value.code == "ReadonlyViolation"
            assert reader.digest() == first.digest()
            with pytest.raises(KipError):
                reader.note("cursor_key", "00")
    with store(tmp_path / "space") as third:
        assert third.head == 1


def test_a_commit_larger_than_the_frame_limit_leaves_nothing(tmp_path: Path) -> None:
    with store(tmp_path / "space", limits=Limits(frame=2_000)) as space:
        pair(space)
        before = space.digest()
        with pytest.raises(KipError) as raised:
            commit(space, lambda tx: tx.create(concept("x" * 3_000)))
        assert raised.value.code == "TransactionTooLarge"
        assert (space.head, space.digest()) == (1, before)
        commit(space, lambda tx: tx.create(concept("y")))


class Breaking(Files):
    """Fails the named operation once, after `skip` calls of it; a write may leave a part behind."""

    def __init__(self, operation: str, skip: int = 0) -> None:
        self.operation, self.skip = operation, skip

    def _fail(self, operation: str) -> None:
        if operation == self.operation:
            self.skip -= 1
            if self.skip < 0:
                self.operation = ""
                raise OSError(28, "no space left on device")

    def write(self, file: BinaryIO, data: bytes) -> None:
        try:
            self._fail("write")
        except OSError:
            super().write(file, data[: len(data) // 2])
            raise
        super().write(file, data)

    def fsync(self, file: BinaryIO) -> None:
        self._fail("fsync")
        super().fsync(file)

    def rename(self, source: Path, target: Path) -> None:
        self._fail("rename")
        super().rename(source, target)


def test_a_failed_write_is_taken_back_and_the_memory_goes_on(tmp_path: Path) -> None:
    files = Breaking("", 0)
    with store(tmp_path / "space", files=files) as space:
        pair(space)
        before = space.digest()
        files.operation, files.skip = "write", 0
        with pytest.raises(KipError) as raised:
            commit(space, lambda tx: tx.create(concept("lost")))
        assert raised.value.code == "MemoryUnavailable"
        assert (space.head, space.digest()) == (1, before)
        commit(space, lambda tx: tx.create(concept("kept")))
        after = space.digest()
    with store(tmp_path / "space", readonly=True) as reader:
        assert (reader.head, reader.digest()) == (2, after)


def test_after_a_failed_sync_the_session_only_reads(tmp_path: Path) -> None:
    files = Breaking("", 0)
    with store(tmp_path / "space", files=files) as space:
        pair(space)
        before = space.digest()
        files.operation, files.skip = "fsync", 0
        with pytest.raises(KipError) as raised:
            commit(space, lambda tx: tx.create(concept("lost")))
        assert raised.value.code == "OutcomeUnknown"
        assert (space.head, space.digest()) == (1, before)
        with pytest.raises(KipError) as refused:
            space.begin(5)
        assert refused.value.code == "MemoryUnavailable"
        with pytest.raises(KipError):
            space.note("cursor_key", "01")
        assert "cursor_key" not in space.notes or not space.notes["cursor_key"]
    with store(tmp_path / "space") as again:
        assert again.head in (1, 2)


@pytest.mark.parametrize("operation", ["write", "fsync", "rename"])
def test_a_memory_that_could_not_be_made_can_be_made_later(operation: str, tmp_path: Path) -> None:
    with pytest.raises(KipError) as raised:
        store(tmp_path / "space", files=Breaking(operation))
    assert raised.value.code == "MemoryUnavailable"
    with store(tmp_path / "space") as space:
        pair(space)
    assert store(tmp_path / "space", readonly=True).head == 1


def test_outcomes_notes_and_schema_are_replayed(tmp_path: Path) -> None:
    with store(tmp_path / "space") as space:
        space.note("schema", {"packages": [{"renames": {}}]})
        space.note("cursor_key", "ab")
        space.note("idempotency", {"key": "n", "status": "no_effect"})
        tx = space.begin(1)
        code = tx.create(concept("Alice", client_key="alice"))
        tx.remember(0, "alice", "f1", code)
        tx.seal()
        tx.commit(idempotency={"key": "k", "status": "committed"})
        tx = space.begin(2)
        assert tx.control("schema", {"packages": [{"renames": {}}]}) == "2"
        assert tx.seal()
        tx.commit(transaction_class="control")
        said = (space.idempotency, space.notes, space.view().environment.version, space.view(1).environment.version)
        assert said[2:] == (2, 1)
    with store(tmp_path / "space") as again:
        view = again.view()
        assert (again.idempotency, again.notes, view.environment.version, again.view(1).environment.version) == said
        assert view.client_key(0, "alice") == (0, "f1")
        assert again.view(0).client_key(0, "alice") is None
        assert view.commit(2).control_changes == ({"kind": "schema", "version": "2"},)
        assert view.commit(2).transaction_class == "control"
        with pytest.raises(KipError):
            again.note("schema", {"packages": []})


def test_a_buffered_memory_is_the_same_memory(tmp_path: Path) -> None:
    with grown(3, 10, tmp_path / "space", durability="os") as space:
        digest = space.digest()
    with store(tmp_path / "space") as again:
        assert again.digest() == digest
    with pytest.raises(KipError):
        Store(tmp_path / "other", durability="hope")
