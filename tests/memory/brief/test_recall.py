"""Recall on a real conversation, by counters: `python -m benchmarks.recall` has the figures of all."""

from statistics import mean

import pytest

from tests.shared import shared_path

pytestmark = pytest.mark.shared


def test_a_briefing_finds_no_less_of_the_evidence_than_search_alone():
    from benchmarks.recall import measured

    folder = shared_path("data/locomo")
    if folder is None:
        pytest.skip("shared: absent")
    ((name, sides),) = measured(folder, limit=60, only="30")
    assert name == "30" and all(len(side.recall) == 60 for side in sides.values())
    assert mean(sides["brief"].recall) >= mean(sides["SEARCH"].recall) > 0.5
