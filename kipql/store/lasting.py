"""Fields of Concepts by row, as readers found them (specification §10).

Reading an attribute goes from the record to the mapping to the value, each in a line of memory of its own. A column
remembers what was read, eight bytes a Concept: a scalar that has been so since the Concept was made, so that it holds
at every sequence. Anything else stays `LOOK`, and so does what nobody read yet: nothing is filled beforehand, and a
Concept of a snapshot stays unread. The writer puts `LOOK` back before it changes a record, under the mutex that a
reader fills a column with.
"""

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any

from kipql.model import CONCEPT
from kipql.store.frozen import UNREAD
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.graph import Graph
    from kipql.store.view import View

LOOK: Any = object()
MOST = 32  # columns of a Space
_SCALARS = frozenset((str, int, float, bool, type(None)))
Steps = tuple[str, ...]
Read = Callable[["View", int], Json]


class Column:
    """`values[row]` is the value, or LOOK; `read` finds it then, and remembers it where it lasts."""

    __slots__ = ("_graph", "_kept", "_key", "_read", "values")

    def __init__(self, graph: "Graph", steps: Steps, read: "Read", kept: bool) -> None:
        self.values: list[Any] = []
        self._graph = graph
        self._key = steps == ("key",)
        self._kept = kept
        self._read = read

    def read(self, view: "View", row: int) -> Json:
        """The field as a view sees it."""
        graph, values = self._graph, self.values
        record = graph.objects[CONCEPT][row]  # first: what replaces it meanwhile is told by it
        value = self._read(view, row)
        if self._kept and record is not UNREAD and (self._key or record.prev is None) and value.__class__ in _SCALARS:
            with graph.value_paths.lock:
                if graph.objects[CONCEPT][row] is record and row < len(values):
                    values[row] = value
        return value

    def changed(self, row: int) -> None:
        """A state follows on the one there was. A key never changes (§10.2)."""
        if not self._key:
            self.erased(row)

    def erased(self, row: int) -> None:
        """Forget a row."""
        if row < len(self.values):
            self.values[row] = LOOK


class Lasting:
    """The columns that readers asked for, by their field path."""

    __slots__ = ("_columns", "_lock")

    def __init__(self) -> None:
        self._columns: dict[Steps, Column] = {}
        self._lock = Lock()

    def column(self, graph: "Graph", steps: Steps, read: "Read", bound: int) -> Column:
        """The column of a path, with a place for each row below `bound`, all committed; `read` is its getter."""
        with self._lock:
            column = self._columns.get(steps)
            if column is None:
                column = Column(graph, steps, read, len(self._columns) < MOST)
                if len(self._columns) < MOST:
                    self._columns = {**self._columns, steps: column}
            missing = bound - len(column.values)
            if missing > 0:
                column.values.extend([LOOK] * missing)
            return column

    def changed(self, row: int) -> None:
        """A Concept is about to have another state. The writer holds `value_paths.lock`."""
        for column in self._columns.values():
            column.changed(row)

    def erased(self, row: int) -> None:
        """A Concept is about to be erased. The writer holds `value_paths.lock`."""
        for column in self._columns.values():
            column.erased(row)
