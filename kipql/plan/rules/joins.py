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
    left = list(enumerate(run))
    done: list[nodes.Operator] = []
    while left:
        filters = [pair for pair in left if _ready(pair[1], bound)]
        if filters:
            chosen = filters[0]
        elif first is not None:
            chosen, first = left[first], None
        else:
            patterns = [pair for pair in left if not isinstance(pair[1], nodes.Keep)]
            # Filters left alone read what nothing here binds for certain: they stay last, as written.
            chosen = min(patterns, key=lambda pair: (cost.rank(pair[1], bound), pair[0]), default=left[0])
        left.remove(chosen)
        done.append(chosen[1])
        bound = certain.after(chosen[1], bound)
    return done


def _ready(operator: nodes.Operator, bound: frozenset[str]) -> bool:
    return isinstance(operator, nodes.Keep) and certain.reads(operator.condition) <= bound


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
