"""The frozen part of a store: tables of a snapshot, read where they lie (architecture §3).

Nothing here is built when a memory opens: sorted keys are searched, runs and blobs are cut out of one buffer. The
store keeps what changed since in ordinary dicts and arrays beside them, and moves an entry over on its first touch.
A table never grows; erasing an entry overwrites its bytes with zeros (specification §60.3).
"""

import threading
from array import array
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, MutableMapping
from typing import Any, Generic, NoReturn, Protocol, TypeVar

from kipql.errors import KipError

THAWING = threading.Lock()  # held while an entry moves to the live side, so that it moves once
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
_MISSING: Any = object()
Damaged = Callable[[str], NoReturn]  # raises MemoryDamaged


class Unread:
    """Stands where a record or a value was not read from the snapshot yet. No view sees a state of this sequence, so
    a reader that checks it goes the long way, which reads it."""

    seq = 1 << 62


UNREAD: Any = Unread()


class Index(Protocol):
    """Keys in some order, each with a position."""

    def __len__(self) -> int: ...
    def find(self, key: Hashable) -> int:
        """The position of a key, -1 when it is not there."""
        ...

    def entries(self) -> Iterator[tuple[int, Any]]:
        """(position, key) of every key."""
        ...

    def erase(self, position: int) -> None:
        """Forget a key."""
        ...


class Ints:
    """Integers, ascending."""

    __slots__ = ("_gone", "_keys")

    def __init__(self, keys: "array[int]") -> None:
        self._keys = keys
        self._gone: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, key: Hashable) -> int:
        """The position of a key, -1 when it is not there."""
        if key.__class__ is not int:
            return -1
        keys = self._keys
        at = bisect_left(keys, key)
        return at if at < len(keys) and keys[at] == key and at not in self._gone else -1

    def entries(self) -> Iterator[tuple[int, int]]:
        """(position, key) of every key."""
        return ((at, key) for at, key in enumerate(self._keys) if at not in self._gone)

    def erase(self, position: int) -> None:
        """Forget a key; a number says nothing once its value is gone."""
        self._gone |= {position}


class Blobs:
    """Byte strings in one buffer, by position."""

    __slots__ = ("_bytes", "_starts")

    def __init__(self, starts: "array[int]", bytes_: bytearray) -> None:
        self._starts = starts
        self._bytes = bytes_

    def __len__(self) -> int:
        return len(self._starts) - 1

    def get(self, position: int) -> bytearray:
        """The bytes at a position, a copy."""
        return self._bytes[self._starts[position] : self._starts[position + 1]]

    def erase(self, position: int) -> None:
        """Overwrite the bytes at a position."""
        start, end = self._starts[position], self._starts[position + 1]
        self._bytes[start:end] = bytes(end - start)


class Texts:
    """Texts by position, with the order in which they are sorted (as UTF-8)."""

    __slots__ = ("_blobs", "_order")

    def __init__(self, blobs: Blobs, order: "array[int]") -> None:
        self._blobs = blobs
        self._order = order

    def __len__(self) -> int:
        return len(self._order)

    @property
    def size(self) -> int:
        """How many positions there are, erased ones included."""
        return len(self._blobs)

    def at(self, position: int) -> bytearray:
        """The bytes of the text at a position."""
        return self._blobs.get(position)

    def find(self, key: Hashable) -> int:
        """The position of a text, -1 when it is not there."""
        return self.search(encoded(key)) if isinstance(key, str) else -1

    def search(self, wanted: bytes) -> int:
        """The position of a text given as bytes, -1 when it is not there."""
        order, get = self._order, self._blobs.get
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            position = order[middle]
            found = get(position)
            if found == wanted:
                return position
            if found < wanted:
                low = middle + 1
            else:
                high = middle
        return -1

    def entries(self) -> Iterator[tuple[int, str]]:
        """(position, text) of every text."""
        return ((at, decoded(self._blobs.get(at))) for at in sorted(self._order))

    def erase(self, position: int) -> None:
        """Overwrite a text. It leaves the order first: a search in another thread finds the rest as before."""
        self._order = array(self._order.typecode, [at for at in self._order if at != position])
        self._blobs.erase(position)


class Runs:
    """Runs of rows in one array, by position."""

    __slots__ = ("rows", "starts")

    def __init__(self, starts: "array[int]", rows: "array[int]") -> None:
        self.starts = starts
        self.rows = rows

    def __len__(self) -> int:
        return len(self.starts) - 1

    def run(self, position: int) -> "array[int]":
        """The rows at a position, a copy."""
        return self.rows[self.starts[position] : self.starts[position + 1]]


class FrozenRows:
    """A keyed posting of a snapshot."""

    __slots__ = ("index", "runs")

    def __init__(self, index: Index, runs: Runs) -> None:
        self.index = index
        self.runs = runs


class Thawing(MutableMapping[K, V], Generic[K, V]):
    """A dict over a frozen table: what was written since, and entries of the table decoded on first touch.

    Readers in other threads may decode an entry twice; what was written wins. With `kept` a decoded entry is
    remembered, so that it stays one object.
    """

    __slots__ = ("_blobs", "_decode", "_gone", "_held", "_index", "_kept", "_read")

    def __init__(self, index: Index, blobs: Blobs, decode: Callable[[K, bytearray], V], *, kept: bool = False) -> None:
        self._held: dict[K, V] = {}
        self._read: dict[K, V] = {}
        self._gone: set[K] = set()
        self._index = index
        self._blobs = blobs
        self._decode = decode
        self._kept = kept

    def get(self, key: K, default: Any = None) -> Any:
        """The value of a key."""
        held = self._held.get(key, _MISSING)
        if held is not _MISSING:
            return held
        held = self._thawed(key)
        return default if held is _MISSING else held

    def __getitem__(self, key: K) -> V:
        found: V = self.get(key, _MISSING)
        if found is _MISSING:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return key in self._held or (key not in self._gone and self._index.find(key) >= 0)

    def __setitem__(self, key: K, value: V) -> None:
        self._held[key] = value

    def __delitem__(self, key: K) -> None:
        position = self._index.find(key)
        if position >= 0:
            self._gone.add(key)
            self._read.pop(key, None)
            self._held.pop(key, None)
        else:
            del self._held[key]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[K]:
        held = list(self._held)
        yield from held
        seen = set(held)
        for _, key in self._index.entries():
            if key not in seen and key not in self._gone:
                yield key

    def __bool__(self) -> bool:
        return next(iter(self), _MISSING) is not _MISSING

    def erase(self, key: K) -> None:
        """Forget a key and overwrite the bytes of its frozen value."""
        position = self._index.find(key)
        self.pop(key, None)
        if position >= 0:
            self._blobs.erase(position)

    def newest(self) -> dict[K, V]:
        """What was written since the snapshot, in the order it was written."""
        return self._held

    def packed(self) -> Iterator[tuple[K, bytearray]]:
        """The frozen entries that still hold, as they lie in the table."""
        for position, key in self._index.entries():
            if key not in self._held and key not in self._gone:
                yield key, self._blobs.get(position)

    def _thawed(self, key: K) -> Any:
        if key in self._gone:
            return _MISSING
        read = self._read.get(key, _MISSING)
        if read is not _MISSING:
            return read
        position = self._index.find(key)
        if position < 0:
            return _MISSING
        try:
            value = self._decode(key, self._blobs.get(position))
        except KipError:
            if key in self._held or key in self._gone:  # erased meanwhile
                return self._held.get(key, _MISSING)
            raise
        return self._read.setdefault(key, value) if self._kept else value


def still(side: "MutableMapping[K, V]") -> "MutableMapping[K, V]":
    """A side table as it is, whatever is written from now on."""
    if not isinstance(side, Thawing):
        return dict(side)
    found: Thawing[K, V] = Thawing(side._index, side._blobs, side._decode, kept=side._kept)
    found._held, found._gone = dict(side._held), set(side._gone)
    return found


def newest_of(side: "MutableMapping[int, V]") -> "dict[int, V]":
    """The part of a side table that the writer appends to."""
    return side.newest() if isinstance(side, Thawing) else side  # type: ignore[return-value]


def erased_from(side: "MutableMapping[int, Any]", key: int) -> None:
    """Forget an entry of a side table, and overwrite what a snapshot said."""
    if isinstance(side, Thawing):
        side.erase(key)
    else:
        side.pop(key, None)


def encoded(text: str) -> bytes:
    """The bytes by which a text is sorted and found."""
    return text.encode("utf-8", "surrogatepass")


def decoded(data: "bytes | bytearray") -> str:
    """The text of such bytes."""
    return data.decode("utf-8", "surrogatepass")
