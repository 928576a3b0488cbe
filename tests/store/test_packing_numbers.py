"""A frame's numbers are those that a writer admits: what JSON carries everywhere (§9.3), confidence 0 to 1 (§13)."""

from typing import Any

import pytest

from kipql.store import packing
from kipql.store.codec import Invalid

CONTEXT: Any = None
BEYOND = [float("inf"), float("-inf"), float("nan"), 2.0**60, 2**53, -(2**63)]


@pytest.mark.parametrize("number", BEYOND)
@pytest.mark.parametrize("wrapped", [lambda n: {"a": n}, lambda n: {"a": [1, {"b": n}]}])
def test_a_number_that_no_json_carries_is_refused(number: float, wrapped: Any) -> None:
    for unpack in (packing._json, packing._object):
        with pytest.raises(Invalid):
            unpack(CONTEXT, wrapped(number))


@pytest.mark.parametrize("value", [{}, {"a": None, "b": True, "c": 2**53 - 1, "d": 0.5, "e": ["x", {"f": -1}]}])
def test_what_a_writer_admits_is_read(value: Any) -> None:
    assert packing._json(CONTEXT, value) == packing._object(CONTEXT, value) == value


@pytest.mark.parametrize("confidence", [*BEYOND, -0.1, 1.5, True, None, "1"])
def test_a_confidence_is_from_0_to_1(confidence: Any) -> None:
    with pytest.raises(Invalid):
        packing._confidence(CONTEXT, confidence)
