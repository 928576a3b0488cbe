"""A cursor: one statement at a time, and its rows as tuples.

A row is a tuple also where FIND has one item. What META lists becomes columns, what it describes member and value.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from kipql.fronts.dbapi.errors import ProgrammingError, mapping, misuse
from kipql.fronts.dbapi.types import type_of
from kipql.render.results import grid
from kipql.runtime.receipt import Receipt
from kipql.runtime.result import Result

if TYPE_CHECKING:
    from kipql.fronts.dbapi.connection import Connection
    from kipql.plan.caveats import Caveat

Description = tuple[tuple[str, Any, None, None, None, None, None], ...]


class Cursor:
    """A cursor of a connection.

    description  a 7-tuple for each column of the rows, the name first; None for a write
    rowcount     how many rows there are; of a write that committed how many elements it changed; else -1: what a
                 transaction changes is known when it commits (`connection.receipt`)
    lastrowid    the id of the element that the last write made, where it was one
    warnings     what is legal and hardly meant in the last statement
    arraysize    how many rows `fetchmany` gives
    """

    def __init__(self, connection: "Connection") -> None:
        self.connection = connection
        self.arraysize = 1
        self._closed = False
        self._forget()

    def _forget(self) -> None:
        self.description: Description | None = None
        self.rowcount = -1
        self.lastrowid: str | None = None
        self.warnings: tuple[Caveat, ...] = ()
        self._rows: list[tuple[Any, ...]] | None = None
        self._at = 0

    def execute(self, operation: str, parameters: Mapping[str, Any] | None = None) -> Self:
        """Run one statement. `parameters` are values for `:name` placeholders. Raises Error."""
        self._check(parameters)
        self._forget()
        with mapping():
            answer, language = self.connection.run(operation, parameters)
            if isinstance(answer, Receipt):
                self._wrote(answer)
            else:
                self._read(answer, language)
        return self

    def executemany(self, operation: str, seq_of_parameters: Iterable[Mapping[str, Any]]) -> Self:
        """Run one write for each of the parameters; a statement that answers rows is a ProgrammingError.

        Raises Error, InterfaceError for what is no sequence of mappings: then nothing of it was run.
        """
        given = self._many(seq_of_parameters)
        self._forget()
        changed: list[int] = []
        for parameters in given:
            self.execute(operation, parameters)
            if self.description is not None:
                self._forget()
                raise ProgrammingError("PreconditionFailed", "executemany is for writes", hint="call execute to read")
            changed.append(self.rowcount)
        self.rowcount = -1 if -1 in changed else sum(changed)
        return self

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row, or None."""
        return next(iter(self.fetchmany(1)), None)

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next `size` rows, by default `arraysize`; fewer at the end."""
        rows = self._answered()
        wanted = self.arraysize if size is None else size
        if not isinstance(wanted, int) or isinstance(wanted, bool) or wanted < 0:
            found = wanted if isinstance(wanted, int) else type(wanted).__name__
            raise misuse(f"the number of rows is 0 or more, not {found}", "fetchall gives what is left")
        begin, self._at = self._at, min(len(rows), self._at + wanted)
        return rows[begin : self._at]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows that are left."""
        return self.fetchmany(len(self._answered()))

    def close(self) -> None:
        """End the cursor; whatever is called on it then is an InterfaceError."""
        self._closed = True

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Nothing: values have no sizes here."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Nothing: no value is cut."""

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        while (row := self.fetchone()) is not None:
            yield row

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, result: Result, language: str) -> None:
        columns, rows = grid(result, language)
        types = [type_of([row[at] for row in rows]) for at in range(len(columns))]
        self.description = tuple(
            (name, kind, None, None, None, None, None) for name, kind in zip(columns, types, strict=True)
        )
        self._rows, self.rowcount, self.warnings = rows, len(rows), result.warnings

    def _wrote(self, receipt: Receipt) -> None:
        self.rowcount = -1 if receipt.status == "pending" else len(receipt.changes)
        if len(receipt.handles) == 1:
            self.lastrowid = next(iter(receipt.handles.values()))

    def _answered(self) -> list[tuple[Any, ...]]:
        self._check(None)
        if self._rows is None:
            raise misuse("there are no rows to fetch", "execute a statement that reads first")
        return self._rows

    def _many(self, given: object) -> list[Mapping[str, Any] | None]:
        """The parameters of each run; every one is looked at before the first runs."""
        self._check(None)
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise misuse(
                f"parameters of executemany are a sequence of mappings, not {type(given).__name__}",
                "call execute for one mapping",
            )
        parameters = list(given)
        for each in parameters:
            self._check(each)
        return parameters

    def _check(self, parameters: object) -> None:
        if self._closed:
            raise misuse("the cursor is closed")
        _ = self.connection.nexus
        if parameters is not None and not isinstance(parameters, Mapping):
            raise misuse(
                f"parameters are a mapping by name, not {type(parameters).__name__}", "write :name in the text"
            )
