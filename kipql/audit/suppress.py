"""`suppress: REASON until DATE`: findings that somebody answers for, up to a day.

Until then they are shown and do not count; after it they count again, and the report says that the suppression is
over. A suppression without a reason or without an end is not understood: it would be forgotten.
"""

import re
from dataclasses import dataclass

from kipql.audit.coordinates import END, on_day
from kipql.errors import KipError
from kipql.times import parse_instant

_FORM = re.compile(r"(\S.*?)\s+until\s+(\S+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Suppression:
    """`until` is as written, `last` the last instant (milliseconds) at which it holds."""

    reason: str
    until: str
    last: int

    def is_over(self, now: int) -> bool:
        """Whether the findings count again."""
        return now > self.last


def parse_suppression(text: str) -> Suppression:
    """A suppression from its directive's value; a day counts to its end, in UTC. Raises InvalidSyntax."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise KipError(
            "InvalidSyntax", "suppress: needs a reason and a date", hint="write suppress: REASON until 2027-01-31"
        )
    reason, until = match.groups()
    try:
        return Suppression(reason, until, parse_instant(on_day(until, END)))
    except KipError:
        raise KipError(
            "InvalidSyntax", f"{until!r} is not a date", hint="write 2027-01-31 or 2027-01-31T12:00:00.000Z"
        ) from None
