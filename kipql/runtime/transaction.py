"""`with nexus.transaction() as tx`: several statements, one commit (§32)."""

import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from kipql.errors import KipError
from kipql.limits import Limits
from kipql.runtime.guard import reraise
from kipql.runtime.parsed import Parsed
from kipql.runtime.reading import read_inside
from kipql.runtime.receipt import Receipt
from kipql.runtime.result import Result
from kipql.runtime.session import Session
from kipql.runtime.work import Work


class Transaction:
    """One transaction over several calls. It reads its own writes and takes one sequence.

    Leaving the block commits; an exception inside rolls everything back. A statement that fails leaves no
    trace of itself, so code that catches its KipError can go on. The limits of time and work are those of the
    whole transaction. It belongs to the thread that entered it.

    receipt  the Receipt, once the block has been left

    >>> import kipql
    >>> nexus = kipql.open()
    >>> with nexus.transaction() as tx:
    ...     ada = tx.execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }').handles["a"]
    ...     seen = tx.query('FIND(?p.name) WHERE { ?p {id: :id} }', {"id": ada}).scalar()
    >>> seen, tx.receipt.space_seq, nexus.space_seq
    ('Ada', 1, 1)
    """

    __slots__ = ("_cancel", "_limits", "_owner", "_session", "_work", "receipt")

    def __init__(self, session: Session, limits: Limits | None = None, cancel: threading.Event | None = None) -> None:
        self._session = session
        self._limits = limits
        self._cancel = cancel
        self._work: Work | None = None
        self._owner: int | None = None
        self.receipt: Receipt | None = None

    def __enter__(self) -> Self:
        if self._work is not None or self.receipt is not None:
            raise KipError("PreconditionFailed", "a transaction is entered once", hint="call nexus.transaction() again")
        try:
            self._work = Work(self._session, self._session.budget(self._limits, self._cancel))
        except Exception as failure:
            reraise(failure)
        self._owner = threading.get_ident()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._work is None:
            return
        self._check_thread()
        work, self._work = self._work, None
        try:
            if error is None:
                self.receipt = work.commit()
        except Exception as failure:
            reraise(failure)
        finally:
            work.abandon()

    def execute(self, text: str, parameters: Mapping[str, object] | None = None) -> Result | Receipt:
        """Run one statement: a Result for a read; for a write a Receipt with status "pending", whose handles
        hold once the transaction commits. Raises KipError, and then the statement left no trace."""
        work = self._under_way()
        try:
            parsed = self._parse(text)
            if not parsed.mutation:
                return read_inside(work, parsed, parameters)
            return work.pending(work.write(parsed, parameters))
        except Exception as error:
            reraise(error, text)

    def query(self, text: str, parameters: Mapping[str, object] | None = None) -> Result:
        """Run one KQL or META statement on the transaction's own state. Raises KipError."""
        work = self._under_way()
        try:
            return read_inside(work, self._parse(text), parameters)
        except Exception as error:
            reraise(error, text)

    def rollback(self) -> None:
        """Give up everything now; leaving the block then does nothing."""
        self._check_thread()
        work, self._work = self._work, None
        if work is not None:
            work.abandon()

    def _parse(self, text: str) -> Parsed:
        return self._session.statements.parse(text, self._session.limits.narrowed(self._limits))

    def _under_way(self) -> Work:
        if self._work is None:
            raise KipError("PreconditionFailed", "this transaction is not under way", hint="use it inside its block")
        self._check_thread()
        return self._work

    def _check_thread(self) -> None:
        # The writer's lock can only be given back by the thread that took it.
        if self._work is not None and self._owner != threading.get_ident():
            raise KipError(
                "PreconditionFailed",
                "this transaction belongs to another thread",
                hint="begin and end it in one thread; nexus.transaction() in each thread waits for its turn",
            )
