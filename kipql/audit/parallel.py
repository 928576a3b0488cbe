"""Several steps at once, their answers in the order of the steps.

A reader needs no lock, so threads would be right; but queries are Python, and only processes run beside each other.
Where the system forks without harm (Linux, one thread) the workers are forked: each has the memory as it is, nothing is
opened or copied, and a forked child never writes (docs/storage.md). Elsewhere they are threads: the same answers, and
no faster.
"""

import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kipql.audit.asking import Asks
from kipql.audit.report import Outcome
from kipql.audit.script import Step
from kipql.audit.settings import Settings
from kipql.audit.step import Asked, run_step
from kipql.errors import KipError
from kipql.runtime.guard import as_kip_error

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

Answer = Outcome | KipError

_shared: tuple[Asks, Sequence[Step], Asked] | None = None  # what forked workers inherit


def answers(nexus: Asks, steps: Sequence[Step], asked: Asked) -> Iterator[Answer]:
    """The outcome of each step, or the error it ended with."""
    jobs = min(asked.settings.jobs, len(steps))
    if jobs <= 1:
        return (answer(nexus, step, asked) for step in steps)
    return _forked(nexus, steps, asked, jobs) if can_fork() else _threaded(nexus, steps, asked, jobs)


def answer(nexus: Asks, step: Step, asked: Asked) -> Answer:
    """The outcome of one step, or the error it ended with."""
    try:
        return run_step(nexus, step, asked)
    except Exception as error:
        return as_kip_error(error)


def can_fork() -> bool:
    """Whether workers are forked here: another thread could hold a lock that nobody lets go of in the child."""
    return sys.platform == "linux" and threading.active_count() == 1


def _threaded(nexus: Asks, steps: Sequence[Step], asked: Asked, jobs: int) -> Iterator[Answer]:
    with stoppable_threads(jobs, asked.settings) as (pool, settings):
        each = replace(asked, settings=settings)
        yield from _in_order([pool.submit(answer, nexus, step, each) for step in steps])


@contextmanager
def stoppable_threads(jobs: int, settings: Settings) -> Iterator[tuple["Executor", Settings]]:
    """Threads, and the settings with which what they ask ends where the run does: a thread can not be ended, and an
    interrupt would wait for its answer, for those that have not begun, too."""
    from concurrent.futures import ThreadPoolExecutor

    stop = settings.cancel or threading.Event()
    pool = ThreadPoolExecutor(jobs)
    try:
        yield pool, replace(settings, cancel=stop)
    except BaseException:  # an interrupt, or nobody wants the rest
        stop.set()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _forked(nexus: Asks, steps: Sequence[Step], asked: Asked, jobs: int) -> Iterator[Answer]:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    global _shared
    _shared = nexus, steps, asked
    before = multiprocessing.active_children()
    try:
        with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("fork"), initializer=began) as pool:
            try:
                yield from _in_order([_submitted(pool, at) for at in range(len(steps))])
            except BaseException:  # an interrupt, or nobody wants the rest: what is running is not waited for
                end_children(before)
                raise
    finally:
        _shared = None


def end_children(before: Sequence[Any]) -> None:
    """End the processes that this one started and that were not there before."""
    import multiprocessing

    for child in multiprocessing.active_children():
        if child not in before:
            child.terminate()


def _submitted(pool: "Executor", at: int) -> "Future[Answer]":
    """A step on its way; where a worker died meanwhile, on its way to the same error."""
    from concurrent.futures import Future
    from concurrent.futures.process import BrokenProcessPool

    try:
        return pool.submit(_in_worker, at)
    except BrokenProcessPool as error:
        lost: Future[Answer] = Future()
        lost.set_exception(error)
        return lost


def began() -> None:
    """Ctrl-C reaches every process of a terminal: a worker ends without a word, and so the run ends at once. A worker
    whose run was killed has nobody to answer to, and ends too."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(run: int) -> None:
    while os.getppid() == run:
        time.sleep(0.2)
    os._exit(1)


def _in_worker(at: int) -> Answer:
    assert _shared is not None
    nexus, steps, asked = _shared
    return answer(nexus, steps[at], asked)


def _in_order(waiting: Sequence["Future[Answer]"]) -> Iterator[Answer]:
    from concurrent.futures.process import BrokenProcessPool

    try:
        for future in waiting:
            try:
                yield future.result()
            except BrokenProcessPool:
                yield KipError(
                    "InternalError",
                    "a process that ran statements ended before this one had an answer",
                    hint="run it with --jobs 1",
                )
    finally:
        for future in waiting:
            future.cancel()
