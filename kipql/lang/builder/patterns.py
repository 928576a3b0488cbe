"""WHERE patterns (§43-47)."""

from __future__ import annotations

from typing import Any

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.builder.base import Marks, Values
from kipql.spans import Span
from kipql.values import MAX_SAFE_INTEGER

_KINDS = {
    "CONCEPT": "Concept",
    "PROPOSITION": "Proposition",
    "ASSERTION": "Assertion",
    "EVIDENCE": "Evidence",
    "ACTIVITY": "Activity",
}


def _block(v: Values, s: int, e: int, marks: Marks) -> ast.Block:
    return ast.Block(tuple(v[1]), span=Span(s, e))


def _concept_bare(v: Values, s: int, e: int, marks: Marks) -> ast.ElementPattern:
    return ast.ElementPattern(v[0], "Concept", v[1], False, span=Span(s, e))


def _concept(v: Values, s: int, e: int, marks: Marks) -> ast.ElementPattern:
    return ast.ElementPattern(v[0], "Concept", v[2], span=Span(s, e))


def _kind(v: Values, s: int, e: int, marks: Marks) -> str:
    return _KINDS[v[0].upper()]


def _record(v: Values, s: int, e: int, marks: Marks) -> ast.ElementPattern:
    return ast.ElementPattern(v[0], v[1], v[2], span=Span(s, e))


def _proposition_bare(v: Values, s: int, e: int, marks: Marks) -> ast.PropositionPattern:
    return ast.PropositionPattern(None, v[0], span=Span(s, e))


def _proposition_keyword(v: Values, s: int, e: int, marks: Marks) -> ast.PropositionPattern:
    return ast.PropositionPattern(None, v[1], True, span=Span(s, e))


def _proposition_bound(v: Values, s: int, e: int, marks: Marks) -> ast.PropositionPattern:
    return ast.PropositionPattern(v[0], v[1], span=Span(s, e))


def _proposition_bound_keyword(v: Values, s: int, e: int, marks: Marks) -> ast.PropositionPattern:
    return ast.PropositionPattern(v[0], v[2], True, span=Span(s, e))


def _structural(v: Values, s: int, e: int, marks: Marks) -> ast.StructuralPattern:
    return ast.StructuralPattern(None, v[2], v[4], v[6], span=Span(s, e))


def _structural_bound(v: Values, s: int, e: int, marks: Marks) -> ast.StructuralPattern:
    return ast.StructuralPattern(v[0], v[3], v[5], v[7], span=Span(s, e))


def _belief(v: Values, s: int, e: int, marks: Marks) -> ast.BeliefPattern:
    node = ast.BeliefPattern(v[0], v[3], span=Span(s, e))
    marks.append(node)
    return node


def _belief_slot(v: Values, s: int, e: int, marks: Marks) -> ast.BeliefSlotPattern:
    node = ast.BeliefSlotPattern(v[0], v[4], v[6], span=Span(s, e))
    marks.append(node)
    return node


def _belief_tuple(v: Values, s: int, e: int, marks: Marks) -> ast.Tuple:
    return ast.Tuple(v[0], v[2], v[4], span=Span(s, e))


def _proposition_id(v: Values, s: int, e: int, marks: Marks) -> ast.PropositionId:
    return ast.PropositionId(v[2], span=Span(s, e))


def _search(v: Values, s: int, e: int, marks: Marks) -> ast.SearchPattern:
    with_type, with_predicate = v[4]
    node = ast.SearchPattern(v[0], v[2], v[3], with_type, with_predicate, v[5], v[6], v[8], span=Span(s, e))
    marks.append(node)
    return node


def _search_with_neither(v: Values, s: int, e: int, marks: Marks) -> tuple[Any, Any]:
    return None, None


def _search_with_type(v: Values, s: int, e: int, marks: Marks) -> tuple[Any, Any]:
    return v[2], None


def _search_with_predicate(v: Values, s: int, e: int, marks: Marks) -> tuple[Any, Any]:
    return None, v[2]


def _search_with_both(v: Values, s: int, e: int, marks: Marks) -> tuple[Any, Any]:
    return v[2], v[5]


def _filter(v: Values, s: int, e: int, marks: Marks) -> ast.Filter:
    return ast.Filter(v[2], span=Span(s, e))


def _not(v: Values, s: int, e: int, marks: Marks) -> ast.Not:
    node = ast.Not(v[1], span=Span(s, e))
    marks.append(node)
    return node


def _optional(v: Values, s: int, e: int, marks: Marks) -> ast.Optional:
    return ast.Optional(v[1], span=Span(s, e))


def _union(v: Values, s: int, e: int, marks: Marks) -> ast.Union:
    return ast.Union(v[1], span=Span(s, e))


def _tuple(v: Values, s: int, e: int, marks: Marks) -> ast.Tuple:
    return ast.Tuple(v[1], v[3], v[5], span=Span(s, e))


def _tuple_id(v: Values, s: int, e: int, marks: Marks) -> ast.PropositionId:
    return ast.PropositionId(v[3], span=Span(s, e))


def _predicate_path(v: Values, s: int, e: int, marks: Marks) -> Any:
    """One Predicate without a quantifier is itself; anything more is a path (§45)."""
    steps = [step if type(step) is ast.PathStep else ast.PathStep(step, None, span=step.span) for step in v[0]]
    if len(steps) == 1 and steps[0].quantifier is None:
        return steps[0].predicate
    for step in steps:
        if type(step.predicate) is ast.Var:
            raise KipError(
                "InvalidSyntax",
                f"the variable ?{step.predicate.name} stands for one Predicate, not for a path",
                span=step.span,
                hint="quantifiers and alternatives take quoted Predicates or parameters",
            )
    node = ast.PredicatePath(tuple(steps), span=Span(s, e))
    marks.append(node)
    return node


def _hops_counted(v: Values, s: int, e: int, marks: Marks) -> ast.PathStep:
    return ast.PathStep(v[0], v[1], span=Span(s, e))


def _bound(token: str, s: int, e: int) -> int:
    """A bound of hops; leading zeros count for nothing."""
    digits = token.lstrip("0") or "0"
    if len(digits) > len(str(MAX_SAFE_INTEGER)) or int(digits) > MAX_SAFE_INTEGER:
        raise KipError("InvalidSyntax", "a bound of hops is an integer up to 9007199254740991", span=Span(s, e))
    return int(digits)


def _quantifier_exact(v: Values, s: int, e: int, marks: Marks) -> ast.Quantifier:
    hops = _bound(v[1], s, e)
    return ast.Quantifier(hops, hops, span=Span(s, e))


def _quantifier_open(v: Values, s: int, e: int, marks: Marks) -> ast.Quantifier:
    return ast.Quantifier(_bound(v[1], s, e), None, span=Span(s, e))


def _quantifier_range(v: Values, s: int, e: int, marks: Marks) -> ast.Quantifier:
    low, high = _bound(v[1], s, e), _bound(v[3], s, e)
    if high < low:
        raise KipError(
            "InvalidSyntax",
            f"at least {low} and at most {high} hops is no range",
            span=Span(s, e),
            hint="the upper bound comes second and is not below the lower one",
        )
    return ast.Quantifier(low, high, span=Span(s, e))


BUILDERS = {
    "block": _block,
    "concept_bare": _concept_bare,
    "concept_pattern": _concept,
    "record_kind": _kind,
    "element_kind": _kind,
    "record_pattern": _record,
    "proposition_bare": _proposition_bare,
    "proposition_keyword": _proposition_keyword,
    "proposition_bound": _proposition_bound,
    "proposition_bound_keyword": _proposition_bound_keyword,
    "structural_pattern": _structural,
    "structural_bound": _structural_bound,
    "belief_pattern": _belief,
    "belief_slot": _belief_slot,
    "belief_tuple": _belief_tuple,
    "proposition_id": _proposition_id,
    "search_pattern": _search,
    "search_with_neither": _search_with_neither,
    "search_with_type": _search_with_type,
    "search_with_predicate": _search_with_predicate,
    "search_with_both": _search_with_both,
    "filter": _filter,
    "not_": _not,
    "optional": _optional,
    "union": _union,
    "tuple": _tuple,
    "tuple_id": _tuple_id,
    "predicate_path": _predicate_path,
    "hops_counted": _hops_counted,
    "quantifier_exact": _quantifier_exact,
    "quantifier_open": _quantifier_open,
    "quantifier_range": _quantifier_range,
}
