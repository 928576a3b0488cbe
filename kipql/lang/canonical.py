"""Canonical text (syntax card §1.5): parsing it gives the same tree, and formatting it changes nothing.

Comments are kept: behind the code on their line, or on their own line before what followed them.
"""

import re

from kipql.errors import KipError
from kipql.lang import ast, walk
from kipql.lang.layout.documents import DOCUMENTS
from kipql.lang.layout.printer import Group, Printer, SourceComment, attach
from kipql.lang.layout.statements import STATEMENTS
from kipql.lang.parser import parse_script
from kipql.lang.scanner import LEXEME
from kipql.limits import DEFAULT_LIMITS, Limits

_DOCUMENTS = {**DOCUMENTS, **STATEMENTS}
_COMMENT = re.compile(r"//[^\r\n]*")


def format(text: str, limits: Limits = DEFAULT_LIMITS) -> str:
    """The canonical text of a script (or of one statement), ending in a line end; empty for an empty text.

    Raises KipError as `parse_script`.

    >>> print(format('find(?x) where{?x{type:"Person"}} limit 5'), end="")
    FIND(?x)
    WHERE {
      ?x {type: "Person"}
    }
    LIMIT 5
    """
    script = parse_script(text, limits)
    comments = _comments(text)
    documents = [_document(statement) for statement in script.statements]
    rest = attach(Group(list(documents)), comments)
    printer = Printer()
    for index, document in enumerate(documents):
        first = _lead(document)
        if index:
            printer.new_line()
            printer.lines.append("")
        _outside(printer, first)
        first.clear()
        printer.group(document)
    if documents:
        printer.new_line()
        if rest:
            printer.lines.append("")
    _outside(printer, rest)
    if printer.line:
        printer.new_line()
    return "".join(f"{line}\n" for line in printer.lines)


def format_node(node: ast.Node) -> str:
    """The canonical text of a syntax tree, without a final line end; a Script's statements have a blank line between.

    Raises InvalidSyntax for a node that has no text of its own.
    """
    nodes = node.statements if isinstance(node, ast.Script) else (node,)
    printed = []
    for item in nodes:
        printer = Printer()
        printer.group(_document(item))
        printer.new_line()
        printed.append("\n".join(printer.lines))
    return "\n\n".join(printed)


def _document(root: ast.Node) -> Group:
    """Documents from the leaves up, so that a deep tree needs no deep stack."""
    made: dict[int, Group] = {}
    for node in reversed(list(walk.iterate(root))):
        build = _DOCUMENTS.get(type(node))
        if build is None:
            raise KipError("InvalidSyntax", f"{type(node).__name__} has no text of its own", span=node.span)
        made[id(node)] = build(node, lambda child: made[id(child)])
    return made[id(root)]


def _lead(document: Group) -> list[SourceComment]:
    """The comments before the first text of a statement."""
    part = document.parts[0]
    while isinstance(part, Group):
        part = part.parts[0]
    return part.lead  # type: ignore[union-attr]


def _outside(printer: Printer, comments: list[SourceComment]) -> None:
    """Comments between statements; an empty line between two of them stays."""
    for index, comment in enumerate(comments):
        if index and comment.gap:
            printer.new_line()
            printer.lines.append("")
        printer.comment(comment)
    if comments:
        printer.new_line()


def _comments(text: str) -> list[SourceComment]:
    """The comments of a text that parses."""
    comments: list[SourceComment] = []
    if "//" not in text:
        return comments
    for lexeme in LEXEME.finditer(text.replace("\ufeff", " ", 1) if text.startswith("\ufeff") else text):
        kind = lexeme.lastgroup
        assert kind is not None
        before = lexeme.start()
        for found in _COMMENT.finditer(text, before, lexeme.start(kind)):
            blank = text[before : found.start()]
            lines = blank.replace("\r\n", "\n").replace("\r", "\n").count("\n")
            trailing = lines == 0 and before == lexeme.start() and before > 0
            comments.append(SourceComment(found[0].rstrip(), found.start(), trailing, lines > 1))
            before = found.end()
    return comments
