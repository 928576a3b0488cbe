"""Structural patterns as joins over the edges of states (specification §17, §43.7)."""

from sqlglot import exp

from kipql.exec.terms import symbol_lineage
from kipql.lake import layout
from kipql.lake.lower.draft import Draft
from kipql.lake.lower.patterns import codes_of, held_term, term_cell, with_terms
from kipql.lake.lower.sql import (
    Sql,
    among,
    case,
    cast,
    coalesce,
    col,
    concat,
    eq,
    every,
    json_of_plain,
    lit,
    shown_id,
    some,
)  # fmt: skip
from kipql.lake.lower.steps import Lowering, Relation
from kipql.model import CORE_STRUCTURAL
from kipql.plan import nodes
from kipql.store import computed


def edges(low: Lowering, operator: nodes.Edges, relation: Relation) -> Relation:
    """`?e STRUCTURAL (source, "field", target)`."""
    core, lineage = _names(low, operator)
    relation = with_terms(low, relation, operator.source, operator.target)
    draft = Draft(low, relation)
    draft.join(low.base(layout.EDGES.name), "k")
    refs = [] if lineage is None else [lit(ref) for ref in low.view.field_refs(lineage)]
    fields = [among(col("field", "k"), refs)] if refs else []
    if core is not None:
        kind = exp.BitwiseAnd(this=col("code", "k"), expression=lit(7))
        fields.append(every((eq(col("field", "k"), lit(core)), eq(exp.Paren(this=kind), lit(CORE_STRUCTURAL[core])))))
    draft.when(some(fields))
    for term, column in ((operator.source, "code"), (operator.target, "target")):
        _end(low, draft, term, col(column, "k"))
    if operator.link is not None:
        ordered = lineage is not None and low.view.environment.structural_field(lineage).ordered
        draft.bind(operator.link, _cell(refs if ordered else []))
    return draft.done()


def computed_field(low: Lowering, operator: nodes.Edges) -> str | None:
    """The lineage of a field that no row holds; None of any other."""
    lineage = _names(low, operator)[1]
    return lineage if lineage in computed.FIELDS else None


def _names(low: Lowering, operator: nodes.Edges) -> tuple[str | None, str | None]:
    """The Core field and the lineage of the Profile field; a parameter can name either."""
    symbol = operator.symbol
    if symbol is None or symbol.slot is None:
        return operator.core, None if symbol is None else symbol.lineage
    name = low.values[symbol.slot.index]
    if isinstance(name, str) and name in CORE_STRUCTURAL:
        known = low.view.environment.find_structural_field(name)
        return name, None if known is None else known.lineage
    return operator.core, symbol_lineage(low.view, symbol.group, name, symbol.slot.where)  # type: ignore[arg-type]


def _end(low: Lowering, draft: Draft, term: nodes.Term, code: Sql) -> None:
    """Ends are as written: no merge widens them."""
    if not isinstance(term, nodes.Variable):
        draft.when(among(code, [lit(one) for one in codes_of(low, term, merges=False)]))
        return
    if draft.held(term.name):
        draft.when(eq(code, held_term(low, term.name)))
        return
    draft.bind(term.name, term_cell(low, draft, term.name, code))


def _cell(ordered: list[Sql]) -> Sql:
    """The cell of an edge: its object as JSON, members in the order of their names."""
    position = cast(col("position", "k"), "VARCHAR")
    index = case((among(col("field", "k"), ordered), position), other=lit("null")) if ordered else lit("null")
    source, target = (json_of_plain(shown_id(col(name, "k"))) for name in ("code", "target"))
    role = coalesce(json_of_plain(col("role", "k")), lit("null"))
    return concat(
        lit('>{"field":'), json_of_plain(col("field", "k")), lit(',"index":'), index, lit(',"role":'),
        role, lit(',"source":{"id":'), source, lit('},"target":{"id":'),
        target, lit("}}"),
    )  # fmt: skip
