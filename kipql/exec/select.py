"""Selecting for KML and META: the distinct bindings of a WHERE block for some of its variables (§52.7, §58.4)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.exec import prepared as running
from kipql.exec.context import Context
from kipql.exec.reading import Reading
from kipql.exec.terms import identity_of, literal_json
from kipql.lang import ast
from kipql.limits import Budget
from kipql.plan import nodes, prepare, shape
from kipql.plan.cells import Cell, Value, Virtual
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View


def select(
    block: ast.Block,
    variables: tuple[str, ...],
    view: "View",
    parameters: Mapping[str, Json] | None = None,
    budget: Budget | None = None,
) -> list[tuple[Any, ...]]:
    """The distinct bindings of `variables`, in the order they are found.

    An element is its code (an int), None is unbound, everything else a `plan.cells.Value` with the JSON in it.

    Raises KipError as a FIND does; InvalidSyntax when nothing in the block binds one of the variables.
    """
    prepare.checked_block(block, variables)
    shaped = shape.lift_block(block)
    try:
        planned = prepare.planned_block(shaped, view.environment, variables)
        return _distinct(planned, shaped.literals, view, parameters or {}, budget or Budget())
    except KipError as error:
        raise shaped.locate(error) from None


def _distinct(
    planned: prepare.Planned,
    literals: tuple[object, ...],
    view: "View",
    parameters: Mapping[str, Json],
    budget: Budget,
) -> list[tuple[Any, ...]]:
    # What a transaction computes, it computes at its own instant (§32.3).
    history = view.graph.history
    made = Reading(view, at=view.committed_at(view.seq) if view.seq > len(history) else None)
    values = running.values_of(planned, literals, {**parameters, nodes.READING: made})
    plan = running.chosen(planned, view, values, budget, "closures")
    running.check_calls(planned, values)
    context = Context.of(plan, view, values, budget)
    seen: dict[tuple[object, ...], tuple[Any, ...]] = {}
    for solution in running.solutions(context):
        key = tuple(identity_of(view, cell) for cell in solution)
        if key not in seen:
            seen[key] = tuple(_cell(context, name, cell) for name, cell in zip(plan.visible, solution, strict=True))
            budget.buffer(len(seen))
    return list(seen.values())


def _cell(context: Context, name: str, cell: Cell) -> Any:
    if cell is None:
        return None
    if context.shapes[name] == "symbol":
        return Value(context.view.symbol_ref(cell))  # type: ignore[arg-type]
    if isinstance(cell, Virtual):
        return Value(cell.json())
    if cell.__class__ is int and cell < 0:
        return Value(literal_json(context.view, cell))
    return cell
