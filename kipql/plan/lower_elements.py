"""Lowering of element patterns: every member becomes tests on field paths (specification §43.1, §43.4-§43.6).

`type` is the Concept Type lineage, `id` an identity look-up, `state` reads `_system.state` and lifts default
recall. A reference field takes a term. Nested objects constrain the fields they name, arrays match item by
item, a variable binds.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kipql.lang import ast
from kipql.model import ASSERTION, CONCEPT, PROPOSITION
from kipql.plan import nodes
from kipql.plan.cells import SYMBOL_MEMBERS
from kipql.plan.expressions import syntax
from kipql.plan.functions import STRENGTH, VALIDITY

if TYPE_CHECKING:
    from kipql.plan.lower import Lowering

Renames = Mapping[str, str]

REFERENCES = {ASSERTION: {"proposition": PROPOSITION, "asserted_by": CONCEPT}, CONCEPT: {"merged_into": CONCEPT}}
STRENGTH_PATH = ("facets", "kip://profiles/cognitive-memory/MnemonicState", STRENGTH)
VALIDITY_PATH = ("_system", VALIDITY)


def computed(steps: nodes.Steps) -> bool:
    """Whether a path is a computed member, which no element stores (§18.2, §57.6, §59.1)."""
    return steps == STRENGTH_PATH or (
        steps[:2] == VALIDITY_PATH and all(isinstance(step, str) and step.isidentifier() for step in steps)
    )


def element_tests(
    lowering: "Lowering", variable: str, kind: int, pattern: ast.Object, renames: Renames
) -> list[nodes.Operator]:
    """The operators of an element pattern; the element itself comes last."""
    reader = _Reader(lowering, variable, kind, renames)
    for member in pattern.members:
        reader.member(member)
    return [*reader.before, nodes.Elements(variable, kind, tuple(reader.tests), _recall(pattern)), *reader.after]


def _recall(pattern: ast.Object) -> str:
    if pattern.get("state") is not None:
        return "any"
    return "identity" if isinstance(pattern.get("id"), ast.Literal | ast.Param) else "active"


class _Reader:
    def __init__(self, lowering: "Lowering", variable: str, kind: int, renames: Renames) -> None:
        self._lowering = lowering
        self._variable = variable
        self._kind = kind
        self._renames = renames
        self.tests: list[nodes.Test] = []
        self.before: list[nodes.Operator] = []
        self.after: list[nodes.Operator] = []

    def member(self, member: ast.Member) -> None:
        """One top-level member of the pattern."""
        name, value = member.name, member.value
        if name == "type" and self._kind == CONCEPT:
            self._type(value)
        elif name == "id" and isinstance(value, ast.Literal | ast.Param):
            self.tests.append(nodes.IsElement(self._lowering.slots.of(value)))
        elif name == "id" and isinstance(value, ast.Var):
            self._bind(("id",), value, "id")
        elif name == "state":
            self._nested(("_system", "state"), value)
        elif name in SYMBOL_MEMBERS and isinstance(value, ast.Var):
            self._bind((name,), value, "symbol")
        elif name in REFERENCES.get(self._kind, ()):
            self._reference(name, value)
        else:
            self._nested((name,), value)

    def _type(self, value: ast.Expression) -> None:
        match value:
            case ast.Literal() | ast.Param():
                self.tests.append(nodes.HasType(self._lowering.terms.symbol("concept_type", value)))
            case ast.Var():
                self._bind(("schema_ref",), value, "symbol")
            case _:
                raise syntax(value, "`type` is a Concept Type", "write a quoted symbol, a parameter or a variable")

    def _reference(self, field: str, value: ast.Expression) -> None:
        """A reference field against a term; an object describes the element it refers to."""
        match value:
            case ast.Object(members=(ast.Member(name="id", value=(ast.Literal() | ast.Param()) as known),)):
                term: nodes.Term = nodes.Constant(self._lowering.slots.of(known), False)
            case ast.Object() if value.members:
                name = self._lowering.hidden()
                self.after += element_tests(self._lowering, name, REFERENCES[self._kind][field], value, self._renames)
                term = nodes.Variable(name)
            case ast.Object() | ast.Array():
                return self._nested((field,), value)
            case ast.Var() | ast.Literal() | ast.Param() | ast.Tuple() | ast.PropositionId():
                term = self._lowering.terms.term(value, self._renames, self.before)
            case _:
                raise syntax(value, "this can not stand in a pattern", "write a value, a variable or a pattern")
        assert isinstance(term, nodes.Variable | nodes.Constant)
        self.tests.append(nodes.Refers(field, term))
        return None

    def _nested(self, steps: nodes.Steps, value: ast.Expression) -> None:
        match value:
            case ast.Literal() | ast.Param() if computed(steps):
                left = self._lowering.computed(self._variable, steps, value.span)
                self.after.append(nodes.Keep(nodes.Comparison("==", left, nodes.Const(self._lowering.slots.of(value)))))
            case ast.Literal() | ast.Param():
                self.tests.append(nodes.Equals(steps, self._lowering.slots.of(value)))
            case ast.Var() if computed(steps):
                raise syntax(value, f"{steps[-1]} is computed, so it binds no variable", "read it as a path")
            case ast.Var():
                self._bind(steps, value, "id" if steps[-1] == "id" else "value")
            case ast.Object(members=()):
                self.tests.append(nodes.IsObject(steps))
            case ast.Object(members=members):
                for member in members:
                    name = self._lowering.terms.facet(member.name) if steps == ("facets",) else member.name
                    self._nested((*steps, name), member.value)
            case ast.Array(items=items):
                self.tests.append(nodes.HasLength(steps, len(items)))
                for index, item in enumerate(items):
                    self._nested((*steps, index), item)
            case ast.Tuple() | ast.PropositionId():
                term = self._lowering.terms.term(value, self._renames, self.before)
                assert isinstance(term, nodes.Variable)
                self.tests.append(nodes.Binds(steps, term.name, "value"))
            case _:
                raise syntax(value, "this can not stand in a pattern", "write a value, a variable or a pattern")

    def _bind(self, steps: nodes.Steps, var: ast.Var, natural: str) -> None:
        self.tests.append(nodes.Binds(steps, self._renames.get(var.name, var.name), natural))
