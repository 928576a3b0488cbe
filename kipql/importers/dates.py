"""Dates as people write them, and what they say about an instant.

A text with a time and a zone decided by the caller is one instant; a day without a time is the bound of that
day; a local time that a clock change made ambiguous or skipped is the bound of what it can mean. An instant
is never invented (§25.5).
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, available_timezones

from kipql.errors import KipError
from kipql.times import Bound, instant_of
from kipql.values import Json

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})\s*(?P<half>[ap]m)?"
_DAY = r"(?P<day>\d{1,2})\s+(?P<month>[a-z]+)\.?,?\s+(?P<year>\d{4})"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE | re.ASCII)
    for form in (
        rf"(?:{_TIME}\s+on\s+)?{_DAY}",
        rf"(?:{_TIME}\s+on\s+)?(?P<month>[a-z]+)\.?\s+(?P<day>\d{{1,2}}),?\s+(?P<year>\d{{4}})",
        rf"{_DAY},?\s+(?:at\s+)?{_TIME}",
    )
)
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_HINT = 'dates look like "1:56 pm on 8 May, 2023", "8 May, 2023" or "2023-05-08 13:56"'


@dataclass(frozen=True, slots=True)
class When:
    """What a text says: the text itself, the zone that was decided, and the bound of instants it can mean."""

    text: str
    zone: str
    bound: Bound


def load_zone(name: str) -> tzinfo:
    """A zone by its IANA name. Raises ConstraintViolation for a name that is none."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise KipError("ConstraintViolation", f"unknown time zone {name!r}", hint=_meant(name)) from None


def _meant(name: str) -> str:
    """The zones of a city, or what a zone is called."""
    fitting = sorted(zone for zone in available_timezones() if zone.rpartition("/")[2].lower() == name.lower())
    return f"did you mean {' or '.join(fitting[:3])}?" if fitting else "give an IANA name such as Europe/Vienna"


def read_when(text: Json, zone: str, what: str) -> When:
    """A date text in `zone` (a text that carries its own offset keeps it).

    Raises ArtifactParseError for a text that is no date, ConstraintViolation for an unknown zone.
    """
    if not isinstance(text, str):
        raise KipError("ArtifactParseError", f"{what} is not a text", hint=_HINT)
    moment, timed = _read(text.strip(), what)
    if moment.tzinfo is not None:
        exact = instant_of(moment)
        return When(text, zone, Bound(exact, exact))
    first = _instants(moment, load_zone(zone))
    if timed:
        return When(text, zone, first)
    last = _instants(moment + timedelta(days=1), load_zone(zone))
    assert first.earliest is not None and last.latest is not None
    return When(text, zone, Bound(first.earliest, last.latest - 1))


def _instants(local: datetime, zone: tzinfo) -> Bound:
    """The instants a local time can mean: one, or the two readings around a clock change."""
    readings = [instant_of(local.replace(tzinfo=zone, fold=fold)) for fold in (0, 1)]
    return Bound(min(readings), max(readings))


def _read(text: str, what: str) -> tuple[datetime, bool]:
    """The moment of a text, naive unless the text has an offset, and whether a time was given."""
    try:
        for form in _FORMS:
            if match := form.fullmatch(text):
                return _from_match(match), match["hour"] is not None
        return datetime.fromisoformat(text), not _ISO_DAY.fullmatch(text)
    except (ValueError, OverflowError):
        raise KipError("ArtifactParseError", f"{what} is not a date: {text[:80]!r}", hint=_HINT) from None


def _from_match(match: re.Match[str]) -> datetime:
    name = match["month"].lower()
    month = next(index for index, full in enumerate((*MONTHS, name), 1) if full == name or full[:3] == name)
    hour = int(match["hour"] or 0)
    if match["half"]:
        if not 1 <= hour <= 12:
            raise ValueError(hour)
        hour = hour % 12 + (12 if match["half"].lower() == "pm" else 0)
    return datetime(int(match["year"]), month, int(match["day"]), hour, int(match["minute"] or 0))
