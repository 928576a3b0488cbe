"""The clauses around WHERE: AS OF SEQ, FOR TIME, WITH EPISTEMIC, LIMIT and CURSOR (specification §44.8, §48, §49).

Each is checked when the statement runs, with its parameters bound, whether or not anything matches.
"""

from collections.abc import Mapping
from typing import NoReturn

from kipql.belief.output import LEVELS
from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.words import near
from kipql.times import parse_instant
from kipql.values import MAX_SAFE_INTEGER, Json, json_type

Parameters = Mapping[str, Json]

EPISTEMIC = {
    "purpose": "string",
    "risk": "string",
    "policy": "string",
    "context_refs": "array",
    "include_historical": "boolean",
    "include_hypothetical": "boolean",
    "explanation": "string",
}


def value_of(node: ast.Expression, parameters: Parameters) -> Json:
    """The value of a literal, a parameter, or an array or object of them."""
    match node:
        case ast.Literal(value=value):
            return value
        case ast.Param(name=name):
            return parameters[name]
        case ast.Array(items=items):
            return [value_of(item, parameters) for item in items]
        case ast.Object(members=members):
            return {member.name: value_of(member.value, parameters) for member in members}
        case _:
            raise KipError(
                "InvalidSyntax", "a constant stands here", span=node.span, hint="write a value or a parameter"
            )


def count(node: ast.Value, parameters: Parameters, what: str) -> int:
    """A non-negative safe integer. Raises TypeMismatch."""
    value = value_of(node, parameters)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_SAFE_INTEGER:
        return value
    found = repr(value) if json_type(value) == "number" else f"a {json_type(value)}"
    raise KipError("TypeMismatch", f"{what} is a non-negative integer, not {found}", span=node.span)


def world_time(find: ast.Find, parameters: Parameters) -> str | None:
    """The FOR TIME instant as a protocol timestamp. Raises TypeMismatch or ConstraintViolation."""
    if find.for_time is None:
        return None
    value = value_of(find.for_time, parameters)
    try:
        parse_instant(value, "FOR TIME")
    except KipError as error:
        error.span = find.for_time.span
        raise
    return str(value)


def cursor(find: ast.Find, parameters: Parameters) -> str | None:
    """The CURSOR token. Raises CursorInvalid for anything but a non-empty string."""
    if find.cursor is None:
        return None
    value = value_of(find.cursor, parameters)
    if isinstance(value, str) and value:
        return value
    raise KipError(
        "CursorInvalid",
        "a cursor is a non-empty string",
        span=find.cursor.span,
        hint="pass next_cursor of the previous page unchanged, or leave CURSOR out",
        details={"family": "kql", "reason": "malformed"},
    )


def check_epistemic(settings: ast.Object | None, parameters: Parameters) -> None:
    """WITH EPISTEMIC has known members of the right types; an unknown one is refused, never ignored (§49)."""
    if settings is None:
        return
    for member in settings.members:
        wanted = EPISTEMIC.get(member.name)
        if wanted is None:
            _unknown(member)
        value = value_of(member.value, parameters)
        if json_type(value) != wanted:
            raise KipError(
                "TypeMismatch", f"{member.name} is a {wanted}, not {json_type(value)}", span=member.value.span
            )
        if value == "":
            raise KipError("ConstraintViolation", f"{member.name} is a non-empty string", span=member.value.span)
        if member.name == "explanation" and value not in LEVELS:
            raise KipError(
                "ConstraintViolation",
                f"{value!r} is no explanation level",
                span=member.value.span,
                hint=f"one of {', '.join(LEVELS)}",
            )


def _unknown(member: ast.Member) -> NoReturn:
    close = near(member.name, EPISTEMIC)
    raise KipError(
        "UnsupportedCapability",
        f"WITH EPISTEMIC has no member {member.name!r}",
        span=member.span,
        hint=f"did you mean {close}?" if close else f"members are {', '.join(EPISTEMIC)}",
    )


def title(item: ast.Node) -> str:
    """The column name of a FIND item: as written, without the question mark."""
    match item:
        case ast.Var(name=name):
            return name
        case ast.Path(var=var, steps=steps):
            return var.name + "".join(
                f".{step}" if step.isidentifier() and step.isascii() else f'["{step}"]' for step in steps
            )
        case ast.Call(name=name, args=args, distinct=distinct):
            inner = ", ".join(map(title, args))
            return f"{name.upper()}({'DISTINCT ' if distinct else ''}{inner})"
        case ast.Literal(value=value):
            return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
        case ast.Param(name=name):
            return f":{name}"
        case _:
            return type(item).__name__.lower()
