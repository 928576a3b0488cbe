"""A lake answers from many threads, and many lakes share one DuckDB."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import kipql
from kipql import lake
from kipql.errors import KipError

NAMED = 'FIND(?p.name) WHERE { ?p {type: "Person", key: :k} }'


def people(prefix: str, count: int) -> kipql.Nexus:
    nexus = kipql.open()
    nexus.load({"kind": "concept", "type": "Person", "key": f"k{i}", "name": f"{prefix}{i}"} for i in range(count))
    return nexus


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        lake.export(people(name, 20), tmp_path, name=name)
    return tmp_path


def test_threads_share_lakes_and_each_gets_its_own_rows(folder: Path) -> None:
    with lake.open(folder, space="a") as first, lake.open(folder, space="b") as second:

        def ask(number: int) -> bool:
            name, opened = (("a", first), ("b", second))[number % 2]
            return opened.query(NAMED, {"k": f"k{number % 20}"}).rows == [f"{name}{number % 20}"]

        with ThreadPoolExecutor(4) as threads:
            assert all(threads.map(ask, range(80)))


def test_a_lake_that_is_closed_leaves_the_others_open(folder: Path) -> None:
    first, second = lake.open(folder, space="a"), lake.open(folder, space="b")
    first.close()
    first.close()
    with pytest.raises(KipError) as raised:
        first.query(NAMED, {"k": "k1"})
    assert raised.value.code == "MemoryUnavailable"
    assert second.query(NAMED, {"k": "k1"}).rows == ["b1"]
    second.close()


def test_a_query_that_is_cancelled_while_it_waits_leaves_the_one_that_runs(folder: Path) -> None:
    called_off = threading.Event()
    with lake.open(folder, space="a") as opened, opened._lock:
        waiting = ThreadPoolExecutor(1).submit(opened.query, NAMED, {"k": "k1"}, cancel=called_off)
        called_off.set()
        with pytest.raises(KipError) as raised:
            waiting.result(timeout=10)
    assert (raised.value.code, raised.value.details["cancelled"]) == ("ExecutionTimeout", True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_opens_lakes_of_its_own(folder: Path) -> None:
    with lake.open(folder, space="a", threads=1) as opened:
        child = os.fork()
        if child == 0:
            try:
                try:
                    opened.query(NAMED, {"k": "k1"})
                except KipError as error:
                    refused = error.code == "MemoryUnavailable"
                with lake.open(folder, space="b", threads=1) as again:
                    rows = again.query(NAMED, {"k": "k1"}).rows
                os._exit(0 if refused and rows == ["b1"] else 1)
            except BaseException:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert opened.query(NAMED, {"k": "k1"}).rows == ["a1"]


ALL = 'FIND(?p.key) WHERE { ?p {type: "Person"} }'


@pytest.mark.parametrize(
    ("query", "limits", "limit"),
    [
        (ALL, {"rows": 19}, "rows"),
        (ALL + " LIMIT 3", {"rows": 3}, "rows"),
        (ALL + " ORDER BY ?p.key", {"buffered": 19}, "buffered"),
        ('FIND(SUM(?p._system.version)) WHERE { ?p {type: "Person"} }', {"buffered": 19}, "buffered"),
        ('FIND(?p.key, COUNT(?p)) WHERE { ?p {type: "Person"} }', {"buffered": 19}, "buffered"),
    ],
)
def test_a_limit_ends_a_query_as_in_the_memory(folder: Path, query: str, limits: dict[str, int], limit: str) -> None:
    with lake.open(folder, space="a") as opened:
        for asked in (people("a", 20), opened):
            with pytest.raises(KipError) as raised:
                asked.query(query, limits=kipql.Limits(**limits))
            assert (raised.value.code, raised.value.details["limit"]) == ("ResourceExhausted", limit)


def test_a_limit_that_is_just_enough(folder: Path) -> None:
    with lake.open(folder, space="a") as opened:
        assert len(opened.query(ALL, limits=kipql.Limits(rows=20, buffered=20)).rows) == 20


def test_an_error_of_a_late_row_is_a_kip_error_with_its_details(tmp_path: Path) -> None:
    nexus = kipql.open()
    name = {3_990: "x" * 70_000}
    nexus.load({"kind": "concept", "type": "Person", "key": f"k{i}", "name": name.get(i, "n")} for i in range(4_000))
    lake.export(nexus, tmp_path)
    query = 'FIND(?p.key) WHERE { ?p {type: "Person"} FILTER(!REGEX(?p.name, "^z")) }'
    with lake.open(tmp_path, threads=1) as opened, pytest.raises(KipError) as raised:
        opened.query(query)
    assert (raised.value.code, raised.value.details["limit"]) == ("ResourceExhausted", "regex_subject")
