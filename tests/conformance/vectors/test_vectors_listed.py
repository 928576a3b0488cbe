"""Every public scenario is one test, or is listed with the reason why it is none; nothing is both, or neither."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import kipql
from tests.conformance.vectors.registry import vectors

LISTED: dict[str, tuple[str, str | None]] = {
    # scenario: (reason, the capability that is not advertised: where it comes to be, the scenario becomes a test)
    "MEM-009": ("leases, fences and dispatch are a Brain runtime's; Watches are tested", "durable_brain_runtime"),
    "MEM-025": ("a report about a Brain's measured learning; kipql runs no Brain and reports none", None),
    "REL-006": ("who was enrolled in which arm is not tracked", "prospective_trials"),
    "REL-007": ("permits and fences are a receiver's", "receiver_fencing"),
}
_NAME = re.compile(r"test_(mem|rel|mif)_(\d{3})_")


def covered() -> set[str]:
    """The scenarios that have a test, by its name."""
    found = set()
    for path in sorted(Path(__file__).parent.glob("test_vectors_*.py")):
        module = import_module(f"tests.conformance.vectors.{path.stem}")
        for name, value in vars(module).items():
            match = _NAME.match(name)
            if match and callable(value) and value.__module__ == module.__name__:
                found.add(f"{match[1].upper()}-{match[2]}")
    return found


def test_every_scenario_is_a_test_or_listed_and_nothing_else_is() -> None:
    if not vectors():
        pytest.skip("shared: absent")
    named = {name.removeprefix("KIP2-") for name in vectors()}
    tests = covered()
    assert tests & set(LISTED) == set(), "listed, and has a test"
    assert named - tests - set(LISTED) == set(), "neither a test nor listed"
    assert (tests | set(LISTED)) - named == set(), "no such scenario"


@pytest.mark.parametrize("scenario", LISTED)
def test_a_scenario_is_listed_for_as_long_as_its_capability_is_not_advertised(scenario: str) -> None:
    _, capability = LISTED[scenario]
    if capability is None:
        return
    reply = kipql.open().request(
        {"kip": "2.0", "requires": {capability: True}, "operations": [{"command": "DESCRIBE PROTOCOL"}]}
    )
    assert reply["error"]["code"] == "UnsupportedCapability"


def test_the_scenarios_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    if not vectors():
        pytest.skip("shared: absent")
    with capsys.disabled():
        print(f"\nscenario vectors: {len(covered())} tested, {len(LISTED)} listed, of {len(vectors())}")
        for scenario, (reason, _) in LISTED.items():
            print(f"  {scenario}: {reason}")
    assert len(covered()) + len(LISTED) == len(vectors())
