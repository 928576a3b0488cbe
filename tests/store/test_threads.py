"""Readers in other threads never wait and never see what is not committed."""

import sys
import threading

import numpy

from kipql.store import Store, View
from tests.store.small import KNOWS, Writer, claim, commit, pair, store


def test_readers_stay_right_while_a_writer_commits_and_rolls_back() -> None:
    space, writer = store(), Writer(5)
    pair(space)
    expected: dict[int, str] = {1: space.digest()}
    failures: list[str] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            view = space.view()
            known = expected.get(view.seq)
            for _ in range(2):
                found = space.digest(view)
                if known is not None and found != known:
                    failures.append(f"{view.seq}: {known} became {found}")
                _walk(view)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=read) for _ in range(3)]
    try:
        for thread in threads:
            thread.start()
        for step in range(60):
            tx = space.begin(1_000 * (step + 2))
            writer.transaction(tx, size=6)
            if step % 3 == 2 or not tx.seal():
                tx.rollback()
            else:
                expected[tx.seq] = space.digest(tx.view)
                tx.commit()
    finally:
        done.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert not failures
    assert space.digest() == expected[space.head]


def _walk(view: View) -> None:
    for row in view.rows(0):
        code = row * 8
        for found in (view.outgoing(code), view.incoming(code)):
            assert all(other < view.bounds[1] for other in found)
        assert all(other < view.bounds[2] for other in view.assertions_by(code))
        view.same(code)
    for kind in range(5):
        assert all(row < view.bounds[kind] for row in view.left_out(kind) or ())


def test_a_writer_does_not_mind_an_array_that_a_reader_holds_open() -> None:
    space = store()
    alice, _, knows, _ = pair(space)
    for _ in range(70):
        commit(space, lambda tx: tx.create(claim(knows, alice)))
    view = space.view()
    graph = view.graph
    opened = [
        numpy.frombuffer(graph.propositions.subjects, dtype="i4"),
        numpy.frombuffer(graph.assertions.hot, dtype="u1"),
        numpy.frombuffer(graph.assertions.asserted_at, dtype="i8"),
        numpy.frombuffer(graph.assertions.confidence, dtype="f8"),
    ]
    before = [column.copy() for column in opened]
    held = view.assertions_of(knows >> 3)
    length = len(held)
    _more(space, knows, alice)
    assert all(numpy.array_equal(column, copy, equal_nan=True) for column, copy in zip(opened, before, strict=True))
    assert len(held) == length == len(list(held)) and held[-1] == 70 and 70 in held and 71 not in held
    assert len(space.view().assertions_of(knows >> 3)) == length + 1
    assert list(held[-3:]) == [68, 69, 70]


def _more(space: Store, knows: int, alice: int) -> None:
    tx = space.begin(9)
    tx.create(claim(knows, alice))
    tx.rollback()
    commit(space, lambda tx: tx.create(claim(knows, alice)))
    assert list(space.view().slot(alice, space.view().lineage_of[space.view().symbol(KNOWS) or 0])) == [0]


def test_a_second_transaction_waits_for_the_first() -> None:
    space = store()
    pair(space)
    first = space.begin(1)
    order: list[str] = []

    def other() -> None:
        tx = space.begin(2)
        order.append("second")
        tx.rollback()

    thread = threading.Thread(target=other)
    thread.start()
    thread.join(0.05)
    order.append("first")
    first.rollback()
    thread.join(5)
    assert order == ["first", "second"]
