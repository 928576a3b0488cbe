"""A connection: a memory as PEP 249 sees one.

A transaction begins with the first write and ends with `commit` or `rollback`; reads before it read the head, reads
inside it see its writes. It holds the place of the one writer, so it should be short; all of its work is one commit.
DEFINE is a transaction of its own (§20.16): it commits at once, and fails inside another one.
"""

import threading
from types import TracebackType
from typing import Any, ClassVar, Self

import kipql
from kipql import lang
from kipql.fronts.dbapi import errors
from kipql.fronts.dbapi.cursor import Cursor
from kipql.fronts.dbapi.errors import mapping, misuse
from kipql.lang import ast
from kipql.nexus import Nexus
from kipql.runtime.receipt import Receipt
from kipql.runtime.result import Result
from kipql.runtime.transaction import Transaction


class Connection:
    """A memory. Made by `connect`; as a context manager it commits, or rolls back after an exception.

    receipt     the Receipt of the last commit
    autocommit  every write is a transaction of its own
    """

    Warning: ClassVar = errors.Warning
    Error: ClassVar = errors.Error
    InterfaceError: ClassVar = errors.InterfaceError
    DatabaseError: ClassVar = errors.DatabaseError
    DataError: ClassVar = errors.DataError
    OperationalError: ClassVar = errors.OperationalError
    IntegrityError: ClassVar = errors.IntegrityError
    InternalError: ClassVar = errors.InternalError
    ProgrammingError: ClassVar = errors.ProgrammingError
    NotSupportedError: ClassVar = errors.NotSupportedError

    def __init__(self, nexus: Nexus, *, owned: bool, autocommit: bool = False) -> None:
        self._nexus: Nexus | None = nexus
        self._owned = owned
        self._transaction: Transaction | None = None
        self._thread = 0
        self.autocommit = autocommit
        self.receipt: Receipt | None = None

    @property
    def nexus(self) -> Nexus:
        """The memory itself. Raises InterfaceError when the connection is closed."""
        if self._nexus is None:
            raise misuse("the connection is closed")
        return self._nexus

    @property
    def in_transaction(self) -> bool:
        """Whether there are writes that no commit has made durable yet."""
        return self._transaction is not None

    def cursor(self) -> Cursor:
        """A cursor on this connection. Raises InterfaceError when it is closed."""
        _ = self.nexus
        return Cursor(self)

    def execute(self, operation: str, parameters: Any = None) -> Cursor:
        """A new cursor that has executed this."""
        return self.cursor().execute(operation, parameters)

    def commit(self) -> None:
        """Make the writes of the transaction durable, in one commit. Raises Error, and then nothing was written."""
        transaction = self._ended()
        if transaction is not None:
            with mapping():
                transaction.__exit__(None, None, None)
            self.receipt = transaction.receipt

    def rollback(self) -> None:
        """Give up the writes of the transaction."""
        transaction = self._ended()
        if transaction is not None:
            with mapping():
                transaction.rollback()

    def _ended(self) -> Transaction | None:
        """The transaction, which is over whatever comes of it. Raises InterfaceError in another thread than its own:
        only the one that took the writer's place can give it back."""
        _ = self.nexus
        if self._transaction is not None and self._thread != threading.get_ident():
            raise misuse("the transaction belongs to another thread", "end it in the thread that began it")
        transaction, self._transaction = self._transaction, None
        return transaction

    def close(self) -> None:
        """Roll back what is not committed, and close the memory unless it was given as a Nexus."""
        if self._nexus is None:
            return
        self.rollback()
        nexus, self._nexus = self._nexus, None
        if self._owned:
            nexus.close()

    def run(self, text: str, parameters: Any) -> tuple[Result | Receipt, str]:
        """The answer to one statement, and its language; what cursors call."""
        nexus = self.nexus
        node = lang.parse(text)
        language = lang.classify(node)
        if language != "KML":
            return (self._transaction or nexus).query(text, parameters), language
        if self._transaction is None and (self.autocommit or isinstance(node, ast.Define)):
            answer = nexus.execute(text, parameters)
            assert isinstance(answer, Receipt)
            self.receipt = answer
            return answer, language
        if self._transaction is None:
            self._transaction, self._thread = nexus.transaction().__enter__(), threading.get_ident()
        return self._transaction.execute(text, parameters), language

    def __enter__(self) -> Self:
        _ = self.nexus
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.commit()
        else:
            self.rollback()


def connect(
    database: Any = None,
    *,
    principal: str | None = None,
    autocommit: bool = False,
    **opening: Any,
) -> Connection:
    """A connection to a memory.

    database    the folder of a memory, None for one in memory, or a Nexus, which stays open when the connection closes
    principal   whom every statement comes from; default the owner
    autocommit  every write is a transaction of its own
    opening     the arguments of `kipql.open`: `readonly`, `packages`, `limits`, ...

    Raises Error.

    >>> from kipql import dbapi
    >>> connection = dbapi.connect()
    >>> cursor = connection.cursor()
    >>> cursor.execute('CREATE CONCEPT ?a { TYPE "Person" NAME :name }', {"name": "Ada"}).lastrowid
    'C-1'
    >>> connection.commit()
    >>> cursor.execute('FIND(?p.name) WHERE { ?p {type: "Person"} }').fetchall()
    [('Ada',)]
    """
    with mapping():
        if isinstance(database, Nexus):
            if opening:
                raise misuse(f"a Nexus is open already: {', '.join(opening)} can not be given")
            nexus, owned = database, False
        else:
            nexus, owned = kipql.open(database, principal=principal, **opening), True
        seen = nexus if principal is None or owned else nexus.as_principal(principal)
        return Connection(seen, owned=owned, autocommit=autocommit)
