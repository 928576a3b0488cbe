"""One open Space: its store, and what the runtime keeps beside it (§5).

Reading takes no lock: the view of the head is made once per commit and shared. Writing is one transaction at a
time; the lock is held from its begin to its end, so a read-only caller never waits.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, RLock
from typing import TYPE_CHECKING

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


class Space:
    """A store with its cursors, retained outcomes and subscribers."""

    __slots__ = (
        "_clock", "_closed", "_lock", "_order", "_subscribers", "_telling", "_told", "_untold", "_writing", "control",
        "cursors", "governance", "outcomes", "store",
    )  # fmt: skip

    def __init__(self, store: "Store", clock: Clock | None = None) -> None:
        self.store = store
        self.cursors = Cursors(_cursor_key(store))
        self.outcomes = Outcomes()
        self.outcomes.load(store)
        self.control = Control(store.graph)
        self.governance = Governance(store.graph.controls, lambda: store.view().environment)
        self._subscribers: list[Subscriber] = []
        self._clock = clock
        self._lock = RLock()
        self._writing = False
        self._closed = False
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
        if self._closed:
            self._check_open()
        return self.store.newest

    def at(self, seq: int) -> "View":
        """The Space as it was after commit `seq`. Raises HistoricalSnapshotUnavailable beyond the head."""
        return self.store.view(seq)

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
        while not self._lock.acquire(timeout=_POLL):
            if budget is not None:
                budget.check()
        try:
            self._check_open()
            if self._writing:
                raise KipError(
                    "SerializationConflict",
                    "a transaction is open in this thread",
                    hint="inside `with nexus.transaction() as tx`, write with tx.execute",
                )
            transaction = self.store.begin(self.moment(), origin)
        except BaseException:
            self._lock.release()
            raise
        self._writing = True
        return transaction

    def end(self) -> None:
        """The transaction is committed or rolled back."""
        self._writing = False
        self._lock.release()

    def close(self) -> None:
        """Let go of the store; a transaction that is open is rolled back."""
        self._closed = True
        self.store.close()

    @contextmanager
    def still(self) -> Iterator[None]:
        """Keep writers out for a while; readers go on."""
        with self._lock:
            if self._writing:
                raise KipError("SerializationConflict", "a transaction is open in this thread", hint="end it first")
            yield

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Tell of every commit from now on; the function that ends it, which may be called again."""
        self._subscribers.append(subscriber)

        def end() -> None:
            if subscriber in self._subscribers:
                self._subscribers.remove(subscriber)

        return end

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
        if self._closed:
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
