"""The functions of KQL expressions, all of them, a line each (specification §44.2).

A function gets values (see `cells`) and answers a value; None as an answer is unknown. A text function that
meets something else than text decides nothing. The functions that ask what a thing *is* always answer.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kipql.limits import DEFAULT_LIMITS, Budget
from kipql.model import KIND_NAMES, KIND_OF_NAME, kind_of
from kipql.plan.cells import NULL, Ref
from kipql.plan.logic import member
from kipql.plan.matching import compiled_regex, regex_search
from kipql.strength import effective_strength
from kipql.values import json_type

AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX")
LONG = 1_024  # characters of a text that are searched for a tick
MANY = 16  # items of a list that are compared for a tick
Answer = Any  # of a function that a text names: a boolean, a text, a number or None


@dataclass(frozen=True, slots=True)
class Function:
    """name    as canonical text spells it
    arity   how many arguments
    call    the function; with `budget` it also gets the Budget, first, and with `spends` only `Budget.spend`
    check   complains about a constant argument: (position, value) -> problem or None, or raises without a span
    exact   whether an argument that is a plain variable comes as NULL when it is bound to the Literal null
    """

    name: str
    arity: int
    call: Callable[..., Answer]
    check: Callable[[int, object], str | None] = lambda position, value: None
    budget: bool = False
    spends: bool = False
    exact: bool = False


def _is_literal(value: object) -> bool:
    return value is NULL or json_type(value) in ("string", "number", "boolean")


def _is_kind(value: object, name: object) -> bool | None:
    return isinstance(value, Ref) and kind_of(value.code) == KIND_OF_NAME.get(kind_name(name), -1)


def _texts(test: Callable[[str, str], bool]) -> Callable[[object, object], bool | None]:
    def call(text: object, part: object) -> bool | None:
        return test(text, part) if isinstance(text, str) and isinstance(part, str) else None

    return call


def _contains(spend: Callable[[int], None], text: object, part: object) -> bool | None:
    if not isinstance(text, str) or not isinstance(part, str):
        return None
    if len(text) >= LONG:
        spend(len(text) // LONG)
    return part in text


def _in(spend: Callable[[int], None], value: object, candidates: object) -> bool | None:
    if isinstance(candidates, list | tuple) and len(candidates) >= MANY:
        spend(len(candidates) // MANY)
    return member(value, candidates)


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
        compiled_regex(value, DEFAULT_LIMITS.regex_pattern, DEFAULT_LIMITS.regex_size)
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


def _strength(facet: object, reading: Any) -> float | None:
    """The computed strength of a MnemonicState at the read's instant (§59.1)."""
    return effective_strength(facet, reading.now) if isinstance(facet, Mapping) else None


def _validity(steps: tuple[str, ...]) -> Callable[..., Any]:
    """The computed `_system.dependency_validity` of an element, or a member of it (§57.6)."""

    def call(budget: Budget, element: object, reading: Any) -> Any:
        if not isinstance(element, Ref):
            return None
        value = reading.dependency_validity(element.code, budget)
        for step in steps:
            value = value.get(step) if isinstance(value, Mapping) else None
        return value

    return call


STRENGTH = "effective_strength"
"""What the path of the computed member `effective_strength` becomes; no text can call it."""
VALIDITY = "dependency_validity"
"""The same of `_system.dependency_validity`; the steps below it follow, each after a dot."""

COMPUTED = frozenset((STRENGTH, VALIDITY))
"""The members that are computed when they are read."""

FUNCTIONS = {
    function.name: function
    for function in (
        Function("IN", 2, _in, _list_argument, spends=True),
        Function("CONTAINS", 2, _contains, _text_argument, spends=True),
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
    return FUNCTIONS.get(name) or _COMPUTED.get(name) or _validity_member(name)


@lru_cache(maxsize=64)
def _validity_member(name: str) -> Function:
    first, *steps = name.split(".")
    assert first == VALIDITY
    return Function(name, 2, _validity(tuple(steps)), budget=True)
