"""A commit as JSON that people and `diff` can read, and the frame that the JSON says (docs/storage.md, "The dump").

Elements are named by their ids, symbols by their exact refs, instants as timestamps; members that are their default
are left out. Literals stand in a list, `[value]`, so that a text is told from an id; `[]` is one whose bytes were
erased. What is read back becomes a frame like any other: `frames.Replay` judges what it says.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kipql.model import KINDS, AnyRecord, Origin, element_id, parse_id
from kipql.store.codec import Invalid, pack
from kipql.store.frames import literal_of
from kipql.store.graph import Graph
from kipql.store.identity import InputReference
from kipql.store.packing import CLASSES, ERASED, MEMBERS, Context, pack_origin, pack_planes, pack_record
from kipql.store.states import state_at
from kipql.times import FIRST, LAST, format_instant, parse_instant
from kipql.values import Json, Scalar

Line = dict[str, Json]
_PLANES = ("attributes", "structural", "retention", "facets")
_RETENTION = ("retention_class", "expires_at", "legal_hold")
_ORIGIN = ("principal_id", "channel", "import_id")


class Commits:
    """The commits of a Space up to a sequence, each as a line."""

    def __init__(self, graph: Graph, upto: int) -> None:
        self._graph = graph
        self._identity = set(graph.identity_seqs)
        self._controls = _by_seq((seq, payload) for seq, _, payload in list(graph.controls))
        self._inputs = _by_seq((each.seq, (code, each)) for code, found in list(graph.inputs.items()) for each in found)
        self._kept = _by_seq((seq, (code, entry)) for (seq, code), entry in list(graph.kept_entries.items()))
        self._keys = _by_seq(_client_keys(graph, upto))

    def line(self, seq: int) -> Line:
        """A commit."""
        graph = self._graph
        history = graph.history
        origin, low, high = history.origin(seq), history.bounds(seq - 1), history.bounds(seq)
        context = _Named(origin, literal_of(graph))
        made = [row * 8 + kind for kind in range(5) for row in range(low[kind], high[kind])]
        kinds = history.controls.get(seq, ())
        line: Line = {
            "commit": seq,
            "at": _moment(history.at(seq)),
            "class": history.transaction_class(seq),
            "origin": _named(_ORIGIN, pack_origin(origin)),
            "create": [{"id": element_id(code), **_record(context, state_at(graph, code, seq))} for code in made],
            "change": [self._change(context, code, seq) for code in history.changed(seq)],
            "control": [
                {**change, "payload": payload}
                for change, payload in zip(kinds, self._controls.get(seq, ()), strict=True)
            ],
            "client_keys": sorted(self._keys.get(seq, ()), key=lambda key: (key["kind"], key["key"])),
            "redirected": [_redirected(code, each) for code, each in self._inputs.get(seq, ())],
            "kept": {element_id(code): dict(entry) for code, entry in self._kept.get(seq, ())},
            "identity": seq in self._identity,
        }
        return {name: value for name, value in line.items() if value not in ([], {}, False)}

    def _change(self, context: Context, code: int, seq: int) -> Line:
        state = state_at(self._graph, code, seq)
        if state.seq != seq:  # what was said then was purged later
            return {"id": element_id(code)}
        planes = _named(_PLANES, pack_planes(state.planes))
        return {"id": element_id(code), "version": state.version, "planes": planes, "record": _record(context, state)}


def frame(line: Mapping[str, Json], counts: list[int]) -> bytes:
    """The payload of the commit that a line says; `counts` are the elements per kind, and grow. Raises Invalid."""
    _known(line, ("commit", "at", "class", "origin", *_LISTS, "kept", "identity"))
    origin = _unnamed(_ORIGIN, line.get("origin"))
    context = Context(Origin(*_texts(origin[:2])))
    new: list[list[Json]] = [[], [], [], [], []]
    for item in _list(line, "create"):
        code = _code(item["id"])
        if code >> 3 != counts[code & 7]:
            raise Invalid(f"{item['id']} is created out of order")
        counts[code & 7] += 1
        new[code & 7].append(_packed(context, code & 7, {name: item[name] for name in item if name != "id"}))
    members: dict[str, Json] = {
        "t": _instant(line.get("at")),
        "c": line.get("class"),
        "o": origin,
        "n": new,
        "u": [_changed(context, item) for item in _list(line, "change")],
        "x": [[item["kind"], item["payload"], item["version"]] for item in _list(line, "control")],
        "k": [
            [KINDS.index(item["kind"]), item["key"], item["fingerprint"], _code(item["id"])]
            for item in _list(line, "client_keys")
        ],
        "b": [
            [_code(item["id"]), item["path"], *(_code(item[name]) for name in _CODES), item["identity_version"]]
            for item in _list(line, "redirected")
        ],
        "e": [[_code(name), entry] for name, entry in dict(line.get("kept") or {}).items()],
        "m": 1 if line.get("identity") else None,
        "s": context.refs,
    }
    return pack({name: value for name, value in members.items() if value is not None})


_LISTS = ("create", "change", "control", "client_keys", "redirected")
_CODES = ("supplied", "resolved")


class _Named(Context):
    """Symbols stand for themselves."""

    __slots__ = ("_literal_of",)

    def __init__(self, origin: Origin, literal: Callable[[int], Scalar]) -> None:
        super().__init__(origin, literal=literal)
        self._literal_of = literal

    def number(self, ref: str) -> Any:
        return ref

    def of(self, record: AnyRecord) -> "Context":
        """Ready for a record: a stub is written without the Literal it had."""
        self.literal = _erased if record.state == "purged" else self._literal_of
        return self


def _erased(code: int) -> Scalar:
    found: Scalar = ERASED
    return found


# a record's members, written and read


def _record(context: Context, record: AnyRecord) -> Line:
    assert isinstance(context, _Named)
    packed = pack_record(context.of(record), record)
    members = zip(MEMBERS[type(record)], packed, strict=False)
    return {member.name: _shape(member.name)[0](value) for member, value in members if value is not None}


def _packed(context: Context, kind: int, data: Mapping[str, Json]) -> list[Json]:
    members = MEMBERS[CLASSES[kind]]
    _known(data, [member.name for member in members])
    found: list[Json] = []
    for member in members:
        value = data.get(member.name)
        if value is not None and member.name in ("schema", "predicate"):
            value = context.number(*_texts([value]))
        elif value is not None:
            value = _shape(member.name)[1](value)
        found.append(value)
    return found


def _changed(context: Context, item: Mapping[str, Json]) -> list[Json]:
    _known(item, ("id", "version", "planes", "record"))
    code = _code(item["id"])
    if "record" not in item:
        return [code, None, 1, None]
    record = _packed(context, code & 7, item["record"])
    return [code, record, item["version"], _unnamed(_PLANES, item["planes"])]


def _same(value: Any) -> Any:
    return value


def _edges(value: Sequence[Any]) -> list[Json]:
    return [[element_id(edge[0]), edge[1]] if isinstance(edge, list) else element_id(edge) for edge in value]


def _read_edges(value: Json) -> list[Json]:
    edges = [[*map(_code, edge[:1]), *edge[1:]] if isinstance(edge, list) else _code(edge) for edge in _items(value)]
    return list(edges)


def _moment(instant: Any) -> Any:
    """A timestamp; an instant that no timestamp says stays a number."""
    return format_instant(instant) if FIRST <= instant <= LAST else instant


def _instant(value: Json) -> Json:
    return parse_instant(value) if isinstance(value, str) else value


def _moments(value: Any) -> Any:
    if isinstance(value, list):
        return [_moments(item) for item in value]
    return None if value is None else _moment(value)


def _read_moments(value: Json) -> Json:
    return [_read_moments(item) for item in value] if isinstance(value, list) else _instant(value)


def _retention(value: Sequence[Any]) -> Line:
    return _named(_RETENTION, [value[0], _moments(value[1]), value[2]])


def _read_retention(value: Json) -> list[Json]:
    name, expires, hold = _unnamed(_RETENTION, value)
    return [name, _instant(expires), hold]


def _term(value: Any) -> Json:
    return value if isinstance(value, list) else element_id(value)


def _read_term(value: Json) -> Json:
    return value if isinstance(value, list) else _code(value)


_Shape = tuple[Callable[[Any], Json], Callable[[Any], Json]]
_ONE: _Shape = (element_id, lambda value: _code(value))
_MANY: _Shape = (lambda value: [element_id(code) for code in value], lambda value: [*map(_code, _items(value))])
_EDGES: _Shape = (_edges, _read_edges)
_TIMES: _Shape = (_moments, _read_moments)
_SHAPES: dict[str, _Shape] = {
    **dict.fromkeys(("merged_into", "repaired_by", "subject", "proposition", "asserted_by"), _ONE),
    **dict.fromkeys(("context", "supersedes", "superseded_by", "corrects", "corrected_by"), _MANY),
    **dict.fromkeys(("evidence", "source", "generated_by", "inputs", "outputs", "associated_actors"), _EDGES),
    **dict.fromkeys(("valid", "asserted_at", "retracted_at", "observed_at", "started_at", "ended_at"), _TIMES),
    "structural": (
        lambda value: {ref: _edges(edges) for ref, edges in value.items()},
        lambda value: {ref: _read_edges(edges) for ref, edges in dict(value).items()},
    ),
    "object": (_term, _read_term),
    "origin": (lambda value: _named(_ORIGIN, value), lambda value: _unnamed(_ORIGIN, value)),
    "retention": (_retention, _read_retention),
}


def _shape(name: str) -> _Shape:
    return _SHAPES.get(name, (_same, _same))


# small forms


def _by_seq(found: Any) -> dict[int, list[Any]]:
    listed: dict[int, list[Any]] = {}
    for seq, item in found:
        listed.setdefault(seq, []).append(item)
    return listed


def _client_keys(graph: Graph, upto: int) -> Any:
    for name, (code, fingerprint) in list(graph.client_keys.items()):
        seq = graph.history.created_in(code & 7, code >> 3)
        if seq <= upto:
            kind, _, key = name.partition(":")
            yield seq, {"kind": KINDS[int(kind)], "key": key, "fingerprint": fingerprint, "id": element_id(code)}


def _redirected(code: int, each: InputReference) -> Line:
    return {
        "id": element_id(code),
        "path": each.path,
        "supplied": element_id(each.supplied),
        "resolved": element_id(each.resolved),
        "identity_version": each.identity_version,
    }


def _named(names: Sequence[str], values: Any) -> Line:
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def _unnamed(names: Sequence[str], value: Json) -> list[Json]:
    if not isinstance(value, dict):
        raise Invalid(f"an object of {', '.join(names)} is expected")
    _known(value, names)
    return [value.get(name) for name in names]


def _known(members: Mapping[str, Json], names: Sequence[str]) -> None:
    if not isinstance(members, dict):
        raise Invalid("an object is expected")
    if unknown := members.keys() - set(names):
        raise Invalid(f"there is no member {min(unknown)!r}")


def _list(line: Mapping[str, Json], name: str) -> list[Any]:
    found = _items(line.get(name, []))
    if not all(isinstance(item, dict) for item in found):
        raise Invalid(f"{name} holds objects")
    return found


def _items(value: Json) -> list[Any]:
    if not isinstance(value, list):
        raise Invalid("a list is expected")
    return value


def _texts(values: Sequence[Json]) -> list[str]:
    found = [value for value in values if isinstance(value, str)]
    if len(found) != len(values):
        raise Invalid("a text is expected")
    return found


def _code(value: Json) -> int:
    code = parse_id(value) if isinstance(value, str) else None
    if code is None:
        raise Invalid(f"{value!r} is no element id"[:200])
    return code
