"""The last door: only KipError leaves kipql.

An exception that is not one is a defect, or a limit of the interpreter; either way the caller gets a code, and
the original stays attached as the cause. A memory that was opened from a large snapshot may also have believed a file
that someone forged: then that is what the caller is told.
"""

import sys
from typing import NoReturn

from kipql.errors import KipError


def as_kip_error(error: Exception, text: str | None = None) -> KipError:
    """The KipError for any exception, knowing the text it is about."""
    if isinstance(error, KipError):
        return error if text is None else error.in_text(text)
    if isinstance(error, RecursionError | MemoryError):
        wrapped = KipError(
            "ResourceExhausted",
            f"the call needs more than the interpreter gives: {type(error).__name__}",
            hint="make the statement or its parameters smaller",
        )
    else:
        wrapped = _damage(error) or KipError(
            "InternalError",
            f"{type(error).__name__}: {error}",
            hint="this is a defect of kipql; please report the statement",
        )
    wrapped.__cause__ = error
    return wrapped


def _damage(error: Exception) -> KipError | None:
    """What is wrong with the file that the memory of an exception came from, if that may be the cause."""
    suspects = sys.modules.get("kipql.store.suspects")  # imported by the first memory that needs it
    return suspects.verdict(error) if suspects is not None else None


def reraise(error: Exception, text: str | None = None) -> NoReturn:
    """Raise the KipError for any exception (see `as_kip_error`)."""
    raised = as_kip_error(error, text)
    raise raised from raised.__cause__


def wire_error(error: KipError) -> dict[str, object]:
    """The error on the wire, where a member that is unknown is left out (kip-response)."""
    return {name: member for name, member in error.to_dict().items() if member is not None}
