"""A run with several processes that is told to stop: it ends at once, and so do its workers."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import kipql

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


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_no_worker(tmp_path, sign):
    with kipql.open(tmp_path / "m.kip") as nexus:
        nexus.load({"kind": "concept", "type": "Person", "key": f"k{n}", "name": f"n{n}"} for n in range(200))
    (tmp_path / "slow.kql").write_text("".join(SLOW.format(at=at) for at in range(4)), encoding="utf-8")
    arguments = ["run", "slow.kql", "--db", "m.kip", "--jobs", "2", "--timeout", "50"]
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
