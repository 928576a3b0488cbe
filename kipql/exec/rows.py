"""Rows: what a run answers. Complete when it is made; only whole elements and the context are built lazily."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from kipql.exec.terms import finished
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.exec.reading import Reading
    from kipql.lang import ast
    from kipql.plan.caveats import Caveat
    from kipql.store.view import View


class Columns(tuple[str, ...]):
    """The name of each item of a FIND. Every answer to it holds them, and so what is hardly meant in it (`caveats`),
    which is found when it is first asked for."""

    find: "ast.Find | Callable[[], ast.Find]"
    known: "Columns | None"

    @classmethod
    def of(cls, find: "ast.Find", names: Sequence[str]) -> Self:
        """The names of the items of a FIND."""
        made = cls(names)
        made.find, made.known = find, None
        return made

    def like(self, find: "Callable[[], ast.Find]") -> Self:
        """The same names for a text of the same form (`plan.forms`), whose tree is made when it is looked at."""
        made = self.__class__(self)
        made.find, made.known = find, self
        return made

    @cached_property
    def caveats(self) -> "tuple[Caveat, ...]":
        """The warnings about the statement; whether there are any does not depend on its literals."""
        from kipql.plan.caveats import caveats

        if self.known is not None and not self.known.caveats:
            return ()
        return caveats(self.find() if callable(self.find) else self.find)


class Told:
    """What a caller holds: the rows, and how the rest of the answer is made when someone looks at it.

    rows       a list; not there yet where elements in it are built when they are first looked at
    held       an answer, or a function that makes it with its arguments
    described  whether the one row is a description
    """

    __slots__ = ("described", "held", "rows")
    rows: list[Any]
    held: Any
    described: bool


class Rows:
    """The rows of one FIND.

    columns      the name of each item: `?c.name` is `c.name`; `warnings` is what is hardly meant in the statement
    rows         values for one item, tuples for several; an element is its whole wire object
    next_cursor  continues after these rows, or None
    truncated    whether LIMIT left rows out
    context      `space_id`, `snapshot_seq`, `schema_environment_version`, `valid_at` where FOR TIME was given, and
                 `epistemic_policy`, `valid_at`, `basis` of beliefs (§50), `index_seq` and `search_modes` of searches
    """

    __slots__ = ("_cells", "_cursor", "_reading", "_ready", "_view", "columns", "truncated", "valid_at")

    def __init__(
        self,
        columns: Columns,
        cells: list[Any],
        view: "View",
        lazy: Sequence[int] = (),
        cursor: "str | Callable[[], str] | None" = None,
        truncated: bool = False,
        valid_at: str | None = None,
        reading: "Reading | None" = None,
    ) -> None:
        """`lazy` are the columns whose cells still stand for elements; `cursor` may be what makes it when it is asked
        for; `reading` is what projected the beliefs."""
        self.columns = columns
        self._cursor = cursor
        self.truncated = truncated
        self.valid_at = valid_at
        self._view = view
        self._reading = reading
        self._cells = cells
        self._ready = None if lazy else cells
        if lazy:
            self._cells = [cells, tuple(lazy)]

    @property
    def rows(self) -> list[Any]:
        if self._ready is None:
            cells, lazy = self._cells
            self._ready = self._built(cells, lazy)
        return self._ready

    @property
    def next_cursor(self) -> str | None:
        found = self._cursor
        if found is None or found.__class__ is str:
            return found
        made = self._cursor = found()  # type: ignore[operator]
        return made

    @property
    def warnings(self) -> "tuple[Caveat, ...]":
        return self.columns.caveats

    def __len__(self) -> int:
        return len(self._cells[0]) if self._ready is None else len(self._ready)

    @property
    def context(self) -> dict[str, Json]:
        view = self._view
        found: dict[str, Json] = {
            "space_id": view.space_id,
            "snapshot_seq": view.seq,
            "schema_environment_version": view.environment.version,
        }
        if self.valid_at is not None:
            found["valid_at"] = self.valid_at
        if self._reading is not None and self._reading.believes:
            found.update(self._reading.context())
        if self._reading is not None and self._reading.searches:
            found["index_seq"] = view.seq
            found["search_modes"] = sorted({one.mode for one in self._reading.searches.values()})
        return found

    def _built(self, cells: list[Any], lazy: tuple[int, ...]) -> list[Any]:
        view = self._view
        if len(self.columns) == 1:
            return [finished(view, cell) for cell in cells]
        return [tuple(finished(view, cell) if at in lazy else cell for at, cell in enumerate(row)) for row in cells]
