"""A write that something interrupts at any line (Ctrl-C, no memory, a defect) leaves the memory as before or after it,
lets go of its locks, and takes nothing along of what comes later (docs/storage.md).

Every line of the store and the runtime that a write runs is a place, but those that let go of its locks: the write is
run once to count them, then again with an exception at one of them. With `KIPQL_CRASH=all` at each, else at some of
each kind of write, seeded.
"""

import linecache
import os
import random
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import kipql
from kipql import KipError, Limits
from kipql.store.files import Files
from tests.crash.words import CREATE, DEFINE, LIVE, PURGE

WHOLE = os.environ.get("KIPQL_CRASH") == "all"
PLACES = 25  # of each kind of write
PATIENCE = 8.0
TRACED = tuple(os.path.join(os.path.dirname(kipql.__file__), name, "") for name in ("store", "runtime"))  # noqa: PTH118, PTH120


LETTING_GO = (
    "end",
    "ended",
    "end_at_once",
    "_close",
    "abandon",
    "rollback",
    "__exit__",
)  # of locks: nothing comes after that could


class Interrupted(Exception):
    """What nobody expects: no KipError, no OSError."""


class At:
    """Traces a call, and raises at the n-th line of the store and the runtime."""

    def __init__(self, number: int, error: type[BaseException]) -> None:
        self.lines = 0
        self.place = ""
        self._number = number
        self._error = error

    def run(self, act: Callable[[], object]) -> None:
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            act()
        finally:
            sys.settrace(before)

    def _called(self, frame: FrameType, event: str, argument: object) -> Any:
        code = frame.f_code
        return self._line if code.co_filename.startswith(TRACED) and code.co_name not in LETTING_GO else None

    def _line(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "line" and not _lets_go(frame):
            self.lines += 1
            if self.lines == self._number:
                self.place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                raise self._error(self.place)
        return self._line


def _lets_go(frame: FrameType) -> bool:
    """Whether a line releases a lock, may be the end of a `with`, or notes that a lock is held: nothing can fail."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    return line.startswith("with ") or line.endswith((".release()", "self._open = True"))


Act = Callable[[kipql.Nexus, str], object]


def envelope(nexus: kipql.Nexus, key: str) -> object:
    operation = {"command": CREATE, "parameters": {"key": key}}
    request = {"kip": "2.0", "operations": [operation], "execution": {"mode": "atomic", "idempotency_key": key}}
    return nexus.request(request)


def transaction(nexus: kipql.Nexus, key: str) -> None:
    with nexus.transaction() as tx:
        tx.execute(CREATE, {"key": key})
        tx.query(LIVE)


def preview(nexus: kipql.Nexus, key: str) -> object:
    return nexus.query("PREVIEW KML :text", {"text": CREATE.replace(":key", f'"{key}"')})


ACTS: dict[str, Act] = {
    "create": lambda nexus, key: nexus.execute(CREATE, {"key": key}),
    "envelope": envelope,
    "transaction": transaction,
    "purge": lambda nexus, key: nexus.execute(PURGE, {"key": sorted(nexus.query(LIVE).rows)[0]}),
    "define": lambda nexus, key: nexus.execute(DEFINE % key),
    "load": lambda nexus, key: nexus.load([{"kind": "concept", "type": "Person", "name": key}]),
    "snapshot": lambda nexus, key: nexus.snapshot(),
    "preview": preview,
}


def lines_of(act: Act, folder: Path, where: str) -> int:
    with _opened(folder, where) as nexus:
        counting = At(0, Interrupted)
        counting.run(lambda: act(nexus, "counted"))
    return counting.lines


def _opened(folder: Path, where: str) -> kipql.Nexus:
    path = None if where == "memory" else folder / "m"
    nexus = kipql.open(path, durability="os", snapshot_after=None)
    if not nexus.space_seq:
        for key in ("a", "b", "c"):
            nexus.execute(CREATE, {"key": key})
    return nexus


def _later(nexus: kipql.Nexus, key: str) -> str:
    """What a write of another thread comes to afterwards."""
    said: list[str] = []

    def write() -> None:
        try:
            nexus.execute(CREATE, {"key": key}, limits=Limits(seconds=PATIENCE / 4))
            said.append("done")
        except KipError as error:
            said.append(error.code)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return said[0] if said else "hangs"


@pytest.mark.parametrize("where", ["folder", "memory"])
@pytest.mark.parametrize("kind", ACTS)
def test_a_write_that_is_interrupted_is_whole_or_not_there(
    tmp_path: Path, kind: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Afterwards a write of another thread is done, or refused because what was begun could not be undone; opened again
    the memory is the same, and has what was interrupted whole or not at all."""
    monkeypatch.setattr(Files, "fsync", lambda *_: None)
    monkeypatch.setattr(Files, "sync_folder", lambda *_: None)
    if (kind, where) == ("snapshot", "memory"):
        pytest.skip("a memory without a folder has no snapshots")
    count = lines_of(ACTS[kind], tmp_path, where)
    places = range(1, count + 1)
    chosen = places if WHOLE else sorted(random.Random(kind).sample(places, min(PLACES, count)))
    wrong = []
    nexus = _opened(tmp_path, where)
    for number in chosen:
        nexus, tracing, said = _one(nexus, tmp_path, where, kind, number)
        if said:
            wrong.append(f"{number} of {count}, at {tracing.place}: {said}")
    nexus.close()
    assert not wrong, "\n".join(wrong)


def _one(nexus: kipql.Nexus, folder: Path, where: str, kind: str, number: int) -> tuple[kipql.Nexus, "At", str]:
    """Interrupt a write at a line; the memory to go on with, and what is wrong with it."""
    tracing = At(number, random.Random(number).choice([Interrupted, KeyboardInterrupt, MemoryError]))
    before = nexus.space_seq
    with suppress(KipError, Interrupted, KeyboardInterrupt):
        tracing.run(lambda: ACTS[kind](nexus, f"k{number}"))
    later = _later(nexus, f"l{number}")
    made = nexus.space_seq - before - (later == "done")
    head, digest = nexus.space_seq, nexus.digest()
    if where == "folder":
        nexus.close()
        nexus = _opened(folder, where)
        made = nexus.space_seq - before - (later == "done")
        if later == "done" and (nexus.space_seq, nexus.digest()) != (head, digest):
            return nexus, tracing, f"reopened it is at {nexus.space_seq}, and was at {head}"
    elif later != "done":
        nexus = _opened(folder, where)
    if later not in ("done", "MemoryUnavailable"):
        return nexus, tracing, f"a write afterwards: {later}"
    return nexus, tracing, "" if made in (0, 1) else f"{made} commits were made of it"
