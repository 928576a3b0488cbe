"""Computed mnemonic strength: the public cases (conformance/vectors, MEM-030)."""

import json
from pathlib import Path

import pytest

from kipql.strength import effective_strength
from kipql.times import parse_instant
from tests.shared import shared_path

VECTORS = shared_path("conformance/vectors/cognitive-contracts.json")
CASES = json.loads(Path(VECTORS).read_text())["strength"] if VECTORS else []
READS = [
    (f"{case['id']} {index}", state, read["at"], read["expected"])
    for case in CASES
    for index, state in enumerate([case["state"], *case.get("variants", [])])
    for read in case["reads"]
]


@pytest.mark.skipif(not READS, reason="shared data absent")
@pytest.mark.parametrize(("name", "state", "at", "expected"), READS, ids=[read[0] for read in READS])
def test_strength_at(name: str, state: dict, at: str, expected: float | None) -> None:
    assert effective_strength(state, parse_instant(at)) == (None if expected is None else pytest.approx(expected))
