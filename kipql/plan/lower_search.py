"""Lowering of Search Patterns and of the members they give their variable (specification §43.8).

A Search Pattern depends on nothing that a solution binds, so a run searches once for each. `?v.retrieval` reads
what the patterns of `?v` found; it is no field, and a variable that no Search Pattern binds has none.
"""

from typing import TYPE_CHECKING

from kipql.lang import ast
from kipql.model import KIND_OF_NAME
from kipql.plan import nodes
from kipql.search.ask import check_modifiers
from kipql.spans import Span

if TYPE_CHECKING:
    from kipql.plan.lower import Lowering

RETRIEVAL = "retrieval"


def patterns(block: ast.Block) -> dict[str, tuple[ast.SearchPattern, ...]]:
    """The Search Patterns of a block by variable, in the order of the text; NOT has none."""
    found: dict[str, tuple[ast.SearchPattern, ...]] = {}
    for clause in block.clauses:
        if isinstance(clause, ast.SearchPattern):
            found[clause.var.name] = (*found.get(clause.var.name, ()), clause)
        elif isinstance(clause, ast.Optional | ast.Union):
            for name, inner in patterns(clause.block).items():
                found[name] = (*found.get(name, ()), *inner)
    return found


def search(lowering: "Lowering", clause: ast.SearchPattern) -> nodes.Search:
    """A Search Pattern. Raises ConstraintViolation for a modifier that means nothing for the kind (§66.1)."""
    kind = KIND_OF_NAME[clause.kind]
    typed, related = clause.with_type, clause.with_predicate
    check_modifiers(kind, _span(typed), _span(related))
    return nodes.Search(
        variable=clause.var.name,
        kind=kind,
        term=lowering.slots.of(clause.term),
        type=None if typed is None else lowering.terms.symbol("concept_type", typed),
        predicate=None if related is None else lowering.terms.symbol("predicate", related),
        mode=None if clause.mode is None else lowering.slots.of(clause.mode),
        threshold=None if clause.threshold is None else lowering.slots.of(clause.threshold),
        limit=lowering.slots.of(clause.limit),
        reading=lowering.reading(),
    )


def _span(node: ast.Literal | ast.Param | None) -> Span | None:
    return None if node is None else node.span
