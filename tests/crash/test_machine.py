"""A Space against a plain model: open, write, query at any sequence, snapshot, crash, reopen, merge, purge.

The model is a list of dicts, one a commit, each the whole state after it: names by row, and where a Concept was merged
into. A crash is a loss of power: with durability "fsync" nothing that was acknowledged may be missing.
"""

from dataclasses import replace
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kipql.model import Concept
from kipql.mutate.purge import stub
from kipql.store import Store
from tests.crash.disk import FOLDER, MemoryDisk
from tests.store.small import commit, concept, store

NAMES = st.sampled_from(("Ann", "Ben", "Cid", "Di"))
PURGED = "(purged)"
State = dict[int, tuple[str, int | None]]  # row -> its name, and the row that it was merged into


class Memory(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.disk = MemoryDisk()
        self.model: list[State] = [{}]
        self.crashes = 0
        self.space: Store = self._open()

    def _open(self, **options: Any) -> Store:
        return store(FOLDER, files=self.disk, snapshot_after=1_500, **options)

    def _then(self, state: State) -> None:
        self.model.append(state)

    def _row(self, number: int, *, unmerged: bool = False) -> int | None:
        """A row that is there and not purged."""
        now = self.model[-1]
        rows = [row for row, (name, into) in now.items() if name != PURGED and not (unmerged and into is not None)]
        return rows[number % len(rows)] if rows else None

    @rule(names=st.lists(NAMES, min_size=1, max_size=3))
    def write(self, names: list[str]) -> None:
        rows = commit(self.space, lambda tx: [tx.create(concept(name, key=f"key {name}")) >> 3 for name in names])
        self._then({**self.model[-1], **{row: (name, None) for row, name in zip(rows, names, strict=True)}})

    @rule(number=st.integers(0, 50), name=NAMES)
    def rename(self, number: int, name: str) -> None:
        row = self._row(number, unmerged=True)
        if row is None or self.model[-1][row][0] == name:
            return
        commit(self.space, lambda tx: tx.put(row * 8, replace(tx.view.record(row * 8), name=name)))
        self._then({**self.model[-1], row: (name, self.model[-1][row][1])})

    @rule(one=st.integers(0, 50), other=st.integers(0, 50))
    def merge(self, one: int, other: int) -> None:
        source, target = self._row(one, unmerged=True), self._row(other, unmerged=True)
        if source is None or target is None or source == target:
            return
        merged = {"state": "merged", "merged_into": target * 8}
        commit(self.space, lambda tx: tx.put(source * 8, replace(tx.view.record(source * 8), **merged)))
        self._then({**self.model[-1], source: (self.model[-1][source][0], target)})

    @rule(number=st.integers(0, 50))
    def purge(self, number: int) -> None:
        row = self._row(number, unmerged=True)
        if row is None or any(into == row for _, into in self.model[-1].values()):
            return
        commit(self.space, lambda tx: tx.put(row * 8, stub(tx.view.record(row * 8))))
        self._then(dict(self.model[-1]))
        for state in self.model:  # gone from the past too
            if row in state:
                state[row] = (PURGED, None)

    @rule()
    def roll_back(self) -> None:
        tx = self.space.begin(1)
        tx.create(concept("never"))
        tx.rollback()

    @rule()
    def snapshot(self) -> None:
        self.space.snapshot()

    @rule(readonly=st.booleans())
    def reopen(self, readonly: bool) -> None:
        self.space.close()
        if readonly:
            with self._open(readonly=True) as reader:
                self._check(reader, len(self.model) - 1)
        self.space = self._open()

    @rule(seed=st.integers(0, 1 << 20))
    def crash(self, seed: int) -> None:
        self.disk = self.disk.after_power_loss(seed)  # the old one holds the lock, and is gone
        self.space = self._open()
        self.crashes += 1

    @precondition(lambda self: len(self.model) > 1)
    @rule(seq=st.integers(0, 1 << 20))
    def query_the_past(self, seq: int) -> None:
        self._check(self.space, seq % len(self.model))

    @invariant()
    def now(self) -> None:
        assert self.space.head == len(self.model) - 1
        self._check(self.space, self.space.head)

    def _check(self, space: Store, seq: int) -> None:
        view, state = space.view(seq), self.model[seq]
        assert view.bounds[0] == len(state)
        for row, (name, into) in state.items():
            record = view.record(row * 8)
            assert isinstance(record, Concept)
            if name == PURGED:
                assert (record.state, record.name) == ("purged", None)
                continue
            assert (record.name, record.merged_into) == (name, None if into is None else into * 8)
            assert row in view.named(name) and record.key is not None and row in view.keyed(record.key)
            end = row
            while (further := state[end][1]) is not None:
                end = further
            assert view.canonical(row * 8) == end * 8

    def teardown(self) -> None:
        self.space.close()


TestMemory = Memory.TestCase
TestMemory.settings = settings(max_examples=60, stateful_step_count=25)
