"""What a BELIEF clause reads and what it offers (specification §46, §47).

A projection is bounded: the Proposition, the subject and the Predicate are bound by something else before it
runs, wherever in the block it was written. It offers its own variable, and an object that nothing else of the
block binds.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from typing import TypeAlias

from kipql.errors import KipError
from kipql.lang import ast
from kipql.plan import bindings

Clause: TypeAlias = ast.BeliefPattern | ast.BeliefSlotPattern
CLAUSES = (ast.BeliefPattern, ast.BeliefSlotPattern)


def needed(clause: Clause) -> tuple[ast.Var, ...]:
    """The variables that must be bound before the projection."""
    match clause:
        case ast.BeliefPattern(target=ast.Var() as proposition):
            return (proposition,)
        case ast.BeliefPattern(target=ast.Tuple(subject=subject, predicate=predicate)):
            terms: tuple[object, ...] = (subject, predicate)
        case ast.BeliefSlotPattern(subject=subject, predicate=predicate):
            terms = (subject, predicate)
        case _:
            terms = ()
    return tuple(term for term in terms if isinstance(term, ast.Var))


def inline(clause: Clause) -> Iterator[ast.Var]:
    """The variables that inline matches and nested tuples of its terms bind, like patterns of their own."""
    for term in _terms(clause):
        if not isinstance(term, ast.Var):
            yield from bindings.of_value(term)


def offered(clause: Clause) -> Iterator[ast.Var]:
    """The variables that the projection itself can bind."""
    yield clause.var
    match clause:
        case ast.BeliefPattern(target=ast.Tuple(object=ast.Var() as object_)):
            yield object_


def settled(
    waiting: Iterable[Clause], seen: Container[str], see: Callable[[ast.Var], None]
) -> tuple[list[Clause], list[Clause]]:
    """The clauses that can run once `seen` is bound, in the order they run, and those that still wait.

    see  is told every variable that a clause offers, and makes it part of `seen`
    """
    ready: list[Clause] = []
    left = list(waiting)
    while (found := next((clause for clause in left if _runs(clause, seen)), None)) is not None:
        left.remove(found)
        ready.append(found)
        for var in offered(found):
            see(var)
    return ready, left


def unbound(clause: Clause, seen: Container[str]) -> KipError:
    """The error of a clause that nothing makes ready."""
    var = next(var for var in needed(clause) if var.name not in seen)
    if isinstance(clause, ast.BeliefPattern) and isinstance(clause.target, ast.Var):
        return target_unbound(var)
    return target_unbounded(var)


def target_unbound(var: ast.Var) -> KipError:
    """Nothing binds the Proposition that a BELIEF is about (§46.1)."""
    return KipError(
        "ProjectionTargetUnbound",
        f"BELIEF is about ?{var.name}, which nothing binds here",
        span=var.span,
        hint=f"bind ?{var.name} to a Proposition, or write BELIEF (subject, predicate, object)",
    )


def target_unbounded(var: ast.Var) -> KipError:
    """Nothing binds the subject or Predicate of a slot: the projection would range over the whole memory (§46.3)."""
    return KipError(
        "ProjectionTargetUnbounded",
        f"nothing binds ?{var.name} here: a projection needs its subject and its Predicate",
        span=var.span,
        hint=f"bind ?{var.name} with a pattern, or name it by a parameter",
    )


def _runs(clause: Clause, seen: Container[str]) -> bool:
    return all(var.name in seen for var in needed(clause))


def _terms(clause: Clause) -> tuple[ast.Node, ...]:
    match clause:
        case ast.BeliefSlotPattern(subject=subject):
            return (subject,)
        case ast.BeliefPattern(target=ast.Tuple(subject=subject, object=object_)):
            return (subject, object_)
        case _:
            return ()
