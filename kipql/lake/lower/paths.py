"""Raw paths: reachability, one hop of every walk at a time (specification §45).

The pairs (start, end) grow level by level in a table of the engine, each pair once, until no level is new; at the
hop limit the query fails, as in the process. Zero hops are the element itself.
"""

from sqlglot import exp

from kipql.lake import layout
from kipql.lake.lower.draft import Draft
from kipql.lake.lower.patterns import bind_end, codes_of, held_term, path_end, with_terms
from kipql.lake.lower.sql import Sql, among, coalesce, col, eq, every, everything, left_joined, lit, named, table
from kipql.lake.lower.steps import Lowering, Relation
from kipql.limits import exhausted
from kipql.plan import nodes


def reach(low: Lowering, operator: nodes.Reach, relation: Relation) -> Relation:
    """`(s, "p"{1,3} | "q", o)`."""
    relation = with_terms(low, relation, operator.subject, operator.object)
    forward = _is_known(low, operator.subject, relation) or not _is_known(low, operator.object, relation)
    begin = operator.subject if forward else operator.object
    starts = _starts(low, begin, relation, operator.hops, forward)
    pairs = [_walk(low, starts, hop, forward) for hop in operator.hops]
    whole = everything().from_(exp.union(*pairs, distinct=True).subquery("u")) if len(pairs) > 1 else pairs[0]
    step = low.step(whole)
    draft = Draft(low, relation)
    known = {end: path_end(low, draft, term) for end, term in _ends(operator)}
    draft.join(step, "k")
    names = ("first", "last") if forward else ("last", "first")
    for (end, term), name in zip(_ends(operator), names, strict=True):
        _bind(low, draft, term, col(name, "k"), known[end], operator.spread)
    draft.when(exp.GTE(this=col(names[0], "k"), expression=lit(0)))
    return draft.done()


def _ends(operator: nodes.Reach) -> list[tuple[str, nodes.Term]]:
    return [("subject", operator.subject), ("object", operator.object)]


def _is_known(low: Lowering, term: nodes.Term, relation: Relation) -> bool:
    return not isinstance(term, nodes.Variable) or bool(relation.scope.get(term.name))


def _bind(
    low: Lowering,
    draft: Draft,
    term: nodes.Term,
    code: Sql,
    known: "tuple[int, ...] | Sql | None",
    spread: tuple[str, ...],
) -> None:
    if isinstance(known, tuple):
        draft.when(among(code, [lit(one) for one in known]))
        return
    assert isinstance(term, nodes.Variable)
    bind_end(low, draft, term.name, code, known, spread)


def _starts(
    low: Lowering, term: nodes.Term, relation: Relation, hops: tuple[nodes.Hop, ...], forward: bool
) -> exp.Select:
    """(code) of every canonical identity that a walk begins at."""
    if not isinstance(term, nodes.Variable):
        codes = [low.view.canonical(code) for code in codes_of(low, term, merges=low.view.has_merges)]
        return _values(codes)
    if relation.scope.get(term.name):
        draft = Draft(low, relation)
        draft.outputs = {}
        code = draft.canonical(held_term(low, term.name))
        return draft.select.select(named(code, "code")).distinct()
    end = "csubject" if forward else "cobject"
    refs = [ref for hop in hops for ref in low.refs(hop.predicate)]
    used = every((col("recalled"), among(col("predicate"), refs)))
    found = exp.select(named(col(end), "code")).from_(table(low.base(layout.PROPOSITIONS.name))).where(used)
    if not any(hop.low == 0 for hop in hops):
        return found.distinct()
    both = exp.union(found, *(_elements(low, each.name) for each in layout.STATE_TABLES), distinct=True)
    return everything().from_(both.subquery("u"))


def _elements(low: Lowering, name: str) -> exp.Select:
    """The canonical identities of the elements of a kind."""
    found = exp.select().from_(table(low.base(name), "e"))
    code = col("code", "e")
    if name == layout.CONCEPTS.name and low.view.has_merges:
        on = eq(col("code", "i"), code)
        left_joined(found, table(low.base(layout.IDENTITIES.name), "i"), on)
        code = coalesce(col("canonical", "i"), code.copy())
    return found.select(named(code, "code"))


def _values(codes: list[int]) -> exp.Select:
    parts = [exp.select(named(exp.cast(lit(code), "BIGINT"), "code")) for code in dict.fromkeys(codes)]
    if not parts:
        return exp.select(named(exp.cast(lit(0), "BIGINT"), "code")).where(exp.false())
    return parts[0] if len(parts) == 1 else everything().from_(exp.union(*parts, distinct=True).subquery("u"))


def _walk(low: Lowering, starts: exp.Select, hop: nodes.Hop, forward: bool) -> exp.Select:
    """(first, last) of the walks of one alternative."""
    moves = low.keep(_moves(low, hop, forward))
    begin = exp.select(named(col("code", "s"), "first"), named(col("code", "s"), "last")).from_(starts.subquery("s"))
    level = low.keep(begin)
    hops = 0
    while hops < hop.low and low.engine.count(level):
        _admit(low, hops)
        level = low.keep(_further(level, moves))
        hops += 1
    found = [level]
    if hop.low == 0 and not forward:  # a walk may begin at a Literal, and zero hops are the element itself
        elements = exp.GTE(this=col("last"), expression=lit(0))
        found = [low.keep(everything().from_(table(level)).where(elements))]
    while (hop.high is None or hops < hop.high) and low.engine.count(level):
        level = low.keep(_fresh(_further(level, moves), found))
        if low.engine.count(level):
            _admit(low, hops)
        found.append(level)
        hops += 1
    parts = [exp.select(col("first"), col("last")).from_(table(name)) for name in found]
    return parts[0] if len(parts) == 1 else everything().from_(exp.union(*parts, distinct=False).subquery("u"))


def _admit(low: Lowering, hops: int) -> None:
    if hops >= low.view.limits.hops:
        exhausted("hops", low.view.limits.hops, "a path has more hops")


def _moves(low: Lowering, hop: nodes.Hop, forward: bool) -> exp.Select:
    """(source, target) of one hop."""
    source, target = ("csubject", "cobject") if forward else ("cobject", "csubject")
    conditions = every((col("recalled"), among(col("predicate"), low.refs(hop.predicate))))
    found = exp.select(named(col(source), "source"), named(col(target), "target"))
    return found.from_(table(low.base(layout.PROPOSITIONS.name))).where(conditions).distinct()


def _further(level: str, moves: str) -> exp.Select:
    found = exp.select(col("first", "l"), named(col("target", "m"), "last")).from_(table(level, "l"))
    return found.join(table(moves, "m"), on=eq(col("source", "m"), col("last", "l"))).distinct()


def _fresh(further: exp.Select, found: list[str]) -> exp.Select:
    """Pairs that no earlier level has."""
    fresh = exp.select(col("first", "n"), col("last", "n")).from_(further.subquery("n"))
    for at, name in enumerate(found):
        alias = f"f{at}"
        same = every((eq(col("first", alias), col("first", "n")), eq(col("last", alias), col("last", "n"))))
        match = exp.select(lit(1)).from_(table(name, alias)).where(same)
        fresh = fresh.where(exp.Not(this=exp.Exists(this=match)))
    return fresh
