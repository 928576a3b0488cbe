"""A query on an engine ends at its deadline, and when its caller says so."""

import threading
import time
from pathlib import Path

import pytest

import kipql
from kipql import lake
from kipql.errors import KipError

ENDLESS = "FIND(COUNT(?a)) WHERE { ?a CONCEPT {} ?b CONCEPT {} ?c CONCEPT {} ?d CONCEPT {} FILTER(?a.name == ?d.name) }"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A lake in which `ENDLESS` has more solutions than anybody waits for."""
    nexus = kipql.open()
    nexus.load(
        {"kind": "concept", "type": "Person", "name": f"n{number}", "key": f"k{number}"} for number in range(600)
    )
    lake.export(nexus, tmp_path)
    return tmp_path


def test_a_query_ends_at_the_deadline(folder: Path) -> None:
    with lake.open(folder) as opened:
        began = time.monotonic()
        with pytest.raises(KipError) as raised:
            opened.query(ENDLESS, limits=kipql.Limits(seconds=0.5))
        assert time.monotonic() - began < 30
        assert (raised.value.code, raised.value.details) == (
            "ExecutionTimeout",
            {"limit": "seconds", "value": 0.5, "cancelled": False},
        )
        assert opened.query("FIND(COUNT(?a)) WHERE { ?a CONCEPT {} }").scalar() == 600


def test_a_query_ends_when_it_is_cancelled(folder: Path) -> None:
    cancel = threading.Event()
    threading.Timer(0.5, cancel.set).start()
    with lake.open(folder) as opened, pytest.raises(KipError) as raised:
        opened.query(ENDLESS, cancel=cancel)
    assert (raised.value.code, raised.value.details) == ("ExecutionTimeout", {"cancelled": True})
