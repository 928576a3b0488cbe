"""How long the postings are that a plan could start from, asked when it runs (architecture §4.3)."""

from kipql.exec.context import Context
from kipql.exec.operators import elements, propositions
from kipql.plan import nodes


def estimate(operator: nodes.Operator, context: Context) -> int:
    """How many candidates an entry of a join (`plan.cost.entries`) has at this snapshot, with these constants."""
    if isinstance(operator, nodes.Elements):
        return elements.estimate(operator, context)
    assert isinstance(operator, nodes.Triple)
    return propositions.estimate(operator, context)
