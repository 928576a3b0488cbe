"""Fifty rounds of kill -9 (`python -m tests.crash.kill --rounds 500` is the long job)."""

import os
from pathlib import Path

import pytest

from tests.crash.kill import Told, rounds


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fifty_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    done = rounds(tmp_path, 50, seed=5)
    assert len(done) == 50 and sum(each.acknowledged for each in done) > 50


def test_the_model_counts_what_was_acknowledged_and_keeps_the_rest_apart() -> None:
    told = Told()
    told.hear(b"0 create a\n0 done\n1 create b\n0 purge a\n0 done\n0 define d\n1 do")
    assert (told.keys, told.gone, told.acknowledged, sorted(told.pending)) == (
        set(),
        {"a"},
        2,
        ["create b", "define d"],
    )
