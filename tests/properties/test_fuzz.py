"""Generated statements raise nothing but KipError, and a read-only memory stays what it was.

`python -m tests.properties.fuzz --count 20000 --seed N` is the long look; this is a short one that CI can afford.
"""

import pytest

import kipql
from tests.properties.fuzz import fuzz, statements


def test_nothing_but_a_kip_error_comes_out_and_reading_changes_nothing() -> None:
    report = fuzz(1_200, seed=7)
    assert report.failures == []


def test_the_statements_are_what_their_family_says() -> None:
    parsed = {"valid": 0, "mutated": 0, "hostile": 0}
    for family, text in statements(600, seed=7):
        try:
            kipql.parse(text)
        except kipql.KipError:
            continue
        parsed[family] += 1
    assert parsed["valid"] > 150, "of 200 sentences of the grammar most pass the checks that the grammar can not make"
    assert 60 < parsed["mutated"] < 190
    assert parsed["hostile"] > 20


@pytest.mark.parametrize("seed", [1, 2])
def test_a_seed_is_a_story(seed: int) -> None:
    assert list(statements(60, seed)) == list(statements(60, seed))
