"""The store of a Space as the sections of a snapshot (docs/storage.md).

Everything is there: columns, postings, every state of every element, the commits, control changes, notes and
retained outcomes. What the store has not touched since it was opened is copied as it lies. Nothing may be written to
the graph meanwhile, so it is a copy (`still`) where the Space is open.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from operator import itemgetter
from typing import Any

from kipql.errors import KipError
from kipql.model import ACTIVITY, ASSERTION, CONCEPT, ENGINE, EVIDENCE, PROPOSITION, AnyRecord, Edge
from kipql.store.codec import pack
from kipql.store.frozen import UNREAD, Runs, Thawing, encoded
from kipql.store.graph import Graph
from kipql.store.packing import Context, pack_edges, pack_interval, pack_origin
from kipql.store.postings import EVERY, Dense, Keyed, Terms
from kipql.store.snapshot import Section
from kipql.store.versions import States
from kipql.values import Json

OBJECTS = (CONCEPT, EVIDENCE, ACTIVITY)
SIDES = (PROPOSITION, ASSERTION)
HISTORY = ("at", "changed", "changed_in", "changed_end", "makers_from")
DENSE = ("slot_propositions", "slot_assertions", "of_proposition", "cited_by")
TERMS = ("outgoing", "incoming", "by_actor")
LISTS = ("by_predicate", "of_type")
TEXTS = ("keyed", "named")
_CONTEXT = Context(ENGINE)  # for what names no symbol


def freeze(graph: Graph, notes: Mapping[str, list[Json]], outcomes: MutableMapping[str, Json]) -> Iterator[Section]:
    """Every section, in the order they are written."""
    yield from _tables(graph)
    yield from _commits(graph)
    yield from _elements(graph)
    yield from _postings(graph)
    yield from _control(graph, notes)
    yield from _map("outcomes", outcomes, pack, text=True)


def _tables(graph: Graph) -> Iterator[Section]:
    symbols = graph.symbols
    yield Section("symbols", "m", {"refs": symbols.refs, "lineages": symbols.lineages, "fields": list(graph.fields)})
    yield Section("symbols.lineage_of", "i", symbols.lineage_of)
    packed, erased = graph.literals.freeze()
    yield from _blobs("literals", packed)
    gone = set(erased)
    kept = [position for position in range(len(packed)) if position not in gone]
    yield Section("literals.order", "i", array("i", sorted(kept, key=packed.__getitem__)))
    yield Section("literals.erased", "i", erased)


def _commits(graph: Graph) -> Iterator[Section]:
    history = graph.history
    columns, bounds, makers = history.freeze()
    for name, kind, column in columns:
        yield Section(f"history.{name}", kind, column)
    for number, column in enumerate(bounds):
        yield Section(f"history.bounds.{number}", "i", column)
    yield Section("history.makers", "m", [[pack_origin(origin), name] for origin, name in makers])
    controls = [[seq, [dict(change) for change in changes]] for seq, changes in history.controls.items()]
    yield Section("history.controls", "m", controls)


def _elements(graph: Graph) -> Iterator[Section]:
    tables, claims = graph.propositions, graph.assertions
    for name in ("subjects", "predicates", "objects"):
        yield Section(f"propositions.{name}", "i", getattr(tables, name))
    yield Section("assertions.hot", "b", claims.hot)
    for name, code in (("asserted_at", "q"), ("confidence", "d"), ("cited", "i")):
        yield Section(f"assertions.{name}", code, getattr(claims, name))
    yield from _map("assertions.citations", claims.citations, _packed_edges)
    yield from _map("assertions.contexts", claims.contexts, lambda codes: pack(list(codes)))
    yield from _map("assertions.intervals", claims.intervals, lambda valid: pack(pack_interval(_CONTEXT, valid)))
    states = States(graph, graph.counts(), len(graph.history), _never)
    for kind in OBJECTS:
        yield from _blobs(f"objects.{kind}", _objects(graph, states, kind))
    for kind in SIDES:
        yield from _map(f"side.{kind}", graph.side[kind], None, pack_item=_of_side(states, kind))
        yield from _map(f"keys.{kind}", graph.keys[kind], encoded)
    yield from _map("client_keys", graph.client_keys, lambda held: pack(list(held)), text=True)
    yield Section("types", "i", graph.types)


def _objects(graph: Graph, states: States, kind: int) -> Iterator[bytes | bytearray]:
    frozen = graph.frozen.get(kind)
    for row, record in enumerate(graph.objects[kind]):
        if record is UNREAD and frozen is not None:
            yield frozen.packed(row)
        else:
            yield states.pack(row * 8 + kind, record)


def _of_side(states: States, kind: int) -> Callable[[int, AnyRecord], bytes]:
    return lambda row, record: states.pack(row * 8 + kind, record)


def _postings(graph: Graph) -> Iterator[Section]:
    firsts, nexts = graph.slots.freeze()
    for kind, column in enumerate(firsts):
        yield Section(f"slots.firsts.{kind}", "i", column)
    yield Section("slots.nexts", "i", nexts)
    for name in DENSE:
        yield from _dense(name, getattr(graph, name))
    for name in TERMS:
        yield from _terms(name, getattr(graph, name))
    for name in LISTS:
        yield from _runs(name, "i", getattr(graph, name))
    for name in TEXTS:
        yield from _keyed_texts(name, getattr(graph, name))
    yield from _keyed_ints("referrers", graph.referrers)
    for kind in range(5):
        left = graph.ever_left.get(kind)
        yield Section(f"ever_left.{kind}", "q", array("q", left.get(None, EVERY) if left is not None else ()))
        yield Section(f"left_seqs.{kind}", "q", graph.left_seqs.get(kind, array("q")))
    yield Section("identity_seqs", "q", graph.identity_seqs)
    yield Section("merged_from", "m", [[target, list(rows)] for target, rows in graph.merged_from.items()])


def _control(graph: Graph, notes: Mapping[str, list[Json]]) -> Iterator[Section]:
    yield Section("controls", "m", [list(control) for control in graph.controls])
    inputs = [[code, *reference] for code, found in graph.inputs.items() for reference in found]
    yield Section("inputs", "m", inputs)
    kept = [[seq, code, dict(entry)] for (seq, code), entry in graph.kept_entries.items()]
    yield Section("kept_entries", "m", kept)
    yield Section("notes", "m", dict(notes))


def _dense(name: str, posting: Dense) -> Iterator[Section]:
    heads, runs = posting.freeze()
    yield Section(f"{name}.heads", "i", heads)
    yield Section(f"{name}.starts", "I", runs.starts)
    yield Section(f"{name}.rows", "i", runs.rows)


def _terms(name: str, posting: Terms) -> Iterator[Section]:
    concepts, literals, others = posting.parts()
    yield from _dense(f"{name}.concepts", concepts)
    yield from _dense(f"{name}.literals", literals)
    yield from _keyed_ints(f"{name}.others", others)


def _keyed_ints(name: str, posting: Keyed) -> Iterator[Section]:
    found: list[Any] = sorted(posting.items(), key=_first)
    yield Section(f"{name}.keys", "q", array("q", [key for key, _ in found]))
    yield from _runs(name, "q", [rows for _, rows in found])


def _keyed_texts(name: str, posting: Keyed) -> Iterator[Section]:
    found: list[Any] = sorted(posting.items(), key=_first)  # the order of texts is that of their UTF-8
    yield from _texts(name, [str(key) for key, _ in found])
    yield from _runs(f"{name}.runs", "q", [rows for _, rows in found])


def _texts(name: str, texts: Sequence[str]) -> Iterator[Section]:
    """Texts that are sorted already."""
    yield from _blobs(name, map(encoded, texts))
    yield Section(f"{name}.order", "i", array("i", range(len(texts))))


def _map(
    name: str,
    held: MutableMapping[Any, Any],
    pack_value: Callable[[Any], bytes] | None,
    *,
    text: bool = False,
    pack_item: Callable[[Any, Any], bytes] | None = None,
) -> Iterator[Section]:
    """A side table: sorted keys and their values as bytes. What was not touched stays as it lies."""

    def packed(key: Any, value: Any) -> bytes:
        if pack_item is not None:
            return pack_item(key, value)
        assert pack_value is not None
        return pack_value(value)

    found: list[tuple[Any, Any]] = []
    if isinstance(held, Thawing):
        found.extend(held.packed())
        held = held.newest()
    found.extend((key, packed(key, value)) for key, value in held.items())
    found.sort(key=_first)
    if text:
        yield from _texts(name, [key for key, _ in found])
    else:
        yield Section(f"{name}.keys", "q", array("q", [key for key, _ in found]))
    yield from _blobs(f"{name}.values", (value for _, value in found))


def _blobs(name: str, values: Iterable[bytes | bytearray]) -> Iterator[Section]:
    starts, data = array("Q", (0,)), bytearray()
    for value in values:
        data += value
        starts.append(len(data))
    yield Section(f"{name}.starts", "Q", starts)
    yield Section(f"{name}.bytes", "b", data)


def _runs(name: str, kind: str, runs: Iterable[Sequence[int]]) -> Iterator[Section]:
    made = Runs(array("I", (0,)), array(kind))
    for run in runs:
        made.rows.extend(run)
        made.starts.append(len(made.rows))
    yield Section(f"{name}.starts", "I", made.starts)
    yield Section(f"{name}.rows", kind, made.rows)


def _packed_edges(edges: Sequence[Edge]) -> bytes:
    return pack(pack_edges(_CONTEXT, edges))


_first = itemgetter(0)


def _never(what: str) -> Any:
    raise KipError("InternalError", what)
