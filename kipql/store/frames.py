"""What a frame says: a commit (its new elements, changed states and control changes) or a note (§33.1).

A commit's payload is a map; members that are empty are left out:

    t  instant          c  transaction class      o  origin
    s  symbols that its records number             n  new records, a list per kind
    u  [code, record or nil, version, planes] of older elements, in the order they changed
    k  client keys      x  control changes         i  the retained outcome
    b  [code, path, supplied, resolved, identity version] of references that a merge redirected
    m  1 when canonical resolution changed (the records that say how may have been erased)
    e  [code, entry] of change entries whose states were erased since

A note's payload is `[kind, payload]`.
"""

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import Any

from kipql.model import AnyRecord, Assertion, Origin
from kipql.store import changes, erasure
from kipql.store.codec import Invalid, pack, unpack
from kipql.store.environments import Environments
from kipql.store.erasure import PURGED_PAYLOAD, Erasure
from kipql.store.graph import Graph, client_key_name
from kipql.store.history import Bounds
from kipql.store.identity import InputReference
from kipql.store.packing import (
    ERASED,
    Context,
    pack_origin,
    pack_planes,
    pack_record,
    unpack_origin,
    unpack_planes,
    unpack_record,
)
from kipql.store.states import state_at
from kipql.times import FIRST, LAST
from kipql.values import Json, Scalar

CONTROL_KINDS = ("trust", "policy", "schema", "identity", "authorization", "recording")
Entries = Mapping[tuple[int, int], changes.Entry]


def note(kind: str, payload: Json) -> bytes:
    """The payload of a note."""
    return pack([kind, payload])


def read_note(payload: memoryview) -> tuple[str, Json]:
    """The kind and payload of a note. Raises Invalid."""
    found = unpack(payload)
    if not isinstance(found, list) or len(found) != 2 or not isinstance(found[0], str):
        raise Invalid("a note is [kind, payload]")
    return found[0], found[1]


def commit(
    graph: Graph,
    seq: int,
    *,
    at: int,
    origin: Origin,
    transaction_class: str,
    start: Bounds,
    changed: Sequence[int],
    client_keys: Sequence[tuple[int, str]],
    controls: Sequence[tuple[str, Json, str]],
    inputs: Sequence[tuple[int, InputReference]],
    idempotency: Json,
    kept: Entries,
) -> bytes:
    """The payload of the commit whose writes are in the graph, past `start`."""
    context = Context(origin, literal=literal_of(graph))
    ends = graph.counts()
    new = [
        [pack_record(context, state_at(graph, row * 8 + kind, seq)) for row in range(start[kind], ends[kind])]
        for kind in range(5)
    ]
    states = [(code, state_at(graph, code, seq)) for code in changed]
    members: dict[str, Json] = {
        "t": at,
        "c": transaction_class,
        "o": pack_origin(origin),
        "n": new if any(new) else None,
        "u": [_pack_change(context, code, state) for code, state in states],
        "k": [[kind, key, *reversed(graph.client_keys[client_key_name(kind, key)])] for kind, key in client_keys],
        "x": [list(control) for control in controls],
        "b": [[code, *reference[1:]] for code, reference in inputs],
        "i": idempotency,
        "m": 1 if graph.changed_identity(seq) else None,
        "e": [[code, dict(entry)] for (at_seq, code), entry in kept.items() if at_seq == seq],
        "s": context.refs,
    }
    return pack({name: value for name, value in members.items() if value not in (None, [])})


def _pack_change(context: Context, code: int, state: AnyRecord) -> Json:
    literal = context.literal
    if state.state == "purged":
        context.literal = _erased  # a stub is written without the Literal it had
    packed = pack_record(context, state)
    context.literal = literal
    return [code, packed, state.version, pack_planes(state.planes)]


def _erased(code: int) -> Scalar:
    found: Scalar = ERASED
    return found


def literal_of(graph: Graph) -> Any:
    """Literal values for packing; erased ones are told from null."""
    literals = graph.literals

    def value(code: int) -> Scalar:
        return ERASED if literals.is_erased(code) else literals.value(code)

    return value


def instant_of(payload: memoryview) -> int:
    """The instant of a commit's frame. Raises Invalid."""
    found = _members(unpack(payload))["t"]
    if isinstance(found, bool) or not isinstance(found, int):
        raise Invalid("a commit time is expected")
    return found


class Replay:
    """Applies the frames of a journal to an empty graph, checking everything it reads."""

    def __init__(self, graph: Graph, environments: Environments) -> None:
        self._graph = graph
        self._environments = environments
        self.idempotency: MutableMapping[str, Json] = {}

    def apply(self, seq: int, payload: memoryview) -> None:
        """Apply one commit. Raises Invalid."""
        frame = _members(unpack(payload))
        graph = self._graph
        at = frame["t"]
        if isinstance(at, bool) or not isinstance(at, int) or not FIRST <= at <= LAST:
            raise Invalid("a commit time is expected")
        origin = unpack_origin(frame["o"])
        self._controls(seq, frame.get("x", []))
        graph.pending_at, graph.pending_origin = at, origin
        new = frame.get("n", [[], [], [], [], []])
        if not isinstance(new, list) or len(new) != 5 or not all(isinstance(rows, list) for rows in new):
            raise Invalid("new elements are five lists")
        counts = graph.counts()
        ends = tuple(count + len(rows) for count, rows in zip(counts, new, strict=True))
        context = self._context(origin, frame.get("s", []), ends)
        for kind, rows in enumerate(new):
            for members in rows:
                self._create(context, kind, members, seq)
        changed = [self._change(context, entry, seq, counts) for entry in _list(frame.get("u", []))]
        for code, entry in _pairs(frame.get("e", [])):
            graph.kept_entries[seq, code] = entry
        self._client_keys(frame.get("k", []))
        self._inputs(frame.get("b", []), seq, ends)
        transaction_class = frame["c"]
        if not isinstance(transaction_class, str):
            raise Invalid("a transaction class is expected")
        if frame.get("m"):
            graph.note_identity(seq)
        erased = self._erased(changed, seq)
        graph.committed(at, changed, origin, transaction_class)
        for each in erased:
            # a state that a snapshot held is still there, and the frame that wrote it may not be
            for place, entry in erasure.entries_to_keep(graph, each, seq).items():
                graph.kept_entries.setdefault(place, entry)
            erasure.erase(graph, each)
        if frame.get("i") is not None:
            self.remember(frame["i"])

    def remember(self, outcome: Json) -> None:
        """A retained outcome, of a commit or of a note. Raises Invalid."""
        if not isinstance(outcome, dict) or not isinstance(outcome.get("key"), str):
            raise Invalid("a retained outcome has a key")
        self.idempotency[outcome["key"]] = outcome

    def _context(self, origin: Origin, refs: Json, bounds: Sequence[int]) -> Context:
        if not all(isinstance(ref, str) for ref in _list(refs)):
            raise Invalid("symbols are texts")
        literals = self._graph.literals
        return Context(origin, refs=refs, intern=literals.intern, blank=literals.blank, bounds=bounds)

    def _create(self, context: Context, kind: int, members: Json, seq: int) -> None:
        record = unpack_record(context, kind, members)
        if isinstance(record, Assertion) and (record.proposition >> 3) >= len(self._graph.propositions):
            raise Invalid("an Assertion on a Proposition that does not exist")
        self._graph.create(record, seq, context.origin)

    def _change(self, context: Context, data: Json, seq: int, counts: Bounds) -> int:
        if not isinstance(data, list) or len(data) != 4:
            raise Invalid("a change is [code, record, version, planes]")
        code, members, version, planes = data
        if isinstance(code, bool) or not isinstance(code, int) or code < 0 or code & 7 > 4:
            raise Invalid("a change names an element")
        if (code >> 3) >= counts[code & 7] or isinstance(version, bool) or not isinstance(version, int):
            raise Invalid("a change of an element that does not exist")
        if members is not None:
            record = unpack_record(context, code & 7, members)
            newest = self._graph.head(code)
            kept = replace(record, version=version, planes=unpack_planes(planes), seq=seq, prev=newest)
            self._graph.put(code, kept)
        return code

    def _erased(self, changed: Sequence[int], seq: int) -> list[Erasure]:
        """What the commit erased: its frames were rewritten then, so the states before may already be stubs."""
        found = erasure.erasures(self._graph, tuple(changed), seq)
        known = {each.code for each in found}
        for code in changed:
            state = state_at(self._graph, code, seq)
            if code not in known and state.state == "purged" and state.seq == seq:
                found.append(Erasure(code, False))
        return found

    def _controls(self, seq: int, data: Json) -> None:
        found = []
        for control in _list(data):
            if not isinstance(control, list) or len(control) != 3 or control[0] not in CONTROL_KINDS:
                raise Invalid("a control change is [kind, payload, version]")
            kind, payload, version = control
            if kind == "schema":
                self._environments.add(seq, schema_change(payload))
            found.append({"kind": kind, "version": str(version)})
            self._graph.note_control(seq, kind, payload)
        if found:
            self._graph.history.controls[seq] = tuple(found)

    def _inputs(self, data: Json, seq: int, ends: Sequence[int]) -> None:
        for item in _list(data):
            if not isinstance(item, list) or [type(part) for part in item] != [int, str, int, int, int]:
                raise Invalid("an input reference is [code, path, supplied, resolved, identity version]")
            for code in (item[0], item[2], item[3]):
                if code < 0 or code & 7 > 4 or (code >> 3) >= ends[code & 7]:
                    raise Invalid("an input reference names an element that does not exist")
            self._graph.note_input(item[0], InputReference(seq, *item[1:]))

    def _client_keys(self, data: Json) -> None:
        for item in _list(data):
            if not isinstance(item, list) or [type(part) for part in item] != [int, str, str, int]:
                raise Invalid("a client key is [kind, key, fingerprint, code]")
            kind, key, fingerprint, code = item
            self._graph.client_keys[client_key_name(kind, key)] = (code, fingerprint)


def schema_change(payload: Json) -> Mapping[str, Json]:
    """The payload of a schema change, in form (`environments`). Raises Invalid."""
    if not isinstance(payload, dict) or not payload.keys() & {"packages", "define", "promote"}:
        raise Invalid("a schema change has packages or draft symbols")
    for member in ("packages", "define", "promote"):
        for item in _list(payload.get(member, [])):
            wanted = {"packages": dict, "define": list, "promote": list}[member]
            if not isinstance(item, wanted) or (wanted is list and len(item) != 3):
                raise Invalid(f"a schema change has a malformed {member}")
    return payload


def stripped(
    payload: memoryview, seq: int, graph: Graph, erased: Mapping[int, Erasure], rows: Mapping[int, int], kept: Entries
) -> bytes:
    """The payload of an older commit without what is erased.

    rows  code -> position in this frame's list of new records, for the elements it created
    """
    frame = _members(unpack(payload))
    origin = unpack_origin(frame["o"])
    context = Context(origin, refs=frame.get("s", []), literal=_erased)
    for code, position in rows.items():
        members = frame["n"][code & 7][position]
        frame["n"][code & 7][position] = _without_bytes(context, graph, members, erased[code])
    for change in frame.get("u", []):
        which = erased.get(change[0])
        if which is not None:
            change[1] = _without_bytes(context, graph, change[1], which) if which.payload_only else None
    gone = {code for code, which in erased.items() if not which.payload_only}
    if (kept_inputs := [item for item in frame.get("b", []) if item[0] not in gone]) != frame.get("b", []):
        frame["b"] = kept_inputs
    entries = dict(_pairs(frame.get("e", [])))
    entries |= {code: dict(entry) for (at, code), entry in kept.items() if at == seq}
    if entries:
        frame["e"] = [[code, entry] for code, entry in entries.items()]
    if context.refs:
        frame["s"] = context.refs
    return pack(frame)


def _without_bytes(context: Context, graph: Graph, members: Json, which: Erasure) -> Json:
    if which.payload_only:
        return [*members[:1], PURGED_PAYLOAD, *members[2:]] if members is not None else None
    stub = graph.head(which.code)
    assert stub is not None
    return pack_record(context, stub)


def _members(data: Json) -> dict[str, Json]:
    if not isinstance(data, dict) or not {"t", "c", "o"} <= data.keys():
        raise Invalid("a commit is a map with t, c and o")
    return data


def _list(data: Json) -> list[Json]:
    if not isinstance(data, list):
        raise Invalid("a list is expected")
    return data


def _pairs(data: Json) -> list[tuple[int, changes.Entry]]:
    found = []
    for item in _list(data):
        if (
            not isinstance(item, list)
            or len(item) != 2
            or not isinstance(item[0], int)
            or not isinstance(item[1], dict)
        ):
            raise Invalid("a kept entry is [code, entry]")
        found.append((item[0], item[1]))
    return found
