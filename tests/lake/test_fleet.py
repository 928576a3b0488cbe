"""The long job of the fleet, with fewer memories."""

from pathlib import Path

import pytest

from tests.lake import fleet


def test_one_damaged_space_among_many_is_one_error(tmp_path: Path) -> None:
    assert fleet.run(24, 2, tmp_path) == []


@pytest.mark.parametrize("at", [0, 3])
def test_the_job_would_see_what_is_missing(tmp_path: Path, at: int) -> None:
    paths = fleet.memories(tmp_path, 4)
    fleet.damage_memory(paths[3])
    code, report, _ = fleet.audited("--fleet", str(tmp_path), jobs=1)
    assert bool(fleet.wrong(code, report, 4, at)) == (at != 3)
