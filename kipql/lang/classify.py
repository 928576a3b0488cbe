"""Which language a statement is in, and whether it writes: decided by the tree alone (§76, §88.3).

Labels, text and comments never count. What is not positively known to read only is a mutation.
"""

from typing import Literal, TypeAlias

from kipql.errors import KipError
from kipql.lang import ast

Language: TypeAlias = Literal["KQL", "KML", "META"]


def language(node: ast.Node) -> Language:
    """The language of a statement. Raises InvalidSyntax for a node that is no statement."""
    match node:
        case ast.Find():
            return "KQL"
        case (
            ast.CreateConcept()
            | ast.UpsertConcept()
            | ast.CreateRecord()
            | ast.EnsureProposition()
            | ast.Assert()
            | ast.Update()
            | ast.Transition()
            | ast.SetRetention()
            | ast.Purge()
            | ast.MergeConcept()
            | ast.Mutate()
            | ast.Define()
        ):
            return "KML"
        case (
            ast.Describe()
            | ast.List()
            | ast.Search()
            | ast.Verify()
            | ast.Validate()
            | ast.Preview()
            | ast.History()
            | ast.Changes()
            | ast.ExportCapsule()
        ):
            return "META"
    raise KipError("InvalidSyntax", f"{type(node).__name__} is not a statement", span=node.span)


def is_mutation(statement: ast.Node) -> bool:
    """Whether a statement (or any of a script) may change the memory.

    Only KQL and META are known to read; all else is a mutation.
    """
    if isinstance(statement, ast.Script):
        return any(is_mutation(item) for item in statement.statements)
    try:
        return language(statement) == "KML"
    except KipError:
        return True
