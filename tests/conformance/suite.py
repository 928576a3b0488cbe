"""The engine suite as data: fixtures, their set-up and their cases (../shared/conformance/README.md)."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.conftest import SHARED

SUITE = SHARED / "conformance" / "engine-suite"


@dataclass(frozen=True, slots=True)
class Step:
    """One request: a command or several operations, and what it may leave behind for later ones."""

    command: str | None
    operations: tuple[Mapping[str, Any], ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    envelope: Mapping[str, Any] = field(default_factory=dict)
    capture: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, entry: "str | Mapping[str, Any]") -> "Step":
        if isinstance(entry, str):
            return cls(entry)
        return cls(
            entry.get("command"),
            tuple(entry.get("operations", ())),
            entry.get("params", {}),
            entry.get("envelope", {}),
            entry.get("capture", {}),
        )


@dataclass(frozen=True, slots=True)
class Case:
    """A step with the answer it must get. `expect` is {} where any success will do."""

    name: str
    step: Step
    expect: Mapping[str, Any]
    ordered: bool

    @property
    def withheld(self) -> bool:
        return bool(self.expect.get("withheld"))


@dataclass(frozen=True, slots=True)
class Fixture:
    name: str
    packages: tuple[Mapping[str, Any], ...]
    setup: tuple[Step, ...]
    cases: tuple[Case, ...]


@cache
def fixture(name: str) -> Fixture:
    """One fixture of the suite."""
    data = json.loads((SUITE / f"{name}.json").read_text("utf-8"))
    cases = [
        Case(entry["name"], Step.of(entry), entry["expect"], entry.get("ordered", False)) for entry in data["cases"]
    ]
    return Fixture(name, tuple(data.get("packages", ())), tuple(map(Step.of, data.get("setup", ()))), tuple(cases))


def names() -> list[str]:
    """The fixtures there are; none without the public data."""
    return sorted(path.stem for path in Path(SUITE).glob("*.json"))


def cases() -> Iterator[tuple[str, int, str]]:
    """(fixture, number of the case, its name) of every case."""
    for name in names():
        for number, case in enumerate(fixture(name).cases):
            yield name, number, case.name
