"""The state of one Space in memory: rows, their states, and every posting over them (specification §6-§17).

The writer applies its changes here in place, under a sequence one past the head; a reader at k never sees them,
because its bounds end before the new rows and it follows `prev` past the new states. What must be undone on a
rollback is: rows past a count (taken out of their postings again) and a log of replaced states.
"""

from array import array
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from kipql.errors import KipError
from kipql.model import (
    ACTIVITY,
    ASSERTION,
    CONCEPT,
    CORE_STRUCTURAL,
    EVIDENCE,
    PROPOSITION,
    Activity,
    AnyRecord,
    Assertion,
    Concept,
    Edge,
    Evidence,
    Origin,
    Proposition,
    row_of,
)
from kipql.store.claiming import propose
from kipql.store.columns import Assertions, Propositions, is_plain
from kipql.store.crowds import Crowds
from kipql.store.frozen import THAWING, UNREAD
from kipql.store.history import Bounds, History
from kipql.store.identity import InputReference
from kipql.store.lasting import Lasting
from kipql.store.literals import Literals
from kipql.store.live import LARGE, LiveRows
from kipql.store.planes import first_planes
from kipql.store.postings import NO_ROWS, Dense, Keyed, Terms, appended, truncated
from kipql.store.records import NEVER
from kipql.store.slots import LINEAGES, Slots
from kipql.store.symbols import Symbols, written_lineage
from kipql.store.valuepaths import ValuePaths

KIND_OF_CLASS = {
    Concept: CONCEPT,
    Proposition: PROPOSITION,
    Assertion: ASSERTION,
    Evidence: EVIDENCE,
    Activity: ACTIVITY,
}
CORE_FIELDS = {
    kind: tuple(name for name, carrier in CORE_STRUCTURAL.items() if carrier == kind)
    for kind in dict.fromkeys(CORE_STRUCTURAL.values())
}


ClientKey = tuple[int, str]  # (code, fingerprint)


def client_key_name(kind: int, key: str) -> str:
    """The name under which a client key of a kind is remembered."""
    return f"{kind}:{key}"


class FrozenStates(Protocol):
    """The records of one object kind in a snapshot."""

    def read(self, row: int) -> AnyRecord:
        """The newest state of a row, the older ones behind it. Raises MemoryDamaged."""
        ...

    def packed(self, row: int) -> bytearray:
        """The same as it lies there."""
        ...

    def erase(self, row: int) -> None:
        """Overwrite it."""
        ...


class Marks(NamedTuple):
    """Lengths of `Graph.identity_seqs` and `Graph.left_seqs`."""

    identity: int
    left: dict[int, int]


class Graph:
    """Everything the views of one Space read."""

    def __init__(self, space_id: str) -> None:
        self.space_id = space_id
        self.symbols = Symbols()
        self.literals = Literals()
        self.history = History()
        self.propositions = Propositions()
        self.assertions = Assertions()
        self.objects: dict[int, list[AnyRecord]] = {CONCEPT: [], EVIDENCE: [], ACTIVITY: []}
        self.frozen: dict[int, FrozenStates] = {}  # by object kind: the records of a snapshot
        self.side: dict[int, MutableMapping[int, AnyRecord]] = {PROPOSITION: {}, ASSERTION: {}}
        self.keys: dict[int, MutableMapping[int, str]] = {PROPOSITION: {}, ASSERTION: {}}  # client keys of plain rows
        self.client_keys: MutableMapping[str, ClientKey] = {}  # by `client_key_name`
        self.controls: list[tuple[int, str, object]] = []  # (sequence, kind, payload) of control changes
        self.reviewed: dict[int, tuple[int, ...]] = {}  # code -> commits that asked to review it (§11.5)
        self.inputs: dict[int, tuple[InputReference, ...]] = {}  # supplied references that merges redirected
        self.pending_at = 0  # the instant of the transaction that is under way
        self.pending_origin: Origin | None = None
        self.kept_entries: dict[tuple[int, int], dict[str, object]] = {}  # change entries of erased states
        self.claims: object = None  # what `kipql.mutate.claims` keeps between commits
        self.remembered: object = None  # what readers keep of the newest head they ran on (`exec.heads`)
        self.value_paths = ValuePaths()
        self.lasting = Lasting()
        self.on_erasure: list[Callable[[int], None]] = []  # called with each element, or payload, that is erased
        # postings
        self.slots = Slots(self.propositions, self.symbols)
        self.slot_propositions = Dense()
        self.slot_assertions = Dense()
        self.live = LiveRows(self.assertions, self.slot_assertions)
        self.outgoing = Terms()
        self.incoming = Terms()
        self.crowds = Crowds(self.propositions, self.symbols, self.slot_propositions, self.incoming)
        self.by_predicate: list[array[int]] = []
        self.of_proposition = Dense()
        self.by_actor = Terms()
        self.cited_by = Dense()
        self.types: array[int] = array("i")  # symbol number by Concept row
        self.of_type: list[array[int]] = []
        self.keyed = Keyed()
        self.named = Keyed()
        self.fields: dict[str, int] = {}
        self.referrers = Keyed()
        self.merged_from: dict[int, tuple[int, ...]] = {}
        self.ever_left: dict[int, Keyed] = {}  # by kind: rows whose state ever was not `active`
        self.left_seqs: dict[int, array[int]] = {}  # by kind: commits that changed such a state
        self.left_sets: dict[tuple[int, int], frozenset[int]] = {}
        self.identity_seqs: array[int] = array("q")  # commits that changed canonical resolution

    # rows and states

    def counts(self) -> Bounds:
        """Rows per kind, provisional ones included."""
        objects = self.objects
        return (
            len(objects[CONCEPT]),
            len(self.propositions.subjects),
            len(self.assertions.asserted_at),
            len(objects[EVIDENCE]),
            len(objects[ACTIVITY]),
        )

    def head(self, code: int) -> AnyRecord | None:
        """The newest state of an element, None when it is the one its columns say."""
        kind = code & 7
        if kind in self.side:
            return self.side[kind].get(code >> 3)
        record = self.objects[kind][code >> 3]
        return record if record is not UNREAD else self._thaw(kind, code >> 3)

    def states(self, kind: int) -> Iterator[tuple[int, AnyRecord]]:
        """Every state of every row of an object kind, oldest row first."""
        for row in range(len(self.objects[kind])):
            record = self.head(row * 8 + kind)
            while record is not None:
                yield row, record
                record = record.prev  # type: ignore[assignment]

    def _thaw(self, kind: int, row: int) -> AnyRecord:
        """Read an object's states from the snapshot; from then on it is a record like any other."""
        try:
            states = self.frozen[kind].read(row)
        except KipError:
            if self.objects[kind][row] is UNREAD:
                raise
            return self.objects[kind][row]  # erased meanwhile
        with THAWING:
            records = self.objects[kind]
            if records[row] is UNREAD:
                records[row] = states
            return records[row]

    # writing

    def create(self, record: AnyRecord, seq: int, origin: Origin) -> int:
        """Append a new element and put it into every posting; its code."""
        kind = KIND_OF_CLASS[type(record)]
        with self.value_paths.lock:
            if isinstance(record, Proposition):
                row = self._create_proposition(record, seq, origin)
            elif isinstance(record, Assertion):
                row = self._create_assertion(record, seq, origin)
            else:
                row = self._create_object(kind, stamped(record, seq, origin))
        return row * 8 + kind

    def put(self, code: int, record: AnyRecord) -> None:
        """Make `record`, already stamped and linked, the newest state of an element."""
        kind, row = code & 7, code >> 3
        before = self.head(code)
        with self.value_paths.lock:
            if before is not None and (before.state, before.recalled) != (record.state, record.recalled):
                _note_seq(self.left_seqs.setdefault(kind, array("q")), record.seq)
            if isinstance(record, Concept) and isinstance(before, Concept) and before.merged_into != record.merged_into:
                self.note_identity(record.seq)
            if kind == CONCEPT:
                self.lasting.changed(row)
            if kind in self.side:
                self.side[kind][row] = record
            else:
                self.objects[kind][row] = record
            self._index_state(kind, row, record)
            if isinstance(record, Assertion) and not _speaks(record):
                self._end(row, record.seq)

    def restore(self, code: int, record: AnyRecord | None) -> None:
        """Make an older state, or the one the columns say, the newest again."""
        kind, row = code & 7, code >> 3
        if record is None:
            self.side[kind].pop(row, None)
        elif kind in self.side:
            self.side[kind][row] = record
        else:
            self.objects[kind][row] = record
        if kind == ASSERTION:
            active = record is None or (isinstance(record, Assertion) and _speaks(record))
            if active and self.assertions.ended(row) != NEVER:
                self.assertions.end(row, NEVER)
                self.live.revived(self.slot_of(row), row)

    def committed(self, at: int, changed: Sequence[int], origin: Origin, transaction_class: str) -> None:
        """What was written since the last commit is the next one."""
        bounds = self.counts()
        self.slots.settled = bounds[PROPOSITION]
        self.history.append(at, bounds, changed, origin, transaction_class)

    def settle(self, code: int, record: AnyRecord) -> None:
        """Replace the newest state by one that differs in its counters only."""
        kind, row = code & 7, code >> 3
        if kind in self.side:
            self.side[kind][row] = record
        else:
            self.objects[kind][row] = record

    def marks(self) -> Marks:
        """How many commits changed states or identity so far, the one under way included."""
        return Marks(len(self.identity_seqs), {kind: len(seqs) for kind, seqs in self.left_seqs.items()})

    def unmark(self, marks: Marks) -> None:
        """Back to an earlier count."""
        del self.identity_seqs[marks.identity :]
        for kind, seqs in self.left_seqs.items():
            del seqs[marks.left.get(kind, 0) :]

    def note_identity(self, seq: int) -> None:
        """Commit `seq` changes canonical resolution."""
        _note_seq(self.identity_seqs, seq)

    def note_control(self, seq: int, kind: str, payload: object) -> None:
        """Commit `seq` made a control change; an identity repair names what is to be reviewed."""
        self.controls.append((seq, kind, payload))
        if kind == "identity" and isinstance(payload, dict):
            for code in payload.get("review", ()):
                self.reviewed[code] = (*self.reviewed.get(code, ()), seq)

    def note_input(self, code: int, reference: InputReference) -> None:
        """A write to an element supplied a reference that resolved elsewhere."""
        self.inputs[code] = (*self.inputs.get(code, ()), reference)

    def changed_identity(self, seq: int) -> bool:
        """Whether the newest commit, `seq`, changed canonical resolution."""
        return bool(self.identity_seqs) and self.identity_seqs[-1] == seq

    def truncate(self, counts: Bounds) -> None:
        """Take back every row created since `counts`, newest first."""
        now = self.counts()
        with self.value_paths.lock:
            for row in range(now[ASSERTION] - 1, counts[ASSERTION] - 1, -1):
                self._drop_assertion(row)
            for row in range(now[PROPOSITION] - 1, counts[PROPOSITION] - 1, -1):
                self._drop_proposition(row)
            for kind in (CONCEPT, EVIDENCE, ACTIVITY):
                for row in range(now[kind] - 1, counts[kind] - 1, -1):
                    self._drop_object(kind, row, self.objects[kind].pop())
            self.assertions.truncate(counts[ASSERTION])
            self.propositions.truncate(counts[PROPOSITION])

    # reading helpers that the view and the writer share

    def slot_key(self, subject: int, lineage: int) -> int:
        """The key of a slot."""
        return subject << LINEAGES | lineage

    def slot_of(self, assertion_row: int) -> int:
        """The slot (its first Proposition row) that an Assertion is in."""
        return self.slot_of_proposition(self.assertions.read(assertion_row).proposition)

    def slot_of_proposition(self, row: int) -> int:
        """The slot of a Proposition."""
        tables = self.propositions
        lineage = self.symbols.lineage_of[tables.predicates[row]]
        return self.slots.find(tables.subjects[row], lineage)

    def field_number(self, field: str) -> int:
        """The number of a structural field: a Core plain name or a written lineage."""
        return self.fields.setdefault(field, len(self.fields))

    def structural_edges(self, kind: int, record: AnyRecord) -> Iterator[tuple[str, tuple[Edge, ...]]]:
        """(plain name or written lineage, references) of everything structural in a record."""
        for name in CORE_FIELDS.get(kind, ()):
            if name == "context":
                yield name, tuple(Edge(code) for code in record.context)  # type: ignore[union-attr]
            else:
                yield name, getattr(record, name)
        for ref, edges in record.structural.items():
            yield written_lineage(ref), edges

    def list_predicate(self, lineage: int, row: int) -> None:
        """A new Proposition has this Predicate lineage."""
        _add_listed(self.by_predicate, lineage, row)

    # one kind at a time

    def _create_object(self, kind: int, record: AnyRecord) -> int:
        records = self.objects[kind]
        row = len(records)
        records.append(record)
        if isinstance(record, Concept):
            symbol = self.symbols.number(record.schema)
            self.types = appended(self.types, symbol)
            _add_listed(self.of_type, self.symbols.lineage_of[symbol], row)
            if record.key is not None:
                self.keyed.add(record.key, row)
        self._index_state(kind, row, record)
        return row

    def _drop_object(self, kind: int, row: int, record: AnyRecord) -> None:
        if isinstance(record, Concept):
            lineage = self.symbols.lineage_of[self.symbols.number(record.schema)]
            self.of_type[lineage] = truncated(self.of_type[lineage], len(self.of_type[lineage]) - 1)
            self.types = truncated(self.types, row)
            if record.key is not None:
                self.keyed.drop(record.key, row)
        self._unindex_state(kind, row, record)

    def _create_proposition(self, record: Proposition, seq: int, origin: Origin) -> int:
        symbol = self.symbols.number(record.predicate)
        lineage = self.symbols.lineage_of[symbol]
        slot = self.slots.find(record.subject, lineage)
        row, _ = propose(self, slot, record.subject, symbol, lineage, record.object)
        self._keep_if_special(PROPOSITION, row, record, seq, origin)
        return row

    def _drop_proposition(self, row: int) -> None:
        tables = self.propositions
        subject, object = tables.subjects[row], tables.objects[row]
        lineage = self.symbols.lineage_of[tables.predicates[row]]
        slot = self.slots.find(subject, lineage)
        self.slot_propositions.drop(slot, row)
        self.outgoing.drop(subject, row)
        self.incoming.drop(object, row)
        self.by_predicate[lineage] = truncated(self.by_predicate[lineage], len(self.by_predicate[lineage]) - 1)
        self.slots.drop(subject, lineage, row)
        self.crowds.dropped(slot, object, lineage, row)
        self._forget_special(PROPOSITION, row)

    def _create_assertion(self, record: Assertion, seq: int, origin: Origin) -> int:
        proposition = row_of(record.proposition)
        tables = self.propositions
        lineage = self.symbols.lineage_of[tables.predicates[proposition]]
        row = self.assertions.append(record, tables.objects[proposition], lineage)
        slot = self.slots.find(tables.subjects[proposition], lineage)
        self.of_proposition.add(proposition, row)
        self.by_actor.add(record.asserted_by, row)
        if self.slot_assertions.add(slot, row) > LARGE:
            self.live.added(slot, row)
        self._index_citations(row, record)
        if record.status != "active":
            self._end(row, seq)
        self._keep_if_special(ASSERTION, row, record, seq, origin)
        return row

    def _drop_assertion(self, row: int) -> None:
        hot = self.assertions.read(row)
        slot = self.slot_of_proposition(hot.proposition)
        if hot.ended != NEVER:
            self.live.revived(slot, row)
        self.live.dropped(slot, row)
        self.slot_assertions.drop(slot, row)
        self.by_actor.drop(hot.actor, row)
        self.of_proposition.drop(hot.proposition, row)
        for target in {edge.target for edge in self.assertions.evidence(row, hot.flags)}:
            self.drop_citation(target, row)
        for target in self.assertions.contexts.get(row, ()):
            self.referrers.drop(self._reference_key(target, "context"), row * 8 + ASSERTION)
        self._forget_special(ASSERTION, row)

    def _end(self, row: int, seq: int) -> None:
        if self.assertions.ended(row) == NEVER:
            self.assertions.end(row, seq)
            self.live.ended(self.slot_of(row), row)

    # states that columns do not say

    def _keep_if_special(self, kind: int, row: int, record: Proposition | Assertion, seq: int, origin: Origin) -> None:
        if is_plain(record):
            if record.client_key is not None:
                self.keys[kind][row] = record.client_key
            return
        kept = stamped(record, seq, origin)
        self.side[kind][row] = kept
        self._index_state(kind, row, kept)

    def _forget_special(self, kind: int, row: int) -> None:
        self.keys[kind].pop(row, None)
        record = self.side[kind].pop(row, None)
        if record is not None:
            self._unindex_state(kind, row, record)

    # postings on values that may change

    def _index_state(self, kind: int, row: int, record: AnyRecord) -> None:
        if not record.recalled:
            self.ever_left.setdefault(kind, Keyed()).add(None, row)
            _note_seq(self.left_seqs.setdefault(kind, array("q")), record.seq)
        if isinstance(record, Concept):
            if record.name is not None:
                self.named.add(record.name, row)
            if record.merged_into is not None:
                known = self.merged_from.get(record.merged_into, NO_ROWS)
                if row not in known:
                    self.merged_from[record.merged_into] = (*known, row)
        if kind != ASSERTION or record.structural:
            self._index_edges(kind, row, record)
        self.value_paths.note(kind, row, record)

    def _unindex_state(self, kind: int, row: int, record: AnyRecord) -> None:
        """Out of the postings whose rows must exist. A stale row elsewhere is harmless: readers verify."""
        code = row * 8 + kind
        if kind in self.ever_left:
            self.ever_left[kind].drop(None, row)
        if isinstance(record, Concept):
            if record.name is not None:
                self.named.drop(record.name, row)
            if record.merged_into is not None:
                known = self.merged_from.get(record.merged_into, NO_ROWS)
                self.merged_from[record.merged_into] = tuple(other for other in known if other != row)
        for field, edges in self.structural_edges(kind, record):
            for edge in edges:
                self.referrers.drop(self._reference_key(edge.target, field), code)

    def _index_edges(self, kind: int, row: int, record: AnyRecord) -> None:
        code = row * 8 + kind
        for field, edges in self.structural_edges(kind, record):
            if kind == ASSERTION and field in CORE_FIELDS[ASSERTION]:
                continue
            for edge in edges:
                self.referrers.add(self._reference_key(edge.target, field), code)

    def _index_citations(self, row: int, record: Assertion) -> None:
        code = row * 8 + ASSERTION
        for target in {edge.target for edge in record.evidence}:
            if target & 7 == EVIDENCE:
                self.cited_by.add(target >> 3, row)
            else:
                self.referrers.add(self._reference_key(target, "evidence"), code)
        for target in record.context:
            self.referrers.add(self._reference_key(target, "context"), code)

    def drop_citation(self, target: int, row: int) -> None:
        """An Assertion no longer cites `target`: its creation, or its bytes, were taken back."""
        if target & 7 == EVIDENCE:
            self.cited_by.drop(target >> 3, row)
        else:
            self.referrers.drop(self._reference_key(target, "evidence"), row * 8 + ASSERTION)

    def _reference_key(self, target: int, field: str) -> int:
        return target << LINEAGES | self.field_number(field)

    def reference_key(self, target: int, field: str) -> int | None:
        """The key of the referrers posting, None when nothing ever used the field."""
        number = self.fields.get(field)
        return None if number is None else target << LINEAGES | number


def _speaks(record: Assertion) -> bool:
    """Whether projection may look at an Assertion: its status is `active` and no repair invalidated it (§57.8)."""
    return record.status == "active" and record.repaired_by is None


def stamped(record: AnyRecord, seq: int, origin: Origin) -> AnyRecord:
    """A new element's record as the store keeps it: version 1, its first planes, no state before.

    A record never given to a store is stamped as it is: what is stamped is the store's to say.
    """
    planes = first_planes(record)
    if record.seq or record.prev is not None or record.version != 1:
        return replace(record, version=1, planes=planes, origin=origin, seq=seq, prev=None)
    object.__setattr__(record, "planes", planes)
    object.__setattr__(record, "origin", origin)
    object.__setattr__(record, "seq", seq)
    return record


def _note_seq(seqs: "array[int]", seq: int) -> None:
    if not seqs or seqs[-1] != seq:
        seqs.append(seq)


def _add_listed(lists: list["array[int]"], number: int, row: int) -> None:
    while len(lists) <= number:
        lists.append(array("i"))
    lists[number] = appended(lists[number], row)
