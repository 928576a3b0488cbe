"""`python -m tests.lake.spark --queries 200`: a standalone Spark of one master and two workers, started from pyspark.

First, random queries about random memories, and corners of the language: Spark's rows, order and errors are the
process's. Then an audit of several Spaces loses a worker in the middle: every answer that is there is right, and what
is not there is told, with exit code 2. Then it loses the other one, too: the audit ends in time and says that it could
not run.
`--connect` starts a server of Spark Connect instead: the random queries, and what tests/lake/spark_connect.py looks at.
Needs Java 17 or newer (JAVA_HOME, or `java` in the PATH), about 3 GB and some minutes. The exit code is 1 where
something was otherwise.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kipql import lake
from kipql.audit.fleet import run_fleet
from kipql.audit.report import Report
from kipql.audit.script import parse_script
from kipql.audit.settings import Settings
from kipql.cli.places import LakeSpace
from kipql.limits import Limits

PER_MEMORY = 20
SPACES = 6
PATIENT = Limits(seconds=900)
CHECKS = """
//! check: robots
//! message: {key}
FIND(?r.key) WHERE { ?r {type: "Robot"} } ORDER BY ?r.key;
//! check: count
//! expect: value == 0
FIND(COUNT(?c)) WHERE { ?c CONCEPT {} };
//! check: names
FIND(?r.name, ?s.name) WHERE { ?r {type: "Robot"} ?s {type: "Robot"} FILTER(?r.name == ?s.name) };
"""


@dataclass
class Cluster:
    """The processes of a standalone Spark."""

    folder: Path
    url: str = ""
    python: str = sys.executable  # of the workers
    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def start(self, name: str, *arguments: str) -> None:
        import pyspark

        home = Path(pyspark.__file__).parent
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(self.folder / f"work{len(self.processes)}"),
            "PYSPARK_PYTHON": self.python,
            "PYTHONPATH": os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")]),
        }
        log = (self.folder / f"log{len(self.processes)}").open("wb")
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
        self.processes.append(
            subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        )

    def kill(self, number: int) -> None:
        """Kill a process and what it started, as a machine that goes away."""
        process = self.processes[number]
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def logs(self) -> str:
        """The end of what each of them wrote."""
        return "\n".join(path.read_text(errors="replace")[-600:] for path in sorted(self.folder.glob("log*")))


@contextmanager
def cluster(workers: int = 2) -> Iterator[Cluster]:
    """A master and its workers, one core and a gibibyte each, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="spark-", ignore_cleanup_errors=True) as folder:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        made = Cluster(Path(folder))
        port = free_port()
        made.url = f"spark://127.0.0.1:{port}"
        try:
            made.start("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
            wait_for(lambda: answers(port), made)
            for _ in range(workers):
                made.start(
                    "worker.Worker", "--cores", "1", "--memory", "1g", "--webui-port", "0", "--host", "127.0.0.1",
                    made.url,
                )  # fmt: skip
            yield made
        finally:
            for number in reversed(range(len(made.processes))):
                made.kill(number)


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def answers(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def wait_for(there: Callable[[], bool], made: Cluster, seconds: float = 180) -> None:
    end = time.monotonic() + seconds
    while not there():
        if time.monotonic() > end:
            raise SystemExit(f"Spark did not start:\n{made.logs()}")
        time.sleep(0.5)


def random_queries(count: int, url: str, folder: Path) -> list[str]:
    """Ask random queries on both sides; what is different."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st

    from tests.lake.test_random import asked
    from tests.properties.engine import multiset, tell
    from tests.properties.memories import memories
    from tests.properties.queries import queries
    from tests.properties.test_queries import sort_columns

    several = st.lists(queries(), min_size=min(PER_MEMORY, count), max_size=min(PER_MEMORY, count))
    differences: list[str] = []
    done = 0

    @settings(
        max_examples=max(1, count // PER_MEMORY),
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(story=memories, several=several)
    def ask(story: list[str], several: list[Any]) -> None:
        nonlocal done
        nexus = tell(story).nexus
        name = f"random{done}"
        lake.export(nexus, folder, name=name)
        with lake.open(folder, space=name, engine="spark", master=url, limits=PATIENT) as opened:
            for query in several:
                if done >= count:
                    return
                seq = nexus.space_seq - done % 2
                expected, found = asked(nexus, query, max(0, seq)), asked(opened, query, max(0, seq))
                done += 1
                if isinstance(expected, tuple) or isinstance(found, tuple):
                    same = expected == found
                else:
                    same = multiset(found) == multiset(expected)
                    same = same and sort_columns(query, found) == sort_columns(query, expected)
                if not same:
                    told = f"{query.text(as_of=seq)}\n  process {str(expected)[:500]}\n    Spark {str(found)[:500]}"
                    print(told, flush=True)
                    differences.append(told)

    while done < count:
        before = done
        ask()
        print(f"{done} queries, {len(differences)} different", flush=True)
        if done == before:
            break
    return differences


def corners(url: str, folder: Path) -> list[str]:
    """The questions of tests/lake/test_semantics.py and test_corners.py that Spark answers otherwise than KQL."""
    import kipql
    from tests.lake import test_corners, test_semantics

    problems = []
    for name, packages, story, cases in (
        ("semantics", [], [test_semantics.STORY], test_semantics.CASES),
        ("corners", [test_corners.PACKAGE], test_corners.STORY, test_corners.CASES),
    ):
        with kipql.open(packages=packages) as nexus:
            for statement in story:
                nexus.execute(statement)
            lake.export(nexus, folder, name=name)
        with lake.open(folder, space=name, engine="spark", master=url, limits=PATIENT) as opened:
            found = [(text, rows, opened.query(text).rows) for text, rows in cases]
        problems += [f"{text}\n  KQL {rows}\n  Spark {other}" for text, rows, other in found if other != rows]
        print(f"{len(found)} {name}, {len(problems)} different", flush=True)
    return problems


def settings() -> list[str]:
    """What tests/lake/spark_settings.py says is wrong: a user's Spark is one of another process."""
    asked = subprocess.run([sys.executable, "-m", "tests.lake.spark_settings"], capture_output=True, text=True)
    print(f"on a Spark that was set up otherwise: {asked.stdout.strip()}", flush=True)
    return [] if asked.returncode == 0 else [asked.stdout or asked.stderr[-2000:]]


def losing_workers(made: Cluster, folder: Path) -> list[str]:
    """Audits that lose a worker, and then the other; what is wrong with what they say."""
    from tests.lake.test_export import founded

    names = [f"space{number}" for number in range(SPACES)]
    for name in names:
        lake.export(founded(), folder, name=name)
    scripts = [parse_script("checks.kql", CHECKS)]
    whole = run_fleet([LakeSpace(str(folder), name, "duckdb", None, 1) for name in names], scripts)
    places = [LakeSpace(str(folder), name, "spark", made.url, None) for name in names]

    def after_first(number: int) -> Callable[[int, int, str], None]:
        return lambda done, _total, _name: made.kill(number) if done == 1 else None

    problems = []
    for number, seconds in ((2, 300.0), (1, 60.0)):
        began = time.perf_counter()
        report = run_fleet(places, scripts, settings=Settings(timeout=seconds), heard=after_first(number))
        told = f"{sum(space.answered for space in report.spaces)} of {SPACES} Spaces, {len(report.problems)} errors"
        print(f"worker {number} killed after the first Space: {told}, {time.perf_counter() - began:.0f} s", flush=True)
        problems += judged(report, whole, names)
        if number == 1 and not report.problems:
            problems.append("without a worker, the audit did not say that it could not run")
    return problems


def judged(report: Report, whole: Report, names: list[str]) -> list[str]:
    """What is wrong with a report: an answer that is not the whole one's, or one that is missing and not told."""
    found = {name: answers_of(report, name) for name in names}
    expected = {name: answers_of(whole, name) for name in names}
    failed = {problem.space_id for problem in report.problems}
    wrong = [
        name
        for name in names
        if not (set(found[name]) <= set(expected[name]) if name in failed else found[name] == expected[name])
    ]
    problems = [f"{name}: {found[name]}, not {expected[name]}" for name in wrong]
    code = report.exit_code("never")
    if bool(failed) != (code == 2):
        problems.append(f"exit {code} with {len(failed)} Spaces that could not be asked")
    for problem in report.problems:
        print(f"  {problem.space_id}: {problem.error.code}: {problem.error.message[:120]}", flush=True)
    return problems


def answers_of(report: Report, name: str) -> list[str]:
    return [
        f"{check.step.name}: {finding.message}"
        for check in report.checks
        for finding in check.findings
        if finding.space_id == name
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lake.spark")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--no-kill", action="store_true", help="random queries only")
    parser.add_argument("--connect", action="store_true", help="a server of Spark Connect instead of a cluster")
    chosen = parser.parse_args(arguments)
    problems = over_connect(chosen.queries) if chosen.connect else over_cluster(chosen.queries, not chosen.no_kill)
    print("\n".join(problems) or "as it should be")
    return 1 if problems else 0


def over_connect(queries: int) -> list[str]:
    from tests.lake import spark_connect

    with tempfile.TemporaryDirectory(prefix="lake-") as folder:
        with spark_connect.server() as made:
            problems = random_queries(queries, made.url, Path(folder) / "random") if queries else []
            problems += spark_connect.looked_at(made, Path(folder))
        return problems + spark_connect.bare(Path(folder) / "bare")


def over_cluster(queries: int, kill: bool) -> list[str]:
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="lake-") as folder, cluster() as made:
        if queries:
            problems += random_queries(queries, made.url, Path(folder) / "random")
            problems += corners(made.url, Path(folder) / "corners")
            problems += settings()
        if kill:
            problems += losing_workers(made, Path(folder) / "audit")
    return problems


if __name__ == "__main__":
    raise SystemExit(main())
