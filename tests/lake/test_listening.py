"""What is told of a Spark before it is asked: nothing listens there, its workers have another kipql."""

import socket
from pathlib import Path

import pytest

import kipql
from kipql import lake
from kipql.errors import KipError
from kipql.lake.engines import classic, listening, on_spark, retold
from tests.lake.spark import free_port


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
        listening.must_listen("Spark", "spark://there", given, 7077)
    assert raised.value.code == "MemoryUnavailable"
    assert raised.value.message == f"Spark at spark://there could not be reached: {problem}"


def test_one_of_several_masters_is_enough() -> None:
    with socket.socket() as taking:
        taking.bind(("127.0.0.1", 0))
        taking.listen()
        port = taking.getsockname()[1]
        listening.must_listen("Spark", "spark://there", [f"127.0.0.1:{free_port()}", f"127.0.0.1:{port}"], 7077)


def test_the_port_is_the_usual_one_where_none_is_said() -> None:
    with socket.socket() as taking:
        taking.bind(("127.0.0.1", 0))
        taking.listen()
        listening.must_listen("Spark", "spark://there", ["127.0.0.1"], taking.getsockname()[1])


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


class Rpc(Exception):
    """As gRPC's: what it says stands in `details`, its text is the whole protocol."""

    def details(self) -> str:
        return "failed to connect to all addresses"


def test_a_server_that_goes_away_is_told_in_its_own_words() -> None:
    with pytest.raises(KipError) as raised, on_spark._failing():
        try:
            raise Rpc("<_MultiThreadedRendezvous of RPC that terminated with:")
        except Rpc as error:
            raise RuntimeError(str(error)) from None
    assert raised.value.code == "MemoryUnavailable"
    assert raised.value.message == "Spark could not run the query: failed to connect to all addresses"


@pytest.mark.parametrize("master", ["", "foo", "local[0]", "local[x]", "local[-1]", "spark://", "local[2]\n", "\0"])
def test_what_is_no_master_is_refused_before_spark_is_started(master: str, tmp_path: Path) -> None:
    with pytest.raises(KipError) as raised:
        lake.open(tmp_path, engine="spark", master=master)
    assert raised.value.code == "ConstraintViolation"
    assert raised.value.message == f"{master!r} is no master of Spark"


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*]", "local[2,4]", "spark://a:1,b:2", "sc://h", "yarn"])
def test_masters(master: str) -> None:
    classic.check_master(master)
