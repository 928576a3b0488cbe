"""`explain`: the plan of a query, and when it is run, what each operator did (specification §45).

Counters come from the closure engine: `starts` is how often an operator began for a solution before it (its
probes), `rows` how many solutions it passed on.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kipql.exec import engine, prepared
from kipql.exec.context import Context
from kipql.exec.direct import is_direct
from kipql.exec.paging import page
from kipql.exec.reading import DEFAULTS, Projections, reading
from kipql.limits import Budget
from kipql.plan import nodes
from kipql.plan.show import shown
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.exec.prepared import Prepared
    from kipql.store.view import View


def explain(
    query: "Prepared",
    view: "View",
    parameters: Mapping[str, Json] | None = None,
    budget: Budget | None = None,
    *,
    source: bool = False,
    projections: Projections = DEFAULTS,
) -> str:
    """The plan as text.

    parameters  bound values: with them (also none at all, `{}`) the query is run and counters are added
    source      append the generated Python
    projections what beliefs are read with; the default one otherwise
    """
    if parameters is not None:
        view = page(query.find, view, parameters, None, None).view
    planned = query.planned(view.environment)
    if parameters is None:
        text = shown(planned.plan)
        plan = planned.plan
    else:
        budget = budget or Budget()
        made = reading(query.find, view, parameters, projections)
        values = prepared.values_of(planned, query.literals, {**parameters, nodes.READING: made})
        plan = prepared.chosen(planned, view, values, budget, "closures")
        text = _counted(plan, view, values, budget)
    return f"{text}\n\n{engine.compiled(plan, view.has_merges, is_direct(view)).source}" if source else text


def _counted(plan: nodes.Plan, view: "View", values: tuple[Json, ...], budget: Budget) -> str:
    context = Context.of(plan, view, values, budget)
    context.counters = {}
    rows = prepared.finished(prepared.solutions(context), context, None)

    def note(operator: nodes.Operator) -> str:
        starts, passed = (context.counters or {}).get(id(operator), (0, 0))
        return f"  (starts {starts}, rows {passed})"

    return f"{shown(plan, note)}\n{len(rows)} rows, {budget.ticks} probes"
