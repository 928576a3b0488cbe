"""The hot fields of an Assertion as one packed record of 40 bytes (specification §13, §25.2, §25.4).

Everything a belief needs to place an Assertion in time is read with one `ASSERTION.unpack_from(hot, row * SIZE)`:

    ended        commit at which its stored status left `active`, NEVER while it is active; a view at k reads
                 `ended > k` as not ended
    flags        stance, mode, the forms of both ends, whether it has a context (below)
    start        the start key (§25.4): exact `from`, else `from.latest`, else `asserted_at`
    until        exact `until`, else `until.latest`, else FOREVER
    actor        code of `asserted_by`
    object       the term of its Proposition
    proposition  row of its Proposition
    predicate    number of the written lineage of its Predicate

Cold fields are side columns (`columns.Assertions`).
"""

import struct
from typing import NamedTuple

from kipql import model
from kipql.errors import KipError
from kipql.model import MODES, STANCES
from kipql.times import FOREVER, Bound, Interval

ASSERTION = struct.Struct("<IIqqiiII")
SIZE = ASSERTION.size
ENDED = struct.Struct("<I")
NEVER = 0xFFFFFFFF

ROLES = (None, *model.ROLES)
_STANCE = {name: number for number, name in enumerate(STANCES)}
_MODE = {name: number << 2 for number, name in enumerate(MODES)}

STANCE_MASK = 0b11
MODE_SHIFT, MODE_MASK = 2, 0b111
FROM_SHIFT, UNTIL_SHIFT, END_MASK = 5, 7, 0b11
ABSENT, EXACT, BOUNDED = range(3)  # the form of an end; a BOUNDED one is in `Assertions.intervals`
CONTEXT = 1 << 9
ROLE_SHIFT, ROLE_MASK = 10, 0b11  # role of the one citation


class Hot(NamedTuple):
    """One packed record, unpacked in the order it is stored."""

    ended: int
    flags: int
    start: int
    until: int
    actor: int
    object: int
    proposition: int
    predicate: int

    @property
    def stance(self) -> str:
        """support, reject or uncertain."""
        return STANCES[self.flags & STANCE_MASK]

    @property
    def mode(self) -> str:
        """observed, stated, inferred, predicted, hypothetical or imported."""
        return MODES[self.flags >> MODE_SHIFT & MODE_MASK]


def flags_of(stance: str, mode: str) -> int:
    """The flag bits of a stance and a mode. Raises ConstraintViolation for a name the registries lack (§20.13)."""
    try:
        return _STANCE[stance] | _MODE[mode]
    except (KeyError, TypeError):
        pass
    known = STANCES if stance not in STANCES else MODES
    what, found = ("stance", stance) if known is STANCES else ("mode", mode)
    raise KipError("ConstraintViolation", f"{found!r} is no {what}", hint=f"one of {', '.join(known)}")


def _form(bound: Bound | None) -> int:
    if bound is None:
        return ABSENT
    return EXACT if bound.exact else BOUNDED


def interval_flags(valid: Interval) -> int:
    """The flag bits for the forms of both ends."""
    return _form(valid.start) << FROM_SHIFT | _form(valid.end) << UNTIL_SHIFT


def start_key(valid: Interval, asserted_at: int) -> int:
    """Exact `from`, else `from.latest`, else `asserted_at` (§25.4)."""
    latest = valid.start.latest if valid.start is not None else None
    return asserted_at if latest is None else latest


def last_instant(valid: Interval) -> int:
    """Exact `until`, else `until.latest`, else FOREVER."""
    latest = valid.end.latest if valid.end is not None else None
    return FOREVER if latest is None else latest
