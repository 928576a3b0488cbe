"""The door of a lake: only KipError leaves it, as `kipql.runtime.guard` sees to for a memory.

What stands in a lake's files was written by an export. Where it reads as something else the files are not those, also
when their checksums fit.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kipql.errors import KipError
from kipql.runtime.guard import as_kip_error


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
    return KipError(
        "MemoryDamaged", f"the lake holds what no export wrote: {first}", hint="export the memory into a new folder"
    )


def _is_of_arrow(error: Exception) -> bool:
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(error, arrow.ArrowException)
