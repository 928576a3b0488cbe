"""Blocks as source: one operator's code inside the other's, the rest of the query in the innermost place.

A variable that is certainly bound constrains, one that is free is bound. Where it may be either (after an
OPTIONAL or a UNION), the operator is written once for each case and its solutions are collected.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import product

from kipql.exec.direct import record_of
from kipql.exec.emit import Emitter, Place, Scope, Then
from kipql.plan import nodes, variables

Emit = Callable[[nodes.Operator, Emitter, Scope, Then], None]

_EMITS: dict[type, Callable[..., None]] = {}
_BLOCK_EMITS: dict[type, Callable[..., None]] = {}


def register() -> None:
    """Fill the table of operators; done once, when the first source is written."""
    if _EMITS:
        return
    from kipql.exec.operators import (
        belief,
        elements_source,
        filters,
        negation,
        optional,
        paths,
        propositions_source,
        search,
        structural,
        union,
    )

    _EMITS.update(
        {
            nodes.Elements: elements_source.emit,
            nodes.Triple: propositions_source.emit,
            nodes.KnownProposition: propositions_source.emit_known,
            nodes.Reach: paths.emit,
            nodes.Edges: structural.emit,
            nodes.Search: search.emit,
        }
    )
    _BLOCK_EMITS.update(
        {
            nodes.Belief: belief.emit,
            nodes.TupleBelief: belief.emit,
            nodes.SlotBelief: belief.emit,
            nodes.Keep: filters.emit,
            nodes.Without: negation.emit,
            nodes.Maybe: optional.emit,
            nodes.Either: union.emit,
        }
    )


def block(operators: Sequence[nodes.Operator], code: Emitter, scope: Scope, then: Then) -> None:
    """Write operators one inside the other, and `then` innermost."""
    if not operators:
        then(scope)
        return
    if code.deep:
        code.apart(scope, lambda inner: block(operators, code, inner, then))
        return
    first, rest = operators[0], operators[1:]

    def go_on(inner: Scope) -> None:
        block(rest, code, inner, then)

    special = _BLOCK_EMITS.get(type(first))
    if special is not None:
        special(first, code, scope, go_on)
    else:
        _pattern(first, code, scope, go_on)


def _pattern(operator: nodes.Operator, code: Emitter, scope: Scope, then: Then) -> None:
    """An ordinary pattern; once per case for the variables that may be unbound."""
    emit = _EMITS[type(operator)]
    names = list(dict.fromkeys(variables.bound(operator)))
    open_names = [name for name in names if name in scope and not scope[name].sure]
    if not open_names:
        emit(operator, code, scope, then)
        return
    found = code.fresh("m")
    code.line(f"{found} = []")
    with code.collecting(found):
        _cases(operator, code, scope, open_names, lambda inner: collect(code, found, names, inner))
    unpack(code, found, names, dict.fromkeys(names, True), scope, then)


def _cases(operator: nodes.Operator, code: Emitter, scope: Scope, names: list[str], then: Then) -> None:
    word = "if"
    for bound in product((True, False), repeat=len(names)):
        tests = " and ".join(
            f"{scope[name].name} is {'not ' if known else ''}None" for name, known in zip(names, bound, strict=True)
        )
        inner = dict(scope)
        for name, known in zip(names, bound, strict=True):
            if known:
                inner[name] = Place(scope[name].name)
            else:
                del inner[name]
        with code.block(f"{word} {tests}:"):
            _EMITS[type(operator)](operator, code, inner, then)
            code.line("pass")
        word = "elif"


def collect(code: Emitter, found: str, names: Iterable[str], scope: Scope) -> None:
    """Append the cells of some variables; None for one that is not bound."""
    code.line(f"{found}.append({as_tuple(scope[name].name if name in scope else 'None' for name in names)})")


def unpack(code: Emitter, found: str, names: Sequence[str], sure: dict[str, bool], scope: Scope, then: Then) -> None:
    """Go on with each collected row."""
    inner = dict(scope)
    fresh = [code.fresh("w") for _ in names]
    for name, local in zip(names, fresh, strict=True):
        inner[name] = Place(local, sure[name])
    code.charge(f"len({found})")
    with code.block(f"for {as_target(fresh)} in {found}:"):
        then(inner)


def as_tuple(parts: Iterable[str]) -> str:
    """A tuple display."""
    listed = list(parts)
    return f"({', '.join(listed)}{',' if len(listed) == 1 else ''})"


def as_target(names: Sequence[str]) -> str:
    """The target of a loop over such tuples."""
    return f"({', '.join(names)},)" if names else "_"


def used_names(operators: Sequence[nodes.Operator]) -> set[str]:
    """Every variable that operators mention, in whatever position."""
    from kipql.plan.certain import reads

    names: set[str] = set()
    stack = list(operators)
    while stack:
        operator = stack.pop()
        match operator:
            case nodes.Keep(condition=condition):
                names |= reads(condition)
            case nodes.Without(block=inner) | nodes.Maybe(block=inner):
                stack.extend(inner.operators)
            case nodes.Either(left=left, right=right):
                stack.extend(right.operators)
                if left is not None:
                    stack.extend(left.operators)
                names.update(operator.exported)
            case _:
                names.update(variables.bound(operator))
    return names


def term(name: str, code: Emitter, scope: Scope) -> str:
    """The local with the term of a bound variable; for a boxed one a term is made, None when there is none."""
    from kipql.exec.terms import term_of

    place = scope[name]
    if code.shapes[name] == "term":
        return place.name
    made = code.fresh("k")
    code.line(f"{made} = {code.helper(term_of)}(view, {place.name})")
    return made


def equal_cells(name: str, left: str, right: str, code: Emitter) -> str:
    """A condition: two cells of a variable are one value."""
    shape = code.shapes[name]
    if shape == "term":
        return f"{left} == {right}"
    if shape == "symbol":
        lineage_of = code.member("lineage_of")
        return f"{lineage_of}[{left}] == {lineage_of}[{right}]"
    from kipql.exec.terms import same_cell

    return f"{code.helper(same_cell)}(view, {left}, {right})"


def bind(name: str, cell: str, code: Emitter, scope: Scope, then: Then, row: str | None = None) -> None:
    """Bind a variable to a cell (a local), or check it where it is bound, and go on."""
    if name in scope:
        with code.block(f"if {equal_cells(name, scope[name].name, cell, code)}:"):
            then(scope)
    else:
        record = record_of(name, cell, code) if code.shapes[name] == "term" else None
        then({**scope, name: Place(cell, True, row, record=record)})
