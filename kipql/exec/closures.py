"""The closure engine: a plan as a chain of generator functions over one frame.

The first run of a shape uses it, since it needs no compilation, and it is the oracle of the generated engine:
each operator says here in the plainest way what it means.
"""

from collections.abc import Callable, Iterator
from typing import Any

from kipql.exec.context import Context
from kipql.exec.frames import Frame, Step
from kipql.exec.operators import (
    belief,
    elements,
    filters,
    negation,
    optional,
    paths,
    propositions,
    search,
    structural,
    union,
)
from kipql.plan import nodes

_STEPS: dict[type, Callable[..., Step]] = {
    nodes.Elements: elements.step,
    nodes.Triple: propositions.step,
    nodes.KnownProposition: propositions.known_step,
    nodes.Reach: paths.step,
    nodes.Edges: structural.step,
    nodes.Search: search.step,
    nodes.Belief: belief.step,
    nodes.TupleBelief: belief.step,
    nodes.SlotBelief: belief.step,
    nodes.Keep: filters.step,
}
_BLOCKS: dict[type, Callable[..., Step]] = {
    nodes.Without: negation.step,
    nodes.Maybe: optional.step,
    nodes.Either: union.step,
}


def solutions(context: Context) -> Iterator[tuple[Any, ...]]:
    """The cells of the visible variables in each solution, duplicates included."""
    frame: Frame = [None] * len(context.index)
    visible = [context.index.get(name) for name in context.plan.visible]
    for _ in block_step(context.plan.block, context)(frame):
        yield tuple(None if at is None else frame[at] for at in visible)


def block_step(block: nodes.Block, context: Context) -> Step:
    """The step of a whole block."""
    steps = [_operator_step(operator, context) for operator in block.operators]
    count = len(steps)

    def run(frame: Frame, at: int = 0) -> Iterator[None]:
        if at == count:
            yield
            return
        for _ in steps[at](frame):
            yield from run(frame, at + 1)

    return run


def _operator_step(operator: nodes.Operator, context: Context) -> Step:
    made = _STEPS.get(type(operator))
    if made is not None:
        step = made(operator, context)
    else:
        step = _BLOCKS[type(operator)](operator, context, lambda block: block_step(block, context))
    return step if context.counters is None else _counted(step, id(operator), context.counters)


def _counted(step: Step, key: int, counters: dict[int, list[int]]) -> Step:
    """The step, counting how often it starts and how many solutions it passes on."""
    count = counters.setdefault(key, [0, 0])

    def run(frame: Frame) -> Iterator[None]:
        count[0] += 1
        for _ in step(frame):
            count[1] += 1
            yield

    return run
