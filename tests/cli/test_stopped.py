"""A run with several processes that is told to stop: it ends at once, and so do its workers."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import kipql
from kipql import lake

SLOW = """//! check: slow-{at}
FIND(COUNT(?a)) WHERE {{ ?a {{type: "Person"}} ?b {{type: "Person"}} ?c {{type: "Person"}} ?d {{type: "Person"}}
  FILTER(?a.name == ?d.key && ?b.name == ?c.key) }};
"""
STARTED = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from kipql.cli.main import main; main()"
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux")


def _workers(parent: int) -> list[int]:
    """The children of a process that are at work."""
    return [int(each) for each in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def _at_work(process: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _until(holds, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize("asked", [("--db", "m0.kip"), ("--fleet", "*.kip")])
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_no_worker(tmp_path, sign, asked):
    for at in range(3):
        with kipql.open(tmp_path / f"m{at}.kip") as nexus:
            nexus.load({"kind": "concept", "type": "Person", "key": f"k{n}", "name": f"n{n}"} for n in range(200))
    (tmp_path / "slow.kql").write_text("".join(SLOW.format(at=at) for at in range(4)), encoding="utf-8")
    arguments = ["run", "slow.kql", *asked, "--jobs", "2", "--timeout", "50"]
    run = subprocess.Popen(
        [sys.executable, "-c", STARTED, *arguments], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        assert _until(lambda: len(_workers(run.pid)) == 2, 20), "the workers began"
        workers = _workers(run.pid)
        time.sleep(0.3)
        os.kill(run.pid, sign)
        _, said = run.communicate(timeout=15)
        assert b"Traceback" not in said
        assert _until(lambda: not any(map(_at_work, workers)), 10), "a worker is still there"
    finally:
        run.kill()


# --- threads: what asks Spark, and workers where no process is forked -----------------------------------

# An audit of four Spaces whose statements have an answer after a minute, or once they are cancelled.
SPARK = """
import threading, sys
from dataclasses import dataclass
from kipql.cli import places
from kipql.errors import KipError
from kipql.limits import DEFAULT_LIMITS

class Slow:
    space_seq, limits = 1, DEFAULT_LIMITS
    def prepare(self, text, *, as_of=None, for_time=None):
        return self
    def query(self, parameters=None, *, limits=None, cancel=None):
        print("asked", flush=True)
        (cancel or threading.Event()).wait(60)
        raise KipError("ExecutionTimeout", "the call was cancelled")

@dataclass(frozen=True)
class Place:
    name: str
    def opened(self, settings):
        yield self.name, Slow()

places._lake = lambda settings, asked: [Place(name) for name in "abcd"]
"""
# A fork is no way here: the same statements in threads.
THREADS = """
import threading
from kipql.audit import parallel
parallel.can_fork = lambda: False
real = parallel.answer
def answer(*given):
    print("asked", flush=True)
    return real(*given)
parallel.answer = answer
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(
    ("before", "asked"),
    [
        (SPARK, ("--lake", "any.lake", "--engine", "spark")),
        (THREADS, ("--db", "m.kip")),
        (THREADS, ("--lake", "some.lake")),
    ],
)
def test_an_interrupt_waits_for_no_thread(tmp_path, before, asked, jobs):
    with kipql.open(tmp_path / "m.kip") as nexus:
        nexus.load({"kind": "concept", "type": "Person", "key": f"k{n}", "name": f"n{n}"} for n in range(400))
        lake.export(nexus, tmp_path / "some.lake")
    (tmp_path / "slow.kql").write_text("".join(SLOW.format(at=at) for at in range(4)), encoding="utf-8")
    arguments = ["run", "slow.kql", *asked, "--jobs", jobs, "--timeout", "50"]
    started = f"{before}\n{STARTED.replace('main()', 'raise SystemExit(main())')}"
    run = subprocess.Popen(
        [sys.executable, "-c", started, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert run.stdout.readline().startswith(b"asked")
        time.sleep(0.3)
        os.kill(run.pid, signal.SIGINT)
        _, said = run.communicate(timeout=10)
        assert (run.returncode, said) == (2, b"\ninterrupted\n")
    finally:
        run.kill()
