"""A snapshot that is not what was written is refused or passed over, and no crash around it loses a commit."""

import io
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from kipql.errors import KipError
from kipql.store import Store, snapshot
from kipql.store.files import Files
from kipql.store.snapshot import Section
from tests.store.disks import Unsynced, sealed
from tests.store.small import Writer, change, commit, concept, grown, pair, store
from tests.store.test_purge import Purging
from tests.store.test_replay import facts
from tests.store.test_snapshot import SECRET, _bytes_of, _holding, answers

PLACE = Path("snapshot-000000000003")


class Held(Files):
    """One file, in memory."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def open_to_read(self, path: Path) -> BinaryIO:
        return io.BytesIO(self.data)

    def size(self, file: BinaryIO) -> int:
        return len(self.data)

    def read(self, path: Path) -> bytes:
        return self.data


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes, bytes, Any]:
    """A folder with a snapshot: the folder, the snapshot, the journal that it made unnecessary, its facts."""
    folder = tmp_path_factory.mktemp("damage") / "space"
    with grown(2, 8, folder) as space:
        journal = (folder / "journal").read_bytes()
        space.snapshot()
        said = facts(space)
    return folder, next(folder.glob("snapshot*")).read_bytes(), journal, said


def _refused(data: bytes) -> str:
    with pytest.raises(KipError) as raised:
        snapshot.verify(Held(data), PLACE)
    return raised.value.code


def test_every_truncation_is_refused(written: tuple[Path, bytes, bytes, Any]) -> None:
    _, data, _, _ = written
    for length in range(len(data)):
        assert _refused(data[:length]) == "MemoryDamaged"
    snapshot.verify(Held(data), PLACE)


@pytest.mark.parametrize("bit", [1, 0x80])
def test_a_flip_of_every_byte_is_refused(bit: int, written: tuple[Path, bytes, bytes, Any]) -> None:
    _, data, _, _ = written
    wrong = bytearray(data)
    for at in range(len(data)):
        wrong[at] ^= bit
        with pytest.raises(KipError) as raised:
            snapshot.read(Held(bytes(wrong)), PLACE)
        assert raised.value.code == "MemoryDamaged", at
        wrong[at] ^= bit


def test_bytes_after_the_end_are_refused(written: tuple[Path, bytes, bytes, Any]) -> None:
    assert _refused(written[1] + b"\0") == "MemoryDamaged"
    assert _refused(written[1] * 2) == "MemoryDamaged"


def test_a_newer_format_is_refused(written: tuple[Path, bytes, bytes, Any], tmp_path: Path) -> None:
    folder, data, journal, _ = written
    start = data[:8] + (9).to_bytes(4, "little")
    newer = start + snapshot.crc32c(start).to_bytes(4, "little") + data[16:]
    assert _refused(newer) == "MemoryFormatUnsupported"
    copy = shutil.copytree(folder, tmp_path / "space")
    next(copy.glob("snapshot*")).write_bytes(newer)
    (copy / "journal").write_bytes(journal)
    with pytest.raises(KipError) as raised:
        store(copy)
    assert raised.value.code == "MemoryFormatUnsupported", "though the journal alone would do"


def test_a_damaged_snapshot_is_passed_over_where_something_else_has_it_all(
    written: tuple[Path, bytes, bytes, Any], tmp_path: Path
) -> None:
    folder, data, journal, said = written
    name = next(folder.glob("snapshot*")).name
    copy = shutil.copytree(folder, tmp_path / "space")
    for at in range(0, len(data), 997):
        (copy / name).write_bytes(data[:at] + bytes((data[at] ^ 4,)) + data[at + 1 :])
        (copy / "journal").write_bytes(journal)
        with store(copy, snapshot_after=None) as space:
            assert facts(space) == said, "replayed from the start"
        (copy / "journal").write_bytes((folder / "journal").read_bytes())
        with pytest.raises(KipError) as raised:
            store(copy)
        assert raised.value.code == "MemoryDamaged" and raised.value.details["path"].endswith(name)


def test_an_older_snapshot_does_where_the_journal_goes_back_to_it(tmp_path: Path) -> None:
    folder = tmp_path / "space"
    with store(folder) as space:
        pair(space)
        space.snapshot()
        change(space, 0, name="Al")
        older = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}
        space.snapshot()
        said = facts(space)
    for name, data in older.items():
        (folder / name).write_bytes(data)
    newest = folder / "snapshot-000000000002"
    newest.write_bytes(newest.read_bytes()[:-1])
    with store(folder) as again:
        assert facts(again) == said


def test_a_snapshot_that_is_gone_is_damage_where_the_journal_needs_it(
    written: tuple[Path, bytes, bytes, Any], tmp_path: Path
) -> None:
    copy = shutil.copytree(written[0], tmp_path / "space")
    next(copy.glob("snapshot*")).unlink()
    with pytest.raises(KipError) as raised:
        store(copy)
    assert raised.value.code == "MemoryDamaged" and "snapshot of sequence 8" in raised.value.message


@pytest.mark.parametrize("what", ["empty", "shorter", "absent", "another kind", "noise"])
def test_right_checksums_over_wrong_tables_end_in_an_error(
    what: str, written: tuple[Path, bytes, bytes, Any], tmp_path: Path
) -> None:
    """A file that someone made: it may say something else, it may not crash the reader."""
    _, data, _, _ = written
    found = snapshot.read(Held(data), PLACE)
    folder = tmp_path / "space"
    with store(folder) as space:
        pair(space)
    refused = 0
    for name, content in found.sections.items():
        kind = content.typecode if hasattr(content, "typecode") else "b" if isinstance(content, bytearray) else "m"
        wrong = _altered(what, Section(name, kind, content))
        sections = [
            wrong if other == name else Section(other, _kind(each), each) for other, each in found.sections.items()
        ]
        sealed(Unsynced(), folder, found.seq, 0, [each for each in sections if each is not None])
        (folder / "journal").unlink()
        from kipql.store.journal import Base, header

        (folder / "journal").write_bytes(header(Base(found.seq, 0)))
        try:
            with store(folder, readonly=True) as space:
                facts(space)
                answers(space.view())
        except KipError as error:
            assert error.code == "MemoryDamaged", (name, error)
            refused += 1
    assert refused > 20


def _kind(content: Any) -> str:
    return content.typecode if hasattr(content, "typecode") else "b" if isinstance(content, bytearray) else "m"


def _altered(what: str, section: Section) -> Section | None:
    name, kind, content = section
    if what == "absent":
        return None
    if what == "another kind":
        return Section(name, "b", b"12345678") if kind != "b" else Section(name, "m", [1])
    if what == "noise" and kind not in "bm":
        wrong = content[:]
        for at in range(len(wrong)):
            wrong[at] = wrong[at] * 7 % 5000 + 3
        return Section(name, kind, wrong)
    if what == "noise":
        return Section(name, kind, bytes(b"\x91" * len(content)) if kind == "b" else [[[]]])
    if kind == "m":
        return Section(name, kind, None)
    return Section(name, kind, content[:0] if what == "empty" else content[:-1])


# --- crashes and failures --------------------------------------------------------------------------------


class Crash(BaseException):
    """The process is gone: nothing after this call happens."""


class Failing(Unsynced):
    """The n-th call fails: as a crash (then every later one too, and a write is torn), or once with an OSError."""

    def __init__(self, at: int, *, crash: bool) -> None:
        self.at = at
        self.crash = crash
        self.calls = 0

    def _call(self) -> None:
        self.calls += 1
        if self.calls == self.at or (self.crash and self.calls > self.at):
            raise Crash if self.crash else OSError(28, "No space left on device")

    def write(self, file: BinaryIO, data: Any) -> None:
        try:
            self._call()
        except (Crash, OSError):
            if self.calls == self.at:
                super().write(file, bytes(data)[: len(data) // 2])
            raise
        super().write(file, data)


def _failing(name: str) -> Callable[..., Any]:
    def call(self: Failing, *args: Any, **options: Any) -> Any:
        self._call()
        return getattr(Unsynced, name)(self, *args, **options)

    return call


for _name in ("open", "fsync", "truncate", "close", "rename", "remove", "sync_folder", "names", "read", "linked"):
    setattr(Failing, _name, _failing(_name))


def _template(folder: Path) -> Any:
    with grown(3, 7, folder) as space:
        space.snapshot()
        commit(space, Writer(4).transaction)
        return facts(space)


@pytest.mark.parametrize("crash", [True, False])
def test_whatever_call_of_a_snapshot_fails_the_memory_opens_equal(crash: bool, tmp_path: Path) -> None:
    said = _template(tmp_path / "template")
    for number in range(1, 100):
        folder = shutil.copytree(tmp_path / "template", tmp_path / str(number))
        files = Failing(1_000_000, crash=crash)
        space = store(folder, files=files)
        files.at = files.calls + number
        try:
            space.snapshot()
            done = files.calls < files.at
        except Crash:
            done = False
            space._disk._lock.release()  # type: ignore[union-attr]  # as the system does
        except KipError as error:
            done = False
            assert error.code in ("MemoryUnavailable", "OutcomeUnknown")
            said_now = _go_on(space, said)
            with store(folder, files=Unsynced()) as again:
                assert facts(again) == said_now, number
            continue
        if not done:
            with store(folder, files=Unsynced()) as again:
                assert facts(again) == said, number
                commit(again, lambda tx: tx.create(concept("after")))
                again.snapshot()
        else:
            space.close()
            break
    assert number > 12


def _go_on(space: Store, said: Any) -> Any:
    """After a failed call the memory works on or says that it takes nothing more."""
    assert facts(space) == said
    try:
        commit(space, lambda tx: tx.create(concept("after")))
        space.snapshot()
    except KipError as error:
        assert error.code == "MemoryUnavailable"
    said = facts(space)
    space.close()
    return said


@pytest.mark.parametrize("crash", [True, False])
def test_whatever_call_of_a_purge_fails_it_is_made_or_not(crash: bool, tmp_path: Path) -> None:
    space = _holding(tmp_path / "template")
    space.snapshot()
    change(space, 8, name="Ben")
    before = facts(space)
    space.close()
    with store(shutil.copytree(tmp_path / "template", tmp_path / "whole")) as whole:
        _purge_one(whole)
        after = facts(whole)
    outcomes = set()
    for number in range(1, 200):
        folder = shutil.copytree(tmp_path / "template", tmp_path / str(number))
        files = Failing(1_000_000, crash=crash)
        space = store(folder, files=files)
        files.at = files.calls + number
        failed = False
        try:
            _purge_one(space)
        except Crash:
            failed = True
        except KipError as error:
            failed = True
            assert error.code in ("MemoryUnavailable", "OutcomeUnknown")
        complete = files.calls < files.at
        if crash:
            space._disk._lock.release()  # type: ignore[union-attr]
        else:
            space.close()
        with store(folder, files=Unsynced()) as again:
            found = facts(again)
            assert found in (before, after) and (failed or found == after), number
            outcomes.add(found == after)
            if found == after:
                assert b"Alice " + SECRET.encode() not in _bytes_of(folder), number
        if complete:
            break
    assert outcomes == {True, False} and number > 20


def _purge_one(space: Store) -> None:
    from kipql.mutate.purge import stub

    commit(space, lambda tx: tx.put(0, stub(tx.view.record(0))))


def test_a_failed_sync_stops_the_writer_and_says_so(tmp_path: Path) -> None:
    files = Failing(1_000_000, crash=False)
    space = store(tmp_path / "space", files=files)
    pair(space)
    said = facts(space)
    files.fsync = lambda file: (_ for _ in ()).throw(OSError(5, "Input/output error"))  # type: ignore[method-assign]
    codes = []
    for write in (lambda: change(space, 0, name="Al"), lambda: change(space, 0, name="Al"), space.snapshot):
        with pytest.raises(KipError) as raised:
            write()
        codes.append(raised.value.code)
    assert codes == ["OutcomeUnknown", "MemoryUnavailable", "MemoryUnavailable"] and facts(space) == said
    space.close()


def test_a_history_of_purges_in_all_places_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "space"
    writer = Purging(3)
    with store(folder, durability="os", snapshot_after=3_000) as space:
        for _ in range(30):
            commit(space, writer.transaction)
        said = facts(space)
    with store(folder) as again:
        assert facts(again) == said
