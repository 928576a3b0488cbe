"""The levels of the Memory Interface, and which a binding may claim (§2)."""

from collections.abc import Sequence

import kipql
from kipql.memory.interface.wire import LEVELS

_DEPENDS = {"memory_basic": (), "memory_experience": ("memory_basic",), "memory_learning": ("memory_experience",)}


def check_levels(levels: Sequence[str]) -> None:
    """Raise for levels that can not be served: ConstraintViolation for a set that is none, UnsupportedCapability."""
    for level in levels:
        if level not in _DEPENDS:
            raise kipql.KipError("ConstraintViolation", f"{level!r} is no level", hint=", ".join(_DEPENDS))
        missing = [each for each in _DEPENDS[level] if each not in levels]
        if missing:
            raise kipql.KipError("ConstraintViolation", f"{level} needs {missing[0]}", hint="name it too")
    above = [each for each in levels if each not in LEVELS]
    if above or "memory_basic" not in levels:
        raise kipql.KipError("UnsupportedCapability", f"this binding serves {', '.join(LEVELS)} and nothing else")
