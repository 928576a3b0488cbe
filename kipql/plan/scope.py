"""Static checks of a query: all that is wrong whatever the memory holds (specification §42.4, §44, §45).

Runs before planning and needs no data and no schema. What the text alone decides (a SEARCH inside NOT, the form of
a path) was refused when it was parsed (`lang.checks`, `lang.builder.patterns`).
"""

from collections.abc import Iterable, Mapping

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.words import near
from kipql.plan import beliefs, bindings, expressions
from kipql.plan.expressions import syntax

NO_SITES: Mapping[str, ast.Var] = {}


def check(find: ast.Find) -> None:
    """Check a FIND. Raises KipError with the span of what is wrong."""
    check_block(find.where)
    visible = bindings.exported(find.where)
    hidden = _locals_of_not(find.where)
    for item in find.items:
        _resolve(item, visible, hidden)
        expressions.check_item(item)
    for order in find.order_by:
        _resolve(order.key, visible, hidden)
    expressions.check_order(find, _elements(find.where))


def check_block(block: ast.Block, incoming: Mapping[str, ast.Var] = NO_SITES) -> None:
    """Check a block of clauses; `incoming` are the variables that the enclosing block binds before it."""
    own = bindings.exported(block)
    hidden = _locals_of_not(block)
    before = dict(incoming)
    waiting: list[beliefs.Clause] = []

    def see(var: ast.Var) -> None:
        before.setdefault(var.name, var)

    for clause in block.clauses:
        if isinstance(clause, ast.Not | ast.Optional | ast.Union):
            _, waiting = beliefs.settled(waiting, before, see)
        match clause:
            case ast.Filter(condition=condition):
                _resolve(condition, {**incoming, **own}, hidden)
                expressions.check_condition(condition)
            case ast.Not(block=inner) | ast.Optional(block=inner):
                check_block(inner, before)
            case ast.Union(block=inner):
                check_block(inner)
            case ast.PropositionPattern():
                _check_tuple(clause.target, linked=clause.var)
            case ast.StructuralPattern():
                _check_terms(clause.source, clause.target)
                _check_element_term(clause.source, "the source of a Structural Reference")
                _check_element_term(clause.target, "the target of a Structural Reference")
            case ast.ElementPattern():
                _check_pattern_value(clause.match)
            case ast.BeliefPattern() | ast.BeliefSlotPattern():
                _check_belief(clause)
                waiting.append(clause)
            case _:
                pass
        names = beliefs.inline(clause) if isinstance(clause, beliefs.CLAUSES) else bindings.of_clause(clause)
        for var in names:
            see(var)
    _, waiting = beliefs.settled(waiting, before, see)
    if waiting:
        raise beliefs.unbound(waiting[0], before)


def _resolve(expression: ast.Node, visible: Mapping[str, ast.Var], hidden: Iterable[str]) -> None:
    """Every variable an expression reads needs a visible binding site (§42.4)."""
    for var in bindings.used(expression):
        if var.name in visible:
            continue
        message = f"nothing binds ?{var.name} here"
        close = near(var.name, visible)
        if var.name in hidden:
            hint = f"?{var.name} is bound only inside NOT, which exports nothing; bind it outside as well"
        elif close is not None:
            hint = f"did you mean ?{close}?"
        else:
            hint = f"add a pattern that binds ?{var.name} in this branch"
        raise syntax(var, message, hint)


def _locals_of_not(block: ast.Block) -> set[str]:
    names: set[str] = set()
    for clause in block.clauses:
        match clause:
            case ast.Not(block=inner):
                names |= set(bindings.exported(inner)) | _locals_of_not(inner)
            case ast.Optional(block=inner) | ast.Union(block=inner):
                names |= _locals_of_not(inner)
            case _:
                pass
    return names


def _elements(block: ast.Block) -> set[str]:
    """Variables that can only be whole elements or beliefs: by an element pattern or as a pattern's name."""
    names: set[str] = set()
    for clause in block.clauses:
        match clause:
            case ast.ElementPattern(var=var) | ast.PropositionPattern(var=ast.Var() as var):
                names.add(var.name)
            case ast.BeliefPattern(var=var) | ast.BeliefSlotPattern(var=var):
                names.add(var.name)
            case ast.Optional(block=inner) | ast.Union(block=inner):
                names |= _elements(inner)
            case _:
                pass
    return names


# --- tuples and raw paths (§43.2, §45) ----------------------------------------------------------------


def _check_belief(clause: beliefs.Clause) -> None:
    if isinstance(clause, ast.BeliefSlotPattern):
        _check_terms(clause.subject)
        _check_element_term(clause.subject, "the subject of a slot")
    elif isinstance(clause.target, ast.Tuple):
        _check_tuple(clause.target, linked=None, exact="BELIEF")
        if isinstance(clause.target.object, ast.Var) and clause.target.object.name == clause.var.name:
            raise syntax(
                clause.target.object,
                f"?{clause.var.name} is the belief; it can not be its object too",
                "give the object a variable of its own",
            )


def _check_tuple(target: ast.Tuple | ast.PropositionId, *, linked: ast.Var | None, exact: str | None = None) -> None:
    if isinstance(target, ast.PropositionId):
        return
    _check_terms(target.subject, target.object)
    _check_element_term(target.subject, "the subject of a Proposition")
    path = target.predicate
    if not isinstance(path, ast.PredicatePath):
        return
    if exact is not None:
        raise syntax(path, f"{exact} takes one exact Predicate, not a path", "ask about one Predicate at a time")
    if linked is not None and not all(one_hop(step) for step in path.alternatives):
        raise syntax(
            linked,
            f"?{linked.name} can not name a path: zero or several hops are no Proposition",
            f"leave ?{linked.name} out",
        )


def one_hop(step: ast.PathStep) -> bool:
    """Whether an alternative is exactly one hop."""
    return step.quantifier is None or (step.quantifier.low, step.quantifier.high) == (1, 1)


def _check_terms(*terms: ast.Term) -> None:
    for term in terms:
        match term:
            case ast.Tuple():
                _check_tuple(term, linked=None)
                if isinstance(term.predicate, ast.PredicatePath) and not all(map(one_hop, term.predicate.alternatives)):
                    raise syntax(
                        term.predicate, "a nested tuple is one Proposition, not a path", "give the path its own clause"
                    )
            case ast.Object():
                _check_pattern_value(term)
            case _:
                pass


def _check_element_term(term: ast.Term, what: str) -> None:
    """A subject, and both ends of a Structural Reference, are elements and never Literals (§8.4)."""
    if isinstance(term, ast.Literal) and not isinstance(term.value, str):
        raise KipError(
            "TypeMismatch",
            f"{what} is an element, never a Literal",
            span=term.span,
            hint="name an element: a variable, an id or a parameter",
        )


def _check_pattern_value(value: ast.Node) -> None:
    match value:
        case ast.Object(members=members):
            for member in members:
                _check_pattern_value(member.value)
        case ast.Array(items=items):
            for item in items:
                _check_pattern_value(item)
        case ast.Tuple() | ast.PropositionId():
            _check_terms(value)
        case _:
            pass
