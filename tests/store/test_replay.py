"""The past is what was: AS OF n is a replay of n commits, a rollback leaves nothing, reopening changes nothing."""

from pathlib import Path

import pytest

from kipql.store import Store
from kipql.store.fields import getter
from tests.store.small import Writer, commit, grown, store

SEEDS = range(4)
COMMITS = 36


def facts(space: Store) -> list[tuple[object, ...]]:
    """What every sequence of a Space says."""
    said = []
    for seq in range(space.head + 1):
        view = space.view(seq)
        out = [view.left_out(kind) for kind in range(5)]
        said.append((space.digest(view), view.bounds, out, view.identity_version, view.environment.version))
    return said


@pytest.mark.parametrize("seed", SEEDS)
def test_as_of_n_is_a_replay_of_n_commits(seed: int) -> None:
    whole = grown(seed, COMMITS)
    partial, writer = store(), Writer(seed)
    said = facts(whole)
    for seq in range(1, COMMITS + 1):
        while partial.head < seq:
            commit(partial, writer.transaction)
        view = partial.view()
        assert partial.digest(view) == said[seq][0], seq
        assert [view.left_out(kind) for kind in range(5)] == said[seq][2]
        assert view.commit(seq).changes == whole.view().commit(seq).changes


@pytest.mark.parametrize("seed", SEEDS)
def test_a_rollback_leaves_the_space_as_before(seed: int) -> None:
    space, other = grown(seed, COMMITS), Writer(seed + 100)
    before = facts(space)
    for _ in range(5):
        tx = space.begin(99_000)
        mark = None
        for step in range(6):
            other.transaction(tx)
            if step == 2:
                mark, inside = tx.savepoint(), space.digest(tx.view)
        assert mark is not None
        tx.restore(mark)
        assert space.digest(tx.view) == inside
        other.transaction(tx)
        tx.seal()
        tx.rollback()
        assert facts(space) == before
    # and what is written afterwards is what would have been written without them
    again, writer = grown(seed, COMMITS), Writer(7)
    commit(space, writer.transaction)
    commit(again, Writer(7).transaction)
    assert facts(space) == facts(again)


@pytest.mark.parametrize("seed", SEEDS)
def test_reopened_is_what_was_in_memory(seed: int, tmp_path: Path) -> None:
    with grown(seed, COMMITS, tmp_path / "space") as space:
        before = facts(space)
        envelopes = [space.envelope(space.view().commit(seq)) for seq in range(1, space.head + 1)]
    with store(tmp_path / "space") as again:
        assert facts(again) == before
        assert [again.envelope(again.view().commit(seq)) for seq in range(1, again.head + 1)] == envelopes
        commit(again, Writer(seed).transaction)
    with store(tmp_path / "space", readonly=True) as reader:
        assert facts(reader)[: COMMITS + 1] == before


@pytest.mark.parametrize("seed", SEEDS)
def test_postings_say_what_a_scan_says(seed: int) -> None:
    space = grown(seed, COMMITS)
    for seq in (0, 7, COMMITS):
        view = space.view(seq)
        records = {row * 8 + kind: view.record(row * 8 + kind) for kind in range(5) for row in view.rows(kind)}
        of = {kind: {code >> 3: record for code, record in records.items() if code & 7 == kind} for kind in range(5)}
        numbers = {ref: view.symbol(ref) for ref in {record.predicate for record in of[1].values()}}
        lineages = {ref: view.lineage_of[number] for ref, number in numbers.items() if number is not None}

        def tuples(*, subject=None, ref=None, term=None, rows=of[1]):  # type: ignore[no-untyped-def]
            return [
                row
                for row, record in rows.items()
                if subject in (None, record.subject)
                and ref in (None, record.predicate)
                and term in (None, record.object)
            ]

        for record in of[1].values():
            lineage = lineages[record.predicate]
            same = tuples(subject=record.subject, ref=record.predicate)
            assert list(view.slot(record.subject, lineage)) == same
            assert list(view.outgoing(record.subject)) == tuples(subject=record.subject)
            assert list(view.incoming(record.object)) == tuples(term=record.object)
            assert list(view.by_predicate(lineage)) == tuples(ref=record.predicate)
            assert list(view.pairs(record.object, lineage)) == tuples(ref=record.predicate, term=record.object)
            exact = tuples(subject=record.subject, ref=record.predicate, term=record.object)
            assert view.tuple_row(record.subject, lineage, record.object) == exact[0]
            claims = [row for row, claim in of[2].items() if claim.proposition >> 3 in same]
            assert list(view.slot_assertions(record.subject, lineage)) == claims
            assert list(view.live_assertions(record.subject, lineage)) == [
                row for row in claims if of[2][row].status == "active"
            ]
        for row, record in of[2].items():
            assert row in view.assertions_of(record.proposition >> 3) and row in view.assertions_by(record.asserted_by)
            hot = view.assertion(row)
            assert (hot.stance, hot.mode, hot.actor) == (record.stance, record.mode, record.asserted_by)
            assert (hot.ended > view.seq) == (record.status == "active")
        for row, record in of[0].items():
            assert record.name is None or row in view.named(record.name)
            assert record.key is None or list(view.keyed(record.key)) == [row]
            number = view.lineage_number(view.environment.lineage(record.schema))
            assert number is not None and row in view.of_type(number)
            found = view.with_value(0, ("attributes", "n"), record.attributes["n"])
            assert found is not None and row in found
        for code, record in records.items():
            for field, edges in _fields(record):
                assert view.edges(code, field) == edges
                for edge in edges:
                    assert code in view.referrers(edge.target, field)


def _fields(record):  # type: ignore[no-untyped-def]
    core = {"evidence", "source", "generated_by", "inputs", "outputs", "associated_actors"}
    for name in sorted(core):
        if hasattr(record, name):
            yield name, getattr(record, name)
    yield from record.structural.items()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_getter_reads_what_walking_the_element_reads(seed: int) -> None:
    space = grown(seed, COMMITS)
    paths: set[tuple[int, tuple[str, ...]]] = set()
    for seq in (5, COMMITS):
        view = space.view(seq)
        for kind in range(5):
            for row in view.rows(kind):
                whole = view.element(row * 8 + kind)
                paths |= {(kind, path) for path in _paths(whole)}
        for kind, path in sorted(paths):
            get = getter(kind, path)
            for row in view.rows(kind):
                expected = view.element(row * 8 + kind)
                for step in path:
                    expected = expected.get(step) if isinstance(expected, dict) else None
                found = get(view, row)
                assert (found, type(found)) == (expected, type(expected)), (kind, path, row)


def _paths(value: object, at: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    found = {at} if at else set()
    if isinstance(value, dict):
        for key, member in value.items():
            found |= _paths(member, (*at, key))
    return found
