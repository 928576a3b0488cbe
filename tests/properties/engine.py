"""A generated memory in kipql: told statement by statement, asked in every way there is."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck

import kipql
from kipql.errors import KipError
from kipql.model import element_code
from tests.properties.queries import Query
from tests.properties.vocabulary import PACKAGE

EXAMPLES = int(os.environ.get("KIPQL_EXAMPLES", "20"))
"""Memories a test is tried on; `KIPQL_EXAMPLES=500` for a long look."""
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)
STAMPS = {"created_at", "updated_at", "created_tx", "updated_tx", "tx_id", "op_id", "decision_id"}
MODES = ("compiled", "closures", "unoptimised")


class Clock:
    """Stands still until it is told to move: statement n happens at n seconds past midnight."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 1, tzinfo=UTC)

    def set(self, number: int) -> None:
        self.now = datetime(2026, 11, 1, tzinfo=UTC) + timedelta(seconds=number)

    def __call__(self) -> datetime:
        return self.now


@dataclass(slots=True)
class Told:
    """A memory and its story: which statement made which commit, and the digest after each."""

    nexus: kipql.Nexus
    clock: Clock
    commits: list[tuple[int, str]] = field(default_factory=list)

    def tell(self, number: int, statement: str) -> None:
        """Execute one statement; a refusal is a part of the story and must change nothing."""
        self.clock.set(number)
        before = self.nexus.space_seq
        try:
            self.nexus.execute(statement)
        except KipError:
            assert self.nexus.space_seq == before, statement
            return
        if self.nexus.space_seq > before:
            self.commits.append((number, statement))


def tell(story: Iterable[str], path: Path | None = None) -> Told:
    """A new memory that lives through a story."""
    clock = Clock()
    told = Told(kipql.open(path, packages=[PACKAGE], clock=clock, durability="os" if path else "fsync"), clock)
    for number, statement in enumerate(story):
        told.tell(number, statement)
    return told


def retell(told: Told, commits: int) -> Told:
    """A new memory that lives through the first commits of another, at the same moments."""
    clock = Clock()
    again = Told(kipql.open(packages=[PACKAGE], clock=clock), clock)
    for number, statement in told.commits[:commits]:
        again.tell(number, statement)
    assert again.nexus.space_seq == commits
    return again


def elements(nexus: kipql.Nexus, seq: int) -> list[dict[str, Any]]:
    """Every element there is at a sequence, whatever its state."""
    view = nexus._session.space.at(seq)
    return [view.element(element_code(kind, row)) for kind in range(5) for row in view.rows(kind)]


def rows(nexus: kipql.Nexus, query: Query, *, as_of: int | None = None, limit: int | None = None) -> list[Any]:
    """The rows of a query as tuples, without the stamps that tell one memory from its replay."""
    result = nexus.query(query.text(as_of=as_of, limit=limit), query.parameters)
    return [unstamped(row) if len(query.items) > 1 else (unstamped(row),) for row in result.rows]


def unstamped(value: Any) -> Any:
    """A value without the members that name a moment or a transaction."""
    if isinstance(value, Mapping):
        return {name: unstamped(member) for name, member in value.items() if name not in STAMPS}
    if isinstance(value, list | tuple):
        return tuple(unstamped(item) for item in value)
    return value


def multiset(found: Iterable[Any]) -> dict[str, int]:
    """Rows without their order."""
    counts: dict[str, int] = {}
    for row in found:
        text = spelled(row)
        counts[text] = counts.get(text, 0) + 1
    return counts


def spelled(value: Any) -> str:
    """A text that is equal for equal data: numbers by value, members in order of name."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {spelled(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(spelled, value)) + "]"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(float(value))
    return repr(value)
