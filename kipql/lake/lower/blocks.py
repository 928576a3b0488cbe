"""Blocks: FILTER, NOT, OPTIONAL and UNION over relations (specification §44.2-§44.5)."""

from typing import assert_never

from sqlglot import exp

from kipql.lake.lower import beliefs, edges, paths, patterns
from kipql.lake.lower.draft import Draft
from kipql.lake.lower.expressions import Expressions
from kipql.lake.lower.sql import (
    Sql,
    coalesce,
    col,
    eq,
    every,
    everything,
    is_null,
    left_joined,
    lit,
    named,
    null,
    same,
    some,
    table,
)
from kipql.lake.lower.steps import Lowering, Relation
from kipql.lake.lower.wants import kinds, used
from kipql.plan import nodes


def block(low: Lowering, inner: nodes.Block, relation: Relation) -> Relation:
    """The solutions of a relation, extended by a block."""
    outer = low.narrowed
    low.narrowed = dict(outer)
    for name, found in kinds(inner.operators).items():
        low.narrowed[name] = low.narrowed.get(name, found) & found
    for operator in inner.operators:
        relation = _operator(low, operator, relation)
    low.narrowed = outer
    return relation


def _operator(low: Lowering, operator: nodes.Operator, relation: Relation) -> Relation:
    match operator:
        case nodes.Elements():
            return patterns.elements(low, operator, relation)
        case nodes.Triple():
            return patterns.triple(low, operator, relation)
        case nodes.KnownProposition():
            return patterns.known(low, operator, relation)
        case nodes.Reach():
            return paths.reach(low, operator, relation)
        case nodes.Edges():
            return edges.edges(low, operator, relation)
        case nodes.Keep(condition=condition):
            draft = Draft(low, relation, single=True)
            draft.when(Expressions(low, relation).truth(condition))
            return draft.done()
        case nodes.Without(block=inner):
            return _without(low, inner, relation)
        case nodes.Maybe(block=inner):
            return _maybe(low, inner, relation)
        case nodes.Either():
            return _either(low, operator, relation)
        case nodes.Search():
            raise AssertionError("a SEARCH is refused before anything is lowered")
        case nodes.Belief() | nodes.TupleBelief() | nodes.SlotBelief():
            return beliefs.believe(low, operator, relation)
        case _:
            assert_never(operator)


def _inside(low: Lowering, inner: nodes.Block, relation: Relation) -> tuple[Relation, list[tuple[str, str]]]:
    """What a nested block starts from: the distinct bindings that it mentions. Each is kept once more, as it came in,
    to find the outer solution again; (outer column, the column it is kept in)."""
    mentioned = set(used(inner))
    shared = [name for name in relation.scope if name in mentioned]
    low.depth += 1
    keys = [(low.columns[name], f"i{low.depth}{low.columns[name]}") for name in shared]
    select = exp.select(*(col(name, "r") for name in low.all_columns(shared)))
    select = select.select(*(named(col(column, "r"), kept) for column, kept in keys))
    if not shared:
        select = select.select(named(lit(1), "unit"))
    select = select.from_(table(relation.name, "r")).distinct()
    scope = {name: relation.scope[name] for name in shared}
    return Relation(low.step(select), scope, tuple(kept for _, kept in keys)), keys


def _agree(keys: list[tuple[str, str]]) -> Sql:
    return every(same(col(kept, "b"), col(column, "r")) for column, kept in keys)


def _without(low: Lowering, inner: nodes.Block, relation: Relation) -> Relation:
    relation = low.once(relation)
    start, keys = _inside(low, inner, relation)
    found = block(low, inner, start)
    match = exp.select(lit(1)).from_(table(found.name, "b")).where(_agree(keys))
    draft = Draft(low, relation, single=True)
    draft.when(exp.Not(this=exp.Exists(this=match)))
    return draft.done()


def _maybe(low: Lowering, inner: nodes.Block, relation: Relation) -> Relation:
    relation = low.once(relation)
    start, keys = _inside(low, inner, relation)
    found = block(low, inner, start)
    draft = Draft(low, relation)
    left_joined(draft.select, table(found.name, "b"), _agree(keys))
    for name in found.scope:
        held = relation.scope.get(name)
        if held:
            continue
        for column in low.all_columns((name,)):
            extended = col(column, "b")
            draft.outputs[column] = extended if held is None else coalesce(col(column, "r"), extended)
        draft.scope[name] = False
    return draft.done(distinct=True)


def _either(low: Lowering, operator: nodes.Either, relation: Relation) -> Relation:
    relation = low.once(relation)
    branch = block(low, operator.right, low.unit())
    right = _joined(low, relation, branch, operator.exported)
    if operator.left is None:
        return right
    left = block(low, operator.left, relation)
    names = list(dict.fromkeys([*left.scope, *right.scope]))
    scope = {name: bool(left.scope.get(name) and right.scope.get(name)) for name in names}
    columns = [*low.all_columns(names), *left.carry]
    sides = [_aligned(low, side, names, columns) for side in (left, right)]
    both = exp.union(*sides, distinct=True)
    step = low.step(everything().from_(both.subquery("u")))
    return Relation(step, scope, left.carry)


def _aligned(low: Lowering, side: Relation, names: list[str], columns: list[str]) -> exp.Select:
    """The columns of a side in one order; NULL for what it does not bind."""
    held = {*low.all_columns(side.scope), *side.carry}
    terms = {low.columns[name] for name in names if low.shapes[name] == "term"}
    select = exp.select(
        *(
            col(column, "r") if column in held else named(null("BIGINT" if column in terms else "VARCHAR"), column)
            for column in columns
        )
    ).from_(table(side.name, "r"))
    return select if columns else exp.select(named(lit(1), "unit")).from_(table(side.name, "r"))


def _joined(low: Lowering, relation: Relation, branch: Relation, exported: tuple[str, ...]) -> Relation:
    """The solutions of a branch joined to those that came in, where they agree."""
    draft = Draft(low, relation)
    draft.join(branch.name, "b")
    for name in exported:
        if name not in branch.scope:
            continue
        held, sure = relation.scope.get(name), branch.scope[name]
        theirs = col(low.columns[name], "b")
        if held is not None:
            ours = col(low.columns[name], "r")
            free = [] if held else [is_null(ours.copy())]
            free += [] if sure else [is_null(theirs.copy())]
            draft.when(some((*free, eq(ours, theirs))))
        for column in low.all_columns((name,)):
            extended = col(column, "b")
            draft.outputs[column] = extended if held is None else coalesce(col(column, "r"), extended)
        draft.scope[name] = bool(held or sure)
    return draft.done()
