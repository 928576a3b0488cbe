"""References to results: what an item of a briefing, a receipt or a person may name.

A result ref pins what produced it: `P-3@17/2026-09-01T00:00:00.000Z` is the belief about a claim at sequence 17 and
that world time. It is an address and gives no access: reading it goes by the rights of now (§6).
"""

import re
from dataclasses import dataclass

_REF = re.compile(r"([CPAEX]-[1-9]\d{0,15})(?:@(\d{1,16})(?:/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z))?)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Target:
    """An element, and the state and world time that a result ref pins."""

    id: str
    seq: int | None = None
    valid_at: str | None = None


def target(ref: str) -> Target | None:
    """The element that a ref names, None where it is no such ref."""
    match = _REF.fullmatch(ref)
    if match is None:
        return None
    return Target(match[1], None if match[2] is None else int(match[2]), match[3])


def result_ref(identity: str, seq: int, valid_at: str | None = None) -> str:
    """The immutable ref of a result."""
    return f"{identity}@{seq}" + (f"/{valid_at}" if valid_at else "")
