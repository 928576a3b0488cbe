"""The registry: every acceptance id of the design that concerns this layer is the name of a test."""

import re
from pathlib import Path

import pytest

from tests.shared import shared_path

A = (1, 2, 3, 4, 5, 7, 9, 10, 11, 13, 15, 16, 17, 18, 19, 23, 25, 26, 27, 29, 30)
E = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 16, 17, 19, 21, 22, 23, 24, 25, 26, 29)
IDS = [f"A{number:02}" for number in A] + [f"E{number:02}" for number in E] + ["K20"]
FOLDER = Path(__file__).parent


def covered():
    source = "\n".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("test_*.py"))
    return set(re.findall(r"^def test_([A-Z]\d\d)_", source, re.MULTILINE))


@pytest.mark.parametrize("identity", IDS)
def test_an_acceptance_id_is_a_test(identity):
    assert identity in covered()


@pytest.mark.skipif(shared_path("design/agent-layer.md") is None, reason="the design is not here")
def test_the_list_is_that_of_the_design():
    text = shared_path("design/agent-layer.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^    ([AE]\d\d) ", text, re.MULTILINE)) | {"K20"} == set(IDS)
