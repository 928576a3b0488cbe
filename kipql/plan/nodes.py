"""Plan nodes: what a WHERE block and a FIND come to, without any syntax.

Frozen, and free of a store: symbols are lineages, constants are *slots* (indexes into the values that a run
brings), variables are names. Names that start with `~` are the planner's own (inline matches, nested tuples,
locals of NOT): they join, and are never part of a solution. Operators stand in the order they run.
"""

from dataclasses import field
from typing import TypeAlias

from kipql.lang.node import Node, node
from kipql.spans import NOWHERE, Span

READING = "~reading"  # the parameter under which a run gets its Reading: its instants, and beliefs


@node
class Slot(Node):
    """A constant of the text or a parameter: `values[index]` of a run. `where` is for errors."""

    index: int
    where: Span = field(default=NOWHERE, compare=False)


@node
class SymbolRef(Node):
    """A Schema symbol: its lineage when the text names it, a slot when a parameter does (resolved per run)."""

    group: str  # concept_type | predicate | structural_field
    lineage: str | None
    slot: Slot | None = None
    name: str = ""  # as written, for people


@node
class Variable(Node):
    """A variable in a term position."""

    name: str


@node
class Constant(Node):
    """A constant in a term position. `literal` and `element` say what the position admits."""

    slot: Slot
    literal: bool
    element: bool = True


@node
class Canonical(Node):
    """`{canonical_id: x}` in a term position: the Concept that carries it, or the reference itself (§8.2)."""

    slot: Slot


Term: TypeAlias = Variable | Constant | Canonical
Steps: TypeAlias = tuple[str | int, ...]


# --- expressions --------------------------------------------------------------------------------------


@node
class Load(Node):
    """The value a variable is bound to."""

    name: str


@node
class Member(Node):
    """A field path of a variable."""

    name: str
    steps: tuple[str, ...]


@node
class Retrieval(Node):
    """`?v.retrieval` or a member of it: what the Search Patterns that bind a variable found (§43.8)."""

    name: str
    patterns: tuple["Search", ...]
    steps: tuple[str, ...]


@node
class Const(Node):
    """A constant or parameter."""

    slot: Slot


@node
class Listing(Node):
    """`[a, b]`."""

    items: tuple["Expression", ...]
    where: Span = field(default=NOWHERE, compare=False)


@node
class Record(Node):
    """`{name: a}`."""

    names: tuple[str, ...]
    items: tuple["Expression", ...]
    where: Span = field(default=NOWHERE, compare=False)


@node
class Apply(Node):
    """A registered function."""

    function: str
    args: tuple["Expression", ...]
    where: Span = field(default=NOWHERE, compare=False)


@node
class Opposite(Node):
    """`!x`."""

    operand: "Expression"


@node
class Minus(Node):
    """`-x`."""

    operand: "Expression"


@node
class Comparison(Node):
    """`left op right`."""

    op: str
    left: "Expression"
    right: "Expression"


@node
class Every(Node):
    """`a && b && ...`."""

    items: tuple["Expression", ...]


@node
class Any(Node):
    """`a || b || ...`."""

    items: tuple["Expression", ...]


@node
class Aggregate(Node):
    """COUNT, SUM, AVG, MIN or MAX over the solutions of a group."""

    function: str
    operand: "Expression"
    distinct: bool = False
    where: Span = field(default=NOWHERE, compare=False)


Expression: TypeAlias = (
    Load | Member | Retrieval | Const | Listing | Record | Apply | Opposite | Minus | Comparison | Every | Any
)


# --- tests of an element pattern ----------------------------------------------------------------------


@node
class IsElement(Node):
    """`id: x` with a constant: one element."""

    slot: Slot


@node
class HasType(Node):
    """`type: "T"`: a Concept Type lineage (§20.14)."""

    symbol: SymbolRef


@node
class Equals(Node):
    """A field against a constant: a scalar equals, an object's members hold, an array matches item by item.

    `scalar` admits only a scalar that is not null: an equality that came from a FILTER."""

    steps: Steps
    slot: Slot
    scalar: bool = False


@node
class KeyIn(Node):
    """A Concept's key is one of a list: a parameter, or constants. It came from a FILTER."""

    listed: Const | Listing


@node
class IdIn(Node):
    """An element's id is one of a list: a parameter, or constants. It came from a FILTER."""

    listed: Const | Listing


@node
class HasLength(Node):
    """An array of exactly so many items; 0 is the empty array."""

    steps: Steps
    length: int


@node
class IsObject(Node):
    """`{}` as a nested pattern: the field is there and is an object."""

    steps: Steps


@node
class Refers(Node):
    """A reference field (`proposition`, `asserted_by`, `merged_into`) against a term."""

    field: str
    term: Variable | Constant


@node
class Binds(Node):
    """A variable in a field position. `natural` is what the field yields: value, symbol or id."""

    steps: Steps
    variable: str
    natural: str = "value"


Test: TypeAlias = IsElement | HasType | Equals | KeyIn | IdIn | HasLength | IsObject | Refers | Binds


# --- operators ----------------------------------------------------------------------------------------


@node
class Elements(Node):
    """An element pattern. `recall` says what default recall leaves out: "active" all but active elements,
    "identity" the same but for a merged Concept (reached by its id), "any" nothing (`state` was named)."""

    variable: str
    kind: int
    tests: tuple[Test, ...]
    recall: str = "active"


@node
class Triple(Node):
    """A Proposition pattern. `link` is the Proposition's variable; `predicates` has one symbol, several for
    alternatives of one hop, or is a variable. `spread` are the ends that offer every merged identity."""

    link: str | None
    subject: Term
    predicates: tuple[SymbolRef, ...] | Variable
    object: Term
    spread: tuple[str, ...] = ()


@node
class KnownProposition(Node):
    """`?p (id: x)`."""

    link: str
    slot: Slot


@node
class Hop(Node):
    """One alternative of a raw path."""

    predicate: SymbolRef
    low: int
    high: int | None


@node
class Reach(Node):
    """A raw path: reachability, each endpoint pair once (§45). `spread` as in a Triple."""

    subject: Term
    hops: tuple[Hop, ...]
    object: Term
    spread: tuple[str, ...] = ()
    where: Span = field(default=NOWHERE, compare=False)


@node
class Edges(Node):
    """A Structural pattern. `core` is the plain name of a Core field, `symbol` the Profile field; a name can
    be both, and the two planes stay apart (§17)."""

    link: str | None
    source: Term
    core: str | None
    symbol: SymbolRef | None
    target: Term


@node
class Belief(Node):
    """`?b BELIEF (?p)`: the projection of a Proposition. `reading` is the slot with the run's Reading."""

    variable: str
    proposition: Variable
    reading: Slot
    where: Span = field(default=NOWHERE, compare=False)


@node
class TupleBelief(Node):
    """`?b BELIEF (s, "p", o)`: one projection where the object is known, else one per stored Proposition."""

    variable: str
    subject: Term
    predicate: SymbolRef | Variable
    object: Term
    reading: Slot
    where: Span = field(default=NOWHERE, compare=False)


@node
class SlotBelief(Node):
    """`?b BELIEF SLOT (s, "p")`: the projection of a whole slot."""

    variable: str
    subject: Term
    predicate: SymbolRef | Variable
    reading: Slot
    where: Span = field(default=NOWHERE, compare=False)


@node
class Search(Node):
    """`?v SEARCH KIND term ... LIMIT k` (§43.8). `reading` is the slot with the run's Reading, which keeps the hits."""

    variable: str
    kind: int
    term: Slot
    type: SymbolRef | None
    predicate: SymbolRef | None
    mode: Slot | None
    threshold: Slot | None
    limit: Slot
    reading: Slot


@node
class Keep(Node):
    """FILTER: only true passes."""

    condition: Expression


@node
class Without(Node):
    """NOT: passes the solution when the block has no match with it."""

    block: "Block"


@node
class Maybe(Node):
    """OPTIONAL: the solution with every match of the block, or once alone."""

    block: "Block"
    fresh: tuple[str, ...]


@node
class Either(Node):
    """UNION: the solutions of `left` (None where nothing precedes), then those of `right`.

    `right` starts from nothing; what it binds must agree with what the enclosing block brought in."""

    left: "Block | None"
    right: "Block"
    fresh: tuple[str, ...]  # what the union binds
    exported: tuple[str, ...]  # the variables of `right`


Projected: TypeAlias = Belief | TupleBelief | SlotBelief
Operator: TypeAlias = (
    Elements | Triple | KnownProposition | Reach | Edges | Search | Projected | Keep | Without | Maybe | Either
)


@node
class Block(Node):
    """Operators that run one after the other, each on every solution of those before."""

    operators: tuple[Operator, ...]


# --- the query ----------------------------------------------------------------------------------------


@node
class Sort(Node):
    """One key of ORDER BY: an expression, or the index of a FIND item when the query groups."""

    key: Expression | int
    descending: bool
    where: Span = field(default=NOWHERE, compare=False)


@node
class Scan(Node):
    """A count over every Assertion in groups, for columns (`plan.rules.scans`).

    propositions  whether its Proposition is matched too
    predicates    the Predicates that count; none for any
    named         ("stance" or "mode", the name it has to be)
    limits        (column, how it is ordered against, a constant)
    keys          what each plain item groups by
    """

    propositions: bool
    predicates: tuple[SymbolRef, ...]
    named: tuple[tuple[str, Slot], ...]
    limits: tuple[tuple[str, str, Slot], ...]
    keys: tuple[str, ...]


@node
class Plan(Node):
    """A FIND, or the WHERE of a statement, ready to run.

    slots      where each value comes from: ("literal", i), ("parameter", name) or ("constant", i)
    visible    the variables of a complete solution, in the order of the text
    shapes     what each variable holds: term, symbol or any
    items      what FIND lists
    unique     solutions can not repeat: "always", "unmerged" (while the view has no merges) or "no"
    ordered    solutions come in their canonical order by themselves
    scan       the same as a count over columns, where it is one
    """

    block: Block
    slots: tuple[tuple[str, int | str], ...]
    visible: tuple[str, ...]
    shapes: tuple[tuple[str, str], ...]
    items: tuple[Expression | Aggregate, ...] = ()
    order: tuple[Sort, ...] = ()
    unique: str = "no"
    ordered: bool = False
    scan: Scan | None = None

    @property
    def grouped(self) -> bool:
        """Whether FIND has an aggregate, so that solutions are grouped by the other items (§44.6)."""
        return any(isinstance(item, Aggregate) for item in self.items)
