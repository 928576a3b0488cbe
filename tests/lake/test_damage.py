"""A lake that was changed by someone else than an export is told, never read as sound."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kipql import lake
from kipql.errors import KipError
from kipql.lake import manifest
from tests.lake.test_export import SPACE, founded

ROBOTS = 'FIND(?c) WHERE { ?c {type: "Robot"} }'
Edit = Callable[[dict[str, Any]], Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lake.export(founded(), tmp_path / "lake")
    return tmp_path / "lake"


def edit(folder: Path, change: Edit) -> None:
    """Change a manifest, as one without a digest."""
    path = manifest.path_of(folder, SPACE)
    data = json.loads(path.read_text())
    change(data)
    data.pop("digest", None)
    path.write_text(json.dumps(data))


def code_of(ask: Callable[[], object]) -> str:
    with pytest.raises(KipError) as raised:
        ask()
    return raised.value.code


def asked(folder: Path) -> list[Any]:
    with lake.open(folder) as opened:
        return opened.query(ROBOTS).rows


def part(name: str, value: object) -> Edit:
    return lambda data: data["parts"][0].__setitem__(name, value)


EDITS: list[Edit] = [
    lambda data: data["parts"].append(data["parts"][0]),
    lambda data: data.__setitem__("head", 10**30),
    lambda data: data.__setitem__("head", True),
    lambda data: data.__setitem__("literals", -1),
    lambda data: data.__setitem__("erased", {"C-1": "x"}),
    lambda data: data.__setitem__("parts", None),
    *(part("bytes", value) for value in ("9", None, 1.5, [1], True)),
    *(part("crc", value) for value in ("x", None, -1)),
    *(part("rows", value) for value in (-1, 10**30, False)),
    *(part("path", value) for value in ("concepts/\x00x", "/etc/passwd", "concepts", "concepts/\ud800")),
    *(part("path", f"concepts/{manifest.partition(name)}/part-1-1-0.parquet") for name in ("other", "..")),
    *(part("table", value) for value in ("nosuch", "", None)),
]


@pytest.mark.parametrize("change", EDITS)
def test_a_manifest_that_can_not_be_is_damage(folder: Path, change: Edit) -> None:
    edit(folder, change)
    assert code_of(lambda: lake.open(folder)) == "MemoryDamaged"
    assert code_of(lambda: lake.export(founded(), folder)) == "MemoryDamaged"


def test_a_manifest_from_before_there_was_a_digest_is_read(folder: Path) -> None:
    rows = asked(folder)
    edit(folder, lambda data: None)
    assert asked(folder) == rows != []


@pytest.mark.parametrize("table", ["concepts", "schema", "commits"])
def test_a_table_that_was_taken_out_of_a_manifest_is_missed(folder: Path, table: str) -> None:
    path = manifest.path_of(folder, SPACE)
    data = json.loads(path.read_text())
    data["parts"] = [each for each in data["parts"] if each["table"] != table]
    path.write_text(json.dumps(data))
    assert code_of(lambda: lake.open(folder)) == "MemoryDamaged"


@pytest.mark.parametrize("damage", ["gone", "longer"])
def test_an_export_over_files_that_are_not_those_is_refused(tmp_path: Path, damage: str) -> None:
    nexus, folder = founded(), tmp_path
    lake.export(nexus, folder)
    path = folder / manifest.read(folder, SPACE).of("concepts")[0].path
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes() + b"x")
    assert code_of(lambda: lake.export(nexus, folder)) == "MemoryDamaged"


def forge(folder: Path, table: str, content: bytes | Callable[[Any], Any]) -> None:
    """Another file of a table, with the checksum that fits."""
    path = folder / manifest.read(folder, SPACE).of(table)[0].path
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        pq.write_table(content(pq.ParquetFile(path).read()), path)
    size, crc = path.stat().st_size, manifest.checksum(path)
    edit(folder, lambda data: [p.update(bytes=size, crc=crc) for p in data["parts"] if p["table"] == table])


def column(name: str, value: object, kind: Any) -> Callable[[Any], Any]:
    return lambda data: data.set_column(
        data.schema.get_field_index(name), name, pa.array([value] * len(data), type=kind)
    )


@pytest.mark.parametrize(
    ("table", "content"),
    [
        ("concepts", b"PAR1 and nothing"),
        ("concepts", lambda data: data.drop_columns(["element"])),
        ("concepts", column("seq_from", "x", pa.string())),
        ("concepts", column("element", "{bad", pa.string())),
        ("concepts", column("element", "[]", pa.string())),
        ("schema", column("change", "{bad", pa.string())),
        ("schema", column("change", "[]", pa.string())),
        ("schema", column("change", '{"packages": {"x": 1}}', pa.string())),
        ("schema", column("seq", None, pa.int64())),
    ],
)
def test_a_file_that_no_export_wrote_is_damage(folder: Path, table: str, content: Any) -> None:
    forge(folder, table, content)
    assert code_of(lambda: asked(folder)) == "MemoryDamaged"


def test_a_folder_with_something_else_in_it_does_not_become_a_lake(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert code_of(lambda: lake.export(founded(), tmp_path)) == "NotAMemory"
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("name", ["a" * 512, "\u00e9" * 200, "..", "../../x", "%%", "a/b"])
def test_a_name_of_any_length_is_found_again(tmp_path: Path, name: str) -> None:
    lake.export(founded(), tmp_path, name=name)
    assert lake.spaces(tmp_path) == [name]
    with lake.open(tmp_path, space=name) as opened:
        assert opened.space_id == name


def test_who_reads_a_lake_reads_on_for_one_export_and_is_told_of_a_second(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kipql.lake.engines.on_duckdb.READ_WHOLE", 0)
    nexus = founded()
    target = folder.parent / "grown"
    lake.export(nexus, target)
    change = 'UPDATE ?x SET FIELDS {name: :n} WHERE { ?x {type: "Robot", key: "r0"} }'
    belief = 'FIND(?b.status) WHERE { ?p {type: "Robot"} ?b BELIEF SLOT (?p, "knows") }'
    with lake.open(target) as opened:
        expected = nexus.query(belief).rows
        nexus.execute(change, {"n": "once"})
        lake.export(nexus, target)
        assert opened.query(belief).rows == expected != []
    with lake.open(target) as opened:
        for name in ("twice", "thrice"):
            nexus.execute(change, {"n": name})
            lake.export(nexus, target)
        with pytest.raises(KipError) as raised:
            opened.query(belief)
    assert (raised.value.code, raised.value.message) == ("MemoryUnavailable", "the lake was exported again")


def test_a_disk_that_refuses_in_the_middle_of_a_query_is_a_kip_error(tmp_path: Path, monkeypatch: Any) -> None:
    """What is looked at after an engine failed is on the same disk."""
    monkeypatch.setattr("kipql.lake.engines.on_duckdb.READ_WHOLE", 0)
    lake.export(founded(), tmp_path)
    with lake.open(tmp_path) as opened:
        for part in tmp_path.glob("concepts/*/*.parquet"):
            part.unlink()
        (written,) = (tmp_path / "spaces").glob("*.json")
        written.unlink()
        written.mkdir()
        with pytest.raises(KipError) as raised:
            opened.query("FIND(?c.name) WHERE { ?c CONCEPT {} }")
    assert raised.value.code in ("MemoryUnavailable", "MemoryDamaged")
