"""Lowering of terms, tuples, raw paths and Structural patterns (specification §43.2, §43.7, §45)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.lang import ast
from kipql.model import CONCEPT, CORE_STRUCTURAL
from kipql.plan import nodes
from kipql.plan.expressions import syntax
from kipql.plan.lower_elements import element_tests
from kipql.plan.scope import one_hop

if TYPE_CHECKING:
    from kipql.plan.lower import Lowering

Renames = Mapping[str, str]
Operators = list[nodes.Operator]


class Terms:
    """The part of a lowering that knows tuples."""

    def __init__(self, lowering: "Lowering") -> None:
        self._lowering = lowering

    def term(
        self, term: ast.Term, renames: Renames, into: Operators, *, literal: bool = False, element: bool = True
    ) -> nodes.Term:
        """A term; inline matches and nested tuples add their operators to `into`."""
        lowering = self._lowering
        match term:
            case ast.Var(name=name):
                return nodes.Variable(renames.get(name, name))
            case ast.Literal() | ast.Param():
                return nodes.Constant(lowering.slots.of(term), literal, element)
            case ast.Object(members=(ast.Member(name="canonical_id", value=(ast.Literal() | ast.Param()) as value),)):
                return nodes.Canonical(lowering.slots.of(value))
            case ast.Object():
                name = lowering.hidden()
                into.extend(element_tests(lowering, name, CONCEPT, term, renames))
                return nodes.Variable(name)
            case ast.PropositionId(id=known):
                name = lowering.hidden()
                into.append(nodes.KnownProposition(name, lowering.slots.of(known)))
                return nodes.Variable(name)
            case ast.Tuple():
                name = lowering.hidden()
                into.extend(self.proposition(term, name, renames))
                return nodes.Variable(name)

    def proposition(self, target: ast.Tuple, link: str | None, renames: Renames) -> Operators:
        """The operators of a Proposition pattern; the tuple itself comes last."""
        into: Operators = []
        predicate = target.predicate
        admits = (True, True) if isinstance(predicate, ast.Var) else self._object_admits(predicate)
        subject = self.term(target.subject, renames, into)
        object_ = self.term(target.object, renames, into, literal=admits[0], element=admits[1])
        if isinstance(predicate, ast.Var):
            named = nodes.Variable(renames.get(predicate.name, predicate.name))
            return [*into, nodes.Triple(link, subject, named, object_)]
        if not isinstance(predicate, ast.PredicatePath):
            return [*into, nodes.Triple(link, subject, (self.symbol("predicate", predicate),), object_)]
        if all(map(one_hop, predicate.alternatives)) and link is not None:
            symbols = tuple(self._step_symbol(step) for step in predicate.alternatives)
            return [*into, nodes.Triple(link, subject, symbols, object_)]
        hops = tuple(self._hop(step) for step in predicate.alternatives)
        return [*into, nodes.Reach(subject, hops, object_, where=predicate.span)]

    def projection(
        self, clause: "ast.BeliefPattern | ast.BeliefSlotPattern", into: Operators, renames: Renames
    ) -> nodes.Projected:
        """A projection; the operators of inline terms go into `into`."""
        name = renames.get(clause.var.name, clause.var.name)
        reading = self._lowering.reading()
        if isinstance(clause, ast.BeliefSlotPattern):
            subject = self.term(clause.subject, renames, into)
            return nodes.SlotBelief(name, subject, self._one(clause.predicate, renames), reading, clause.span)
        match clause.target:
            case ast.Var(name=proposition):
                link = nodes.Variable(renames.get(proposition, proposition))
                return nodes.Belief(name, link, reading, clause.span)
            case ast.PropositionId() as known:
                term = self.term(known, renames, into)
                assert isinstance(term, nodes.Variable)
                return nodes.Belief(name, term, reading, clause.span)
            case ast.Tuple(subject=subject_, predicate=predicate, object=object_):
                assert not isinstance(predicate, ast.PredicatePath), "refused by scope"
                admits = (True, True) if isinstance(predicate, ast.Var) else self._object_admits(predicate)
                subject = self.term(subject_, renames, into)
                value = self.term(object_, renames, into, literal=admits[0], element=admits[1])
                return nodes.TupleBelief(name, subject, self._one(predicate, renames), value, reading, clause.span)

    def _one(
        self, predicate: "ast.Literal | ast.Param | ast.Var", renames: Renames
    ) -> "nodes.SymbolRef | nodes.Variable":
        """One exact Predicate."""
        if isinstance(predicate, ast.Var):
            return nodes.Variable(renames.get(predicate.name, predicate.name))
        return self.symbol("predicate", predicate)

    def structural(self, clause: ast.StructuralPattern, renames: Renames) -> Operators:
        """The operators of a Structural pattern. A name can be a Core field and a Profile field at once."""
        into: Operators = []
        source = self.term(clause.source, renames, into)
        target = self.term(clause.target, renames, into)
        link = None if clause.var is None else renames.get(clause.var.name, clause.var.name)
        field = clause.field_
        if isinstance(field, ast.Param):
            symbol = nodes.SymbolRef("structural_field", None, self._lowering.slots.of(field), f":{field.name}")
            return [*into, nodes.Edges(link, source, None, symbol, target)]
        name = _text(field, "a structural field")
        core = name if name in CORE_STRUCTURAL else None
        known = self._lowering.environment.find_structural_field(name) if core else None
        if core is not None:
            profile = None if known is None else nodes.SymbolRef("structural_field", known.lineage, None, name)
        else:
            profile = self.symbol("structural_field", field)
        return [*into, nodes.Edges(link, source, core, profile, target)]

    def symbol(self, group: str, value: ast.Literal | ast.Param | ast.Var) -> nodes.SymbolRef:
        """A Schema symbol. Raises SchemaSymbolNotFound or SchemaSymbolAmbiguous at its span."""
        if isinstance(value, ast.Param):
            return nodes.SymbolRef(group, None, self._lowering.slots.of(value), f":{value.name}")
        if isinstance(value, ast.Var):
            raise syntax(value, "a variable can not stand for a symbol here", "write a quoted symbol or a parameter")
        name = _text(value, "a Schema symbol")
        try:
            definition = getattr(self._lowering.environment, group)(name)
        except KipError as error:
            error.span = error.span or value.span
            raise
        return nodes.SymbolRef(group, definition.lineage, None, name)

    def path(self, steps: tuple[str, ...]) -> tuple[str, ...]:
        """The steps of a field path; a Facet named in it becomes its lineage."""
        if len(steps) > 1 and steps[0] == "facets":
            return ("facets", self.facet(steps[1]), *steps[2:])
        return steps

    def facet(self, name: str) -> str:
        """The lineage of a Facet, by any of its names."""
        return self._lowering.environment.facet(name).lineage

    def _hop(self, step: ast.PathStep) -> nodes.Hop:
        quantifier = step.quantifier
        symbol = self._step_symbol(step)
        return nodes.Hop(symbol, 1, 1) if quantifier is None else nodes.Hop(symbol, quantifier.low, quantifier.high)

    def _step_symbol(self, step: ast.PathStep) -> nodes.SymbolRef:
        return self.symbol("predicate", step.predicate)

    def _object_admits(self, predicate: ast.Literal | ast.Param | ast.PredicatePath) -> tuple[bool, bool]:
        """Whether the Predicate admits Literals and elements as objects: what a bare id can mean there."""
        if not isinstance(predicate, ast.Literal) or not isinstance(predicate.value, str):
            return True, True
        definition = self._lowering.environment.find_predicate(predicate.value)
        if definition is None:
            return True, True
        object_ = definition.object
        return object_.admits_literals, object_.admits_elements


def _text(value: ast.Literal, what: str) -> str:
    if isinstance(value.value, str):
        return value.value
    raise syntax(value, f"{what} is a quoted string", "write it in double quotes")
