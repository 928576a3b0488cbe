"""`expect: equals FILE`: the rows of a query are those of a file, as `kipql query --format json` or `jsonl` has them.

Rows are compared as objects by column and as JSON values: numbers by value, a boolean is no number. Without ORDER BY
their order does not matter; how often a row is there always does.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kipql.audit.paths import read_beside
from kipql.errors import KipError
from kipql.values import Json, members_once, value_key

Row = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Expected:
    """The rows of a file, by column."""

    name: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A row too many or too few; `row` is None when only the order differs."""

    problem: str
    row: Row | None


def read_expected(script: str, name: str) -> Expected:
    """The rows of a file beside a script. Raises InvalidSyntax, ArtifactUnavailable, ArtifactParseError."""
    if not name.endswith((".json", ".jsonl")):
        raise KipError(
            "InvalidSyntax", f"{name!r} is not a .json or .jsonl file", hint="query --format json writes one"
        )
    text = read_beside(script, name)
    try:
        if name.endswith(".jsonl"):
            rows = [_loads(line) for line in text.splitlines() if line.strip()]
        else:
            rows = _loads(text)
    except (ValueError, RecursionError) as error:
        raise KipError("ArtifactParseError", f"{name} is not JSON: {error}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise KipError("ArtifactParseError", f"{name} is not a list of objects")
    return Expected(name, tuple(rows))


def differences(expected: Expected, rows: Sequence[Row], *, ordered: bool) -> Iterator[Difference]:
    """What is in one and not in the other, rows found first."""
    wanted, found = Counter(map(value_key, expected.rows)), Counter(map(value_key, rows))
    for row in _beyond(rows, wanted):
        yield Difference(f"not in {expected.name}", row)
    for row in _beyond(expected.rows, found):
        yield Difference(f"in {expected.name} and not found", row)
    if ordered and wanted == found and [value_key(row) for row in rows] != [value_key(row) for row in expected.rows]:
        yield Difference(f"the rows of {expected.name} in another order", None)


def _beyond(rows: Sequence[Row], others: Counter[object]) -> Iterator[Row]:
    left = Counter(others)
    for row in rows:
        key = value_key(row)
        left[key] -= 1
        if left[key] < 0:
            yield row


def _loads(text: str) -> Json:
    return json.loads(text, object_pairs_hook=members_once, parse_constant=_no_number)


def _no_number(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")
