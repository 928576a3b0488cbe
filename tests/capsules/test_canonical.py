"""The canonical bytes of a Capsule are those of RFC 8785, whichever way they are written (§37.7)."""

from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from kipql.capsules.canonical import canonical_bytes

SAFE = 2**53 - 1
numbers = st.one_of(
    st.integers(-SAFE, SAFE), st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: abs(x) < SAFE)
)
texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=5)),
    max_leaves=20,
)


@given(value=values)
def test_the_bytes_are_those_of_the_reference(value: Any) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)


@pytest.mark.parametrize(
    "value",
    [
        {"\ue000": 1, "\U00010000": 2},  # UTF-16 puts the surrogates of the second before the first
        {"b": 1, "a": {"d": 2, "c": [1.0, -0.0, 0.00001, 1e-7, 0.1, 1234567.5]}},
        {"control": '\x00\x1f\x7f\u2028"\\/\b\f\n\r\t', "é": "ö"},
    ],
)
def test_where_two_writers_would_differ(value: Any) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)
