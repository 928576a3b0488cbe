"""FILTER(a && b) is FILTER(a) FILTER(b): only true passes, and `&&` is true when both are (§44.2)."""

from dataclasses import replace

from kipql.plan import nodes
from kipql.plan.rules.blocks import Operators, rewritten


def split_conjunctions(plan: nodes.Plan) -> nodes.Plan:
    """One FILTER per operand of `&&`."""
    return replace(plan, block=rewritten(plan.block, _split))


def _split(operators: Operators, before: frozenset[str]) -> Operators:
    done: list[nodes.Operator] = []
    for operator in operators:
        if isinstance(operator, nodes.Keep) and isinstance(operator.condition, nodes.Every):
            done.extend(nodes.Keep(item) for item in operator.condition.items)
        else:
            done.append(operator)
    return tuple(done)
