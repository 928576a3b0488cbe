"""Values that stay the same from state to state, kept once: a run begins where the value is another one."""

from collections.abc import Iterable
from typing import Any

Run = list[Any]


def runs(values: Iterable[Any]) -> list[Run]:
    """`[state, value]` for each change, in order; None is nothing there.

    >>> runs([None, "a", "a", "b"])
    [[1, 'a'], [3, 'b']]
    """
    made: list[Run] = []
    before: Any = None
    for state, value in enumerate(values):
        if value != before:
            made.append([state, value])
            before = value
    return made
