"""Parameters are data in a complete value position (§74)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kipql import lang
from kipql.errors import KipError
from kipql.limits import DEFAULT_LIMITS, Limits
from kipql.plan.parameters import bind

STATEMENT = lang.parse("FIND(?x) WHERE { ?x {name: :name, key: :key} } LIMIT :n")


def code_of(parameters: dict[str, Any], limits: Limits = DEFAULT_LIMITS) -> str:
    with pytest.raises(KipError) as caught:
        bind(STATEMENT, {"name": "a", "key": "b", "n": 1, **parameters}, limits)
    assert caught.value.span is not None
    return caught.value.code


def test_every_used_parameter_and_only_those_are_bound() -> None:
    assert bind(STATEMENT, {"name": None, "key": [1, {"a": True}], "n": 1.0, "other": object()}) == {
        "name": None,
        "key": [1, {"a": True}],
        "n": 1,
    }


def test_a_missing_parameter_names_its_place_and_the_near_name() -> None:
    with pytest.raises(KipError) as caught:
        bind(STATEMENT, {"name": "a", "keys": "b", "n": 1})
    error = caught.value
    assert (error.code, error.details) == ("ReferenceError", {"parameter": "key"})
    assert "keys" in (error.hint or "")


def test_names_are_case_sensitive() -> None:
    with pytest.raises(KipError):
        bind(STATEMENT, {"Name": "a", "key": "b", "n": 1})


def test_a_datetime_becomes_a_protocol_timestamp() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 6789, tzinfo=UTC)
    assert bind(STATEMENT, {"name": moment, "key": 1, "n": 1})["name"] == "2026-01-02T03:04:05.006Z"
    assert code_of({"name": datetime(2026, 1, 2)}) == "TypeMismatch"


def test_a_string_stays_as_written() -> None:
    assert bind(STATEMENT, {"name": "e\u0301", "key": 1, "n": 1})["name"] == "e\u0301"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (2**53, "ConstraintViolation"),
        (float("nan"), "ConstraintViolation"),
        (float("inf"), "ConstraintViolation"),
        ("\ud800", "ConstraintViolation"),
        (b"x", "TypeMismatch"),
        ({1: 2}, "TypeMismatch"),
        ({"a": object()}, "TypeMismatch"),
    ],
)
def test_illegal_values(value: object, code: str) -> None:
    assert code_of({"name": value}) == code
    assert code_of({"name": [value]}) == code


def test_size_and_depth_are_limited() -> None:
    assert code_of({"name": "x" * 100}, Limits(parameters=50)) == "ResourceExhausted"
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    assert code_of({"name": deep}) == "ResourceExhausted"
