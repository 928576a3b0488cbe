"""Identity resolution as a history: merges are decisions, writes keep the references they were given (§11.3, §11.5).

A decision is the commit that merged a Concept; its id names that commit and the source. It is withdrawn by a later
state of the source that no longer forwards. Nothing of this is stored beside the states themselves but the supplied
references of writes that a decision redirected.
"""

from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from kipql.model import CONCEPT, Concept, Origin, element_code, element_id

if TYPE_CHECKING:
    from kipql.store.graph import Graph
    from kipql.store.view import View


class InputReference(NamedTuple):
    """A reference that a write supplied and that resolved elsewhere; `path` says where in the write it stood."""

    seq: int
    path: str
    supplied: int
    resolved: int
    identity_version: int


class Decision(NamedTuple):
    """One merge: `seq` made it, `withdrawn` is the commit that took it back, None while it holds."""

    decision_id: str
    source: int
    target: int
    seq: int
    identity_version: int
    origin: Origin
    withdrawn: int | None


def decisions(view: "View") -> list[Decision]:
    """Every decision up to the view's sequence whose source was not purged, oldest first."""
    graph = view.graph
    sources = sorted({row for rows in list(graph.merged_from.values()) for row in rows})
    codes = (element_code(CONCEPT, row) for row in sources)
    found = [decision for code in codes if view.exists(code) for decision in _of(view, code)]
    return sorted(found, key=lambda decision: (decision.seq, decision.source))


def decision_behind(view: "View", source: int, seq: int) -> str | None:
    """The id of the decision that redirected a Concept at an earlier sequence."""
    found = [decision for decision in _of(view, source) if decision.seq <= seq]
    return found[-1].decision_id if found else None


def identity_version(graph: "Graph", seq: int) -> int:
    """1, and one more for each commit up to `seq` that changed canonical resolution."""
    return 1 + bisect_right(graph.identity_seqs, seq)


def _of(view: "View", code: int) -> list[Decision]:
    found: list[Decision] = []
    before: int | None = None
    for state in reversed(list(_states(view, code))):
        if state.merged_into != before:
            if before is not None:
                found[-1] = found[-1]._replace(withdrawn=state.seq)
            if state.merged_into is not None:
                found.append(_decision(view, code, state, state.merged_into))
        before = state.merged_into
    return found


def _states(view: "View", code: int) -> Iterator[Concept]:
    """The states of a Concept at the view, newest first."""
    record = view.record(code)
    while record is not None:
        assert isinstance(record, Concept)
        yield record
        record = record.prev  # type: ignore[assignment]


def _decision(view: "View", source: int, state: Concept, target: int) -> Decision:
    graph, seq = view.graph, state.seq
    settled = seq <= len(graph.history)
    origin = graph.history.origin(seq) if settled else graph.pending_origin or state.origin
    name = f"{view.space_id}#{seq}/{element_id(source)}"
    return Decision(name, source, target, seq, identity_version(graph, seq), origin, None)
