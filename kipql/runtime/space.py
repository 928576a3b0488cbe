"""One open Space: its store, and what the runtime keeps beside it (§5).

Reading takes no lock: the view of the head is made once per commit and shared. Writing is one transaction at a
time; the lock is held from its begin to its end, so a read-only caller never waits.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, RLock
from typing import TYPE_CHECKING
from weakref import WeakMethod

from kipql.belief.control import Control
from kipql.cursors import Cursors, new_key
from kipql.errors import KipError
from kipql.govern.state import Governance
from kipql.limits import Budget
from kipql.model import Origin
from kipql.runtime.outcomes import Outcomes
from kipql.times import Clock, now
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.history import Commit
    from kipql.store.store import Store
    from kipql.store.transaction import Transaction
    from kipql.store.view import View

_POLL = 0.05  # seconds between looks at the clock and the cancel flag while another thread writes
CURSOR_KEY = "cursor_key"

Subscriber = Callable[[dict[str, Json]], None]


class Listeners:
    """Methods of objects, which are told as long as the objects live."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: set[WeakMethod[Callable[[], None]]] = set()

    def add(self, method: Callable[[], None]) -> None:
        """Tell it from now on."""
        self._known.add(WeakMethod(method, self._known.discard))

    def tell(self) -> None:
        """Call every one."""
        for known in tuple(self._known):
            if (method := known()) is not None:
                method()


class Space:
    """A store with its cursors, retained outcomes and subscribers.

    again  opens the store of a reader once more, where following the writer takes it
    """

    __slots__ = (
        "_again", "_clock", "_lock", "_order", "_process", "_still", "_subscribers", "_telling", "_told",
        "_untold", "_writing", "closed", "control", "cursors", "governance", "outcomes", "replaced", "store",
    )  # fmt: skip

    def __init__(self, store: "Store", clock: Clock | None = None, again: "Callable[[], Store] | None" = None) -> None:
        self.store = store
        self.control = Control(store.graph)
        self._take(store)
        self._again = again
        self.replaced = Listeners()  # told when the store was opened anew
        self._process = os.getpid()
        self._still = 0  # how many keep writers out
        self._subscribers: list[Subscriber] = []
        self._clock = clock
        self._lock = RLock()
        self._writing = False
        self.closed = False
        self._order = Lock()
        self._untold: deque[int] = deque()
        self._told = store.head  # commits whose envelopes were handed out, or that nobody subscribed to
        self._telling = False

    @property
    def id(self) -> str:
        """The Space's id."""
        return self.store.space_id

    def now(self) -> int:
        """The clock, read once: what a belief without FOR TIME is about."""
        return now(self._clock)

    def view(self) -> "View":
        """The head; the same object until the next commit. Raises MemoryUnavailable once it is closed."""
        if self.closed:
            self._check_open()
        return self.store.newest

    def at(self, seq: int) -> "View":
        """The Space as it was after commit `seq`. Raises HistoricalSnapshotUnavailable beyond the head."""
        return self.store.view(seq)

    def look(self) -> None:
        """Of a reader: take up what a writer committed since the last look. A dump, a backup or a rehearsal that is
        under way keeps the Space as it is; so does a fork, and a folder that is gone.

        Raises MemoryDamaged, MemoryFormatUnsupported, MemoryUnavailable.
        """
        if self.closed:
            self._check_open()
        if self._process != os.getpid():
            return  # a thread of the parent may have been in the middle of it
        while not self._lock.acquire(timeout=_POLL):
            if self._writing or self._still:
                return
        try:
            if not (self._writing or self._still):
                self._follow()
        except FileNotFoundError:
            return
        except OSError as error:
            raise KipError("MemoryUnavailable", f"the writer can not be followed: {error.strerror or error}") from error
        finally:
            self._lock.release()
        if self.store.head > self._told:
            self.publish(self.store.view().commit(self.store.head))

    def _follow(self) -> None:
        store, before = self.store, self.store.newest
        if store.follow():
            if store.newest is not before:
                self.outcomes = Outcomes(store)
            return
        assert self._again is not None
        fresh = self._again()
        pending = self.governance.pending
        self.control.follow(fresh.graph)
        self._take(fresh)
        self.governance.pending = pending
        self._told = min(self._told, fresh.head)
        store.newest = fresh.newest  # who knows the old store by its head looks again
        store.close()
        self.replaced.tell()

    def _take(self, store: "Store") -> None:
        """Everything that is made of a store; the store itself last, for who reads meanwhile."""
        self.cursors = Cursors(_cursor_key(store))
        self.outcomes = Outcomes(store)
        self.governance = Governance(store.graph.controls, lambda: store.newest.environment)
        self.store = store

    def set_up(self, artifacts: list[dict[str, Json]]) -> None:
        """Activate packages before the first commit: no sequence, environment version 1 (§20.8)."""
        with self._lock:
            self.store.note("schema", {"packages": artifacts})

    def set_up_policy(self, artifact: dict[str, Json]) -> None:
        """Install a policy before the first commit: it takes no sequence and is in force from the start."""
        with self._lock:
            self.store.note("policy", artifact)

    def begin(self, origin: Origin, budget: Budget | None = None) -> "Transaction":
        """Start the one transaction, waiting for another thread's to end, as long as `budget` allows.

        Raises SerializationConflict when this thread has one open already, ReadonlyViolation on a store that
        was opened read-only, ExecutionTimeout, MemoryUnavailable once it is closed.
        """
        self.store.check_process()
        held, transaction = False, None
        try:  # whatever goes wrong from here on, no lock is kept
            while not (held := self._lock.acquire(timeout=_POLL)):
                if budget is not None:
                    budget.check()
            self._check_open()
            if self._writing:
                raise KipError(
                    "SerializationConflict",
                    "a transaction is open in this thread",
                    hint="inside `with nexus.transaction() as tx`, write with tx.execute",
                )
            if self._still:  # and this thread is the one that keeps it still, since it has the lock
                raise KipError(
                    "SerializationConflict",
                    "a dump or a backup is under way in this thread",
                    hint="write when it is done",
                )
            transaction = self.store.begin(self.moment(), origin)
            self._writing = True
            return transaction
        except BaseException:
            if transaction is not None:
                transaction.rollback()
            if held:
                self._lock.release()
            raise

    def begin_at_once(self) -> int | None:
        """The transaction time of a write that is done at once; None when it would have to wait, or may not begin."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            if not (self.closed or self._writing or self._still) and self.store.begin_at_once():
                try:
                    at = self.moment()
                    self._writing = True
                    return at
                except BaseException:
                    self.store.end_at_once()
                    raise
        except BaseException:
            self._lock.release()
            raise
        self._lock.release()
        return None

    def end_at_once(self) -> None:
        """What `begin_at_once` began is over."""
        self.store.end_at_once()
        self.end()

    def end(self) -> None:
        """The transaction is committed or rolled back."""
        self._writing = False
        self._lock.release()

    def close(self) -> None:
        """Let go of the store; a transaction that is open is rolled back."""
        self.closed = True
        self.store.close()

    @contextmanager
    def still(self) -> Iterator[None]:
        """Keep writers out for a while; readers go on."""
        with self._lock:
            if self._writing:
                raise KipError("SerializationConflict", "a transaction is open in this thread", hint="end it first")
            self._still += 1
            try:
                yield
            finally:
                self._still -= 1

    def snapshot(self) -> int:
        """Write a snapshot beside what is committed meanwhile; its size. Raises as `Store.snapshot`, and
        SerializationConflict inside a transaction, which it would wait for."""
        with self.still():
            pass
        return self.store.snapshot()

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Tell of every commit from now on; the function that ends it, which may be called again."""
        self._subscribers.append(subscriber)

        def end() -> None:
            if subscriber in self._subscribers:
                self._subscribers.remove(subscriber)

        return end

    def tell(self, seq: int) -> None:
        """`publish` for a commit that nobody has in hand."""
        if self._subscribers:
            self.publish(self.store.view().commit(seq))
        elif seq > self._told:
            self._told = seq

    def publish(self, commit: "Commit") -> None:
        """Hand the change envelope of a commit to the subscribers (§36). A subscriber's own failure is logged:
        the commit stands, and the caller who made it is not to blame."""
        if not self._subscribers:
            self._told = max(self._told, commit.seq)
            return
        with self._order:  # commits that became durable together are told in order, one at a time
            self._untold.extend(range(self._told + 1, commit.seq + 1))
            self._told = max(self._told, commit.seq)
            if self._telling:
                return
            self._telling = True
        while (seq := self._next_untold()) is not None:
            self._tell(seq)

    def _next_untold(self) -> int | None:
        with self._order:
            if not self._untold:
                self._telling = False
                return None
            return self._untold.popleft()

    def _tell(self, seq: int) -> None:
        commit = self.store.view().commit(seq)
        for subscriber in tuple(self._subscribers):
            try:
                subscriber(self.store.envelope(commit))  # its own: what one does to it no other sees
            except Exception:
                import logging

                logging.getLogger("kipql").exception("a subscriber failed on commit %s", commit.tx_id)

    def _check_open(self) -> None:
        if self.closed:
            raise KipError("MemoryUnavailable", "this memory is closed", hint="open it again")

    def moment(self) -> int:
        """The transaction time of a write that began now."""
        # Transaction time never runs backwards, whatever the clock does: `AT TIME` relies on it (§48).
        return max(now(self._clock), self.store.last_instant())


def _cursor_key(store: "Store") -> bytes:
    """The key that authenticates cursors, kept with the Space so that they outlive a session (§88.4)."""
    kept = store.notes.get(CURSOR_KEY)
    if kept:
        return bytes.fromhex(kept[-1])
    key = new_key()
    if not store.readonly:
        store.note(CURSOR_KEY, key.hex())
    return key
