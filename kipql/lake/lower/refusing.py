"""What a lake refuses by name, found in a plan before any of it runs (docs/scale.md, "Asking a lake")."""

from collections.abc import Iterator

from kipql.lake.lower.edges import computed_field
from kipql.lake.lower.steps import Lowering
from kipql.lake.lower.wants import unsupported
from kipql.plan import nodes
from kipql.plan.functions import FUNCTIONS, STRENGTH
from kipql.store.computed import GRADING_STATE


def check(low: Lowering) -> None:
    """Raises UnsupportedCapability for what no SQL engine is asked to do."""
    for operator in _operators(low.plan.block):
        match operator:
            case nodes.Search():
                raise unsupported("SEARCH", None)
            case nodes.Edges() if (field := computed_field(low, operator)) is not None:
                raise unsupported(f"the computed Structural Field {field}", None)
            case nodes.Elements(tests=tests):
                for test in tests:
                    _member(getattr(test, "steps", ()))
            case nodes.Keep(condition=condition):
                _expression(condition)
            case _:
                pass
    for item in low.plan.items:
        if isinstance(item, nodes.Aggregate):
            _expression(item.operand)
        else:
            _shown(item)
    for sort in low.plan.order:
        if not isinstance(sort.key, int):
            _expression(sort.key)


def _operators(block: nodes.Block) -> Iterator[nodes.Operator]:
    """Every operator, those of nested blocks too."""
    for operator in block.operators:
        yield operator
        match operator:
            case nodes.Without(block=inner) | nodes.Maybe(block=inner):
                yield from _operators(inner)
            case nodes.Either(left=left, right=right):
                for side in (left, right):
                    if side is not None:
                        yield from _operators(side)
            case _:
                pass


def _shown(item: nodes.Expression) -> None:
    """An item of FIND: arrays and objects are made here, of what the engine gives."""
    match item:
        case nodes.Listing(items=items) | nodes.Record(items=items):
            for inner in items:
                _shown(inner)
        case _:
            _expression(item)


def _expression(expression: nodes.Expression) -> None:
    match expression:
        case nodes.Member(steps=steps):
            _member(steps)
        case nodes.Retrieval():
            raise unsupported("what a Search Pattern found", None)
        case nodes.Listing() | nodes.Record() if not constant(expression):
            raise unsupported("an array or an object of variables inside an expression", expression.where)
        case nodes.Apply():
            _apply(expression)
        case nodes.Opposite(operand=operand) | nodes.Minus(operand=operand):
            _expression(operand)
        case nodes.Comparison(left=left, right=right):
            _expression(left)
            _expression(right)
        case nodes.Every(items=items) | nodes.Any(items=items):
            for item in items:
                _expression(item)
        case _:
            pass


def _apply(apply: nodes.Apply) -> None:
    if apply.function not in FUNCTIONS and apply.function != STRENGTH:
        raise unsupported(f"the computed member {apply.function}", apply.where)
    for argument in apply.args:
        if apply.function == "IN" and isinstance(argument, nodes.Listing) and argument is not apply.args[0]:
            for item in argument.items:  # each is compared by itself
                _expression(item)
        else:
            _expression(argument)


def _member(steps: nodes.Steps) -> None:
    if steps[:2] == ("facets", GRADING_STATE):
        raise unsupported("the computed Facet GradingState", None)


def constant(expression: nodes.Expression) -> bool:
    """Whether an array or an object is made of constants alone."""
    match expression:
        case nodes.Const():
            return True
        case nodes.Minus(operand=operand):
            return constant(operand)
        case nodes.Listing(items=items) | nodes.Record(items=items):
            return all(map(constant, items))
        case _:
            return False
