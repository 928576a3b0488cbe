"""Instants, time bounds and intervals (§6.5, §25.2, §25.5).

On the wire an instant is a string `YYYY-MM-DDTHH:mm:ss.SSSZ`. Inside it is an int: milliseconds since
1970-01-01T00:00:00.000Z, so that comparing times is comparing ints.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import time_ns
from typing import NamedTuple, TypeAlias

from kipql.errors import KipError
from kipql.values import json_type

Clock: TypeAlias = Callable[[], datetime]

_FORM = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MILLISECOND
LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MILLISECOND

# Ends of time for interval arithmetic: before and after every instant that can be written.
BEGINNING = -(1 << 60)
FOREVER = 1 << 60

PARSED: dict[str, int] = {}  # what `parse_instant` found lately, for generated readers
_PARSED_MOST = 10_000
_DAY = 86_400_000
_dates: dict[int, str] = {}  # by day since the epoch
_DATES_MOST = 20_000


def parse_instant(value: object, what: str = "a timestamp") -> int:
    """Milliseconds of a protocol timestamp.

    Raises TypeMismatch when it is not a string, ConstraintViolation when the string is not exactly
    `YYYY-MM-DDTHH:mm:ss.SSSZ` or names no real date. Nothing is padded, rounded or converted.
    """
    if value.__class__ is str and (known := PARSED.get(value)) is not None:
        return known
    if not isinstance(value, str):
        raise KipError("TypeMismatch", f"{what} must be a string, not {json_type(value)}", hint=_HINT)
    if _FORM.fullmatch(value) is None:
        raise KipError("ConstraintViolation", f"{what} is not a protocol timestamp: {value!r}", hint=_HINT)
    try:
        if value[11] == "2" and value[12] > "3":  # midnight of the day after, to a later Python
            raise ValueError(value)
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise KipError("ConstraintViolation", f"{what} names no real instant: {value!r}", hint=_HINT) from None
    instant = (moment - _EPOCH) // _MILLISECOND
    if len(PARSED) >= _PARSED_MOST:
        PARSED.clear()
    PARSED[value] = instant
    return instant


_HINT = 'write UTC with three decimals, for example "2026-08-14T03:00:00.123Z"'


def format_instant(instant: int) -> str:
    """The protocol timestamp of milliseconds since the epoch. Raises MemoryDamaged for what no timestamp can say: no
    statement writes it."""
    day, rest = divmod(instant, _DAY)
    date = _dates.get(day)
    if date is None:
        try:
            date = (_EPOCH + day * _DAY * _MILLISECOND).date().isoformat()
        except OverflowError:
            raise KipError("MemoryDamaged", f"an instant that no timestamp can say: {instant}") from None
        if len(_dates) >= _DATES_MOST:
            _dates.clear()
        _dates[day] = date
    if not rest:
        return f"{date}T00:00:00.000Z"
    seconds, milliseconds = divmod(rest, 1_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{date}T{hours:02}:{minutes:02}:{seconds:02}.{milliseconds:03}Z"


def instant_of(moment: datetime) -> int:
    """Milliseconds of an aware datetime; finer resolution is cut off (§6.5).

    Raises TypeMismatch if it is naive or no datetime, ConstraintViolation outside the years 1 to 9999 in UTC.
    """
    if not isinstance(moment, datetime):
        raise KipError("TypeMismatch", f"an instant is a datetime, not {type(moment).__name__}")
    if moment.utcoffset() is None:
        raise KipError("TypeMismatch", "a datetime must be timezone-aware", hint="pass datetime(..., tzinfo=UTC)")
    instant = (moment - _EPOCH) // _MILLISECOND
    if not FIRST <= instant <= LAST:
        raise KipError("ConstraintViolation", "a datetime must lie within the years 1 to 9999 in UTC")
    return instant


def now(clock: Clock | None = None) -> int:
    """The clock read once, as an instant."""
    return time_ns() // 1_000_000 if clock is None else instant_of(clock())


class Bound(NamedTuple):
    """An instant known only within `[earliest, latest]`; an open side is None. An exact one has both equal."""

    earliest: int | None
    latest: int | None

    @property
    def exact(self) -> bool:
        return self.earliest is not None and self.earliest == self.latest


class Interval(NamedTuple):
    """A written `valid_time`: a start and an end, None where not stated (§25.2)."""

    start: Bound | None
    end: Bound | None


ALWAYS = Interval(None, None)


def parse_bound(value: object, what: str) -> Bound | None:
    """A `valid_time` endpoint: a timestamp, null, or `{earliest, latest}` with at least one (§25.5)."""
    if value is None:
        return None
    if not isinstance(value, dict):
        instant = parse_instant(value, what)
        return Bound(instant, instant)
    if unknown := set(value) - {"earliest", "latest"}:
        hint = "it has earliest and latest"
        raise KipError("ConstraintViolation", f"{what} has no member {min(unknown)!r}", hint=hint)
    sides = {name: parse_instant(side, f"{what}.{name}") for name, side in value.items()}
    if not sides:
        raise KipError("ConstraintViolation", f"{what} needs earliest, latest or both")
    bound = Bound(sides.get("earliest"), sides.get("latest"))
    if len(sides) == 2 and sides["earliest"] > sides["latest"]:
        raise KipError("ConstraintViolation", f"{what} has earliest after latest")
    return bound


def parse_interval(value: object) -> Interval:
    """A `valid_time` object `{from, until}`; null and {} state nothing.

    Raises ConstraintViolation when its earliest possible start is not before its latest possible end.
    """
    if value is None:
        return ALWAYS
    if not isinstance(value, dict):
        raise KipError("TypeMismatch", f"valid_time must be an object, not {json_type(value)}")
    if unknown := set(value) - {"from", "until"}:
        hint = "it has from and until"
        raise KipError("ConstraintViolation", f"valid_time has no member {min(unknown)!r}", hint=hint)
    start = parse_bound(value.get("from"), "valid_time.from")
    end = parse_bound(value.get("until"), "valid_time.until")
    if start is not None and end is not None:
        first = BEGINNING if start.earliest is None else start.earliest
        last = FOREVER if end.latest is None else end.latest
        if first >= last:
            raise KipError("ConstraintViolation", "valid_time must begin before it ends")
    return Interval(start, end)


def format_bound(bound: Bound | None) -> object:
    """The wire form of an endpoint: null, a timestamp, or `{earliest, latest}` with the sides that are known."""
    if bound is None:
        return None
    if bound.exact:
        assert bound.earliest is not None
        return format_instant(bound.earliest)
    sides = {"earliest": bound.earliest, "latest": bound.latest}
    return {name: format_instant(side) for name, side in sides.items() if side is not None}
