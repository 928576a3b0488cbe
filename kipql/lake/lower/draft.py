"""A step being written: joins and conditions that extend the solutions of a relation, and what they bind."""

from collections.abc import Mapping

from sqlglot import exp

from kipql.lake import layout
from kipql.lake.lower.along import filled
from kipql.lake.lower.sql import (
    TEXT,
    Sql,
    coalesce,
    col,
    crossed,
    eq,
    every,
    is_null,
    left_joined,
    lit,
    named,
    null,
    some,
    table,
)
from kipql.lake.lower.steps import TERM, Lowering, Relation
from kipql.lake.lower.wants import Want


class Draft:
    """A step that extends the solutions of a relation: joins, conditions and what they bind."""

    def __init__(self, low: Lowering, relation: Relation, *, single: bool = False) -> None:
        """`single`: of each solution that comes in, no two go out that are the same."""
        self.low = low
        self.once = single and relation.once
        self.relation = relation
        self.scope = dict(relation.scope)
        self.outputs: dict[str, Sql] = {}
        self.conditions: list[Sql] = []
        self.select = exp.select().from_(table(relation.name, "r"))
        self._fresh: dict[str, Sql] = {}
        self._unfilled: list[str] = []
        self._aliases = 0
        self.carry = tuple(name for name in relation.carry if not name.startswith(TERM))
        for column in (*low.all_columns(relation.scope), *self.carry):
            self.outputs[column] = col(column, "r")

    def alias(self) -> str:
        """A fresh table alias."""
        self._aliases += 1
        return f"j{self._aliases}"

    def left_join(self, step: str, on: Mapping[str, Sql]) -> str:
        """Join a step where its columns are what is said, or nothing is; its alias."""
        alias = self.alias()
        conditions = every(eq(col(name, alias), value) for name, value in on.items())
        left_joined(self.select, table(step, alias), conditions)
        return alias

    def join(self, step: str, alias: str) -> None:
        """Join a step; its conditions come later."""
        crossed(self.select, table(step, alias))

    def when(self, *conditions: Sql) -> None:
        """Keep only what satisfies these."""
        self.conditions.extend(conditions)

    def canonical(self, code: Sql) -> Sql:
        """The canonical identity of a code."""
        if not self.low.view.has_merges:
            return code
        alias = self.left_join(self.low.base(layout.IDENTITIES.name), {"code": code})
        return coalesce(col("canonical", alias), code.copy())

    def held(self, variable: str) -> bool | None:
        """Whether a variable is bound before: in every solution, in some (False), in none (None)."""
        return self.relation.scope.get(variable)

    def fresh(self, variable: str) -> Sql | None:
        """The cell that this step has bound a variable to; None where it has not."""
        cell = self._fresh.get(variable)
        return None if cell is None else cell.copy()

    def bind(self, variable: str, cell: Sql, along: Mapping[Want, Sql] | None = None) -> None:
        """Bind a variable to a cell that is never NULL, or check it where it is bound.

        along  what goes along with it, where the row at hand says it; found by its code otherwise
        """
        low, column = self.low, self.low.columns[variable]
        if variable in self._fresh:
            self.when(eq(self._fresh[variable].copy(), cell))
            return
        before = self.held(variable)
        if before:
            self.when(eq(col(column, "r"), cell))
            return
        if before is False:
            self.when(some((is_null(col(column, "r")), eq(col(column, "r"), cell))))
            cell = coalesce(col(column, "r"), cell.copy())
        self._fresh[variable] = cell
        self.scope[variable] = True
        self.outputs[column] = cell
        for want, name in low.along(variable):
            given = along.get(want) if along is not None else None
            if want.what == "ref":
                self._keep_ref(name, given, bound=before is False)
            elif given is not None:
                self.outputs[name] = given
            else:
                self._unfill(variable, name)

    def _keep_ref(self, name: str, given: Sql | None, *, bound: bool) -> None:
        """The exact ref of a symbol is not found by its cell: the one that was bound first stays."""
        ref = null(TEXT) if given is None else given
        self.outputs[name] = coalesce(col(name, "r"), ref) if bound else ref

    def _unfill(self, variable: str, name: str) -> None:
        self.outputs.pop(name, None)
        if variable not in self._unfilled:
            self._unfilled.append(variable)

    def rebind(self, variable: str, cell: Sql) -> None:
        """A variable that some solutions bound, with the cell that every one has now."""
        self._fresh[variable] = cell
        self.scope[variable] = True
        self.outputs[self.low.columns[variable]] = cell
        for want, name in self.low.along(variable):
            if want.what == "ref":
                self._keep_ref(name, None, bound=True)
            else:
                self._unfill(variable, name)

    def done(self, *, distinct: bool = False) -> Relation:
        """The relation that this step makes."""
        select = self.select.select(*(named(value, name) for name, value in self.outputs.items()), copy=False)
        if not self.outputs:
            select = select.select(named(lit(1), "unit"), copy=False)
        if self.conditions:
            select = select.where(every(self.conditions), copy=False)
        if distinct:
            select = select.distinct()
        made = Relation(self.low.step(select), self.scope, self.carry, self.once)
        while self._unfilled:
            variable = self._unfilled.pop(0)
            made = filled(self.low, made, variable, {name for later in self._unfilled for name in self._found(later)})
        return made

    def _found(self, variable: str) -> list[str]:
        """The columns of a variable that are found by its cell."""
        return [name for want, name in self.low.along(variable) if want.what != "ref"]
