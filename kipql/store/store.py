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
from kipql.model import ENGINE, PROPOSITION, Origin
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
_SMALL = 20_000  # elements whose snapshot a commit does not leave to a thread


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
        self._purged_at = self._clean_from = (
            0  # the last purge that a snapshot held, and the newest snapshot's sequence
        )
        self._snapshots = threading.RLock()  # one is written at a time
        self._behind: threading.Thread | None = None  # that writes one
        self._stopped = False
        self._suspect: object = None  # the snapshot that was opened without a look at every number
        self._files = files or Files()
        self._half = False  # whether what a writer committed was taken up in part
        self._begin_empty()
        if path is not None:
            self._disk = disk.Disk(path, self._files, durability, limits.frame, readonly=readonly)
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
        return head.at(seq)

    def follow(self) -> bool:
        """Opened read-only: take up what a writer committed since, in place; False when that takes a new Store.

        Reads go on meanwhile, and the head is replaced last. While a transaction is open nothing happens. Raises
        MemoryDamaged, and OSError where the folder can not be read.
        """
        folder = self._disk
        if folder is None or not self.readonly or not self._writer.acquire(blocking=False):
            return True
        try:
            if self._half or not folder.changed():
                return not self._half
            self._half = True  # what fails in the middle leaves rows that no view sees, and no frame follows
            kept = len(self.graph.kept_entries)
            followed = folder.follow(len(self.graph.history), self.last_instant(), self._apply)
            self._half = False
            if len(self.graph.kept_entries) > kept:
                self._purged_at = len(self.graph.history)
            self._clean_from = max(self._clean_from, folder.continued)
            if followed:
                self._show(self._latest())
            return followed
        finally:
            self._writer.release()

    def begin(self, at: int, origin: Origin = ENGINE) -> Transaction:
        """Start the one transaction; waits while another thread has one.

        at      the transaction time, read once from the clock (an instant)
        origin  who writes, as the engine saw

        A store opened read-only can begin one too, to roll it back (PREVIEW, §69.3): it can not commit.
        """
        self.check_process()
        held = False
        try:
            held = self._writer.acquire()
            if self._stopped:
                raise KipError(
                    "MemoryUnavailable",
                    "a transaction could not be undone; this session writes nothing more",
                    hint="open the memory again, and run `kipql doctor`",
                )
            if self._disk is not None and not self.readonly:
                self._disk.check()
            self._transaction = Transaction(self, self._latest(), max(at, self.last_instant()), origin)
            return self._transaction
        except BaseException:
            if held:
                self._transaction = None
                self._writer.release()
            raise

    def stop_writing(self) -> None:
        """Begin no transaction any more: what one wrote is still in the graph. Readers end before it."""
        self._stopped = True

    def begin_at_once(self) -> bool:
        """Keep other writers out for a write that needs no Transaction; False where it does, or would have to wait."""
        return self._disk is None and not self.readonly and self._writer.acquire(blocking=False)

    def end_at_once(self) -> None:
        """Let the next writer in."""
        self._writer.release()

    def add_at_once(self, at: int, origin: Origin) -> int:
        """What was appended to the graph since the head is the next commit, and visible; its sequence."""
        graph, head = self.graph, self.newest
        bounds, seq = graph.counts(), head.seq + 1
        graph.slots.settled = bounds[PROPOSITION]
        graph.history.append(at, bounds, (), origin, "cognitive")
        self._show(head.after(seq, bounds))
        return seq

    def undo_at_once(self, base: View, literals: int) -> None:
        """Take back what was appended to the graph since the head, `base`, unless it is a commit by now."""
        history = self.graph.history
        history.trim()
        if len(history) > base.seq:
            self._show(self._latest())
            return
        self.graph.truncate(base.bounds)
        self.graph.literals.truncate(literals)

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

        Writers wait only until the tables are copied, and while the journal is exchanged. Raises UnsupportedCapability
        in memory, ReadonlyViolation, MemoryUnavailable.
        """
        self._refuse_readonly()
        if self._disk is None:
            raise KipError("UnsupportedCapability", "a memory without a folder has no snapshots")
        self.check_process()
        return self._write_snapshot(self._disk)

    def settle(self) -> None:
        """See that the files say every commit and nothing that was erased, for who copies them. The caller keeps
        writers out. Raises MemoryUnavailable."""
        if self._disk is None:
            return
        if self.readonly and self._unerased and self._disk.has_snapshots():
            raise KipError(
                "MemoryUnavailable",
                "a snapshot still holds what a purge erased",
                hint="open the memory writable once: that completes the purge",
            )
        if self._unerased:
            self.snapshot()
        self._disk.flush()

    def digest(self, view: View | None = None, look: Callable[[], None] | None = None) -> str:
        """`sha256:...` over every element in id order, canonical JSON, `_system` included."""
        return digest.digest(view or self.view(), look)

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
        place = self._disk.written if self._disk is not None else 0
        try:
            self._publish(transaction, idempotency, transaction_class, written)
        except BaseException:
            self._broke_off(transaction, place)
            raise

    def _publish(self, transaction: Transaction, idempotency: Json, transaction_class: str, written: Written) -> None:
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
        if erased and self._disk is not None and self._disk.has_snapshots():
            self._purged_at = seq
        self._over(transaction, written)
        self._keep_up()

    def _broke_off(self, transaction: Transaction, place: int) -> None:
        """Something came in the middle of a commit that nobody expects: an interrupt, no memory, a defect. In memory
        the commit is made once it is in the history; on disk, once its frame is written, what the graph says may not
        be what the journal says, so nothing is written after it."""
        history = self.graph.history
        history.trim()
        if self.newest.seq >= transaction.seq:
            transaction.end()
            return
        if self._disk is not None and self._disk.written != place:
            self._disk.give_up("a commit was interrupted")
        if len(history) >= transaction.seq:
            if self._disk is None:
                self._show(self._latest())
            transaction.end()

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
        self._over(transaction, written)
        folder.sync(mark)
        self._show(view)
        self._keep_up()

    def _over(self, transaction: Transaction, written: Written) -> None:
        """The next transaction may begin."""
        transaction.end()
        if written is not None:
            written()

    @property
    def _unerased(self) -> bool:
        """Whether a snapshot on disk still holds what a purge erased."""
        return self._purged_at > self._clean_from

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
            if self._behind is not None and not self._disk.is_forked:
                self._behind.join()
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
            self._clean_from = found.seq if found is not None else 0
            if found is not None and len(self.graph.kept_entries) > before:
                self._purged_at = len(self.graph.history)
            return

    def _take_up(self, found: Snapshot) -> None:
        from kipql.store.thaw import Thaw

        thaw = Thaw(found, self.graph)
        thaw.apply(self.environments)
        if thaw.believed:
            from kipql.store.suspects import Suspect

            self._suspect = Suspect(self._files, found.path, self.graph)
        self.notes = thaw.notes
        self._replay.idempotency = self.idempotency = thaw.outcomes

    def _write_snapshot(self, folder: disk.Disk) -> int:
        """Copy the tables, which keeps writers out; then write them beside what is committed meanwhile."""
        from kipql.store.freeze import freeze
        from kipql.store.frozen import still
        from kipql.store.still import still_graph

        with self._snapshots:
            while True:
                with self._writer:
                    place = folder.place(len(self.graph.history))
                    graph, outcomes = still_graph(self.graph), still(self.idempotency)
                    notes = {kind: list(kept) for kind, kept in self.notes.items()}
                size = folder.snapshot(place, freeze(graph, notes, outcomes))
                if size is not None:  # no purge came between
                    self._clean_from = place.base.seq
                    return size

    def _keep_up(self, *, closing: bool = False) -> None:
        """Write a snapshot when one is due: after a purge, at close and of a small Space here, else beside the writers.
        The commit stands whatever happens, so a failure is only told."""
        folder = self._disk
        if folder is None or self.readonly or folder.is_forked or not (self._unerased or self._is_due(folder, closing)):
            return
        if self._unerased or closing or sum(self.graph.counts()) <= _SMALL:
            self._try_snapshot(folder, closing)
        elif self._behind is None or not self._behind.is_alive():
            self._behind = threading.Thread(target=self._try_snapshot, args=(folder,), name="kipql snapshot")
            self._behind.start()

    def _try_snapshot(self, folder: disk.Disk, closing: bool = False) -> None:
        try:
            with self._snapshots:
                if self._unerased or self._is_due(folder, closing):  # another thread may have made it meanwhile
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
