"""Comparing an answer with an expectation: normal form, multisets, containment.

Element ids become `C:<1>`, `P:<2>`, ... in the order in which a walk with sorted keys first meets them, one
counter for all kinds. Members that differ from run to run are dropped where the expectation does not name
them. Numbers compare by value, and true is not 1.
"""

import re
from collections.abc import Iterable
from typing import Any

VOLATILE = {"created_at", "updated_at", "created_tx", "updated_tx", "tx_id", "committed_at", "valid_at"} | {
    "next_invalid_at",
    "content_digest",
    "authorization_view",
    "score",
}
_ID = re.compile(r"([CPAEX])-[1-9][0-9]*")


def named(expectation: object) -> set[str]:
    """Every member name in an expectation."""
    if isinstance(expectation, dict):
        return set(expectation).union(*(named(member) for member in expectation.values()))
    if isinstance(expectation, list):
        return set().union(*(named(item) for item in expectation))
    return set()


def normal(answer: object, expectation: object) -> object:
    """The answer in the form that expectations are written in."""
    dropped = VOLATILE - named(expectation)
    known: dict[str, str] = {}

    def walk(value: object) -> object:
        if isinstance(value, dict):
            return {name: walk(value[name]) for name in sorted(value) if name not in dropped}
        if isinstance(value, list | tuple):
            return [walk(item) for item in value]
        if isinstance(value, str) and (match := _ID.fullmatch(value)):
            return known.setdefault(value, f"{match[1]}:<{len(known) + 1}>")
        return value

    return walk(answer)


def key(value: object) -> object:
    """A hashable identity: numbers by value, booleans apart from numbers, key order of no account."""
    if isinstance(value, dict):
        return ("object", frozenset((name, key(member)) for name, member in value.items()))
    if isinstance(value, list):
        return ("array", tuple(key(item) for item in value))
    return (type(value).__name__ if isinstance(value, bool | str) or value is None else "number", value)


def _multiset(items: Iterable[object]) -> dict[object, int]:
    counts: dict[object, int] = {}
    for item in items:
        counts[key(item)] = counts.get(key(item), 0) + 1
    return counts


def equal(answer: object, expectation: Any, ordered: bool) -> bool:
    """Whether an answer in normal form is the expectation; unordered top-level arrays are multisets."""
    if not ordered and isinstance(answer, list) and isinstance(expectation, list):
        return _multiset(answer) == _multiset(expectation)
    return key(answer) == key(expectation)


def contains(answer: object, expectation: object) -> bool:
    """Whether the answer has at least the members and rows that the expectation names."""
    if isinstance(expectation, dict):
        return isinstance(answer, dict) and all(
            name in answer and contains(answer[name], member) for name, member in expectation.items()
        )
    if isinstance(expectation, list):
        return isinstance(answer, list) and all(any(contains(row, wanted) for row in answer) for wanted in expectation)
    return key(answer) == key(expectation)
