"""What a bounded statement acts on: distinct elements, in ascending id, up to LIMIT (§52.7, §58.4).

Every WHERE reads the start view of the statement, so a write never changes which elements are selected. A variable
target is bound by the WHERE, or is a handle of the plan; a direct target is named already, and its WHERE only guards.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from kipql.errors import KipError
from kipql.exec import select as solve
from kipql.exec.terms import cell_value
from kipql.lang import ast, walk
from kipql.mutate.draft import Handle, Target
from kipql.mutate.inputs import Scope, count
from kipql.mutate.plan import Plan
from kipql.mutate.references import named
from kipql.plan.cells import Ref

Row: TypeAlias = dict[str, Any]


class Selected(NamedTuple):
    """One element to act on, with the rows of the WHERE that reached it."""

    target: Target
    rows: list[Row]


def select(
    plan: Plan,
    target: ast.Target,
    where: ast.Block | None,
    limit: ast.Value | None = None,
    used: Iterable[ast.Node] = (),
) -> list[Selected]:
    """The elements that a statement acts on. `used` are the nodes whose variables the WHERE may bind."""
    scope = Scope(plan)
    most = None if limit is None else count(scope.evaluate(limit), "LIMIT", limit)
    if where is None:
        return [Selected(_direct(scope, target), [{}])][:most]
    bound = {variable.name for variable in walk.variables(where)}
    names = [name for name in dict.fromkeys(names_in(used)) if name in bound]
    if isinstance(target, ast.Var) and target.name in bound:
        return _bound(plan, target, where, names, most)
    rows = [dict(zip(names, row, strict=True)) for row in solutions(plan, where, names)]
    return [Selected(_direct(scope, target), rows)][:most] if rows else []


def _direct(scope: Scope, target: ast.Target) -> Target:
    """The element that a statement names directly; lifecycle statements may find a purged one."""
    return named(scope.plan.view, scope.evaluate(target), target, stubs=True)


def _bound(plan: Plan, target: ast.Var, where: ast.Block, names: list[str], most: int | None) -> list[Selected]:
    columns = [target.name, *(name for name in names if name != target.name)]
    groups: dict[int, list[Row]] = {}
    for row in solutions(plan, where, columns):
        groups.setdefault(_element(row[0], target), []).append(dict(zip(columns, row, strict=True)))
    return [Selected(code, groups[code]) for code in sorted(groups)[:most]]


def _element(value: Any, target: ast.Var) -> int:
    if isinstance(value, Handle) and isinstance(value.target, int):
        return value.target
    raise KipError(
        "ReferenceError",
        f"?{target.name} stands for no element in a selected row",
        span=target.span,
        hint="bind the target by a pattern outside OPTIONAL (§58.4)",
    )


def solutions(plan: Plan, where: ast.Block, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """The distinct rows of a WHERE over `names`, elements as Handles."""
    view = plan.view
    found = solve(where, tuple(names), view, plan.parameters, plan.write.budget)
    return [tuple(_plain(cell_value(view, cell)) for cell in row) for row in found]


def _plain(value: object) -> object:
    return Handle(value.code) if isinstance(value, Ref) else value


def names_in(nodes: Iterable[ast.Node]) -> Iterable[str]:
    """The names of the variables in `nodes`, in order."""
    for node in nodes:
        for variable in walk.variables(node):
            yield variable.name
