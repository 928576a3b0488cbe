"""Join order: within a run of patterns, the cheapest next one given what is bound; ties as written.

A filter follows as soon as what it reads is bound. Where postings must tell which pattern is the shortest to
start from, the choice is left to the run (`cost.entries`); `started_at` orders a run for one start.
"""

from dataclasses import replace

from kipql.plan import certain, cost, nodes
from kipql.plan.rules.blocks import Operators, rewritten, segments


def order_joins(plan: nodes.Plan) -> nodes.Plan:
    """Order every run of every block."""
    return replace(plan, block=rewritten(plan.block, _ordered))


def _ordered(operators: Operators, before: frozenset[str]) -> Operators:
    done: list[nodes.Operator] = []
    sure = before
    for run in segments(operators, before):
        done.extend(in_order(run, sure))
        for operator in run:
            sure = certain.after(operator, sure)
    return tuple(done)


def in_order(run: list[nodes.Operator], bound: frozenset[str], first: int | None = None) -> list[nodes.Operator]:
    """One run in the order it should run, starting with the operator at `first` when that is decided."""
    filters = [(certain.reads(one.condition), one) for one in run if isinstance(one, nodes.Keep)]
    patterns = [one for one in run if not isinstance(one, nodes.Keep)]
    chosen = None if first is None else run[first]
    done: list[nodes.Operator] = []
    while True:
        for wants, one in filters:
            if wants <= bound:
                done.append(one)
        filters = [pair for pair in filters if not pair[0] <= bound]
        if not patterns:
            # Filters left alone read what nothing here binds for certain: they stay last, as written.
            return done + [one for _, one in filters]
        if chosen is None:
            chosen = min(patterns, key=lambda one: cost.rank(one, bound)) if len(patterns) > 1 else patterns[0]
        patterns = [one for one in patterns if one is not chosen]
        done.append(chosen)
        bound, chosen = certain.after(chosen, bound), None


def first_run(plan: nodes.Plan) -> tuple[nodes.Operator, ...]:
    """The run that the plan starts with."""
    runs = segments(plan.block.operators, frozenset())
    return tuple(runs[0]) if runs else ()


def started_at(plan: nodes.Plan, entry: int) -> nodes.Plan:
    """The plan with its first run started at one of its operators."""
    runs = segments(plan.block.operators, frozenset())
    start = in_order(runs[0], frozenset(), entry)
    rest = [operator for run in runs[1:] for operator in run]
    return replace(plan, block=nodes.Block((*start, *rest)))
