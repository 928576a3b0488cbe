"""How far an audit is, on a terminal, once it has taken a moment; nothing anywhere else.

No thread draws it: a run forks its workers, and a thread could hold a lock that nobody lets go of in a child.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kipql.escape import terminal

Tell = Callable[[int, int, str], None]
"""(done, of how many, the name of what is done)."""

AFTER = 1.0
"""Seconds before anything is shown."""


@contextmanager
def told() -> Iterator[Tell | None]:
    """What to call when something is done; None where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    progress = Progress(console=Console(stderr=True), auto_refresh=False, transient=True)
    task = progress.add_task("audit")
    began = time.monotonic()

    def tell(done: int, total: int, name: str) -> None:
        if time.monotonic() - began < AFTER:
            return
        if not progress.live.is_started:
            progress.start()
        from rich.markup import escape

        progress.update(task, completed=done, total=total, description=escape(terminal(name)), refresh=True)

    try:
        yield tell
    finally:
        if progress.live.is_started:
            progress.stop()
