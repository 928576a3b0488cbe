"""What `python -m tests.lake.fleet --dask` and `--ray` do: `run_fleet` on two worker processes of another scheduler.

The answer is the process pool's, to the byte of its JSON but for the time it took; one memory is damaged.
Neither is a dependency: `pip install distributed`, `pip install ray`.
"""

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kipql.audit.fleet import Memory, run_fleet
from kipql.audit.report import Report
from kipql.audit.script import parse_script
from kipql.audit.settings import Settings
from tests.lake import fleet

NOW = "2026-01-09T00:00:00.000Z"


@contextmanager
def dask() -> Iterator[Executor]:
    """Two Dask workers, a process each."""
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client.get_executor()


class RayExecutor(Executor):
    """Ray's tasks as `concurrent.futures` has them."""

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> "Future[Any]":
        import ray

        return ray.remote(function).remote(*arguments, **named).future()  # type: ignore[no-any-return]


@contextmanager
def ray() -> Iterator[Executor]:
    """Two Ray workers, a process each."""
    import ray

    paths = os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=100 * 2**20,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": paths}},
    )
    try:
        yield RayExecutor()
    finally:
        ray.shutdown()


SCHEDULERS = {"dask": dask, "ray": ray}


def differences(scheduler: str, count: int, folder: Path) -> list[str]:
    """What a scheduler's workers answer otherwise than a pool of two processes, and otherwise than is so."""
    paths = fleet.memories(folder, count)
    damaged = count * 2 // 3
    fleet.damage_memory(paths[damaged])
    pooled, _ = timed("two processes", paths, None)
    with SCHEDULERS[scheduler]() as executor:
        timed(f"{scheduler}, first", paths[:2], executor)
        found, report = timed(scheduler, paths, executor)
    told = [(fleet.stem(str(problem.space_id)), problem.error.code) for problem in report.problems]
    says = {
        "the report": (found, pooled),
        "the errors": (told, [(fleet.names(count)[damaged], "MemoryDamaged")]),
        "the answers": (sum(space.answered for space in report.spaces), count - 1),
        "the exit code": (report.exit_code("never"), 2),
    }
    return [f"{scheduler}: {what}: {is_}, not {should}" for what, (is_, should) in says.items() if is_ != should]


def timed(what: str, paths: Sequence[Path], executor: Executor | None) -> tuple[list[Any], Report]:
    began = time.perf_counter()
    scripts = [parse_script("checks.kql", fleet.CHECK)]
    report = run_fleet(
        [Memory(str(path)) for path in paths], scripts, settings=Settings(now=NOW, jobs=2), executor=executor
    )
    answered = sum(space.answered for space in report.spaces)
    seconds = time.perf_counter() - began
    print(
        f"{what}: {len(paths)} memories, {answered} answered, {len(report.problems)} error, {seconds:.1f} s", flush=True
    )
    return said(report), report


def said(report: Report) -> list[Any]:
    """All that a report says but how long it took."""
    checks = [
        (check.step.name, check.found, check.passed, [(f.space_id, f.key, f.message) for f in check.findings])
        for check in report.checks
    ]
    errors = [(p.space_id, p.error.code, p.error.message, p.error.hint) for p in report.problems]
    return [checks, errors, [(s.space_id, s.space_seq, s.answered, s.skipped) for s in report.spaces]]
