"""UNION: the solutions so far, then those of an independent branch (specification §44.5).

The branch starts from nothing and runs once per query; inside NOT or OPTIONAL its solutions are joined with
the solution that came in, where they agree. A block that begins with UNION has no left operand: it yields the
branch alone. Equal solutions of both sides are deduplicated at the end, like all others.
"""

from collections.abc import Iterator

from kipql.exec.context import Context
from kipql.exec.emit import Emitter, Place, Scope, Then
from kipql.exec.frames import Build, Frame, Step, extended, taken_back
from kipql.exec.write import as_target, block, collect, equal_cells, unpack
from kipql.limits import Budget
from kipql.plan import certain, nodes
from kipql.plan.variables import bound_by


def step(operator: nodes.Either, context: Context, build: Build) -> Step:
    """The closure of a UNION."""
    left = None if operator.left is None else build(operator.left)
    right = build(operator.right)
    exported = [context.index[name] for name in operator.exported]
    found: list[list[object]] | None = None

    def branch() -> list[list[object]]:
        nonlocal found
        if found is None:
            frame: Frame = [None] * len(context.index)
            found = []
            for _ in right(frame):
                found.append([frame[at] for at in exported])
                context.budget.buffer(len(found))
        return found

    def run(frame: Frame) -> Iterator[None]:
        if left is not None:
            yield from left(frame)
        for cells in branch():
            context.budget.spend()
            bindings = [(at, cell) for at, cell in zip(exported, cells, strict=True) if cell is not None]
            added = extended(context, frame, bindings)  # type: ignore[arg-type]
            if added is not None:
                yield
                taken_back(frame, added)

    return run


def emit(operator: nodes.Either, code: Emitter, scope: Scope, then: Then) -> None:
    """The source of a UNION: the branch is a function that runs once, both sides are collected."""
    found = code.fresh("m")
    left = () if operator.left is None else operator.left.operators
    touched = [*bound_by(nodes.Block(left)), *operator.exported]
    names = [name for name in dict.fromkeys([*operator.fresh, *touched]) if name not in scope or not scope[name].sure]
    code.line(f"{found} = []")
    if operator.left is not None:
        with code.collecting(found):
            block(left, code, scope, lambda inner: collect(code, found, names, inner))
    _join_branch(operator, code, scope, found, names)
    sure = _sure(operator, frozenset(name for name, place in scope.items() if place.sure))
    unpack(code, found, names, {name: name in sure for name in names}, scope, then)


def _join_branch(operator: nodes.Either, code: Emitter, scope: Scope, found: str, names: list[str]) -> None:
    """Collect the branch's solutions that agree with what came in."""
    cells = {name: code.fresh("w") for name in operator.exported}
    code.charge("1")
    with code.block(f"for {as_target(list(cells.values()))} in {_branch(operator, code)}():"):
        tests, merged = [], dict(scope)
        for name, cell in cells.items():
            if name not in scope:
                merged[name] = Place(cell, False)
                continue
            held = scope[name]
            clash = f"{cell} is not None and not ({equal_cells(name, held.name, cell, code)})"
            tests.append(f"({clash})" if held.sure else f"({held.name} is not None and {clash})")
            if not held.sure:
                merged[name] = Place(f"({cell} if {held.name} is None else {held.name})", False)
        if tests:
            with code.block(f"if {' or '.join(tests)}:"):
                code.line("continue")
        collect(code, found, names, merged)


def _branch(operator: nodes.Either, code: Emitter) -> str:
    """The function with the branch's solutions, made once per run."""
    name, held, rows = code.fresh("branch"), code.own("[]", "held"), code.fresh("m")
    hold = code.helper(held_once)

    def write() -> None:
        with code.block(f"if {held}:"):
            code.line(f"return {held}[0]")
        code.line(f"{rows} = []")
        with code.collecting(rows):
            block(operator.right.operators, code, {}, lambda scope: collect(code, rows, operator.exported, scope))

    code.function(name, (), write, [f"return {hold}({held}, {rows}, budget)"])
    return name


def held_once(held: list[object], rows: list[object], budget: "Budget") -> list[object]:
    """Keep the branch's solutions for the rest of the run."""
    budget.buffer(len(rows))
    held.append(rows)
    return rows


def _sure(operator: nodes.Either, before: frozenset[str]) -> frozenset[str]:
    return certain.after(operator, before)
