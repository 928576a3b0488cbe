"""FILTER(IN(?x.key, [...])) beside the pattern of a Concept ?x becomes a test of the pattern: a look-up per key.

The list is a parameter, or holds constants only. The pattern then tests exactly what the filter did: IN is an
equality with any of them (§44.2), and a list with something else than scalars is answered without look-ups.
"""

from dataclasses import replace

from kipql.model import CONCEPT
from kipql.plan import nodes
from kipql.plan.rules.blocks import Operators, conditions, rewritten, segments


def memberships_into_patterns(plan: nodes.Plan) -> nodes.Plan:
    """Move such filters into their patterns, within one run of patterns."""
    if not asks_membership(plan):
        return plan
    return replace(plan, block=rewritten(plan.block, _moved))


def _moved(operators: Operators, before: frozenset[str]) -> Operators:
    return tuple(operator for run in segments(operators, before) for operator in _in_run(run))


def _in_run(run: list[nodes.Operator]) -> list[nodes.Operator]:
    places = {
        operator.variable: at
        for at, operator in enumerate(run)
        if isinstance(operator, nodes.Elements) and operator.kind == CONCEPT
    }
    done: list[nodes.Operator | None] = list(run)
    for at, operator in enumerate(run):
        found = membership(operator, "key")
        place = None if found is None else places.get(found[0])
        if found is None or place is None:
            continue
        pattern = done[place]
        assert isinstance(pattern, nodes.Elements)
        done[place] = replace(pattern, tests=(*pattern.tests, nodes.KeyIn(found[1])))
        done[at] = None
    return [operator for operator in done if operator is not None]


def membership(operator: nodes.Operator, member: str) -> tuple[str, nodes.Const | nodes.Listing] | None:
    """The variable of which a member is looked for in a list, and the list; None for any other operator."""
    match operator:
        case nodes.Keep(
            condition=nodes.Apply(
                function="IN",
                args=(nodes.Member(name=name, steps=(step,)), (nodes.Const() | nodes.Listing()) as listed),
            )
        ) if step == member and (
            isinstance(listed, nodes.Const) or all(isinstance(item, nodes.Const) for item in listed.items)
        ):
            return name, listed
        case _:
            return None


def asks_membership(plan: nodes.Plan) -> bool:
    """Whether a condition of the plan is an IN at all."""
    return any(isinstance(one, nodes.Apply) and one.function == "IN" for one in conditions(plan.block))
