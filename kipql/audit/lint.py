"""What is legal and hardly meant: the findings of `kipql check`, the warnings of `run`, `query`, `exec` and the shell.

A path that nothing has reads as null in every row (§44.1), so the answer looks like one and an audit stays clean.
"""

from kipql.errors import KipError
from kipql.lang import ast
from kipql.plan.caveats import findings


def lint(statement: ast.Statement) -> list[KipError]:
    """Every such place of a statement, its span in the text that the statement was parsed from."""
    return list(findings(statement))
