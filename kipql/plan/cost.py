"""What an operator costs, given what is bound: the order of a join (architecture §4.3).

`rank` needs no data: it says which access path an operator has. `entries` are the operators that a block could
start from where only the postings can tell which is shorter; `exec.estimate` asks them at run time.
"""

from kipql.model import ACTIVITY, CONCEPT, EVIDENCE
from kipql.plan import nodes

POSTING = 5  # ranks from here on depend on how long a posting is
BROAD = 50  # a type or a Predicate alone
WHOLE = 100


def rank(operator: nodes.Operator, bound: frozenset[str]) -> int:
    """The cost class of an operator after the variables in `bound`; smaller runs first."""
    match operator:
        case nodes.KnownProposition():
            return 0
        case nodes.Search(variable=variable):
            return 1 if variable in bound else 2
        case nodes.Elements():
            return _element_rank(operator, bound)
        case nodes.Triple():
            return _triple_rank(operator, bound)
        case nodes.Edges(source=source, target=target):
            return 3 if known(source, bound) else _referrers_rank(target, bound)
        case nodes.Reach(subject=subject, object=object_):
            return 8 if known(subject, bound) else 10 if known(object_, bound) else 200
        case _:
            return WHOLE


def _referrers_rank(target: nodes.Term, bound: frozenset[str]) -> int:
    """What points at a target. Where the target differs from solution to solution, as inside NOT, its referrers are
    a share of all references; a posting of a value would be read whole for each solution."""
    if isinstance(target, nodes.Variable):
        return POSTING - 1 if target.name in bound else 90
    return POSTING + 1


def known(term: nodes.Term, bound: frozenset[str]) -> bool:
    """Whether a term is a constant or a bound variable."""
    return not isinstance(term, nodes.Variable) or term.name in bound


def _element_rank(operator: nodes.Elements, bound: frozenset[str]) -> int:
    if operator.variable in bound:
        return 1
    return min((_test_rank(operator.kind, test, bound) for test in operator.tests), default=WHOLE)


def _has_posting(kind: int, steps: nodes.Steps) -> bool:
    """Whether the store keeps a posting of the scalars at a path (`View.with_value`)."""
    if kind not in (CONCEPT, EVIDENCE, ACTIVITY) or not all(isinstance(step, str) for step in steps):
        return False
    return steps[0] in ("attributes", "payload") if len(steps) > 1 else steps[0] != "id"


def _test_rank(kind: int, test: nodes.Test, bound: frozenset[str]) -> int:
    match test:
        case nodes.IsElement():
            return 0
        case nodes.Equals(steps=("key",)) if kind == CONCEPT:
            return 1
        case nodes.KeyIn() | nodes.IdIn():
            return 2
        case nodes.Equals(steps=("name",)) if kind == CONCEPT:
            return POSTING
        case nodes.Equals(steps=steps) if _has_posting(kind, steps):
            return POSTING + 1
        case nodes.Refers(field="proposition", term=term) if known(term, bound):
            return 3
        case nodes.Refers(field="asserted_by", term=term) if known(term, bound):
            return POSTING + 2
        case nodes.HasType():
            return BROAD
        case _:
            return WHOLE


def _triple_rank(operator: nodes.Triple, bound: frozenset[str]) -> int:
    if operator.link is not None and operator.link in bound:
        return 1
    subject, object_ = known(operator.subject, bound), known(operator.object, bound)
    if subject and object_:
        return 1
    if subject:
        return 3
    named = not isinstance(operator.predicates, nodes.Variable)
    if object_:
        return 7 if named else 8
    return 60 if named else 120


def entries(operators: tuple[nodes.Operator, ...]) -> tuple[int, ...]:
    """The positions worth comparing at run time as the first of a join; one or none when ranks decide.

    Postings of values compete with each other, and postings of a whole type or Predicate with each other: a value
    is taken to be the narrower of the two without looking.
    """
    nothing: frozenset[str] = frozenset()
    ranked = [(rank(operator, nothing), at) for at, operator in enumerate(operators) if _joins(operator)]
    best = min(ranked, default=(0, 0))[0]
    if best < POSTING:
        return ()
    most = BROAD if best < BROAD else WHOLE
    found = tuple(at for cost, at in ranked if cost < most and _measurable(operators[at]))
    return found if len(found) > 1 else ()


def broad(operators: tuple[nodes.Operator, ...]) -> nodes.Elements | nodes.Triple | None:
    """The first operator, where how many candidates it has is a question to the postings."""
    first = operators[0] if operators else None
    if not isinstance(first, nodes.Elements | nodes.Triple) or rank(first, frozenset()) < POSTING:
        return None
    return first


def _joins(operator: nodes.Operator) -> bool:
    return not isinstance(operator, nodes.Keep | nodes.Without | nodes.Maybe | nodes.Either)


def _measurable(operator: nodes.Operator) -> bool:
    return isinstance(operator, nodes.Elements | nodes.Triple)
