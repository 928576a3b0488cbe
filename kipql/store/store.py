"""The store of one Space: views for readers, one transaction at a time for the writer (specification §5, §32).

In memory it is the graph and its history. With a folder it has a journal too: what is committed is on disk
before it is visible. Opening takes the newest snapshot as it lies and replays the journal after it.
"""

import threading
from collections.abc import Callable, Collection, Mapping
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
from kipql.store.history import Commit
from kipql.store.journal import Tail
from kipql.store.snapshot import Snapshot
from kipql.store.transaction import Transaction
from kipql.store.view import View
from kipql.times import Clock, format_instant
from kipql.values import Json

DEFAULT_SPACE = "kip:space:default"
Written = Callable[[], None] | None
SNAPSHOT_AFTER = 8 << 20
_SHARE = 4  # a large Space waits until the journal has this part of its snapshot's size
_AT_CLOSE = 32  # and at close this part of what it would wait for is enough


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
        snapshot_after: int | None = SNAPSHOT_AFTER,
    ) -> None:
        self.space_id = space_id
        self.clock = clock
        self.limits = limits
        self.readonly = readonly
        self._schema = schema
        self._snapshot_after = snapshot_after
        self._writer = threading.Lock()
        self._showing = threading.Lock()
        self._transaction: Transaction | None = None
        self._disk: disk.Disk | None = None
        self._unerased = False  # whether a snapshot on disk still holds what a purge erased
        self._begin_empty()
        if path is not None:
            self._disk = disk.Disk(path, files or Files(), durability, limits.frame, readonly=readonly)
            self._load(self._disk)
        self.newest = self._latest()
        self._keep_up()

    @property
    def tail(self) -> Tail | None:
        """The torn tail that was found when opening, if any; a writer has cut it."""
        return self._disk.tail if self._disk is not None else None

    @property
    def head(self) -> int:
        """The last committed sequence, 0 before the first."""
        return self.newest.seq

    def view(self, seq: int | None = None) -> View:
        """The Space at a sequence, the head by default. Raises HistoricalSnapshotUnavailable."""
        head = self.newest
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
        self.check_process()
        self._writer.acquire()
        try:
            if self._disk is not None and not self.readonly:
                self._disk.check()
            self._transaction = Transaction(self, self._latest(), max(at, self.last_instant()), origin)
        except BaseException:
            self._writer.release()
            raise
        return self._transaction

    def check_process(self) -> None:
        """Raises MemoryUnavailable in a forked child, where nobody would let go of a lock that is held."""
        if self._disk is not None and not self.readonly:
            self._disk.check_process()

    def last_instant(self) -> int:
        """The instant of the last commit, of one that waits for the disk too; 0 before the first."""
        history = self.graph.history
        return history.at(len(history)) if len(history) else 0

    def note(self, kind: str, payload: Json) -> None:
        """Record something beside the sequence, durably: a retained outcome, set-up packages before the first commit.

        kind     "schema" ({packages}), "policy" (an artifact, before the first commit), "idempotency" (an object
                 with `key`), or whatever the caller keeps
        """
        self._refuse_readonly()
        self.check_process()
        if kind in ("schema", "policy") and len(self.graph.history):
            raise KipError("InternalError", f"after the first commit, a {kind} change takes a sequence")
        mark = self.environments.mark()
        self._note(kind, payload)
        view = self._latest()  # what is written by now is durable when the note is
        try:
            if self._disk is not None:
                self._disk.append(0, frames.note(kind, payload))
        except KipError:
            self._unnote(kind, mark)
            raise
        self._show(view)

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
            "changes": entries,
        }
        if commit.control_changes:
            found["control_changes"] = [dict(change) for change in commit.control_changes]
        found["extensions"] = {"anda/transition": {"snapshot_seq": commit.snapshot_seq, "status": "committed"}}
        return found

    def snapshot(self) -> int:
        """Write a snapshot of the head and cut the journal down to what follows it; the snapshot's size in bytes.

        Writers wait, readers go on. Raises UnsupportedCapability in memory, ReadonlyViolation, MemoryUnavailable.
        """
        self._refuse_readonly()
        if self._disk is None:
            raise KipError("UnsupportedCapability", "a memory without a folder has no snapshots")
        self.check_process()
        with self._writer:
            return self._write_snapshot(self._disk)

    def settle(self) -> None:
        """See that the files say every commit and nothing that was erased, for who copies them. The caller keeps
        writers out. Raises MemoryUnavailable."""
        if self._disk is None:
            return
        if self._unerased and self.readonly:
            raise KipError(
                "MemoryUnavailable",
                "a snapshot still holds what a purge erased",
                hint="open the memory writable once: that completes the purge",
            )
        if self._unerased:
            self.snapshot()
        self._disk.flush()

    def digest(self, view: View | None = None) -> str:
        """`sha256:...` over every element in id order, canonical JSON, `_system` included."""
        return digest.digest(view or self.view())

    def control_version(self, kind: str) -> int:
        """How many control changes of a kind were committed."""
        return sum(change["kind"] == kind for changes_ in self.graph.history.controls.values() for change in changes_)

    # for the transaction

    def publish(self, transaction: Transaction, idempotency: Json, transaction_class: str, written: Written) -> None:
        """Make a sealed transaction durable, then visible.

        One that only writes elements ends when it is written, so that the next can begin while it waits for the disk:
        their syncs become one. `written` is called then. Nothing that depends on it can be durable without it,
        because frames follow each other; no reader sees it before it is.
        """
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
            elif idempotency is None and not transaction.controls:
                self._publish_shared(self._disk, transaction, payload, (changed, transaction_class), written)
                return
            else:
                self._disk.append(seq, payload)
        self._commit(transaction, changed, transaction_class)
        graph.kept_entries.update(kept)
        for each in erased:
            erasure.erase(graph, each)
        if idempotency is not None:
            self._replay.remember(idempotency)
        self._show(self._latest())
        self._unerased |= bool(erased) and self._disk is not None and self._disk.has_snapshots()
        self._keep_up()

    def _publish_shared(
        self,
        folder: disk.Disk,
        transaction: Transaction,
        payload: bytes,
        what: tuple[tuple[int, ...], str],
        written: Written,
    ) -> None:
        mark = folder.write(transaction.seq, payload)
        self._commit(transaction, *what)
        view = self._latest()
        self._keep_up()
        transaction.end()
        if written is not None:
            written()
        folder.sync(mark)
        self._show(view)

    def _show(self, view: View) -> None:
        """Let readers see a commit that is durable, and with it those before."""
        with self._showing:
            if view.seq >= self.newest.seq:
                self.newest = view

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
            self._keep_up(closing=True)
            self._disk.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # inside

    def _begin_empty(self) -> None:
        self.graph = Graph(self.space_id)
        self.environments = Environments(self.graph.symbols, self._schema)
        self.environments.add(0, {})
        self.notes: dict[str, list[Json]] = {}
        self._replay = frames.Replay(self.graph, self.environments)
        self.idempotency = self._replay.idempotency

    def _load(self, folder: disk.Disk) -> None:
        for found in folder.snapshots():
            try:
                if found is not None:
                    self._take_up(found)
            except KipError as error:
                if error.code != "MemoryDamaged":
                    folder.close()
                    raise
                folder.passed_over(error)
                self._begin_empty()
                continue
            before = len(self.graph.kept_entries)
            folder.load(found, self._apply)
            self._unerased = found is not None and len(self.graph.kept_entries) > before
            return

    def _take_up(self, found: Snapshot) -> None:
        from kipql.store.thaw import Thaw

        thaw = Thaw(found, self.graph)
        thaw.apply(self.environments)
        self.notes = thaw.notes
        self._replay.idempotency = self.idempotency = thaw.outcomes

    def _write_snapshot(self, folder: disk.Disk) -> int:
        from kipql.store.freeze import freeze

        sections = freeze(self.graph, self.notes, self.idempotency)
        size = folder.snapshot(len(self.graph.history), sections)
        self._unerased = False
        return size

    def _keep_up(self, *, closing: bool = False) -> None:
        """Write a snapshot when one is due. The commit stands whatever happens, so a failure is only told."""
        folder = self._disk
        if folder is None or self.readonly or folder.is_forked or not (self._unerased or self._is_due(folder, closing)):
            return
        try:
            self._write_snapshot(folder)
        except Exception as error:
            import logging

            known = isinstance(error, KipError)
            logging.getLogger("kipql").error(
                "%s: a snapshot could not be written: %s", self.space_id, error, exc_info=not known
            )

    def _is_due(self, folder: disk.Disk, closing: bool) -> bool:
        if self._snapshot_after is None:
            return False
        wait = max(self._snapshot_after, folder.snapshot_size // _SHARE)
        return folder.pending > (wait // _AT_CLOSE if closing else wait)

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
        graph.committed(transaction.at, changed, transaction.origin, transaction_class)

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
        else:
            self.notes.setdefault(kind, []).append(payload)

    def _unnote(self, kind: str, mark: tuple[int, Entry]) -> None:
        self.environments.truncate(*mark)
        if kind == "policy":
            self.graph.controls.pop()
        if self.notes.get(kind):
            self.notes[kind].pop()
