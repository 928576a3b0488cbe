"""The five kinds of element as frozen records, and how an element is named inside the engine (§6-§17).

Inside, an element is one int, its *code*: `row * 8 + kind`. Rows are dense per kind in creation order, so
the public id `C-12` is row 11 of the Concepts. A Literal that a Proposition holds has a negative code (an
index into the Space's table of Literals). A *term* is either. Symbols are exact refs (`kip://p@1.0.0/Name`)
as strings in these records; the store numbers them.

Records hold written state only; computed members (`expired`, `effective_strength`, canonical endpoints) are
made by whoever reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from kipql.times import ALWAYS, Interval
from kipql.values import Json

CONCEPT, PROPOSITION, ASSERTION, EVIDENCE, ACTIVITY = range(5)
KINDS = ("concept", "proposition", "assertion", "evidence", "activity")
KIND_NAMES = ("Concept", "Proposition", "Assertion", "Evidence", "Activity")
A_KIND = ("a Concept", "a Proposition", "an Assertion", "Evidence", "an Activity")
KIND_OF_NAME = {name: kind for kind, name in enumerate(KIND_NAMES)}
PREFIXES = "CPAEX"
_KIND_OF_PREFIX = {prefix: kind for kind, prefix in enumerate(PREFIXES)}

# The Core registries (§20.13) and the states of an element (§60). Some are stored by their number: a new word goes to
# the end.
STATES = ("active", "archived", "tombstoned", "merged", "purged")
STANCES = ("support", "reject", "uncertain")
MODES = ("observed", "stated", "inferred", "predicted", "hypothetical", "imported")
ROLES = ("support", "challenge", "context")
ASSERTION_STATUSES = ("active", "retracted", "superseded")  # `expired` is computed, never stored (§14.3)
EVIDENCE_STATUSES = ("active", "corrected")
ACTIVITY_STATUSES = ("pending", "running", "completed", "failed", "cancelled")
TERMINAL_STATUSES = ("completed", "failed", "cancelled")
BELIEF_STATUSES = ("accepted", "rejected", "contested", "uncertain", "insufficient")


def element_code(kind: int, row: int) -> int:
    """The code of a row."""
    return row * 8 + kind


def kind_of(code: int) -> int:
    """The kind of an element code."""
    return code & 7


def row_of(code: int) -> int:
    """The row of an element code."""
    return code >> 3


def element_id(code: int) -> str:
    """The public id of an element code: `C-12`."""
    return f"{PREFIXES[code & 7]}-{(code >> 3) + 1}"


def parse_id(text: str) -> int | None:
    """The code that an id spells, whether or not such an element exists; None if it is no id at all."""
    kind = _KIND_OF_PREFIX.get(text[:1])
    digits = text[2:]
    if kind is None or text[1:2] != "-" or not digits.isascii() or not digits.isdecimal() or digits[0] == "0":
        return None
    return (int(digits) - 1) * 8 + kind if len(digits) < 16 else None


NOTHING: Mapping[str, Any] = MappingProxyType({})
Facets: TypeAlias = Mapping[str, Mapping[str, Json]]


def _nothing() -> Mapping[str, Any]:
    return NOTHING


@dataclass(frozen=True, slots=True)
class Edge:
    """One Structural Reference: the target's code and, for a citation, its role (§17, §15.6)."""

    target: int
    role: str | None = None


@dataclass(frozen=True, slots=True)
class Retention:
    """The retention hook (§19.1); `expires_at` is an instant in milliseconds."""

    retention_class: str | None = None
    expires_at: int | None = None
    legal_hold: bool = False


@dataclass(frozen=True, slots=True)
class Origin:
    """Who wrote it, as the engine saw (§6.2)."""

    principal_id: str
    channel: str
    import_id: str | None = None


@dataclass(frozen=True, slots=True)
class Planes:
    """Version-plane counters (§6.3), 0 where the plane was never written; `facets` by exact ref."""

    attributes: int = 0
    structural: int = 0
    retention: int = 0
    facets: Mapping[str, int] = field(default_factory=_nothing)


NO_RETENTION = Retention()
NO_PLANES = Planes()
ENGINE = Origin("kip:owner", "local")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What every kind carries.

    `version` and `planes` are counted by the store when a commit is sealed, never by a statement.
    `seq` is the commit that wrote this state and `prev` the state before it: a read at sequence k follows
    `prev` while `seq > k`. Both belong to the store and take no part in equality.
    """

    state: str = "active"  # one of STATES
    client_key: str | None = None
    retention: Retention = NO_RETENTION
    facets: Facets = field(default_factory=_nothing)
    structural: Mapping[str, tuple[Edge, ...]] = field(default_factory=_nothing)  # by exact ref
    origin: Origin = ENGINE
    classification: str | None = None
    authority_class: str | None = None  # None is `descriptive` (§31.3)
    quarantined: bool = False  # out of recall and of projection until it is released (§31.6)
    repaired_by: int | None = None  # the recording_repair Activity that invalidated this extraction (§57.8)
    version: int = field(default=1, compare=False)
    planes: Planes = field(default=NO_PLANES, compare=False)
    seq: int = field(default=0, compare=False)
    prev: "Record | None" = field(default=None, compare=False, repr=False)

    @property
    def recalled(self) -> bool:
        """Whether default recall finds it: an active state, and not in quarantine."""
        return self.state == "active" and not self.quarantined


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept(Record):
    """A typed thing (§10). `schema` is its exact type ref; `merged_into` an element code."""

    schema: str
    key: str | None = None
    name: str | None = None
    canonical_id: str | None = None
    aliases: tuple[str, ...] = ()
    attributes: Mapping[str, Json] = field(default_factory=_nothing)
    merged_into: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposition(Record):
    """A truth-neutral tuple (§12): `subject` an element code, `predicate` an exact ref, `object` a term."""

    subject: int
    predicate: str
    object: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion(Record):
    """One actor's stance on one Proposition (§13). Element references are codes, times are instants."""

    proposition: int
    asserted_by: int
    stance: str
    mode: str
    asserted_at: int
    confidence: float | None = None
    valid: Interval = ALWAYS
    evidence: tuple[Edge, ...] = ()
    context: tuple[int, ...] = ()
    status: str = "active"  # one of ASSERTION_STATUSES
    supersedes: tuple[int, ...] = ()
    superseded_by: tuple[int, ...] = ()
    retracted_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(Record):
    """An observed artifact (§15). `payload` is the wire object `{mode, inline | content_ref}`; `{mode: "purged"}`
    after PURGE PAYLOAD."""

    evidence_class: str
    payload: Json = None
    content_digest: str | None = None
    media_type: str | None = None
    observed_at: int | None = None
    source: tuple[Edge, ...] = ()
    generated_by: tuple[Edge, ...] = ()
    status: str = "active"  # one of EVIDENCE_STATUSES
    corrects: tuple[int, ...] = ()
    corrected_by: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity(Record):
    """A process in the provenance (§16)."""

    activity_class: str
    status: str = "pending"  # one of ACTIVITY_STATUSES
    started_at: int | None = None
    ended_at: int | None = None
    parameters_digest: str | None = None
    inputs: tuple[Edge, ...] = ()
    outputs: tuple[Edge, ...] = ()
    associated_actors: tuple[Edge, ...] = ()
    input_versions: Mapping[str, int] = field(default_factory=_nothing)
    output_versions: Mapping[str, int] = field(default_factory=_nothing)
    output_plane_versions: Mapping[str, Json] = field(default_factory=_nothing)


AnyRecord: TypeAlias = Concept | Proposition | Assertion | Evidence | Activity

CORE_STRUCTURAL = {
    "evidence": ASSERTION,
    "context": ASSERTION,
    "source": EVIDENCE,
    "generated_by": EVIDENCE,
    "inputs": ACTIVITY,
    "outputs": ACTIVITY,
    "associated_actors": ACTIVITY,
}
"""Core structural fields by the kind that carries them (§20.13); addressed by plain name, never by a symbol."""
