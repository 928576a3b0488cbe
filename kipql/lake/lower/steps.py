"""A plan being lowered: named steps, each a SELECT over those before, and what each solution column is called.

A relation holds solutions: a column per variable that is in scope, and the columns that go along with it (`wants`).
Solutions are a set until they are counted, so that a step may say one twice.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from kipql.lake import layout
from kipql.lake.cells import limits_text
from kipql.lake.lower.marks import element_cell, element_code
from kipql.lake.lower.sql import (
    Sql,
    case,
    coalesce,
    col,
    eq,
    everything,
    holds,
    left_joined,
    lit,
    named,
    table,
)
from kipql.lake.lower.wants import Want, elements_only, wanted
from kipql.model import KINDS
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
    units: set[str] = field(default_factory=set)  # steps of one solution that binds nothing

    elements_only: frozenset[str] = frozenset()
    limits: str = ""  # that the functions of this plan are held to together

    def __post_init__(self) -> None:
        self.elements_only = elements_only(self.plan.block)
        self.limits = limits_text(self.view.limits)
        self.shapes = dict(self.plan.shapes)
        self.wants = wanted(self.plan, self.values)
        self.columns = {name: f"v{at}" for at, name in enumerate(self.shapes)}

    # --- names

    def step(self, select: exp.Select) -> str:
        """A new step; its name."""
        name = f"s{len(self.steps)}"
        self.steps.append((name, select))
        return name

    def tree(self, select: exp.Select, *, last: bool = False) -> exp.Select:
        """A SELECT with the steps before it; the `last` one takes them along."""
        whole = select if last else select.copy()
        steps = self._read_by(select) if self.engine.repeats else self.steps
        for name, step in steps:
            base = False if name in self._bases.values() else None  # read where it is used, with what is asked there
            taken = step if last else step.copy()
            whole.with_(exp.to_identifier(name, quoted=True), as_=taken, materialized=base, copy=False)
        return whole

    def _read_by(self, select: exp.Select) -> list[tuple[str, exp.Select]]:
        """The steps that a SELECT reads, and those that they read."""
        made, found = dict(self.steps), set[str]()
        waiting = [select]
        while waiting:
            names = {each.name for each in waiting.pop().find_all(exp.Table)} & made.keys() - found
            found |= names
            waiting += [made[name] for name in names]
        return [(name, step) for name, step in self.steps if name in found]

    def keep(self, select: exp.Select) -> str:
        """Run a SELECT now and keep its rows as a table; its name."""
        return self.engine.keep(self.tree(select))

    def once(self, relation: Relation) -> Relation:
        """The relation, run now where the engine would plan it again for each of its readers."""
        if not self.engine.repeats or relation.name in self.units:
            return relation
        return replace(relation, name=self.keep(everything().from_(table(relation.name))))

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
        return everything().from_(table(name)).where(holds(self.view.seq))

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
            left_joined(found, table(identities, alias), on)
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
            known = self._bases["~same"] = self.step(everything().from_(both.subquery("u")))
        return known

    def unit(self) -> Relation:
        """One solution that binds nothing."""
        name = self.step(exp.select(named(lit(1), "unit")))
        self.units.add(name)
        return Relation(name, {}, once=True)

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
        return element_cell(code)

    def code(self, variable: str, at: str = "r") -> Sql:
        """The code of the element that a variable is bound to; NULL where it is bound to none."""
        cell = col(self.columns[variable], at)
        if self.shapes[variable] == "term":
            return cell
        return element_code(cell)
