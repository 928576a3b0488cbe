"""The language: text to syntax tree and back. Nothing here knows a schema or a store.

Formatting and splitting are loaded when they are first used (PEP 562): a program that only asks does not
need them.
"""

from typing import TYPE_CHECKING, Any

from kipql.lang import ast, walk, words
from kipql.lang.classify import Language, is_mutation, language
from kipql.lang.parser import parse, parse_script

if TYPE_CHECKING:
    from kipql.lang.canonical import format, format_node
    from kipql.lang.script import Comment, Part, split

__all__ = [
    "Comment",
    "Language",
    "Part",
    "ast",
    "classify",
    "format",
    "format_node",
    "is_mutation",
    "parse",
    "parse_script",
    "split",
    "walk",
    "words",
]


def __getattr__(name: str) -> Any:
    if name in ("format", "format_node"):
        from kipql.lang import canonical

        return getattr(canonical, name)
    if name in ("Comment", "Part", "split"):
        from kipql.lang import script

        return getattr(script, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def classify(statement: ast.Node | str) -> Language:
    """The language of one statement, by its tree: "KQL", "KML" or "META" (§76).

    Raises KipError as `parse` when given anything but a text of one statement or its tree.
    """
    return language(statement if isinstance(statement, ast.Node) else parse(statement))
