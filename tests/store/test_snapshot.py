"""A memory opened from a snapshot is the memory that wrote it: every sequence, every posting, every envelope."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kipql.errors import KipError
from kipql.model import ASSERTION, CONCEPT, PROPOSITION, Concept, Edge, Proposition
from kipql.store import Store, View
from kipql.store.freeze import freeze
from kipql.store.snapshot import Section
from tests.store.disks import Unsynced
from tests.store.small import KNOWS, LIKES, PART, Writer, change, claim, commit, concept, grown, pair, store
from tests.store.test_purge import Purging
from tests.store.test_replay import facts

WRITERS = {"writes": Writer, "purges": Purging}


def answers(view: View) -> dict[str, Any]:
    """What every posting and every look-up of a view says."""
    found: dict[str, Any] = {"counts": view.bounds, "commits": [_commit(view, seq) for seq in range(1, view.seq + 1)]}
    lineages = range(len(view.graph.symbols.lineages))
    terms = {*view.objects[: view.bounds[PROPOSITION]]}
    terms |= {row * 8 + kind for kind in range(5) for row in view.rows(kind)}
    for term in sorted(terms):
        found[f"term {term}"] = (
            list(view.outgoing(term)),
            list(view.incoming(term)),
            list(view.assertions_by(term)),
            [list(view.pairs(term, lineage)) for lineage in lineages],
            [list(view.slot(term, lineage)) for lineage in lineages],
            [list(view.slot_assertions(term, lineage)) for lineage in lineages],
            [list(view.live_assertions(term, lineage)) for lineage in lineages],
            view.literal(term) if term < 0 else (view.same(term), view.canonical(term), view.changed_in(term)),
            [view.referrers(term, field) for field in sorted(view.graph.fields)],
        )
    for lineage in lineages:
        found[f"lineage {lineage}"] = (list(view.by_predicate(lineage)), list(view.of_type(lineage)))
    for row in view.rows(PROPOSITION):
        lineage = view.lineage_of[view.predicates[row]]
        tuple_ = view.tuple_row(view.subjects[row], lineage, view.objects[row])
        found[f"Proposition {row}"] = (list(view.assertions_of(row)), tuple_)
    for row in view.rows(ASSERTION):
        found[f"Assertion {row}"] = view.assertion(row)
    for row in view.rows(CONCEPT):
        record = view.record(row * 8)
        assert isinstance(record, Concept)
        key, name = record.key or "none", record.name or "none"
        found[f"Concept {row}"] = (list(view.keyed(key)), list(view.keyed(key, 0)), row in view.named(name))
    for value in (1, True, "x", None, 2.5, "no such Literal"):
        found[f"Literal {value!r}"] = view.literal_code(value)
    found["client keys"] = [view.client_key(kind, f"k{n}") for kind in range(5) for n in range(9)]
    found["identity"] = (view.identity_version, view.decisions())
    return found


def _commit(view: View, seq: int) -> Any:
    found = view.commit(seq)
    return found, found.changes


def written(space: Store) -> list[Section]:
    return [
        Section(each.name, each.kind, bytes(each.content) if each.kind != "m" else each.content)
        for each in freeze(space.graph, space.notes, space.idempotency)
    ]


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(sorted(WRITERS)), st.sets(st.integers(1, 24), max_size=3))
def test_opened_from_a_snapshot_is_replayed(
    tmp_path_factory: pytest.TempPathFactory, seed: int, kind: str, at: set[int]
) -> None:
    """Whenever snapshots were written, the Space is the one that never wrote any."""
    folder = tmp_path_factory.mktemp("snapshots") / "space"
    plain, with_snapshots = WRITERS[kind](seed), WRITERS[kind](seed)
    memory = store()
    with store(folder, durability="none", files=Unsynced()) as space:
        for _ in range(24):
            commit(memory, plain.transaction)
            commit(space, with_snapshots.transaction)
            if space.head in at:
                space.snapshot()
        space.snapshot()
    with store(folder, files=Unsynced()) as again:
        assert again.tail is None and facts(again) == facts(memory)
        for seq in (5, 24):
            assert answers(again.view(min(seq, again.head))) == answers(memory.view(min(seq, memory.head)))
        for _ in range(6):  # what is written on top of frozen tables
            commit(memory, plain.transaction)
            commit(again, with_snapshots.transaction)
        again.snapshot()
    with store(folder, readonly=True) as last:
        assert facts(last) == facts(memory) and answers(last.view()) == answers(memory.view())


@pytest.mark.parametrize("seed", range(4))
def test_what_was_not_touched_is_written_again_as_it_lies(seed: int, tmp_path: Path) -> None:
    grown(seed, 30, tmp_path / "space").close()
    with store(tmp_path / "space") as space:
        before = written(space)
        space.snapshot()
    with store(tmp_path / "space") as again:
        assert written(again) == before
        facts(again)
        answers(again.view())
        assert written(again) == before, "reading changes nothing"


def test_the_journal_before_a_snapshot_is_dropped_and_its_history_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "space"
    with grown(1, 40, folder) as space:
        said, long = facts(space), (folder / "journal").stat().st_size
        size = space.snapshot()
        assert (folder / "journal").stat().st_size < 100 < long
        assert (folder / "snapshot-000000000040").stat().st_size == size
        space.snapshot()
        commit(space, Writer(9).transaction)
        space.snapshot()
        names = sorted(path.name for path in folder.iterdir())
        assert names == ["journal", "lock", "snapshot-000000000041"], "older ones are removed"
    with store(folder) as again:
        assert facts(again)[:41] == said
        entries = [again.envelope(again.view().commit(seq)) for seq in range(1, 42)]
        assert [entry["space_seq"] for entry in entries] == list(range(1, 42))


def test_notes_and_outcomes_survive_once_each(tmp_path: Path) -> None:
    folder = tmp_path / "space"
    with store(folder) as space:
        space.note("schema", {"packages": [{"renames": {"kip://lab/Person": "kip://lab/Human"}}]})
        space.note("cursor_key", "00")
        pair(space)
        space.note("idempotency", {"key": "one", "n": 1})
        space.snapshot()
        space.note("cursor_key", "11")
        space.note("idempotency", {"key": "two", "n": 2})
    for _ in range(2):
        with store(folder) as again:
            assert again.notes["cursor_key"] == ["00", "11"]
            assert {key: again.idempotency[key]["n"] for key in again.idempotency} == {"one": 1, "two": 2}
            assert again.view().environment.lineage("kip://lab@1.0.0/Person") == "kip://lab/Human"
            again.snapshot()


def test_a_snapshot_whose_journal_was_not_cut_covers_what_it_covers(tmp_path: Path) -> None:
    """A crash between the two leaves both: frames and notes that the snapshot has are not applied again."""
    folder = tmp_path / "space"
    with store(folder) as space:
        pair(space)
        space.note("cursor_key", "00")
        journal = (folder / "journal").read_bytes()
        space.snapshot()
        said = facts(space)
    (folder / "journal").write_bytes(journal)
    with store(folder) as again:
        assert facts(again) == said and again.notes["cursor_key"] == ["00"]
        again.note("cursor_key", "11")
        change(again, 0, name="Al")
    with store(folder) as again:
        assert again.notes["cursor_key"] == ["00", "11"] and again.head == 2


def test_a_journal_that_lost_what_the_snapshot_has_goes_on_from_the_snapshot(tmp_path: Path) -> None:
    """Without a sync the machine may lose the end of the journal, while a snapshot is always synced."""
    folder = tmp_path / "space"
    with store(folder) as space:
        pair(space)
        short = (folder / "journal").read_bytes()
        change(space, 0, name="Al")
        space.snapshot()
    (folder / "journal").write_bytes(short)
    with store(folder) as again:
        assert again.head == 2
        change(again, 0, name="Ali")
    with store(folder) as again:
        assert again.head == 3 and again.view().record(0).name == "Ali"  # type: ignore[union-attr]


# --- large slots, crowded objects, many slots of one subject ---------------------------------------------


def _crowded(space: Store) -> None:
    def write(tx: Any) -> None:
        people = [tx.create(concept(f"p{n}", key=f"p{n}")) for n in range(60)]
        knows = [tx.create(Proposition(subject=people[0], predicate=KNOWS, object=other)) for other in people[1:]]
        for n, other in enumerate(people[1:]):
            tx.create(Proposition(subject=other, predicate=(KNOWS, LIKES)[n % 2], object=people[0]))
            tx.create(Proposition(subject=people[1], predicate=f"kip://lab@1.0.0/p{n}", object=other))
        for proposition in knows:
            tx.create(claim(proposition, people[3]))

    commit(space, write)
    for row in range(0, 50, 3):
        change(space, row * 8 + ASSERTION, status="retracted", retracted_at=9_000)


@pytest.mark.parametrize("through_snapshot", [True, False])
def test_crowds_answer_as_before_and_grow(through_snapshot: bool, tmp_path: Path) -> None:
    folder = tmp_path / "space"
    memory = store()
    _crowded(memory)
    with store(folder) as space:
        _crowded(space)
        if through_snapshot:
            space.snapshot()
    with store(folder) as again:
        early = again.view(5)
        assert answers(early) == answers(memory.view(5))
        for each in (again, memory):
            change(each, 7 * 8 + ASSERTION, status="retracted", retracted_at=9_999)
            commit(each, lambda tx: tx.create(Proposition(subject=0, predicate=LIKES, object=59 * 8)))
            commit(each, lambda tx: tx.create(claim(1, 8)))
            tx = each.begin(99_000)
            tx.create(Proposition(subject=8, predicate="kip://lab@1.0.0/new", object=0))
            tx.rollback()
        assert answers(again.view()) == answers(memory.view())
        assert answers(again.view(5)) == answers(memory.view(5))


# --- purge -----------------------------------------------------------------------------------------------

SECRET = "a-secret-0123456789"


def _holding(folder: Path) -> Store:
    space = store(folder)

    def write(tx: Any) -> None:
        alice = tx.create(concept(f"Alice {SECRET}", key=f"key {SECRET}", attributes={"a": SECRET}))
        bob = tx.create(concept("Bob", key="b", structural={PART: (Edge(alice),)}))
        says = tx.create(Proposition(subject=bob, predicate=LIKES, object=tx.literal(SECRET), client_key=SECRET))
        tx.create(claim(says, bob, client_key=SECRET))

    commit(space, write)
    change(space, 0, name=f"Al {SECRET}")
    return space


def _purge_all(space: Store) -> None:
    from kipql.mutate.purge import stub

    for code in (0, PROPOSITION, ASSERTION):
        commit(space, lambda tx, code=code: tx.put(code, stub(tx.view.record(code))))  # type: ignore[misc]


def _bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


@pytest.mark.parametrize("reopened", [True, False])
def test_purged_bytes_leave_journal_and_snapshots(reopened: bool, tmp_path: Path) -> None:
    folder = tmp_path / "space"
    space = _holding(folder)
    space.snapshot()
    change(space, 8, name="Ben")
    if reopened:
        space.close()
        space = store(folder)
    assert SECRET.encode() in _bytes_of(folder)
    _purge_all(space)
    assert SECRET.encode() not in _bytes_of(folder)
    said = facts(space)
    assert list(space.view().keyed(f"key {SECRET}")) == []
    assert space.view().literal_code(SECRET) is None and list(space.view().named(f"Al {SECRET}")) == []
    space.close()
    with store(folder) as again:
        assert facts(again) == said
        assert [entry["op"] for entry in again.view().commit(4).changes] == ["purge"]


def test_a_purge_whose_snapshot_was_not_rewritten_is_completed_when_opened(tmp_path: Path) -> None:
    folder = tmp_path / "space"
    space = _holding(folder)
    space.snapshot()
    old = {path.name: path.read_bytes() for path in folder.iterdir() if path.name.startswith("snapshot")}
    change(space, 8, name="Ben")
    space._write_snapshot = lambda folder: (_ for _ in ()).throw(OSError("no room"))  # type: ignore[assignment, method-assign]
    _purge_all(space)
    said = facts(space)
    assert {path.name for path in folder.glob("snapshot*")} == set(old) and SECRET.encode() in _bytes_of(folder)
    space.close()
    with store(folder, readonly=True) as reader:
        assert facts(reader) == said
    with store(folder) as again:
        assert SECRET.encode() not in _bytes_of(folder)
        assert facts(again) == said
    with store(folder) as once_more:
        assert facts(once_more) == said


# --- when ------------------------------------------------------------------------------------------------


def _sizes(folder: Path) -> tuple[int, bool]:
    return (folder / "journal").stat().st_size, any(folder.glob("snapshot*"))


def test_a_snapshot_is_written_when_the_journal_is_long_and_at_close(tmp_path: Path) -> None:
    folder = tmp_path / "space"
    with store(folder, snapshot_after=4_000) as space:
        pair(space)
        while not any(folder.glob("snapshot*")):
            assert _sizes(folder)[0] <= 4_500
            change(space, 0, name=f"Alice {space.head}")
        assert space.head > 10
        change(space, 0, name="Al" * 100)
        head = space.head
    assert [path.name for path in folder.glob("snapshot*")] == [f"snapshot-{head:012d}"], "and once more at close"
    with store(folder, snapshot_after=None) as space:
        for n in range(90):
            change(space, 0, name=f"A{n}")
    assert [path.name for path in folder.glob("snapshot*")] == [f"snapshot-{head:012d}"], "never by itself"


def test_a_reader_goes_on_while_a_snapshot_is_written(tmp_path: Path) -> None:
    space = store(tmp_path / "space", durability="none")

    def write(tx: Any) -> None:
        people = [tx.create(concept(f"p{n}", key=f"p{n}")) for n in range(4_000)]
        for n, person in enumerate(people):
            proposition = tx.create(Proposition(subject=person, predicate=KNOWS, object=people[n - 1]))
            tx.create(claim(proposition, person))

    commit(space, write)
    view, done, pauses, wrong = space.view(), threading.Event(), list[float](), list[int]()
    expected = [list(view.outgoing(code)) for code in range(0, 800, 8)]

    def read() -> None:
        last = time.perf_counter()
        while not done.is_set():
            for number, code in enumerate(range(0, 800, 8)):
                if list(view.outgoing(code)) != expected[number]:
                    wrong.append(code)
            now = time.perf_counter()
            pauses.append(now - last)
            last = now

    thread = threading.Thread(target=read)
    thread.start()
    for _ in range(3):
        space.snapshot()
    done.set()
    thread.join()
    assert not wrong and len(pauses) > 3
    space.close()


def test_in_memory_there_is_nothing_to_write() -> None:
    with pytest.raises(KipError) as raised:
        store().snapshot()
    assert raised.value.code == "UnsupportedCapability"


@pytest.fixture(autouse=True)
def _no_drafts(tmp_path: Path) -> Iterator[None]:
    yield
    assert not list(tmp_path.rglob("*.tmp"))
