"""One writer, many readers, across processes (docs/storage.md): a lock that is left never blocks, a forked child never
writes, and a folder that is something else is an error with a code."""

import errno
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import kipql
from kipql import KipError
from kipql.store.files import Files
from tests.crash.words import CREATE, LIVE, PURGE

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
OPENERS = 50
PATIENCE = 120  # seconds after which a process hangs


def _child(work: Callable[[], str]) -> tuple[int, int]:
    """A forked process: its id, and where it writes what `work` returns, or what went wrong."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.close(reading)
            said = work()
        except KipError as error:
            said = error.code
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    return process, reading


def _said(child: tuple[int, int]) -> str:
    """What a child wrote; "hung" for one that never ends."""
    process, reading = child
    timer = threading.Timer(PATIENCE, os.kill, (process, signal.SIGKILL))
    timer.start()
    found = b""
    while piece := os.read(reading, 4096):
        found += piece
    os.waitpid(process, 0)
    timer.cancel()
    os.close(reading)
    return found.decode() or "hung"


def _alone(work: Callable[[], str]) -> str:
    return _said(_child(work))


def _keys(path: Path) -> list[str]:
    with kipql.open(path, readonly=True) as reader:
        return sorted(reader.query(LIVE).rows)


def test_of_fifty_processes_that_open_one_folder_one_writes_at_a_time(tmp_path: Path) -> None:
    path, gate = tmp_path / "m", tmp_path / "gate"
    kipql.open(path).close()

    def opener(number: int) -> str:
        while not gate.exists():
            time.sleep(0.002)
        try:
            with kipql.open(path, durability="os", snapshot_after=1) as nexus:  # each close is a rotation
                nexus.execute(CREATE, {"key": f"k{number}"})
                time.sleep(0.05)
                return "wrote"
        except KipError as error:
            if error.code != "MemoryLocked":
                raise
        for _ in range(3):
            assert len(_keys(path)) <= OPENERS
        return "read"

    children = [_child(lambda number=number: opener(number)) for number in range(OPENERS)]  # type: ignore[misc]
    gate.touch()
    said = [_said(child) for child in children]
    assert set(said) <= {"wrote", "read"}, said
    wrote = [f"k{number}" for number, word in enumerate(said) if word == "wrote"]
    assert wrote and _keys(path) == sorted(wrote)


def test_readers_open_whole_states_while_the_writer_writes_and_rotates(tmp_path: Path) -> None:
    path, done = tmp_path / "m", tmp_path / "done"
    nexus = kipql.open(path, durability="os", snapshot_after=2_000)

    def reader() -> str:
        heads = []
        while not done.exists():
            with kipql.open(path, readonly=True, follow=False) as seen:
                heads.append(seen.space_seq)
                assert sorted(seen.query(LIVE).rows) == sorted(f"k{n:03}" for n in range(heads[-1]))
        return "whole" if heads == sorted(heads) else "went back"

    readers = [_child(reader) for _ in range(3)]
    for number in range(150):
        nexus.execute(CREATE, {"key": f"k{number:03}"})
        if number % 10 == 9:
            nexus.snapshot()
    done.touch()
    assert [_said(each) for each in readers] == ["whole"] * 3
    nexus.close()


def test_the_lock_of_a_writer_that_was_killed_does_not_block(tmp_path: Path) -> None:
    path, ready = tmp_path / "m", tmp_path / "ready"

    def hold() -> str:
        nexus = kipql.open(path)
        nexus.execute(CREATE, {"key": "a"})
        ready.touch()
        time.sleep(PATIENCE)
        return nexus.space_id

    child, reading = _child(hold)
    while not ready.exists():
        time.sleep(0.01)
    with pytest.raises(KipError) as raised:
        kipql.open(path)
    assert raised.value.code == "MemoryLocked"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reading)
    assert next(path.glob("spaces/*/lock")).exists()
    with kipql.open(path) as nexus:
        nexus.execute(CREATE, {"key": "b"})
    assert _keys(path) == ["a", "b"]


def test_a_forked_child_reads_and_never_writes(tmp_path: Path) -> None:
    path = tmp_path / "m"
    nexus = kipql.open(path, durability="none", snapshot_after=1)
    nexus.execute(CREATE, {"key": "a"})
    before = {each: each.read_bytes() for each in path.rglob("*") if each.is_file()}

    def child() -> str:
        assert nexus.query(LIVE).rows == ["a"]
        codes = []
        for write in (
            lambda: nexus.execute(CREATE, {"key": "child"}),
            nexus.snapshot,
            lambda: nexus.space("kip:space:default").execute(CREATE, {"key": "child"}),
            lambda: nexus.install_policy({"policy_id": "acme:a", "version": "1"}),
        ):
            try:
                write()
                codes.append("written")
            except KipError as error:
                codes.append(error.code)
        nexus.close()
        return " ".join(codes)

    assert _alone(child) == " ".join(["MemoryUnavailable"] * 4)
    assert {each: each.read_bytes() for each in path.rglob("*") if each.is_file()} == before
    assert _alone(lambda: str(kipql.open(path).space_seq)) == "MemoryLocked", "the child let go of nothing"
    nexus.execute(CREATE, {"key": "b"})
    nexus.close()
    assert _keys(path) == ["a", "b"]


def test_a_child_forked_while_another_thread_writes_does_not_wait_for_it(tmp_path: Path) -> None:
    nexus = kipql.open(tmp_path / "m")
    inside, ended = threading.Event(), threading.Event()

    def hold() -> None:
        with nexus.transaction() as tx:
            tx.execute(CREATE, {"key": "a"})
            inside.set()
            ended.wait(PATIENCE)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(PATIENCE)
    started = time.monotonic()
    assert _alone(lambda: str(nexus.execute(CREATE, {"key": "child"}))) == "MemoryUnavailable"
    assert time.monotonic() - started < PATIENCE / 2
    ended.set()
    thread.join()
    assert nexus.query(LIVE).rows == ["a"]
    nexus.close()


# --- a folder that is something else ----------------------------------------------------------------------


def _code(path: Path, **options: bool) -> str:
    with pytest.raises(KipError) as raised:
        kipql.open(path, **options)  # type: ignore[arg-type]
    return raised.value.code


def test_a_link_to_a_memory_is_that_memory(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "m")
    assert _code(tmp_path / "link") in ("MemoryUnavailable", "NotAMemory"), "it leads nowhere"
    with kipql.open(tmp_path / "m") as nexus:
        nexus.execute(CREATE, {"key": "a"})
        assert _code(tmp_path / "link") == "MemoryLocked"
        assert _keys(tmp_path / "link") == ["a"]
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert _code(tmp_path / "loop") in ("MemoryUnavailable", "NotAMemory")
    assert _code(tmp_path / "loop", readonly=True) in ("MemoryUnavailable", "NotAMemory")


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "device"])
@pytest.mark.parametrize("name", ["journal", "snapshot-000000000001"])
def test_a_file_of_a_memory_that_is_no_regular_file_is_refused(name: str, kind: str, tmp_path: Path) -> None:
    path, outside = tmp_path / "m", tmp_path / "outside"
    with kipql.open(path) as nexus:
        nexus.execute(CREATE, {"key": "a"})
        nexus.snapshot()
    file = next(path.glob(f"spaces/*/{name}"))
    shutil.move(file, outside)
    before = outside.read_bytes()
    if kind == "link":
        file.symlink_to(outside)
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "device":
        file.symlink_to("/dev/zero")
    else:
        file.mkdir()
    for readonly in (True, False):
        assert _code(path, readonly=readonly) in ("MemoryUnavailable", "MemoryDamaged")
    assert outside.read_bytes() == before


@pytest.mark.parametrize("name", ["journal.tmp", "snapshot.tmp", "lock"])
def test_what_is_written_never_goes_through_a_link_out_of_the_folder(name: str, tmp_path: Path) -> None:
    path, outside = tmp_path / "m", tmp_path / "outside"
    kipql.open(path).close()
    outside.write_text("mine")
    link = next(path.glob("spaces/*/journal")).with_name(name)
    link.unlink(missing_ok=True)
    link.symlink_to(outside)
    try:
        with kipql.open(path) as nexus:
            nexus.execute(CREATE, {"key": "a"})
            nexus.snapshot()
            nexus.execute(PURGE, {"key": "a"})
    except KipError as error:
        assert error.code == "MemoryUnavailable"
    assert outside.read_text() == "mine"


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.EPERM])
def test_a_folder_that_can_not_be_written_is_read_and_refuses_a_writer(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with kipql.open(tmp_path / "m") as nexus:
        nexus.execute(CREATE, {"key": "a"})

    def refused(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    for name in ("open", "lock", "make_folder", "remove", "rename", "truncate"):
        monkeypatch.setattr(Files, name, refused)
    assert _code(tmp_path / "m") == "MemoryUnavailable"
    assert _code(tmp_path / "new") == "MemoryUnavailable"
    assert _keys(tmp_path / "m") == ["a"]


def test_a_folder_that_vanished_is_still_read_and_takes_no_writes(tmp_path: Path) -> None:
    nexus = kipql.open(tmp_path / "m")
    nexus.execute(CREATE, {"key": "a"})
    shutil.rmtree(tmp_path / "m")
    for write in (lambda: nexus.execute(CREATE, {"key": "b"}), nexus.snapshot, lambda: nexus.space("kip:space:other")):
        with pytest.raises(KipError) as raised:
            write()
        assert raised.value.code in ("MemoryUnavailable", "NotAMemory")
    assert nexus.query(LIVE).rows == ["a"]
    nexus.close()
    assert _code(tmp_path / "m", readonly=True) == "NotAMemory"


@pytest.mark.parametrize("left", [(), ("nexus/memory.tmp",), ("nexus/memory.tmp", "spaces/")])
def test_what_a_crash_left_of_a_memory_being_made_is_made_anew(left: tuple[str, ...], tmp_path: Path) -> None:
    for name in left:
        file = tmp_path / "m" / name
        file.mkdir(parents=True) if name.endswith("/") else (file.parent.mkdir(parents=True), file.touch())  # type: ignore[func-returns-value]
    assert _code(tmp_path / "m", readonly=True) == "NotAMemory"
    kipql.open(tmp_path / "m").close()
    (tmp_path / "other" / "nexus").mkdir(parents=True)
    (tmp_path / "other" / "nexus" / "mine.txt").touch()
    assert _code(tmp_path / "other") == "NotAMemory"
