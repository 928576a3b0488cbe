"""Coordinates that stay in force for a reader: they complete a statement that names none of its own (§42.2, §68).

The tree is completed, never the text, so a place in an error is a place in what was written. What a statement says
itself always wins; a statement that takes no such clause is left as it is.
"""

from dataclasses import replace

from kipql.lang import ast

_DESCRIBED = ("SNAPSHOT", "SCHEMA ENVIRONMENT")


def takes_as_of(node: ast.Statement) -> bool:
    """Whether AS OF SEQ may be added: the statement takes it and says no other snapshot."""
    match node:
        case ast.Describe():
            return node.target in _DESCRIBED and node.as_of is None and node.at_time is None
        case ast.Find() | ast.Search() | ast.ExportCapsule():
            return node.as_of is None and getattr(node, "cursor", None) is None
    return False


def takes_for_time(node: ast.Statement) -> bool:
    """Whether FOR TIME may be added."""
    return isinstance(node, ast.Find) and node.for_time is None and node.cursor is None


def completed(node: ast.Statement, as_of: int | None, for_time: str | None) -> ast.Statement:
    """The statement with the coordinates it does not name; a page that a CURSOR continues has those of its first."""
    if as_of is not None and takes_as_of(node):
        assert isinstance(node, ast.Find | ast.Describe | ast.Search | ast.ExportCapsule)
        node = replace(node, as_of=ast.Literal(as_of, span=node.span))
    if for_time is not None and takes_for_time(node):
        assert isinstance(node, ast.Find)
        node = replace(node, for_time=ast.Literal(for_time, span=node.span))
    return node
