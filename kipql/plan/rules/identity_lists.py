"""FILTER(IN(?x.id, [...])) beside the pattern of ?x is a look-up per id, whatever kind of element ?x is.

The list is a parameter, or holds constants only. Beside an element pattern the filter becomes a test of it. Beside a
tuple whose Proposition is ?x it becomes a pattern of its own, which binds the Proposition before the tuple is read.
IN over ids is an equality with any of them, an id or a reference `{id}` (§44.2).
"""

from dataclasses import replace

from kipql.model import PROPOSITION
from kipql.plan import nodes
from kipql.plan.rules.blocks import Operators, conditions, rewritten, segments


def identities_into_patterns(plan: nodes.Plan) -> nodes.Plan:
    """Move such filters into their patterns, within one run of patterns."""
    if not any(isinstance(one, nodes.Apply) and one.function == "IN" for one in conditions(plan.block)):
        return plan
    return replace(plan, block=rewritten(plan.block, _moved))


def _moved(operators: Operators, before: frozenset[str]) -> Operators:
    return tuple(operator for run in segments(operators, before) for operator in _in_run(run))


def _in_run(run: list[nodes.Operator]) -> list[nodes.Operator]:
    elements = {operator.variable: at for at, operator in enumerate(run) if isinstance(operator, nodes.Elements)}
    links = {operator.link for operator in run if isinstance(operator, nodes.Triple)}
    done: list[nodes.Operator | None] = list(run)
    for at, operator in enumerate(run):
        found = _membership(operator)
        if found is None:
            continue
        name, listed = found
        test = nodes.IdIn(listed)
        if name in elements:
            pattern = done[elements[name]]
            assert isinstance(pattern, nodes.Elements)
            done[elements[name]] = replace(pattern, tests=(*pattern.tests, test))
            done[at] = None
        elif name in links:
            done[at] = nodes.Elements(name, PROPOSITION, (test,))
    return [operator for operator in done if operator is not None]


def _membership(operator: nodes.Operator) -> tuple[str, nodes.Const | nodes.Listing] | None:
    """The variable whose id is looked for, and the list."""
    match operator:
        case nodes.Keep(
            condition=nodes.Apply(
                function="IN",
                args=(nodes.Member(name=name, steps=("id",)), (nodes.Const() | nodes.Listing()) as listed),
            )
        ) if isinstance(listed, nodes.Const) or all(isinstance(item, nodes.Const) for item in listed.items):
            return name, listed
        case _:
            return None
