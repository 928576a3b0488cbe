"""What is legal and hardly meant: the findings of `kipql check`, the warnings of `run`, `query` and `exec`.

A path that nothing has reads as null in every row (§44.1), so the answer looks like one and an audit stays clean.
"""

from kipql.audit.members import unknown_members
from kipql.errors import KipError
from kipql.lang import ast
from kipql.plan.lints import lints


def lint(statement: ast.Statement) -> list[KipError]:
    """Every such place of a statement, its span in the text that the statement was parsed from."""
    return [*unknown_members(statement), *lints(statement)]
