"""The function calls of a plan whose constant arguments must be checked before any row (specification §44.2)."""

from collections.abc import Iterator

from kipql.plan import nodes


def calls_of(plan: nodes.Plan) -> tuple[nodes.Apply, ...]:
    """Every call with a constant argument, in WHERE, FIND and ORDER BY."""
    found = list(_in_block(plan.block))
    for item in plan.items:
        found += _in(item.operand if isinstance(item, nodes.Aggregate) else item)
    for sort in plan.order:
        if not isinstance(sort.key, int):
            found += _in(sort.key)
    return tuple(found)


def _in_block(block: nodes.Block) -> Iterator[nodes.Apply]:
    for operator in block.operators:
        match operator:
            case nodes.Keep(condition=condition):
                yield from _in(condition)
            case nodes.Without(block=inner) | nodes.Maybe(block=inner):
                yield from _in_block(inner)
            case nodes.Either(left=left, right=right):
                if left is not None:
                    yield from _in_block(left)
                yield from _in_block(right)
            case _:
                pass


def _in(expression: nodes.Expression) -> Iterator[nodes.Apply]:
    match expression:
        case nodes.Apply(args=args):
            if any(isinstance(argument, nodes.Const) for argument in args):
                yield expression
            for argument in args:
                yield from _in(argument)
        case nodes.Opposite(operand=operand) | nodes.Minus(operand=operand):
            yield from _in(operand)
        case nodes.Comparison(left=left, right=right):
            yield from _in(left)
            yield from _in(right)
        case nodes.Every(items=items) | nodes.Any(items=items) | nodes.Listing(items=items) | nodes.Record(items=items):
            for item in items:
                yield from _in(item)
        case _:
            return
