"""Which state of an element a sequence sees (specification §6.3, §48).

A state knows the commit that wrote it and the state before; a read at k follows `prev` while the state is
younger than k. Propositions and Assertions without a kept state are what their columns say.
"""

from bisect import bisect_right
from collections.abc import Callable

from kipql.model import (
    ASSERTION,
    ENGINE,
    PROPOSITION,
    AnyRecord,
    Assertion,
    Origin,
    Planes,
    Proposition,
    element_code,
)
from kipql.store.graph import Graph

_PROPOSITION_PLANES = Planes()
_UNCITED = Planes(attributes=1)
_CITED = Planes(attributes=1, structural=1)


def kept_state(graph: Graph, code: int, seq: int) -> AnyRecord | None:
    """The kept state of an element at `seq`; None when its columns say all.

    A purged element has only its stub, at any sequence: what was erased is gone from the past too (§60.3).
    """
    record = graph.head(code)
    while record is not None and record.seq > seq:
        older = record.prev
        if older is None:
            erased = record.state == "purged" and record.seq <= len(graph.history)  # once committed, not before
            return record if erased or code & 7 not in graph.side else None
        record = older  # type: ignore[assignment]
    return record


def state_at(graph: Graph, code: int, seq: int) -> AnyRecord:
    """The whole record of an element that exists at `seq`."""
    record = kept_state(graph, code, seq)
    if record is not None:
        return record
    return plain_proposition(graph, code >> 3) if code & 7 == PROPOSITION else plain_assertion(graph, code >> 3)


def sequences(graph: Graph, code: int) -> list[int]:
    """The commits that wrote a state of an element that is still kept, its creation first."""
    found = {graph.history.created_in(code & 7, code >> 3)}
    record = graph.head(code)
    while record is not None:
        found.add(record.seq)
        record = record.prev  # type: ignore[assignment]
    return sorted(found)


def creation(graph: Graph, kind: int, row: int) -> tuple[int, Origin]:
    """The commit that created a row (one past the head while provisional) and who made it."""
    seq = graph.history.created_in(kind, row)
    if seq > len(graph.history):
        return seq, graph.pending_origin or ENGINE
    return seq, graph.history.origin(seq)


def plain_proposition(graph: Graph, row: int) -> Proposition:
    """The Proposition that the columns say."""
    tables = graph.propositions
    seq, origin = creation(graph, PROPOSITION, row)
    return Proposition(
        subject=tables.subjects[row],
        predicate=graph.symbols.refs[tables.predicates[row]],
        object=tables.objects[row],
        client_key=graph.keys[PROPOSITION].get(row),
        origin=origin,
        planes=_PROPOSITION_PLANES,
        seq=seq,
    )


def plain_assertion(graph: Graph, row: int) -> Assertion:
    """The Assertion that the columns say, as it was created."""
    columns = graph.assertions
    hot = columns.read(row)
    seq, origin = creation(graph, ASSERTION, row)
    evidence = columns.evidence(row, hot.flags)
    return Assertion(
        proposition=element_code(PROPOSITION, hot.proposition),
        asserted_by=hot.actor,
        stance=hot.stance,
        mode=hot.mode,
        asserted_at=columns.asserted_at[row],
        confidence=columns.stated_confidence(row),
        valid=columns.valid(row, hot),
        evidence=evidence,
        context=columns.contexts.get(row, ()),
        client_key=graph.keys[ASSERTION].get(row),
        origin=origin,
        planes=_CITED if evidence else _UNCITED,
        seq=seq,
    )


def left_out(graph: Graph, kind: int, seq: int, bound: int, settled: bool) -> frozenset[int] | None:
    """Rows of `kind` that default recall leaves out at `seq`; None when there are none.

    Computed once per commit that moved such a state, from the set before it where that is known. A transaction
    under way (`settled` is False) is computed each time, since it may go on writing.
    """
    seqs = graph.left_seqs.get(kind)
    if seqs is None:
        return None
    at = bisect_right(seqs, seq) - 1
    if at < 0:
        return None
    change = seqs[at]
    known = graph.left_sets.get((kind, change))
    if known is not None:
        return known or None
    out = _not_active(graph, kind, seq)
    before = graph.left_sets.get((kind, seqs[at - 1])) if at else None
    if before is not None and change <= len(graph.history):
        changed = _touched(graph, kind, change)
        found = (before - changed) | frozenset(filter(out, changed))
    else:
        found = frozenset(filter(out, graph.ever_left[kind].get(None, bound)))
    if settled:
        if len(graph.left_sets) >= _SETS_MOST:
            graph.left_sets = {}
        graph.left_sets[kind, change] = found
    return found or None


_SETS_MOST = 32


def _not_active(graph: Graph, kind: int, seq: int) -> Callable[[int], bool]:
    def test(row: int) -> bool:
        record = kept_state(graph, row * 8 + kind, seq)
        return record is not None and not record.recalled

    return test


def _touched(graph: Graph, kind: int, seq: int) -> frozenset[int]:
    changed = frozenset(code >> 3 for code in graph.history.changed(seq) if code & 7 == kind)
    low, high = graph.history.bounds(seq - 1)[kind], graph.history.bounds(seq)[kind]
    return changed | frozenset(graph.ever_left[kind].get(None, high)) & frozenset(range(low, high))
