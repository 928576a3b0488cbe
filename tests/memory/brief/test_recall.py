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


def test_a_recall_is_sure_of_an_answer_more_often_where_the_memory_has_one():
    """Of questions about another conversation, asked of people that this memory knows, hardly any has a sure answer."""
    from benchmarks.answering import KINDS, measured

    folder = shared_path("data/locomo")
    if folder is None:
        pytest.skip("shared: absent")
    told = measured(folder, limit=60, only="30")
    own, _, foreign = (told[kind] for kind in KINDS)
    assert len(own) == len(foreign) == 60
    sure = [sum(value < 0.5 for value in values) for values in (own, foreign)]
    none = [sum(value == 1.0 for value in values) for values in (own, foreign)]
    assert sure[0] > sure[1] and sure[1] <= 2
    assert none[1] > 2 * none[0]
