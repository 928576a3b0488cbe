"""Update expressions: ADD, MUL, CLAMP and COALESCE over the target's own state (§59).

Every operand reads the state from before the statement. A missing, null or non-numeric operand makes a numeric
expression null, and the key it was meant for is skipped: `evaluate` answers None then. Arithmetic that leaves the
portable numbers (§9.3) fails the transaction.
"""

from collections.abc import Callable
from typing import TypeAlias

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.words import near
from kipql.values import Json, canonical_number, number_problem

Read: TypeAlias = Callable[[ast.Path], Json]
Bound: TypeAlias = Callable[[str], Json]
Number: TypeAlias = int | float

ARITY = {"ADD": 2, "MUL": 2, "CLAMP": 3, "COALESCE": 2}


def evaluate(call: ast.Call, read: Read, parameter: Bound) -> Number | None:
    """The number that `call` makes for one target, None when the key is to be skipped.

    Raises InvalidSyntax for an unknown function, a wrong number of arguments or an operand that is no number,
    parameter, expression or path; ConstraintViolation for a result that is no portable number.
    """
    return _number(_apply(call, read, parameter))


def _apply(call: ast.Call, read: Read, parameter: Bound) -> Json:
    name = call.name.upper()
    arity = ARITY.get(name)
    if arity is None:
        known = near(name, ARITY) or ", ".join(ARITY)
        raise KipError("InvalidSyntax", f"{call.name} is no update expression", span=call.span, hint=f"use {known}")
    if len(call.args) != arity or call.distinct:
        found = f"{name} takes {arity} arguments, not {len(call.args)}"
        raise KipError("InvalidSyntax", found, span=call.span)
    operands = [_operand(argument, read, parameter) for argument in call.args]
    if name == "COALESCE":
        return operands[1] if operands[0] is None else operands[0]
    numbers = [_number(operand) for operand in operands]
    given = [number for number in numbers if number is not None]
    if len(given) < len(numbers):
        return None
    return _portable(_compute(name, given, call), call, zero=0 in given)


def _compute(name: str, numbers: list[Number], call: ast.Call) -> Number:
    if name == "CLAMP":
        value, low, high = numbers
        if low > high:
            raise KipError("ConstraintViolation", f"CLAMP's bounds are reversed: {low} > {high}", span=call.span)
        return min(max(value, low), high)
    left, right = numbers
    try:
        return left + right if name == "ADD" else left * right
    except OverflowError:
        raise KipError("ConstraintViolation", f"{name} leaves the portable numbers", span=call.span) from None


def _portable(result: Number, call: ast.Call, zero: bool) -> Number:
    name = call.name.upper()
    if problem := number_problem(result):
        raise KipError("ConstraintViolation", f"{name} gives {result}: {problem}", span=call.span)
    if name == "MUL" and result == 0 and not zero:
        raise KipError("ConstraintViolation", "MUL underflows to zero", span=call.span)
    return canonical_number(result)


def _operand(node: ast.Expression, read: Read, parameter: Bound) -> Json:
    match node:
        case ast.Literal(value=value):
            return value
        case ast.Param(name=name):
            return parameter(name)
        case ast.Call():
            return _apply(node, read, parameter)
        case ast.Path():
            return read(node)
        case ast.Minus(operand=inner):
            number = _number(_operand(inner, read, parameter))
            return None if number is None else canonical_number(-number)
        case _:
            raise KipError(
                "InvalidSyntax",
                "an update expression takes numbers, parameters, expressions and paths on its target",
                span=node.span,
            )


def _number(value: Json) -> Number | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
