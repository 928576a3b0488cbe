"""The generated engine: a plan as one Python function (architecture §4.4).

The source is generated once per plan and per kind of view (with or without merges, read directly or not),
compiled, and kept. Its innermost statement builds the row: what FIND lists, or the inputs of groups and sort
keys, which are worked off afterwards.
"""

import linecache
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import finalize

from kipql.exec import grouping, sorting, write
from kipql.exec.direct import is_direct
from kipql.exec.emit import Emitter, Scope
from kipql.exec.terms import identity_of
from kipql.exec.uniqueness import proven_unique
from kipql.exec.write import as_tuple
from kipql.exec.write_expressions import item, value
from kipql.limits import Budget
from kipql.plan import nodes, prepare

if TYPE_CHECKING:
    from kipql.exec.context import Values
    from kipql.store.view import View

Run = Callable[["View", "Values", Budget, "int | None", bool], list[Any]]
_serial = count(1)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a plan became.

    run     (view, values, budget, wanted, unique) -> rows, finished unless the plan groups or sorts
    source  the generated text, for `explain`
    """

    run: Run
    source: str


def answer(
    planned: prepare.Planned, plan: nodes.Plan, view: "View", values: "Values", budget: Budget, wanted: int | None
) -> list[Any]:
    """The projected rows, all of them or the first `wanted`."""
    if plan.scan is not None:
        from kipql.exec.operators.columns import counted

        rows = counted(plan, view, values, budget)
        if rows is not None:
            return _windowed(plan, rows, budget, wanted)
    code = made(planned, plan, view)
    assert code is not None, "asked before whether it fits"
    unique = plan.unique == "always" or proven_unique(plan, view)
    if not plan.order and not plan.grouped:
        return code.run(view, values, budget, wanted, unique)
    return finished(plan, code.run(view, values, budget, None, unique), budget, wanted)


def fits(planned: prepare.Planned, plan: nodes.Plan, view: "View") -> bool:
    """Whether the plan can be generated: Python nests functions and expressions only so deep."""
    return made(planned, plan, view) is not None


def made(planned: prepare.Planned, plan: nodes.Plan, view: "View") -> Compiled | None:
    """The generated function of a plan for a kind of view; None where it can not be generated."""
    key = (id(plan), view.has_merges, is_direct(view))
    if key not in planned.compiled:
        try:
            planned.compiled[key] = compiled(plan, key[1], key[2])
        except (RecursionError, MemoryError, SyntaxError):
            planned.compiled[key] = None
    return planned.compiled[key]  # type: ignore[return-value]


def finished(plan: nodes.Plan, rows: list[Any], budget: Budget, wanted: int | None) -> list[Any]:
    """Groups, order and window."""
    budget.buffer(len(rows))
    if plan.grouped:
        rows = grouping.grouped(plan.items, rows, budget)
    return _windowed(plan, rows, budget, wanted)


def _windowed(plan: nodes.Plan, rows: list[Any], budget: Budget, wanted: int | None) -> list[Any]:
    """The rows in order, as many as are wanted, without what was only sorted by."""
    width = len(plan.items)
    if plan.order:
        rows = sorting.sorted_by(rows, _key_columns(plan, rows), plan.order, budget)
    if wanted is not None:
        rows = rows[:wanted]
    if width == 1:
        return [row[0] for row in rows]
    return rows if plan.grouped or not _extra(plan) else [row[:width] for row in rows]


def _extra(plan: nodes.Plan) -> list[nodes.Expression]:
    """The sort keys that FIND does not list; their values follow the columns in a row."""
    return [sort.key for sort in plan.order if not isinstance(sort.key, int)]


def _key_columns(plan: nodes.Plan, rows: list[Any]) -> list[list[object]]:
    """Per sort key, its value in each row."""
    places, after = [], len(plan.items)
    for sort in plan.order:
        if isinstance(sort.key, int):
            places.append(sort.key)
        else:
            places.append(after)
            after += 1
    return [[row[place] for row in rows] for place in places]


def compiled(plan: nodes.Plan, merges: bool, direct: bool) -> Compiled:
    """Generate and compile the source of a plan."""
    code = Emitter(plan, merges, direct)
    out, seen = code.own("[]", "out"), code.own("None if unique else set()", "seen")
    written(code, out, seen)
    source = code.source("def run(view, p, budget, wanted, unique):", f"return {out}")
    return Compiled(function(source, "run", code.namespace), source)


def written(code: Emitter, out: str, seen: str | None) -> None:
    """Write the whole of a plan; rows come into `out`, what was there before into `seen` unless nothing comes twice."""
    write.register()
    write.block(code.plan.block.operators, code, {}, lambda scope: _leaf(code, scope, out, seen))


def _leaf(code: Emitter, scope: Scope, out: str, seen: str | None) -> None:
    """The innermost statements: a solution that was not there before becomes a row."""
    plan = code.plan
    if seen is not None and plan.unique != "always":
        keys = [_identity(name, scope, code) for name in plan.visible]
        with code.block(f"if {seen} is not None:"):
            code.line(f"key = {as_tuple(keys)}")
            with code.block(f"if key in {seen}:"):
                code.line("continue" if code.looping else f"return {out}" if code.main else "return")
            code.line(f"{seen}.add(key)")
    cells = _cells(plan, code, scope)
    single = len(cells) == 1 and not plan.grouped and not plan.order
    code.line(f"{out}.append({cells[0] if single else as_tuple(cells)})")
    if code.main and not plan.grouped and not plan.order:
        code.enough(out)
    if code.looping or not code.main:
        code.buffer(out)


def _cells(plan: nodes.Plan, code: Emitter, scope: Scope) -> list[str]:
    """The columns of a row, then the sort keys that are no column."""
    cells = [
        value(one.operand, code, scope) if isinstance(one, nodes.Aggregate) else item(one, code, scope)
        for one in plan.items
    ]
    return cells if plan.grouped else cells + [value(key, code, scope) for key in _extra(plan)]


def _identity(name: str, scope: Scope, code: Emitter) -> str:
    """What makes two cells of a visible variable one."""
    place = scope.get(name)
    if place is None:
        return "None"
    shape = code.shapes[name]
    if shape in ("term", "belief"):
        return place.name
    if shape == "symbol":
        number = f"{code.member('lineage_of')}[{place.name}]"
        return number if place.sure else f"(None if {place.name} is None else {number})"
    return f"{code.helper(identity_of)}(view, {place.name})"


def function(source: str, name: str, namespace: dict[str, Any]) -> Any:
    """Compile generated source; its lines stay readable in tracebacks, as long as the function lives."""
    file = f"<kipql plan {next(_serial)}>"
    exec(compile(source, file, "exec"), namespace)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    written = namespace[name]
    finalize(written, linecache.cache.pop, file, None).atexit = False
    return written
