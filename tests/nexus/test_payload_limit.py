"""`Limits.payload`: how many bytes one Evidence holds, whichever way it comes in."""

from collections.abc import Callable
from typing import Any

import pytest

import kipql

FITS, TOO_MUCH = "x" * 100, "x" * 101


def created(nexus: kipql.Nexus, payload: Any) -> Any:
    return nexus.execute(
        "CREATE EVIDENCE ?e { SET FIELDS {evidence_class: :class, payload: :p} }", {"class": "note", "p": payload}
    )


def loaded(nexus: kipql.Nexus, payload: Any) -> Any:
    return nexus.load([{"kind": "evidence", "fields": {"evidence_class": "note", "payload": payload}}])


def ingested(nexus: kipql.Nexus, payload: Any) -> Any:
    entry = {"key": "msg", "evidence_class": "note", "payload": payload}
    command = {"command": 'CREATE CONCEPT ?c { TYPE "Person" NAME "Ada" }'}
    reply = nexus.request({"kip": "2.0", "operations": [command], "ingest": {"evidence": [entry]}})
    for result in reply["results"]:
        if "error" in result:
            error = result["error"]
            raise kipql.KipError(error["code"], error["message"], details=error["details"])
    return reply


@pytest.mark.parametrize("put", [created, loaded, ingested])
@pytest.mark.parametrize(("fits", "too_much"), [(FITS, TOO_MUCH), ([1] * 49, [1] * 51), ("é" * 50, "é" * 51)])
def test_a_payload_beyond_the_limit_is_refused_by_name(
    put: Callable[[kipql.Nexus, Any], Any], fits: Any, too_much: Any
) -> None:
    nexus = kipql.open(limits=kipql.Limits(payload=100))
    put(nexus, fits)
    with pytest.raises(kipql.KipError) as caught:
        put(nexus, too_much)
    assert (caught.value.code, caught.value.details["limit"]) == ("ResourceExhausted", "payload")
    assert nexus.stats()["elements"]["evidence"] == 1
