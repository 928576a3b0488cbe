"""Frames of the closure engine: one list of cells per run, extended and taken back (specification §42.4).

A step is a generator function over the frame: it yields once per match, with the frame extended by what the
match binds, and leaves the frame as it was. A bound variable constrains and is never overwritten.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from kipql.exec.terms import term_of
from kipql.plan.cells import Cell

if TYPE_CHECKING:
    from kipql.exec.context import Context

Frame = list[Any]
Step = Callable[[Frame], Iterator[None]]
Build = Callable[[Any], Step]


def extended(context: "Context", frame: Frame, bindings: Iterable[tuple[int, Cell]]) -> list[int] | None:
    """Bind cells, or check them where the variable is bound; the slots that were free, None on a mismatch."""
    added: list[int] = []
    for at, cell in bindings:
        held = frame[at]
        if held is None:
            frame[at] = cell
            added.append(at)
        elif held is not cell and not context.same(at, held, cell):
            taken_back(frame, added)
            return None
    return added


def taken_back(frame: Frame, added: Iterable[int]) -> None:
    """Unbind what `extended` bound."""
    for at in added:
        frame[at] = None


def known_term(context: "Context", frame: Frame, at: int) -> tuple[bool, int | None]:
    """Whether a variable is bound, and the term it is bound to (None when no stored term can match it)."""
    cell = frame[at]
    return (False, None) if cell is None else (True, term_of(context.view, cell))
