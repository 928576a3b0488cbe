"""The shape of a query: its text without its literals (architecture §4.4).

Two queries that differ only in literals of value positions share one plan. `lift` takes those literals out
and puts a parameter in their place; symbols, LIMIT, bounds of paths and regular expressions stay, because the
plan depends on them. Every span of the shape is a number into a table of the spans of the text at hand, so
that a plan that was made from one text reports errors in another.
"""

from dataclasses import dataclass, replace
from typing import TypeVar

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.walk import members
from kipql.plan.expressions import ascii_upper
from kipql.spans import NOWHERE, Span
from kipql.values import Scalar

N = TypeVar("N", bound=ast.Node)
LIFTED = "#"  # no name in a text starts with it: `:#0` is the first lifted literal


@dataclass(frozen=True, slots=True)
class Shaped:
    """A statement or block without its literals, and what was taken out."""

    node: ast.Node
    literals: tuple[Scalar, ...]
    spans: tuple[Span, ...]

    def locate(self, error: KipError) -> KipError:
        """The error with its span in the text, where it had one in the shape."""
        if error.span is not None and error.span != NOWHERE and error.span.start == error.span.end:
            index = error.span.start - 1
            if 0 <= index < len(self.spans):
                error.span = self.spans[index]
        return error


class _Lift:
    def __init__(self) -> None:
        self.literals: list[Scalar] = []
        self.spans: list[Span] = []

    def mark(self, span: Span) -> Span:
        self.spans.append(span)
        at = len(self.spans)
        return Span(at, at)

    def node(self, node: N, lifting: bool) -> N:
        """A copy whose spans are numbers; literals become parameters where `lifting`."""
        if isinstance(node, ast.Literal):
            return self._literal(node, lifting)  # type: ignore[return-value]
        span, kind = self.mark(node.span), type(node)
        if kind is ast.Call:
            return self._call(node, span, lifting)  # type: ignore[arg-type, return-value]
        values: list[object] = []
        for name in members(kind):
            value = getattr(node, name)
            if isinstance(value, ast.Node | tuple):
                value = self.value(value, lifting and not _stays(node, name))
            values.append(value)
        return kind(*values, span=span)

    def value(self, value: object, lifting: bool) -> object:
        if isinstance(value, ast.Node):
            return self.node(value, lifting)
        if isinstance(value, tuple):
            return tuple([self.value(item, lifting) for item in value])
        return value

    def _call(self, call: ast.Call, span: Span, lifting: bool) -> ast.Call:
        """A call; the constant that a pattern or a kind is compiled from stays."""
        args = call.args
        if len(args) == 2 and ascii_upper(call.name) in ("REGEX", "IS_KIND"):
            return replace(call, args=(self.node(args[0], lifting), self.node(args[1], False)), span=span)
        return replace(call, args=tuple([self.node(item, lifting) for item in args]), span=span)

    def _literal(self, literal: ast.Literal, lifting: bool) -> ast.Node:
        span = self.mark(literal.span)
        if not lifting:
            return ast.Literal(literal.value, span=span)
        self.literals.append(literal.value)
        return ast.Param(f"{LIFTED}{len(self.literals) - 1}", span=span)


_SYMBOLS = {
    ast.Tuple: ("predicate",),
    ast.PathStep: ("predicate",),
    ast.StructuralPattern: ("field_",),
    ast.BeliefSlotPattern: ("predicate",),
    ast.SearchPattern: ("with_type", "with_predicate"),
}


def _stays(node: ast.Node, member: str) -> bool:
    if isinstance(node, ast.Member):
        return node.name == "type"
    if isinstance(node, ast.Quantifier):
        return True
    return member in _SYMBOLS.get(type(node), ())


def lift_find(find: ast.Find) -> Shaped:
    """The shape of a FIND; only literals inside WHERE are lifted."""
    lift = _Lift()
    where = lift.node(find.where, True)
    rest = lift.node(replace(find, where=ast.Block(())), False)
    return Shaped(replace(rest, where=where), tuple(lift.literals), tuple(lift.spans))


def lift_block(block: ast.Block) -> Shaped:
    """The shape of a WHERE block on its own."""
    lift = _Lift()
    return Shaped(lift.node(block, True), tuple(lift.literals), tuple(lift.spans))
