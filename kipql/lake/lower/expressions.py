"""Expressions as SQL with KQL's three values (specification §44.1, §44.2).

SQL's NULL is unknown. What SQL compares exactly as KQL does is said in SQL; everything else is a call of the
engine's own logic (`cells`), so that nothing is approximated.
"""

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from kipql.exec.expressions import check_constants
from kipql.lake.cells import text
from kipql.lake.lower.marks import element_cell, is_element_cell, is_symbol_cell
from kipql.lake.lower.sql import (
    Sql,
    call,
    case,
    cast,
    coalesce,
    col,
    concat,
    eq,
    every,
    is_null,
    lit,
    not_null,
    null,
    some,
    unless_null_text,
)  # fmt: skip
from kipql.lake.lower.steps import Lowering, Relation
from kipql.lake.lower.values import Val, cell_of, inside_quotes, is_among, is_equal, is_ordered, number_of, truth_of
from kipql.lake.lower.wants import BOUNDS, Want, unsupported
from kipql.plan import nodes
from kipql.plan.cells import holds_symbol
from kipql.plan.functions import STRENGTH
from kipql.values import json_type

SEVERAL = 50
"""Constants up to which IN says each comparison."""


class Expressions:
    """The expressions over the solutions of a relation, as `r`."""

    def __init__(self, low: Lowering, relation: Relation) -> None:
        self.low = low
        self.scope = relation.scope
        self._limits = lit(low.limits)

    # --- values

    def value(self, expression: nodes.Expression) -> Val:
        """A value of any kind."""
        match expression:
            case nodes.Load(name=name):
                return self._load(name)
            case nodes.Member(name=name, steps=steps):
                return self._member(name, steps)
            case nodes.Const(slot=slot):
                constant = self.low.values[slot.index]
                return Val("constant", lit(None if constant is None else text(constant)), constant)
            case nodes.Apply():
                return self._apply(expression)
            case nodes.Minus(operand=operand):
                return self._minus(self.value(operand))
            case nodes.Opposite() | nodes.Comparison() | nodes.Every() | nodes.Any():
                return Val("truth", self.truth(expression))
            case nodes.Listing() | nodes.Record():
                return self._whole(expression)
            case _:
                raise AssertionError(f"{type(expression).__name__} is no expression as written")

    def _whole(self, expression: nodes.Listing | nodes.Record) -> Val:
        """An array or an object of constants."""
        held: Any = [self.value(item).constant for item in expression.items]
        if isinstance(expression, nodes.Record):
            held = dict(zip(expression.names, held, strict=True))
        return Val("constant", lit(text(held)), held)

    def _load(self, name: str) -> Val:
        if name not in self.scope:
            return Val("constant", lit(None))
        low, column = self.low, col(self.low.columns[name], "r")
        match low.shapes[name]:
            case "symbol":
                return Val("symbol", col(low.column_of(name, Want("ref")), "r"), lineage=column)
            case "term" if name in low.elements_only:
                return Val("code", column)
            case _:
                return Val("cell", unless_null_text(self._cell(name)))

    def _cell(self, name: str) -> Sql:
        """The cell of a variable that may hold a Literal, or anything; a null that is bound is `null`."""
        low, column = self.low, col(self.low.columns[name], "r")
        if low.shapes[name] == "term":
            literal = col(low.column_of(name, Want("literal")), "r")
            return coalesce(literal, case((exp.GTE(this=column, expression=lit(0)), element_cell(column.copy()))))
        if Want("ref") not in low.wants.get(name, ()):
            return column
        ref = col(low.column_of(name, Want("ref")), "r")
        return case((is_symbol_cell(column), concat(column.copy(), lit(" "), ref)), other=column.copy())

    def identity(self, name: str, seen: Sql) -> Sql:
        """What makes two bindings of a variable one, where that is not all that an expression sees: symbols are one by
        their lineage."""
        if Want("ref") not in self.low.wants.get(name, ()) or name not in self.scope:
            return seen
        column = col(self.low.columns[name], "r")
        return column if self.low.shapes[name] == "symbol" else case((is_symbol_cell(seen), column), other=seen.copy())

    def exact(self, expression: nodes.Expression) -> Sql:
        """The cell of an argument in which a null that is bound shows as `null`."""
        if isinstance(expression, nodes.Load) and expression.name in self.scope:
            low, name = self.low, expression.name
            if low.shapes[name] == "any" or (low.shapes[name] == "term" and name not in low.elements_only):
                return self._cell(name)
        return cell_of(self.value(expression))

    def _member(self, name: str, steps: tuple[str, ...]) -> Val:
        if name not in self.scope or self.low.shapes[name] == "symbol":
            return Val("constant", lit(None))
        found = col(self.low.column_of(name, Want("member", steps)), "r")
        if not holds_symbol(steps):
            return Val("cell", found)
        if self.low.shapes[name] != "term":  # a member of a value or of a belief: an exact ref, or anything
            return Val("cell", call("kip_symbol", found, lit(self.low.view.renames)))
        ref = case((not_null(found), inside_quotes(found.copy())))
        return Val("symbol", ref, lineage=self.low.lineage(ref.copy()))

    def _bound(self, expression: nodes.Expression) -> Sql | None:
        """An exact end of valid time as bare text: what is inexact decides nothing."""
        if not isinstance(expression, nodes.Member) or expression.steps not in BOUNDS:
            return None
        if expression.name not in self.scope or self.low.shapes[expression.name] != "term":
            return None
        return col(self.low.column_of(expression.name, Want("bound", expression.steps)), "r")

    def _minus(self, value: Val) -> Val:
        if value.kind == "constant":
            number = value.constant
            found = -number if json_type(number) == "number" else None
            return Val("constant", lit(None if found is None else text(found)), found)
        return Val("number", exp.Neg(this=exp.Paren(this=number_of(value))))

    def _apply(self, apply: nodes.Apply) -> Val:
        name = apply.function
        if name == STRENGTH:
            facet = cell_of(self.value(apply.args[0]))
            return Val("cell", call("kip_strength", facet, cast(lit(self.low.view.now), "BIGINT")))
        check_constants(apply, self.low.values)
        named = lit(f"{name} {apply.where.start} {apply.where.end}")
        first_, second = apply.args[0], apply.args[1] if len(apply.args) > 1 else None
        match name:
            case "IS_NULL" | "IS_NOT_NULL":
                absent = is_null(cell_of(self.value(first_)))
                return Val("truth", absent if name == "IS_NULL" else exp.Not(this=absent))
            case "IN":
                assert second is not None
                return Val("truth", self._in(self.value(first_), second, named))
            case "IS_ELEMENT":
                cell = cell_of(self.value(first_))
                return Val("truth", coalesce(is_element_cell(cell), exp.false()))
            case "LITERAL_TYPE":
                return Val("cell", call("kip_call_1", named, self._limits.copy(), self.exact(first_)))
            case "IS_LITERAL":
                found = call("kip_call_1", named, self._limits.copy(), self.exact(first_))
                return Val("truth", eq(found, lit("true")))
            case _:
                if second is None or len(apply.args) > 2:
                    raise unsupported(f"{name} of {len(apply.args)} values", apply.where)
                cells = (cell_of(self.value(first_)), cell_of(self.value(second)))
                found = call("kip_call_2", named, self._limits.copy(), *cells)
                return Val("truth", truth_of(found))

    def _in(self, value: Val, listed: nodes.Expression, named: Sql) -> Sql:
        if isinstance(listed, nodes.Const):
            constant = self.low.values[listed.slot.index]
            if not isinstance(constant, list | tuple):
                return null("BOOLEAN")
            if len(constant) > SEVERAL:
                cells = (cell_of(value), lit(text(constant)))
                called = truth_of(call("kip_call_2", named, self._limits.copy(), *cells))
                return is_among(cell_of(value), constant, called)
            options = [Val("constant", lit(None if one is None else text(one)), one) for one in constant]
        elif isinstance(listed, nodes.Listing):
            options = [self.value(item) for item in listed.items]
        else:
            cells = (cell_of(value), cell_of(self.value(listed)))
            return truth_of(call("kip_call_2", named, self._limits.copy(), *cells))
        found = some(is_equal(value, option) for option in options)
        return case((not_null(cell_of(value)), found)) if not options or value.kind != "constant" else found

    # --- truth

    def truth(self, expression: nodes.Expression) -> Sql:
        """A condition: TRUE, FALSE, or NULL for unknown."""
        match expression:
            case nodes.Every(items=items):
                return exp.Paren(this=every(self._truths(items)))
            case nodes.Any(items=items):
                return exp.Paren(this=some(self._truths(items)))
            case nodes.Opposite(operand=operand):
                return exp.Not(this=exp.Paren(this=self.truth(operand)))
            case nodes.Comparison(op=op, left=left, right=right):
                return self._compare(op, left, right)
            case _:
                return self._as_truth(self.value(expression))

    def _truths(self, items: Sequence[nodes.Expression]) -> list[Sql]:
        return [self.truth(item) for item in items]

    def _as_truth(self, value: Val) -> Sql:
        match value.kind:
            case "truth":
                return value.sql
            case "constant":
                return lit(value.constant) if isinstance(value.constant, bool) else null("BOOLEAN")
            case "cell":
                return truth_of(value.sql)
            case _:
                return null("BOOLEAN")

    def _compare(self, op: str, left: nodes.Expression, right: nodes.Expression) -> Sql:
        same = op in ("==", "!=")
        ends = (self._end(left, right, same), self._end(right, left, same))
        if same:
            found = is_equal(*ends)
            return found if op == "==" else exp.Not(this=exp.Paren(this=found))
        return is_ordered(op, *ends)

    def _end(self, expression: nodes.Expression, other: nodes.Expression, same: bool) -> Val:
        """An operand; an end of valid time is bare text where it meets a text, or another end to be ordered with: of
        two that are inexact only equality says anything."""
        bound = self._bound(expression)
        if bound is not None:
            meets_text = isinstance(other, nodes.Const) and isinstance(self.low.values[other.slot.index], str)
            if meets_text or (not same and self._bound(other) is not None):
                return Val("text", bound)
        return self.value(expression)
