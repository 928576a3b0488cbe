"""The accepted value of a slot from its claims, for engines that can not say the succession themselves."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

from kipql.times import FOREVER

Value = TypeVar("Value", bound=Hashable)


def accepted(begun: Sequence[tuple[Value, Hashable, int, int]], at: int) -> list[Value]:
    """The one value that stands at an instant, else none; claims begun by then are (value, actor, start, until).

    A claim without an end of its own yields to a later one of its actor for another value.
    """
    values = {
        value
        for value, actor, start, until in begun
        if until > at
        and (
            until < FOREVER
            or not any(who == actor and later > start and other != value for other, who, later, _ in begun)
        )
    }
    return list(values) if len(values) == 1 else []
