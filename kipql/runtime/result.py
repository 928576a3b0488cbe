"""Result: what a read answers, complete when the call returns (§81.1).

For FIND a row is a value when the query has one item and a tuple when it has several; for a META statement
that lists, a row is the listed object, and for one that describes there is a single row, the description.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from kipql.errors import KipError
from kipql.exec.rows import Told
from kipql.runtime.guard import reraise
from kipql.values import Json

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from kipql.plan.caveats import Caveat


class Answer(Protocol):
    """What a read hands to its Result; `kipql.exec.Rows` is one."""

    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def rows(self) -> list[Any]: ...
    @property
    def next_cursor(self) -> str | None: ...
    @property
    def truncated(self) -> bool: ...
    @property
    def context(self) -> Mapping[str, Json]: ...
    @property
    def warnings(self) -> "tuple[Caveat, ...]": ...


class Answered(NamedTuple):
    """An answer that is all there: of a META statement, or of a read inside a transaction."""

    columns: tuple[str, ...]
    rows: list[Any]
    context: Mapping[str, Json]
    next_cursor: str | None = None
    truncated: bool = False
    warnings: "tuple[Caveat, ...]" = ()


_DRAWN_BY = "kipql.render.html"  # a layer above this one: a notebook asks for it, nothing here depends on it
_EXTRAS = {"pandas": "pandas", "polars": "polars", "pyarrow": "arrow"}


class Result(Told):
    """The rows of one KQL or META statement.

    rows         a list: values for one FIND item, tuples for several, objects for META
    columns      the name of each FIND item as written (`?c.name` is `c.name`); for META `("result",)`
    next_cursor  continues after these rows, or None
    truncated    whether LIMIT left rows out
    context      `space_id`, `snapshot_seq`, `schema_environment_version`, and `basis` for beliefs (§50)
    warnings     what is legal and hardly meant in the statement, such as a field that nothing has: `Caveat` each

    >>> import kipql
    >>> result = kipql.open().query("FIND(COUNT(?c)) WHERE { ?c CONCEPT {} }")
    >>> result.rows, result.scalar(), result.context["snapshot_seq"]
    ([0], 0, 0)
    """

    __slots__ = ()

    def __init__(self, answer: Answer, described: bool = False) -> None:
        self.held = answer
        self.described = described

    def __getattr__(self, name: str) -> Any:
        # Whole elements in rows are built when first looked at, from the snapshot that was read.
        if name == "rows":
            try:
                rows = self.rows = self._answer.rows
            except Exception as error:
                reraise(error)
            return rows
        raise AttributeError(f"a Result has no {name!r}")

    @property
    def _answer(self) -> Answer:
        held: Any = self.held
        if held.__class__ is tuple:
            try:
                held = self.held = held[0](*held[1:])
            except Exception as error:
                reraise(error)
        answer: Answer = held
        return answer

    @property
    def columns(self) -> tuple[str, ...]:
        """The name of each FIND item."""
        return self._answer.columns

    @property
    def next_cursor(self) -> str | None:
        """Pass it as CURSOR to the same statement for the rows that follow; None when there are none."""
        return self._answer.next_cursor

    @property
    def truncated(self) -> bool:
        """Whether LIMIT left rows out."""
        return self._answer.truncated

    @property
    def context(self) -> Mapping[str, Json]:
        """What was read: Space, snapshot, environment (§50)."""
        return self._answer.context

    @property
    def warnings(self) -> "tuple[Caveat, ...]":
        """What is legal and hardly meant in the statement: a member that nothing has reads as null (§44.1)."""
        return self._answer.warnings

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        more = ", more to come" if self.next_cursor else ""
        return f"<Result {', '.join(self.columns)}: {len(self.rows)} rows{more}>"

    def _repr_html_(self) -> str:
        drawn: str = import_module(_DRAWN_BY).result_html(self)
        return drawn

    @property
    def basis(self) -> Mapping[str, Json] | None:
        """The ProjectionBasis that the beliefs in the rows share (§21.12), or None for a raw read."""
        basis: Mapping[str, Json] | None = self.context.get("basis")
        return basis

    @property
    def result(self) -> Json:
        """The `result` member of the wire answer: an array of rows, or one description."""
        if self.described:
            return self.rows[0]
        if len(self.columns) > 1:
            return [list(row) for row in self.rows]
        return list(self.rows)

    def one(self) -> Any:
        """The only row. Raises NotFoundOrNotVisible for none, IdentityConflict for several."""
        if len(self.rows) == 1:
            return self.rows[0]
        code = "IdentityConflict" if self.rows else "NotFoundOrNotVisible"
        raise KipError(code, f"one row was expected, there are {len(self.rows)}", details={"rows": len(self.rows)})

    def scalar(self) -> Any:
        """The only value of the only row. Raises like `one`, and TypeMismatch when a row has several values."""
        row = self.one()
        if len(self.columns) > 1:
            raise KipError("TypeMismatch", f"one value was expected, a row has {len(self.columns)}")
        return row

    def dicts(self) -> list[dict[str, Any]]:
        """The rows as dicts by column; two items of one name keep the last."""
        if len(self.columns) == 1:
            return [{self.columns[0]: row} for row in self.rows]
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> "pandas.DataFrame":
        """The rows as a pandas DataFrame (the extra `pandas`)."""
        return _imported("pandas").DataFrame(self._series())

    def to_polars(self) -> "polars.DataFrame":
        """The rows as a polars DataFrame (the extra `polars`)."""
        frame: polars.DataFrame = _imported("polars").DataFrame(self._series(), strict=False)
        return frame

    def to_arrow(self) -> "pyarrow.Table":
        """The rows as a pyarrow Table (the extra `arrow`)."""
        return _imported("pyarrow").table(self._series())

    def _series(self) -> dict[str, list[Any]]:
        if len(self.columns) == 1:
            return {self.columns[0]: list(self.rows)}
        return {name: [row[at] for row in self.rows] for at, name in enumerate(self.columns)}


def _imported(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        extra = _EXTRAS[module]
        raise KipError(
            "UnsupportedCapability", f"{module} is not installed", hint=f'pip install "kipql[{extra}]"'
        ) from None
