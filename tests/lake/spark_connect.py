"""What `python -m tests.lake.spark --connect` looks at besides random queries: beliefs, the end of a query, a server
that goes away, and a server whose Python has no kipql. The server is Spark Connect from the pyspark package.
"""

import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import kipql
from kipql import lake
from kipql.errors import KipError
from kipql.limits import Limits

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
LONG = (
    'FIND(?r.key) WHERE { ?r {type: "Robot"} ?s {type: "Robot"} ?u {type: "Robot"} ?v {type: "Robot"} '
    '?w {type: "Robot"} FILTER(CONTAINS(?r.key, ?s.name)) FILTER(CONTAINS(?u.name, ?v.key)) FILTER(?w.key != ?u.name) }'
)
SHORT = 'FIND(?r.key) WHERE { ?r {type: "Robot"} FILTER(STARTS_WITH(?r.key, "r")) } ORDER BY ?r.key'
HIDDEN = """
import sys


class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "kipql":
            raise ModuleNotFoundError(f"No module named {name!r}")


sys.meta_path.insert(0, Hidden())
"""
GONE = 60.0
"""Seconds within which a caller hears that the server is gone."""


@contextmanager
def server(python: str | None = None) -> Iterator[Any]:
    """A Spark Connect server on two cores of this machine, gone afterwards; `python` runs its workers."""
    from tests.lake.spark import Cluster, answers, free_port, wait_for

    with tempfile.TemporaryDirectory(prefix="connect-", ignore_cleanup_errors=True) as folder:
        made = Cluster(Path(folder), python=python or sys.executable)
        port = free_port()
        made.url = f"sc://127.0.0.1:{port}"
        settings = {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port),
            "spark.ui.enabled": "false",
            "spark.driver.memory": "1g",
        }
        given = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
        try:
            made.start("SparkSubmit", "--class", SERVER, "--master", "local[2]", *given, "spark-internal")
            wait_for(lambda: answers(port), made)
            yield made
        finally:
            made.kill(0)


def looked_at(made: Any, folder: Path, seeds: int = 2) -> list[str]:
    """Everything but random queries; what is wrong. The server is gone afterwards."""
    from tests.lake.test_export import founded

    problems = beliefs(made.url, folder / "beliefs", seeds)
    nexus = founded()
    lake.export(nexus, folder / "robots", name="robots")
    expected = nexus.query(SHORT).rows
    opened = lake.open(folder / "robots", engine="spark", master=made.url)
    try:
        problems += ended(opened, expected)
        problems += without_server(made, opened, folder / "robots")
    finally:
        began = time.perf_counter()
        told(opened.close)
        print(f"closed without a server in {time.perf_counter() - began:.1f} s", flush=True)
    return problems


def beliefs(url: str, folder: Path, seeds: int) -> list[str]:
    """Random questions about beliefs that are answered otherwise than the process answers them."""
    from tests.lake import test_beliefs

    problems: list[str] = []
    whole = kipql.open
    kipql.open = partial(whole, clock=lambda: test_beliefs.READ)  # type: ignore[assignment]
    try:
        for seed in range(seeds):
            problems += test_beliefs.differences(seed, folder, engine="spark", master=url)
    finally:
        kipql.open = whole
    print(f"{seeds * test_beliefs.QUESTIONS} questions about beliefs, {len(problems)} different", flush=True)
    return problems


def ended(opened: Any, expected: list[Any]) -> list[str]:
    """A query that is ended by its time or by its caller is told so soon, and the next one is answered."""
    problems = []
    cancel = threading.Event()
    for what, given, timer in (
        ("seconds", {"limits": Limits(seconds=1)}, threading.Timer(0, cancel.is_set)),
        ("cancel", {"cancel": cancel}, threading.Timer(1, cancel.set)),
    ):
        timer.start()
        began = time.perf_counter()
        code = told(partial(opened.query, LONG, **given))
        seconds = time.perf_counter() - began
        timer.join()
        print(f"ended by {what}: {code} after {seconds:.1f} s", flush=True)
        if code != "ExecutionTimeout" or not 0.9 < seconds < 20:
            problems.append(f"ended by {what}: {code} after {seconds:.1f} s")
        if opened.query(SHORT).rows != expected:
            problems.append(f"after {what}, the next query was answered otherwise")
    return problems


def without_server(made: Any, opened: Any, folder: Path) -> list[str]:
    """A server that goes away is told, in an open lake and to who opens one."""
    made.kill(0)
    problems = []
    for what, act in (
        ("asked", partial(opened.query, SHORT)),
        ("opened", partial(lake.open, folder, engine="spark", master=made.url)),
    ):
        began = time.perf_counter()
        code = told(act)
        seconds = time.perf_counter() - began
        print(f"{what} without a server: {code} after {seconds:.1f} s", flush=True)
        if code != "MemoryUnavailable" or seconds > GONE:
            problems.append(f"{what} without a server: {code} after {seconds:.1f} s")
    return problems


def bare(folder: Path) -> list[str]:
    """A server whose workers have pyspark, and no kipql: refused by name."""
    from tests.lake.test_export import founded

    folder.mkdir()
    python = folder / "python"  # what of this Python is kipql is out of its sight
    python.write_text(f'#!/bin/sh\nexport PYTHONPATH="{folder}:$PYTHONPATH"\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    (folder / "sitecustomize.py").write_text(HIDDEN)
    lake.export(founded(), folder / "lake", name="robots")
    with server(str(python)) as made, lake.open(folder / "lake", engine="spark", master=made.url) as opened:
        code = told(partial(opened.query, SHORT))
    print(f"workers without kipql: {code}", flush=True)
    return [] if code == "UnsupportedCapability" else [f"workers without kipql: {code}"]


def told(act: Callable[[], object]) -> str:
    """The code of the error, or that there was none."""
    try:
        act()
    except KipError as error:
        print(f"  {error.code}: {error.message[:160]}", flush=True)
        return error.code
    return "no error"


__all__ = ["bare", "looked_at", "server"]
