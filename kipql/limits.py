"""Limits and the Budget that charges them: a query never ends by surprise (§45, §46.3, §87.10).

Limits are set when a memory is opened and may only be narrowed for a call. At a limit the answer is an
error that names the limit, its value and how to raise it; never a shorter answer.
"""

import threading
import time
from dataclasses import dataclass, fields, replace
from typing import NoReturn

from kipql.errors import KipError

SECONDS = frozenset(("regex_match", "regex_total", "seconds"))
_NAMES: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one call (docs/limits.md). Times are seconds, sizes are bytes of UTF-8, the rest are counts.

    Raises TypeMismatch for a bound that is no number, ConstraintViolation for one below zero.
    """

    text: int = 256 * 1024
    depth: int = 64
    tokens: int = 65_536
    statements: int = 10_000
    parameters: int = 16 * 1024 * 1024
    capsule: int = 1024 * 1024 * 1024
    rows: int = 1_000_000
    ticks: int = 200_000_000
    hops: int = 64
    projections: int = 1_000_000
    buffered: int = 2_000_000
    regex_pattern: int = 1_024
    regex_size: int = 100_000
    regex_subject: int = 64 * 1024
    regex_match: float = 0.1
    regex_total: float = 2.0
    seconds: float = 60.0
    frame: int = 64 * 1024 * 1024
    payload: int = 16 * 1024 * 1024

    def __post_init__(self) -> None:
        for name in _NAMES or _names():
            value = getattr(self, name)
            if value.__class__ is not int and (value.__class__ is not float or name not in SECONDS):
                wanted = "a number of seconds" if name in SECONDS else "a whole number"
                raise KipError("TypeMismatch", f"the limit {name} is {wanted}, not {value!r}")
            if not value >= 0:
                raise KipError("ConstraintViolation", f"the limit {name} can not be {value}")

    def narrowed(self, other: "Limits | None") -> "Limits":
        """The smaller of each bound: a call can narrow what the memory was opened with, never widen it."""
        if other is None or other is self:
            return self
        if not isinstance(other, Limits):
            raise KipError("TypeMismatch", f"limits are kipql.Limits, not {type(other).__name__}")
        return replace(self, **{name: min(getattr(self, name), getattr(other, name)) for name in _NAMES})


def _names() -> tuple[str, ...]:
    return tuple(field.name for field in fields(Limits))


_NAMES = _names()
DEFAULT_LIMITS = Limits()


def exhausted(limit: str, value: int | float, found: str) -> NoReturn:
    """Raise ResourceExhausted for one limit."""
    raise KipError(
        "ResourceExhausted",
        f"{found}; the limit {limit} is {value}",
        hint=f"narrow the request, or open the memory with Limits({limit}=...)",
        details={"limit": limit, "value": value},
    )


def hinted(error: KipError, hint: str) -> KipError:
    """The same error with another hint: a script, a shell, a notebook has a cure of its own."""
    return KipError(error.code, error.message, span=error.span, hint=hint, details=error.details, text=error.text)


def cancelled() -> NoReturn:
    """Raise ExecutionTimeout for a call that its caller ended."""
    raise KipError("ExecutionTimeout", "the call was cancelled", details={"cancelled": True})


class Cancel:
    """Whether a call that has no limits was called off: by `cancel`, a threading.Event."""

    __slots__ = ("_cancel",)

    def __init__(self, cancel: threading.Event | None) -> None:
        self._cancel = _event(cancel)

    def look(self) -> None:
        """Raise ExecutionTimeout once the flag is up."""
        if self._cancel is not None and self._cancel.is_set():
            cancelled()


def _event(cancel: object) -> threading.Event | None:
    if cancel is not None and not isinstance(cancel, threading.Event):
        raise KipError("TypeMismatch", f"cancel is a threading.Event, not {type(cancel).__name__}")
    return cancel


class Budget:
    """What one call may still spend. Loops call `spend`; every `STRIDE` ticks the clock and the cancel flag
    are looked at."""

    STRIDE = 4_096
    __slots__ = ("_cancel", "_check_at", "_deadline", "limits", "regex_seconds", "ticks")

    def __init__(self, limits: Limits = DEFAULT_LIMITS, cancel: threading.Event | None = None) -> None:
        if cancel is not None and _event(cancel) is not None and cancel.is_set():
            cancelled()
        self.limits = limits
        self.ticks = 0
        self.regex_seconds = 0.0
        self._cancel = cancel
        self._deadline = time.monotonic() + limits.seconds
        self._check_at = self.STRIDE if limits.ticks > self.STRIDE else limits.ticks

    def spend(self, ticks: int = 1) -> None:
        """Charge work. Raises ResourceExhausted at `limits.ticks`, ExecutionTimeout at the deadline or on cancel."""
        self.ticks += ticks
        if self.ticks >= self._check_at:
            self.check()

    def check(self) -> None:
        """Look at ticks, clock and cancel flag now."""
        if self.ticks > self.limits.ticks:
            exhausted("ticks", self.limits.ticks, "the query does too much work")
        if self._cancel is not None and self._cancel.is_set():
            cancelled()
        if time.monotonic() > self._deadline:
            raise KipError(
                "ExecutionTimeout",
                f"the call ran longer than {self.limits.seconds} seconds",
                hint="narrow the request, or open the memory with Limits(seconds=...)",
                details={"limit": "seconds", "value": self.limits.seconds, "cancelled": False},
            )
        self._check_at = min(self.ticks + self.STRIDE, self.limits.ticks + 1)

    def buffer(self, rows: int) -> None:
        """Check the number of rows held at once."""
        if rows > self.limits.buffered:
            exhausted("buffered", self.limits.buffered, f"the query holds {rows} rows at once")
