"""Strings in the place of an id that can be none: they name nothing, and the answer looks like one (§43.2, §46, §47).

A subject, an end of a Structural pattern and a known Proposition are named by id; who writes a key or a name there gets
no rows, or a belief about nothing. Only what the text says is looked at: a parameter is of the call.
"""

import json
from collections.abc import Iterator

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.walk import iterate
from kipql.model import parse_id

NAMING: dict[type[ast.Node], tuple[str, ...]] = {
    ast.Tuple: ("subject",),
    ast.BeliefSlotPattern: ("subject",),
    ast.StructuralPattern: ("source", "target"),
    ast.PropositionId: ("id",),
}
"""The members of a node that name an element by its id, where they are a literal."""


def unnamed(statement: ast.Node) -> Iterator[KipError]:
    """A NotFoundOrNotVisible for each such string."""
    for node in iterate(statement):
        for name in NAMING.get(type(node), ()):
            found = getattr(node, name)
            if isinstance(found, ast.Literal) and isinstance(found.value, str) and parse_id(found.value) is None:
                yield _error(found.value, found, proposition=isinstance(node, ast.PropositionId))


def _error(text: str, literal: ast.Literal, *, proposition: bool) -> KipError:
    shown = json.dumps(text, ensure_ascii=False)
    hint = "the id of a Proposition looks like P-1"
    if not proposition:
        hint = f'an id looks like C-1; name it by its key as {{type: "...", key: {shown}}}'
    return KipError("NotFoundOrNotVisible", f"{shown} is no id: it names nothing", span=literal.span, hint=hint)
