"""The lake of the benchmark is what an export of the same memory writes, and its answers are the memory's."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import kipql
from benchmarks import lake as benchmark
from benchmarks import lake_data
from benchmarks.questions_data import BATCH, PACKAGE, world
from kipql import lake
from kipql.lake import layout, manifest

SIZE = 2_000


def rows(folder: Path, table: layout.Table) -> list[dict[str, Any]]:
    parts = manifest.read(folder, "one").of(table.name)
    return [row for part in parts for row in pq.read_table(folder / part.path, partitioning=None).to_pylist()]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A lake that was exported, and one that was written from columns."""
    data, folder = world(SIZE), tmp_path_factory.mktemp("lakes")
    moment = datetime.fromtimestamp(lake_data.AT / 1000, UTC)
    with kipql.open(packages=[PACKAGE], clock=lambda: moment) as nexus:
        nexus.load(data.records(), batch=BATCH)
        lake.export(nexus, folder / "exported", name="one")
    lake_data.write(data, folder / "written")
    return folder / "exported", folder / "written"


@pytest.mark.parametrize("table", layout.TABLES, ids=lambda table: table.name)
def test_a_table_is_the_exported_one_row_for_row(folders: tuple[Path, Path], table: layout.Table) -> None:
    exported, written = folders
    assert rows(written, table) == rows(exported, table)


def test_both_lakes_hold_the_same_tables(folders: tuple[Path, Path]) -> None:
    first, second = ({part.table for part in manifest.read(folder, "one").parts} for folder in folders)
    assert first == second >= {"concepts", "propositions", "assertions", "versions", "commits", "schema"}


def test_every_question_is_measured_and_its_answers_are_equal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--size", str(SIZE), "--calls", "2", "--rounds", "1", "--export", "--folder", str(tmp_path)]
    assert benchmark.main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    asked = [line.split()[1] for line in lines if line.startswith("| q")]
    assert asked == ["question", "q1", "q2", "q3", "q4", "q5", "q6"]
