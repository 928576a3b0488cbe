"""Walking blocks: apply a change of operator lists to a block and to every block inside it."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from kipql.plan import certain, nodes

Operators = tuple[nodes.Operator, ...]
Change = Callable[[Operators, frozenset[str]], Operators]


def conditions(block: nodes.Block) -> Iterator[nodes.Expression]:
    """What the filters of a block and of every block inside it test: a rule that finds none of its own has nothing to
    do."""
    for operator in block.operators:
        if isinstance(operator, nodes.Keep):
            yield operator.condition
        elif isinstance(operator, nodes.Without | nodes.Maybe):
            yield from conditions(operator.block)
        elif isinstance(operator, nodes.Either):
            if operator.left is not None:
                yield from conditions(operator.left)
            yield from conditions(operator.right)


def rewritten(block: nodes.Block, change: Change, before: frozenset[str] = frozenset()) -> nodes.Block:
    """The block with `change` applied to its operators, innermost blocks first.

    `change` gets the operators and the variables that are certainly bound when the block begins.
    """
    sure = before
    done: list[nodes.Operator] = []
    for operator in block.operators:
        done.append(_inside(operator, change, sure))
        sure = certain.after(operator, sure)
    return nodes.Block(change(tuple(done), before))


def _inside(operator: nodes.Operator, change: Change, sure: frozenset[str]) -> nodes.Operator:
    match operator:
        case nodes.Without(block=block) | nodes.Maybe(block=block):
            return replace(operator, block=rewritten(block, change, sure))
        case nodes.Either(left=left, right=right):
            kept = None if left is None else rewritten(left, change, sure)
            return replace(operator, left=kept, right=rewritten(right, change))
        case _:
            return operator


def segments(operators: Operators, before: frozenset[str]) -> list[list[nodes.Operator]]:
    """The operators cut where order matters: runs of patterns and movable filters, and single operators.

    A projection stays behind the patterns that its block has before it: it needs what they bind, and is dear.
    A filter is movable when all it reads is certainly bound where it stands: then it tests the same values at
    any later place, and at any earlier one where they are bound.
    """
    runs: list[list[nodes.Operator]] = []
    open_run = False
    sure = before
    for operator in operators:
        movable = not isinstance(operator, nodes.Without | nodes.Maybe | nodes.Either | nodes.Projected) and not (
            isinstance(operator, nodes.Keep) and not certain.reads(operator.condition) <= sure
        )
        if movable and open_run:
            runs[-1].append(operator)
        else:
            runs.append([operator])
        open_run = movable
        sure = certain.after(operator, sure)
    return runs
