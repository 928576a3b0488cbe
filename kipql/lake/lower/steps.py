"""A plan being lowered: named steps, each a SELECT over those before, and what each solution column is called.

A relation holds solutions: a column per variable that is in scope, and the columns that go along with it (`wants`).
Solutions are a set until they are counted, so that a step may say one twice.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from kipql.lake import layout
from kipql.lake.lower import members
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
    first,
    gt,
    is_null,
    le,
    lit,
    named,
    null,
    rest,
    some,
    table,
)  # fmt: skip
from kipql.lake.lower.wants import Want, elements_only, wanted
from kipql.model import EVIDENCE, KINDS
from kipql.plan import nodes
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.lake.engines import Engine
    from kipql.lake.view import LakeView

TERM = "t"
"""Begins the columns with the terms of variables that hold any cell; one step makes them, the next reads them."""
ALL_KINDS = frozenset(range(len(KINDS)))


@dataclass(frozen=True, slots=True)
class Relation:
    """Solutions so far.

    name   the step that holds them
    scope  variable -> whether every solution binds it
    carry  columns of an outer block that go through unchanged
    once   whether no solution is there twice
    """

    name: str
    scope: Mapping[str, bool]
    carry: tuple[str, ...] = ()
    once: bool = False


@dataclass(slots=True)
class Lowering:
    """One plan over one view of a lake. `engine` runs what has to be known before the rest is lowered: paths."""

    plan: nodes.Plan
    values: tuple[Json, ...]
    view: "LakeView"
    engine: "Engine"
    steps: list[tuple[str, exp.Select]] = field(default_factory=list)
    shapes: dict[str, str] = field(init=False)
    wants: dict[str, tuple[Want, ...]] = field(init=False)
    columns: dict[str, str] = field(init=False)
    narrowed: dict[str, frozenset[int]] = field(default_factory=dict)
    _bases: dict[str, str] = field(default_factory=dict)
    depth: int = 0

    elements_only: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.elements_only = elements_only(self.plan.block)
        self.shapes = dict(self.plan.shapes)
        self.wants = wanted(self.plan, self.values)
        self.columns = {name: f"v{at}" for at, name in enumerate(self.shapes)}

    # --- names

    def step(self, select: exp.Select) -> str:
        """A new step; its name."""
        name = f"s{len(self.steps)}"
        self.steps.append((name, select))
        return name

    def tree(self, select: exp.Select) -> exp.Select:
        """A SELECT with the steps before it."""
        whole = select.copy()
        for name, step in self.steps:
            base = False if name in self._bases.values() else None  # read where it is used, with what is asked there
            whole.with_(exp.to_identifier(name, quoted=True), as_=step.copy(), materialized=base, copy=False)
        return whole

    def keep(self, select: exp.Select) -> str:
        """Run a SELECT now and keep its rows as a table; its name."""
        return self.engine.keep(self.tree(select))

    def along(self, variable: str) -> Iterable[tuple[Want, str]]:
        """The columns that go along with a variable."""
        column = self.columns[variable]
        return [(want, f"{column}_{at}") for at, want in enumerate(self.wants.get(variable, ()))]

    def column_of(self, variable: str, want: Want) -> str:
        """The column of one of them."""
        return next(column for each, column in self.along(variable) if each == want)

    def all_columns(self, variables: Iterable[str]) -> list[str]:
        """The columns of variables, with all that goes along."""
        found = []
        for variable in variables:
            found.append(self.columns[variable])
            found += [column for _, column in self.along(variable)]
        return found

    # --- base tables at the view's sequence

    def base(self, name: str) -> str:
        """A table as it is at the sequence."""
        known = self._bases.get(name)
        if known is None:
            made = self._propositions() if name == layout.PROPOSITIONS.name else self._at(name)
            known = self._bases[name] = self.step(made)
        return known

    def _at(self, name: str) -> exp.Select:
        seq = self.view.seq
        ends = some((is_null(col("seq_to")), gt(col("seq_to"), lit(seq))))
        return exp.select("*").from_(table(name)).where(every((le(col("seq_from"), lit(seq)), ends)))

    def _propositions(self) -> exp.Select:
        """With `csubject` and `cobject`, the canonical ends."""
        if not self.view.has_merges:
            ends = (named(col("subject"), "csubject"), named(col("object"), "cobject"))
            return self._at(layout.PROPOSITIONS.name).select(*ends)
        at = self.step(self._at(layout.PROPOSITIONS.name))
        identities = self.base(layout.IDENTITIES.name)
        found = exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier("p", quoted=True))).from_(table(at, "p"))
        for end, alias in (("subject", "i"), ("object", "j")):
            on = eq(col("code", alias), col(end, "p"))
            found = found.join(table(identities, alias), on=on, join_type="left")
            canonical = coalesce(col("canonical", alias), col(end, "p"))
            found = found.select(named(canonical, f"c{end}"))
        return found

    def same(self) -> str:
        """(code, canonical) of every merged Concept and of what it is merged into."""
        known = self._bases.get("~same")
        if known is None:
            identities = table(self.base(layout.IDENTITIES.name))
            merged = exp.select(col("code"), col("canonical")).from_(identities)
            itself = exp.select(named(col("canonical"), "code"), col("canonical")).from_(identities.copy())
            both = exp.union(merged, itself, distinct=True)
            known = self._bases["~same"] = self.step(exp.select("*").from_(both.subquery("u")))
        return known

    def unit(self, carry: tuple[str, ...] = ()) -> Relation:
        """One solution that binds nothing."""
        return Relation(self.step(exp.select(named(lit(1), "unit"))), {}, carry, once=True)

    # --- symbols

    def refs(self, symbol: nodes.SymbolRef) -> list[Sql]:
        """The exact refs that a symbol stands for."""
        return [lit(ref) for ref in self.view.refs(self.view.named_lineage(symbol, self.values))]

    def lineage(self, ref: Sql) -> Sql:
        """The lineage of an exact ref that the lake holds."""
        known = self.view.lineages()
        return case(*((eq(ref.copy(), lit(each)), lit(lineage)) for each, lineage in known.items()), other=ref)

    # --- cells

    def boxed(self, variable: str, code: Sql) -> Sql:
        """The cell of an element for a variable of its shape."""
        if self.shapes[variable] == "term":
            return code
        return concat(lit("@"), cast(code, "VARCHAR"))

    def code(self, variable: str, at: str = "r") -> Sql:
        """The code of the element that a variable is bound to; NULL where it is bound to none."""
        cell = col(self.columns[variable], at)
        if self.shapes[variable] == "term":
            return cell
        return case((eq(first(cell), lit("@")), cast(rest(cell.copy()), "BIGINT")))


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
        self.select.join(table(step, alias), on=conditions, join_type="left", copy=False)
        return alias

    def join(self, step: str, alias: str) -> None:
        """Join a step; its conditions come later."""
        self.select.join(table(step, alias), join_type="cross", copy=False)

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
            if along is not None and want in along:
                self.outputs[name] = along[want]
            else:
                self.outputs.pop(name, None)
                if variable not in self._unfilled:
                    self._unfilled.append(variable)

    def rebind(self, variable: str, cell: Sql) -> None:
        """A variable that some solutions bound, with the cell that every one has now."""
        self._fresh[variable] = cell
        self.scope[variable] = True
        self.outputs[self.low.columns[variable]] = cell
        for _, name in self.low.along(variable):
            self.outputs.pop(name, None)
        if self.low.along(variable):
            self._unfilled.append(variable)

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
            made = filled(
                self.low, made, variable, {name for later in self._unfilled for _, name in self.low.along(later)}
            )
        return made


def filled(low: Lowering, relation: Relation, variable: str, later: set[str]) -> Relation:
    """The relation with what goes along with a variable, found by its cell; the columns `later` are not there yet."""
    wants = list(low.along(variable))
    others = [name for name in relation.scope if name != variable]
    kept = [*(name for name in low.all_columns(others) if name not in later), low.columns[variable], *relation.carry]
    select = exp.select(*(col(name, "r") for name in kept)).from_(table(relation.name, "r"))
    code = low.code(variable)
    found: dict[str, Sql] = {}
    kinds = low.narrowed.get(variable, ALL_KINDS)
    elements = [(want, name) for want, name in wants if want.what in ("member", "bound", "whole", "payload")]
    kinds = frozenset(kind for kind in kinds if any(_has(kind, want) for want, _ in elements))
    if elements and len(kinds) == 1:
        # members are made of the rows that were found, not of the whole table before
        (kind,) = kinds
        source = low.base(layout.STATE_TABLES[kind].name)
        select.join(table(source, "e"), on=eq(col("code", "e"), code), join_type="left", copy=False)
        if kind == EVIDENCE and any(members.reads_payload(want) for want, _ in elements):
            select = with_payload(low, select, "e")
        found.update({name: _want(low, kind, want, "e") for want, name in elements})
    elif elements and kinds:
        step = _elements(low, sorted(kinds), elements)
        select.join(table(step, "e"), on=eq(col("code", "e"), code), join_type="left", copy=False)
        found.update({name: col(name, "e") for _, name in elements})
    for want, name in wants:
        if want.what == "literal":
            select, found[name] = _literal(low, select, variable, name)
        elif want.what == "ref":
            found[name] = null("VARCHAR")
        else:
            found.setdefault(name, null("VARCHAR"))
    if low.shapes[variable] == "any":
        _inside(low, variable, wants, found)
    return replace(
        relation, name=low.step(select.select(*(named(value, name) for name, value in found.items()), copy=False))
    )


def _has(kind: int, want: Want) -> bool:
    return want.what == "whole" or (
        members.has(kind, want.steps) if want.what == "member" else kind == {"bound": 2, "payload": 3}[want.what]
    )


def _elements(low: Lowering, kinds: list[int], wants: list[tuple[Want, str]]) -> str:
    """(code, wants) of the elements of several kinds."""
    parts = []
    for kind in kinds:
        source = low.base(layout.STATE_TABLES[kind].name)
        part = exp.select(col("code", "k")).from_(table(source, "k"))
        if kind == EVIDENCE and any(members.reads_payload(want) for want, _ in wants):
            part = with_payload(low, part, "k")
        part = part.select(*(named(_want(low, kind, want, "k"), name) for want, name in wants))
        parts.append(part)
    whole = parts[0] if len(parts) == 1 else exp.union(*parts, distinct=False)
    return low.step(exp.select("*").from_(whole.subquery("u")))


def _want(low: Lowering, kind: int, want: Want, at: str) -> Sql:
    reads = kind != EVIDENCE and members.reads_payload(want)
    return null("VARCHAR") if reads else members.want(kind, want, at, low.view.facet_refs())


def with_payload(low: Lowering, select: exp.Select, at: str) -> exp.Select:
    """Join the payloads of Evidence rows as `payload`."""
    on = eq(col("code", "payload"), col("code", at))
    return select.join(table(low.base(layout.PAYLOADS.name), "payload"), on=on, join_type="left")


def _literal(low: Lowering, select: exp.Select, variable: str, name: str) -> tuple[exp.Select, Sql]:
    if low.shapes[variable] != "term":
        return select, null("VARCHAR")
    on = eq(col("code", f"l{name}"), col(low.columns[variable], "r"))
    return select.join(table(layout.LITERALS.name, f"l{name}"), on=on, join_type="left"), col("json", f"l{name}")


def _inside(low: Lowering, variable: str, wants: list[tuple[Want, str]], found: dict[str, Sql]) -> None:
    """Members of a cell that is a value or an edge are inside it."""
    import json

    cell = col(low.columns[variable], "r")
    for want, name in wants:
        if want.what != "member":
            continue
        steps = lit(json.dumps(list(want.steps)))
        inside = call("kip_member", cell.copy(), steps)
        found[name] = case((eq(first(cell.copy()), lit("@")), found[name]), other=inside)
