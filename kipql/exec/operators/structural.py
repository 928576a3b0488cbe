"""Structural patterns: record topology, over Core and Profile fields (specification §17, §43.7).

The two planes are told apart by name and never merged: a Core field is the source kind's own, a Profile field
matches by lineage. `?edge.index` is the position in an ordered field, null elsewhere. Endpoints are the
elements as written; an endpoint is a reference, so default recall does not look at it.
"""

from collections.abc import Iterable, Iterator

from kipql.exec.context import Context
from kipql.exec.emit import Emitter, Scope, Then
from kipql.exec.frames import Frame, Step, extended, known_term, taken_back
from kipql.exec.operators.paths import bind_free
from kipql.exec.terms import symbol_lineage
from kipql.exec.write import bind, term
from kipql.model import ACTIVITY, ASSERTION, CONCEPT, CORE_STRUCTURAL, EVIDENCE, PROPOSITION, Edge, element_code
from kipql.plan import nodes
from kipql.plan.cells import Cell, EdgeBinding

Codes = Iterable[int]


class EdgeFinder:
    """A Structural pattern in one run, for both engines."""

    def __init__(self, operator: nodes.Edges, context: Context) -> None:
        self.context = context
        self.view = context.view
        self.spend = context.budget.spend
        self.core = operator.core
        self.lineage: str | None = None
        symbol = operator.symbol
        if symbol is not None:
            self._name(symbol, context)
        self.ordered = False
        self.kinds: tuple[int, ...] = ()
        if self.lineage is not None:
            definition = self.view.environment.structural_field(self.lineage)
            self.ordered = definition.ordered
            kinds = set(definition.source.kinds) | ({CONCEPT} if definition.source.concept_types else set())
            self.kinds = tuple(sorted(kinds)) or (CONCEPT, PROPOSITION, ASSERTION, EVIDENCE, ACTIVITY)

    def _name(self, symbol: nodes.SymbolRef, context: Context) -> None:
        """The lineage of the Profile field; a parameter can also name a Core field."""
        if symbol.slot is None:
            self.lineage = symbol.lineage
            return
        name = context.values[symbol.slot.index]
        if isinstance(name, str) and name in CORE_STRUCTURAL:
            self.core = name
            known = self.view.environment.find_structural_field(name)
            self.lineage = None if known is None else known.lineage
        else:
            self.lineage = symbol_lineage(self.view, symbol.group, name, symbol.slot.where)

    def edges(self, sources: Codes | None, targets: Codes | None) -> Iterator[EdgeBinding]:
        """The edges between given ends; None is a free end."""
        wanted = None if targets is None else frozenset(targets)
        if self.core is not None:
            for source in self._sources(self.core, (CORE_STRUCTURAL[self.core],), sources, wanted):
                if source & 7 == CORE_STRUCTURAL[self.core]:
                    yield from self._of(source, self.core, self.core, False, wanted)
        if self.lineage is not None:
            for source in self._sources(self.lineage, self.kinds, sources, wanted):
                yield from self._of(source, self.lineage, None, self.ordered, wanted)

    def _sources(
        self, field: str, kinds: tuple[int, ...], sources: Codes | None, targets: frozenset[int] | None
    ) -> Codes:
        if sources is not None:
            return sources
        if targets is not None:
            found = sorted({code for target in targets for code in self.view.referrers(target, field)})
            self.spend(len(found))
            return found
        return self._scan(kinds)

    def _scan(self, kinds: tuple[int, ...]) -> Iterator[int]:
        for kind in kinds:
            for row in self.view.rows(kind):
                self.spend()
                yield element_code(kind, row)

    def _of(
        self, source: int, field: str, name: str | None, ordered: bool, targets: frozenset[int] | None
    ) -> Iterator[EdgeBinding]:
        edges: tuple[Edge, ...] = self.view.edges(source, field)
        if not edges:
            return
        self.spend(len(edges))
        shown = name or self._ref(source)
        for position, edge in enumerate(edges):
            if targets is None or edge.target in targets:
                yield EdgeBinding(source, shown, edge.target, position if ordered else None, edge.role)

    def _ref(self, source: int) -> str:
        """The exact ref under which a source holds the Profile field; a computed one is held by none."""
        environment = self.view.environment
        assert self.lineage is not None
        for ref in self.view.record(source).structural:
            if environment.lineage(ref) == self.lineage:
                return ref
        return environment.structural_field(self.lineage).ref


def _written(term_: nodes.Term, context: Context) -> "int | tuple[int, ...]":
    """The slot of a variable, or the codes of a constant: identities as written, no merge widens them."""
    return context.index[term_.name] if isinstance(term_, nodes.Variable) else context.constants(term_, False)


def step(operator: nodes.Edges, context: Context) -> Step:
    """The closure of a Structural pattern."""
    finder = EdgeFinder(operator, context)
    source, target = _written(operator.source, context), _written(operator.target, context)
    link = None if operator.link is None else context.index[operator.link]

    def known(frame: Frame, end: "int | tuple[int, ...]") -> tuple[int, ...] | None:
        if isinstance(end, tuple):
            return end
        bound, code = known_term(context, frame, end)
        return None if not bound else () if code is None or code < 0 else (code,)

    def run(frame: Frame) -> Iterator[None]:
        sources, targets = known(frame, source), known(frame, target)
        for edge in finder.edges(sources, targets):
            bindings: list[tuple[int, Cell]] = []
            if isinstance(source, int):
                bindings.append((source, edge.source))
            if isinstance(target, int):
                bindings.append((target, edge.target))
            if link is not None:
                bindings.append((link, edge))
            added = extended(context, frame, bindings)
            if added is not None:
                yield
                taken_back(frame, added)

    return run


def emit(operator: nodes.Edges, code: Emitter, scope: Scope, then: Then) -> None:
    """The source of a Structural pattern: a loop over the edges of an `EdgeFinder`."""
    site = code.constant(operator, "edges")
    finder = code.local(f"{code.helper(EdgeFinder)}({site}, {code.context()})", "edges")
    codes = ", ".join(_codes(end, code, scope) for end in (operator.source, operator.target))
    edge, source, target = code.fresh("edge"), code.fresh("e"), code.fresh("e")

    def go_on(inner: Scope) -> None:
        bind_free((operator.source, source), (operator.target, target), code, inner, then)

    with code.block(f"for {edge} in {finder}.edges({codes}):"):
        code.line(f"{source} = {edge}.source")
        code.line(f"{target} = {edge}.target")
        if operator.link is None:
            go_on(scope)
        else:
            bind(operator.link, edge, code, scope, go_on)


def _codes(term_: nodes.Term, code: Emitter, scope: Scope) -> str:
    """The codes of an end as an expression, None while it is free; a Literal is no end."""
    if not isinstance(term_, nodes.Variable):
        site = code.constant(term_, "term")
        return code.local(f"{code.context()}.constants({site}, False)", "k")
    if term_.name not in scope:
        return "None"
    cell = term(term_.name, code, scope)
    return f"({cell},) if {cell} is not None and {cell} >= 0 else ()"
