"""Which variables are certainly bound after an operator: what a reordering may rely on (specification §42.4).

A variable that only an OPTIONAL or one side of a UNION binds can be unbound in a solution; a filter that reads
it must stay where it was written.
"""

from kipql.plan import nodes, variables


def after(operator: nodes.Operator, certain: frozenset[str]) -> frozenset[str]:
    """The variables certainly bound after `operator`, given those before it."""
    match operator:
        case nodes.Keep() | nodes.Without() | nodes.Maybe():
            return certain
        case nodes.Either(left=left, right=right):
            branch = after_block(right, frozenset())
            if left is None:
                return certain | branch
            return certain | (after_block(left, certain) & branch)
        case _:
            return certain | frozenset(variables.bound(operator))


def after_block(block: nodes.Block, certain: frozenset[str]) -> frozenset[str]:
    """The same for a block."""
    for operator in block.operators:
        certain = after(operator, certain)
    return certain


def reads(expression: nodes.Expression) -> frozenset[str]:
    """The variables an expression reads."""
    match expression:
        case nodes.Load(name=name) | nodes.Member(name=name) | nodes.Retrieval(name=name):
            return frozenset((name,))
        case nodes.Const():
            return frozenset()
        case nodes.Opposite(operand=operand) | nodes.Minus(operand=operand):
            return reads(operand)
        case nodes.Comparison(left=left, right=right):
            return reads(left) | reads(right)
        case nodes.Apply(args=items) | nodes.Listing(items=items) | nodes.Record(items=items):
            return frozenset().union(*map(reads, items))
        case nodes.Every(items=items) | nodes.Any(items=items):
            return frozenset().union(*map(reads, items))
