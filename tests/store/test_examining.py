"""The doctor's eye: what checksums do not show is found by rebuilding a Space from its own records."""

from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kipql.store.examining import examine
from kipql.store.files import Files
from kipql.store.freeze import freeze
from kipql.store.recovering import recover
from kipql.store.snapshot import Section
from tests.store.disks import sealed
from tests.store.small import Writer, change, commit, grown, pair, schema, store
from tests.store.test_replay import facts
from tests.store.test_snapshot import WRITERS

SPACE = "kip:space:default"


def look(folder: Path) -> list[str]:
    return [finding.what for finding in examine(folder, SPACE, schema).findings]


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("at", [None, 20, 30])
def test_a_space_that_was_written_here_is_sound(kind: str, seed: int, at: int | None, tmp_path: Path) -> None:
    folder, writer = tmp_path / "space", WRITERS[kind](seed)
    with store(folder, durability="os", snapshot_after=None) as space:
        while space.head < 30:
            commit(space, writer.transaction)
            if space.head == at:
                space.snapshot()
        said = facts(space)
    assert look(folder) == []
    kept = recover(folder, tmp_path / "copy", SPACE, schema)
    assert (kept.head, kept.lost) == (30, [])
    with store(tmp_path / "copy") as copy:
        assert facts(copy) == said


def forged(folder: Path, name: str, change: Callable[[Any], Any]) -> None:
    """A snapshot whose checksums are right and one of whose sections says something else."""
    with store(folder, snapshot_after=None) as space:
        space.snapshot()
        sections = [
            Section(each.name, each.kind, change(each.content)) if each.name == name else each
            for each in freeze(space.graph, space.notes, space.idempotency)
        ]
        sealed(Files(), folder, space.head, 0, sections)


def _swapped(rows: "array[int]") -> "array[int]":
    changed = rows[:]
    at = next(at for at in range(1, len(rows)) if rows[at] != rows[0])
    changed[0], changed[at] = rows[at], rows[0]
    return changed


def _last_less(rows: "array[int]") -> "array[int]":
    changed = rows[:]
    changed[-1] = max(0, changed[-1] - 1) if changed[-1] else 1
    return changed


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("outgoing.concepts.rows", _swapped),
        ("by_predicate.rows", _last_less),
        ("of_type.rows", _last_less),
        ("propositions.subjects", _swapped),
        ("incoming.concepts.rows", _swapped),
        ("slots.nexts", _swapped),
        ("history.bounds.0", _last_less),
        ("history.changed", _swapped),
        ("left_seqs.2", lambda seqs: seqs[:-1]),
    ],
)
def test_a_posting_that_says_something_else_is_found(name: str, edit: Any, tmp_path: Path) -> None:
    folder = tmp_path / "space"
    grown(5, 60, folder, snapshot_after=None).close()
    forged(folder, name, edit)
    assert look(folder) != []


def test_a_damaged_snapshot_is_named_and_an_older_journal_carries_on(tmp_path: Path) -> None:
    folder = tmp_path / "space"
    with store(folder, snapshot_after=None) as space:
        alice, *_ = pair(space)
        kept = (folder / "journal").read_bytes()
        space.snapshot()
    (path,) = folder.glob("snapshot-*")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    (folder / "journal").write_bytes(kept)
    assert len(examine(folder, SPACE, schema).findings) >= 1
    saved = recover(folder, tmp_path / "copy", SPACE, schema)
    assert saved.head == 1 and any(path.name in what for what in saved.lost)
    with store(tmp_path / "copy") as copy:
        change(copy, alice, name="Alicia")


def test_nothing_is_kept_where_nothing_begins(tmp_path: Path) -> None:
    folder = tmp_path / "space"
    grown(1, 3, folder).close()
    for path in folder.iterdir():
        path.write_bytes(b"")
    saved = recover(folder, tmp_path / "copy", SPACE, schema)
    assert saved.head is None and not (tmp_path / "copy").exists()


def test_the_writer_that_comes_after_a_recovery_writes_on(tmp_path: Path) -> None:
    folder = tmp_path / "space"
    grown(2, 12, folder, snapshot_after=None).close()
    journal = folder / "journal"
    journal.write_bytes(journal.read_bytes()[:-5])
    saved = recover(folder, tmp_path / "copy", SPACE, schema)
    assert saved.head == 11
    with store(tmp_path / "copy") as copy:
        writer = Writer(9)
        while copy.head < 15:
            commit(copy, writer.transaction)
        said = facts(copy)
    with store(tmp_path / "copy") as again:
        assert facts(again) == said
