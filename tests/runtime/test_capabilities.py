"""`requires` against the capability registry (§67.4)."""

from typing import Any

import pytest

from kipql.errors import KipError
from kipql.runtime.capabilities import capabilities, require


@pytest.mark.parametrize(
    "wanted",
    [
        {"change_stream": True},
        {"version_planes": True, "transition": True, "symbol_lineage": True},
        {"idempotency_retention": True},
        {"idempotency_retention": {"seconds": 86_400}},
        {"semantic_search": False},
        {},
    ],
)
def test_what_is_supported_lets_the_request_through(wanted: dict[str, Any]) -> None:
    require(wanted, capabilities())


@pytest.mark.parametrize(
    "wanted",
    [
        {"semantic_search": True},
        {"telepathy": True},
        {"telepathy": False},
        {"idempotency_retention": {"seconds": 10**12}},
        {"idempotency_retention": {"minutes": 1}},
        {"change_stream": True, "streaming": True},
    ],
)
def test_what_is_not_there_is_refused_whether_known_or_not(wanted: dict[str, Any]) -> None:
    with pytest.raises(KipError) as caught:
        require(wanted, capabilities())
    assert caught.value.code == "UnsupportedCapability"


def test_a_read_only_session_supports_writing_and_does_not_have_it() -> None:
    assert capabilities(readonly=True)["atomic_batch"] == {"supported": True, "available": False}
    assert capabilities(readonly=True)["historical_reads"] == {"supported": True, "available": True}
