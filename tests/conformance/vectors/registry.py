"""Which scenario is which: the public vector files, and what a test says it observed."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.shared import shared_path

GROUPS = {"mem": "memory", "rel": "reliability", "mif": "interface"}


@cache
def vectors() -> dict[str, dict[str, Any]]:
    """Every public scenario by its id; none without the shared data."""
    folder = shared_path("conformance/vectors")
    if folder is None:
        return {}
    paths = (path for group in GROUPS.values() for path in Path(folder, group).glob("*.json"))
    return {path.stem: json.loads(path.read_text()) for path in paths}


def observe(scenario: str, **seen: Any) -> None:
    """Hold what was observed against what the scenario asks for: all of it, and nothing else."""
    vector = vectors()[f"KIP2-{scenario}"]
    asked = [*vector["assertions"], *vector["postconditions"]]
    assert {each["operator"] for each in asked} == {"equals"}
    expected = {each["path"].removeprefix("/"): each["expected"] for each in asked}
    assert set(seen) == set(expected)
    for name, value in expected.items():
        assert seen[name] == value, name
