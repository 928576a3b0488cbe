"""What is told of a Spark before it is asked: nothing listens there, its workers have another kipql."""

import socket

import pytest

import kipql
from kipql.errors import KipError
from kipql.lake.engines import on_spark, reaching, retold


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@pytest.mark.parametrize(
    ("hosts", "problem"),
    [
        (["127.0.0.1:{free}"], "Connection refused"),
        (["127.0.0.1:{free}", "[::1]:{free}"], "Connection refused"),
        (["127.0.0.1:99999"], "Port out of range 0-65535"),
        ([""], "it names no host"),
        ([":7077"], "it names no host"),
    ],
)
def test_a_host_where_nothing_listens_is_told_at_once(hosts: list[str], problem: str) -> None:
    given = [host.format(free=free_port()) for host in hosts]
    with pytest.raises(KipError) as raised:
        reaching.reach("Spark", "spark://there", given, 7077)
    assert raised.value.code == "MemoryUnavailable"
    assert raised.value.message == f"Spark at spark://there could not be reached: {problem}"


def test_one_of_several_masters_is_enough() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        reaching.reach("Spark", "spark://there", [f"127.0.0.1:{free_port()}", f"127.0.0.1:{port}"], 7077)


def test_the_port_is_the_usual_one_where_none_is_said() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        reaching.reach("Spark", "spark://there", ["127.0.0.1"], listening.getsockname()[1])


def test_workers_with_another_kipql_run_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = on_spark._shipped(lambda text: text.upper())
    assert shipped("a") == "A"
    here = kipql.__version__
    monkeypatch.setattr(kipql, "__version__", "0.0.9")
    with pytest.raises(ValueError) as raised:  # as text: an engine stands between
        shipped("a")
    told = retold(raised.value, "Spark")
    assert told.code == "UnsupportedCapability"
    assert told.message == f"Spark's Python workers have kipql 0.0.9, and this process has {here}"
