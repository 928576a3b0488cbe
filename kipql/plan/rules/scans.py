"""A count over every Assertion, in groups, needs columns and no solutions (§44.6; `exec.operators.columns`).

It is recognised where the block is an Assertion pattern, perhaps with the tuple of its Proposition whose endpoints are
free, and filters that order an end of the valid time, `asserted_at` or the confidence against a constant; where the
plain items of FIND are the Predicate, one endpoint, the stance or the mode; and every aggregate counts what each
solution binds. The plan keeps its operators: a view that the columns do not say all of is answered by them.
"""

from dataclasses import replace

from kipql.model import ASSERTION
from kipql.plan import nodes

COLUMNS = {("valid_time", "from"): "from", ("valid_time", "until"): "until", ("asserted_at",): "asserted_at",
           ("confidence",): "confidence"}  # fmt: skip
NAMED = {("stance",): "stance", ("mode",): "mode"}
ENDPOINTS = ("subject", "object")
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def count_in_columns(plan: nodes.Plan) -> nodes.Plan:
    """Set `scan` of a plan that is such a count."""
    return replace(plan, scan=_scan(plan))


def _scan(plan: nodes.Plan) -> nodes.Scan | None:
    if not plan.grouped or plan.unique == "no":
        return None
    claims = [one for one in plan.block.operators if isinstance(one, nodes.Elements)]
    tuples = [one for one in plan.block.operators if isinstance(one, nodes.Triple)]
    filters = [one for one in plan.block.operators if isinstance(one, nodes.Keep)]
    if len(claims) != 1 or len(tuples) > 1 or len(claims) + len(tuples) + len(filters) < len(plan.block.operators):
        return None
    claim = claims[0]
    bound = _bound(claim, tuples[0] if tuples else None)
    named = _named(claim, bool(tuples))
    limits = [_limit(one.condition, claim.variable) for one in filters]
    keys = [_key(item, bound, claim.variable) for item in plan.items if not isinstance(item, nodes.Aggregate)]
    if bound is None or named is None or None in limits or None in keys:
        return None
    if not all(_counts(item, bound) for item in plan.items if isinstance(item, nodes.Aggregate)):
        return None
    if sum(key in ENDPOINTS for key in keys) > 1:
        return None
    predicates = tuples[0].predicates if tuples else ()
    symbols = () if isinstance(predicates, nodes.Variable) else predicates
    return nodes.Scan(bool(tuples), symbols, named, tuple(filter(None, limits)), tuple(filter(None, keys)))


def _bound(claim: nodes.Elements, pattern: nodes.Triple | None) -> dict[str, str] | None:
    """What each variable is; None where two places share one, or a place is not free."""
    if claim.kind != ASSERTION or claim.recall != "active":
        return None
    found = {claim.variable: "assertion"}
    if pattern is None:
        return found
    places = {"subject": pattern.subject, "object": pattern.object}
    if isinstance(pattern.predicates, nodes.Variable):
        places["predicate"] = pattern.predicates
    for place, term in places.items():
        if not isinstance(term, nodes.Variable) or term.name in found:
            return None
        found[term.name] = place
    joined = [test.term for test in claim.tests if isinstance(test, nodes.Refers) and test.field == "proposition"]
    if pattern.link is None or pattern.link in found or joined != [nodes.Variable(pattern.link)]:
        return None
    return {**found, pattern.link: "proposition"}


def _named(claim: nodes.Elements, joined: bool) -> tuple[tuple[str, nodes.Slot], ...] | None:
    """The stance and the mode that the pattern asks for; None where it tests anything else."""
    found = []
    for test in claim.tests:
        match test:
            case nodes.Equals(steps=steps, slot=slot) if steps in NAMED:
                found.append((NAMED[steps], slot))
            case nodes.Refers(field="proposition") if joined:
                pass
            case _:
                return None
    return tuple(found)


def _limit(condition: nodes.Expression, claim: str) -> tuple[str, str, nodes.Slot] | None:
    """A column that is ordered against a constant."""
    match condition:
        case nodes.Comparison(op=op, left=nodes.Const() as constant, right=nodes.Member() as path) if op in _FLIPPED:
            return _limit(nodes.Comparison(_FLIPPED[op], path, constant), claim)
        case nodes.Comparison(op=op, left=nodes.Member(name=name, steps=steps), right=nodes.Const(slot=slot)):
            known = op in _FLIPPED and name == claim and steps in COLUMNS
            return (COLUMNS[steps], op, slot) if known else None
        case _:
            return None


def _key(item: nodes.Expression, bound: dict[str, str] | None, claim: str) -> str | None:
    """What a plain item groups by."""
    match item:
        case nodes.Load(name=name) if bound is not None and bound.get(name) in ("predicate", *ENDPOINTS):
            return bound[name]
        case nodes.Member(name=name, steps=steps) if name == claim and steps in NAMED:
            return NAMED[steps]
        case _:
            return None


def _counts(item: nodes.Aggregate, bound: dict[str, str]) -> bool:
    """Whether an aggregate is the number of solutions: each has its own Assertion, and binds every variable."""
    if item.function != "COUNT" or not isinstance(item.operand, nodes.Load):
        return False
    place = bound.get(item.operand.name)
    return place == "assertion" if item.distinct else place is not None
