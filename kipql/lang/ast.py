"""The abstract syntax of KQL, KML and META.

Nodes are frozen, slotted and carry a `span`, which takes no part in equality: two texts that differ only
in layout have equal trees. Sequences are tuples. Names are the specification's. Nothing here knows lark,
a schema or a store.
"""

from dataclasses import field
from typing import TypeAlias

from kipql.lang.node import Node as Node
from kipql.lang.node import node
from kipql.values import Scalar

# --- values and expressions (§9, §44.1, §44.2, §59) ---------------------------------------------------


@node
class Var(Node):
    """`?name`: a query variable, or a KML handle."""

    name: str


@node
class Param(Node):
    """`:name`: a bound parameter (§74)."""

    name: str


@node
class Literal(Node):
    """A JSON scalar, decoded and canonical (§9.6). Equality tells true from 1."""

    value: Scalar

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@node
class Array(Node):
    """`[a, b]` in a value, a pattern or an expression."""

    items: tuple["Expression", ...]


@node
class Member(Node):
    """`name: value` inside an object."""

    name: str
    value: "Expression"


@node
class Object(Node):
    """`{...}`: an object pattern, an object value or an assignment object. Names are distinct."""

    members: tuple[Member, ...]

    def get(self, name: str) -> "Expression | None":
        """The value of a member, or None."""
        return next((member.value for member in self.members if member.name == name), None)


@node
class Path(Node):
    """`?x.attributes.goal`, `?x["key.with.dots"]`: at least one step (a bare variable is a Var)."""

    var: Var
    steps: tuple[str, ...]


@node
class Call(Node):
    """`NAME(args)`: a function, an aggregate (`distinct` is COUNT(DISTINCT x)) or an update expression.
    `name` is as written; lookup is by its ASCII upper case."""

    name: str
    args: tuple["Expression", ...]
    distinct: bool = False


@node
class Negate(Node):
    """`!x`."""

    operand: "Expression"


@node
class Minus(Node):
    """`-x`, where x is not a number literal (that is a negative Literal)."""

    operand: "Expression"


@node
class Compare(Node):
    """`left op right`; op is one of == != < > <= >=."""

    op: str
    left: "Expression"
    right: "Expression"


@node
class And(Node):
    """`a && b && ...`, flattened, two items or more."""

    items: tuple["Expression", ...]


@node
class Or(Node):
    """`a || b || ...`, flattened, two items or more."""

    items: tuple["Expression", ...]


# --- patterns (§43) -----------------------------------------------------------------------------------


@node
class Quantifier(Node):
    """`{low}`, `{low,}`, `{low,high}`: hops of a raw path; high None has no bound in the text (§45)."""

    low: int
    high: int | None


@node
class PathStep(Node):
    """One alternative of a raw path: a Predicate and how often."""

    predicate: "Literal | Param | Var"
    quantifier: Quantifier | None = None


@node
class PredicatePath(Node):
    """`"p"{0,5}`, `"p" | "q"`: only where there is a quantifier or more than one alternative (§45)."""

    alternatives: tuple[PathStep, ...]


@node
class Tuple(Node):
    """`(subject, predicate, object)`."""

    subject: "Term"
    predicate: "Literal | Param | Var | PredicatePath"
    object: "Term"


@node
class PropositionId(Node):
    """`(id: x)`: a Proposition known by identity (§43.2)."""

    id: "Literal | Param"


@node
class ElementPattern(Node):
    """`?x {..}`, `?x CONCEPT {..}`, `?a ASSERTION {..}`, EVIDENCE, ACTIVITY (§43.1, §43.4-43.6).
    kind is "Concept", "Assertion", "Evidence" or "Activity"; `keyword` says whether CONCEPT was written."""

    var: Var
    kind: str
    match: Object
    keyword: bool = field(default=True, compare=False)


@node
class PropositionPattern(Node):
    """`[?p] [PROPOSITION] (s, p, o)` or `(id: x)` (§43.2)."""

    var: Var | None
    target: Tuple | PropositionId
    keyword: bool = field(default=False, compare=False)


@node
class StructuralPattern(Node):
    """`[?edge] STRUCTURAL (source, "field", target)` (§43.7)."""

    var: Var | None
    source: "Term"
    field_: Literal | Param
    target: "Term"


@node
class BeliefPattern(Node):
    """`?b BELIEF (?p | id: x | s, "p", o)` (§46)."""

    var: Var
    target: Var | PropositionId | Tuple


@node
class BeliefSlotPattern(Node):
    """`?b BELIEF SLOT (s, "p")` (§47)."""

    var: Var
    subject: "Term"
    predicate: "Literal | Param | Var"


@node
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


@node
class Filter(Node):
    """`FILTER(condition)`."""

    condition: "Expression"


@node
class Not(Node):
    """`NOT { ... }` (§44.3)."""

    block: "Block"


@node
class Optional(Node):
    """`OPTIONAL { ... }` (§44.4)."""

    block: "Block"


@node
class Union(Node):
    """`UNION { ... }` (§44.5)."""

    block: "Block"


@node
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


@node
class OrderItem(Node):
    """One sort key."""

    key: Expression
    descending: bool


@node
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


@node
class SetFields(Node):
    """`SET FIELDS {...}`."""

    values: Object


@node
class SetAttributes(Node):
    """`SET ATTRIBUTES {...}`."""

    values: Object


@node
class SetFacet(Node):
    """`SET FACET "Name" {...}`."""

    facet: Value
    values: Object


@node
class StructuralEntry(Node):
    """`("field", target) {options}`."""

    field_: Value
    target: Expression
    options: Object | None = None


@node
class SetStructural(Node):
    """`SET STRUCTURAL {("field", target) ...}`."""

    entries: tuple[StructuralEntry, ...]


@node
class UnsetAttributes(Node):
    """`UNSET ATTRIBUTES {a, b}`."""

    names: tuple[str, ...]


@node
class UnsetFacet(Node):
    """`UNSET FACET "Name" {a, b}`."""

    facet: Value
    names: tuple[str, ...]


@node
class UnsetStructural(Node):
    """`UNSET STRUCTURAL {("field", target) ...}`."""

    entries: tuple[StructuralEntry, ...]


Action: TypeAlias = (
    SetFields | SetAttributes | SetFacet | SetStructural | UnsetAttributes | UnsetFacet | UnsetStructural
)


@node
class ExpectVersion(Node):
    """`EXPECT VERSION n [OF plane]`: plane is None, "attributes", "structural", "retention" or "facet"."""

    version: Value
    plane: str | None = None
    facet: Value | None = None


@node
class CreateConcept(Node):
    """CREATE CONCEPT (§54). `type` is never None in a tree that was parsed."""

    handle: Var
    type: Value | None
    client_key: Value | None
    name: Value | None
    actions: tuple[Action, ...]


@node
class UpsertConcept(Node):
    """UPSERT CONCEPT: MATCH by id or key, then SET and UNSET (§54)."""

    handle: Var
    match: Object
    actions: tuple[Action, ...]
    guards: tuple[ExpectVersion, ...] = ()


@node
class CreateRecord(Node):
    """CREATE EVIDENCE / ASSERTION / ACTIVITY; kind is "Evidence", "Assertion" or "Activity"."""

    kind: str
    handle: Var
    client_key: Value | None
    actions: tuple[Action, ...]


@node
class EnsureProposition(Node):
    """ENSURE PROPOSITION: the tuple is there afterwards, stored once."""

    handle: Var | None
    target: Tuple | PropositionId
    guards: tuple[ExpectVersion, ...] = ()


@node
class Assert(Node):
    """The sugar of §55.1; `members` are by, mode, stance, ... as written."""

    handle: Var | None
    target: Tuple | PropositionId
    members: Object
    superseding: Var | Value | None = None


Target: TypeAlias = Var | Value


@node
class Update(Node):
    """UPDATE of an element, or of each that WHERE selects (§58)."""

    target: Target
    actions: tuple[Action, ...]
    where: Block | None = None
    limit: Value | None = None
    guards: tuple[ExpectVersion, ...] = ()


@node
class Transition(Node):
    """`TRANSITION target TO state [BY newer]`: the lifecycle."""

    target: Target
    state: Value
    by: Target | None = None
    actions: tuple[Action, ...] = ()
    where: Block | None = None
    limit: Value | None = None
    guards: tuple[ExpectVersion, ...] = ()


@node
class SetRetention(Node):
    """`SET RETENTION target {...}` (§19)."""

    target: Target
    values: Object
    where: Block | None = None
    limit: Value | None = None
    guards: tuple[ExpectVersion, ...] = ()


@node
class Purge(Node):
    """PURGE and, with `payload`, PURGE PAYLOAD. CONFIRM "PURGE" is in the grammar."""

    target: Target
    payload: bool = False
    where: Block | None = None
    limit: Value | None = None
    guards: tuple[ExpectVersion, ...] = ()
    reference_policy: Value | None = None


@node
class MergeConcept(Node):
    """`MERGE CONCEPT source INTO target`: non-destructive (§11)."""

    source: Target
    into: Target
    where: Block | None = None
    guards: tuple[ExpectVersion, ...] = ()


@node
class Define(Node):
    """DEFINE PREDICATE / CONCEPT TYPE (§20.16); kind is "PredicateType" or "ConceptType"."""

    kind: str
    name: Value
    definition: Object


@node
class Mutate(Node):
    """`MUTATE { statements }`: one transaction with local handles."""

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


@node
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


@node
class List(Node):
    """LIST: `target` as in Describe ("SCHEMA PACKAGES", "DEPENDENTS", ...)."""

    target: str
    subject: Value | None = None
    status: Value | None = None
    depth: Value | None = None
    limit: Value | None = None
    cursor: Value | None = None


@node
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


@node
class Verify(Node):
    """VERIFY "CAPSULE" | "SCHEMA PACKAGE" | "RECEIPT"."""

    target: str
    subject: Value


@node
class Validate(Node):
    """VALIDATE "KQL" | "KML" | "CAPSULE" | "SCHEMA PACKAGE" | "IMPORT PLAN"."""

    target: str
    subject: Value
    options: Object | None = None


@node
class Preview(Node):
    """PREVIEW "KML" | "IMPORT CAPSULE"."""

    target: str
    subject: Value
    into: Value | None = None


@node
class History(Node):
    """HISTORY ELEMENT x (element set) or HISTORY SPACE (element None)."""

    element: Value | None
    from_seq: Value | None = None
    to_seq: Value | None = None
    limit: Value | None = None
    cursor: Value | None = None


@node
class Changes(Node):
    """CHANGES SINCE cursor, or CHANGES AFTER SEQ n."""

    since: Value | None
    after_seq: Value | None
    limit: Value | None = None


@node
class ExportCapsule(Node):
    """EXPORT CAPSULE of what WHERE selects."""

    target: Target
    where: Block
    options: Object | None = None
    as_of: Value | None = None


Kql: TypeAlias = Find
Kml: TypeAlias = Mutation | Mutate | Define
Meta: TypeAlias = Describe | List | Search | Verify | Validate | Preview | History | Changes | ExportCapsule
Statement: TypeAlias = Kql | Kml | Meta


@node
class Script(Node):
    """A sequence of statements; `;` between them is optional."""

    statements: tuple[Statement, ...]
