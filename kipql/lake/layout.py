"""The tables of a lake: what each is, what each column holds (docs/scale.md, "The tables").

One row of a *state table* is one state of one element, held over the sequences `[seq_from, next state)`. A part file
is written once; where a later export ends a state that an earlier one left open, the end is a row of `ends`. A
`path` is the member of the wire element (specification §6.2) that a column holds exactly as it reads there, so that
a plan may read the column instead of the JSON.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["int64", "int32", "bool", "double", "string", "map"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column; null where the member is absent. `free` texts are people's: as JSON they may need escapes."""

    name: str
    kind: Kind
    doc: str
    path: tuple[str, ...] | None = None
    free: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One table; `state` of one row a state of an element; `order` of rows that are written together."""

    name: str
    doc: str
    columns: tuple[Column, ...]
    state: bool = False
    order: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.name for column in self.columns)


_SINCE = (
    Column("seq_from", "int64", "the commit that wrote this state"),
    Column("seq_to", "int64", "the commit that ended it; null while it was the latest at export, see `ends`"),
)
_STATE = (
    Column("code", "int64", "the element: row * 8 + kind; one code, one id"),
    Column("id", "string", "its public id", ("id",)),
    *_SINCE,
    Column("state", "string", "active, archived, tombstoned, merged or purged (§60)", ("_system", "state")),
    Column("recalled", "bool", "whether default recall finds it: active, and not in quarantine (§43.1)"),
    Column("version", "int64", "the element's version (§6.3)", ("_system", "version")),
    Column("created_seq", "int64", "the commit that created the element"),
)
_FIELDS = Column(
    "fields",
    "map",
    "every member below `attributes` and `facets`, objects and what is in them alike: JSON pointer -> JSON. Arrays "
    "are not entered, nor objects deeper than 8",
)
_ELEMENT = Column("element", "string", "the whole wire element (§6.2), JSON with sorted keys; without the payload")

CONCEPTS = Table(
    "concepts",
    "Concepts (§10), a row a state",
    (
        *_STATE,
        Column("type", "string", "the exact ref of its Concept Type", ("schema_ref",)),
        Column("key", "string", "its key", ("key",), free=True),
        Column("name", "string", "its name", ("name",), free=True),
        Column("canonical_id", "string", "its canonical id", ("canonical_id",), free=True),
        Column("merged_into", "int64", "the code of the Concept it was merged into (§11)"),
        _FIELDS,
        _ELEMENT,
    ),
    state=True,
)
PROPOSITIONS = Table(
    "propositions",
    "Propositions (§12), a row a state; endpoints never change",
    (
        *_STATE,
        Column("subject", "int64", "the code of its subject, as written"),
        Column("predicate", "string", "the exact ref of its Predicate", ("predicate_ref",)),
        Column("object", "int64", "the term of its object: a code, or a negative number of `literals`"),
        _FIELDS,
        _ELEMENT,
    ),
    state=True,
    order=("subject", "predicate", "code", "seq_from"),
)
ASSERTIONS = Table(
    "assertions",
    "Assertions (§13), a row a state",
    (
        *_STATE,
        Column("proposition", "int64", "the code of its Proposition"),
        Column("asserted_by", "int64", "the code of its actor, as written"),
        Column("stance", "string", "support, reject or uncertain", ("stance",)),
        Column("mode", "string", "observed, stated, inferred, ... (§13.4)", ("mode",)),
        Column("confidence", "double", "0 to 1", ("confidence",)),
        Column("asserted_at", "string", "when it was asserted, a timestamp", ("asserted_at",)),
        Column("valid_from", "string", "start of `valid_time`; null also where it is inexact, see `valid_exact`"),
        Column("valid_until", "string", "end of `valid_time`; null also where it is inexact, see `valid_exact`"),
        Column("valid_exact", "bool", "whether both columns say all of `valid_time` (§25.5)"),
        Column("status", "string", "active, retracted or superseded (§14)", ("lifecycle", "status")),
        _FIELDS,
        _ELEMENT,
    ),
    state=True,
    order=("proposition", "code", "seq_from"),
)
EVIDENCE = Table(
    "evidence",
    "Evidence (§15), a row a state, without the payload",
    (
        *_STATE,
        Column("evidence_class", "string", "its class", ("evidence_class",), free=True),
        Column("content_digest", "string", "the digest of its content", ("content_digest",), free=True),
        Column("media_type", "string", "the media type of its content", ("media_type",), free=True),
        Column("observed_at", "string", "when it was observed, a timestamp", ("observed_at",)),
        Column("status", "string", "active or corrected", ("lifecycle", "status")),
        _FIELDS,
        _ELEMENT,
    ),
    state=True,
)
ACTIVITIES = Table(
    "activities",
    "Activities (§16), a row a state",
    (
        *_STATE,
        Column("activity_class", "string", "its class", ("activity_class",), free=True),
        Column("status", "string", "pending, running, completed, failed or cancelled", ("status",)),
        Column("started_at", "string", "when it started, a timestamp", ("started_at",)),
        Column("ended_at", "string", "when it ended, a timestamp", ("ended_at",)),
        _FIELDS,
        _ELEMENT,
    ),
    state=True,
)
PAYLOADS = Table(
    "payloads",
    "The payloads of Evidence, a row a state of the Evidence; apart, because they are large",
    (
        Column("code", "int64", "the Evidence"),
        *_SINCE,
        Column("fields", "map", "as `fields` of a state, below `payload`"),
        Column("payload", "string", "`{mode, inline | content_ref}` (§15.3), JSON with sorted keys"),
    ),
)
EDGES = Table(
    "edges",
    "Structural references (§17), Core and Profile fields alike, a row a reference of a state",
    (
        Column("code", "int64", "the element that refers"),
        *_SINCE,
        Column("field", "string", "the plain name of a Core field, or the exact ref of a Profile field"),
        Column("target", "int64", "the code of the element that is referred to"),
        Column("role", "string", "the role of a citation (§15.6)"),
        Column("position", "int32", "its place in the field, from 0"),
    ),
)
FACETS = Table(
    "facets",
    "Facets (§18) as written, a row a Facet of a state; computed ones are no rows",
    (
        Column("code", "int64", "the element that carries it"),
        *_SINCE,
        Column("facet", "string", "the exact ref of the Facet"),
        Column("members", "string", "its members, JSON with sorted keys"),
    ),
)
VERSIONS = Table(
    "versions",
    "Which state of which element a commit wrote (§6.3), a row a state of any kind",
    (
        Column("code", "int64", "the element"),
        Column("id", "string", "its public id"),
        Column("kind", "string", "concept, proposition, assertion, evidence or activity"),
        *_SINCE,
        Column("version", "int64", "the element's version in that state"),
        Column("state", "string", "active, archived, tombstoned, merged or purged"),
        Column("planes", "string", "the counters of its version planes, JSON"),
    ),
)
ENDS = Table(
    "ends",
    "States that an earlier export left open and a later one ended. They hold for every table with `seq_from` but "
    "`identities`, which every export writes anew with ends of its own",
    (
        Column("code", "int64", "the element"),
        Column("seq_from", "int64", "the commit that wrote the state"),
        Column("seq_to", "int64", "the commit that ended it"),
    ),
)
LITERALS = Table(
    "literals",
    "The Literals that Propositions hold (§9), each once",
    (
        Column("code", "int64", "its term, negative"),
        Column("json", "string", "its JSON; `{canonical_id}` for an identity that no element carries (§8.2)"),
    ),
)
IDENTITIES = Table(
    "identities",
    "The canonical Concept of every Concept that is merged (§11), a row an interval; what is not here is its own",
    (
        Column("code", "int64", "the Concept"),
        Column("canonical", "int64", "the Concept at the end of its chain"),
        Column("seq_from", "int64", "the commit from which it is"),
        Column("seq_to", "int64", "the commit that ended it; null while it is; `ends` says nothing of it"),
    ),
)
REVIEWS = Table(
    "reviews",
    "Elements that a repair of an identity put up for review (§11.5), a row each time",
    (
        Column("code", "int64", "the element"),
        Column("seq", "int64", "the commit that asked for the review"),
    ),
)
COMMITS = Table(
    "commits",
    "Commits (§33), a row each that the principal may see something of",
    (
        Column("seq", "int64", "its sequence"),
        Column("at", "int64", "its instant, milliseconds since 1970-01-01T00:00:00.000Z"),
        Column("tx_id", "string", "`space_id#seq`"),
        Column("transaction_class", "string", "its class"),
        Column("environment_version", "int64", "the version of the Schema Environment in force"),
        Column("identity_version", "int64", "the version of canonical resolution after it (§11.5)"),
        Column("principal_id", "string", "who made it; null where that may not be read"),
    ),
)
SCHEMA = Table(
    "schema",
    "Changes of the Schema Environment and of policies, in order; sequence 0 is the set-up",
    (
        Column("place", "int64", "its place in the order, from 0"),
        Column("seq", "int64", "the commit from which it holds"),
        Column("kind", "string", "schema, policy or trust"),
        Column("change", "string", "what changed, JSON: `{packages, define, promote}`, a policy artifact, a trust"),
    ),
)

STATE_TABLES = (CONCEPTS, PROPOSITIONS, ASSERTIONS, EVIDENCE, ACTIVITIES)
"""In the order of the kinds of `kipql.model`."""

TABLES = (
    *STATE_TABLES, PAYLOADS, EDGES, FACETS, VERSIONS, ENDS, LITERALS, IDENTITIES, REVIEWS, COMMITS, SCHEMA,
)  # fmt: skip

WHOLE = (IDENTITIES, REVIEWS, SCHEMA)
"""Small ones that every export writes anew: no row of `ends` is about theirs."""

JSON = frozenset(("element", "payload", "members", "json", "change"))
"""Columns of JSON."""

UNREPEATED = JSON | frozenset(
    (
        "code", "id", "subject", "object", "proposition", "target", "canonical", "key", "name", "canonical_id",
        "content_digest", "asserted_at", "valid_from", "valid_until", "observed_at", "started_at", "ended_at", "tx_id",
    )
)  # fmt: skip
"""Columns whose values hardly repeat."""
