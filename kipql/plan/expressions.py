"""Static checks of expressions: functions, aggregates, and where each may stand (specification §44.2, §44.6, §44.7)."""

from collections.abc import Iterator

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.words import near
from kipql.plan.functions import AGGREGATES, FUNCTIONS, Function
from kipql.spans import Span


def syntax(node: ast.Node, message: str, hint: str) -> KipError:
    """InvalidSyntax at a node."""
    return KipError("InvalidSyntax", message, span=node.span, hint=hint)


def is_aggregate(expression: ast.Node) -> bool:
    """Whether an expression is an aggregate call."""
    return isinstance(expression, ast.Call) and ascii_upper(expression.name) in AGGREGATES


def ascii_upper(name: str) -> str:
    """A name in upper case, in which functions are looked up; one that is not ASCII stays as it is, and is none."""
    return name.upper() if name.isascii() else name


def check_item(item: ast.Expression) -> None:
    """A FIND item: an expression, or one aggregate over an expression."""
    if isinstance(item, ast.Call) and is_aggregate(item):
        _check_aggregate(item)
    else:
        check_condition(item)


def check_condition(expression: ast.Node) -> None:
    """An expression without aggregates: known functions, right arity, legal constants."""
    for node in _nodes(expression):
        match node:
            case ast.Call():
                _check_call(node)
            case ast.Tuple() | ast.PropositionId():
                raise syntax(node, "a tuple is a pattern, not a value", "bind the Proposition to a variable first")
            case ast.Minus(operand=ast.Literal() as operand):
                raise KipError("TypeMismatch", "only a number has a negative", span=operand.span)
            case _:
                pass


def _check_call(call: ast.Call) -> None:
    name = ascii_upper(call.name)
    if name in AGGREGATES:
        raise syntax(call, f"the aggregate {name} can not stand here", "aggregates stand by themselves in FIND")
    function = FUNCTIONS.get(name)
    if function is None:
        close = near(name, [*FUNCTIONS, *AGGREGATES])
        hint = f"did you mean {close}?" if close else f"functions are {', '.join(FUNCTIONS)}"
        raise syntax(call, f"there is no function {call.name}", hint)
    if len(call.args) != function.arity:
        raise syntax(
            call,
            f"{name} takes {function.arity} argument{'s' * (function.arity > 1)}, not {len(call.args)}",
            f"write {name}({', '.join(('value', 'argument')[: function.arity])})",
        )
    for position, argument in enumerate(call.args):
        if isinstance(argument, ast.Literal):
            check_constant(function, position, argument.value, argument.span)


def check_constant(function: Function, position: int, value: object, where: Span) -> None:
    """What is wrong with a constant argument is wrong whether or not a row reaches the call (§44.2).

    Raises TypeMismatch, and what the function itself says of its constants, at `where`.
    """
    try:
        problem = function.check(position, value)
    except KipError as error:
        error.span = error.span or where
        raise
    if problem:
        raise KipError("TypeMismatch", f"{function.name}: {problem}", span=where)


def _check_aggregate(call: ast.Call) -> None:
    name = ascii_upper(call.name)
    if len(call.args) != 1:
        raise syntax(call, f"{name} takes one argument, not {len(call.args)}", f"write {name}(?x)")
    if call.distinct and name != "COUNT":
        raise syntax(call, f"DISTINCT belongs to COUNT, not to {name}", "leave DISTINCT out")
    for node in _nodes(call.args[0]):
        if is_aggregate(node):
            raise syntax(node, "an aggregate can not hold another aggregate", "aggregate the plain value")
    check_condition(call.args[0])


def check_order(find: ast.Find, elements: set[str]) -> None:
    """ORDER BY (§44.7): scalars; aggregates that FIND has; with aggregates, only what FIND groups by."""
    grouped = any(map(is_aggregate, find.items))
    for item in find.order_by:
        key = item.key
        if isinstance(key, ast.Call) and is_aggregate(key):
            _check_aggregate(key)
            if key not in find.items:
                raise syntax(key, "ORDER BY names an aggregate that FIND does not", "add it to FIND")
            continue
        check_condition(key)
        if isinstance(key, ast.Var) and key.name in elements:
            raise syntax(
                key, f"?{key.name} is a whole element, which has no order", f"sort by a field, such as ?{key.name}.id"
            )
        if isinstance(key, ast.Array | ast.Object):
            raise syntax(key, "arrays and objects have no order", "sort by a scalar")
        if grouped and key not in find.items:
            raise syntax(
                key,
                "with aggregates, ORDER BY takes aggregates and grouping expressions only: this varies inside a group",
                "add the expression to FIND, or leave it out of ORDER BY",
            )


def _nodes(expression: ast.Node) -> Iterator[ast.Node]:
    """The expression and everything in it."""
    stack = [expression]
    while stack:
        node = stack.pop()
        yield node
        match node:
            case ast.Array(items=items) | ast.And(items=items) | ast.Or(items=items):
                stack.extend(items)
            case ast.Object(members=members):
                stack.extend(member.value for member in members)
            case ast.Call(args=args):
                stack.extend(args)
            case ast.Negate(operand=operand) | ast.Minus(operand=operand):
                stack.append(operand)
            case ast.Compare(left=left, right=right):
                stack.extend((left, right))
            case _:
                pass
