"""A short life of a Space, step by step: everything that touches the disk, and what the Space says after each step."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kipql.errors import KipError
from kipql.mutate.purge import stub
from kipql.store import Store
from kipql.store import freeze as freezing
from kipql.store.snapshot import Section
from tests.crash.disk import FOLDER, MemoryDisk
from tests.store.small import change, commit, concept, pair, store

Facts = tuple[object, ...]
UNTOUCHED: Facts = ()


def facts(space: Store) -> Facts:
    """What a Space says now and said halfway: enough to tell the steps apart, and quickly made."""
    head, past = space.view(), space.view(space.head // 2)
    return (
        space.head,
        space.digest(head),
        space.digest(past),
        [head.left_out(kind) for kind in range(5)],
        head.environment.version,
        len(space.notes),
        len(space.idempotency),
    )


class Life:
    """A Space and the disk it is on; `space` is None while it is closed."""

    def __init__(self, disk: MemoryDisk, durability: str = "fsync") -> None:
        self.disk = disk
        self.durability = durability
        self.space: Store | None = None

    def open(self) -> None:
        self.space = store(FOLDER, files=self.disk, durability=self.durability, snapshot_after=None)

    def close(self) -> None:
        space, self.space = self.space, None
        if space is not None:
            space.close()

    def facts(self) -> Facts:
        """What it says."""
        return facts(self.space) if self.space is not None else UNTOUCHED


def _space(write: Callable[[Store], Any]) -> Callable[[Life], None]:
    def step(life: Life) -> None:
        assert life.space is not None
        write(life.space)

    return step


def _control(space: Store) -> None:
    tx = space.begin(9_000)
    tx.control("schema", {"packages": [{"renames": {}}]})
    tx.create(concept("with a control change"))
    tx.commit(transaction_class="control")


def _keyed(space: Store) -> None:
    tx = space.begin(9_000)
    tx.create(concept("once"))
    tx.seal()
    tx.commit(idempotency={"key": "once", "status": "committed"})


def _purge(row: int) -> Callable[[Store], None]:
    return lambda space: commit(space, lambda tx: tx.put(row * 8, stub(tx.view.record(row * 8))))


def _beside(write: Callable[[Store], Any]) -> Callable[[Store], None]:
    """A snapshot in the middle of which something is written."""

    def step(space: Store) -> None:
        with in_the_middle(lambda: write(space)):
            space.snapshot()

    return step


@contextmanager
def in_the_middle(write: Callable[[], Any]) -> Iterator[None]:
    """The next snapshot is half written when `write` is called; the tables were copied before."""
    whole, left = freezing.freeze, [write]

    def busy(*args: Any) -> Iterator[Section]:
        for number, section in enumerate(whole(*args)):
            if number == 20 and left:
                left.pop()()
            yield section

    freezing.freeze = busy  # type: ignore[assignment]
    try:
        yield
    finally:
        freezing.freeze = whole


STEPS: list[tuple[str, Callable[[Life], None]]] = [
    ("open", Life.open),
    ("note", _space(lambda space: space.note("schema", {"packages": []}))),
    ("write", _space(pair)),
    ("change", _space(lambda space: change(space, 0, name="Al"))),
    ("purge without a snapshot", _space(_purge(0))),
    ("control", _space(_control)),
    ("snapshot", _space(Store.snapshot)),
    ("keyed", _space(_keyed)),
    ("close", Life.close),
    ("reopen", Life.open),
    ("write after a snapshot", _space(lambda space: commit(space, lambda tx: tx.create(concept("Cid"))))),
    ("purge with a snapshot", _space(_purge(1))),
    ("second snapshot", _space(Store.snapshot)),
    ("write beside a snapshot", _space(_beside(lambda space: change(space, 16, name="Ed")))),
    ("last write", _space(lambda space: change(space, 16, name="Di"))),
    ("last close", Life.close),
    ("last open", Life.open),
    ("end", Life.close),
]
CLOSED = {"close", "last close", "end"}


@dataclass(frozen=True)
class Broken:
    """A life that ended early: the step in which it did, and how."""

    step: int
    error: KipError


def lived(life: Life) -> Broken | None:
    """Live until something fails."""
    for number, (_, step) in enumerate(STEPS):
        try:
            step(life)
        except KipError as error:
            return Broken(number, error)
    return None


def whole_life() -> list[Facts]:
    """What the Space says before the first step and after each one; a closed one what it said last."""
    life, said = Life(MemoryDisk()), [UNTOUCHED]
    for name, step in STEPS:
        step(life)
        said.append(said[-1] if name in CLOSED else life.facts())
    return said
