"""How much an act does, counted: the same on a slow machine and on a busy one."""

import sys
from collections.abc import Callable


def calls(act: Callable[[], object]) -> int:
    """How many functions an act calls, Python's own included."""
    count = 0

    def seen(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count
