"""`budget:` of a check: what it may cost, as limits by name (`seconds 2, ticks 1000000`).

A budget narrows what the run allows and widens nothing; a check that does not fit could not run (docs/limits.md).
"""

import re
from dataclasses import fields

from kipql.errors import KipError
from kipql.lang.words import near
from kipql.limits import SECONDS, Limits

_ENTRY = re.compile(r"([a-z_]+)\s+(\d+(?:\.\d+)?)", re.ASCII)


def parse_budget(text: str) -> tuple[tuple[str, float], ...]:
    """Pairs of limit and value. Raises InvalidSyntax."""
    return tuple(_entry(part.strip()) for part in text.split(","))


def limits_of(base: Limits, budget: tuple[tuple[str, float], ...], timeout: float | None) -> Limits:
    """The limits of one call: those of the memory, narrowed by the run's timeout and the check's budget."""
    narrow: dict[str, float] = {}
    for name, value in (*budget, *((("seconds", timeout),) if timeout is not None else ())):
        narrow[name] = min(value, narrow.get(name, value), getattr(base, name))
    if not narrow:
        return base
    whole = {name: getattr(base, name) for name in _names()}
    return Limits(**{**whole, **{name: value if name in SECONDS else int(value) for name, value in narrow.items()}})


def _entry(text: str) -> tuple[str, float]:
    match = _ENTRY.fullmatch(text)
    if match is None:
        raise KipError("InvalidSyntax", f"budget: does not understand {text!r}", hint="write seconds 2, ticks 1000000")
    name, value = match.groups()
    if name not in _names():
        close = near(name, _names())
        hint = f"did you mean {close}?" if close else f"limits are {', '.join(_names())}"
        raise KipError("InvalidSyntax", f"there is no limit {name!r}", hint=hint)
    if "." in value and name not in SECONDS:
        raise KipError("InvalidSyntax", f"the limit {name} is a whole number, not {value}")
    return name, float(value)


def _names() -> tuple[str, ...]:
    return tuple(field.name for field in fields(Limits))
