"""Propositions and Assertions as columns: no Python object per row in their default state.

A row whose state is not the default one (a retention, a Facet, a lifecycle move, ...) has in addition a full
record in the graph's side table. Columns hold what never changes after creation, and the `ended` mark.
"""

from array import array
from collections.abc import MutableMapping, Sequence
from typing import Any

from kipql.errors import KipError
from kipql.limits import exhausted
from kipql.model import EVIDENCE, Assertion, Edge, Proposition, element_code, row_of
from kipql.store.frozen import newest_of
from kipql.store.postings import appended, truncated
from kipql.store.records import (
    ASSERTION,
    CONTEXT,
    END_MASK,
    ENDED,
    EXACT,
    FROM_SHIFT,
    NEVER,
    ROLE_MASK,
    ROLE_SHIFT,
    ROLES,
    SIZE,
    UNTIL_SHIFT,
    Hot,
    flags_of,
    interval_flags,
    last_instant,
    start_key,
)
from kipql.times import ALWAYS, Bound, Interval
from kipql.values import canonical_number, json_type

MOST_ROWS = 1 << 28  # a code (row * 8 + kind) fits 32 bits
_NO_EVIDENCE, _IN_SIDE = -1, -2
_ROLE = {name: number for number, name in enumerate(ROLES)}
_NAN = float("nan")


class Propositions:
    """Subject code, predicate symbol number and object term of each Proposition."""

    __slots__ = ("objects", "predicates", "subjects")

    def __init__(self) -> None:
        self.subjects: array[int] = array("i")
        self.predicates: array[int] = array("i")
        self.objects: array[int] = array("i")

    def __len__(self) -> int:
        return len(self.subjects)

    def append(self, subject: int, predicate: int, object: int) -> int:
        """The row of a new tuple."""
        row = len(self.subjects)
        if row >= MOST_ROWS:
            exhausted("rows of one kind", MOST_ROWS, "the Space holds too many Propositions")
        self.predicates = appended(self.predicates, predicate)
        self.objects = appended(self.objects, object)
        self.subjects = appended(self.subjects, subject)
        return row

    def truncate(self, length: int) -> None:
        """Forget the rows from `length` on."""
        self.subjects = truncated(self.subjects, length)
        self.predicates = truncated(self.predicates, length)
        self.objects = truncated(self.objects, length)


class Assertions:
    """The packed records (see `records`) and the cold side columns."""

    __slots__ = ("asserted_at", "citations", "cited", "confidence", "contexts", "hot", "intervals")

    def __init__(self) -> None:
        self.hot = bytearray()
        self.asserted_at: array[int] = array("q")
        self.confidence: array[float] = array("d")  # NaN where not stated
        self.cited: array[int] = array("i")  # row of the one Evidence cited; -1 none, -2 see `citations`
        self.citations: MutableMapping[int, tuple[Edge, ...]] = {}
        self.contexts: MutableMapping[int, tuple[int, ...]] = {}
        self.intervals: MutableMapping[int, Interval] = {}

    def __len__(self) -> int:
        return len(self.asserted_at)

    def append(self, record: Assertion, object: int, lineage: int) -> int:
        """The row of a new Assertion on a Proposition with this object and predicate lineage."""
        row = len(self.asserted_at)
        if row >= MOST_ROWS:
            exhausted("rows of one kind", MOST_ROWS, "the Space holds too many Assertions")
        flags = flags_of(record.stance, record.mode)
        confidence = _confidence(record.confidence)
        if record.valid is not ALWAYS:
            flags |= interval_flags(record.valid)
            self._keep_bounds(row, record.valid)
        if record.context:
            flags |= CONTEXT
            self.contexts[row] = record.context
        cited = _NO_EVIDENCE
        if record.evidence:
            cited, role = self._cite(row, record.evidence)
            flags |= role << ROLE_SHIFT
        packed = ASSERTION.pack(
            NEVER,
            flags,
            start_key(record.valid, record.asserted_at),
            last_instant(record.valid),
            record.asserted_by,
            object,
            row_of(record.proposition),
            lineage,
        )
        self._extend(packed)
        self.cited = appended(self.cited, cited)
        self.confidence = appended(self.confidence, confidence)
        self.asserted_at = appended(self.asserted_at, record.asserted_at)
        return row

    def truncate(self, length: int) -> None:
        """Forget the rows from `length` on."""
        sides: tuple[MutableMapping[int, Any], ...] = (self.citations, self.contexts, self.intervals)
        for side in sides:
            newest = newest_of(side)
            while newest and next(reversed(newest)) >= length:  # rows ascend: the newest are last
                newest.popitem()
        try:
            del self.hot[length * SIZE :]
        except BufferError:
            self.hot = self.hot[: length * SIZE]
        self.asserted_at = truncated(self.asserted_at, length)
        self.cited = truncated(self.cited, length)
        self.confidence = truncated(self.confidence, length)

    def read(self, row: int) -> Hot:
        """The hot fields of a row."""
        return Hot._make(ASSERTION.unpack_from(self.hot, row * SIZE))

    def ended(self, row: int) -> int:
        """The commit at which the stored status left `active`, NEVER while it is active."""
        mark: int = ENDED.unpack_from(self.hot, row * SIZE)[0]
        return mark

    def end(self, row: int, seq: int) -> None:
        """Set the `ended` mark."""
        ENDED.pack_into(self.hot, row * SIZE, seq)

    def valid(self, row: int, hot: Hot) -> Interval:
        """The interval as written."""
        kept = self.intervals.get(row)
        if kept is not None:
            return kept
        starts = hot.flags >> FROM_SHIFT & END_MASK == EXACT
        ends = hot.flags >> UNTIL_SHIFT & END_MASK == EXACT
        if not starts and not ends:
            return ALWAYS
        return Interval(
            Bound(hot.start, hot.start) if starts else None,
            Bound(hot.until, hot.until) if ends else None,
        )

    def evidence(self, row: int, flags: int) -> tuple[Edge, ...]:
        """The citations of a row."""
        cited = self.cited[row]
        if cited == _NO_EVIDENCE:
            return ()
        if cited == _IN_SIDE:
            return self.citations[row]
        return (Edge(element_code(EVIDENCE, cited), ROLES[flags >> ROLE_SHIFT & ROLE_MASK]),)

    def stated_confidence(self, row: int) -> int | float | None:
        """The confidence as written, None where none is."""
        value = self.confidence[row]
        return canonical_number(value) if value == value else None  # NaN is unequal to itself

    def _keep_bounds(self, row: int, valid: Interval) -> None:
        if any(bound is not None and not bound.exact for bound in valid):
            self.intervals[row] = valid

    def _cite(self, row: int, edges: Sequence[Edge]) -> tuple[int, int]:
        edge = edges[0]
        if len(edges) == 1 and edge.target & 7 == EVIDENCE and edge.role in _ROLE:
            return row_of(edge.target), _ROLE[edge.role]
        self.citations[row] = tuple(edges)
        return _IN_SIDE, 0

    def _extend(self, packed: bytes) -> None:
        try:
            self.hot += packed
        except BufferError:
            self.hot = self.hot + packed


def _confidence(value: object) -> float:
    if value is None:
        return _NAN
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise KipError("TypeMismatch", f"confidence must be a number, not {json_type(value)}")
    return float(value)


def is_plain(record: Proposition | Assertion) -> bool:
    """Whether columns alone say everything about a newly created record, its client key aside."""
    if (
        record.state != "active"
        or record.facets
        or record.structural
        or record.classification is not None
        or record.authority_class is not None
        or record.quarantined
        or record.repaired_by is not None
        or record.retention.retention_class is not None
        or record.retention.expires_at is not None
        or record.retention.legal_hold
    ):
        return False
    if isinstance(record, Proposition):
        return True
    return (
        record.status == "active" and not record.supersedes and not record.superseded_by and record.retracted_at is None
    )
