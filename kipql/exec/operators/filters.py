"""FILTER: keeps a solution only when its condition is true (specification §44.2)."""

from collections.abc import Iterator

from kipql.exec.context import Context
from kipql.exec.emit import Emitter, Scope, Then
from kipql.exec.expressions import test_of
from kipql.exec.frames import Frame, Step
from kipql.exec.write_expressions import condition
from kipql.plan import nodes


def step(operator: nodes.Keep, context: Context) -> Step:
    """The closure of a FILTER."""
    test = test_of(operator.condition, context)

    def run(frame: Frame) -> Iterator[None]:
        if test(frame):
            yield

    return run


def emit(operator: nodes.Keep, code: Emitter, scope: Scope, then: Then) -> None:
    """The source of a FILTER."""
    with code.block(f"if {condition(operator.condition, code, scope)}:"):
        then(scope)
