"""Which elements of a Space a caller may see, as one byte an element (specification §29.1, §29.2, §30.4).

An element is hidden when the caller may not discover it, or when it could not exist without a hidden one: a
Proposition with a hidden endpoint; an Assertion on a hidden Proposition, by a hidden actor, or scoped by a hidden
context. Of a Concept, a piece of Evidence or an Activity that may be discovered but not read there is an envelope
without content; a claim that may not be read is nothing but content, and hidden.

Decisions look at the present state of an element, so a past snapshot shows what today's rules and labels admit
(§48.5). They change with an `authorization` commit only, which makes a new Authority and a new Visibility; other
commits add rows.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kipql.govern.authority import NO_FIELDS, Authority, FieldRule
from kipql.govern.scopes import Facts
from kipql.model import ASSERTION, CONCEPT, PROPOSITION, Concept, parse_id
from kipql.store.states import kept_state

if TYPE_CHECKING:
    from kipql.schema.environment import Environment
    from kipql.store.graph import Graph
    from kipql.store.history import Bounds

HIDDEN, DISCOVERED, READ = range(3)


class Visibility:
    """The levels of every element of a graph for one caller; `also` is a further permission to see it for."""

    __slots__ = ("_bounds", "_environment", "_lineages", "also", "authority", "graph", "levels", "seq")

    def __init__(
        self, graph: "Graph", environment: "Environment", authority: Authority, also: str | None = None
    ) -> None:
        self.graph = graph
        self.authority = authority
        self.also = also
        self.seq = 0  # states of later commits are not looked at: what they refer to may not be known yet
        self.levels: tuple[bytearray, ...] = tuple(bytearray() for _ in range(5))
        self._environment = environment
        self._bounds: Bounds = (0, 0, 0, 0, 0)
        self._lineages: dict[str, str] = {}

    def copy(self) -> "Visibility":
        """The same for a transaction's provisional rows, which may be taken back."""
        made = Visibility(self.graph, self._environment, self.authority, self.also)
        made.levels = tuple(bytearray(levels) for levels in self.levels)
        made._bounds = self._bounds
        made.seq = self.seq
        return made

    def advance(self, bounds: "Bounds", seq: int) -> None:
        """Take in the rows below `bounds`, as they are at `seq`. The caller holds the authority's lock."""
        if all(known >= bound for known, bound in zip(self._bounds, bounds, strict=True)):
            self.seq = max(self.seq, seq)
            return
        fresh = [range(known, max(known, bound)) for known, bound in zip(self._bounds, bounds, strict=True)]
        hidden: list[int] = []
        for kind, rows in enumerate(fresh):
            made = bytearray(len(rows))
            for at, row in enumerate(rows):
                level = made[at] = self._own(row * 8 + kind, seq)
                if not level:
                    hidden.append(row * 8 + kind)
            self.levels[kind].extend(made)
        self._bounds = tuple(rows.stop for rows in fresh)  # type: ignore[assignment]
        for kind in (PROPOSITION, ASSERTION):
            for row in fresh[kind]:
                if self.levels[kind][row] and any(self.hides(code) for code in self._needed(kind, row)):
                    self.levels[kind][row] = HIDDEN
                    hidden.append(row * 8 + kind)
        self._spread(hidden)
        self.seq = max(self.seq, seq)

    def hides(self, code: int) -> bool:
        """Whether an element may not be discovered; a Literal never is."""
        return code >= 0 and not self.levels[code & 7][code >> 3]

    def hidden_id(self, text: object) -> bool:
        """Whether a text is the id of an element that is there and hidden."""
        code = parse_id(text) if isinstance(text, str) else None
        return code is not None and (code >> 3) < len(self.levels[code & 7]) and self.hides(code)

    def rule(self, code: int) -> FieldRule | None:
        """Which fields of a visible element read; None for all."""
        if self.levels[code & 7][code >> 3] == DISCOVERED:
            return NO_FIELDS
        authority = self.authority
        return None if authority.everywhere("read") else authority.fields(self.facts(code), code)

    def facts(self, code: int, seq: int | None = None) -> Facts:
        """What the conditions of rules look at, as it is now or at a sequence."""
        return facts_of(self.graph, self._environment, code, seq, self._lineages)

    # inside

    def _own(self, code: int, seq: int) -> int:
        """The level that an element has for itself."""
        authority, facts = self.authority, self.facts(code, seq)
        if not authority.may("discover", facts, code):
            return HIDDEN
        if self.also is not None and self._bounds_by(code) and not authority.may(self.also, facts, code):
            return HIDDEN
        if authority.may("read", facts, code):
            return READ
        return HIDDEN if code & 7 in (PROPOSITION, ASSERTION) else DISCOVERED

    def _bounds_by(self, code: int) -> bool:
        """Whether the further permission is asked of an element: what is projected are claims (§29.4)."""
        return self.also != "project" or code & 7 in (PROPOSITION, ASSERTION)

    def _needed(self, kind: int, row: int) -> Iterator[int]:
        """What a claim could not exist without."""
        if kind == PROPOSITION:
            tables = self.graph.propositions
            yield tables.subjects[row]
            yield tables.objects[row]
        else:
            assertions = self.graph.assertions
            hot = assertions.read(row)
            yield hot.proposition * 8 + PROPOSITION
            yield hot.actor
            yield from assertions.contexts.get(row, ())

    def _spread(self, hidden: list[int]) -> None:
        """Hide whatever could not exist without what is hidden."""
        for code in hidden:
            for other in self._dependents(code):
                levels, row = self.levels[other & 7], other >> 3
                if row < len(levels) and levels[row]:
                    levels[row] = HIDDEN
                    hidden.append(other)

    def _dependents(self, code: int) -> Iterable[int]:
        graph, bounds = self.graph, self._bounds
        yield from (row * 8 + PROPOSITION for row in graph.outgoing.get(code, bounds[PROPOSITION]))
        yield from (row * 8 + PROPOSITION for row in graph.incoming.get(code, bounds[PROPOSITION]))
        if code & 7 == PROPOSITION:
            yield from (row * 8 + ASSERTION for row in graph.of_proposition.get(code >> 3, bounds[ASSERTION]))
        yield from (row * 8 + ASSERTION for row in graph.by_actor.get(code, bounds[ASSERTION]))
        key = graph.reference_key(code, "context")
        if key is not None:
            yield from (other for other in graph.referrers.get(key, 1 << 60) if other & 7 == ASSERTION)


def facts_of(
    graph: "Graph",
    environment: "Environment",
    code: int,
    seq: int | None = None,
    lineages: dict[str, str] | None = None,
) -> Facts:
    """The facts of an element as it is at a sequence, the last commit by default."""
    kind, row = code & 7, code >> 3
    state = kept_state(graph, code, len(graph.history) if seq is None else seq)
    label = None if state is None else state.classification
    if kind == CONCEPT:
        assert isinstance(state, Concept)
        ref: str | None = state.schema
    elif kind in (PROPOSITION, ASSERTION):
        proposition = row if kind == PROPOSITION else graph.assertions.read(row).proposition
        ref = graph.symbols.refs[graph.propositions.predicates[proposition]]
    else:
        ref = None
    if ref is None:
        return Facts(kind, None, label)
    known = lineages.get(ref) if lineages is not None else None
    if known is None:
        known = environment.lineage(ref)
        if lineages is not None:
            lineages[ref] = known
    return Facts(kind, known, label)
