"""Records as lists of members, checked one by one when they are read (specification §6, §10-§16).

The members of a kind stand in a fixed order, nil where a member is its default, cut after the last that is not.
A frame numbers the symbols its records use; a Literal travels as `[value]`, a reference as the element's code.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, NamedTuple

from kipql.model import (
    ACTIVITY,
    ACTIVITY_STATUSES,
    ASSERTION_STATUSES,
    CONCEPT,
    EVIDENCE_STATUSES,
    NOTHING,
    PROPOSITION,
    STATES,
    Activity,
    AnyRecord,
    Assertion,
    Concept,
    Edge,
    Evidence,
    Origin,
    Planes,
    Proposition,
    Retention,
)
from kipql.store.codec import Invalid
from kipql.store.graph import KIND_OF_CLASS
from kipql.store.symbols import Symbols
from kipql.times import BEGINNING, FOREVER, Bound, Interval
from kipql.values import CanonicalReference, Json, Scalar, number_problem


class Context:
    """What records of one frame refer to: its symbols, its origin, the Literals, how many rows there will be."""

    __slots__ = ("_numbers", "blank", "bounds", "intern", "literal", "literals", "origin", "refs")

    def __init__(
        self,
        origin: Origin,
        *,
        refs: Sequence[str] = (),
        literal: Callable[[int], Scalar] | None = None,
        intern: Callable[[Scalar], int] | None = None,
        blank: Callable[[], int] | None = None,
        bounds: Sequence[int] = (),
    ) -> None:
        self.origin = origin
        self.refs: list[str] = list(refs)
        self.literal = literal
        self.intern = intern
        self.blank = blank
        self.bounds = bounds
        self.literals: int | None = None
        self._numbers = {ref: number for number, ref in enumerate(self.refs)}

    def number(self, ref: str) -> int:
        """The number of a symbol in this frame, given now if it is new."""
        known = self._numbers.get(ref)
        if known is None:
            known = self._numbers[ref] = len(self.refs)
            self.refs.append(ref)
        return known


class WholeContext(Context):
    """What records of a snapshot refer to: symbols by the store's numbers, Literals by their codes."""

    __slots__ = ("_symbols",)

    def __init__(self, origin: Origin, symbols: Symbols, bounds: Sequence[int], literals: int) -> None:
        self.origin = origin
        self.refs = symbols.refs
        self.bounds = bounds
        self.literals = literals  # how many there are
        self._symbols = symbols

    def number(self, ref: str) -> int:
        """The number of a symbol in the store."""
        return self._symbols.number(ref)


Pack = Callable[[Context, Any], Json]
Unpack = Callable[[Context, Json], Any]


class Member(NamedTuple):
    """One member of a record and how it travels."""

    name: str
    pack: Pack
    unpack: Unpack


# reading, member by member


def _same(context: Context, value: Any) -> Json:
    return value


def _text(context: Context, data: Json) -> str:
    if not isinstance(data, str):
        raise Invalid("a text is expected")
    return data


def _boolean(context: Context, data: Json) -> bool:
    if not isinstance(data, bool):
        raise Invalid("a boolean is expected")
    return data


def _word(*allowed: str) -> Unpack:
    def unpack_word(context: Context, data: Json) -> str:
        if data not in allowed or not isinstance(data, str):
            raise Invalid(f"one of {', '.join(allowed)} is expected")
        return data

    return unpack_word


def _integer(data: Json, low: int, high: int) -> int:
    if isinstance(data, bool) or not isinstance(data, int) or not low <= data <= high:
        raise Invalid("an integer in range is expected")
    return data


def _instant(context: Context, data: Json) -> int:
    return _integer(data, BEGINNING, FOREVER)


def _confidence(context: Context, data: Json) -> int | float:
    if isinstance(data, bool) or not isinstance(data, int | float) or not 0 <= data <= 1:
        raise Invalid("a number from 0 to 1 is expected")
    return data


def _json(context: Context, data: Json) -> Json:
    """A value whose numbers are those that JSON carries everywhere (§9.3)."""
    if data is None or isinstance(data, str | bool):
        return data
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, int | float) and number_problem(value) is not None:
            raise Invalid("a number that no JSON carries")
    return data


def _object(context: Context, data: Json) -> dict[str, Json]:
    if not isinstance(data, dict):
        raise Invalid("an object is expected")
    _json(context, data)
    return data


def _list(data: Json) -> list[Json]:
    if not isinstance(data, list):
        raise Invalid("a list is expected")
    return data


def _fixed(data: Json, *lengths: int) -> list[Json]:
    if not isinstance(data, list) or len(data) not in lengths:
        raise Invalid(f"a list of {lengths[0]} is expected")
    return data


def _code(context: Context, data: Json) -> int:
    code = _integer(data, 0, 1 << 40)
    if code & 7 > ACTIVITY or (code >> 3) >= context.bounds[code & 7]:
        raise Invalid("a reference to an element that does not exist")
    return code


def _code_of(kind: int) -> Unpack:
    def unpack_code(context: Context, data: Json) -> int:
        code = _code(context, data)
        if code & 7 != kind:
            raise Invalid("a reference to an element of another kind")
        return code

    return unpack_code


def _symbol(context: Context, data: Json) -> str:
    return context.refs[_integer(data, 0, len(context.refs) - 1)]


def _pack_symbol(context: Context, ref: str) -> int:
    return context.number(ref)


def _codes(context: Context, data: Json) -> tuple[int, ...]:
    return tuple(_code(context, item) for item in _list(data))


def _texts(context: Context, data: Json) -> tuple[str, ...]:
    return tuple(_text(context, item) for item in _list(data))


def pack_edges(context: Context, edges: Sequence[Edge]) -> Json:
    """`[code | [code, role], ...]`."""
    return [edge.target if edge.role is None else [edge.target, edge.role] for edge in edges]


def unpack_edges(context: Context, data: Json) -> tuple[Edge, ...]:
    """Raises Invalid."""
    found = []
    for item in _list(data):
        if isinstance(item, list):
            target, role = _fixed(item, 2)
            found.append(Edge(_code(context, target), _text(context, role)))
        else:
            found.append(Edge(_code(context, item)))
    return tuple(found)


def _pack_term(context: Context, term: int) -> Json:
    """A code, or `[literal]`; a Literal whose bytes were erased is `[]`, an unresolved identity `[{canonical_id}]`."""
    if term >= 0 or context.literals is not None:
        return term
    assert context.literal is not None
    value: Any = context.literal(term)
    if isinstance(value, CanonicalReference):
        return [{"canonical_id": value.canonical_id}]
    return [] if value is ERASED else [value]


class _Erased:
    """Stands for a Literal without bytes, so that it is not taken for null."""


ERASED: Any = _Erased()


def _term(context: Context, data: Json) -> int:
    if not isinstance(data, list):
        if context.literals is not None and isinstance(data, int) and -context.literals <= data < 0:
            return data
        return _code(context, data)
    if context.literals is not None:
        raise Invalid("a term is expected")
    assert context.intern is not None and context.blank is not None
    if not _fixed(data, 1, 0):
        return context.blank()
    value = data[0]
    if isinstance(value, dict):
        value = CanonicalReference(_required_text(value))
    elif value is not None and not isinstance(value, str | int | float):
        raise Invalid("a Literal is expected")
    return context.intern(value)


def _required_text(data: Json) -> str:
    text = data.get("canonical_id")
    if len(data) != 1 or not isinstance(text, str):
        raise Invalid("a canonical_id is expected")
    return text


def pack_interval(context: Context, valid: Interval) -> Json:
    """`[from, until]`, each nil, an instant or `[earliest, latest]`."""
    return [None if bound is None else bound.earliest if bound.exact else list(bound) for bound in valid]


def unpack_interval(context: Context, data: Json) -> Interval:
    """Raises Invalid."""
    start, end = (_bound(context, side) for side in _fixed(data, 2))
    return Interval(start, end)


def _bound(context: Context, data: Json) -> Bound | None:
    if data is None:
        return None
    if isinstance(data, int):
        instant = _instant(context, data)
        return Bound(instant, instant)
    earliest, latest = (None if side is None else _instant(context, side) for side in _fixed(data, 2))
    if earliest is None and latest is None:
        raise Invalid("a time bound needs a side")
    return Bound(earliest, latest)


def _pack_retention(context: Context, hook: Retention) -> Json:
    return [hook.retention_class, hook.expires_at, hook.legal_hold]


def _retention(context: Context, data: Json) -> Retention:
    name, expires, hold = _fixed(data, 3)
    if not isinstance(hold, bool):
        raise Invalid("a boolean is expected")
    return Retention(
        None if name is None else _text(context, name), None if expires is None else _instant(context, expires), hold
    )


def _pack_mapping(context: Context, value: Mapping[str, Any]) -> Json:
    return dict(value)


def _facets(context: Context, data: Json) -> Mapping[str, Mapping[str, Json]]:
    return {ref: _object(context, members) for ref, members in _object(context, data).items()}


def _pack_structural(context: Context, value: Mapping[str, tuple[Edge, ...]]) -> Json:
    return {ref: pack_edges(context, edges) for ref, edges in value.items()}


def _structural(context: Context, data: Json) -> Mapping[str, tuple[Edge, ...]]:
    return {ref: unpack_edges(context, edges) for ref, edges in _object(context, data).items()}


def pack_origin(origin: Origin) -> Json:
    """`[principal, channel, import]`."""
    return [origin.principal_id, origin.channel, origin.import_id]


def unpack_origin(data: Json) -> Origin:
    """Raises Invalid."""
    principal, channel, imported = _fixed(data, 3)
    if not isinstance(principal, str) or not isinstance(channel, str) or not isinstance(imported, str | None):
        raise Invalid("an origin is expected")
    return Origin(principal, channel, imported)


def _pack_origin(context: Context, origin: Origin) -> Json:
    return None if origin == context.origin else pack_origin(origin)


def _origin(context: Context, data: Json) -> Origin:
    return unpack_origin(data)


def pack_planes(planes: Planes) -> Json:
    """`[attributes, structural, retention, {facet: n}]`."""
    return [planes.attributes, planes.structural, planes.retention, dict(planes.facets)]


def unpack_planes(data: Json) -> Planes:
    """Raises Invalid."""
    one, two, three, facets = _fixed(data, 4)
    if not isinstance(facets, dict):
        raise Invalid("an object is expected")
    attributes, structural, retention = (_integer(count, 0, FOREVER) for count in (one, two, three))
    named = {ref: _integer(count, 0, FOREVER) for ref, count in facets.items()}
    return Planes(attributes, structural, retention, named or NOTHING)


def _versions(context: Context, data: Json) -> Mapping[str, int]:
    return {name: _integer(count, 0, FOREVER) for name, count in _object(context, data).items()}


def _plain(*names: str) -> list[Member]:
    return [Member(name, _same, _text) for name in names]


def _edge_members(*names: str) -> list[Member]:
    return [Member(name, pack_edges, unpack_edges) for name in names]


def _code_members(*names: str) -> list[Member]:
    return [Member(name, _same, _codes) for name in names]


_COMMON = [
    Member("client_key", _same, _text),
    Member("facets", _pack_mapping, _facets),
    Member("structural", _pack_structural, _structural),
    Member("origin", _pack_origin, _origin),
    Member("state", _same, _word(*STATES)),
    Member("retention", _pack_retention, _retention),
    Member("classification", _same, _text),
    Member("repaired_by", _same, _code_of(ACTIVITY)),
    Member("authority_class", _same, _text),
    Member("quarantined", _same, _boolean),
]

MEMBERS: dict[type, list[Member]] = {
    Concept: [
        Member("schema", _pack_symbol, _symbol),
        *_plain("key", "name"),
        Member("attributes", _pack_mapping, _object),
        Member("merged_into", _same, _code_of(CONCEPT)),
        Member("canonical_id", _same, _text),
        Member("aliases", _same, _texts),
        *_COMMON,
    ],
    Proposition: [
        Member("subject", _same, _code),
        Member("predicate", _pack_symbol, _symbol),
        Member("object", _pack_term, _term),
        *_COMMON,
    ],
    Assertion: [
        Member("proposition", _same, _code_of(PROPOSITION)),
        Member("asserted_by", _same, _code),
        *_plain("stance", "mode"),
        Member("asserted_at", _same, _instant),
        Member("confidence", _same, _confidence),
        *_edge_members("evidence"),
        Member("valid", pack_interval, unpack_interval),
        Member("context", _same, _codes),
        Member("status", _same, _word(*ASSERTION_STATUSES)),
        *_code_members("supersedes", "superseded_by"),
        Member("retracted_at", _same, _instant),
        *_COMMON,
    ],
    Evidence: [
        *_plain("evidence_class"),
        Member("payload", _same, _json),
        *_plain("content_digest", "media_type"),
        Member("observed_at", _same, _instant),
        *_edge_members("source", "generated_by"),
        Member("status", _same, _word(*EVIDENCE_STATUSES)),
        *_code_members("corrects", "corrected_by"),
        *_COMMON,
    ],
    Activity: [
        *_plain("activity_class"),
        Member("status", _same, _word(*ACTIVITY_STATUSES)),
        Member("started_at", _same, _instant),
        Member("ended_at", _same, _instant),
        *_plain("parameters_digest"),
        *_edge_members("inputs", "outputs", "associated_actors"),
        Member("input_versions", _pack_mapping, _versions),
        Member("output_versions", _pack_mapping, _versions),
        Member("output_plane_versions", _pack_mapping, _object),
        *_COMMON,
    ],
}
"""The members of each class in the order they are written; only ever extended at the end, with a new format."""

CLASSES: dict[int, type] = {kind: cls for cls, kind in KIND_OF_CLASS.items()}

_REQUIRED: Any = object()


def _defaults(cls: type) -> dict[str, Any]:
    found = {}
    for member in fields(cls):
        if member.default is not MISSING:
            found[member.name] = member.default
        elif member.default_factory is not MISSING:
            found[member.name] = NOTHING
        else:
            found[member.name] = _REQUIRED
    return found


_DEFAULTS = {cls: _defaults(cls) for cls in MEMBERS}


def pack_record(context: Context, record: AnyRecord) -> list[Json]:
    """The members of a record, nil for defaults, without a tail of nils."""
    defaults = _DEFAULTS[type(record)]
    found: list[Json] = []
    length = 0
    for member in MEMBERS[type(record)]:
        value = getattr(record, member.name)
        default = defaults[member.name]
        if member.name != "origin" and (value is default or value == default):
            found.append(None)
            continue
        packed = member.pack(context, value)
        found.append(packed)
        if packed is not None:
            length = len(found)
    return found[:length]


def unpack_record(context: Context, kind: int, data: Json) -> AnyRecord:
    """The record that members say. Raises Invalid."""
    cls = CLASSES[kind]
    members, defaults = MEMBERS[cls], _DEFAULTS[cls]
    values = _list(data)
    if len(values) > len(members):
        raise Invalid("a record has too many members")
    made: dict[str, Any] = {"origin": context.origin}
    for member, value in zip(members, values, strict=False):
        if value is not None:
            made[member.name] = member.unpack(context, value)
        elif defaults[member.name] is _REQUIRED:
            raise Invalid(f"{member.name} is missing")
    if missing := [m.name for m in members[len(values) :] if defaults[m.name] is _REQUIRED]:
        raise Invalid(f"{missing[0]} is missing")
    record: AnyRecord = cls(**made)
    return record
