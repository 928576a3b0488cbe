"""Values, objects and expressions (§9, §44.1, §44.2, §59)."""

from __future__ import annotations

from typing import Any

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.builder.base import Marks, Values
from kipql.lang.builder.scalars import number, string
from kipql.spans import Span

# Chains of `==` nest to the left; a longer chain than this is no longer a comparison anyone wrote.
_LONGEST_CHAIN = 8


def _first(v: Values, s: int, e: int, marks: Marks) -> Any:
    return v[0]


def _second(v: Values, s: int, e: int, marks: Marks) -> Any:
    return v[1]


def _third(v: Values, s: int, e: int, marks: Marks) -> Any:
    return v[2]


def _fourth(v: Values, s: int, e: int, marks: Marks) -> Any:
    return v[3]


def _absent(v: Values, s: int, e: int, marks: Marks) -> None:
    return None


def _list_empty(v: Values, s: int, e: int, marks: Marks) -> list[Any]:
    return []


def _list_first(v: Values, s: int, e: int, marks: Marks) -> list[Any]:
    return v


def _list_next(v: Values, s: int, e: int, marks: Marks) -> list[Any]:
    v[0].append(v[1])
    return v[0]  # type: ignore[no-any-return]


def _list_more(v: Values, s: int, e: int, marks: Marks) -> list[Any]:
    v[0].append(v[2])
    return v[0]  # type: ignore[no-any-return]


def _list_pair(v: Values, s: int, e: int, marks: Marks) -> list[Any]:
    return [v[0], v[2]]


def _variable(v: Values, s: int, e: int, marks: Marks) -> ast.Var:
    return ast.Var(v[0][1:], span=Span(s, e))


def _parameter(v: Values, s: int, e: int, marks: Marks) -> ast.Param:
    return ast.Param(v[0][1:], span=Span(s, e))


def _string(v: Values, s: int, e: int, marks: Marks) -> ast.Literal:
    return ast.Literal(string(v[0], s), span=Span(s, e))


def _number(v: Values, s: int, e: int, marks: Marks) -> ast.Literal:
    return ast.Literal(number(v[0], s, e), span=Span(s, e))


def _true(v: Values, s: int, e: int, marks: Marks) -> ast.Literal:
    return ast.Literal(True, span=Span(s, e))


def _false(v: Values, s: int, e: int, marks: Marks) -> ast.Literal:
    return ast.Literal(False, span=Span(s, e))


def _null(v: Values, s: int, e: int, marks: Marks) -> ast.Literal:
    return ast.Literal(None, span=Span(s, e))


def _quoted(v: Values, s: int, e: int, marks: Marks) -> str:
    return string(v[0], s)


def _member(v: Values, s: int, e: int, marks: Marks) -> ast.Member:
    return ast.Member(v[0], v[2], span=Span(s, e))


def _object(v: Values, s: int, e: int, marks: Marks) -> ast.Object:
    members = v[1]
    if len(members) > 1 and len({member.name for member in members}) < len(members):
        raise _repeated_member(members)
    return ast.Object(tuple(members), span=Span(s, e))


def _repeated_member(members: list[ast.Member]) -> KipError:
    seen: set[str] = set()
    for member in members:
        if member.name in seen:
            break
        seen.add(member.name)
    return KipError(
        "InvalidSyntax",
        f"the member {member.name!r} is given twice in one object",
        span=member.span,
        hint="keep one of them",
    )


def _object_empty(v: Values, s: int, e: int, marks: Marks) -> ast.Object:
    return ast.Object((), span=Span(s, e))


def _array(v: Values, s: int, e: int, marks: Marks) -> ast.Array:
    return ast.Array(tuple(v[1]), span=Span(s, e))


def _array_empty(v: Values, s: int, e: int, marks: Marks) -> ast.Array:
    return ast.Array((), span=Span(s, e))


def _path_step(v: Values, s: int, e: int, marks: Marks) -> list[Any]:
    head = v[0]
    if type(head) is list:
        head.append(v[2])
        return head
    return [head, v[2]]


def _data_path(v: Values, s: int, e: int, marks: Marks) -> ast.Var | ast.Path:
    head = v[0]
    if type(head) is list:
        return ast.Path(head[0], tuple(head[1:]), span=Span(s, e))
    return head  # type: ignore[no-any-return]


def _call(v: Values, s: int, e: int, marks: Marks) -> ast.Call:
    return ast.Call(v[0], tuple(v[2]), span=Span(s, e))


def _call_empty(v: Values, s: int, e: int, marks: Marks) -> ast.Call:
    return ast.Call(v[0], (), span=Span(s, e))


def _call_distinct(v: Values, s: int, e: int, marks: Marks) -> ast.Call:
    if v[0].upper() not in ("COUNT", "SUM", "AVG", "MIN", "MAX"):
        raise KipError(
            "InvalidSyntax",
            f"DISTINCT belongs in an aggregate, and {v[0]} is none",
            span=Span(s, e),
            hint="the aggregates are COUNT, SUM, AVG, MIN and MAX",
        )
    return ast.Call(v[0], (v[3],), True, span=Span(s, e))


def _negate(v: Values, s: int, e: int, marks: Marks) -> ast.Negate:
    return ast.Negate(v[1], span=Span(s, e))


def _minus(v: Values, s: int, e: int, marks: Marks) -> ast.Minus | ast.Literal:
    operand = v[1]
    if type(operand) is ast.Literal:
        value = operand.value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return ast.Literal(-value, span=Span(s, e))
    return ast.Minus(operand, span=Span(s, e))


def _compare(v: Values, s: int, e: int, marks: Marks) -> ast.Compare:
    chain, left = 0, v[0]
    while type(left) is ast.Compare and chain < _LONGEST_CHAIN:
        chain, left = chain + 1, left.left
    if chain == _LONGEST_CHAIN:
        raise KipError(
            "ResourceExhausted",
            f"more than {_LONGEST_CHAIN} comparisons in one chain",
            span=Span(s, e),
            hint="join comparisons with && or ||",
        )
    return ast.Compare(v[1], v[0], v[2], span=Span(s, e))


def _flat(kind: type[ast.And] | type[ast.Or], items: list[Any]) -> tuple[Any, ...]:
    """The items, with those of a parenthesised operand of the same operator among them."""
    if not any(type(item) is kind for item in items):
        return tuple(items)
    flat: list[Any] = []
    for item in items:
        flat.extend(item.items if type(item) is kind else (item,))
    return tuple(flat)


def _and(v: Values, s: int, e: int, marks: Marks) -> ast.And:
    return ast.And(_flat(ast.And, v[0]), span=Span(s, e))


def _or(v: Values, s: int, e: int, marks: Marks) -> ast.Or:
    return ast.Or(_flat(ast.Or, v[0]), span=Span(s, e))


BUILDERS = {
    "first": _first,
    "second": _second,
    "third": _third,
    "fourth": _fourth,
    "absent": _absent,
    "absent_semicolon": _absent,
    "list_empty": _list_empty,
    "list_first": _list_first,
    "list_next": _list_next,
    "list_more": _list_more,
    "list_pair": _list_pair,
    "variable": _variable,
    "parameter": _parameter,
    "string": _string,
    "number": _number,
    "true": _true,
    "false": _false,
    "null": _null,
    "quoted": _quoted,
    "member": _member,
    "object": _object,
    "object_empty": _object_empty,
    "array": _array,
    "array_empty": _array_empty,
    "path_step": _path_step,
    "data_path": _data_path,
    "call": _call,
    "call_empty": _call_empty,
    "call_distinct": _call_distinct,
    "parenthesised": _second,
    "negate": _negate,
    "minus": _minus,
    "compare": _compare,
    "and_": _and,
    "or_": _or,
    "start": _first,
}
