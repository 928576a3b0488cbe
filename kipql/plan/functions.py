"""The functions of KQL expressions, all of them, a line each (specification §44.2).

A function gets values (see `cells`) and answers a value; None as an answer is unknown. A text function that
meets something else than text decides nothing. The functions that ask what a thing *is* always answer.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kipql.errors import KipError
from kipql.limits import DEFAULT_LIMITS, Budget, exhausted
from kipql.model import KIND_NAMES, KIND_OF_NAME, kind_of
from kipql.plan.cells import NULL, Ref
from kipql.plan.logic import member
from kipql.strength import effective_strength
from kipql.values import json_type

AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX")
Answer = bool | str | float | None


@dataclass(frozen=True, slots=True)
class Function:
    """name    as canonical text spells it
    arity   how many arguments
    call    the function; with `budget` it also gets the Budget, first
    check   complains about a constant argument: (position, value) -> problem or None, or raises without a span
    exact   whether an argument that is a plain variable comes as NULL when it is bound to the Literal null
    """

    name: str
    arity: int
    call: Callable[..., Answer]
    check: Callable[[int, object], str | None] = lambda position, value: None
    budget: bool = False
    exact: bool = False


def _is_literal(value: object) -> bool:
    return value is NULL or json_type(value) in ("string", "number", "boolean")


def _is_kind(value: object, name: object) -> bool | None:
    return isinstance(value, Ref) and kind_of(value.code) == KIND_OF_NAME.get(kind_name(name), -1)


def _texts(test: Callable[[str, str], bool]) -> Callable[[object, object], bool | None]:
    def call(text: object, part: object) -> bool | None:
        return test(text, part) if isinstance(text, str) and isinstance(part, str) else None

    return call


def _literal_type(value: object) -> str | None:
    if value is NULL:
        return "null"
    return json_type(value) if _is_literal(value) else None


def _text_argument(position: int, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return None
    return f"argument {position + 1} must be a string, not {json_type(value)}"


def _regex_argument(position: int, value: object) -> str | None:
    """As text; a pattern must compile besides. Raises as `compiled_regex`."""
    if position == 1 and isinstance(value, str):
        compiled_regex(value, DEFAULT_LIMITS.regex_pattern)
    return _text_argument(position, value)


def _list_argument(position: int, value: object) -> str | None:
    if position == 0 or value is None or isinstance(value, list | tuple):
        return None
    return f"the second argument must be a list, not {json_type(value)}"


def _kind_argument(position: int, value: object) -> str | None:
    if position == 0 or kind_name(value) in KIND_OF_NAME:
        return None
    return f"{value!r} is no element kind; kinds are {', '.join(KIND_NAMES)}"


def kind_name(name: object) -> str:
    """`concept`, `CONCEPT` and `Concept` are one kind name."""
    return name.capitalize() if isinstance(name, str) and name.isascii() else ""


def regex_search(budget: Budget, text: object, pattern: object) -> bool | None:
    """Whether the pattern is found anywhere in the text, in Python's `regex` dialect, version 0 (docs/kql.md)."""
    if not isinstance(text, str) or not isinstance(pattern, str):
        return None
    limits = budget.limits
    compiled = compiled_regex(pattern, limits.regex_pattern)
    if len(text) > limits.regex_subject:
        exhausted("regex_subject", limits.regex_subject, f"REGEX meets a text of {len(text)} characters")
    return budget_search(budget, compiled, text)


def budget_search(budget: Budget, compiled: Any, text: str) -> bool:
    """One search, timed: per match and for the whole call."""
    from time import monotonic

    limits = budget.limits
    left = limits.regex_total - budget.regex_seconds
    began = monotonic()
    try:
        found = compiled.search(text, timeout=max(min(limits.regex_match, left), 1e-6)) is not None
    except TimeoutError:
        name, value = (
            ("regex_match", limits.regex_match) if left > limits.regex_match else ("regex_total", limits.regex_total)
        )
        exhausted(name, value, "REGEX takes too long")
    budget.regex_seconds += monotonic() - began
    return found


@lru_cache(maxsize=512)
def compiled_regex(pattern: str, longest: int) -> Any:
    """The compiled pattern. Raises InvalidSyntax for an invalid one, ResourceExhausted for a long one."""
    import regex

    if len(pattern) > longest:
        exhausted("regex_pattern", longest, f"the regular expression has {len(pattern)} characters")
    try:
        return regex.compile(pattern, regex.VERSION0)
    except (regex.error, OverflowError, RecursionError, ValueError, IndexError) as error:
        raise KipError(
            "InvalidSyntax",
            f"the regular expression is invalid: {error}",
            hint="REGEX(text, pattern) uses the dialect of Python's `regex` module",
        ) from None


def _strength(facet: object, reading: Any) -> float | None:
    """The computed strength of a MnemonicState at the read's instant (§59.1)."""
    return effective_strength(facet, reading.now) if isinstance(facet, Mapping) else None


STRENGTH = "effective_strength"
"""What the path of the computed member `effective_strength` becomes; no text can call it."""

FUNCTIONS = {
    function.name: function
    for function in (
        Function("IN", 2, member, _list_argument),
        Function("CONTAINS", 2, _texts(lambda text, part: part in text), _text_argument),
        Function("STARTS_WITH", 2, _texts(str.startswith), _text_argument),
        Function("ENDS_WITH", 2, _texts(str.endswith), _text_argument),
        Function("REGEX", 2, regex_search, _regex_argument, budget=True),
        Function("IS_NULL", 1, lambda value: value is None),
        Function("IS_NOT_NULL", 1, lambda value: value is not None),
        Function("IS_LITERAL", 1, _is_literal, exact=True),
        Function("IS_ELEMENT", 1, lambda value: isinstance(value, Ref)),
        Function("IS_KIND", 2, _is_kind, _kind_argument),
        Function("LITERAL_TYPE", 1, _literal_type, exact=True),
    )
}
_COMPUTED = {STRENGTH: Function(STRENGTH, 2, _strength)}


def registered(name: str) -> Function:
    """The function of a call in a plan: one that a text names, or one that computes a member."""
    return FUNCTIONS.get(name) or _COMPUTED[name]
