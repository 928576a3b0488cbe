"""The state of the memory and the time of the world that a check is asked at: `as_of:`, `--as-of`, `--now`.

A sequence is itself; an instant is the last commit at or before it (§48: only DESCRIBE SNAPSHOT AT TIME turns one into
the other). What a statement says itself always wins.
"""

import re
from typing import TypeAlias

from kipql.audit.asking import Asks, Elsewhere
from kipql.errors import KipError
from kipql.times import parse_instant

AsOf: TypeAlias = int | str
_SEQUENCE = re.compile(r"\d{1,15}", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
BEGIN, END = "T00:00:00.000Z", "T23:59:59.999Z"


def parse_as_of(text: str) -> AsOf:
    """A sequence or an instant. Raises InvalidSyntax."""
    if _SEQUENCE.fullmatch(text):
        return int(text)
    return parse_moment(text, "a sequence or an instant")


def parse_moment(text: str, what: str = "an instant") -> str:
    """An instant as the protocol writes it; a day is its beginning. Raises InvalidSyntax."""
    moment = on_day(text, BEGIN)
    try:
        parse_instant(moment)
    except KipError:
        raise KipError(
            "InvalidSyntax", f"{text!r} is not {what}", hint="write 2026-12-31 or 2026-12-31T12:00:00.000Z"
        ) from None
    return moment


def on_day(text: str, time: str) -> str:
    """A day as the instant at one of its ends, `BEGIN` or `END`; any other text as it is."""
    return f"{text}{time}" if _DAY.fullmatch(text) else text


def sequence(nexus: Asks, as_of: AsOf | None) -> int | None:
    """The sequence that `as_of` means in this memory. Raises HistoricalSnapshotUnavailable."""
    if as_of is None or isinstance(as_of, int):
        return as_of
    if isinstance(nexus, Elsewhere):
        return nexus.sequence_at(as_of)
    found: int = nexus.query("DESCRIBE SNAPSHOT AT TIME :moment", {"moment": as_of}).one()["space_seq"]
    return found
