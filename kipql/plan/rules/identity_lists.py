"""FILTER(IN(?x.id, [...])) beside the pattern of ?x is a look-up per id, whatever kind of element ?x is.

The list is a parameter, or holds constants only. Beside an element pattern the filter becomes a test of it. Beside a
tuple whose Proposition is ?x it becomes a pattern of its own, which binds the Proposition before the tuple is read.
IN over ids is an equality with any of them, an id or a reference `{id}` (§44.2).
"""

from dataclasses import replace

from kipql.model import PROPOSITION
from kipql.plan import nodes
from kipql.plan.rules.blocks import Operators, rewritten, segments
from kipql.plan.rules.membership import asks_membership, membership


def identities_into_patterns(plan: nodes.Plan) -> nodes.Plan:
    """Move such filters into their patterns, within one run of patterns."""
    if not asks_membership(plan):
        return plan
    return replace(plan, block=rewritten(plan.block, _moved))


def _moved(operators: Operators, before: frozenset[str]) -> Operators:
    return tuple(operator for run in segments(operators, before) for operator in _in_run(run))


def _in_run(run: list[nodes.Operator]) -> list[nodes.Operator]:
    elements = {operator.variable: at for at, operator in enumerate(run) if isinstance(operator, nodes.Elements)}
    links = {operator.link for operator in run if isinstance(operator, nodes.Triple)}
    done: list[nodes.Operator | None] = list(run)
    for at, operator in enumerate(run):
        found = membership(operator, "id")
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
