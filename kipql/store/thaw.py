"""The store of a Space from the sections of a snapshot: tables are taken as they are, records stay unread.

Lengths that belong together are checked here, and of a small snapshot every number (`ranges`), so that one with right
checksums and wrong tables is refused; what a record says is checked when it is read (`versions`).
"""

from array import array
from collections.abc import Callable
from typing import Any, NoReturn

from kipql.model import ENGINE
from kipql.store import ranges
from kipql.store import snapshot as files
from kipql.store.codec import Invalid, unpack
from kipql.store.environments import Environments
from kipql.store.freeze import DENSE, HISTORY, LISTS, OBJECTS, SIDES, TERMS, TEXTS
from kipql.store.frozen import UNREAD, Blobs, FrozenRows, Ints, Runs, Texts, Thawing, decoded
from kipql.store.graph import Graph
from kipql.store.history import Bounds
from kipql.store.identity import InputReference
from kipql.store.packing import Context, unpack_edges, unpack_interval, unpack_origin
from kipql.store.postings import Keyed
from kipql.store.records import SIZE
from kipql.store.snapshot import Snapshot
from kipql.store.versions import FrozenRecords, States
from kipql.values import Json

Decode = Callable[[Any, bytearray], Any]


class Thaw:
    """Fills an empty graph. `notes` and `outcomes` are the rest of what the snapshot holds; it is `believed` when it is
    too large to be looked through."""

    def __init__(self, found: Snapshot, graph: Graph) -> None:
        self._sections = found.sections
        self._found = found
        self._graph = graph
        self.notes: dict[str, list[Json]] = {}
        self.outcomes: Any = {}
        self.believed = not ranges.is_small(found.sections)

    def apply(self, environments: Environments) -> None:
        """Take up everything. Raises MemoryDamaged."""
        try:
            self._symbols()
            self._commits()
            self._literals()
            bounds = self._bounds()
            self._columns(bounds)
            self._elements(bounds)
            self._postings()
            self._control(environments)
            if not self.believed:
                ranges.check(self._sections, self._found.seq, bounds)
        except (Invalid, LookupError, ValueError, TypeError, AttributeError, OverflowError) as error:
            self._damaged(f"{type(error).__name__}: {error}")

    def _damaged(self, what: str) -> NoReturn:
        files.damaged(self._found.path, what)

    def _numbers(self, name: str, kind: str) -> "array[Any]":
        section = self._sections[name]
        if not isinstance(section, array) or section.typecode != kind:
            raise Invalid(f"section {name} is of another kind")
        return section

    def _bytes(self, name: str) -> bytearray:
        section = self._sections[name]
        if not isinstance(section, bytearray):
            raise Invalid(f"section {name} is of another kind")
        return section

    # tables and commits

    def _symbols(self) -> None:
        symbols, found = self._graph.symbols, self._sections["symbols"]
        for lineage in _texts(found["lineages"]):
            symbols.lineage(lineage)
        for ref in _texts(found["refs"]):
            symbols.number(ref)
        for field in _texts(found["fields"]):
            self._graph.field_number(field)
        if symbols.lineage_of != self._numbers("symbols.lineage_of", "i"):
            raise Invalid("symbols of other lineages")

    def _literals(self) -> None:
        blobs, order = self._blobs("literals"), self._numbers("literals.order", "i")
        erased = self._numbers("literals.erased", "i")
        if len(order) + len(erased) != len(blobs):
            raise Invalid("Literals out of order")
        self._graph.literals.thaw(blobs, order, erased, self._damaged)

    def _commits(self) -> None:
        makers = []
        for origin, name in self._sections["history.makers"]:
            makers.append((unpack_origin(origin), _text(name)))
        columns = {name: self._numbers(f"history.{name}", "i" if name == "changed" else "q") for name in HISTORY}
        bounds = tuple(self._numbers(f"history.bounds.{number}", "i") for number in range(5))
        if {len(column) for column in (columns["at"], *bounds)} != {self._found.seq}:
            raise Invalid("commits are missing")
        if len(makers) != len(columns["makers_from"]) or len(columns["changed_in"]) != len(columns["changed_end"]):
            raise Invalid("commits do not agree")
        self._graph.history.thaw(columns, bounds, makers)
        for seq, changes in self._sections["history.controls"]:
            self._graph.history.controls[seq] = tuple(
                {"kind": _text(change["kind"]), "version": _text(change["version"])} for change in changes
            )

    # elements

    def _bounds(self) -> Bounds:
        return self._graph.history.bounds(self._found.seq)

    def _columns(self, bounds: Bounds) -> None:
        tables, claims = self._graph.propositions, self._graph.assertions
        for name in ("subjects", "predicates", "objects"):
            setattr(tables, name, _long(self._numbers(f"propositions.{name}", "i"), bounds[1]))
        claims.hot = self._bytes("assertions.hot")
        if len(claims.hot) != bounds[2] * SIZE:
            raise Invalid("Assertions are missing")
        claims.asserted_at = _long(self._numbers("assertions.asserted_at", "q"), bounds[2])
        claims.confidence = _long(self._numbers("assertions.confidence", "d"), bounds[2])
        claims.cited = _long(self._numbers("assertions.cited", "i"), bounds[2])
        context = Context(ENGINE, bounds=bounds)
        sides: tuple[tuple[str, Callable[[Json], Any]], ...] = (
            ("citations", lambda data: unpack_edges(context, data)),
            ("contexts", _codes(bounds)),
            ("intervals", lambda data: unpack_interval(context, data)),
        )
        for name, read in sides:
            setattr(claims, name, self._map(f"assertions.{name}", _decoding(read, self)))
        self._graph.types = _long(self._numbers("types", "i"), bounds[0])

    def _elements(self, bounds: Bounds) -> None:
        graph = self._graph
        states = States(graph, bounds, self._found.seq, self._damaged)
        for kind in OBJECTS:
            blobs = self._blobs(f"objects.{kind}")
            if len(blobs) != bounds[kind]:
                raise Invalid("elements are missing")
            if len(blobs):
                graph.frozen[kind] = FrozenRecords(kind, blobs, states)
                graph.objects[kind].extend([UNREAD] * len(blobs))
        for kind in SIDES:
            graph.side[kind] = self._map(f"side.{kind}", _reading(states, kind), kept=True)
            graph.keys[kind] = self._map(f"keys.{kind}", self._text_of)
        graph.client_keys = self._map("client_keys", _decoding(_client_key, self), text=True)
        self.outcomes = self._map("outcomes", _decoding(lambda data: data, self), text=True)

    def _text_of(self, key: Any, data: bytearray) -> str:
        try:
            return decoded(data)
        except UnicodeDecodeError as error:
            self._damaged(f"the text of {key!r}: {error}")

    # postings

    def _postings(self) -> None:
        graph = self._graph
        firsts = [self._numbers(f"slots.firsts.{kind}", "i") for kind in range(5)]
        graph.slots.thaw(firsts, _long(self._numbers("slots.nexts", "i"), len(graph.propositions)))
        for name in DENSE:
            getattr(graph, name).thaw(*self._dense(name))
        for name in TERMS:
            concepts, literals, others = getattr(graph, name).parts()
            concepts.thaw(*self._dense(f"{name}.concepts"))
            literals.thaw(*self._dense(f"{name}.literals"))
            self._keyed_ints(f"{name}.others", others)
        for name in LISTS:
            runs = self._runs(name, "i")
            getattr(graph, name).extend(runs.run(number) for number in range(len(runs)))
        for name in TEXTS:
            index = Texts(self._blobs(name), self._numbers(f"{name}.order", "i"))
            self._take_up(getattr(graph, name), index, self._runs(f"{name}.runs", "q"))
        self._keyed_ints("referrers", graph.referrers)
        for kind in range(5):
            self._left(kind)
        graph.identity_seqs = self._numbers("identity_seqs", "q")
        for target, rows in self._sections["merged_from"]:
            graph.merged_from[target] = tuple(rows)

    def _left(self, kind: int) -> None:
        rows, seqs = self._numbers(f"ever_left.{kind}", "q"), self._numbers(f"left_seqs.{kind}", "q")
        if seqs:
            self._graph.left_seqs[kind] = seqs
        if rows or seqs:
            posting = self._graph.ever_left[kind] = Keyed()
            posting.hold(None, rows)

    def _dense(self, name: str) -> "tuple[array[int], Runs]":
        return self._numbers(f"{name}.heads", "i"), self._runs(name, "i")

    def _keyed_ints(self, name: str, posting: Keyed) -> None:
        self._take_up(posting, Ints(self._numbers(f"{name}.keys", "q")), self._runs(name, "q"))

    def _take_up(self, posting: Keyed, index: Ints | Texts, runs: Runs) -> None:
        if len(index) != len(runs):
            raise Invalid("a posting lacks rows")
        if len(index):
            posting.thaw(FrozenRows(index, runs))

    # control state

    def _control(self, environments: Environments) -> None:
        graph = self._graph
        for kind, payloads in self._sections["notes"].items():
            self.notes[kind] = list(payloads)
        for payload in self.notes.get("schema", ()):
            environments.add(0, payload)
        for seq, kind, payload in self._sections["controls"]:
            if kind == "schema":
                environments.add(seq, payload)
            graph.note_control(seq, kind, payload)
        for code, *reference in self._sections["inputs"]:
            graph.note_input(code, InputReference(*reference))
        for seq, code, entry in self._sections["kept_entries"]:
            graph.kept_entries[seq, code] = entry

    # shapes

    def _map(self, name: str, decode: Decode, *, text: bool = False, kept: bool = False) -> Any:
        values = self._blobs(f"{name}.values")
        index: Ints | Texts
        if text:
            index = Texts(self._blobs(name), self._numbers(f"{name}.order", "i"))
        else:
            index = Ints(self._numbers(f"{name}.keys", "q"))
        if len(index) != len(values):
            raise Invalid(f"{name} lacks values")
        return Thawing(index, values, decode, kept=kept) if len(index) else {}

    def _blobs(self, name: str) -> Blobs:
        starts, data = self._numbers(f"{name}.starts", "Q"), self._bytes(f"{name}.bytes")
        if not starts or starts[0] or starts[-1] != len(data):
            raise Invalid(f"{name} is cut off")
        return Blobs(starts, data)

    def _runs(self, name: str, kind: str) -> Runs:
        starts, rows = self._numbers(f"{name}.starts", "I"), self._numbers(f"{name}.rows", kind)
        if not starts or starts[0] or starts[-1] != len(rows):
            raise Invalid(f"{name} is cut off")
        return Runs(starts, rows)


def _decoding(read: Callable[[Json], Any], thaw: Thaw) -> Decode:
    """Decodes a value of a side table when it is asked for. Raises MemoryDamaged."""

    def decode(key: Any, data: bytearray) -> Any:
        try:
            return read(unpack(bytes(data)))
        except (Invalid, ValueError, TypeError) as error:
            thaw._damaged(f"the entry of {key!r}: {error}")

    return decode


def _reading(states: States, kind: int) -> Decode:
    return lambda row, data: states.unpack(row * 8 + kind, data)


def _codes(bounds: Bounds) -> Callable[[Json], tuple[int, ...]]:
    def read(data: Json) -> tuple[int, ...]:
        if isinstance(data, list) and all(type(code) is int and 0 <= code >> 3 < bounds[code & 7] for code in data):
            return tuple(data)
        raise Invalid("references are expected")

    return read


def _client_key(data: Json) -> tuple[int, str]:
    code, fingerprint = data
    if type(code) is not int or not isinstance(fingerprint, str):
        raise Invalid("a client key is [code, fingerprint]")
    return code, fingerprint


def _long(column: "array[Any]", length: int) -> "array[Any]":
    if len(column) != length:
        raise Invalid("a column has another length")
    return column


def _text(data: Json) -> str:
    if not isinstance(data, str):
        raise Invalid("a text is expected")
    return data


def _texts(data: Json) -> list[str]:
    if not isinstance(data, list):
        raise Invalid("a list is expected")
    return [_text(item) for item in data]
