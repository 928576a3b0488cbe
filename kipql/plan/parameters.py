"""Parameter binding: `:name` placeholders get values, as data and never as text (specification §74).

Every parameter that a statement uses must have a value before anything runs, also where no row would reach
it; an unused one is ignored. A datetime becomes a protocol timestamp, an element (a mapping) stays a mapping,
a string stays as written (a payload is kept byte for byte; a Literal is normalised where it becomes one).
Whether a value fits its position (a symbol, a limit, a reference) is the business of that position.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from kipql.errors import KipError
from kipql.lang import ast, walk
from kipql.lang.words import near
from kipql.limits import DEFAULT_LIMITS, Limits, exhausted
from kipql.times import format_instant, instant_of
from kipql.values import Json, check_key, check_number, check_text, json_type

_SCALARS = (bool, type(None))


def bind(
    statement: ast.Node, parameters: Mapping[str, object] | None, limits: Limits = DEFAULT_LIMITS
) -> dict[str, Json]:
    """The values of the parameters that `statement` uses, checked and canonical.

    Raises ReferenceError for a missing one, ConstraintViolation for an illegal number or string, TypeMismatch
    for what JSON can not say, ResourceExhausted for a value too large or too deep.
    """
    return bind_names(walk.parameters(statement), parameters, limits)


def bind_names(
    used: Iterable[ast.Param], parameters: Mapping[str, object] | None, limits: Limits = DEFAULT_LIMITS
) -> dict[str, Json]:
    """`bind` for parameters that are already collected."""
    given = {} if parameters is None else parameters
    if not isinstance(given, Mapping):
        raise KipError("TypeMismatch", f"parameters are a mapping of names to values, not {json_type(given)}")
    bound: dict[str, Json] = {}
    left = limits.parameters
    for param in used:
        if param.name not in given:
            raise _missing(param, given)
        try:
            bound[param.name], left = _checked(given[param.name], limits, limits.depth, left)
        except KipError as error:
            if error.span is None:
                error.span = param.span
            error.message = f"parameter :{param.name}: {error.message}"
            raise
    return bound


def _missing(param: ast.Param, given: Mapping[str, object]) -> KipError:
    close = near(param.name, [name for name in given if isinstance(name, str)])
    if close is not None:
        hint = f"the call passes {close!r}; is that the one?"
    else:
        hint = f"pass a value for {param.name!r}; names are written without the colon and are case-sensitive"
    return KipError(
        "ReferenceError",
        f"no value for parameter :{param.name}",
        span=param.span,
        hint=hint,
        details={"parameter": param.name},
    )


def _checked(value: object, limits: Limits, depth: int, left: int) -> tuple[Json, int]:
    """The canonical value, and how many bytes may still follow."""
    if isinstance(value, str):
        left = _afford(left - len(value), limits)
        return check_text(value), left
    if isinstance(value, _SCALARS):
        return value, left
    if isinstance(value, int | float):
        return check_number(value), left
    if isinstance(value, datetime):
        return format_instant(instant_of(value)), left
    if depth <= 0:
        exhausted("depth", limits.depth, "a parameter is nested too deeply")
    if isinstance(value, Mapping):
        return _mapping(value, limits, depth, left)
    if isinstance(value, list | tuple):
        items = []
        left = _afford(left - len(value), limits)
        for item in value:
            checked, left = _checked(item, limits, depth - 1, left)
            items.append(checked)
        return items, left
    hint = "pass a list" if isinstance(value, set | frozenset) else None
    raise KipError("TypeMismatch", f"{type(value).__name__} is not a JSON value", hint=hint)


def _mapping(value: Mapping[object, object], limits: Limits, depth: int, left: int) -> tuple[Json, int]:
    members: dict[str, Json] = {}
    for key, member in value.items():
        name = check_key(key)
        left = _afford(left - len(name), limits)
        members[name], left = _checked(member, limits, depth - 1, left)
    return members, left


def _afford(left: int, limits: Limits) -> int:
    if left < 0:
        exhausted("parameters", limits.parameters, "the parameters are too large")
    return left
