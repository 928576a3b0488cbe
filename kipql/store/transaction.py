"""The one writer's transaction: a provisional suffix on the Space (specification §32, §35.5).

Writes are applied in place under the sequence one past the head, where no reader looks; the transaction's own
view is simply the view at that sequence. `rollback` and `restore` take them back with an undo log, so PREVIEW and
dry runs are transactions that end in a rollback. Versions and planes are counted once, at `seal`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from kipql.errors import KipError
from kipql.model import AnyRecord, Concept, Origin, element_id
from kipql.store import changes
from kipql.store.environments import Entry
from kipql.store.frames import CONTROL_KINDS
from kipql.store.graph import Marks, client_key_name
from kipql.store.history import Bounds, Commit
from kipql.store.identity import InputReference
from kipql.store.planes import first_planes, next_planes
from kipql.store.states import state_at
from kipql.store.view import View
from kipql.values import Json, Scalar, value_key

if TYPE_CHECKING:
    from kipql.store.store import Store


class Savepoint(NamedTuple):
    """Where a transaction stood."""

    counts: Bounds
    log: int
    literals: int
    remembered: int
    controls: int
    inputs: int
    environments: tuple[int, Entry]
    marks: Marks


@dataclass(frozen=True, slots=True)
class Control:
    """A control change of this transaction: its kind, its payload, and the version it made."""

    kind: str
    payload: Json
    version: str


class Transaction:
    """Made by `Store.begin`; ends with `commit` or `rollback`. One thread at a time."""

    def __init__(self, store: "Store", base: View, at: int, origin: Origin) -> None:
        self._store = store
        self._graph = store.graph
        self._log: list[tuple[int, AnyRecord | None]] = []  # (code, state that was newest before)
        self._remembered: list[tuple[int, str]] = []
        self._controls: list[Control] = []
        self._inputs: list[tuple[int, InputReference]] = []
        self._view: View | None = None
        self._changed: list[int] = []
        self._sealed = False
        self._open = True
        self.at = at
        self.origin = origin
        self.base = base
        self.seq = self.base.seq + 1
        self._graph.pending_at = at
        self._graph.pending_origin = origin
        self._start = self.savepoint()

    @property
    def view(self) -> View:
        """The Space with this transaction's writes so far; ask again after writing."""
        counts = self._graph.counts()
        if self._view is None or self._view.bounds != counts:
            self._view = View(self._graph, self._store.environments, self.seq, counts)
        return self._view

    @property
    def controls(self) -> Sequence[Control]:
        """The control changes so far."""
        return tuple(self._controls)

    @property
    def remembered(self) -> Sequence[tuple[int, str]]:
        """The client keys remembered so far, as (kind, key)."""
        return tuple(self._remembered)

    # writing

    def literal(self, value: Scalar) -> int:
        """The code of a Literal, interned. Raises as `canonical_literal`."""
        return self._graph.literals.intern(value)

    def touch(self) -> None:
        """Rows of plain claims are about to be appended to the graph (`claiming`): what was sealed no longer holds."""
        self._writing()

    def create(self, record: AnyRecord) -> int:
        """Append a new element and return its code.

        `version`, `planes`, `seq` and `prev` are the store's, and `origin` is this transaction's (§2.5).
        """
        self._writing()
        return self._graph.create(record, self.seq, self.origin)

    def put(self, code: int, record: AnyRecord) -> None:
        """Give an existing element a new state; several puts to one element are one version step."""
        self._writing()
        if not self.exists(code):
            raise KipError("NotFoundOrNotVisible", f"code {code} has no element to change")
        newest = self._graph.head(code)
        before = newest if newest is not None else state_at(self._graph, code, self.seq)
        if type(before) is not type(record):
            raise KipError("InternalError", f"{element_id(code)} can not become a {type(record).__name__}")
        fresh = before.seq == self.seq
        kept = replace(
            record,
            origin=before.origin,
            version=before.version,
            planes=before.planes,
            seq=self.seq,
            prev=before.prev if fresh else newest,
        )
        if fresh and self._is_new(code):
            kept = replace(kept, version=1, planes=first_planes(kept))
        self._log.append((code, newest))
        self._graph.put(code, kept)

    def exists(self, code: int) -> bool:
        """Whether an element has a row, this transaction's own included."""
        return code >= 0 and code & 7 <= 4 and (code >> 3) < self._graph.counts()[code & 7]

    def remember(self, kind: int, client_key: str, fingerprint: str, code: int) -> None:
        """A creation carried a client key (§7.5)."""
        self._writing()
        self._graph.client_keys[client_key_name(kind, client_key)] = (code, fingerprint)
        self._remembered.append((kind, client_key))

    def supplied(self, code: int, path: str, given: int, resolved: int) -> None:
        """A write to an element was given a reference that resolved elsewhere (§11.3); kept if the element's commit
        is."""
        self._writing()
        version = self.view.identity_version
        self._inputs.append((code, InputReference(self.seq, path, given, resolved, version)))

    @property
    def inputs(self) -> Sequence[tuple[int, InputReference]]:
        """The supplied references of this transaction, by element."""
        return tuple(self._inputs)

    def control(self, kind: str, payload: Json) -> str:
        """A control change; a `schema` payload (`environments`) makes the next environment.

        Returns the version it made, as the change envelope will name it; of `identity`, the identity version that
        this transaction's merges make, so put those first.
        """
        self._writing()
        if kind not in CONTROL_KINDS:
            raise KipError("InternalError", f"{kind!r} is no kind of control change")
        if kind == "schema":
            environment = self._store.environments.add(self.seq, payload)
            version = str(environment.version)
            self._view = None
        elif kind == "identity":
            version = str(self.view.identity_version)
        else:
            version = str(self._store.control_version(kind) + 1 + sum(c.kind == kind for c in self._controls))
        self._controls.append(Control(kind, payload, version))
        return version

    # undoing

    def savepoint(self) -> Savepoint:
        """A mark that `restore` returns to."""
        return Savepoint(
            self._graph.counts(),
            len(self._log),
            len(self._graph.literals),
            len(self._remembered),
            len(self._controls),
            len(self._inputs),
            self._store.environments.mark(),
            self._graph.marks(),
        )

    def restore(self, mark: Savepoint) -> None:
        """Undo everything since a savepoint, newest first."""
        graph = self._graph
        while len(self._log) > mark.log:
            code, newest = self._log.pop()
            if self._is_new(code) and (code >> 3) >= mark.counts[code & 7]:
                continue  # the row itself goes below
            graph.restore(code, newest)
        graph.truncate(mark.counts)
        graph.unmark(mark.marks)
        graph.literals.truncate(mark.literals)
        while len(self._remembered) > mark.remembered:
            graph.client_keys.pop(client_key_name(*self._remembered.pop()), None)
        del self._controls[mark.controls :]
        del self._inputs[mark.inputs :]
        self._store.environments.truncate(*mark.environments)
        self._view = None
        self._sealed = False

    def rollback(self) -> None:
        """Undo everything and end. What can not be undone, which takes a snapshot that someone forged, ends writing."""
        if not self._open:
            return
        try:
            self.restore(self._start)
        except BaseException:
            self._store.stop_writing()
            raise
        finally:
            self.end()

    # committing

    def seal(self) -> bool:
        """Count versions and planes and drop what did not change; False when nothing is left (`no_effect`)."""
        self._writing()
        kept: dict[int, None] = {}
        for code in dict.fromkeys(code for code, _ in self._log):
            if self._is_new(code) or not self._settle(code):
                continue
            kept[code] = None
        self._changed = list(kept)
        self._settle_identity()
        self._sealed = True
        return self._effective()

    @property
    def changed(self) -> Sequence[int]:
        """After `seal`: codes of older elements that change."""
        return tuple(self._changed) if self._sealed else ()

    @property
    def created(self) -> Sequence[int]:
        """Codes of the elements this transaction created, by kind and row."""
        low, high = self._start.counts, self._graph.counts()
        return tuple(row * 8 + kind for kind in range(5) for row in range(low[kind], high[kind]))

    def written_since(self, mark: Savepoint) -> Sequence[int]:
        """Codes of the elements that were created, or given a state, after a savepoint."""
        high = self._graph.counts()
        made = [row * 8 + kind for kind in range(5) for row in range(mark.counts[kind], high[kind])]
        return (*made, *dict.fromkeys(code for code, _ in self._log[mark.log :]))

    @property
    def changes(self) -> list[dict[str, Any]]:
        """After `seal`: the change-envelope entries."""
        graph = self._graph
        entries = [changes.created_entry(graph, code, self.seq) for code in self.created]
        entries.extend(
            changes.difference(code, self.base.record(code), state_at(graph, code, self.seq)) for code in self.changed
        )
        return entries

    @property
    def control_changes(self) -> list[Mapping[str, str]]:
        """The `control_changes` of the envelope."""
        return [{"kind": control.kind, "version": control.version} for control in self._controls]

    def commit(
        self,
        idempotency: Json = None,
        transaction_class: str = "cognitive",
        written: Callable[[], None] | None = None,
    ) -> Commit:
        """Write the frame, make it durable, make it visible, and end. `written` is called as soon as the next
        transaction may begin, which may be before this one is durable.

        Raises KipError and leaves nothing when there is nothing to commit or the journal can not be written.
        """
        if not self._sealed:
            self.seal()
        if not self._effective():
            raise KipError("InternalError", "a transaction without effect has nothing to commit")
        try:
            self._store.publish(self, idempotency, transaction_class, written)
        except BaseException:
            if self._open:
                self.rollback()
            raise
        self.end()
        return self._store.view().commit(self.seq)

    # inside

    def _settle_identity(self) -> None:
        """A merge that was put and taken back again changes no resolution."""
        graph, seq = self._graph, self.seq
        if not graph.changed_identity(seq):
            return
        moved = (_merged_into(self.base.record(c)) != _merged_into(state_at(graph, c, seq)) for c in self._changed)
        if not any(moved) and not any(_merged_into(state_at(graph, code, seq)) is not None for code in self.created):
            graph.identity_seqs.pop()

    def _effective(self) -> bool:
        return bool(self._changed or self._controls or self._graph.counts() != self._start.counts)

    def _writing(self) -> None:
        if not self._open:
            raise KipError("PreconditionFailed", "this transaction has ended", hint="begin a new one")
        self._sealed = False

    def end(self) -> None:
        """The next transaction may begin."""
        self._open = False
        self._store.ended(self)

    def _is_new(self, code: int) -> bool:
        return (code >> 3) >= self._start.counts[code & 7]

    def _settle(self, code: int) -> bool:
        """Count one changed element against the base; False puts back what it was."""
        graph = self._graph
        new, old = state_at(graph, code, self.seq), self.base.record(code)
        if new.seq != self.seq:
            return False
        if equal(old, new):
            graph.restore(code, next(newest for logged, newest in self._log if logged == code))
            return False
        planes = next_planes(old, new)
        if new.version != old.version + 1 or new.planes != planes:
            graph.settle(code, replace(new, version=old.version + 1, planes=planes))
        return True


def _merged_into(record: AnyRecord) -> int | None:
    return record.merged_into if isinstance(record, Concept) else None


def equal(old: AnyRecord, new: AnyRecord) -> bool:
    """Whether two states of an element say the same; 1 and true are two."""
    return old == new and all(
        value_key(getattr(old, name)) == value_key(getattr(new, name))
        for name in ("attributes", "facets", "payload")
        if hasattr(old, name)
    )
