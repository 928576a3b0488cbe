"""One writer per Space: an operating-system lock beside the journal. Readers need none.

The lock belongs to the process that took it: a forked child has the descriptor, and must not let go of it.
"""

import os
from pathlib import Path

from kipql.errors import KipError

NAME = "lock"


class WriterLock:
    """Held from opening to closing; the system lets go of it when the process dies."""

    __slots__ = ("_lock", "_process")

    def __init__(self, folder: Path) -> None:
        """Raises MemoryLocked while another writer, in this process or another, has the Space open."""
        import filelock

        self._process = os.getpid()
        self._lock = filelock.FileLock(folder / NAME, timeout=0)
        try:
            self._lock.acquire()
        except filelock.Timeout:
            raise KipError(
                "MemoryLocked",
                f"another writer has {folder} open",
                hint="close it first, or open this memory with readonly=True",
                details={"path": str(folder)},
            ) from None

    def release(self) -> None:
        """Let the next writer in."""
        if self._process == os.getpid():
            self._lock.release()
