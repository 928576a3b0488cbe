"""A View: everything one Space holds at one sequence, read-only (specification §42.4, §48).

A view is a sequence and the number of rows per kind at it; making one costs about a microsecond and reading the
past costs what reading the present does. It is safe beside a writer in another thread: it never takes a lock,
never iterates what the writer inserts into, and cuts every posting at its bounds.
"""

from array import array
from collections.abc import Mapping, Sequence
from heapq import merge
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.model import (
    ACTIVITY,
    ASSERTION,
    CONCEPT,
    EVIDENCE,
    PROPOSITION,
    AnyRecord,
    Concept,
    Edge,
    Origin,
    element_id,
    kind_of,
    parse_id,
)
from kipql.store import changes, computed, elements, fields, identity, states
from kipql.store.environments import Entry
from kipql.store.graph import Graph, client_key_name
from kipql.store.history import Bounds, Commit, bounds_at
from kipql.store.identity import Decision, InputReference
from kipql.store.postings import NO_ROWS, Rows, cut
from kipql.store.records import Hot
from kipql.store.symbols import written_lineage
from kipql.store.valuepaths import KINDS, rows_with
from kipql.values import CanonicalReference, Json, Scalar, canonical_literal

if TYPE_CHECKING:
    from kipql.schema.environment import Environment
    from kipql.store.environments import Environments


class View:
    """The Space at `seq`. Rows below `bounds[kind]` exist; `graph` is the store's, for compiled readers."""

    __slots__ = ("_entry", "_environments", "bounds", "graph", "seq")
    narrowed = False  # whether rows are withheld, so that the graph's own postings are not to be read
    raw_origin = True  # whether the channel and the import of a record are shown (§29, `read_raw_origin`)

    def __init__(self, graph: Graph, environments: "Environments", seq: int, bounds: Bounds) -> None:
        self.graph = graph
        self.seq = seq
        self.bounds = bounds
        self._environments = environments
        self._entry: Entry | None = None

    def __repr__(self) -> str:
        return f"View({self.space_id!r}, seq={self.seq})"

    # the Space

    @property
    def space_id(self) -> str:
        """The id of the Space."""
        return self.graph.space_id

    @property
    def coverage(self) -> str:
        """What a cursor over this view belongs to: the Space, and whose view of it (§44.8)."""
        return self.space_id

    @property
    def last_commit(self) -> int:
        """The last commit up to `seq`: a transaction under way is none yet."""
        return min(self.seq, len(self.graph.history))

    @property
    def environment(self) -> "Environment":
        """The Schema Environment in force at `seq`."""
        return self._schema().environment

    def stored(self) -> "View":
        """The whole Space at the last commit up to `seq`: this view, unless a transaction or a caller narrowed it."""
        seq = min(self.seq, len(self.graph.history))
        if type(self) is View and seq == self.seq:
            return self
        return View(self.graph, self._environments, seq, self.graph.history.bounds(seq))

    def at(self, seq: int) -> "View":
        """The Space at a sequence up to the head, with the same withheld as here."""
        return type(self)(self.graph, self._environments, seq, self.graph.history.bounds(seq))

    @property
    def schema_entry(self) -> Entry:
        """The Schema Environment in force at `seq` with what its renames join."""
        return self._schema()

    def after(self, seq: int, bounds: Bounds) -> "View":
        """The Space at the next sequence, which left the Schema Environment alone."""
        view = View(self.graph, self._environments, seq, bounds)
        view._entry = self._entry
        return view

    def environment_at(self, seq: int) -> "Environment":
        """The Schema Environment in force at another sequence."""
        return self._environments.entry(seq).environment

    @property
    def environment_since(self) -> int:
        """The sequence from which the Schema Environment in force at `seq` holds."""
        return self._schema().seq

    @property
    def identity_version(self) -> int:
        """1, and one more for each commit that changed canonical resolution (§11.5)."""
        return identity.identity_version(self.graph, self.seq)

    @property
    def has_renames(self) -> bool:
        """Whether a rename of the environment joins written lineages (§20.14)."""
        return bool(self._schema().joined)

    @property
    def has_merges(self) -> bool:
        """Whether any Concept is merged at `seq`."""
        seqs = self.graph.identity_seqs
        return len(seqs) > 0 and seqs[0] <= self.seq

    # elements

    def code(self, id_text: str) -> int | None:
        """The code of an id that exists at `seq`."""
        code = parse_id(id_text)
        return code if code is not None and (code >> 3) < self.bounds[code & 7] else None

    def exists(self, code: int) -> bool:
        """Whether an element code has a row at `seq`."""
        return code >= 0 and (code >> 3) < self.bounds[code & 7]

    def rows(self, kind: int) -> range:
        """Every row of a kind."""
        return range(self.bounds[kind])

    def record(self, code: int) -> AnyRecord:
        """The whole record of an element at `seq`. Raises NotFoundOrNotVisible when it has none."""
        if not self.exists(code):
            raise _missing(code)
        return states.state_at(self.graph, code, self.seq)

    def element(self, code: int) -> dict[str, Json]:
        """The whole wire element of §6.2."""
        return elements.element(self, code)

    def state(self, code: int) -> str:
        """`_system.state`: active, archived, tombstoned, merged or purged."""
        record = states.kept_state(self.graph, code, self.seq)
        return "active" if record is None else record.state

    def unrecalled(self, code: int) -> str | None:
        """Why default recall leaves an element out: its state, or `quarantined`; None when it does not."""
        record = states.kept_state(self.graph, code, self.seq)
        if record is None or record.recalled:
            return None
        return "quarantined" if record.state == "active" else record.state

    def left_out(self, kind: int) -> frozenset[int] | None:
        """Rows that default recall leaves out; None when there are none."""
        settled = self.seq <= len(self.graph.history)
        return states.left_out(self.graph, kind, self.seq, self.bounds[kind], settled)

    def assertion(self, row: int) -> Hot:
        """The hot fields of an Assertion (see `records`); `ended > seq` means not ended."""
        return self.graph.assertions.read(row)

    def client_key(self, kind: int, key: str) -> tuple[int, str] | None:
        """(code, fingerprint) of the creation that carried a client key."""
        known = self.graph.client_keys.get(client_key_name(kind, key))
        return known if known is not None and self.exists(known[0]) else None

    def creation(self, code: int) -> tuple[int, Origin]:
        """The sequence that created an element, and its commit's origin."""
        return states.creation(self.graph, code & 7, code >> 3)

    def committed_at(self, seq: int) -> int:
        """The instant of a commit up to `seq`; of the transaction under way when it is this view's own."""
        history = self.graph.history
        return history.at(seq) if seq <= len(history) else self.graph.pending_at

    # literals and symbols

    def literal(self, code: int) -> Json:
        """The Literal of a negative code; `{canonical_id}` for an identity that no element carries (§8.2)."""
        value = self.graph.literals.value(code)
        return {"canonical_id": value.canonical_id} if isinstance(value, CanonicalReference) else value

    def literal_code(self, value: Scalar) -> int | None:
        """The code of a Literal, None when no Proposition ever held it. Raises as `canonical_literal`."""
        return self.graph.literals.find(canonical_literal(value))

    def symbol(self, ref: str) -> int | None:
        """The number of an exact ref, None when no element uses it."""
        return self.graph.symbols.find(ref)

    def symbol_ref(self, number: int) -> str:
        """The exact ref of a symbol number."""
        return self.graph.symbols.refs[number]

    def lineage_number(self, lineage: str) -> int | None:
        """The number of a lineage, None when no element uses it."""
        return self.graph.symbols.find_lineage(lineage)

    @property
    def lineage_of(self) -> "Sequence[int] | Mapping[int, int]":
        """Symbol number -> lineage number, renames of the environment followed."""
        moved = self._schema().lineage_of
        written = self.graph.symbols.lineage_of
        if not moved:
            return written
        return {number: moved.get(number, lineage) for number, lineage in enumerate(written)}

    # Proposition columns, valid below bounds[PROPOSITION]

    @property
    def subjects(self) -> "array[int]":
        """Subject codes by row."""
        return self.graph.propositions.subjects

    @property
    def predicates(self) -> "array[int]":
        """Predicate symbol numbers by row."""
        return self.graph.propositions.predicates

    @property
    def objects(self) -> "array[int]":
        """Object terms by row."""
        return self.graph.propositions.objects

    # postings: ascending rows, cut at the bounds

    def slot(self, subject: int, lineage: int) -> Rows:
        """Propositions with this subject and Predicate lineage, as written."""
        return self._joined(lambda number: self._slot(subject, number), lineage)

    def outgoing(self, subject: int) -> Rows:
        """Propositions with this subject."""
        return self.graph.outgoing.get(subject, self.bounds[PROPOSITION])

    def incoming(self, term: int) -> Rows:
        """Propositions with this object."""
        return self.graph.incoming.get(term, self.bounds[PROPOSITION])

    def by_predicate(self, lineage: int) -> Rows:
        """Propositions with this Predicate lineage."""
        return self._joined(lambda number: self._listed(self.graph.by_predicate, number, PROPOSITION), lineage)

    def pairs(self, term: int, lineage: int) -> Rows:
        """Propositions with this object and Predicate lineage."""
        return self._joined(lambda number: self._pairs(term, number), lineage)

    def tuple_row(self, subject: int, lineage: int, term: int) -> int | None:
        """The Proposition stored with exactly these endpoints; the first, should there be several."""
        joined = self._schema().joined.get(lineage)
        numbers = (lineage,) if joined is None else joined
        found = [row for number in numbers if (row := self._tuple_row(subject, number, term)) is not None]
        return min(found) if found else None

    def assertions_of(self, row: int) -> Rows:
        """Assertions on a Proposition row."""
        return self.graph.of_proposition.get(row, self.bounds[ASSERTION])

    def assertions_by(self, actor: int) -> Rows:
        """Assertions by an actor, as written."""
        return self.graph.by_actor.get(actor, self.bounds[ASSERTION])

    def slot_assertions(self, subject: int, lineage: int) -> Rows:
        """Assertions on the Propositions of a slot."""
        return self._joined(lambda number: self._slot_assertions(subject, number, False), lineage)

    def live_assertions(self, subject: int, lineage: int) -> Rows:
        """Those of a slot whose stored status is `active` at `seq`; the cost is theirs, not of all that ended."""
        return self._joined(lambda number: self._slot_assertions(subject, number, True), lineage)

    def of_type(self, lineage: int) -> Rows:
        """Concepts of a Type lineage."""
        return self._joined(lambda number: self._listed(self.graph.of_type, number, CONCEPT), lineage)

    def keyed(self, key: str, lineage: int | None = None) -> Rows:
        """Concepts with this key, of a Type lineage when one is given."""
        rows = self.graph.keyed.get(key, self.bounds[CONCEPT])
        if lineage is None or not rows:
            return rows
        types, lineage_of = self.graph.types, self.lineage_of
        return [row for row in rows if lineage_of[types[row]] == lineage]

    def named(self, name: str) -> Rows:
        """Concepts that have or had this name: verify."""
        return self.graph.named.get(name, self.bounds[CONCEPT])

    def with_value(self, kind: int, steps: Sequence[str], value: Scalar) -> Rows | None:
        """Rows that have or had this scalar at a path: verify. None when there is no posting: scan."""
        if kind not in KINDS:
            return None
        path = tuple(steps)
        paths = self.graph.value_paths
        posting = paths.find(kind, path)
        if posting is None:
            read = fields.record_reader(kind, path)
            if read is None:
                return None
            posting = paths.make(kind, path, read, self.graph.states(kind))
        return None if posting is None else rows_with(posting, value, self.bounds[kind])

    # structural references

    def referrers(self, target: int, field: str) -> Sequence[int]:
        """Codes of elements with a reference to `target` in a field (Core plain name, exact ref or lineage)."""
        graph = self.graph
        if field.startswith(computed.PROFILE) and self._lineage(field) in computed.FIELDS:
            return computed.sources(self, target, self._lineage(field))
        if field == "evidence" and target & 7 == EVIDENCE:
            cited = graph.cited_by.get(target >> 3, self.bounds[ASSERTION])
            found = [row * 8 + ASSERTION for row in cited]
        else:
            found = []
            for name in self._field_names(field):
                key = graph.reference_key(target, name)
                if key is not None:
                    found += [code for code in graph.referrers.get(key, 1 << 60) if self.exists(code)]
        return [code for code in sorted(set(found)) if any(e.target == target for e in self.edges(code, field))]

    def edges(self, code: int, field: str) -> tuple[Edge, ...]:
        """The references of an element in a field, in order."""
        kind, row = code & 7, code >> 3
        core = elements.core_edges(self.graph, code, field, self.seq)
        if core is not None:
            return core
        if field.startswith(computed.PROFILE) and self._lineage(field) in computed.FIELDS:
            return computed.edges(self, code, self._lineage(field))
        if kind in self.graph.side and row not in self.graph.side[kind]:
            return ()
        structural = states.state_at(self.graph, code, self.seq).structural
        if not structural:
            return ()
        if field in structural:
            return structural[field]
        lineage = self._lineage(field)
        for ref, edges in structural.items():
            if self._lineage(ref) == lineage:
                return edges
        return ()

    # identity

    def canonical(self, code: int) -> int:
        """The element at the end of the `merged_into` chain (§11.1); a term that is no Concept is itself. Raises
        MemoryDamaged for a chain without an end, which no statement writes."""
        if code < 0 or code & 7 != CONCEPT or not self.has_merges:
            return code
        passed: set[int] = set()
        while True:
            record = states.state_at(self.graph, code, self.seq)
            assert isinstance(record, Concept)
            if record.merged_into is None:
                return code
            passed.add(code)
            code = record.merged_into
            if code in passed:
                raise KipError("MemoryDamaged", f"{element_id(code)} is merged into itself, at once or by others")

    def same(self, code: int) -> tuple[int, ...]:
        """Every code with the same canonical element, ascending, this one included."""
        if code < 0 or code & 7 != CONCEPT or not self.has_merges:
            return (code,)
        found = [self.canonical(code)]
        for target in found:
            for row in self.graph.merged_from.get(target, ()):
                source = row * 8 + CONCEPT
                if self.exists(source) and self._merged_into(source) == target:
                    found.append(source)
        return tuple(sorted(found))

    def input_references(self, code: int) -> list[InputReference]:
        """The references that writes to an element supplied and that a merge redirected (§11.3)."""
        return [each for each in self.graph.inputs.get(code, ()) if each.seq <= self.seq]

    def decisions(self) -> list[Decision]:
        """Every merge up to this view's sequence as an identity decision, oldest first (§11.5)."""
        return identity.decisions(self)

    def review_since(self, code: int) -> int | None:
        """The last commit that asked to review an element because an identity was repaired (§11.5)."""
        return max((seq for seq in self.graph.reviewed.get(code, ()) if seq <= self.seq), default=None)

    def invalidated(self, code: int) -> bool:
        """Whether a recording repair took an extraction out of projection (§57.8)."""
        record = states.kept_state(self.graph, code, self.seq)
        return record is not None and record.repaired_by is not None

    # commits

    def commit(self, seq: int) -> Commit:
        """The Commit of a sequence up to this view's. Raises HistoricalSnapshotUnavailable."""
        if not 0 < seq <= min(self.seq, len(self.graph.history)):
            raise KipError("HistoricalSnapshotUnavailable", f"the Space has no commit {seq} at sequence {self.seq}")
        return changes.commit_at(self, seq)

    def discloses(self, seq: int) -> bool:
        """Whether a commit shows its reader anything: always, where nothing is hidden."""
        return 0 < seq <= self.seq

    def changed_in(self, code: int) -> list[int]:
        """The commits up to this view's that changed an element, its creation first (HISTORY ELEMENT, §68.1)."""
        kept = {seq for seq, other in list(self.graph.kept_entries) if other == code}
        return [seq for seq in sorted({*states.sequences(self.graph, code), *kept}) if seq <= self.seq]

    def snapshot_at(self, instant: int) -> int:
        """The last sequence committed at or before an instant, 0 before the first."""
        return min(self.graph.history.snapshot_at(instant), self.seq)

    def transaction(self, tx_id: str) -> Commit | None:
        """The Commit with this `tx_id`, None when there is none up to this view."""
        space, mark, digits = tx_id.rpartition("#")
        if space != self.space_id or not mark or not digits.isascii() or not digits.isdecimal() or len(digits) > 15:
            return None
        seq = int(digits)
        known = 0 < seq <= min(self.seq, len(self.graph.history)) and str(seq) == digits
        return self.commit(seq) if known else None

    # inside

    def _schema(self) -> Entry:
        entry = self._entry
        if entry is None:
            entry = self._environments.entry(self.seq)
            if self.seq <= len(self.graph.history):
                self._entry = entry
        return entry

    def _joined(self, rows: Any, lineage: int) -> Rows:
        joined = self._schema().joined.get(lineage)
        if joined is None:
            found: Rows = rows(lineage)
            return found
        return list(merge(*(rows(number) for number in joined)))

    def _listed(self, lists: "list[array[int]]", number: int, kind: int) -> Rows:
        return cut(lists[number], self.bounds[kind]) if number < len(lists) else NO_ROWS

    def _slot(self, subject: int, lineage: int) -> Rows:
        graph = self.graph
        slot = graph.slots[graph.slot_key(subject, lineage)]
        return NO_ROWS if slot < 0 else graph.slot_propositions.get(slot, self.bounds[PROPOSITION])

    def _slot_assertions(self, subject: int, lineage: int, live: bool) -> Rows:
        graph, bound = self.graph, self.bounds[ASSERTION]
        slot = graph.slots[graph.slot_key(subject, lineage)]
        if slot < 0:
            return NO_ROWS
        rows = graph.slot_assertions.get(slot, bound)
        return graph.live.get(slot, rows, self.seq, bound) if live else rows

    def _pairs(self, term: int, lineage: int) -> Rows:
        graph, bound = self.graph, self.bounds[PROPOSITION]
        incoming = graph.incoming.get(term, bound)
        known = graph.crowds.lineages_of(term, incoming)
        if known is not None:
            rows = known.get(lineage)
            return NO_ROWS if rows is None else cut(rows, bound)
        predicates, lineage_of = graph.propositions.predicates, graph.symbols.lineage_of
        return [row for row in incoming if lineage_of[predicates[row]] == lineage]

    def _tuple_row(self, subject: int, lineage: int, term: int) -> int | None:
        graph, bound = self.graph, self.bounds[PROPOSITION]
        slot = graph.slots[graph.slot_key(subject, lineage)]
        if slot < 0:
            return None
        rows = graph.slot_propositions.get(slot, bound)
        large = graph.crowds.objects_of(slot, rows)
        if large is not None:
            row = large.get(term)
            return row if row is not None and row < bound else None
        objects = graph.propositions.objects
        for row in rows:
            if objects[row] == term:
                return row
        return None

    def _merged_into(self, code: int) -> int | None:
        record = states.state_at(self.graph, code, self.seq)
        return record.merged_into if isinstance(record, Concept) else None

    def _lineage(self, ref: str) -> str:
        return self.environment.lineage(ref) if ref.startswith("kip://") else ref

    def _field_names(self, field: str) -> tuple[str, ...]:
        if not field.startswith("kip://"):
            return (field,)
        lineage = self._lineage(field)
        names = {lineage, written_lineage(field)}
        names.update(name for name in list(self.graph.fields) if self._lineage(name) == lineage)
        return tuple(names)


def _missing(code: int) -> KipError:
    known = code >= 0 and kind_of(code) <= ACTIVITY
    found = element_id(code) if known else f"code {code}"
    return KipError("NotFoundOrNotVisible", f"{found} does not exist here")


def past(head: View, seq: int) -> View:
    """The Space at a sequence up to a head, where the head's Schema Environment was in force already."""
    if seq == head.seq:
        return head
    view = View(head.graph, head._environments, seq, bounds_at(head.graph.history, seq))
    view._entry = head._entry
    return view
