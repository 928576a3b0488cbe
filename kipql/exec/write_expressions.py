"""Expressions as source: the same meaning as `expressions`, with the common cases inline (specification §44.2)."""

from kipql.exec import fields, hot
from kipql.exec.direct import concept_field
from kipql.exec.emit import Emitter, Place, Scope
from kipql.exec.expressions import (
    connected,
    edge_json,
    exact_value,
    negative,
    placed,
    symbol_or_null,
)
from kipql.exec.terms import cell_value, symbol_value, term_value
from kipql.model import ASSERTION, CONCEPT
from kipql.plan import nodes
from kipql.plan.cells import Ref, holds_symbol
from kipql.plan.functions import registered
from kipql.plan.logic import equal, negated, ordered, unequal

_UNBOUND = Place("None", sure=False)


def condition(expression: nodes.Expression, code: Emitter, scope: Scope) -> str:
    """A Python condition that holds exactly when the expression is true."""
    match expression:
        case nodes.Every(items=items):
            return "(" + " and ".join(condition(item, code, scope) for item in items) + ")"
        case nodes.Any(items=items):
            return "(" + " or ".join(condition(item, code, scope) for item in items) + ")"
        case nodes.Comparison(op=op, left=left, right=right):
            return _comparison(op, left, right, code, scope)
        case nodes.Apply(function="IS_NULL", args=(argument,)):
            return f"({value(argument, code, scope)} is None)"
        case nodes.Apply(function="IS_NOT_NULL", args=(argument,)):
            return f"({value(argument, code, scope)} is not None)"
        case nodes.Apply(function="IN" | "CONTAINS" | "STARTS_WITH" | "ENDS_WITH"):
            # True, False or None: only true counts.
            return value(expression, code, scope)
        case _:
            return f"({value(expression, code, scope)} is True)"


def value(expression: nodes.Expression, code: Emitter, scope: Scope) -> str:
    """A Python expression with the value of an expression."""
    match expression:
        case nodes.Load(name=name):
            return _load(name, code, scope)
        case nodes.Member(name=name, steps=steps):
            text = member(name, steps, code, scope)
            if holds_symbol(steps) and code.shapes[name] != "symbol":
                return f"{code.helper(symbol_or_null)}(view, {text})"
            return text
        case nodes.Retrieval():
            return _retrieval(expression, code, scope)
        case nodes.Const(slot=slot):
            return code.value(slot)
        case nodes.Listing(items=items):
            return "[" + ", ".join(value(item, code, scope) for item in items) + "]"
        case nodes.Record(names=names, items=items):
            pairs = zip(names, items, strict=True)
            return "{" + ", ".join(f"{name!r}: {value(item, code, scope)}" for name, item in pairs) + "}"
        case nodes.Apply():
            return _apply(expression, code, scope)
        case nodes.Opposite(operand=operand):
            return f"{code.helper(negated)}({value(operand, code, scope)})"
        case nodes.Minus(operand=operand):
            return f"{code.helper(negative)}({value(operand, code, scope)})"
        case nodes.Comparison(op=op, left=left, right=right):
            return _compared(op, value(left, code, scope), value(right, code, scope), code)
        case nodes.Every(items=items):
            return _connected(items, "False", code, scope)
        case nodes.Any(items=items):
            return _connected(items, "True", code, scope)


def item(expression: nodes.Expression, code: Emitter, scope: Scope) -> str:
    """The value of a FIND item: a path to an exact ref is text, not a symbol."""
    if isinstance(expression, nodes.Member):
        return member(expression.name, expression.steps, code, scope)
    return value(expression, code, scope)


def _load(name: str, code: Emitter, scope: Scope) -> str:
    place = scope.get(name, _UNBOUND)
    shape = code.shapes[name]
    if shape == "symbol":
        ref = f"{code.helper(symbol_value)}(view, {code.member('symbol_ref')}({place.name}))"
        return ref if place.sure else f"(None if {place.name} is None else {ref})"
    if shape == "belief":
        return place.name
    if shape == "any":
        return f"{code.helper(cell_value)}(view, {place.name})"
    if place.kind is not None:
        made = f"{code.helper(Ref)}({place.name})"
        return made if place.sure else f"(None if {place.name} is None else {made})"
    return f"{code.helper(term_value)}(view, {place.name})"


def member(name: str, steps: tuple[str, ...], code: Emitter, scope: Scope) -> str:
    """A field path; null through what is unbound or has no such member."""
    place = scope.get(name, _UNBOUND)
    shape, cell = code.shapes[name], place.name
    if shape == "symbol":
        return "None"
    if shape == "belief" and len(steps) == 1 and place.sure:
        return f"{cell}.member({steps[0]!r})"
    if shape in ("any", "belief"):
        return f"{code.helper(fields.member)}(view, {cell}, {code.constant(steps, 'steps')})"
    if place.kind is not None:
        reader = code.constant(fields.reader(place.kind, steps), "read")
        row = place.row or f"({cell} >> 3)"
        read = f"{reader}(view, {row})"
        if not place.sure:
            return f"(None if {cell} is None else {read})"
        if place.kind == ASSERTION:
            return hot.coded(place.packed, steps, read, code) or read
        return _own_scalar(row, steps, read, code, "True", place.record) if place.kind == CONCEPT else read
    readers = code.constant(fields.readers(steps), "readers")
    absent = f"{cell} < 0" if place.sure else f"{cell} is None or {cell} < 0"
    read = f"(None if {absent} else {readers}[{cell} & 7](view, {cell} >> 3))"
    if not place.sure:
        return read
    return _own_scalar(f"({cell} >> 3)", steps, read, code, f"{cell} >= 0 and not {cell} & 7", place.record)


_SCALARS = frozenset((str, int, float, bool, type(None)))


def _own_scalar(
    row: str, steps: tuple[str | int, ...], read: str, code: Emitter, guard: str, record: str | None
) -> str:
    """A Concept's own field, read in place where it is a scalar; a container is copied by the getter."""
    if code.fused:
        first = "" if guard == "True" else f"{guard} and "
        return concept_field(row, steps, read, code, first, record) or read
    if record is not None and len(steps) == 1:
        return concept_field(row, steps, read, code, record=record) or read
    if record is not None:
        guard = "True"
    short = concept_field(row, steps, "SCALARS", code, record=record)
    if short is None:
        return read
    code.namespace["SCALARS"] = _SCALARS
    held = code.fresh("h")
    first = "" if guard == "True" else f"{guard} and "
    return f"({held} if {first}({held} := {short}).__class__ in SCALARS else {read})"


def _retrieval(expression: nodes.Retrieval, code: Emitter, scope: Scope) -> str:
    from kipql.exec.operators.search import found_local, retrieval
    from kipql.exec.write import as_tuple

    found = as_tuple(found_local(pattern, code) for pattern in expression.patterns)
    steps = code.constant(expression.steps, "steps")
    return f"{code.helper(retrieval)}({found}, {scope.get(expression.name, _UNBOUND).name}, {steps})"


def _apply(call: nodes.Apply, code: Emitter, scope: Scope) -> str:
    function = registered(call.function)
    args = [_argument(argument, function.exact, code, scope) for argument in call.args]
    apply = code.constant(function.call, call.function.partition(".")[0].lower())
    if function.budget:
        site = code.constant(call, "call")
        return f"{code.helper(placed)}({site}, {apply}, budget, {', '.join(args)})"
    if function.spends:
        args.insert(0, "spend")
    return f"{apply}({', '.join(args)})"


def _argument(argument: nodes.Expression, exact: bool, code: Emitter, scope: Scope) -> str:
    if exact and isinstance(argument, nodes.Load) and code.shapes[argument.name] != "symbol":
        text = f"{code.helper(exact_value)}(view, {scope.get(argument.name, _UNBOUND).name})"
    else:
        text = value(argument, code, scope)
    if isinstance(argument, nodes.Load) and code.shapes[argument.name] == "any":
        return f"{code.helper(edge_json)}({text})"
    return text


def _connected(items: tuple[nodes.Expression, ...], decisive: str, code: Emitter, scope: Scope) -> str:
    """Evaluated one after the other, up to the one that decides."""
    steps = ", ".join(f"lambda: {value(item, code, scope)}" for item in items)
    return f"{code.helper(connected)}((step() for step in ({steps},)), {decisive})"


def _compared(op: str, left: str, right: str, code: Emitter) -> str:
    if op == "==":
        return f"{code.helper(equal)}({left}, {right})"
    if op == "!=":
        return f"{code.helper(unequal)}({left}, {right})"
    return f"{code.helper(ordered)}({op!r}, {left}, {right})"


def _compared_value(expression: nodes.Expression, code: Emitter, scope: Scope) -> str:
    """The value of an operand that is only compared: a Concept's own field is read in place."""
    text = value(expression, code, scope)
    if not isinstance(expression, nodes.Member) or code.shapes[expression.name] != "term":
        return text
    place = scope.get(expression.name, _UNBOUND)
    if not place.sure or place.kind not in (None, CONCEPT):
        return text
    guard = "" if place.kind == CONCEPT else f"{place.name} >= 0 and not {place.name} & 7 and "
    read = _slow(expression, place, code)
    short = concept_field(place.row or f"{place.name} >> 3", expression.steps, read, code, guard, place.record)
    return text if short is None else short


def _slow(expression: nodes.Member, place: Place, code: Emitter) -> str:
    """The same field by its getter, whatever the term is."""
    if place.kind is not None:
        reader = code.constant(fields.reader(place.kind, expression.steps), "read")
        return f"{reader}(view, {place.row or f'({place.name} >> 3)'})"
    readers = code.constant(fields.readers(expression.steps), "readers")
    return f"(None if {place.name} < 0 else {readers}[{place.name} & 7](view, {place.name} >> 3))"


_FLIPPED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


def _comparison(op: str, left: nodes.Expression, right: nodes.Expression, code: Emitter, scope: Scope) -> str:
    """A comparison that counts only when true; against a constant, values of its class compare inline."""
    if isinstance(left, nodes.Const) and not isinstance(right, nodes.Const):
        left, right, op = right, left, _FLIPPED[op]
    ours, theirs = _compared_value(left, code, scope), value(right, code, scope)
    if not isinstance(right, nodes.Const) or isinstance(left, nodes.Const):
        return f"({_compared(op, ours, theirs, code)} is True)"
    plain = code.plain_class(right.slot)
    held = code.fresh("x")
    slow = _compared(op, held, theirs, code)
    text = f"({held} {op} {theirs} if ({held} := {ours}).__class__ is {plain} else {slow} is True)"
    if isinstance(left, nodes.Member):
        place = scope.get(left.name, _UNBOUND)
        if place.sure and place.kind == ASSERTION:
            return hot.compared(op, place.packed, left.steps, right.slot, text, code) or text
    return text
