"""Which variables a clause can bind, in the order of the text (specification §42.4).

NOT exports nothing; OPTIONAL and UNION export what their blocks bind. An expression binds nothing.
"""

from collections.abc import Iterator

from kipql.lang import ast


def exported(block: ast.Block) -> dict[str, ast.Var]:
    """The variables that are in scope after the block, each with its first binding site."""
    sites: dict[str, ast.Var] = {}
    for clause in block.clauses:
        for var in of_clause(clause):
            sites.setdefault(var.name, var)
    return sites


def of_clause(clause: ast.Clause) -> Iterator[ast.Var]:
    """The binding sites that one clause adds to its block."""
    match clause:
        case ast.ElementPattern(var=var, match=pattern):
            yield var
            yield from of_value(pattern)
        case ast.PropositionPattern(var=var, target=target):
            if var is not None:
                yield var
            yield from of_value(target)
        case ast.StructuralPattern(var=var, source=source, target=target):
            if var is not None:
                yield var
            yield from of_value(source)
            yield from of_value(target)
        case ast.BeliefPattern(var=var, target=ast.Tuple(subject=subject, object=object_)):
            yield var
            yield from of_value(object_)
            # The subject must be bound already; what an inline subject binds is a pattern of its own (§46.3).
            yield from () if isinstance(subject, ast.Var) else of_value(subject)
        case ast.BeliefSlotPattern(var=var, subject=subject):
            yield var
            yield from () if isinstance(subject, ast.Var) else of_value(subject)
        case ast.BeliefPattern(var=var):
            yield var
        case ast.SearchPattern(var=var):
            yield var
        case ast.Optional(block=block) | ast.Union(block=block):
            yield from exported(block).values()
        case _:
            return


def of_value(value: ast.Node | None) -> Iterator[ast.Var]:
    """The binding sites inside a term, a pattern value or a predicate."""
    match value:
        case ast.Var():
            yield value
        case ast.Object(members=members):
            for member in members:
                yield from of_value(member.value)
        case ast.Array(items=items):
            for item in items:
                yield from of_value(item)
        case ast.Tuple(subject=subject, predicate=predicate, object=object_):
            yield from of_value(subject)
            yield from of_value(predicate)
            yield from of_value(object_)
        case _:
            return


def used(expression: ast.Node) -> Iterator[ast.Var]:
    """The variables that an expression reads."""
    match expression:
        case ast.Var():
            yield expression
        case ast.Path(var=var):
            yield var
        case ast.Array(items=items) | ast.And(items=items) | ast.Or(items=items):
            for item in items:
                yield from used(item)
        case ast.Object(members=members):
            for member in members:
                yield from used(member.value)
        case ast.Call(args=args):
            for argument in args:
                yield from used(argument)
        case ast.Negate(operand=operand) | ast.Minus(operand=operand):
            yield from used(operand)
        case ast.Compare(left=left, right=right):
            yield from used(left)
            yield from used(right)
        case _:
            return
