"""What a mutation runs with and what it answers.

One WriteContext belongs to one Transaction, however many statements that holds: it knows the budget, the one
transaction time (§32.3) and every element the statements touched, which `finish` validates in its final state.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.limits import Budget
from kipql.spans import NOWHERE, Span
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.mutate.draft import Draft
    from kipql.store import View


@dataclass(slots=True)
class WriteContext:
    """Facts of one Transaction that its statements share.

    budget      charged by every WHERE and for every planned write
    principal   the authenticated identity that writes (§2.5)
    statements  how many ran so far
    touched     code -> what the plan said about it, or where; `finish` validates these and nothing else
    guarded     code -> the planes that EXPECT VERSION guarded: "" is the whole element, a Facet is its lineage
    seen        what of a view the writer may see (§30.4); None when that is all of it
    hidden      refusals because of what the writer may not see: they hold once its permissions are known
    """

    budget: Budget = field(default_factory=Budget)
    principal: str = "kip:owner"
    statements: int = 0
    touched: "dict[int, Draft | Span]" = field(default_factory=dict)
    guarded: dict[int, set[str]] = field(default_factory=dict)
    seen: "Callable[[View], View] | None" = None
    hidden: list[KipError] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one statement did: its handles with the ids they stand for, and the wire result (null for a write)."""

    handles: Mapping[str, str] = field(default_factory=dict)
    result: Json = None


def placed(error: KipError, span: Span) -> KipError:
    """The error with a position, if it had none and there is a text."""
    if error.span is None and span != NOWHERE:
        error.span = span
    return error


def unplaced(error: KipError) -> KipError:
    """The error of something that has no text: a position at nowhere is none."""
    if error.span == NOWHERE:
        error.span = None
    return error
