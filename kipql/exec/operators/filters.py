"""FILTER: keeps a solution only when its condition is true (specification §44.2).

A condition of many terms is charged by their number, whether they stand in one FILTER or in many.
"""

from collections.abc import Iterator

from kipql.exec.context import Context
from kipql.exec.emit import TERMS, Emitter, Scope, Then
from kipql.exec.expressions import test_of
from kipql.exec.frames import Frame, Step
from kipql.exec.write_expressions import condition
from kipql.plan import nodes


def terms_of(expression: nodes.Expression) -> int:
    """How many values a condition may have to make."""
    count, waiting = 0, [expression]
    while waiting:
        one = waiting.pop()
        count += 1
        match one:
            case (
                nodes.Every(items=items)
                | nodes.Any(items=items)
                | nodes.Listing(items=items)
                | nodes.Record(items=items)
            ):
                waiting.extend(items)
            case nodes.Apply(args=items):
                waiting.extend(items)
            case nodes.Comparison(left=left, right=right):
                waiting += (left, right)
            case nodes.Opposite(operand=operand) | nodes.Minus(operand=operand):
                waiting.append(operand)
    return count


def step(operator: nodes.Keep, context: Context) -> Step:
    """The closure of a FILTER."""
    test, spend = test_of(operator.condition, context), context.budget.spend
    ticks = 1 + terms_of(operator.condition) // TERMS

    def run(frame: Frame) -> Iterator[None]:
        spend(ticks)
        if test(frame):
            yield

    return run


def emit(operator: nodes.Keep, code: Emitter, scope: Scope, then: Then) -> None:
    """The source of a FILTER."""
    code.owe(terms_of(operator.condition))
    with code.block(f"if {condition(operator.condition, code, scope)}:"):
        then(scope)
