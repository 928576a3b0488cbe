"""The public KIP 2.0 engine suite, one test a case."""

import pytest

from tests.conformance.runner import run
from tests.conformance.suite import cases
from tests.conformance.tally import TALLY

pytestmark = pytest.mark.shared


@pytest.mark.parametrize(
    ("name", "number"), [pytest.param(name, number, id=f"{name}: {title}") for name, number, title in cases()]
)
def test_case(name: str, number: int) -> None:
    verdict = run(name)[number]
    TALLY[name, verdict.outcome] += 1
    if verdict.outcome == "skipped":
        pytest.skip(verdict.why)
    assert verdict.outcome != "failed", verdict.why
