"""From solutions to rows: each solution once, then groups, order, window and projection (specification §42.5).

Counts are SQL's own; every other aggregate collects its inputs, and the engine's own functions finish them, since SQL
sums no floats exactly. Groups are few, so that they are sorted and cut when they are here.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from kipql.exec.grouping import AGGREGATES
from kipql.exec.sorting import sorted_by
from kipql.lake.cells import BELIEF, EDGE, ELEMENT, SYMBOL, bound
from kipql.lake.door import malformed
from kipql.lake.lower.expressions import Expressions
from kipql.lake.lower.sql import (
    BIG,
    Sql,
    among,
    call,
    case,
    coalesce,
    col,
    eq,
    every,
    first,
    is_null,
    lit,
    named,
    null,
    same,
    table,
    unless_null_text,
)
from kipql.lake.lower.steps import Lowering, Relation
from kipql.lake.lower.values import Val, cell_of, number_of, text_of
from kipql.lake.lower.wants import Want
from kipql.limits import Budget, exhausted
from kipql.plan import nodes
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.lake.engines import Engine

Row = tuple[Any, ...]
Read = Callable[[Row], Any]

EXTREMES = ("MIN", "MAX")
"""Aggregates of which each value counts once, however often it is there."""


@dataclass(slots=True)
class Shown:
    """What the last SELECT lists, and how a row of it becomes a row of the answer."""

    columns: list[Sql]
    reads: list[Read]

    def add(self, *columns: Sql) -> int:
        """More columns; where they begin."""
        begin = len(self.columns)
        self.columns.extend(columns)
        return begin


def rows(low: Lowering, relation: Relation, engine: "Engine", wanted: int | None, budget: Budget) -> list[Any]:
    """The rows of a plan, all of them or the first `wanted`. Raises ResourceExhausted where they are more than an
    answer may have, or more comes here than may be held at once."""
    relation = distinct(low, relation)
    plan = low.plan
    limits = budget.limits
    enough = limits.rows + 1 if wanted is None else min(wanted, limits.rows + 1)
    if plan.grouped:
        made = _groups(low, relation, engine, budget)
    else:
        made = _solutions(low, relation, engine, min(enough, limits.buffered + 1) if plan.order else enough)
        if plan.order:
            budget.buffer(len(made))
    if len(made if wanted is None else made[:wanted]) > limits.rows:
        exhausted("rows", limits.rows, "the answer has too many rows")
    found = made if wanted is None else made[:wanted]
    return [row[0] for row in found] if len(plan.items) == 1 else found


def distinct(low: Lowering, relation: Relation) -> Relation:
    """Each complete solution over the visible variables once: symbols are one by their lineage, so that the exact
    ref that is shown is one of them (§42.5). What else goes along with a variable follows from its cell."""
    visible = [name for name in low.plan.visible if name in relation.scope]
    scope = {name: relation.scope[name] for name in visible}
    if relation.once and len(scope) == len(relation.scope):
        return Relation(relation.name, scope, once=True)
    along = [each for name in visible for each in low.along(name)]
    keys = [low.columns[name] for name in visible]
    step = exp.select(*(col(name, "r") for name in keys)).from_(table(relation.name, "r"))
    if not keys:
        step = step.select(named(lit(1), "unit")).distinct()
    elif along:
        one = {"ref": exp.Min}
        step = step.select(
            *(named(one.get(want.what, exp.AnyValue)(this=col(name, "r")), name) for want, name in along)
        )
        step = step.group_by(*(col(name, "r") for name in keys))
    else:
        step = step.distinct()
    return Relation(low.step(step), scope, once=True)


# --- rows without groups ------------------------------------------------------------------------------


def _solutions(low: Lowering, relation: Relation, engine: "Engine", wanted: int) -> list[Row]:
    """The first rows in the order of the plan, and then of the cells of their variables: the same at every run."""
    expressions = Expressions(low, relation)
    shown = Shown([], [])
    for item in low.plan.items:
        assert not isinstance(item, nodes.Aggregate)
        shown.reads.append(_item(low, expressions, item, shown))
    keys = [key for sort in low.plan.order for key in _keys(low, expressions, sort)]
    ties = [low.columns[name] for name in relation.scope]
    listed = [named(value, f"c{at}") for at, value in enumerate(shown.columns)]
    sorted_by = [named(key.this, f"k{at}") for at, key in enumerate(keys)]
    inner = exp.select(*listed, *sorted_by, *(col(name, "r") for name in ties), named(lit(1), "unit"))
    step = low.step(inner.from_(table(relation.name, "r")))
    select = exp.select(*(col(f"c{at}") for at in range(len(listed))), col("unit")).from_(table(step))
    order = [_ordered(col(f"k{at}"), bool(key.args["desc"])) for at, key in enumerate(keys)]
    select = select.order_by(*order, *(_ordered(col(name), False) for name in ties)).limit(wanted)
    return [tuple(read(row) for read in shown.reads) for row in engine.rows(low.tree(select, last=True))]


def _ordered(one: Sql, descending: bool) -> exp.Ordered:
    """A sort key; nulls last either way."""
    return exp.Ordered(this=one, desc=descending, nulls_first=False)


def _keys(low: Lowering, expressions: Expressions, sort: nodes.Sort) -> list[exp.Ordered]:
    """The sort keys of an expression: null last, then booleans, numbers and strings, each by its own order (§44.7)."""
    key = low.plan.items[sort.key] if isinstance(sort.key, int) else sort.key
    assert not isinstance(key, nodes.Aggregate)
    value = expressions.value(key)

    def ordered(one: Sql) -> exp.Ordered:
        return _ordered(one, sort.descending)

    if value.kind in ("text", "number", "symbol"):
        return [ordered(value.sql)]
    cell = cell_of(value)
    mark = first(cell)
    unordered = among(mark, [lit(one) for one in "[{@>%"])
    where = lit(json.dumps([sort.where.start, sort.where.end]))
    several = exp.GT(this=exp.Window(this=exp.Count(this=exp.Star())), expression=lit(1))
    # An engine may evaluate a call for rows that its branch leaves out, so that the call itself gets nothing of them.
    refused = call("kip_unordered", case((every((unordered, several)), cell.copy())), where)
    rank = coalesce(
        case(
            (among(cell.copy(), [lit("true"), lit("false")]), lit(0)),
            (among(mark.copy(), [lit('"'), lit(SYMBOL)]), lit(2)),
            (exp.and_(exp.Not(this=unordered.copy()), exp.Not(this=is_null(cell.copy()))), lit(1)),
        ),
        refused,
    )
    as_cell = Val("cell", cell.copy())
    return [
        ordered(rank),
        ordered(case((among(cell.copy(), [lit("true"), lit("false")]), eq(cell.copy(), lit("true"))))),
        ordered(number_of(as_cell)),
        ordered(text_of(as_cell)),
    ]


# --- groups -------------------------------------------------------------------------------------------


def _groups(low: Lowering, relation: Relation, engine: "Engine", budget: Budget) -> list[Row]:
    expressions = Expressions(low, relation)
    shown = Shown([], [])
    keys: list[Sql] = []
    for item in low.plan.items:
        if isinstance(item, nodes.Aggregate):
            shown.reads.append(_aggregate(expressions, item, shown, budget))
        else:
            shown.reads.append(_item(low, expressions, item, shown, keys))
    select = exp.select(*(named(value, f"c{at}") for at, value in enumerate(shown.columns)))
    select = select.from_(table(relation.name, "r"))
    if keys:
        select = select.group_by(*keys)
    elif any(not isinstance(item, nodes.Aggregate) for item in low.plan.items):  # keys that are constants
        select = select.having(exp.GT(this=exp.Count(this=exp.Star()), expression=lit(0)))
    fetched = engine.rows(low.tree(select.limit(budget.limits.buffered + 1), last=True))
    budget.buffer(len(fetched) + sum(len(held) - 1 for row in fetched for held in row if isinstance(held, list)))
    found = [tuple(read(row) for read in shown.reads) for row in fetched]
    found.sort(key=repr)  # an order of its own, the same on every engine
    order = low.plan.order
    places = [sort.key for sort in order if isinstance(sort.key, int)]
    return sorted_by(found, [[row[place] for row in found] for place in places], order, budget) if order else found


def _aggregate(expressions: Expressions, item: nodes.Aggregate, shown: Shown, budget: Budget) -> Read:
    value = expressions.value(item.operand)
    operand = value.sql if value.kind in ("code", "text", "number") else cell_of(value)
    if isinstance(item.operand, nodes.Load):
        operand = expressions.identity(item.operand.name, operand)
    if item.function == "COUNT":
        counted = exp.Distinct(expressions=[operand]) if item.distinct else operand
        at = shown.add(exp.Count(this=counted))
        return lambda row: int(row[at])
    inputs = cell_of(value)
    at = shown.add(exp.ArrayAgg(this=exp.Distinct(expressions=[inputs]) if item.function in EXTREMES else inputs))
    finish, where = AGGREGATES[item.function], item.where

    def read(row: Row) -> Any:
        found = [bound(cell) for cell in _looked(row[at] or (), budget) if cell is not None]
        return finish(found, where) if found else None

    return read


def _looked(cells: Sequence[str | None], budget: Budget) -> Iterator[str | None]:
    """Cells, with a look at the clock now and then: a group may have millions."""
    for at in range(0, len(cells), Budget.STRIDE):
        budget.check()
        yield from cells[at : at + Budget.STRIDE]


# --- items --------------------------------------------------------------------------------------------


def _item(
    low: Lowering, expressions: Expressions, item: nodes.Expression, shown: Shown, keys: list[Sql] | None = None
) -> Read:
    """The columns of an item, and how its value is read from them. `keys` takes what groups are told apart by."""

    def add(*columns: Sql, key: int = 1) -> int:
        if keys is None:
            return shown.add(*columns)
        keys.extend(column.copy() for column in columns[:key])
        return shown.add(*columns[:key], *(exp.Min(this=column) for column in columns[key:]))

    match item:
        case nodes.Load(name=name) if name in expressions.scope:
            return _load(low, name, add)
        case nodes.Member(name=name, steps=steps) if name in expressions.scope and low.shapes[name] != "symbol":
            at = add(col(low.column_of(name, Want("member", steps)), "r"))
            return lambda row: _json(row[at])
        case nodes.Listing(items=items):
            reads = [_item(low, expressions, one, shown, keys) for one in items]
            return lambda row: [read(row) for read in reads]
        case nodes.Record(names=names, items=items):
            reads = [_item(low, expressions, one, shown, keys) for one in items]
            return lambda row: {name: read(row) for name, read in zip(names, reads, strict=True)}
        case _:
            value = expressions.value(item)
            if value.kind == "constant":
                return lambda row: value.constant
            at = add(cell_of(value))
            return lambda row: _shown(row[at])


def _load(low: Lowering, name: str, add: Callable[..., int]) -> Read:
    """A whole element, a Literal, a symbol, an edge or a value."""
    cell = col(low.columns[name], "r")
    columns = [col(low.column_of(name, Want(what)), "r") for what in ("whole", "payload", "literal")]
    # A null that is bound is shown as one that is not, and they are one group (§44.6).
    if low.shapes[name] == "symbol":
        ref = col(low.column_of(name, Want("ref")), "r")
        if low.view.tells_apart():
            at = add(ref)
            return lambda row: row[at]
        at = add(cell, ref)
        return lambda row: row[at + 1]
    if low.shapes[name] == "term":
        code = cell if name in low.elements_only else case((same(columns[2], lit("null")), null(BIG)), other=cell)
        at = add(code, *columns)
        return lambda row: _term(row[at], *row[at + 1 : at + 4])
    if low.shapes[name] == "belief":
        at = add(cell, columns[0])
        return lambda row: _json(row[at + 1])
    at = add(unless_null_text(cell), *columns, col(low.column_of(name, Want("ref")), "r"))
    return lambda row: _any(row[at], row[at + 1], row[at + 2], row[at + 4])


def _term(code: int | None, whole: str | None, payload: str | None, literal: str | None) -> Json:
    if code is None:
        return None
    return _whole(whole, payload) if code >= 0 else _json(literal)


def _any(cell: str | None, whole: str | None, payload: str | None, ref: str | None) -> Json:
    if cell is None:
        return None
    if cell[:1] == ELEMENT:
        return _whole(whole, payload)
    if cell[:1] == BELIEF:
        return _json(whole)
    return ref if cell[:1] == SYMBOL else _shown(cell)


def _whole(whole: str | None, payload: str | None) -> Json:
    """A whole element, members in the order of the wire."""
    if whole is None:
        return None
    found = json.loads(whole)
    if not isinstance(found, dict) or "kind" not in found:
        raise malformed("an element is no element")
    if found["kind"] == "evidence":
        found["payload"] = _json(payload)
    return found


def _json(cell: str | None) -> Json:
    return None if cell is None else json.loads(cell)


def _shown(cell: str | None) -> Json:
    if cell is None:
        return None
    if cell[:1] == SYMBOL:
        return cell[1:].rpartition(" ")[2]
    return json.loads(cell[1:] if cell[:1] == EDGE else cell)
