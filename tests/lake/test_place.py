"""An export writes a lake and nothing else: what is there already, what leads out of it, what a kill left."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

import kipql
from kipql import lake
from kipql.errors import KipError
from kipql.lake import layout, manifest, place
from tests.lake.reading import table
from tests.lake.test_export import SPACE, founded

SECRET = 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "note", payload: "the secret word"} }'
PURGE = 'PURGE "E-1" CONFIRM "PURGE"'
RENAME = 'UPDATE ?x SET FIELDS {name: :n} WHERE { ?x {type: "Robot", key: "r0"} }'
ROBOTS = 'FIND(?c.key) WHERE { ?c {type: "Robot"} } ORDER BY ?c.key'


def refused(ask: Callable[[], object]) -> KipError:
    with pytest.raises(KipError) as raised:
        ask()
    return raised.value


def holding_secret(folder: Path) -> kipql.Nexus:
    nexus = founded()
    nexus.execute(SECRET)
    lake.export(nexus, folder, name="b")
    return nexus


def has_secret(folder: Path) -> bool:
    return any(b"the secret word" in path.read_bytes() for path in folder.rglob("*.parquet"))


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def killed(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def test_what_was_purged_goes_with_the_next_export_also_where_one_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nexus = holding_secret(tmp_path)
    nexus.execute(PURGE)
    with monkeypatch.context() as patch:
        patch.setattr(place, "tidy", killed)  # as by a kill after the manifest was written
        with pytest.raises(KeyboardInterrupt):
            lake.export(nexus, tmp_path, name="b")
    assert has_secret(tmp_path)
    assert lake.export(nexus, tmp_path, name="b").rows == 0
    assert not has_secret(tmp_path)


def test_an_export_of_nothing_new_removes_what_no_manifest_names(tmp_path: Path) -> None:
    nexus = founded()
    lake.export(nexus, tmp_path, name="b")
    nexus.execute(RENAME, {"n": "once"})
    before = {part.path for part in manifest.read(tmp_path, "b").parts}
    lake.export(nexus, tmp_path, name="b")
    held = manifest.read(tmp_path, "b")
    left = "concepts/space_id=b/part-1-9-deadbeef.parquet"
    mine = "concepts/space_id=b/mine.parquet"
    for path in (left, mine, "spaces/b.json.deadbeef.tmp"):
        (tmp_path / path).write_text("x")
    assert lake.export(nexus, tmp_path, name="b").rows == 0
    # those of the manifest before stay: who has it open reads on
    expected = {part.path for part in held.parts} | before | {mine, "spaces/b.json", "spaces/b.lock"}
    assert files(tmp_path) == expected


def test_an_interrupted_export_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kipql.lake import parts

    nexus = holding_secret(tmp_path / "full")
    nexus.execute(PURGE)
    nexus.execute(RENAME, {"n": "once"})
    before = files(tmp_path / "full")
    put = parts.Parts.put

    def stop(self: Any, each: layout.Table, row: tuple[Any, ...]) -> None:
        put(self, each, row)
        if each is layout.COMMITS:
            raise KeyboardInterrupt

    monkeypatch.setattr(parts.Parts, "put", stop)
    for folder in ("full", "empty"):
        with pytest.raises(KeyboardInterrupt):
            lake.export(nexus, tmp_path / folder, name="b")
    assert files(tmp_path / "full") == before
    assert [path.name for path in (tmp_path / "empty").iterdir()] == ["spaces"]


def test_a_table_that_has_nothing_more_leaves_no_folder(tmp_path: Path) -> None:
    nexus = founded()
    nexus.govern.grant("reader", "discover", "read", "export", kinds=("concept",))
    assert not lake.export(nexus, tmp_path).replaced
    assert lake.export(nexus.as_principal("reader"), tmp_path).replaced
    assert not lake.export(nexus.as_principal("reader"), tmp_path).replaced
    assert not (tmp_path / "assertions").exists()


@pytest.mark.parametrize(
    "held",
    [
        ["nexus/memory.json", "spaces/kip%3Aspace%3Adefault/journal"],
        ["spaces/thesis.txt"],
        ["spaces/b.json", "thesis.txt"],
        ["spaces/chapter/one.json"],
        ["concepts/one.txt"],
        ["spaces"],
    ],
)
def test_a_folder_of_something_else_does_not_become_a_lake(tmp_path: Path, held: list[str]) -> None:
    for name in held:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("mine")
    assert refused(lambda: lake.export(founded(), tmp_path, name="b")).code in ("NotAMemory", "MemoryDamaged")
    assert files(tmp_path) == set(held)


def test_a_memory_is_no_lake(tmp_path: Path) -> None:
    with kipql.open(tmp_path / "m.kip") as nexus:
        before = files(tmp_path)
        assert refused(lambda: lake.export(nexus, tmp_path / "m.kip")).code == "NotAMemory"
        assert files(tmp_path) == before


def test_a_file_is_no_lake(tmp_path: Path) -> None:
    (tmp_path / "lake").write_text("mine")
    assert refused(lambda: lake.export(founded(), tmp_path / "lake")).code == "NotAMemory"


def test_what_a_desktop_leaves_in_a_lake_stays(tmp_path: Path) -> None:
    nexus = founded()
    lake.export(nexus, tmp_path)
    (tmp_path / ".DS_Store").write_text("x")
    (tmp_path / "spaces" / ".DS_Store").write_text("x")
    lake.export(nexus, tmp_path)
    assert lake.spaces(tmp_path) == [SPACE]


@pytest.fixture(params=["spaces", "payloads", "payloads/space_id=b", "facets/space_id=b"])
def led_out(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[kipql.Nexus, Path]]:
    """A lake one folder of which was moved out and linked to, and a purge that would rewrite what is in it."""
    nexus = holding_secret(tmp_path / "lake")
    path = tmp_path / "lake" / request.param
    path.mkdir(parents=True, exist_ok=True)
    shutil.move(path, tmp_path / "outside")
    path.symlink_to(tmp_path / "outside")
    before = files(tmp_path / "outside")
    yield nexus, tmp_path / "lake"
    assert files(tmp_path / "outside") == before


@pytest.mark.parametrize("whole", [False, True])
def test_nothing_is_written_through_a_link(led_out: tuple[kipql.Nexus, Path], whole: bool) -> None:
    nexus, folder = led_out
    nexus.execute(PURGE)
    error = refused(lambda: lake.export(nexus, folder, name="b", whole=whole))
    assert error.code == "MemoryDamaged"
    assert "whole" not in str(error.hint)  # which would not mend it


@pytest.mark.parametrize("path", ["spaces/b.json", "payloads/space_id=b"])
def test_a_file_that_is_a_link_is_told(tmp_path: Path, path: str) -> None:
    nexus = holding_secret(tmp_path / "lake")
    found = tmp_path / "lake" / path
    found = next(found.iterdir()) if found.is_dir() else found
    shutil.move(found, tmp_path / "outside")
    found.symlink_to(tmp_path / "outside")
    content = (tmp_path / "outside").read_bytes()
    nexus.execute(PURGE)
    assert refused(lambda: lake.export(nexus, tmp_path / "lake", name="b")).code == "MemoryDamaged"
    assert lake.export(nexus, tmp_path / "lake", name="b", whole=True).rows > 0
    assert (tmp_path / "outside").read_bytes() == content
    assert not found.is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
@pytest.mark.parametrize("path", ["spaces/b.json", "concepts/space_id=b"])
def test_a_fifo_is_not_waited_for(tmp_path: Path, path: str) -> None:
    nexus = founded()
    lake.export(nexus, tmp_path, name="b")
    found = tmp_path / path
    found = next(found.iterdir()) if found.is_dir() else found
    found.unlink()
    os.mkfifo(found)
    for ask in (lambda: lake.open(tmp_path, verify=True), lambda: lake.export(nexus, tmp_path, name="b")):
        error = refused(ask)
        assert (error.code, "it is no file" in error.message) == ("MemoryDamaged", True)
    assert lake.export(nexus, tmp_path, name="b", whole=True).rows > 0
    with lake.open(tmp_path) as opened:
        assert opened.query(ROBOTS).rows == nexus.query(ROBOTS).rows


@pytest.mark.parametrize("method", ["iterdir", "read_bytes", "stat"])
@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO])
def test_what_the_disk_refuses_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, code: int
) -> None:
    nexus = founded()
    lake.export(nexus, tmp_path)
    real = getattr(Path, method)

    def fail(self: Path, *given: Any, **named: Any) -> Any:
        if self.is_relative_to(tmp_path) and self.suffix in (".json", "") and self != tmp_path:
            raise OSError(code, os.strerror(code), str(self))
        return real(self, *given, **named)

    monkeypatch.setattr(Path, method, fail)
    assert refused(lambda: lake.open(tmp_path)).code == "MemoryUnavailable"
    assert refused(lambda: lake.export(nexus, tmp_path)).code == "MemoryUnavailable"


def test_ends_say_nothing_of_identities(tmp_path: Path) -> None:
    """A merged Concept that is written again stays merged, though `ends` has a row of its state."""
    nexus = founded()
    nexus.execute('MERGE CONCEPT ?s INTO ?t WHERE { ?s {type: "Robot", key: "r2"} ?t {type: "Robot", key: "r3"} }')
    lake.export(nexus, tmp_path)
    before = table(tmp_path, "identities", SPACE)
    (row,) = before
    code = row["code"]
    nexus.execute(f'SET RETENTION ?x {{retention_class: "long"}} WHERE {{ ?x CONCEPT {{id: "C-{(code >> 3) + 1}"}} }}')
    lake.export(nexus, tmp_path)
    assert (code, row["seq_from"]) in {(each["code"], each["seq_from"]) for each in table(tmp_path, "ends", SPACE)}
    assert table(tmp_path, "identities", SPACE) == before
    assert row["seq_to"] is None
