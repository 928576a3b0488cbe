"""What each variable of a query can hold, known from the positions it stands in (specification §42.4).

A variable that stands only in term positions holds a term and needs no boxing; one that stands only for
Predicates or Types holds a symbol; every other holds a cell. Positions are those of the whole query: NOT
locals have been renamed apart before.
"""

from collections.abc import Iterable

from kipql.plan import nodes

TERM, SYMBOL, BELIEF, ANY = "term", "symbol", "belief", "any"


def shapes(block: nodes.Block) -> dict[str, str]:
    """term, symbol, belief or any for every variable of a block and of everything in it."""
    positions: dict[str, set[str]] = {}
    for name, position in _positions(block):
        positions.setdefault(name, set()).add(position)
    return {name: _shape(found) for name, found in positions.items()}


def _shape(positions: set[str]) -> str:
    if positions <= {"term", "id"} and "term" in positions:
        return TERM
    if positions == {"belief"}:
        return BELIEF
    return SYMBOL if positions == {"symbol"} else ANY


Position = tuple[str, str]


def _positions(block: nodes.Block) -> Iterable[Position]:
    for operator in block.operators:
        yield from _of_operator(operator)


def _of_operator(operator: nodes.Operator) -> Iterable[Position]:
    match operator:
        case nodes.Elements(variable=variable, tests=tests):
            yield variable, "term"
            for test in tests:
                yield from _of_test(test)
        case nodes.Search(variable=variable):
            yield variable, "term"
        case nodes.Triple(link=link, subject=subject, predicates=predicates, object=object_):
            if link is not None:
                yield link, "term"
            yield from _of_terms(subject, object_)
            if isinstance(predicates, nodes.Variable):
                yield predicates.name, "symbol"
        case nodes.KnownProposition(link=link):
            yield link, "term"
        case nodes.Reach(subject=subject, object=object_):
            yield from _of_terms(subject, object_)
        case nodes.Edges(link=link, source=source, target=target):
            if link is not None:
                yield link, "edge"
            yield from _of_terms(source, target)
        case nodes.Belief(variable=variable, proposition=proposition):
            yield variable, "belief"
            yield proposition.name, "term"
        case nodes.TupleBelief(variable=variable, subject=subject, predicate=predicate, object=object_):
            yield variable, "belief"
            yield from _of_terms(subject, object_)
            if isinstance(predicate, nodes.Variable):
                yield predicate.name, "symbol"
        case nodes.SlotBelief(variable=variable, subject=subject, predicate=predicate):
            yield variable, "belief"
            yield from _of_terms(subject)
            if isinstance(predicate, nodes.Variable):
                yield predicate.name, "symbol"
        case nodes.Without(block=block) | nodes.Maybe(block=block):
            yield from _positions(block)
        case nodes.Either(left=left, right=right):
            if left is not None:
                yield from _positions(left)
            yield from _positions(right)
        case nodes.Keep():
            return


def _of_test(test: nodes.Test) -> Iterable[Position]:
    match test:
        case nodes.Binds(variable=variable, natural=natural):
            yield variable, natural
        case nodes.Refers(term=nodes.Variable(name=name)):
            yield name, "term"
        case _:
            return


def _of_terms(*terms: nodes.Term) -> Iterable[Position]:
    for term in terms:
        if isinstance(term, nodes.Variable):
            yield term.name, "term"


def bound(operator: nodes.Operator) -> Iterable[str]:
    """The variables that an operator can bind in a solution it passes on, in order; NOT binds none."""
    if isinstance(operator, nodes.Without):
        return
    if isinstance(operator, nodes.Maybe):
        yield from operator.fresh
        return
    for name, _ in _of_operator(operator):
        yield name


def bound_by(block: nodes.Block) -> list[str]:
    """The variables that the operators of a block can bind, in order."""
    return list(dict.fromkeys(name for operator in block.operators for name in bound(operator)))
