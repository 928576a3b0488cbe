"""KQL statements (§42.2)."""

from __future__ import annotations

from kipql.lang import ast
from kipql.lang.builder.base import Marks, Values
from kipql.spans import Span


def _find(v: Values, s: int, e: int, marks: Marks) -> ast.Find:
    return ast.Find(tuple(v[2]), v[5], v[6], v[7], v[8], tuple(v[9]), v[10], v[11], span=Span(s, e))


def _ascending(v: Values, s: int, e: int, marks: Marks) -> ast.OrderItem:
    return ast.OrderItem(v[0], False, span=Span(s, e))


def _descending(v: Values, s: int, e: int, marks: Marks) -> ast.OrderItem:
    return ast.OrderItem(v[0], True, span=Span(s, e))


BUILDERS = {"find": _find, "order_ascending": _ascending, "order_descending": _descending}
