"""The states of a memory as rows of the lake's tables, read through one caller's view.

What a view withholds is not there to be written. A purged element has only its stub, at every sequence (§60.3).
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from kipql.lake import layout
from kipql.lake.cells import text
from kipql.model import (
    ACTIVITY,
    ASSERTION,
    CONCEPT,
    CORE_STRUCTURAL,
    EVIDENCE,
    KINDS,
    PROPOSITION,
    AnyRecord,
    Concept,
    element_id,
)
from kipql.store.elements import element, instant, plane_versions
from kipql.store.identity import identity_version
from kipql.store.states import sequences
from kipql.times import Bound, format_instant
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View

Row: TypeAlias = tuple[Any, ...]
Put: TypeAlias = Callable[[layout.Table, Row], None]


DEEPEST = 8
"""How deep objects are entered in `fields`."""


def pointer(steps: Sequence[str]) -> str:
    """The JSON pointer of a path (RFC 6901)."""
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)


def fields(members: Mapping[str, Json]) -> list[tuple[str, str]]:
    """The members of objects and of what is in them, by their pointers."""
    found: list[tuple[str, str]] = []
    waiting: list[tuple[str, Mapping[str, Json], int]] = [("", members, 0)]
    while waiting:
        above, holder, depth = waiting.pop()
        for name, value in holder.items():
            below = above + pointer((name,))
            if depth:
                found.append((below, text(value)))
            if isinstance(value, Mapping) and depth < DEEPEST:
                waiting.append((below, value, depth + 1))
    return found


class States:
    """The states of a view's elements: what each commit wrote, and what ended it."""

    def __init__(self, view: "View") -> None:
        self._view = view
        history = view.graph.history
        changed = {code for seq in range(1, view.seq + 1) for code in history.changed(seq)}
        self.changed: dict[int, list[int]] = {
            code: [seq for seq in sequences(view.graph, code) if seq <= view.seq]
            for code in sorted(changed)
            if view.exists(code)
        }
        self._at: tuple[int, View] = (view.seq, view)

    def of(self, code: int) -> list[int]:
        """The commits that wrote a state of an element, its creation first."""
        return self.changed.get(code) or [self._view.graph.history.created_in(code & 7, code >> 3)]

    def at(self, seq: int) -> "View":
        """The view at a sequence."""
        if self._at[0] != seq:
            self._at = (seq, self._view.at(seq))
        return self._at[1]

    def since(self, seq: int, also: Sequence[int] = ()) -> Iterator[tuple[int, int, int | None]]:
        """(code, from, to) of every state written after a sequence, and of every state of the elements of `also`."""
        history, view = self._view.graph.history, self._view
        older = history.bounds(seq)
        again = set(also)
        for kind in range(len(KINDS)):
            late = [code for code in self.changed if code & 7 == kind and code >> 3 < older[kind]]
            new = [row * 8 + kind for row in view.rows(kind)[bisect_right(view.rows(kind), older[kind] - 1) :]]
            for code in late + new:
                written = self.of(code)
                for at, low in enumerate(written):
                    if low > seq or code in again:
                        yield code, low, written[at + 1] if at + 1 < len(written) else None

    def count(self, seq: int) -> int:
        """About how many states were written after a sequence."""
        low, high = self._view.graph.history.bounds(seq), self._view.bounds
        return sum(high) - sum(low) + sum(sum(each > seq for each in written[1:]) for written in self.changed.values())

    def ended(self, seq: int, without: Sequence[int] = ()) -> Iterator[tuple[int, int, int]]:
        """(code, from, to) of every state that stood at a sequence and ended after it."""
        skip = set(without)
        for code, written in self.changed.items():
            at = bisect_right(written, seq)
            if 0 < at < len(written) and code not in skip:
                yield code, written[at - 1], written[at]


def write_states(states: States, found: Iterator[tuple[int, int, int | None]], put: Put) -> None:
    """Every row of the state tables, and of those that hang on a state."""
    for code, low, high in found:
        view = states.at(low)
        record = view.record(code)
        kind = code & 7
        wire = element(view, code, record)
        payload = wire.pop("payload", None) if kind == EVIDENCE else None
        entered = fields({"attributes": wire.get("attributes"), "facets": wire["facets"]})
        put(
            layout.STATE_TABLES[kind],
            (
                code, wire["id"], low, high, record.state, record.recalled, record.version, states.of(code)[0],
                *_OWN[kind](record), entered, text(wire),
            ),
        )  # fmt: skip
        planes = text(plane_versions(record.planes))
        put(layout.VERSIONS, (code, wire["id"], KINDS[kind], low, high, record.version, record.state, planes))
        if payload is not None:
            put(layout.PAYLOADS, (code, low, high, fields({"payload": payload}), text(payload)))
        for facet, members in record.facets.items():
            put(layout.FACETS, (code, low, high, facet, text(members)))
        for field, position, target, role in _edges(kind, record):
            put(layout.EDGES, (code, low, high, field, target, role, position))


def _edges(kind: int, record: AnyRecord) -> Iterator[tuple[str, int, int, str | None]]:
    for field, holder in CORE_STRUCTURAL.items():
        if holder == kind:
            for position, edge in enumerate(getattr(record, field)):
                if field == "context":
                    yield field, position, edge, None
                else:
                    yield field, position, edge.target, edge.role
    for ref, edges in record.structural.items():
        for position, edge in enumerate(edges):
            yield ref, position, edge.target, edge.role


def _concept(record: Any) -> Row:
    return record.schema, record.key, record.name, record.canonical_id, record.merged_into


def _proposition(record: Any) -> Row:
    return record.subject, record.predicate, record.object


def _assertion(record: Any) -> Row:
    start, end = record.valid
    return (
        record.proposition, record.asserted_by, record.stance, record.mode, record.confidence,
        format_instant(record.asserted_at), _exact(start), _exact(end),
        all(bound is None or bound.exact for bound in record.valid), record.status,
    )  # fmt: skip


def _exact(bound: Bound | None) -> str | None:
    return format_instant(bound.earliest) if bound is not None and bound.exact and bound.earliest is not None else None


def _evidence(record: Any) -> Row:
    return (
        record.evidence_class, record.content_digest, record.media_type, instant(record.observed_at), record.status,
    )  # fmt: skip


def _activity(record: Any) -> Row:
    return record.activity_class, record.status, instant(record.started_at), instant(record.ended_at)


_OWN: Mapping[int, Callable[[Any], Row]] = {
    CONCEPT: _concept,
    PROPOSITION: _proposition,
    ASSERTION: _assertion,
    EVIDENCE: _evidence,
    ACTIVITY: _activity,
}


def identities(view: "View", states: States) -> Iterator[Row]:
    """The rows of `identities`: the canonical Concept of each merged one, an interval at a time."""
    moves: dict[int, list[tuple[int, int | None]]] = defaultdict(list)  # commit -> (code, what it is merged into)
    for code, written in states.changed.items():
        if code & 7 == CONCEPT:
            before: int | None = None
            for seq in written:
                record = states.at(seq).record(code)
                assert isinstance(record, Concept)
                if record.merged_into != before:
                    moves[seq].append((code, record.merged_into))
                    before = record.merged_into
    into: dict[int, int] = {}
    merged: dict[int, set[int]] = defaultdict(set)  # target -> what is merged into it
    known: dict[int, tuple[int, int]] = {}  # code -> (canonical, since)
    for seq in sorted(moves):
        touched: set[int] = set()
        for code, target in moves[seq]:
            if (old := into.pop(code, None)) is not None:
                merged[old].discard(code)
            if target is not None:
                into[code] = target
                merged[target].add(code)
            touched |= _below(code, merged)
        for code in sorted(touched):
            canonical = code
            while (further := into.get(canonical)) is not None:
                canonical = further
            was = known.pop(code, None)
            if was is not None and was[0] != canonical:
                yield code, was[0], was[1], seq
                was = None
            if canonical != code:
                known[code] = was or (canonical, seq)
    for code, (canonical, since) in sorted(known.items()):
        yield code, canonical, since, None


def _below(code: int, merged: Mapping[int, set[int]]) -> set[int]:
    found, front = {code}, [code]
    while front:
        for source in merged.get(front.pop(), ()):
            if source not in found:
                found.add(source)
                front.append(source)
    return found


def literals(view: "View", first: int) -> Iterator[Row]:
    """The rows of `literals` from the number `first`, of those that a visible Proposition holds."""
    table = view.graph.literals
    objects = view.objects
    held = {-1 - objects[row] for row in view.rows(PROPOSITION) if objects[row] < 0}
    for number in sorted(held):
        if number >= first and not table.is_erased(-1 - number):
            yield -1 - number, text(view.literal(-1 - number))


def reviews(view: "View") -> Iterator[Row]:
    """The rows of `reviews`: of what a view withholds an identity of, nothing is said."""
    if not view.narrowed:
        for code, seqs in sorted(view.graph.reviewed.items()):
            yield from ((code, seq) for seq in seqs if seq <= view.seq)


def commits(view: "View", after: int) -> Iterator[Row]:
    """The rows of `commits` after a sequence."""
    for seq in range(after + 1, view.seq + 1):
        if view.discloses(seq):
            commit = view.commit(seq)
            who = commit.origin.principal_id if not view.narrowed else None
            identities = identity_version(view.graph, seq)
            yield (
                seq, commit.at, commit.tx_id, commit.transaction_class, commit.environment_version, identities, who,
            )  # fmt: skip


def erased(states: States, view: "View") -> dict[str, int]:
    """The elements whose older states were erased, by id, with the last commit that wrote them."""
    graph = view.graph
    codes = {code for _, code in list(graph.kept_entries)}
    codes |= {code for code in states.changed if view.state(code) == "purged"}
    return {element_id(code): states.of(code)[-1] for code in sorted(codes) if view.exists(code)}


CONTROLS = ("schema", "policy", "trust")
"""The control changes that a lake needs to read: what symbols mean, and what beliefs are made with."""


def schema(view: "View", setup: Sequence[Json]) -> Iterator[Row]:
    """The rows of `schema`: the set-up before the first commit, then every change up to the view's sequence.

    Trust names actors, so that only a view that withholds nothing has it.
    """
    place = count()
    for change in setup:
        yield next(place), 0, "schema", text(change)
    for seq, kind, change in list(view.graph.controls):
        if seq <= view.seq and kind in CONTROLS and not (kind == "trust" and view.narrowed):
            yield next(place), seq, kind, text(change)
