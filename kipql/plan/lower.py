"""From the tree of a query to a plan (specification §42-§45).

Symbols are resolved in a Schema Environment, constants become slots, inline matches and nested tuples become
operators of their own with a hidden variable, so that they constrain exactly like separate patterns (§43.1).
Locals of NOT get names of their own (§44.3). A FILTER stands where it was written, or at the first later place
of its block where every variable it names is in scope. A BELIEF runs after the patterns of its block that come
before the next NOT, OPTIONAL or UNION, so that what binds its targets has run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kipql.lang import ast
from kipql.model import KIND_OF_NAME
from kipql.plan import beliefs, bindings, identities, lower_search, nodes, variables
from kipql.plan.expressions import ascii_upper, is_aggregate, syntax
from kipql.plan.functions import STRENGTH, VALIDITY
from kipql.plan.lower_elements import STRENGTH_PATH, VALIDITY_PATH, computed, element_tests
from kipql.plan.lower_terms import Terms
from kipql.plan.shape import LIFTED
from kipql.spans import Span

if TYPE_CHECKING:
    from kipql.schema.environment import Environment

Renames = Mapping[str, str]
SAME: Renames = {}


@dataclass(slots=True)
class Slots:
    """Where the values of a run come from: literals that were lifted, and parameters by name."""

    sources: list[tuple[str, int | str]] = field(default_factory=list)
    known: dict[str, int] = field(default_factory=dict)
    constants: list[object] = field(default_factory=list)

    def of(self, value: ast.Literal | ast.Param) -> nodes.Slot:
        """The slot of a parameter, or of a literal that was not lifted."""
        if isinstance(value, ast.Literal):
            self.sources.append(("constant", len(self.constants)))
            self.constants.append(value.value)
            return nodes.Slot(len(self.sources) - 1, value.span)
        index = self.known.get(value.name)
        if index is None:
            index = self.known[value.name] = len(self.sources)
            lifted = value.name.startswith(LIFTED)
            self.sources.append(("literal", int(value.name[1:])) if lifted else ("parameter", value.name))
        return nodes.Slot(index, value.span)


class Lowering:
    """One query being lowered."""

    def __init__(self, environment: "Environment") -> None:
        self.environment = environment
        self.slots = Slots()
        self._hidden = 0
        self._searches: dict[str, tuple[nodes.Search, ...]] = {}
        self.terms = Terms(self)

    def hidden(self) -> str:
        """A fresh hidden variable."""
        self._hidden += 1
        return f"~{self._hidden}"

    def foresee(self, block: ast.Block) -> None:
        """Lower the Search Patterns of the whole query: expressions anywhere may read what they find."""
        for name, clauses in lower_search.patterns(block).items():
            self._searches[name] = tuple(lower_search.search(self, clause) for clause in clauses)

    # blocks

    def block(self, block: ast.Block, before: frozenset[str], renames: Renames) -> nodes.Block:
        """The operators of a block, in the order it was written; `before` are the variables it may read."""
        done: list[nodes.Operator] = []
        waiting: list[ast.Filter] = []
        projected: dict[beliefs.Clause, nodes.Operator] = {}
        seen = set(before)
        for position, clause in enumerate(block.clauses):
            if isinstance(clause, ast.Filter):
                waiting.append(clause)
            elif isinstance(clause, ast.BeliefPattern | ast.BeliefSlotPattern):
                projected[clause] = self.terms.projection(clause, done, renames)
                seen.update(var.name for var in beliefs.inline(clause))
            else:
                if projected and isinstance(clause, ast.Not | ast.Optional | ast.Union):
                    waiting = self._project(projected, waiting, done, seen, renames)
                done = self.clause(clause, done, frozenset(seen), renames, first=position == 0)
                seen.update(var.name for var in bindings.of_clause(clause))
            waiting = self._settle(waiting, done, seen, renames)
        waiting = self._project(projected, waiting, done, seen, renames)
        assert not waiting, "scope lets no filter through whose variables nothing binds"
        return nodes.Block(tuple(done))

    def _project(
        self,
        projected: dict[beliefs.Clause, nodes.Operator],
        waiting: list[ast.Filter],
        done: list[nodes.Operator],
        seen: set[str],
        renames: Renames,
    ) -> list[ast.Filter]:
        """Place the projections whose targets are in scope, and the filters that waited for them."""
        ready, _ = beliefs.settled(projected, seen, lambda var: seen.add(var.name))
        done.extend(projected.pop(clause) for clause in ready)
        return self._settle(waiting, done, seen, renames)

    def _settle(
        self, waiting: list[ast.Filter], done: list[nodes.Operator], seen: set[str], renames: Renames
    ) -> list[ast.Filter]:
        """Place the filters whose variables are in scope; return the others."""
        left = []
        for clause in waiting:
            if all(var.name in seen for var in bindings.used(clause.condition)):
                done.append(nodes.Keep(self.expression(clause.condition, renames)))
            else:
                left.append(clause)
        return left

    def clause(
        self,
        clause: ast.Clause,
        done: list[nodes.Operator],
        before: frozenset[str],
        renames: Renames,
        *,
        first: bool,
    ) -> list[nodes.Operator]:
        """The operators of a block after one more clause."""
        match clause:
            case ast.Not(block=inner):
                local = {name: self.hidden() for name in bindings.exported(inner) if name not in before}
                return [*done, nodes.Without(self.block(inner, before, {**renames, **local}))]
            case ast.Optional(block=inner):
                fresh = _renamed((name for name in bindings.exported(inner) if name not in before), renames)
                return [*done, nodes.Maybe(self.block(inner, before, renames), fresh)]
            case ast.Union(block=inner):
                left = None if first else nodes.Block(tuple(done))
                right = self.block(inner, frozenset(), renames)
                exported = _renamed(bindings.exported(inner), renames)
                bound = dict.fromkeys(variables.bound_by(left)) if left is not None else {}
                fresh = tuple(dict.fromkeys([*bound, *exported]))
                return [nodes.Either(left, right, fresh, exported)]
            case _:
                return [*done, *self.pattern(clause, renames)]

    def pattern(self, clause: ast.Clause, renames: Renames) -> list[nodes.Operator]:
        """The operators of one ordinary pattern, inline terms first."""
        match clause:
            case ast.ElementPattern(var=var, kind=kind, match=pattern):
                return element_tests(self, name_of(var, renames), KIND_OF_NAME[kind], pattern, renames)
            case ast.PropositionPattern(var=var, target=ast.PropositionId(id=known)):
                link = self.hidden() if var is None else name_of(var, renames)
                return [nodes.KnownProposition(link, self.slots.of(known))]
            case ast.PropositionPattern(var=var, target=ast.Tuple() as target):
                name = None if var is None else name_of(var, renames)
                return self.terms.proposition(target, name, renames)
            case ast.StructuralPattern():
                return self.terms.structural(clause, renames)
            case ast.SearchPattern():
                return [lower_search.search(self, clause)]
            case _:
                raise syntax(clause, "this pattern can not stand here", "see the grammar of WHERE")

    # expressions

    def expression(self, expression: ast.Expression, renames: Renames = SAME) -> nodes.Expression:
        """An expression without aggregates."""
        match expression:
            case ast.Var():
                return nodes.Load(name_of(expression, renames))
            case ast.Path(var=var, steps=steps):
                name, path = name_of(var, renames), self.terms.path(steps)
                if path[0] == lower_search.RETRIEVAL and name in self._searches:
                    return nodes.Retrieval(name, self._searches[name], path[1:])
                return self.computed(name, path, expression.span) if computed(path) else nodes.Member(name, path)
            case ast.Literal() | ast.Param():
                return nodes.Const(self.slots.of(expression))
            case ast.Array(items=items):
                return nodes.Listing(self.expressions(items, renames), expression.span)
            case ast.Object(members=members):
                values = self.expressions([member.value for member in members], renames)
                return nodes.Record(tuple(member.name for member in members), values, expression.span)
            case ast.Call(name=name, args=args):
                return nodes.Apply(ascii_upper(name), self.expressions(args, renames), expression.span)
            case ast.Negate(operand=operand):
                return nodes.Opposite(self.expression(operand, renames))
            case ast.Minus(operand=operand):
                return nodes.Minus(self.expression(operand, renames))
            case ast.Compare(op=op, left=left, right=right):
                return nodes.Comparison(op, self.expression(left, renames), self.expression(right, renames))
            case ast.And(items=items):
                return nodes.Every(self.expressions(items, renames))
            case ast.Or(items=items):
                return nodes.Any(self.expressions(items, renames))
            case _:
                raise syntax(
                    expression, "a tuple is a pattern, not a value", "bind the Proposition to a variable first"
                )

    def computed(self, name: str, steps: nodes.Steps, where: Span) -> nodes.Expression:
        """A computed member: of MnemonicState a function of the Facet and the read's instant (§59.1), of `_system` one
        of the element and all that the read is based on (§57.6)."""
        if steps[:2] == VALIDITY_PATH:
            function = ".".join((VALIDITY, *map(str, steps[2:])))
            return nodes.Apply(function, (nodes.Load(name), nodes.Const(self.reading())), where)
        facet = nodes.Member(name, STRENGTH_PATH[:2])
        return nodes.Apply(STRENGTH, (facet, nodes.Const(self.reading())), where)

    def reading(self) -> nodes.Slot:
        """The slot with the run's Reading."""
        return self.slots.of(ast.Param(nodes.READING))

    def expressions(
        self, items: "list[ast.Expression] | tuple[ast.Expression, ...]", renames: Renames
    ) -> tuple[nodes.Expression, ...]:
        """Several of them."""
        return tuple(self.expression(item, renames) for item in items)

    def item(self, item: ast.Expression) -> nodes.Expression | nodes.Aggregate:
        """A FIND item."""
        if isinstance(item, ast.Call) and is_aggregate(item):
            operand = self.expression(item.args[0])
            return nodes.Aggregate(ascii_upper(item.name), operand, item.distinct, item.span)
        return self.expression(item)

    def sort(self, order: ast.OrderItem, items: tuple[ast.Expression, ...]) -> nodes.Sort:
        """One key of ORDER BY; one that FIND lists too is that column."""
        if order.key in items:
            return nodes.Sort(items.index(order.key), order.descending, order.key.span)
        return nodes.Sort(self.expression(order.key), order.descending, order.key.span)


@dataclass(frozen=True, slots=True)
class Lowered:
    """A plan and the constants that stayed in it."""

    plan: nodes.Plan
    constants: tuple[object, ...]


def lower_find(find: ast.Find, environment: "Environment") -> Lowered:
    """The plan of a FIND (of its shape), as written and without any rule applied."""
    lowering = Lowering(environment)
    lowering.foresee(find.where)
    block = lowering.block(find.where, frozenset(), SAME)
    items = tuple(lowering.item(item) for item in find.items)
    order = tuple(lowering.sort(item, find.items) for item in find.order_by)
    return _planned(lowering, block, tuple(bindings.exported(find.where)), items, order)


def lower_block(block: ast.Block, environment: "Environment", visible: tuple[str, ...]) -> Lowered:
    """The plan of a WHERE block whose solutions are read by the variables `visible`."""
    lowering = Lowering(environment)
    return _planned(lowering, lowering.block(block, frozenset(), SAME), visible, (), ())


def _planned(
    lowering: Lowering,
    block: nodes.Block,
    visible: tuple[str, ...],
    items: tuple[nodes.Expression | nodes.Aggregate, ...],
    order: tuple[nodes.Sort, ...],
) -> Lowered:
    plan = nodes.Plan(
        block=identities.marked(block),
        slots=tuple(lowering.slots.sources),
        visible=visible,
        shapes=tuple(variables.shapes(block).items()),
        items=items,
        order=order,
    )
    return Lowered(plan, tuple(lowering.slots.constants))


def name_of(var: ast.Var, renames: Renames) -> str:
    """The plan's name of a variable."""
    return renames.get(var.name, var.name)


def _renamed(names: object, renames: Renames) -> tuple[str, ...]:
    return tuple(renames.get(name, name) for name in names)  # type: ignore[attr-defined]
