"""The repeat guard: a query that failed three times in the same way is not run a fourth time.

The same means the same statement (layout aside), the same parameters, the same error, and no commit in between.
What succeeds is never held back.
"""

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import kipql

if TYPE_CHECKING:
    from kipql import Nexus, Result

ALLOWED = 3
_HINT = "it fails the same way each time: change the statement or a parameter, or stop asking"


class RepeatedError(kipql.KipError):
    """The error of the earlier attempts, with `details.repeat`; what a retry needs is other input."""

    @property
    def retry(self) -> str:
        """What a retry needs (§86.3): whatever it was, by now it is other input."""
        return "requires_different_input"


@dataclass(slots=True)
class _Failure:
    error: kipql.KipError
    seq: int
    count: int = 1


class RepeatGuard:
    """The failures of one session since the last commit."""

    __slots__ = ("_failures", "_nexus")

    def __init__(self, nexus: "Nexus") -> None:
        self._nexus = nexus
        self._failures: dict[Hashable, _Failure] = {}

    def query(self, text: str, parameters: Mapping[str, Any] | None = None, **options: Any) -> "Result":
        """`nexus.query`, but a failure that was seen three times is answered from memory.

        Raises KipError; from the fourth time on with `details.repeat` and retry class requires_different_input.
        """
        key, seq = _key(text, parameters), self._nexus.space_seq
        known = self._failures.get(key)
        if known is not None and known.seq == seq and known.count >= ALLOWED:
            known.count += 1
            raise _again(known)
        try:
            result = self._nexus.query(text, parameters, **options)
        except kipql.KipError as error:
            self._note(key, seq, error)
            raise
        self._failures.pop(key, None)
        return result

    def _note(self, key: Hashable, seq: int, error: kipql.KipError) -> None:
        if any(failure.seq != seq for failure in self._failures.values()):
            self._failures = {known: failure for known, failure in self._failures.items() if failure.seq == seq}
        known = self._failures.get(key)
        if known is None or (known.error.code, known.error.message) != (error.code, error.message):
            self._failures[key] = _Failure(error, seq)
        else:
            known.count += 1


def _key(text: str, parameters: Mapping[str, Any] | None) -> Hashable:
    """The statement without layout and comments, or the text itself where it is none, and its parameters."""
    values = json.dumps(dict(parameters or {}), sort_keys=True, default=str)
    try:
        return kipql.parse(text), values
    except kipql.KipError:
        return text, values


def _again(failure: _Failure) -> RepeatedError:
    error = failure.error
    return RepeatedError(
        error.code,
        error.message,
        span=error.span,
        hint=_HINT,
        details={**error.details, "repeat": failure.count},
        text=error.text,
    )
