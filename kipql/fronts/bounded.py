"""Answers in pages: what a request may answer in rows is bounded by its own LIMIT and continued by its CURSOR (§44.8).

A statement that takes LIMIT and says none gets one, and one that says more gets the most; the same statement with
`CURSOR "..."` then continues, because it gets the same LIMIT again. The LIMIT is put into the text behind everything
that is written there, so that a place in an error is the place in what the caller wrote.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

from kipql import lang
from kipql.errors import KipError
from kipql.lang import ast
from kipql.limits import DEFAULT_LIMITS, Limits
from kipql.values import MAX_SAFE_INTEGER, Json

_KEYWORD = re.compile(r"CURSOR(?:\s|//[^\r\n]*[\r\n])*\Z", re.IGNORECASE | re.ASCII)
_PAGED = ast.Find | ast.List | ast.Search | ast.History | ast.Changes


@dataclass(frozen=True, slots=True)
class Bounded:
    """A request under a bound. `cut` are the positions of the operations whose own LIMIT was more."""

    envelope: Mapping[str, Json]
    cut: tuple[int, ...]


def bounded(envelope: Mapping[str, Json], rows: int, limits: Limits = DEFAULT_LIMITS) -> Bounded:
    """The request with at most `rows` rows for each operation; what is no such request is left to be refused.

    limits  those of who will answer: what is longer than they allow is refused there, and what they allow is read here
    """
    operations = envelope.get("operations")
    if not isinstance(operations, list):
        return Bounded(envelope, ())
    shared, made, cut = envelope.get("parameters"), [], []
    for at, operation in enumerate(operations):
        if isinstance(operation, dict) and isinstance(operation.get("command"), str):
            given = {**_mapping(shared), **_mapping(operation.get("parameters"))}
            command, less = _paged(operation["command"], given, rows, limits)
            operation = {**operation, "command": command}
            cut += [at] if less else []
        made.append(operation)
    return Bounded({**envelope, "operations": made}, tuple(cut))


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _paged(text: str, parameters: Mapping[str, Json], rows: int, limits: Limits) -> tuple[str, bool]:
    """The statement with a LIMIT of at most `rows`, and whether it asked for more."""
    try:
        node = lang.parse(text, limits)
    except KipError:
        return text, False
    if not isinstance(node, _PAGED):
        return text, False
    if node.limit is None:
        at = _before_cursor(text, node)
        return f"{text[:at]}\nLIMIT {rows}\n{text[at:]}", False
    wanted = parameters.get(node.limit.name) if isinstance(node.limit, ast.Param) else _number(node.limit)
    if not _is_integer(wanted) or wanted <= rows:
        return text, False
    return f"{text[: node.limit.span.start]}{rows}{text[node.limit.span.end :]}", True


def _is_integer(value: Json) -> TypeGuard[int | float]:
    """Whether this is an integer of KIP, as 1000.0 is; whatever else stands as LIMIT is left to be refused."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= MAX_SAFE_INTEGER and value == int(value)


def _number(value: ast.Value) -> Json:
    return value.value if isinstance(value, ast.Literal) else None


def _before_cursor(text: str, node: ast.Node) -> int:
    cursor = getattr(node, "cursor", None)
    if cursor is None:
        return node.span.end
    found = _KEYWORD.search(text[: cursor.span.start])
    return found.start() if found else node.span.end
