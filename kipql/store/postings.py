"""Postings: from a value to the rows that have it, in ascending order.

A posting of one row costs no object of its own: a dense posting keeps it in an int array, a keyed one keeps a
plain int. The second row promotes it to an append-only array. Rows are appended in row order, so a view that
ends at `bound` reads a prefix; readers never lock, because what lies below their bound never changes in place.
A posting on a mutable value keeps every row that ever had it: the reader verifies.

A posting that comes from a snapshot has a frozen part besides; a key's rows move over when they are first asked for.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias, TypeVar, overload

from kipql.model import CONCEPT
from kipql.store.frozen import THAWING, FrozenRows, Runs

NO_ROWS: tuple[int, ...] = ()
SMALL = 64  # up to this many rows a cut is copied, beyond it is a window

Rows: TypeAlias = Sequence[int]
N = TypeVar("N", int, float)
Among = Callable[[int], bool]
EVERY = 1 << 60


class Window(Sequence[int]):
    """The first `length` rows of an append-only array that the writer may be growing."""

    __slots__ = ("_length", "_rows")

    def __init__(self, rows: "array[int]", length: int) -> None:
        self._rows = rows
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[int]:
        return islice(self._rows, self._length)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...
    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        if isinstance(index, slice):
            return self._rows[: self._length][index]
        position = index + self._length if index < 0 else index
        if not 0 <= position < self._length:
            raise IndexError(index)
        return self._rows[position]

    def __contains__(self, row: object) -> bool:
        if not isinstance(row, int):
            return False
        at = bisect_left(self._rows, row, 0, self._length)
        return at < self._length and self._rows[at] == row


def cut(rows: "array[int]", bound: int) -> Rows:
    """The rows below `bound`, safe against a writer that appends meanwhile."""
    length = len(rows)
    if length and rows[length - 1] >= bound:
        length = bisect_left(rows, bound, 0, length)
    return rows[:length] if length <= SMALL else Window(rows, length)


def appended(rows: "array[N]", row: N) -> "array[N]":
    """`rows` with `row` at its end; a copy only when a reader has the buffer open."""
    try:
        rows.append(row)
    except BufferError:
        rows = array(rows.typecode, rows)
        rows.append(row)
    return rows


def extended(rows: "array[N]", more: Sequence[N]) -> "array[N]":
    """`rows` with `more` at its end; a copy only when a reader has the buffer open."""
    added = array(rows.typecode, more)
    try:
        rows.extend(added)
    except BufferError:
        rows = rows + added
    return rows


def truncated(rows: "array[N]", length: int) -> "array[N]":
    """`rows` cut to `length`; a copy when a reader has the buffer open."""
    try:
        del rows[length:]
    except BufferError:
        return array(rows.typecode, rows[:length])
    return rows


def inserted(rows: "array[int]", row: int) -> "array[int]":
    """`rows` with `row` in its place; rows below stay where concurrent readers have them."""
    if not rows or rows[-1] < row:
        return appended(rows, row)
    at = bisect_left(rows, row)
    if rows[at] == row:
        return rows
    grown = array(rows.typecode, rows)
    grown.insert(at, row)
    return grown


_NONE = array("i", (-1,))


class Dense:
    """A posting whose key is itself a dense row: four bytes where there is at most one row.

    `_heads[key]` is -1 for none, the row itself, or -2 - i for the array `_more[i]`, which is None while the run
    of the snapshot has not been asked for.
    """

    __slots__ = ("_bound", "_frozen", "_heads", "_more")

    def __init__(self) -> None:
        self._heads: array[int] = array("i")
        self._frozen: Runs | None = None
        self._more: list[array[int] | None] = []
        self._bound = EVERY

    def add(self, key: int, row: int) -> int:
        """Append `row`, which must exceed every row the key has; how many the key has now."""
        heads = self._heads
        if key < len(heads):
            head = heads[key]
        else:
            self._grow(key + 1 - len(heads))
            heads, head = self._heads, -1
        if head == -1:
            heads[key] = row
            return 1
        more = self._more
        if head >= 0:
            more.append(array("i", (head, row)))
            heads[key] = -1 - len(more)
            return 2
        at = -2 - head
        rows = more[at]
        if rows is None:
            rows = self._many(at)
        try:
            rows.append(row)
        except BufferError:
            rows = more[at] = appended(rows, row)
        return len(rows)

    def add_all(self, keys: Sequence[int], first: int, many: int = 1 << 60) -> list[tuple[int, int]]:
        """Append the rows from `first` on, one to each key; those that came to a key with more than `many`."""
        if not keys:
            return []
        if (missing := max(keys) + 1 - len(self._heads)) > 0:
            self._grow(missing)
        heads, more = self._heads, self._more
        crowded = []
        for row, key in enumerate(keys, first):
            head = heads[key]
            if head == -1:
                heads[key] = row
            elif head >= 0:
                more.append(array("i", (head, row)))
                heads[key] = -1 - len(more)
            else:
                rows = more[-2 - head]
                if rows is None:
                    rows = self._many(-2 - head)
                try:
                    rows.append(row)
                except BufferError:
                    rows = more[-2 - head] = appended(rows, row)
                if len(rows) > many:
                    crowded.append((key, row))
        return crowded

    def drop(self, key: int, row: int) -> None:
        """Take `row` out of the posting of `key`, if it is there: the last one is cut off; for any other the array is
        replaced, so that readers keep what they have."""
        head = self._heads[key] if key < len(self._heads) else -1
        if head == row:
            self._heads[key] = -1
        elif head < -1:
            at = -2 - head
            rows = self._many(at)
            if rows and rows[-1] == row:
                self._more[at] = truncated(rows, len(rows) - 1)
            elif row in rows:
                self._more[at] = array("i", [other for other in rows if other != row])

    def get(self, key: int, bound: int) -> Rows:
        """The rows of `key` below `bound`."""
        if not 0 <= key < len(self._heads):
            return NO_ROWS
        head = self._heads[key]
        if head >= 0:
            return (head,) if head < bound else NO_ROWS
        if head == -1:
            return NO_ROWS
        rows = self._more[-2 - head]
        return cut(rows if rows is not None else self._many(-2 - head), bound)

    def tables(self) -> "tuple[array[int], list[array[int] | None]]":
        """The heads and the arrays, for generated readers; what they say below a bound stays so."""
        return self._heads, self._more

    def count(self, key: int) -> int:
        """How many rows the key has, whatever the view: for the writer and for estimates."""
        if not 0 <= key < len(self._heads):
            return 0
        head = self._heads[key]
        return 1 if head >= 0 else 0 if head == -1 else len(self._many(-2 - head))

    def still(self, bound: int) -> "Dense":
        """The rows below `bound`, which is past all there are, whatever is added from now on; for `freeze`."""
        found = Dense()
        found._heads, found._frozen, found._more, found._bound = self._heads[:], self._frozen, self._more[:], bound
        return found

    def freeze(self) -> "tuple[array[int], Runs]":
        """The heads and the runs behind them, for a snapshot."""
        starts, rows = array("I", (0,)), array("i")
        frozen = self._frozen
        for at, held in enumerate(self._more):
            if held is not None:
                rows += held if not held or held[-1] < self._bound else held[: bisect_left(held, self._bound)]
            elif frozen is not None:
                rows += frozen.run(at)
            starts.append(len(rows))
        return self._heads, Runs(starts, rows)

    def thaw(self, heads: "array[int]", runs: Runs) -> None:
        """Take up the tables of a snapshot."""
        self._heads, self._frozen = heads, runs
        self._more = [None] * len(runs)

    def _many(self, at: int) -> "array[int]":
        held = self._more[at]
        if held is None:
            with THAWING:
                held = self._more[at]
                if held is None:
                    assert self._frozen is not None
                    held = self._more[at] = self._frozen.run(at)
        return held

    def _grow(self, missing: int) -> None:
        filler = _NONE if missing == 1 else _NONE * missing
        try:
            self._heads.extend(filler)
        except BufferError:
            self._heads = self._heads + filler


class Keyed:
    """A posting by any hashable key; a single row is a plain int."""

    __slots__ = ("_among", "_frozen", "_rows")

    def __init__(self) -> None:
        self._rows: dict[Hashable, int | array[int]] = {}
        self._frozen: FrozenRows | None = None
        self._among: Among | None = None

    def add(self, key: Hashable, row: int) -> None:
        """Put `row` in its place; a row already there stays once."""
        held = self._held(key)
        if held is None:
            self._rows[key] = row
        elif isinstance(held, int):
            if held != row:
                self._rows[key] = array("q", (held, row) if held < row else (row, held))
        else:
            grown = inserted(held, row)
            if grown is not held:
                self._rows[key] = grown

    def drop(self, key: Hashable, row: int) -> None:
        """Take `row` out of the posting of `key`, if it is there."""
        held = self._held(key)
        if held == row:
            self._forget(key)
        elif isinstance(held, array) and held and held[-1] == row:
            self._rows[key] = truncated(held, len(held) - 1)
        elif isinstance(held, array) and row in held:
            self._rows[key] = array("q", [other for other in held if other != row])

    def get(self, key: Hashable, bound: int) -> Rows:
        """The rows of `key` below `bound`."""
        held = self._rows.get(key)
        if held is None and (self._frozen is None or (held := self._held(key)) is None):
            return NO_ROWS
        if isinstance(held, int):
            return (held,) if held < bound else NO_ROWS
        return cut(held, bound)

    def table(self) -> "dict[Hashable, int | array[int]]":
        """The rows by key, for generated readers; a key may be missing that a snapshot has."""
        return self._rows

    def items(self) -> "Iterator[tuple[Hashable, Sequence[int]]]":
        """Every key with its rows, for a snapshot; no key twice, in no order."""
        frozen = self._frozen
        if frozen is not None:
            for position, key in frozen.index.entries():
                if key not in self._rows:
                    yield key, frozen.runs.run(position)
        for key, held in self._rows.items():
            rows: Sequence[int] = (held,) if isinstance(held, int) else held
            if self._among is not None and not isinstance(held, int):
                rows = [row for row in held[:] if self._among(row)]
            if rows:
                yield key, rows

    def still(self, among: "Among") -> "Keyed":
        """What is there now, whatever is added from now on, for `items`: a row that was there under another key may
        stand under a new one too.

        among  whether a row is there now
        """
        found = Keyed()
        found._rows, found._frozen, found._among = self._rows.copy(), self._frozen, among
        return found

    def thaw(self, frozen: FrozenRows) -> None:
        """Take up the tables of a snapshot."""
        self._frozen = frozen

    def hold(self, key: Hashable, rows: "array[int]") -> None:
        """Take up all rows of a key."""
        self._rows[key] = rows

    def _held(self, key: Hashable) -> "int | array[int] | None":
        held = self._rows.get(key)
        if held is not None or self._frozen is None:
            return held
        with THAWING:
            held = self._rows.get(key)
            position = -1 if held is not None else self._frozen.index.find(key)
            if position < 0:
                return held
            run = self._frozen.runs.run(position)
            held = self._rows[key] = run[0] if len(run) == 1 else run
            return held

    def _forget(self, key: Hashable) -> None:
        if self._frozen is None:
            del self._rows[key]
            return
        with THAWING:
            position = self._frozen.index.find(key)
            if position >= 0:
                self._frozen.index.erase(position)
            del self._rows[key]


class Terms:
    """A posting keyed by a term: Concepts and Literals densely, other kinds by a dict."""

    __slots__ = ("_literals", "_others", "concepts")

    def __init__(self) -> None:
        self.concepts = Dense()
        self._literals = Dense()
        self._others = Keyed()

    def add(self, term: int, row: int) -> int:
        """Append a row, which exceeds every row the term has; how many it has now."""
        if term < 0:
            return self._literals.add(-1 - term, row)
        if not term & 7:
            return self.concepts.add(term >> 3, row)
        self._others.add(term, row)
        return self.count(term)

    def add_all(self, terms: Sequence[int], first: int) -> None:
        """Append the rows from `first` on, one to each term."""
        if min(terms, default=0) >= 0 and not any(term & 7 for term in terms):
            self.concepts.add_all([term >> 3 for term in terms], first)
        else:
            for row, term in enumerate(terms, first):
                self.add(term, row)

    def drop(self, term: int, row: int) -> None:
        """Take a row out, if it is there."""
        if term < 0:
            self._literals.drop(-1 - term, row)
        elif term & 7 == CONCEPT:
            self.concepts.drop(term >> 3, row)
        else:
            self._others.drop(term, row)

    def count(self, term: int) -> int:
        """How many rows a term has, whatever the view."""
        if term < 0:
            return self._literals.count(-1 - term)
        if term & 7 == CONCEPT:
            return self.concepts.count(term >> 3)
        return len(self._others.get(term, 1 << 60))

    def get(self, term: int, bound: int) -> Rows:
        """The rows of a term below `bound`."""
        if term < 0:
            return self._literals.get(-1 - term, bound)
        if term & 7 == CONCEPT:
            return self.concepts.get(term >> 3, bound)
        return self._others.get(term, bound)

    def still(self, bound: int) -> "Terms":
        """As `Dense.still`."""
        found = Terms()
        found.concepts, found._literals = self.concepts.still(bound), self._literals.still(bound)
        found._others = self._others.still(bound.__gt__)
        return found

    def parts(self) -> tuple[Dense, Dense, Keyed]:
        """The postings it consists of: by Concept, by Literal, by anything else."""
        return self.concepts, self._literals, self._others
