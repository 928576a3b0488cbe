"""Work: one transaction being put together, from its begin to a Receipt or to nothing (§32).

A single statement, a MUTATE, an atomic batch and `nexus.transaction()` are all this. Every statement sees the
writes of the ones before it (§32.6); a statement that fails leaves no trace, and the transaction goes on or not
as its owner decides. Validation of the final state happens once, before the commit.

KML is imported where a write needs it: a process that only reads never loads it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

from kipql.errors import KipError
from kipql.govern.policy import CONTROL
from kipql.govern.writes import Gate, inherited
from kipql.lang import ast
from kipql.limits import Budget
from kipql.runtime.outcomes import NOTE, Binding, packed
from kipql.runtime.parsed import Parsed
from kipql.runtime.receipt import Receipt, committed, without_effect
from kipql.runtime.session import Session
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.model import Origin
    from kipql.mutate import WriteContext
    from kipql.schema.environment import Environment
    from kipql.store.transaction import Transaction
    from kipql.store.view import View


@dataclass(frozen=True, slots=True)
class Done:
    """What one statement of a transaction did, before it is known whether the transaction commits."""

    handles: Mapping[str, str]
    result: Json = None


class Work:
    """One transaction on a session's Space. Use it as a context manager: leaving it uncommitted rolls back.

    session, budget  whose transaction it is, and what all of it may cost

    Waits for another thread's transaction as long as the budget allows.

    Raises SerializationConflict when this thread has a transaction open (a rehearsal: UnsupportedIsolation, for it
    can never be inside), ReadonlyViolation when only reading is allowed (unless it is a rehearsal: that never commits).
    """

    __slots__ = (
        "_context", "_defined", "_gate", "_handles", "_open", "_rehearsal", "_result", "_statements", "_tx", "budget",
        "session",
    )  # fmt: skip

    def __init__(
        self, session: Session, budget: Budget, *, rehearsal: bool = False, origin: "Origin | None" = None
    ) -> None:
        from kipql import mutate

        if not rehearsal:
            session.refuse_writing()
        self.session = session
        self.budget = budget
        self._rehearsal = rehearsal
        self._handles: dict[str, str] = {}
        self._result: Json = None
        self._statements = 0
        self._defined = False
        self._open = False
        try:
            self._tx = session.space.begin(origin or session.principal.origin, budget)
            self._open = True
        except KipError as error:
            raise _never_inside(error) if rehearsal else error from None
        try:
            # Nobody else can write now, so what the writer may do can not change before the commit (§28.6).
            authority = session.authority
            self._gate = None if authority.full else Gate(authority, self._tx)
            self._context = mutate.WriteContext(budget=budget, principal=session.principal.id)
            if self._gate is not None and not authority.sees_all:
                self._context.seen = self._gate.seen
        except BaseException:
            self.abandon()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abandon()

    def ingest(self, entries: Sequence[Mapping[str, Json]]) -> dict[str, str]:
        """Mint the Evidence of `ingest.evidence` (§71.1): parameter name -> id."""
        from kipql import mutate

        if not entries:
            return {}
        with self._judged():
            return mutate.ingest(entries, self._tx, self._context)

    def write(self, parsed: Parsed, parameters: Mapping[str, object] | None) -> Done:
        """Run one mutation. Raises KipError and leaves the transaction as it was before the statement."""
        from kipql import mutate

        self._check_open()
        self._check_alone(parsed)
        given = parsed.bind(parameters, self.budget.limits)
        if self._gate is not None:
            self._gate.admit(parsed.node)
            parsed.admit(self.session.authority)
        with self._judged():
            outcome = mutate.run(parsed.node, self._tx, given, self._context)  # type: ignore[arg-type]  # a mutation
        self._handles.update(outcome.handles)
        self._result = outcome.result
        return Done(outcome.handles, outcome.result)

    def load(self, records: Iterable[Mapping[str, Json]], names: dict[str, str]) -> None:
        """Write records (`kipql.mutate.load`); `names` is read and extended."""
        from kipql import mutate

        self._check_open()
        with self._judged():
            mutate.load(records, self._tx, self._context, names)

    def view(self) -> "View":
        """Its own state so far, as its writer may see it (§32.6). Raises PreconditionFailed once it has ended."""
        self._check_open()
        return self._tx.view if self._gate is None else self._gate.seen(self._tx.view)

    def pending(self, done: Done, seq: int | None = None) -> Receipt:
        """The Receipt of a statement inside a transaction that has not committed."""
        tx = self._tx
        return Receipt(
            status="pending",
            space_id=self.session.space.id,
            snapshot_seq=tx.base.seq,
            space_seq=seq,
            schema_environment_version=tx.view.environment.version,
            principal_id=tx.origin.principal_id,
            handles=done.handles,
            result=done.result,
        )

    def governed(self, operation: "Callable[[Transaction, WriteContext], Json]") -> Json:
        """Run a host operation whose writes are judged like a statement's (§29); its answer, which is also the
        Receipt's result. Raises KipError and leaves the transaction as it was."""
        with self._whole(), self._judged():
            self._result = operation(self._tx, self._context)
        return self._result

    def protected(self, operation: "Callable[[Transaction, WriteContext], Json]") -> None:
        """Run a host operation on the transaction; what it answers is the Receipt's result. Raises KipError and
        leaves the transaction as it was."""
        with self._whole():
            self._result = operation(self._tx, self._context)

    @property
    def at(self) -> int:
        """The transaction time, an instant."""
        return self._tx.at

    @property
    def environment(self) -> "Environment":
        """The Schema Environment as the transaction has it so far."""
        return self._tx.view.environment

    def control(self, kind: str, payload: Json) -> None:
        """Add a control change: what packages are active, which policy holds (§36.1)."""
        self._check_open()
        self._tx.control(kind, payload)

    def commit(self, binding: Binding | None = None) -> Receipt:
        """Validate the final state, make it durable and answer the Receipt; the outcome is bound to the
        idempotency key. Raises KipError, and then nothing was written."""
        self._check_open()
        assert not self._rehearsal
        space, tx = self.session.space, self._tx
        self._settle()
        if not tx.seal():
            receipt = without_effect(
                tx.base.seq, space.id, tx.base.environment.version, tx.origin, self._handles, self._result
            )
            self.abandon()
            if binding is not None:
                space.store.note(NOTE, packed(binding, receipt))
                space.outcomes.keep(binding, receipt)
            return receipt
        retained = packed(binding, self.pending(Done(self._handles, self._result), tx.seq)) if binding else None
        commit = tx.commit(idempotency=retained, written=self._close)
        told = commit
        if self._gate is not None and not self.session.authority.sees_all:
            told = self._gate.seen(space.at(commit.seq)).commit(commit.seq)  # what is hidden moved no counter (§30.4)
        receipt = committed(told, space.id, self._handles, self._result)
        if binding is not None:
            space.outcomes.keep(binding, receipt)
        self._close()
        space.publish(commit)
        return receipt

    def _foreseen(self, changes: "Iterable[Mapping[str, Json]]") -> list[Json]:
        """The changes of a rehearsal as its writer may see them."""
        if self._gate is None or self.session.authority.sees_all:
            return list(changes)
        return list(self._gate.told(changes))

    def rehearse(self) -> dict[str, Json]:
        """What a commit would do now; then everything is rolled back (PREVIEW, dry run; §69.3, §69.4)."""
        self._check_open()
        tx = self._tx
        self._settle()
        changed = tx.seal()
        foreseen: dict[str, Json] = {
            "effect": "changes" if changed else "no_effect",
            "snapshot_seq": tx.base.seq,
            "schema_environment_version": tx.base.environment.version,
            "changes": self._foreseen(tx.changes) if changed else [],
            "handles": dict(self._handles),
        }
        self.abandon()
        return foreseen

    def abandon(self) -> None:
        """Roll back, unless the transaction has ended."""
        if self._open:
            try:
                self._tx.rollback()
            finally:
                self._close()

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """What is written inside is written whole or not at all."""
        self._check_open()
        mark = self._tx.savepoint()
        try:
            yield
        except BaseException:
            if self._open:
                self._tx.restore(mark)
            raise

    @contextmanager
    def _judged(self) -> Iterator[None]:
        """Judge what is written inside; what its writer may not write is taken back (§29)."""
        gate = self._gate
        if gate is None:
            yield
            return
        mark = self._tx.savepoint()
        try:
            yield
            gate.check(self._tx.written_since(mark))
            for refusal in self._context.hidden:
                raise refusal
        except BaseException as error:
            if self._open:
                self._tx.restore(mark)
            self._context.hidden.clear()
            if not isinstance(error, KipError):
                raise
            if error.code == "RequiresApproval" and gate.waiting is not None:
                self.session.space.governance.wait(gate.waiting)
            raise gate.neutral(error) from None

    def _settle(self) -> None:
        """Judge the final state, and add what Governance adds to it."""
        from kipql import mutate

        tx, labels = self._tx, self.session.space.governance.policy.labels
        for code, label in inherited(tx, labels) if labels.order else ():
            tx.put(code, replace(tx.view.record(code), classification=label))
        try:
            mutate.finish(tx, self._context)
        except KipError as error:
            raise error if self._gate is None else self._gate.neutral(error) from None
        for request in sorted(self._gate.used) if self._gate is not None else ():
            tx.control(CONTROL, {"operations": [{"op": "use", "request": request}]})

    def _check_alone(self, parsed: Parsed) -> None:
        defines = isinstance(parsed.node, ast.Define)
        if self._statements and (defines or self._defined):
            raise KipError(
                "InvalidSyntax",
                "a DEFINE is a transaction of its own (§20.16)",
                span=parsed.node.span,
                text=parsed.text,
            )
        self._statements += 1
        self._defined = defines

    def _close(self) -> None:
        if self._open:
            self._open = False
            self.session.space.end()

    def _check_open(self) -> None:
        if not self._open:
            raise KipError("PreconditionFailed", "this transaction has ended", hint="begin a new one")


def _never_inside(error: KipError) -> KipError:
    """A rehearsal inside a transaction is refused for good: to send the same request again would not help."""
    if error.code != "SerializationConflict":
        return error
    return KipError(
        "UnsupportedIsolation",
        "a mutation is tried out in a transaction of its own, and one is under way",
        hint="send it in a request of its own; options.dry_run tries a whole batch",
    )
