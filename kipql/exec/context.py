"""What one run has: a view, the values of its slots, a budget, and what the plan's names mean in this view."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kipql.exec.terms import canonical_terms, constant_terms, lineage_number, same_cell, symbol_number
from kipql.limits import Budget
from kipql.plan import nodes
from kipql.plan.cells import Cell
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View

Values = tuple[Json, ...]


@dataclass(slots=True)
class Context:
    """Made per run by the closure engine; the generated engine has the same things as locals.

    counters   operator -> [times started, solutions passed on], only for `explain`
    """

    plan: nodes.Plan
    view: "View"
    values: Values
    budget: Budget
    merges: bool = False
    shapes: dict[str, str] = field(default_factory=dict)
    index: dict[str, int] = field(default_factory=dict)
    counters: dict[int, list[int]] | None = None
    hidden: dict[int, Any] = field(default_factory=dict)
    symbols: frozenset[int] = frozenset()

    @classmethod
    def of(cls, plan: nodes.Plan, view: "View", values: Values, budget: Budget) -> "Context":
        """The context of one run."""
        shapes = dict(plan.shapes)
        index = {name: at for at, name in enumerate(shapes)}
        symbols = frozenset(at for name, at in index.items() if shapes[name] == "symbol")
        return cls(plan, view, values, budget, view.has_merges, shapes, index, symbols=symbols)

    def lineage(self, symbol: nodes.SymbolRef) -> int:
        """The lineage number of a symbol in this view."""
        if symbol.slot is None:
            assert symbol.lineage is not None
            return lineage_number(self.view, symbol.lineage)
        return symbol_number(self.view, symbol.group, self.values[symbol.slot.index], symbol.slot.where)

    def same(self, at: int, left: Cell, right: Cell) -> bool:
        """Whether two cells of a slot of the frame are one value; symbols are, when their lineages are (§20.14)."""
        if at in self.symbols:
            lineage_of = self.view.lineage_of
            return lineage_of[left] == lineage_of[right]  # type: ignore[index]
        return same_cell(self.view, left, right)

    def left_out(self, kind: int) -> frozenset[int]:
        """Rows of a kind that default recall leaves out."""
        rows = self.hidden.get(kind)
        if rows is None:
            rows = self.hidden[kind] = self.view.left_out(kind) or frozenset()
        found: frozenset[int] = rows
        return found

    def constants(self, term: nodes.Constant | nodes.Canonical, merges: bool) -> tuple[int, ...]:
        """The codes that a constant term matches, every merged identity included where `merges`."""
        value = self.values[term.slot.index]
        if isinstance(term, nodes.Canonical):
            return canonical_terms(self.view, value, merges)
        return constant_terms(self.view, value, term.literal, term.element, merges, term.slot.where)
