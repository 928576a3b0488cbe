"""The store of one Space: views for readers, one transaction at a time for the writer (specification §5, §32).

In memory it is the graph and its history. With a folder it has a journal too: what is committed is on disk
before it is visible, and opening is a replay of the journal.
"""

import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from kipql.errors import KipError
from kipql.limits import DEFAULT_LIMITS, Limits
from kipql.model import ENGINE, Origin
from kipql.store import changes, digest, disk, erasure, frames
from kipql.store.environments import Entry, Environments, SchemaLoader, load_schema
from kipql.store.files import Files
from kipql.store.graph import Graph
from kipql.store.history import Bounds, Commit
from kipql.store.journal import Tail
from kipql.store.transaction import Transaction
from kipql.store.view import View
from kipql.times import Clock, format_instant
from kipql.values import Json

DEFAULT_SPACE = "kip:space:default"


class Store:
    """One Space. Without a path it lives in memory."""

    def __init__(
        self,
        path: Path | None = None,
        *,
        space_id: str = DEFAULT_SPACE,
        durability: str = "fsync",
        readonly: bool = False,
        clock: Clock | None = None,
        limits: Limits = DEFAULT_LIMITS,
        schema: SchemaLoader = load_schema,
        files: Files | None = None,
    ) -> None:
        self.space_id = space_id
        self.clock = clock
        self.limits = limits
        self.readonly = readonly
        self.graph = Graph(space_id)
        self.environments = Environments(self.graph.symbols, schema)
        self.environments.add(0, {})
        self.notes: dict[str, list[Json]] = {}
        self.idempotency: dict[str, Json] = {}
        self._replay = frames.Replay(self.graph, self.environments)
        self._writer = threading.Lock()
        self._transaction: Transaction | None = None
        self._disk: disk.Disk | None = None
        if path is not None:
            self._disk = disk.Disk(path, files or Files(), durability, limits.frame, readonly=readonly)
            self._disk.load(self._apply)
        self.idempotency.update(self._replay.idempotency)
        self._view = self._latest()

    @property
    def tail(self) -> Tail | None:
        """The torn tail that was found when opening, if any; a writer has cut it."""
        return self._disk.tail if self._disk is not None else None

    @property
    def head(self) -> int:
        """The last committed sequence, 0 before the first."""
        return self._view.seq

    def view(self, seq: int | None = None) -> View:
        """The Space at a sequence, the head by default. Raises HistoricalSnapshotUnavailable."""
        head = self._view
        if seq is None or seq == head.seq:
            return head
        if not 0 <= seq < head.seq:
            raise KipError(
                "HistoricalSnapshotUnavailable",
                f"the Space is at sequence {head.seq}; it has no state {seq}",
                hint=f"use 0 to {head.seq}",
            )
        return View(self.graph, self.environments, seq, self.graph.history.bounds(seq))

    def begin(self, at: int, origin: Origin = ENGINE) -> Transaction:
        """Start the one transaction; waits while another thread has one.

        at      the transaction time, read once from the clock (an instant)
        origin  who writes, as the engine saw

        A store opened read-only can begin one too, to roll it back (PREVIEW, §69.3): it can not commit.
        """
        if self._disk is not None and not self.readonly:
            self._disk.check()
        self._writer.acquire()
        try:
            self._transaction = Transaction(self, at, origin)
        except BaseException:
            self._writer.release()
            raise
        return self._transaction

    def note(self, kind: str, payload: Json) -> None:
        """Record something beside the sequence, durably: a retained outcome, set-up packages before the first commit.

        kind     "schema" ({packages}), "policy" (an artifact, before the first commit), "idempotency" (an object
                 with `key`), or whatever the caller keeps
        """
        self._refuse_readonly()
        if kind in ("schema", "policy") and self.head:
            raise KipError("InternalError", f"after the first commit, a {kind} change takes a sequence")
        mark = self.environments.mark()
        self._note(kind, payload)
        try:
            if self._disk is not None:
                self._disk.append(0, frames.note(kind, payload))
        except KipError:
            self._unnote(kind, mark)
            raise
        self._view = self._latest()

    def envelope(self, commit: Commit, *, only: Collection[str] | None = None) -> dict[str, Any]:
        """The change envelope of a commit (§36.1); `only` keeps the entries of these element ids."""
        entries = [entry for entry in commit.changes if only is None or entry["id"] in only]
        found: dict[str, Any] = {
            "kip": changes.KIP,
            "space_id": commit.space_id,
            "space_seq": commit.seq,
            "tx_id": commit.tx_id,
            "committed_at": format_instant(commit.at),
            "transaction_class": commit.transaction_class,
            "schema_environment_version": commit.environment_version,
        }
        if entries:
            found["changes"] = entries
        if commit.control_changes:
            found["control_changes"] = [dict(change) for change in commit.control_changes]
        found["extensions"] = {"anda/transition": {"snapshot_seq": commit.snapshot_seq, "status": "committed"}}
        return found

    def digest(self, view: View | None = None) -> str:
        """`sha256:...` over every element in id order, canonical JSON, `_system` included."""
        return digest.digest(view or self.view())

    def control_version(self, kind: str) -> int:
        """How many control changes of a kind were committed."""
        return sum(change["kind"] == kind for changes_ in self.graph.history.controls.values() for change in changes_)

    # for the transaction

    def publish(self, transaction: Transaction, idempotency: Json, transaction_class: str) -> None:
        """Make a sealed transaction durable, then visible."""
        self._refuse_readonly()
        graph, seq = self.graph, transaction.seq
        changed = tuple(transaction.changed)
        erased = erasure.erasures(graph, changed, seq)
        kept = {key: entry for each in erased for key, entry in erasure.entries_to_keep(graph, each, seq).items()}
        if self._disk is not None:
            payload = frames.commit(
                graph,
                seq,
                at=transaction.at,
                origin=transaction.origin,
                transaction_class=transaction_class,
                start=transaction.base.bounds,
                changed=changed,
                client_keys=transaction.remembered,
                inputs=transaction.inputs,
                controls=[(control.kind, control.payload, control.version) for control in transaction.controls],
                idempotency=idempotency,
                kept=kept,
            )
            if erased:
                self._disk.rewrite(graph, erased, kept, (seq, payload))
            else:
                self._disk.append(seq, payload)
        self._commit(transaction, changed, transaction_class)
        graph.kept_entries.update(kept)
        for each in erased:
            erasure.erase(graph, each)
        if idempotency is not None:
            self._replay.remember(idempotency)
            self.idempotency[idempotency["key"]] = idempotency
        self._view = self._latest()

    def ended(self, transaction: Transaction) -> None:
        """The transaction is over; the next may begin."""
        if self._transaction is transaction:
            self._transaction = None
            self._writer.release()

    def close(self) -> None:
        """End; a transaction still open is rolled back."""
        if self._transaction is not None:
            self._transaction.rollback()
        if self._disk is not None:
            self._disk.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # inside

    def _refuse_readonly(self) -> None:
        if self.readonly:
            raise KipError("ReadonlyViolation", "this memory was opened read-only")

    def _latest(self) -> View:
        history = self.graph.history
        return View(self.graph, self.environments, len(history), history.bounds(len(history)))

    def _commit(self, transaction: Transaction, changed: tuple[int, ...], transaction_class: str) -> None:
        graph, seq = self.graph, transaction.seq
        controls: tuple[Mapping[str, str], ...] = tuple(transaction.control_changes)
        if controls:
            graph.history.controls[seq] = controls
            for control in transaction.controls:
                graph.note_control(seq, control.kind, control.payload)
        for code, reference in transaction.inputs:
            graph.note_input(code, reference)
        bounds: Bounds = graph.counts()
        graph.history.append(transaction.at, bounds, changed, transaction.origin, transaction_class)

    def _apply(self, seq: int, payload: memoryview) -> None:
        """Replay one frame."""
        if seq:
            self._replay.apply(seq, payload)
        else:
            self._note(*frames.read_note(payload))

    def _note(self, kind: str, payload: Json) -> None:
        if kind == "schema":
            self.environments.add(0, frames.schema_change(payload))
        if kind == "policy":
            self.graph.controls.append((0, kind, payload))
        if kind == "idempotency":
            self._replay.remember(payload)
            self.idempotency[payload["key"]] = payload
        else:
            self.notes.setdefault(kind, []).append(payload)

    def _unnote(self, kind: str, mark: tuple[int, Entry]) -> None:
        self.environments.truncate(*mark)
        if kind == "policy":
            self.graph.controls.pop()
        if self.notes.get(kind):
            self.notes[kind].pop()
