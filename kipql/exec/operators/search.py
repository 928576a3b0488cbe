"""Search Patterns: the ranked hits of one search, joined on the element (specification §43.8).

A run searches once for each pattern, before any row, so that what is wrong with a search is an error on every
path. Hits come in rank order; LIMIT counts them after visibility and THRESHOLD, before the rest of the query.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kipql.exec.context import Context, Values
from kipql.exec.emit import Emitter, Place, Scope, Then
from kipql.exec.frames import Frame, Step
from kipql.exec.terms import lineage_number, symbol_number, term_of
from kipql.exec.write import term
from kipql.limits import Budget
from kipql.plan import nodes
from kipql.plan.cells import Cell
from kipql.search.ask import Ask, limit_of, mode_of, threshold_of
from kipql.search.ask import term_of as text_of
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.exec.reading import Reading
    from kipql.store.view import View


class Retrieved(NamedTuple):
    """What one pattern found: the score of each element, best first."""

    scores: dict[int, float]
    mode: str


def searched(operator: nodes.Search, view: "View", values: Values, budget: Budget) -> Retrieved:
    """The hits of a pattern in this run."""
    reading: Reading = values[operator.reading.index]
    known = reading.searches.get(operator)
    if known is None:
        known = reading.searches[operator] = _search(operator, view, values, budget)
    return known


def _search(operator: nodes.Search, view: "View", values: Values, budget: Budget) -> Retrieved:
    from kipql.search.run import search

    def value(slot: nodes.Slot | None) -> Json:
        return None if slot is None else values[slot.index]

    most = limit_of(value(operator.limit), operator.limit.where)
    ask = Ask(
        kind=operator.kind,
        term=text_of(value(operator.term), operator.term.where),
        mode=mode_of(value(operator.mode), operator.mode.where if operator.mode else None),
        threshold=threshold_of(value(operator.threshold), operator.threshold.where if operator.threshold else None),
        type_lineage=_lineage(operator.type, view, values),
        predicate_lineage=_lineage(operator.predicate, view, values),
    )
    hits = search(view, ask, budget, most)
    budget.buffer(len(hits.rows))
    codes = (row * 8 + operator.kind for row in hits.rows)
    return Retrieved(dict(zip(codes, hits.scores, strict=True)), hits.mode)


def _lineage(symbol: nodes.SymbolRef | None, view: "View", values: Values) -> int | None:
    if symbol is None:
        return None
    if symbol.slot is None:
        assert symbol.lineage is not None
        return lineage_number(view, symbol.lineage)
    return symbol_number(view, symbol.group, values[symbol.slot.index], symbol.slot.where)


def retrieval(found: Sequence[Retrieved], cell: Cell, steps: tuple[str, ...]) -> Json:
    """`?v.retrieval` or a member of it: by the first pattern that found the element; null when none did."""
    for one in found:
        score = one.scores.get(cell) if cell.__class__ is int else None
        if score is not None:
            whole = {"score": score, "mode": one.mode}
            return whole if not steps else whole.get(steps[0]) if len(steps) == 1 else None
    return None


# --- closures -----------------------------------------------------------------------------------------


def step(operator: nodes.Search, context: Context) -> Step:
    """The closure of a Search Pattern."""
    view, spend = context.view, context.budget.spend
    scores = searched(operator, view, context.values, context.budget).scores
    at = context.index[operator.variable]

    def run(frame: Frame) -> Iterator[None]:
        held = frame[at]
        if held is not None:
            if term_of(view, held) in scores:
                yield
            return
        for code in scores:
            spend()
            frame[at] = code
            yield
        frame[at] = None

    return run


# --- source -------------------------------------------------------------------------------------------


def found_local(operator: nodes.Search, code: Emitter) -> str:
    """The local with what a pattern found, bound before the loops."""
    site = code.constant(operator, "search")
    return code.local(f"{code.helper(searched)}({site}, view, p, budget)", "found")


def emit(operator: nodes.Search, code: Emitter, scope: Scope, then: Then) -> None:
    """The source of a Search Pattern: a look-up where the variable is bound, else a loop over the hits."""
    name, found = operator.variable, found_local(operator, code)
    if name in scope:
        cell = term(name, code, scope)
        with code.block(f"if {cell} in {found}.scores:"):
            then({**scope, name: Place(scope[name].name, True, scope[name].row, operator.kind)})
        return
    cell = code.fresh("e")
    code.charge(f"len({found}.scores) + 1")
    with code.block(f"for {cell} in {found}.scores:"):
        then({**scope, name: Place(cell, True, None, operator.kind)})
