"""Type objects and constructors of PEP 249 for the values of KIP: JSON values, and instants as aware datetimes."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NoReturn

from kipql.errors import KipError
from kipql.fronts.dbapi.errors import DataError, NotSupportedError, mapping
from kipql.times import parse_instant


class Type:
    """A type object: equal to the `type_code` of the columns whose values are of it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"kipql.dbapi.{self.name}"


STRING, NUMBER, DATETIME, BINARY, ROWID = (Type(name) for name in ("STRING", "NUMBER", "DATETIME", "BINARY", "ROWID"))
BOOLEAN, JSON = Type("BOOLEAN"), Type("JSON")


def type_of(values: Sequence[Any]) -> Type | None:
    """The type that all values but null are of: None where there is none, or more than one."""
    found = {_type(value) for value in values if value is not None}
    return found.pop() if len(found) == 1 else None


def _type(value: Any) -> Type:
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, int | float):
        return NUMBER
    if isinstance(value, str):
        return DATETIME if _is_instant(value) else STRING
    return JSON


def _is_instant(text: str) -> bool:
    if len(text) != 24 or not text.endswith("Z"):
        return False
    try:
        parse_instant(text)
    except KipError:
        return False
    return True


def Date(year: int, month: int, day: int) -> datetime:
    """The beginning of a day, UTC: KIP has instants only. Raises DataError for what is no day."""
    return Timestamp(year, month, day)


def Timestamp(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> datetime:
    """An instant, UTC. Raises DataError for what is none."""
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except (ValueError, TypeError, OverflowError) as error:
        raise _no_instant(error) from None


def DateFromTicks(ticks: float) -> datetime:
    """The beginning of the day of a time in seconds since 1970. Raises DataError for what is none."""
    return Date(*_gmtime(ticks)[:3])


def TimestampFromTicks(ticks: float) -> datetime:
    """The instant of a time in seconds since 1970. Raises DataError for what is none."""
    return Timestamp(*_gmtime(ticks)[:6])


def Time(hour: int, minute: int, second: int) -> NoReturn:
    """A time of day is no value of KIP. Raises NotSupportedError."""
    _unsupported("a time without a day")


def TimeFromTicks(ticks: float) -> NoReturn:
    """A time of day is no value of KIP. Raises NotSupportedError."""
    _unsupported("a time without a day")


def Binary(value: bytes) -> NoReturn:
    """Bytes are no value of KIP. Raises NotSupportedError."""
    _unsupported("bytes")


def _gmtime(ticks: float) -> time.struct_time:
    if not isinstance(ticks, int | float):  # None would be now
        raise _no_instant(f"{type(ticks).__name__} is no number of seconds")
    try:
        return time.gmtime(ticks)
    except (ValueError, OverflowError, OSError) as error:
        raise _no_instant(error) from None


def _no_instant(why: object) -> DataError:
    return DataError("TypeMismatch", f"this is no instant: {why}")


def _unsupported(what: str) -> NoReturn:
    with mapping():
        raise NotSupportedError("UnsupportedCapability", f"{what} can not be a value in KIP", hint="write it as text")
    raise AssertionError
