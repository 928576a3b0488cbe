"""An element with all its states as bytes: how records lie in a snapshot (specification §6.3, §35.1).

`[[sequence, version, planes, members], ...]`, oldest first; `planes` is `[attributes, structural, retention, {facet:
n}]` and the members are those of `packing`, with the store's own symbol numbers and Literal codes.
"""

from typing import Any

from kipql.model import NO_PLANES, AnyRecord, Origin, Planes
from kipql.store.codec import Invalid, pack, unpack
from kipql.store.frozen import Blobs, Damaged
from kipql.store.graph import Graph
from kipql.store.history import Bounds
from kipql.store.packing import WholeContext, pack_planes, pack_record, unpack_planes, unpack_record


class States:
    """Packs and unpacks the states of a graph's elements; `bounds` and `seq` are what a snapshot covers."""

    def __init__(self, graph: Graph, bounds: Bounds, seq: int, damaged: Damaged) -> None:
        self._graph = graph
        self._bounds = bounds
        self._seq = seq
        self._literals = len(graph.literals)
        self._damaged = damaged
        self._planes: dict[tuple[int, int, int], Planes] = {(0, 0, 0): NO_PLANES}

    def pack(self, code: int, newest: AnyRecord) -> bytes:
        """All states of an element."""
        context = self._context(code)
        found = []
        state: Any = newest
        while state is not None:
            found.append([state.seq, state.version, pack_planes(state.planes), pack_record(context, state)])
            state = state.prev
        found.reverse()
        return pack(found)

    def unpack(self, code: int, data: bytearray) -> AnyRecord:
        """The newest state, the older ones behind it. Raises MemoryDamaged."""
        try:
            context = self._context(code)
            newest: AnyRecord | None = None
            for state in _list(unpack(bytes(data))):
                newest = self._state(context, code & 7, _list(state), newest)
            if newest is None:
                raise Invalid("an element without a state")
            return newest
        except (Invalid, IndexError, ValueError, TypeError) as error:
            self._damaged(f"an element of kind {code & 7} in row {code >> 3}: {error}")

    def _state(self, context: WholeContext, kind: int, state: list[Any], older: AnyRecord | None) -> AnyRecord:
        seq, version, planes, members = state
        if not isinstance(seq, int) or not (older.seq if older is not None else 0) < seq <= self._seq:
            raise Invalid("a state of no commit")
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            raise Invalid("a version is expected")
        record = unpack_record(context, kind, members)
        for name, value in (("seq", seq), ("version", version), ("planes", self._counters(planes)), ("prev", older)):
            object.__setattr__(record, name, value)
        return record

    def _counters(self, data: Any) -> Planes:
        planes = unpack_planes(data)
        if planes.facets:
            return planes
        return self._planes.setdefault((planes.attributes, planes.structural, planes.retention), planes)

    def _context(self, code: int) -> WholeContext:
        history = self._graph.history
        return WholeContext(self._creator(history.created_in(code & 7, code >> 3)), self._graph.symbols, self._bounds,
                            self._literals)  # fmt: skip

    def _creator(self, seq: int) -> Origin:
        if not 0 < seq <= self._seq:
            raise Invalid("a row of no commit")
        return self._graph.history.origin(seq)


class FrozenRecords:
    """The objects of one kind in a snapshot, by row."""

    __slots__ = ("_blobs", "_kind", "_states")

    def __init__(self, kind: int, blobs: Blobs, states: States) -> None:
        self._kind = kind
        self._blobs = blobs
        self._states = states

    def read(self, row: int) -> AnyRecord:
        """The newest state of a row, the older ones behind it. Raises MemoryDamaged."""
        return self._states.unpack(row * 8 + self._kind, self._blobs.get(row))

    def packed(self, row: int) -> bytearray:
        """The same as it lies there."""
        return self._blobs.get(row)

    def erase(self, row: int) -> None:
        """Overwrite it."""
        if row < len(self._blobs):
            self._blobs.erase(row)


def _list(data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise Invalid("a list is expected")
    return data
