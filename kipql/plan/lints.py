"""What is legal and hardly meant about beliefs (specification §44.3, §46.4).

A grounded projection always answers, `insufficient` at least. A NOT that holds nothing else has a match with every
row and removes them all. And a member that no belief has reads as null in every row.
"""

from collections.abc import Iterator

from kipql.belief.output import BELIEF, SLOT
from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.walk import iterate
from kipql.lang.words import near
from kipql.plan import bindings

_INSTEAD = {"policy": "basis.policy", "temporal": "basis", "valid_at": "basis.valid_at", "values": "accepted_values"}


def lints(statement: ast.Node) -> Iterator[KipError]:
    """A finding for each such place, with its span."""
    nodes = list(iterate(statement))
    for node in nodes:
        if isinstance(node, ast.Block):
            yield from _always(node)
    members = _beliefs(nodes)
    for node in nodes:
        if isinstance(node, ast.Path) and (known := members.get(node.var.name)) and node.steps[0] not in known:
            yield _unknown(node, known)


def _always(block: ast.Block) -> Iterator[KipError]:
    before: set[str] = set()
    for clause in block.clauses:
        inside = clause.block.clauses if isinstance(clause, ast.Not) else ()
        if inside and all(_answers(inner, before) for inner in inside):
            yield KipError(
                "ConstraintViolation",
                "this NOT removes every row: a grounded BELIEF always answers, `insufficient` at least",
                span=clause.span,
                hint='say which answer excludes, for example FILTER(?b.status == "accepted") inside the NOT',
            )
        before.update(var.name for var in bindings.of_clause(clause))


def _answers(clause: ast.Clause, before: set[str]) -> bool:
    """Whether a clause always has a row."""
    match clause:
        case ast.BeliefSlotPattern(subject=ast.Var() | ast.Literal() | ast.Param()):
            return True
        case ast.BeliefPattern(
            target=ast.Tuple(
                subject=ast.Var() | ast.Literal() | ast.Param(), object=ast.Var() | ast.Literal() | ast.Param() as end
            )
        ):
            return not isinstance(end, ast.Var) or end.name in before
        case _:
            return False


def _beliefs(nodes: list[ast.Node]) -> dict[str, frozenset[str]]:
    """The members of the variables that are beliefs and nothing else."""
    found: dict[str, frozenset[str]] = {}
    others: set[str] = set()
    for node in nodes:
        match node:
            case ast.BeliefSlotPattern(var=var):
                found[var.name] = found.get(var.name, frozenset()) | frozenset(SLOT)
            case ast.BeliefPattern(var=var):
                found[var.name] = found.get(var.name, frozenset()) | frozenset(BELIEF)
            case ast.ElementPattern(var=var) | ast.SearchPattern(var=var):
                others.add(var.name)
            case ast.PropositionPattern(var=ast.Var() as var) | ast.StructuralPattern(var=ast.Var() as var):
                others.add(var.name)
            case _:
                pass
    return {name: members for name, members in found.items() if name not in others}


def _unknown(path: ast.Path, members: frozenset[str]) -> KipError:
    name = path.steps[0]
    meant = _INSTEAD.get(name) or near(name, sorted(members))
    return KipError(
        "SchemaFieldNotFound",
        f"a belief has no member {name!r}: it is null",
        span=path.span,
        hint=f"did you mean {meant}?" if meant else f"members are {', '.join(sorted(members))}",
    )
