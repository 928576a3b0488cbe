"""The time of a query on an engine: at its deadline, or when its caller ends it, the engine is interrupted.

What an engine does is out of sight of a Budget's ticks, so that a thread looks at the clock while it works.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kipql.errors import KipError
from kipql.limits import Budget

EVERY = 0.05
"""Seconds between two looks."""


@contextmanager
def watched(budget: Budget, interrupt: Callable[[], None]) -> Iterator[None]:
    """Raises ExecutionTimeout where the engine was interrupted, whatever the engine calls it."""
    done = threading.Event()
    over: list[KipError] = []

    def watch() -> None:
        while not done.wait(EVERY):
            try:
                if not over:
                    budget.check()
            except KipError as error:
                over.append(error)
            if over:
                interrupt()  # again and again: the next statement of the query may have begun in between

    watcher = threading.Thread(target=watch, name="kipql lake", daemon=True)
    watcher.start()
    try:
        yield
    except KipError:
        if over:
            raise over[0] from None
        raise
    finally:
        done.set()
        watcher.join()
