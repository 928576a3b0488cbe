"""What a query reads of each of its variables besides which one it is, found before anything is lowered.

Such a column is made where the variable is bound and goes along with it: a function of the cell alone, it never
makes two solutions of one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kipql.errors import KipError
from kipql.plan import nodes
from kipql.values import Json

BOUNDS: Mapping[tuple[str, ...], str] = {("valid_time", "from"): "valid_from", ("valid_time", "until"): "valid_until"}


class Want(NamedTuple):
    """member: the value at `steps`, a cell; bound: an exact end of valid time, as it is written; whole: the element;
    payload: that of an Evidence; literal: the JSON of a Literal; ref: the exact ref of a symbol."""

    what: str
    steps: tuple[str, ...] = ()


def wanted(plan: nodes.Plan, values: Sequence[Json]) -> dict[str, tuple[Want, ...]]:
    """The columns that go along with each variable."""
    found: dict[str, dict[Want, None]] = {}
    shapes = dict(plan.shapes)

    def is_text(expression: nodes.Expression) -> bool:
        return isinstance(expression, nodes.Const) and isinstance(values[expression.slot.index], str)

    def decides(end: nodes.Member, other: nodes.Expression) -> bool:
        return shapes[end.name] == "term" and is_text(other)

    for name, want in _of_plan(plan, decides):
        if want.what != "ref" or shapes[name] in ("symbol", "any"):
            found.setdefault(name, {})[want] = None
    return {name: tuple(wants) for name, wants in found.items()}


Decides = Callable[[nodes.Member, nodes.Expression], bool]
"""Whether an end of valid time meets a text, so that its column alone decides the comparison."""


def _of_plan(plan: nodes.Plan, decides: Decides) -> Iterator[tuple[str, Want]]:
    for expression in _conditions(plan.block):
        yield from of_condition(expression, decides)
    for item in plan.items:
        if isinstance(item, nodes.Aggregate):
            yield from of_condition(item.operand, decides)
        else:
            yield from _of_item(item, decides)
    for sort in plan.order:
        if not isinstance(sort.key, int):
            yield from of_condition(sort.key, decides)
        elif not isinstance(item := plan.items[sort.key], nodes.Aggregate):
            yield from of_condition(item, decides)


def _of_item(item: nodes.Expression, decides: Decides) -> Iterator[tuple[str, Want]]:
    """What a projected item reads: elements whole."""
    for node in walked(item):
        if isinstance(node, nodes.Load):
            yield from ((node.name, Want(what)) for what in ("whole", "payload", "literal", "ref"))
    yield from of_condition(item, decides)


def of_condition(expression: nodes.Expression, decides: Decides) -> Iterator[tuple[str, Want]]:
    """What an expression reads."""
    bounds: set[int] = set()  # ends of valid time that are read from their column only
    for node in walked(expression):
        match node:
            case nodes.Load(name=name):
                yield name, Want("literal")
                yield name, Want("ref")
            case nodes.Member(name=name, steps=steps) if id(node) not in bounds:
                yield name, Want("member", steps)
            case nodes.Comparison(left=left, right=right):
                for side, other in ((left, right), (right, left)):
                    if isinstance(side, nodes.Member) and side.steps in BOUNDS:
                        yield side.name, Want("bound", side.steps)
                        if decides(side, other):
                            bounds.add(id(side))
            case _:
                pass


def walked(expression: nodes.Expression) -> Iterator[nodes.Expression]:
    """An expression and everything in it."""
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        yield node
        match node:
            case nodes.Listing(items=items) | nodes.Record(items=items):
                waiting.extend(items)
            case nodes.Every(items=items) | nodes.Any(items=items) | nodes.Apply(args=items):
                waiting.extend(items)
            case nodes.Opposite(operand=operand) | nodes.Minus(operand=operand):
                waiting.append(operand)
            case nodes.Comparison(left=left, right=right):
                waiting += (left, right)
            case _:
                pass


def _conditions(block: nodes.Block) -> Iterator[nodes.Expression]:
    for operator in block.operators:
        match operator:
            case nodes.Keep(condition=condition):
                yield condition
            case nodes.Without(block=inner) | nodes.Maybe(block=inner):
                yield from _conditions(inner)
            case nodes.Either(left=left, right=right):
                for side in (left, right):
                    if side is not None:
                        yield from _conditions(side)
            case _:
                pass


def used(block: nodes.Block) -> Iterator[str]:
    """The variables that a block mentions, in patterns and in conditions."""
    from kipql.plan.variables import shapes

    yield from shapes(block)
    for condition in _conditions(block):
        for node in walked(condition):
            if isinstance(node, nodes.Load | nodes.Member):
                yield node.name


def kinds(operators: Iterable[nodes.Operator]) -> dict[str, frozenset[int]]:
    """The kinds of element that the patterns of one block leave to its variables, where they say so."""
    found: dict[str, frozenset[int]] = {}
    for operator in operators:
        if isinstance(operator, nodes.Elements):
            one = frozenset((operator.kind,))
            found[operator.variable] = found.get(operator.variable, one) & one
    return found


def elements_only(block: nodes.Block) -> frozenset[str]:
    """The variables of terms that no object position can bind to a Literal."""
    from kipql.plan.variables import shapes

    return frozenset(name for name, shape in shapes(block).items() if shape == "term") - frozenset(_objects(block))


def _objects(block: nodes.Block) -> Iterator[str]:
    for operator in block.operators:
        match operator:
            case nodes.Triple(object=object_) | nodes.Reach(object=object_) | nodes.TupleBelief(object=object_):
                if isinstance(object_, nodes.Variable):
                    yield object_.name
            case nodes.Without(block=inner) | nodes.Maybe(block=inner):
                yield from _objects(inner)
            case nodes.Either(left=left, right=right):
                for side in (left, right):
                    if side is not None:
                        yield from _objects(side)
            case _:
                pass


class Refused(KipError):
    """What a lake refuses, as far as it has to be told from what the memory itself would refuse."""


def unsupported(what: str, where: object) -> Refused:
    """The refusal of what SQL engines do not run."""
    return Refused(
        "UnsupportedCapability",
        f"{what} is not available on a lake",
        span=where,  # type: ignore[arg-type]
        hint="ask the memory itself",
    )
