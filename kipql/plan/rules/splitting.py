"""FILTER(a && b) is FILTER(a) FILTER(b): only true passes, and `&&` is true when both are (§44.2).

The other rules look at every FILTER beside every pattern, so a block is split into so many at most; the operands
that follow stay together.
"""

from dataclasses import replace

from kipql.plan import nodes
from kipql.plan.rules.blocks import Operators, conditions, rewritten

MOST = 64


def split_conjunctions(plan: nodes.Plan) -> nodes.Plan:
    """One FILTER per operand of `&&`."""
    if not any(isinstance(one, nodes.Every) for one in conditions(plan.block)):
        return plan
    return replace(plan, block=rewritten(plan.block, _split))


def _split(operators: Operators, before: frozenset[str]) -> Operators:
    done: list[nodes.Operator] = []
    left = MOST
    for operator in operators:
        if isinstance(operator, nodes.Keep) and isinstance(operator.condition, nodes.Every):
            items = operator.condition.items
            alone, together = (items, ()) if len(items) <= left else (items[:left], items[left:])
            done.extend(nodes.Keep(item) for item in alone)
            if together:
                done.append(nodes.Keep(nodes.Every(together)))
            left -= len(alone)
        else:
            done.append(operator)
    return tuple(done)
