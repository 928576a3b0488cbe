"""What a search asks for, checked before anything is looked up (specification §66.1, §66.3).

The META statement and the Search Pattern share these rules, so that they answer alike.
"""

from dataclasses import dataclass
from typing import NoReturn

from kipql.errors import KipError
from kipql.model import ASSERTION, CONCEPT, KIND_NAMES, PROPOSITION
from kipql.spans import Span
from kipql.values import Json, json_type

MODES = ("keyword", "semantic", "hybrid")
DEFAULT_MODE = "keyword"
NO_LINEAGE = (1 << 20) - 1  # the number of a lineage that no element uses
TYPED = (CONCEPT,)
WITH_PREDICATE = (PROPOSITION, ASSERTION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One search. `type_lineage` and `predicate_lineage` are lineage numbers of the view it runs on."""

    kind: int
    term: str
    mode: str = DEFAULT_MODE
    threshold: float = 0.0
    type_lineage: int | None = None
    predicate_lineage: int | None = None


def check_modifiers(kind: int, type_span: Span | None, predicate_span: Span | None) -> None:
    """Refuse a modifier that means nothing for the kind (§66.1). Raises ConstraintViolation."""
    if type_span is not None and kind not in TYPED:
        _refuse("WITH TYPE", kind, "Concepts", type_span)
    if predicate_span is not None and kind not in WITH_PREDICATE:
        _refuse("WITH PREDICATE", kind, "Propositions and Assertions", predicate_span)


def term_of(value: Json, span: Span | None) -> str:
    """The text to search for. Raises TypeMismatch."""
    if isinstance(value, str):
        return value
    raise KipError("TypeMismatch", f"a search term is a string, not {json_type(value)}", span=span)


def mode_of(value: Json, span: Span | None) -> str:
    """The mode, the default when none is given. Raises SearchModeUnsupported for one that is none."""
    if value is None:
        return DEFAULT_MODE
    if value in MODES:
        return str(value)
    raise KipError(
        "SearchModeUnsupported", f"{value!r} is no search mode", span=span, hint=f"one of {', '.join(MODES)}"
    )


def threshold_of(value: Json, span: Span | None) -> float:
    """The least score, 0 when none is given. Raises TypeMismatch, ConstraintViolation outside [0, 1]."""
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise KipError("TypeMismatch", f"THRESHOLD is a number, not {json_type(value)}", span=span)
    if not 0 <= value <= 1:
        raise KipError("ConstraintViolation", f"THRESHOLD is {value}; it is from 0 to 1", span=span)
    return float(value)


def limit_of(value: Json, span: Span | None) -> int:
    """A LIMIT: a non-negative integer (§44.8). Raises TypeMismatch or ConstraintViolation."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise KipError("TypeMismatch", f"LIMIT is an integer, not {json_type(value)}", span=span)
    if value < 0:
        raise KipError("ConstraintViolation", f"LIMIT is {value}; it is 0 or more", span=span)
    return value


def _refuse(modifier: str, kind: int, meant: str, span: Span) -> NoReturn:
    raise KipError(
        "ConstraintViolation",
        f"{modifier} means nothing for {KIND_NAMES[kind]}",
        span=span,
        hint=f"{modifier} filters {meant}; leave it out, or search those",
    )
