"""Element patterns and Proposition patterns as joins (specification §43.1-§43.6)."""

from sqlglot import exp

from kipql.exec.terms import canonical_terms, constant_terms, known_element, known_proposition
from kipql.lake import layout
from kipql.lake.cells import text
from kipql.lake.lower import members
from kipql.lake.lower.along import with_payload
from kipql.lake.lower.draft import Draft
from kipql.lake.lower.marks import element_cell, element_code, symbol_cell
from kipql.lake.lower.sql import (
    Sql,
    among,
    call,
    case,
    cast,
    coalesce,
    col,
    eq,
    first,
    is_null,
    lit,
    named,
    not_null,
    null,
    some,
    table,
)  # fmt: skip
from kipql.lake.lower.steps import Lowering, Relation
from kipql.model import EVIDENCE, PROPOSITION
from kipql.plan import nodes
from kipql.plan.cells import WRITTEN
from kipql.values import canonical_literal, json_type

# --- elements -----------------------------------------------------------------------------------------


def elements(low: Lowering, operator: nodes.Elements, relation: Relation) -> Relation:
    """`?c CONCEPT {...}` and its like."""
    kind = operator.kind
    draft = Draft(low, relation, single=True)  # a code is there once at a sequence
    draft.join(low.base(layout.STATE_TABLES[kind].name), "k")
    if _needs_payload(low, operator):
        draft.select = with_payload(low, draft.select, "k")
    draft.when(*_recalled(operator.recall))
    code = col("code", "k")
    facets = low.view.facet_refs()
    along = {want: members.want(kind, want, "k", facets) for want, _ in low.along(operator.variable)}
    draft.bind(operator.variable, low.boxed(operator.variable, code), along)
    for test in operator.tests:
        _test(low, draft, kind, test)
    return draft.done()


def _needs_payload(low: Lowering, operator: nodes.Elements) -> bool:
    if operator.kind != EVIDENCE:
        return False
    tested = any(getattr(test, "steps", ("",))[:1] == ("payload",) for test in operator.tests)
    return tested or any(members.reads_payload(want) for want, _ in low.along(operator.variable))


def _recalled(recall: str) -> list[Sql]:
    if recall == "any":
        return []
    if recall == "identity":
        return [some((col("recalled", "k"), eq(col("state", "k"), lit("merged"))))]
    return [col("recalled", "k")]


def _test(low: Lowering, draft: Draft, kind: int, test: nodes.Test) -> None:
    match test:
        case nodes.IsElement(slot=slot):
            code = known_element(low.view, low.values[slot.index], kind, slot.where)  # type: ignore[arg-type]
            draft.when(exp.false() if code is None else eq(col("code", "k"), lit(code)))
        case nodes.HasType(symbol=symbol):
            draft.when(among(col("type", "k"), low.refs(symbol)))
        case nodes.Equals():
            draft.when(_equals(low, kind, test))
        case nodes.HasLength(steps=steps, length=length):
            draft.when(eq(call("kip_length", _member(low, kind, steps)), lit(length)))
        case nodes.IsObject(steps=steps):
            draft.when(eq(first(_member(low, kind, steps)), lit("{")))
        case nodes.Refers(field=field, term=term):
            _refers(low, draft, field, term)
        case nodes.Binds():
            _binds(low, draft, kind, test)
        case _:
            raise AssertionError(f"{type(test).__name__} is no part of a plan as written")


def _member(low: Lowering, kind: int, steps: nodes.Steps, *, there: bool = False) -> Sql:
    if not members.has(kind, steps):
        return null("VARCHAR")
    written = there and steps[0] in WRITTEN and len(steps) > 1
    return members.member(kind, steps, "k", low.view.facet_refs(), there=written)


def _equals(low: Lowering, kind: int, test: nodes.Equals) -> Sql:
    value = low.values[test.slot.index]
    bare = members.raw(kind, test.steps, "k")
    if bare is not None and isinstance(value, str):
        return eq(bare, lit(value))
    if value is None:
        return eq(_member(low, kind, test.steps, there=True), lit("null"))
    cell = _member(low, kind, test.steps)
    if json_type(value) in ("number", "boolean"):
        return eq(cell, lit(text(canonical_literal(value))))
    return call("kip_matches", cell, lit(text(value)))


def _refers(low: Lowering, draft: Draft, field: str, term: nodes.Variable | nodes.Constant) -> None:
    code = col(field, "k")
    if isinstance(term, nodes.Variable):
        draft.when(not_null(code))
        draft.bind(term.name, low.boxed(term.name, code.copy()))
        return
    codes = constant_terms(
        low.view, low.values[term.slot.index], False, True, False, term.slot.where  # type: ignore[arg-type]
    )  # fmt: skip
    draft.when(among(code, [lit(one) for one in codes]))


def _binds(low: Lowering, draft: Draft, kind: int, test: nodes.Binds) -> None:
    shape = low.shapes[test.variable]
    if test.natural == "symbol":
        ref = members.raw(kind, test.steps, "k")
        if ref is None:  # no element of the kind has one
            draft.when(exp.false())
            ref = null("VARCHAR")
        draft.when(not_null(ref))
        symbol(low, draft, test.variable, ref)
        return
    if test.natural == "id" and shape == "term":
        if test.steps == ("id",):
            draft.bind(test.variable, col("code", "k"))
            return
        code = call("kip_code", _member(low, kind, test.steps), lit(low.view.bounds_text()))
        draft.when(not_null(code))
        draft.bind(test.variable, code.copy())
        return
    cell = _member(low, kind, test.steps, there=True)
    draft.when(not_null(cell))
    if members.raw(kind, test.steps, "k") is None:
        cell = call("kip_boxed", cell.copy(), lit(low.view.bounds_text()))
    draft.bind(test.variable, cell.copy())


def symbol(low: Lowering, draft: Draft, variable: str, ref: Sql) -> None:
    """Bind a variable to a symbol: its lineage, and the exact ref along with it."""
    lineage = low.lineage(ref)
    cell = lineage if low.shapes[variable] == "symbol" else symbol_cell(lineage)
    nothing = null("VARCHAR")
    draft.bind(
        variable, cell, {want: ref.copy() if want.what == "ref" else nothing.copy() for want, _ in low.along(variable)}
    )


# --- Propositions -------------------------------------------------------------------------------------


def triple(low: Lowering, operator: nodes.Triple, relation: Relation) -> Relation:
    """`?p (s, "p", o)`: endpoints match by canonical identity (§43.2)."""
    relation = with_terms(low, relation, operator.subject, operator.object)
    draft = Draft(low, relation, single=operator.link is not None)
    sides = [(operator.subject, "subject"), (operator.object, "object")]
    known = [(term, end, _known(low, draft, term)) for term, end in sides]
    draft.join(low.base(layout.PROPOSITIONS.name), "k")
    draft.when(col("recalled", "k"))
    if operator.link is not None:
        facets = low.view.facet_refs()
        along = {want: members.want(PROPOSITION, want, "k", facets) for want, _ in low.along(operator.link)}
        draft.bind(operator.link, low.boxed(operator.link, col("code", "k")), along)
    if isinstance(operator.predicates, nodes.Variable):
        symbol(low, draft, operator.predicates.name, col("predicate", "k"))
    else:
        draft.when(among(col("predicate", "k"), [ref for one in operator.predicates for ref in low.refs(one)]))
    for term, end, code in known:
        endpoint(low, draft, term, end, code, operator.spread)
    return draft.done()


def with_terms(low: Lowering, relation: Relation, *terms: nodes.Term) -> Relation:
    """The relation with a column for the term of each variable that holds any cell (`t3` of `v3`)."""
    for term in terms:
        if not isinstance(term, nodes.Variable) or term.name not in relation.scope or low.shapes[term.name] == "term":
            continue
        column = low.columns[term.name]
        if f"t{column}" in relation.carry:
            continue
        cell = col(column, "r")
        kept = [*low.all_columns(relation.scope), *relation.carry]
        literal = call("kip_literal", cell.copy())
        code = element_code(cell.copy(), coalesce(col("code", "l"), case((not_null(cell.copy()), lit(NOTHING)))))
        select = (
            exp.select(*(col(name, "r") for name in kept))
            .select(named(code, f"t{column}"))
            .from_(table(relation.name, "r"))
            .join(table(layout.LITERALS.name, "l"), on=eq(col("json", "l"), literal), join_type="left")
        )
        relation = Relation(low.step(select), relation.scope, (*relation.carry, f"t{column}"))
    return relation


NOTHING = -(2**60)
"""The term of a cell that no stored term can match."""


def held_term(low: Lowering, variable: str) -> Sql:
    """The term of a variable of the relation at hand (see `with_terms`)."""
    column = low.columns[variable]
    return col(column if low.shapes[variable] == "term" else f"t{column}", "r")


def _known(low: Lowering, draft: Draft, term: nodes.Term) -> Sql | None:
    """The canonical code of a bound variable."""
    if not isinstance(term, nodes.Variable) or draft.held(term.name) is None:
        return None
    return draft.canonical(held_term(low, term.name))


def codes_of(low: Lowering, term: nodes.Constant | nodes.Canonical, *, merges: bool) -> tuple[int, ...]:
    """The codes of a constant term."""
    value, view = low.values[term.slot.index], low.view
    if isinstance(term, nodes.Canonical):
        return canonical_terms(view, value, merges)  # type: ignore[arg-type]
    return constant_terms(view, value, term.literal, term.element, merges, term.slot.where)  # type: ignore[arg-type]


def path_end(low: Lowering, draft: Draft, term: nodes.Term) -> "tuple[int, ...] | Sql | None":
    """What an end has to be by its canonical identity: the codes of a constant, or a bound variable's."""
    if not isinstance(term, nodes.Variable):
        return tuple(low.view.canonical(code) for code in codes_of(low, term, merges=low.view.has_merges))
    return _known(low, draft, term)


def endpoint(
    low: Lowering, draft: Draft, term: nodes.Term, end: str, known: Sql | None, spread: tuple[str, ...]
) -> None:
    """One end of a tuple: what it has to be, or what it binds."""
    if isinstance(term, nodes.Variable):
        bind_end(low, draft, term.name, col(f"c{end}", "k"), known, spread)
        return
    codes = codes_of(low, term, merges=low.view.has_merges)
    draft.when(among(col(end, "k"), [lit(code) for code in codes]))


def bind_end(
    low: Lowering, draft: Draft, name: str, canonical: Sql, known: Sql | None, spread: tuple[str, ...]
) -> None:
    """A variable at an end: checked by its canonical identity where it is bound, bound elsewhere."""
    if draft.held(name):
        assert known is not None
        draft.when(eq(canonical, known))
        return
    code: Sql = canonical
    if name in spread and low.view.has_merges:
        alias = draft.left_join(low.same(), {"canonical": canonical.copy()})
        code = coalesce(col("code", alias), canonical.copy())
    if draft.held(name) is None:
        draft.bind(name, term_cell(low, draft, name, code))
        return
    assert known is not None
    agrees, cell, before = eq(canonical.copy(), known), term_cell(low, draft, name, code), draft.fresh(name)
    if before is None:  # where it is not bound yet, this end binds it
        draft.when(some((is_null(held_term(low, name)), agrees)))
        draft.rebind(name, coalesce(col(low.columns[name], "r"), cell))
    else:  # this pattern bound it before, at its other end or as its link
        draft.when(case((is_null(held_term(low, name)), eq(before, cell)), other=agrees))


def term_cell(low: Lowering, draft: Draft, name: str, code: Sql) -> Sql:
    """The cell of a term for a variable of its shape."""
    if low.shapes[name] == "term":
        return code
    alias = draft.left_join(layout.LITERALS.name, {"code": code})
    return coalesce(col("json", alias), element_cell(code.copy()))


def known(low: Lowering, operator: nodes.KnownProposition, relation: Relation) -> Relation:
    """`?p (id: x)`."""
    code = known_proposition(low.view, low.values[operator.slot.index], operator.slot.where)  # type: ignore[arg-type]
    draft = Draft(low, relation)
    if code is None:
        draft.when(exp.false())
    draft.bind(operator.link, low.boxed(operator.link, cast(lit(0 if code is None else code), "BIGINT")))
    return draft.done()
