"""Proof that solutions can not repeat, so that deduplication can be skipped (specification §42.5).

Every operator must give, for one solution before it, solutions that differ in a visible variable. A tuple
without a link is one per subject, Predicate lineage and object as long as no merge or rename joins tuples.
"""

from dataclasses import replace

from kipql.plan import nodes, variables

ALWAYS, UNMERGED, NO = "always", "unmerged", "no"


def prove_unique(plan: nodes.Plan) -> nodes.Plan:
    """Set `unique` of the plan."""
    return replace(plan, unique=_block(plan.block, frozenset(), frozenset(plan.visible)))


def _block(block: nodes.Block, bound: frozenset[str], visible: frozenset[str]) -> str:
    worst = ALWAYS
    for operator in block.operators:
        found = _operator(operator, bound, visible)
        if found == NO:
            return NO
        worst = UNMERGED if UNMERGED in (found, worst) else ALWAYS
        bound |= frozenset(variables.bound(operator))
    return worst


def _operator(operator: nodes.Operator, bound: frozenset[str], visible: frozenset[str]) -> str:
    shown = visible | bound
    match operator:
        case nodes.Keep() | nodes.Without() | nodes.KnownProposition():
            return ALWAYS
        case nodes.Elements(variable=variable, tests=tests):
            one = any(isinstance(test, nodes.IsElement) for test in tests)
            return ALWAYS if one or variable in shown else NO
        case nodes.Search(variable=variable):
            return ALWAYS if variable in shown else NO
        case (
            nodes.Belief(variable=variable) | nodes.TupleBelief(variable=variable) | nodes.SlotBelief(variable=variable)
        ):
            return ALWAYS if variable in shown else NO
        case nodes.Triple(spread=spread) | nodes.Reach(spread=spread) if not shown.issuperset(spread):
            return NO
        case nodes.Triple(link=str() as link) if link in shown:
            return ALWAYS
        case nodes.Triple(predicates=predicates):
            single = predicates.name in shown if isinstance(predicates, nodes.Variable) else len(predicates) == 1
            fixed = _fixed(operator.subject, shown) and _fixed(operator.object, shown)
            return UNMERGED if single and fixed else NO
        case nodes.Reach(subject=subject, object=object_):
            return ALWAYS if _named(subject, shown) and _named(object_, shown) else NO
        case nodes.Edges(link=str() as link):
            return ALWAYS if link in shown else NO
        case nodes.Maybe(block=block, fresh=fresh):
            return _block(block, bound, visible) if visible.issuperset(fresh) else NO
        case _:
            return NO


def _fixed(term: nodes.Term, shown: frozenset[str]) -> bool:
    """Whether a term stands for one code in one solution."""
    match term:
        case nodes.Variable(name=name):
            return name in shown
        case nodes.Constant(literal=literal, element=element):
            return not (literal and element)
        case _:
            return False


def _named(term: nodes.Term, shown: frozenset[str]) -> bool:
    return not isinstance(term, nodes.Variable) or term.name in shown
