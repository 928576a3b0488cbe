"""Purge in memory: every older state of an element goes, and every posting that names what it said (§60.3, §60.6).

What is left of a purged element is its stub, at every sequence: erased bytes are gone from the past too. A
payload purge rewrites the payload in each state and keeps the rest. Change entries of what is erased are kept
before, since they carry names and versions only.
"""

from array import array
from bisect import insort
from dataclasses import replace
from typing import NamedTuple

from kipql.model import ASSERTION, CONCEPT, AnyRecord, Assertion, Concept, Evidence, Proposition
from kipql.store import changes
from kipql.store.frozen import erased_from
from kipql.store.graph import Graph
from kipql.store.records import ASSERTION as PACKED
from kipql.store.records import NEVER, SIZE, flags_of, last_instant, start_key
from kipql.store.states import sequences, state_at

PURGED_PAYLOAD = {"mode": "purged"}


class Erasure(NamedTuple):
    """One element to erase at a commit: all of it, or its payload only."""

    code: int
    payload_only: bool


def erasures(graph: Graph, changed: "tuple[int, ...]", seq: int) -> list[Erasure]:
    """What commit `seq` erases, of the older elements it changes."""
    found = []
    for code in changed:
        new = state_at(graph, code, seq)
        old = state_at(graph, code, seq - 1)
        if new.state == "purged" and old.state != "purged":
            found.append(Erasure(code, False))
        elif changes.operation(old, new) == "payload_purge":
            found.append(Erasure(code, True))
    return found


def entries_to_keep(graph: Graph, erasure: Erasure, seq: int) -> dict[tuple[int, int], changes.Entry]:
    """The change entries that nothing could be computed from afterwards, by (sequence, code)."""
    code = erasure.code
    if erasure.payload_only:
        return {(seq, code): changes.changed_entry(graph, code, seq)}
    created = graph.history.created_in(code & 7, code >> 3)
    found = {(seq, code): changes.changed_entry(graph, code, seq)}
    for at in sequences(graph, code):
        if created < at < seq:
            found[at, code] = changes.changed_entry(graph, code, at)
    return found


def erase(graph: Graph, erasure: Erasure) -> None:
    """Erase, after the commit is durable."""
    with graph.value_paths.lock:
        if erasure.payload_only:
            _erase_payload(graph, erasure.code)
        else:
            _erase_element(graph, erasure.code)
        graph.value_paths.forget()
        graph.remembered = None
    for follow in tuple(graph.on_erasure):
        follow(erasure.code)


def _erase_payload(graph: Graph, code: int) -> None:
    states: list[Evidence] = []
    record = graph.head(code)
    while record is not None:
        assert isinstance(record, Evidence)
        states.append(record)
        record = record.prev  # type: ignore[assignment]
    older: Evidence | None = None
    for state in reversed(states):
        older = replace(state, payload=PURGED_PAYLOAD, prev=older)
    assert older is not None
    graph.settle(code, older)
    _forget_frozen(graph, code & 7, code >> 3)


def _erase_element(graph: Graph, code: int) -> None:
    kind, row = code & 7, code >> 3
    stub = graph.head(code)
    assert stub is not None
    created = graph.history.created_in(kind, row)
    if kind == CONCEPT:
        graph.lasting.erased(row)
    state: AnyRecord | None = stub
    while state is not None:
        if isinstance(state, Concept):
            _forget_concept(graph, row, state)
        state = state.prev  # type: ignore[assignment]
    if isinstance(stub, Proposition):
        stub = _blank_proposition(graph, row, stub)
    elif isinstance(stub, Assertion):
        _blank_assertion(graph, row, stub, created)
    if kind in graph.side:
        erased_from(graph.keys[kind], row)
    graph.inputs.pop(code, None)
    _forget_frozen(graph, kind, row)
    graph.settle(code, replace(stub, prev=None))
    _left_out_from(graph, kind, created)


def _forget_frozen(graph: Graph, kind: int, row: int) -> None:
    """Overwrite what a snapshot said of an element."""
    if kind in graph.side:
        erased_from(graph.side[kind], row)
    elif kind in graph.frozen:
        graph.frozen[kind].erase(row)


def _forget_concept(graph: Graph, row: int, state: Concept) -> None:
    if state.name is not None:
        graph.named.drop(state.name, row)
    if state.key is not None:
        graph.keyed.drop(state.key, row)


def _blank_proposition(graph: Graph, row: int, stub: Proposition) -> Proposition:
    tables = graph.propositions
    slot, term = graph.slot_of_proposition(row), tables.objects[row]
    if term >= 0:
        return stub
    graph.crowds.blanked(slot, term, graph.symbols.lineage_of[tables.predicates[row]], row)
    blank = graph.literals.blank()
    tables.objects[row] = blank
    graph.incoming.drop(term, row)
    graph.incoming.add(blank, row)
    if not len(graph.incoming.get(term, len(tables))):
        graph.literals.erase(term)
    return replace(stub, object=blank)


def _blank_assertion(graph: Graph, row: int, stub: Assertion, created: int) -> None:
    columns = graph.assertions
    hot = columns.read(row)
    for target in {edge.target for edge in columns.evidence(row, hot.flags)}:
        graph.drop_citation(target, row)
    for target in columns.contexts.get(row, ()):
        graph.referrers.drop(graph.reference_key(target, "context") or 0, row * 8 + ASSERTION)
    for side in (columns.contexts, columns.intervals, columns.citations):
        erased_from(side, row)
    columns.cited[row] = -1
    columns.confidence[row] = float("nan")
    columns.asserted_at[row] = stub.asserted_at
    PACKED.pack_into(
        columns.hot,
        row * SIZE,
        NEVER if stub.status == "active" else created,
        flags_of(stub.stance, stub.mode),
        start_key(stub.valid, stub.asserted_at),
        last_instant(stub.valid),
        hot.actor,
        hot.object,
        hot.proposition,
        hot.predicate,
    )
    graph.live.forget(graph.slot_of_proposition(hot.proposition))


def _left_out_from(graph: Graph, kind: int, created: int) -> None:
    """The stub is out of default recall at every sequence."""
    seqs = array("q", graph.left_seqs.get(kind, ()))
    if created not in seqs:
        insort(seqs, created)
    graph.left_seqs[kind] = seqs
    graph.left_sets = {}
