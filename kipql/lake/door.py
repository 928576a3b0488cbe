"""The door of a lake: only KipError leaves it, as `kipql.runtime.guard` sees to for a memory.

What stands in a lake's files was written by an export. Where it reads as something else the files are not those, also
when their checksums fit.
"""

import errno
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kipql.errors import KipError
from kipql.runtime.guard import as_kip_error

AGAIN = "export it again with whole=True (--whole)"
"""What mends a damaged Space of a lake."""

_NOT_THAT = (errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.ENXIO)  # the disk answers: no such file


@contextmanager
def guarded(text: str | None = None, lake: Path | None = None) -> Iterator[None]:
    """Raise the KipError for any exception, knowing the text it is about. What the disk refuses is about the folder of
    the lake; without one, an OSError is the caller's to name."""
    try:
        yield
    except OSError as error:
        if lake is None:
            raise
        found = f"the lake could not be read: {error.strerror or error}"
        raise KipError("MemoryUnavailable", found, details={"path": str(lake)}) from error
    except Exception as error:
        raised = as_kip(error, text)
        raise raised from raised.__cause__


def as_kip(error: Exception, text: str | None = None) -> KipError:
    """The KipError for any exception."""
    if isinstance(error, json.JSONDecodeError) or _is_of_arrow(error):
        found = malformed(str(error))
        found.__cause__ = error
        return found
    return as_kip_error(error, text)


def malformed(problem: str) -> KipError:
    """The error of files that hold what no export wrote."""
    first = next(iter(problem.splitlines()), "")[:300]
    return KipError("MemoryDamaged", f"the lake holds what no export wrote: {first}", hint=AGAIN)


def damaged(lake: Path, path: Path, problem: str, hint: str = AGAIN) -> KipError:
    """The error of a lake one of whose files, or folders, is not what an export made."""
    return KipError(
        "MemoryDamaged",
        f"the lake's {_within(lake, path)} is damaged: {problem}",
        details={"path": str(path)},
        hint=hint,
    )


def unread(lake: Path, path: Path, error: OSError | ValueError) -> KipError:
    """The error of a file that could not be read: damage where it is missing or no file, else what the disk refuses."""
    if isinstance(error, OSError) and error.errno not in _NOT_THAT:
        return KipError(
            "MemoryUnavailable",
            f"the lake's {_within(lake, path)} could not be read: {error.strerror or error}",
            details={"path": str(path)},
        )
    return damaged(lake, path, getattr(error, "strerror", None) or str(error))


def _within(lake: Path, path: Path) -> str:
    """A path as it reads within the lake."""
    return os.fsencode(path.relative_to(lake).as_posix()).decode("utf-8", "backslashreplace")


def _is_of_arrow(error: Exception) -> bool:
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(error, arrow.ArrowException)
