"""Path getters: one member of an element without making the whole element (specification §44.1).

A getter answers exactly what walking the wire element would, null where the path is missing. It is made once per
path and called per row; common paths read a record or a column directly. A Facet step may be a local name, a
lineage or an exact ref; `canonical_subject` and `canonical_object` are virtual members of a Proposition.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kipql.model import (
    ACTIVITY,
    ASSERTION,
    CONCEPT,
    EVIDENCE,
    KINDS,
    MODES,
    PREFIXES,
    PROPOSITION,
    STANCES,
    AnyRecord,
    element_id,
)
from kipql.store import computed, elements
from kipql.store.frozen import UNREAD
from kipql.store.records import MODE_MASK, MODE_SHIFT, STANCE_MASK
from kipql.store.states import kept_state, state_at
from kipql.times import format_instant
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View

Getter = Callable[["View", int], Json]
Steps = tuple[str, ...]


def getter(kind: int, steps: Sequence[str]) -> Getter:
    """The getter of a path below elements of a kind; the empty path is the whole element."""
    path = tuple(steps)
    if not path:
        return lambda view, row: view.element(row * 8 + kind)
    made = _fast(kind, path)
    return made if made is not None else _walking(kind, path)


def read(view: "View", code: int, steps: Sequence[str]) -> Json:
    """One path of one element."""
    return getter(code & 7, steps)(view, code >> 3)


def walk(value: Json, steps: Sequence[str]) -> Json:
    """A path inside a JSON value; null where it is missing."""
    for step in steps:
        if not isinstance(value, Mapping):
            return None
        value = value.get(step)
    return elements.copied(value)


def record_reader(kind: int, steps: Steps) -> Callable[[AnyRecord], Json] | None:
    """Reads a path from a record alone, for postings; None for what needs more than the record."""
    head, rest = steps[0], steps[1:]
    if head in _SCALARS[kind]:
        return None if rest else _attribute(_SCALARS[kind][head])
    if kind == CONCEPT and head == "attributes" and rest:
        return lambda record: _reach(record.attributes, rest)  # type: ignore[union-attr]
    if kind == EVIDENCE and head == "payload" and rest:
        return lambda record: _reach(record.payload, rest)  # type: ignore[union-attr]
    if kind == EVIDENCE and steps == ("lifecycle", "status"):
        return _attribute("status")
    return None


def facet(view: "View", facets: Mapping[str, Any], name: str) -> tuple[str, Mapping[str, Json]] | None:
    """The Facet that a step names, with its exact ref (§44.1: Facet names match by lineage)."""
    if not facets:
        return None
    if name in facets:
        return name, facets[name]
    if name.startswith("kip://"):
        lineage = view.environment.lineage(name)
        matching = [ref for ref in facets if view.environment.lineage(ref) == lineage]
    else:
        matching = [ref for ref in facets if ref.rpartition("/")[2] == name]
    return (matching[0], facets[matching[0]]) if len(matching) == 1 else None


# what a record's member is called, where the wire name and the record's differ in nothing but the name

_SCALARS: dict[int, dict[str, str]] = {
    CONCEPT: {n: n for n in ("key", "name", "canonical_id", "client_key")} | {"schema_ref": "schema"},
    PROPOSITION: {"client_key": "client_key", "predicate_ref": "predicate"},
    ASSERTION: {n: n for n in ("stance", "mode", "confidence", "client_key")},
    EVIDENCE: {n: n for n in ("evidence_class", "content_digest", "media_type", "client_key")},
    ACTIVITY: {n: n for n in ("activity_class", "status", "parameters_digest", "client_key")},
}
_INSTANTS = {
    ASSERTION: ("asserted_at",),
    EVIDENCE: ("observed_at",),
    ACTIVITY: ("started_at", "ended_at"),
}
_SYSTEM = {"version": "version", "state": "state"}


def _fast(kind: int, steps: Steps) -> Getter | None:
    head, rest = steps[0], steps[1:]
    if head == "id":
        prefix = PREFIXES[kind]
        return _null if rest else lambda view, row: f"{prefix}-{row + 1}"
    if head == "kind":
        return _null if rest else lambda view, row: KINDS[kind]
    if head == "facets" and rest:
        return _facet_getter(kind, rest)
    if head == "_system" and len(rest) == 1 and rest[0] in _SYSTEM:
        return _member(kind, _SYSTEM[rest[0]])
    if kind == PROPOSITION:
        return _proposition_getter(head, rest)
    if kind == ASSERTION:
        fast = _assertion_getter(head, rest)
        if fast is not None:
            return fast
    return _record_getter(kind, head, rest)


def _record_getter(kind: int, head: str, rest: Steps) -> Getter | None:
    scalars = _SCALARS[kind]
    if head in scalars:
        return _null if rest else _member(kind, scalars[head])
    if head in _INSTANTS.get(kind, ()):
        return _null if rest else _instant_member(kind, head)
    if kind == CONCEPT and head == "attributes":
        return _below(kind, "attributes", rest)
    if kind == CONCEPT and head == "merged_into" and not rest:
        return _merged_into
    if kind == EVIDENCE and head == "payload":
        return _below(kind, "payload", rest)
    if (head, *rest) == ("lifecycle", "status") and kind == EVIDENCE:
        return _member(kind, "status")
    return None


def _null(view: "View", row: int) -> Json:
    return None


def _member(kind: int, name: str) -> Getter:
    if kind in (PROPOSITION, ASSERTION):
        return lambda view, row: getattr(state_at(view.graph, row * 8 + kind, view.seq), name)

    def get(view: "View", row: int) -> Json:
        record: Any = view.graph.objects[kind][row]
        seq = view.seq
        if record is UNREAD:
            record = view.graph.head(row * 8 + kind)
        while record.seq > seq and record.prev is not None:
            record = record.prev
        return getattr(record, name)

    return get


def _instant_member(kind: int, name: str) -> Getter:
    member = _member(kind, name)

    def get(view: "View", row: int) -> Json:
        value = member(view, row)
        return None if value is None else format_instant(value)

    return get


def _below(kind: int, name: str, rest: Steps) -> Getter:
    member = _member(kind, name)
    if len(rest) == 1:
        step = rest[0]

        def get(view: "View", row: int) -> Json:
            holder = member(view, row)
            value = holder.get(step) if isinstance(holder, Mapping) else None
            return elements.copied(value) if isinstance(value, Mapping | list | tuple) else value

        return get
    return lambda view, row: walk(member(view, row), rest)


def _merged_into(view: "View", row: int) -> Json:
    record: Any = state_at(view.graph, row * 8 + CONCEPT, view.seq)
    return None if record.merged_into is None else element_id(record.merged_into)


def _facet_getter(kind: int, steps: Steps) -> Getter:
    name, rest = steps[0], steps[1:]

    def get(view: "View", row: int) -> Json:
        record = kept_state(view.graph, row * 8 + kind, view.seq)
        found = None if record is None else facet(view, record.facets, name)
        if found is None:
            made = computed.facet(view, row * 8 + kind, name) if kind == CONCEPT else None
            return None if made is None else walk(made, rest)
        return walk(found[1], rest)

    return get


def _proposition_getter(head: str, rest: Steps) -> Getter | None:
    if head == "subject":
        return _reference(rest, lambda view, row: view.graph.propositions.subjects[row], PROPOSITION)
    if head == "canonical_subject":
        return _reference(rest, lambda view, row: view.canonical(view.graph.propositions.subjects[row]), PROPOSITION)
    if head == "object":
        return _reference(rest, lambda view, row: view.graph.propositions.objects[row], PROPOSITION)
    if head == "canonical_object":
        return _reference(rest, lambda view, row: view.canonical(view.graph.propositions.objects[row]), PROPOSITION)
    if head == "predicate_ref" and not rest:
        return lambda view, row: view.graph.symbols.refs[view.graph.propositions.predicates[row]]
    return None


def _assertion_getter(head: str, rest: Steps) -> Getter | None:
    if head == "proposition":
        return _reference(rest, lambda view, row: view.assertion(row).proposition * 8 + PROPOSITION, ASSERTION)
    if head == "asserted_by":
        return _reference(rest, lambda view, row: view.assertion(row).actor, ASSERTION)
    if (head, *rest) == ("lifecycle", "status"):
        return _assertion_status
    if rest:
        return None
    if head == "stance":
        return _unless_purged(lambda view, row: STANCES[view.assertion(row).flags & STANCE_MASK], "stance")
    if head == "mode":
        return _unless_purged(lambda view, row: MODES[view.assertion(row).flags >> MODE_SHIFT & MODE_MASK], "mode")
    if head == "confidence":
        return _unless_purged(lambda view, row: view.graph.assertions.stated_confidence(row), "confidence")
    if head == "asserted_at":
        return lambda view, row: format_instant(view.graph.assertions.asserted_at[row])
    return None


def _unless_purged(column: Getter, name: str) -> Getter:
    """A column that never changes, unless the row was purged."""

    def get(view: "View", row: int) -> Json:
        record = view.graph.side[ASSERTION].get(row)
        return column(view, row) if record is None else getattr(record, name)

    return get


def _assertion_status(view: "View", row: int) -> Json:
    if view.graph.assertions.ended(row) > view.seq:
        return "active"
    return state_at(view.graph, row * 8 + ASSERTION, view.seq).status  # type: ignore[union-attr]


def _reference(rest: Steps, code_of: Callable[["View", int], int], kind: int) -> Getter:
    """A member that is a reference or a Literal: `{id}`, its id, or the Literal."""

    def whole(view: "View", row: int) -> Json:
        return elements.term(view, code_of(view, row))

    def identity(view: "View", row: int) -> Json:
        code = code_of(view, row)
        return element_id(code) if code >= 0 else None

    if not rest:
        return whole
    return identity if rest == ("id",) else _null


def _walking(kind: int, steps: Steps) -> Getter:
    """Any other path, below the one member it starts with."""
    head, rest = steps[0], steps[1:]
    member = elements.MEMBERS[kind].get(head) or _COMMON.get(head)
    if member is not None:
        read_member = member
        return lambda view, row: walk(read_member(view, state_at(view.graph, row * 8 + kind, view.seq)), rest)
    if head == "_system":
        return lambda view, row: _walk_system(view, row * 8 + kind, rest)
    if head == "space_id":
        return lambda view, row: None if rest else view.space_id
    if head == "client_key":
        return _null if rest else _member(kind, "client_key")
    return _null


_COMMON: dict[str, elements.Read] = {
    "governance": lambda view, record: elements.governance(record),
    "retention": lambda view, record: elements.retention(record.retention),
    "facets": lambda view, record: elements.facets(record),
    "structural": lambda view, record: elements.structural(record) or None,
}


def _walk_system(view: "View", code: int, rest: Steps) -> Json:
    record = state_at(view.graph, code, view.seq)
    if rest[:1] == ("recording_validity",):
        return walk(elements.recording_validity(record), rest[1:])
    system = elements.system(view, code, record)
    if rest[:2] == ("plane_versions", "facets") and len(rest) > 2:
        found = facet(view, system["plane_versions"]["facets"], rest[2])
        return None if found is None else walk(found[1], rest[3:])
    return walk(system, rest)


def _attribute(name: str) -> Callable[[AnyRecord], Json]:
    return lambda record: getattr(record, name)


def _reach(value: Json, steps: Steps) -> Json:
    for step in steps:
        if not isinstance(value, Mapping):
            return None
        value = value.get(step)
    return value
