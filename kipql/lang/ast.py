"""The abstract syntax of KQL, KML and META.

Nodes are frozen, slotted and carry a `span`, which takes no part in equality: two texts that differ only
in layout have equal trees. Sequences are tuples. Names are the specification's. Nothing here knows lark,
a schema or a store.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from kipql.spans import NOWHERE, Span
from kipql.values import Scalar


@dataclass(frozen=True, slots=True)
class Node:
    """The base of every node."""

    span: Span = field(default=NOWHERE, compare=False, kw_only=True, repr=False)


# --- values and expressions (§9, §44.1, §44.2, §59) ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class Var(Node):
    """`?name`: a query variable, or a KML handle."""

    name: str


@dataclass(frozen=True, slots=True)
class Param(Node):
    """`:name`: a bound parameter (§74)."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A JSON scalar, decoded and canonical (§9.6). Equality tells true from 1."""

    value: Scalar

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class Array(Node):
    """`[a, b]` in a value, a pattern or an expression."""

    items: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Member(Node):
    """`name: value` inside an object."""

    name: str
    value: "Expression"


@dataclass(frozen=True, slots=True)
class Object(Node):
    """`{...}`: an object pattern, an object value or an assignment object. Names are distinct."""

    members: tuple[Member, ...]

    def get(self, name: str) -> "Expression | None":
        """The value of a member, or None."""
        return next((member.value for member in self.members if member.name == name), None)


@dataclass(frozen=True, slots=True)
class Path(Node):
    """`?x.attributes.goal`, `?x["key.with.dots"]`: at least one step (a bare variable is a Var)."""

    var: Var
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`NAME(args)`: a function, an aggregate (`distinct` is COUNT(DISTINCT x)) or an update expression.
    `name` is as written; lookup is by its ASCII upper case."""

    name: str
    args: tuple["Expression", ...]
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Negate(Node):
    """`!x`."""

    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Minus(Node):
    """`-x`, where x is not a number literal (that is a negative Literal)."""

    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """`left op right`; op is one of == != < > <= >=."""

    op: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class And(Node):
    """`a && b && ...`, flattened, two items or more."""

    items: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Or(Node):
    """`a || b || ...`, flattened, two items or more."""

    items: tuple["Expression", ...]


# --- patterns (§43) -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Quantifier(Node):
    """`{low}`, `{low,}`, `{low,high}`: hops of a raw path; high None has no bound in the text (§45)."""

    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class PathStep(Node):
    """One alternative of a raw path: a Predicate and how often."""

    predicate: "Literal | Param | Var"
    quantifier: Quantifier | None = None


@dataclass(frozen=True, slots=True)
class PredicatePath(Node):
    """`"p"{0,5}`, `"p" | "q"`: only where there is a quantifier or more than one alternative (§45)."""

    alternatives: tuple[PathStep, ...]


@dataclass(frozen=True, slots=True)
class Tuple(Node):
    """`(subject, predicate, object)`."""

    subject: "Term"
    predicate: "Literal | Param | Var | PredicatePath"
    object: "Term"


@dataclass(frozen=True, slots=True)
class PropositionId(Node):
    """`(id: x)`: a Proposition known by identity (§43.2)."""

    id: "Literal | Param"


@dataclass(frozen=True, slots=True)
class ElementPattern(Node):
    """`?x {..}`, `?x CONCEPT {..}`, `?a ASSERTION {..}`, EVIDENCE, ACTIVITY (§43.1, §43.4-43.6).
    kind is "Concept", "Assertion", "Evidence" or "Activity"; `keyword` says whether CONCEPT was written."""

    var: Var
    kind: str
    match: Object
    keyword: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class PropositionPattern(Node):
    """`[?p] [PROPOSITION] (s, p, o)` or `(id: x)` (§43.2)."""

    var: Var | None
    target: Tuple | PropositionId
    keyword: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class StructuralPattern(Node):
    """`[?edge] STRUCTURAL (source, "field", target)` (§43.7)."""

    var: Var | None
    source: "Term"
    field_: Literal | Param
    target: "Term"


@dataclass(frozen=True, slots=True)
class BeliefPattern(Node):
    """`?b BELIEF (?p | id: x | s, "p", o)` (§46)."""

    var: Var
    target: Var | PropositionId | Tuple


@dataclass(frozen=True, slots=True)
class BeliefSlotPattern(Node):
    """`?b BELIEF SLOT (s, "p")` (§47)."""

    var: Var
    subject: "Term"
    predicate: "Literal | Param | Var"


@dataclass(frozen=True, slots=True)
class SearchPattern(Node):
    """`?v SEARCH KIND term ... LIMIT k` (§43.8). kind as in ElementPattern, or "Proposition"."""

    var: Var
    kind: str
    term: Literal | Param
    with_type: Literal | Param | None
    with_predicate: Literal | Param | None
    mode: Literal | Param | None
    threshold: Literal | Param | None
    limit: Literal | Param


@dataclass(frozen=True, slots=True)
class Filter(Node):
    """`FILTER(condition)`."""

    condition: "Expression"


@dataclass(frozen=True, slots=True)
class Not(Node):
    """`NOT { ... }` (§44.3)."""

    block: "Block"


@dataclass(frozen=True, slots=True)
class Optional(Node):
    """`OPTIONAL { ... }` (§44.4)."""

    block: "Block"


@dataclass(frozen=True, slots=True)
class Union(Node):
    """`UNION { ... }` (§44.5)."""

    block: "Block"


@dataclass(frozen=True, slots=True)
class Block(Node):
    """The clauses between braces, in order."""

    clauses: tuple["Clause", ...]


Value: TypeAlias = Literal | Param
Expression: TypeAlias = (
    Var | Param | Literal | Array | Object | Path | Call | Negate | Minus | Compare | And | Or | Tuple | PropositionId
)
Term: TypeAlias = Var | Param | Literal | Object | Tuple | PropositionId
Clause: TypeAlias = (
    ElementPattern
    | PropositionPattern
    | StructuralPattern
    | BeliefPattern
    | BeliefSlotPattern
    | SearchPattern
    | Filter
    | Not
    | Optional
    | Union
)


# --- KQL (§42) ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OrderItem(Node):
    """One sort key."""

    key: Expression
    descending: bool


@dataclass(frozen=True, slots=True)
class Find(Node):
    """A query (§42.2). `epistemic` is the WITH EPISTEMIC object."""

    items: tuple[Expression, ...]
    where: Block
    as_of: Value | None = None
    for_time: Value | None = None
    epistemic: Object | None = None
    order_by: tuple[OrderItem, ...] = ()
    limit: Value | None = None
    cursor: Value | None = None


# --- KML (§51-61) -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SetFields(Node):
    values: Object


@dataclass(frozen=True, slots=True)
class SetAttributes(Node):
    values: Object


@dataclass(frozen=True, slots=True)
class SetFacet(Node):
    facet: Value
    values: Object


@dataclass(frozen=True, slots=True)
class StructuralEntry(Node):
    """`("field", target) {options}`."""

    field_: Value
    target: Expression
    options: Object | None = None


@dataclass(frozen=True, slots=True)
class SetStructural(Node):
    entries: tuple[StructuralEntry, ...]


@dataclass(frozen=True, slots=True)
class UnsetAttributes(Node):
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnsetFacet(Node):
    facet: Value
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnsetStructural(Node):
    entries: tuple[StructuralEntry, ...]


Action: TypeAlias = (
    SetFields | SetAttributes | SetFacet | SetStructural | UnsetAttributes | UnsetFacet | UnsetStructural
)


@dataclass(frozen=True, slots=True)
class ExpectVersion(Node):
    """`EXPECT VERSION n [OF plane]`: plane is None, "attributes", "structural", "retention" or "facet"."""

    version: Value
    plane: str | None = None
    facet: Value | None = None


@dataclass(frozen=True, slots=True)
class CreateConcept(Node):
    handle: Var
    type: Value | None
    client_key: Value | None
    name: Value | None
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class UpsertConcept(Node):
    handle: Var
    match: Object
    actions: tuple[Action, ...]
    guards: tuple[ExpectVersion, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateRecord(Node):
    """CREATE EVIDENCE / ASSERTION / ACTIVITY; kind is "Evidence", "Assertion" or "Activity"."""

    kind: str
    handle: Var
    client_key: Value | None
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class EnsureProposition(Node):
    handle: Var | None
    target: Tuple | PropositionId
    guards: tuple[ExpectVersion, ...] = ()


@dataclass(frozen=True, slots=True)
class Assert(Node):
    """The sugar of §55.1; `members` are by, mode, stance, ... as written."""

    handle: Var | None
    target: Tuple | PropositionId
    members: Object
    superseding: Var | Value | None = None


Target: TypeAlias = Var | Value


@dataclass(frozen=True, slots=True)
class Update(Node):
    target: Target
    actions: tuple[Action, ...]
    where: Block | None = None
    limit: Value | None = None
    guards: tuple[ExpectVersion, ...] = ()


@dataclass(frozen=True, slots=True)
class Transition(Node):
    target: Target
    state: Value
    by: Target | None = None
    actions: tuple[Action, ...] = ()
    where: Block | None = None
    limit: Value | None = None
    guards: tuple[ExpectVersion, ...] = ()


@dataclass(frozen=True, slots=True)
class SetRetention(Node):
    target: Target
    values: Object
    where: Block | None = None
    limit: Value | None = None
    guards: tuple[ExpectVersion, ...] = ()


@dataclass(frozen=True, slots=True)
class Purge(Node):
    """PURGE and, with `payload`, PURGE PAYLOAD. CONFIRM "PURGE" is in the grammar."""

    target: Target
    payload: bool = False
    where: Block | None = None
    limit: Value | None = None
    guards: tuple[ExpectVersion, ...] = ()
    reference_policy: Value | None = None


@dataclass(frozen=True, slots=True)
class MergeConcept(Node):
    source: Target
    into: Target
    where: Block | None = None
    guards: tuple[ExpectVersion, ...] = ()


@dataclass(frozen=True, slots=True)
class Define(Node):
    """DEFINE PREDICATE / CONCEPT TYPE (§20.16); kind is "PredicateType" or "ConceptType"."""

    kind: str
    name: Value
    definition: Object


@dataclass(frozen=True, slots=True)
class Mutate(Node):
    statements: tuple["Mutation", ...]


Mutation: TypeAlias = (
    CreateConcept
    | UpsertConcept
    | CreateRecord
    | EnsureProposition
    | Assert
    | Update
    | Transition
    | SetRetention
    | Purge
    | MergeConcept
)


# --- META (§63-69) ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Describe(Node):
    """DESCRIBE: `target` is the words after it, upper case, joined by a blank ("SCHEMA ENVIRONMENT").
    `subject` is the operand; `to` is COMPATIBILITY's second; `by_key` is TRANSACTION BY IDEMPOTENCY KEY;
    `mode` is PRIMER's; `options` is ACCESS's WITH; `at_time` is SNAPSHOT's."""

    target: str
    subject: Value | None = None
    to: Value | None = None
    by_key: bool = False
    mode: Value | None = None
    as_of: Value | None = None
    at_time: Value | None = None
    options: Object | None = None


@dataclass(frozen=True, slots=True)
class List(Node):
    """LIST: `target` as in Describe ("SCHEMA PACKAGES", "DEPENDENTS", ...)."""

    target: str
    subject: Value | None = None
    status: Value | None = None
    depth: Value | None = None
    limit: Value | None = None
    cursor: Value | None = None


@dataclass(frozen=True, slots=True)
class Search(Node):
    """The SEARCH statement (§66)."""

    kind: str
    term: Value
    with_type: Value | None = None
    with_predicate: Value | None = None
    mode: Value | None = None
    threshold: Value | None = None
    as_of: Value | None = None
    limit: Value | None = None
    cursor: Value | None = None


@dataclass(frozen=True, slots=True)
class Verify(Node):
    """VERIFY "CAPSULE" | "SCHEMA PACKAGE" | "RECEIPT"."""

    target: str
    subject: Value


@dataclass(frozen=True, slots=True)
class Validate(Node):
    """VALIDATE "KQL" | "KML" | "CAPSULE" | "SCHEMA PACKAGE" | "IMPORT PLAN"."""

    target: str
    subject: Value
    options: Object | None = None


@dataclass(frozen=True, slots=True)
class Preview(Node):
    """PREVIEW "KML" | "IMPORT CAPSULE"."""

    target: str
    subject: Value
    into: Value | None = None


@dataclass(frozen=True, slots=True)
class History(Node):
    """HISTORY ELEMENT x (element set) or HISTORY SPACE (element None)."""

    element: Value | None
    from_seq: Value | None = None
    to_seq: Value | None = None
    limit: Value | None = None
    cursor: Value | None = None


@dataclass(frozen=True, slots=True)
class Changes(Node):
    """CHANGES SINCE cursor, or CHANGES AFTER SEQ n."""

    since: Value | None
    after_seq: Value | None
    limit: Value | None = None


@dataclass(frozen=True, slots=True)
class ExportCapsule(Node):
    target: Target
    where: Block
    options: Object | None = None
    as_of: Value | None = None


Kql: TypeAlias = Find
Kml: TypeAlias = Mutation | Mutate | Define
Meta: TypeAlias = Describe | List | Search | Verify | Validate | Preview | History | Changes | ExportCapsule
Statement: TypeAlias = Kql | Kml | Meta


@dataclass(frozen=True, slots=True)
class Script(Node):
    """A sequence of statements; `;` between them is optional."""

    statements: tuple[Statement, ...]
