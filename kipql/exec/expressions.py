"""Expressions as closures over a frame: the reference evaluation (specification §44.1, §44.2).

A frame is the list of cells of one solution. `value_of` gives a function to a value (None is null or unknown),
`test_of` one that says whether a condition is true. Evaluation goes left to right and stops when the outcome
is decided.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.exec import fields
from kipql.exec.terms import cell_value, literal_json, symbol_value
from kipql.plan import nodes
from kipql.plan.cells import NULL, Cell, EdgeBinding, Symbol, holds_symbol
from kipql.plan.expressions import check_constant
from kipql.plan.functions import registered
from kipql.plan.logic import equal, negated, ordered, unequal
from kipql.values import canonical_number, json_type, number_problem

if TYPE_CHECKING:
    from kipql.exec.context import Context

Frame = list[Any]
Evaluate = Callable[[Frame], object]
Test = Callable[[Frame], bool]


def test_of(expression: nodes.Expression, context: "Context") -> Test:
    """Whether a condition is true; false and unknown are both no."""
    match expression:
        case nodes.Every(items=items):
            tests = [test_of(item, context) for item in items]
            return lambda frame: all(test(frame) for test in tests)
        case nodes.Any(items=items):
            tests = [test_of(item, context) for item in items]
            return lambda frame: any(test(frame) for test in tests)
        case _:
            value = value_of(expression, context)
            return lambda frame: value(frame) is True


def value_of(expression: nodes.Expression, context: "Context") -> Evaluate:
    """The value of an expression."""
    match expression:
        case nodes.Load(name=name):
            return _load(name, context)
        case nodes.Member(name=name, steps=steps):
            return _member(name, steps, context)
        case nodes.Retrieval():
            return _retrieval(expression, context)
        case nodes.Const(slot=slot):
            constant = context.values[slot.index]
            return lambda frame: constant
        case nodes.Listing(items=items):
            values = [value_of(item, context) for item in items]
            return lambda frame: [value(frame) for value in values]
        case nodes.Record(names=names, items=items):
            values = [value_of(item, context) for item in items]
            return lambda frame: {name: value(frame) for name, value in zip(names, values, strict=True)}
        case nodes.Apply():
            return _apply(expression, context)
        case nodes.Opposite(operand=operand):
            inner = value_of(operand, context)
            return lambda frame: negated(inner(frame))
        case nodes.Minus(operand=operand):
            inner = value_of(operand, context)
            return lambda frame: negative(inner(frame))
        case nodes.Comparison(op=op, left=left, right=right):
            return _compare(op, value_of(left, context), value_of(right, context))
        case nodes.Every(items=items):
            return _connect([value_of(item, context) for item in items], decisive=False)
        case nodes.Any(items=items):
            return _connect([value_of(item, context) for item in items], decisive=True)


def _load(name: str, context: "Context") -> Evaluate:
    at, view = context.index[name], context.view
    if context.shapes[name] == "symbol":
        return lambda frame: None if frame[at] is None else symbol_value(view, view.symbol_ref(frame[at]))
    return lambda frame: cell_value(view, frame[at])


def _member(name: str, steps: tuple[str, ...], context: "Context") -> Evaluate:
    at, view = context.index[name], context.view
    if context.shapes[name] == "symbol":
        return lambda frame: None
    if holds_symbol(steps):
        return lambda frame: symbol_or_null(view, fields.member(view, frame[at], steps))
    return lambda frame: fields.member(view, frame[at], steps)


def _retrieval(expression: nodes.Retrieval, context: "Context") -> Evaluate:
    from kipql.exec.operators.search import retrieval, searched

    view, values, budget = context.view, context.values, context.budget
    found = [searched(pattern, view, values, budget) for pattern in expression.patterns]
    at, steps = context.index[expression.name], expression.steps
    return lambda frame: retrieval(found, frame[at], steps)


def symbol_or_null(view: Any, ref: object) -> object:
    """A field that holds an exact ref, as a symbol; what is none stays what it is."""
    if not isinstance(ref, str) or not ref.startswith("kip://"):
        return ref
    lineage = view.environment.known_lineage(ref)
    return ref if lineage is None else Symbol(ref, lineage)


def _apply(call: nodes.Apply, context: "Context") -> Evaluate:
    function = registered(call.function)
    check_constants(call, context.values)
    args = [_argument(argument, function.exact, context) for argument in call.args]
    apply: Callable[..., object] = function.call
    if function.budget:
        budget = context.budget
        return lambda frame: placed(call, apply, budget, *(edge_json(argument(frame)) for argument in args))
    if function.spends:
        spend = context.budget.spend
        return lambda frame: apply(spend, *(edge_json(argument(frame)) for argument in args))
    return lambda frame: apply(*(edge_json(argument(frame)) for argument in args))


def placed(call: nodes.Apply, apply: Callable[..., object], *args: object) -> object:
    """Call a function; its error stands at the call."""
    try:
        return apply(*args)
    except KipError as error:
        error.span = error.span or call.where
        raise


def check_constants(call: nodes.Apply, values: tuple[Any, ...]) -> None:
    """What is wrong with a constant argument is wrong before any row reaches the call (§44.2)."""
    function = registered(call.function)
    for position, argument in enumerate(call.args):
        if not isinstance(argument, nodes.Const):
            continue
        check_constant(function, position, values[argument.slot.index], argument.slot.where)


def _argument(argument: nodes.Expression, exact: bool, context: "Context") -> Evaluate:
    if exact and isinstance(argument, nodes.Load) and context.shapes[argument.name] != "symbol":
        at, view = context.index[argument.name], context.view
        return lambda frame: exact_value(view, frame[at])
    return value_of(argument, context)


def exact_value(view: Any, cell: Cell) -> object:
    """The value of a cell, with NULL for a bound null."""
    if cell is None:
        return None
    if cell.__class__ is int and cell < 0:
        value = literal_json(view, cell)
        return NULL if value is None else value
    value = cell_value(view, cell)
    return NULL if value is None else value


def edge_json(value: object) -> object:
    """What a function sees of an edge: its object. A belief stays what it is: no function looks inside."""
    return value.json() if isinstance(value, EdgeBinding) else value


def negative(value: object) -> object:
    """`-x` of a number; null for everything else."""
    return -value if json_type(value) == "number" else None  # type: ignore[operator]


def _compare(op: str, left: Evaluate, right: Evaluate) -> Evaluate:
    if op == "==":
        return lambda frame: equal(left(frame), right(frame))
    if op == "!=":
        return lambda frame: unequal(left(frame), right(frame))
    return lambda frame: ordered(op, left(frame), right(frame))


def _connect(values: list[Evaluate], *, decisive: bool) -> Evaluate:
    return lambda frame: connected((value(frame) for value in values), decisive)


def connected(values: Any, decisive: bool) -> bool | None:
    """`&&` (decisive False) and `||` (decisive True) of values that are made one after the other."""
    unknown = False
    for value in values:
        if value is decisive:
            return bool(decisive)
        unknown = unknown or value is not (not decisive)
    return None if unknown else not decisive


def portable(value: int | float, where: Any) -> int | float:
    """A numeric result, if it is a portable number (§9.3)."""
    if problem := number_problem(value):
        raise KipError("ConstraintViolation", f"the result {value} is not portable: {problem}", span=where)
    return canonical_number(value)
