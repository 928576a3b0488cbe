"""FILTER(?x.field == constant) beside the pattern of ?x becomes a test of the pattern, which may have a posting.

The pattern then tests exactly what the filter did (`scalar`): null and unlike types decide nothing.
"""

from dataclasses import replace

from kipql.plan import nodes
from kipql.plan.cells import holds_symbol
from kipql.plan.rules.blocks import Operators, conditions, rewritten, segments


def equalities_into_patterns(plan: nodes.Plan) -> nodes.Plan:
    """Move such filters into their patterns, within one run of patterns."""
    if not any(isinstance(one, nodes.Comparison) and one.op == "==" for one in conditions(plan.block)):
        return plan
    return replace(plan, block=rewritten(plan.block, _moved))


def _moved(operators: Operators, before: frozenset[str]) -> Operators:
    return tuple(operator for run in segments(operators, before) for operator in _in_run(run))


def _in_run(run: list[nodes.Operator]) -> list[nodes.Operator]:
    places = {operator.variable: at for at, operator in enumerate(run) if isinstance(operator, nodes.Elements)}
    done: list[nodes.Operator | None] = list(run)
    for at, operator in enumerate(run):
        found = _equality(operator)
        if found is None:
            continue
        member, slot = found
        place = places.get(member.name)
        if place is None:
            continue
        pattern = done[place]
        assert isinstance(pattern, nodes.Elements)
        done[place] = replace(pattern, tests=(*pattern.tests, nodes.Equals(member.steps, slot, scalar=True)))
        done[at] = None
    return [operator for operator in done if operator is not None]


def _equality(operator: nodes.Operator) -> tuple[nodes.Member, nodes.Slot] | None:
    if not isinstance(operator, nodes.Keep) or not isinstance(operator.condition, nodes.Comparison):
        return None
    comparison = operator.condition
    if comparison.op != "==":
        return None
    left, right = comparison.left, comparison.right
    if isinstance(left, nodes.Const):
        left, right = right, left
    if isinstance(left, nodes.Member) and isinstance(right, nodes.Const) and not holds_symbol(left.steps):
        return left, right.slot
    return None
