"""The shape of a query: its text without its literals (architecture §4.4).

Two queries that differ only in literals of value positions share one plan. `lift` takes those literals out
and puts a parameter in their place, in WHERE and in the clauses that are looked at when a query runs (AS OF, FOR
TIME, WITH EPISTEMIC, LIMIT, CURSOR); symbols, bounds of paths, regular expressions and what FIND and ORDER BY say stay,
because the plan depends on them. Every span of the shape is a number into a table of the spans of the text at hand, so
that a plan that was made from one text reports errors in another.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeVar

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.walk import members
from kipql.plan.expressions import ascii_upper
from kipql.plan.functions import COMPUTED
from kipql.plan.unnamed import NAMING
from kipql.spans import NOWHERE, Span
from kipql.values import Scalar

N = TypeVar("N", bound=ast.Node)
LIFTED = "#"  # no name in a text starts with it: `:#0` is the first lifted literal
COLUMNS = "#columns"  # what a ready path that several texts share gets the columns of the one at hand by


class Place(NamedTuple):
    """Where a literal stood.

    span    in the text
    call    the function whose argument it is, and which one
    static  whether a check of the text alone looks at its value
    names   whether it names an element by its id
    """

    span: Span
    call: tuple[str, int] | None = None
    static: bool = False
    names: bool = False


@dataclass(frozen=True, slots=True)
class Shaped:
    """A statement or block without its literals, and what was taken out.

    reads  whether it may need a Reading: it asks for a belief or a search, or for a member that is computed when read
    """

    node: ast.Node
    literals: tuple[Scalar, ...]
    spans: tuple[Span, ...]
    places: tuple[Place, ...]
    reads: bool

    def locate(self, error: KipError) -> KipError:
        """The error with its span in the text, where it had one in the shape."""
        return located(error, self.spans)


def located(error: KipError, spans: tuple[Span, ...]) -> KipError:
    """The error with the span that its number stands for."""
    if error.span is not None and error.span != NOWHERE and error.span.start == error.span.end:
        index = error.span.start - 1
        if 0 <= index < len(spans):
            error.span = spans[index]
    return error


def named(literals: tuple[Scalar, ...]) -> dict[str, Scalar]:
    """Lifted literals by the name of the parameter that stands for each."""
    return {f"{LIFTED}{at}": value for at, value in enumerate(literals)}


class _Lift:
    def __init__(self) -> None:
        self.literals: list[Scalar] = []
        self.places: list[Place] = []
        self.spans: list[Span] = []
        self.reads = False

    def mark(self, span: Span) -> Span:
        self.spans.append(span)
        return _numbered(len(self.spans))

    def node(self, node: N, lifting: bool) -> N:
        """A copy whose spans are numbers; literals become parameters where `lifting`."""
        kind = type(node)
        if kind is ast.Literal:
            return self._literal(node, lifting)  # type: ignore[arg-type, return-value]
        span = self.mark(node.span)
        if kind is ast.Call:
            return self._call(node, span, lifting)  # type: ignore[arg-type, return-value]
        if kind in _READING or (kind in _NAMING and _computed(node)):
            self.reads = True
        values: list[object] = []
        for name, stays in _parts(kind):
            value = getattr(node, name)
            if value.__class__ is tuple or isinstance(value, ast.Node):
                stays = stays or (kind is ast.Member and node.name == "type")  # type: ignore[attr-defined]
                value = self.value(value, lifting and not stays)
            values.append(value)
        if kind is ast.SearchPattern and lifting and isinstance(node.mode, ast.Literal):  # type: ignore[attr-defined]
            self._fix(node.mode.span)  # type: ignore[attr-defined]
        for name in NAMING.get(kind, ()) if lifting else ():
            if isinstance(named_by := getattr(node, name), ast.Literal):
                self._name(named_by.span)
        return kind(*values, span=span)

    def value(self, value: object, lifting: bool) -> object:
        if value.__class__ is tuple:
            return tuple([self.value(item, lifting) for item in value])
        if isinstance(value, ast.Node):
            return self.node(value, lifting)
        return value

    def _fix(self, span: Span) -> None:
        self.places = [place._replace(static=True) if place.span == span else place for place in self.places]

    def _name(self, span: Span) -> None:
        self.places = [place._replace(names=True) if place.span == span else place for place in self.places]

    def _call(self, call: ast.Call, span: Span, lifting: bool) -> ast.Call:
        """A call; the constant that a pattern or a kind is compiled from stays."""
        name, args = ascii_upper(call.name), []
        stays = 1 if len(call.args) == 2 and name in ("REGEX", "IS_KIND") else -1
        for at, item in enumerate(call.args):
            count = len(self.places)
            args.append(self.node(item, lifting and at != stays))
            if isinstance(item, ast.Literal) and len(self.places) > count:
                self.places[-1] = Place(item.span, (name, at))
        return ast.Call(call.name, tuple(args), call.distinct, span=span)

    def _literal(self, literal: ast.Literal, lifting: bool) -> ast.Node:
        span = self.mark(literal.span)
        if not lifting:
            return ast.Literal(literal.value, span=span)
        self.literals.append(literal.value)
        self.places.append(Place(literal.span))
        return ast.Param(f"{LIFTED}{len(self.literals) - 1}", span=span)


@lru_cache(maxsize=4_096)
def _numbered(at: int) -> Span:
    return Span(at, at)


_SYMBOLS = {
    ast.Tuple: ("predicate",),
    ast.PathStep: ("predicate",),
    ast.StructuralPattern: ("field_",),
    ast.BeliefSlotPattern: ("predicate",),
    ast.SearchPattern: ("with_type", "with_predicate"),
    ast.Quantifier: ("low", "high"),
}
_READING = frozenset((ast.BeliefPattern, ast.BeliefSlotPattern, ast.SearchPattern))
_NAMING = frozenset((ast.Path, ast.Member))


def _computed(node: ast.Node) -> bool:
    if isinstance(node, ast.Path):
        return not COMPUTED.isdisjoint(node.steps)
    return isinstance(node, ast.Member) and node.name in COMPUTED


_PARTS: dict[type[ast.Node], tuple[tuple[str, bool], ...]] = {}


def _parts(kind: type[ast.Node]) -> tuple[tuple[str, bool], ...]:
    """The members of a kind of node, and whether literals in them stay."""
    found = _PARTS.get(kind)
    if found is None:
        stay = _SYMBOLS.get(kind, ())
        found = _PARTS[kind] = tuple((name, name in stay) for name in members(kind))
    return found


def lift_find(find: ast.Find) -> Shaped:
    """The shape of a FIND."""
    lift = _Lift()
    where = lift.node(find.where, True)
    shown, order = lift.value(find.items, False), lift.value(find.order_by, False)
    around = [lift.value(part, True) for part in (find.as_of, find.for_time, find.epistemic, find.limit, find.cursor)]
    as_of, for_time, epistemic, limit, cursor = around
    node = ast.Find(
        shown, where, as_of, for_time, epistemic, order, limit, cursor, span=lift.mark(find.span)  # type: ignore[arg-type]
    )  # fmt: skip
    return _shaped(lift, node)


def lift_block(block: ast.Block) -> Shaped:
    """The shape of a WHERE block on its own."""
    lift = _Lift()
    return _shaped(lift, lift.node(block, True))


def _shaped(lift: _Lift, node: ast.Node) -> Shaped:
    return Shaped(node, tuple(lift.literals), tuple(lift.spans), tuple(lift.places), lift.reads)
