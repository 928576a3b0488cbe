"""A plain claim written straight into the columns: no record between a statement and its rows (specification §12, §13).

What comes in was resolved and checked. A claim is plain when its Proposition and its Assertion are what their columns
say: no Facets, no structure, no classification, no client key, status `active`. It leaves the graph exactly as
`Graph.create` of the two records does.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kipql.limits import exhausted
from kipql.store.columns import MOST_ROWS
from kipql.store.crowds import FEW
from kipql.store.live import LARGE
from kipql.store.postings import appended, extended
from kipql.store.records import ASSERTION, NEVER

if TYPE_CHECKING:
    from kipql.store.graph import Graph

_PACK = ASSERTION.pack
NO_EVIDENCE = -1  # in place of the row of the one Evidence that is cited


def propose(graph: "Graph", slot: int, subject: int, symbol: int, lineage: int, term: int) -> tuple[int, int]:
    """Append a tuple that is not stored; its row and its slot.

    slot  the slot of the subject and the lineage, -1 when this makes it
    """
    tables = graph.propositions
    subjects, predicates, objects = tables.subjects, tables.predicates, tables.objects
    row = len(subjects)
    if row >= MOST_ROWS:
        exhausted("rows of one kind", MOST_ROWS, "the Space holds too many Propositions")
    try:
        predicates.append(symbol)
    except BufferError:
        tables.predicates = appended(predicates, symbol)
    try:
        objects.append(term)
    except BufferError:
        tables.objects = appended(objects, term)
    try:
        subjects.append(subject)
    except BufferError:
        tables.subjects = appended(subjects, subject)
    slot = graph.slots.put(subject, lineage, row, slot)
    beside = graph.slot_propositions.add(slot, row)
    if subject & 7:
        graph.outgoing.add(subject, row)
    else:
        graph.outgoing.concepts.add(subject >> 3, row)
    around = graph.incoming.add(term, row) if term & 7 or term < 0 else graph.incoming.concepts.add(term >> 3, row)
    try:
        graph.by_predicate[lineage].append(row)
    except (IndexError, BufferError):
        graph.list_predicate(lineage, row)
    if beside > FEW or around > FEW:
        graph.crowds.noted(slot, term, lineage, row, beside, around)
    return row, slot


def claim(
    graph: "Graph",
    slot: int,
    proposition: int,
    lineage: int,
    term: int,
    flags: int,
    start: int,
    until: int,
    actor: int,
    asserted_at: int,
    confidence: float,
    cited: int,
) -> int:
    """Append an Assertion on a Proposition row; its row.

    cited  the row of the one Evidence it cites, NO_EVIDENCE for none; its role is in the flags
    """
    columns = graph.assertions
    row = len(columns.asserted_at)
    if row >= MOST_ROWS:
        exhausted("rows of one kind", MOST_ROWS, "the Space holds too many Assertions")
    packed = _PACK(NEVER, flags, start, until, actor, term, proposition, lineage)
    try:
        columns.hot += packed
    except BufferError:
        columns.hot = columns.hot + packed
    try:
        columns.cited.append(cited)
    except BufferError:
        columns.cited = appended(columns.cited, cited)
    try:
        columns.confidence.append(confidence)
    except BufferError:
        columns.confidence = appended(columns.confidence, confidence)
    try:
        columns.asserted_at.append(asserted_at)
    except BufferError:
        columns.asserted_at = appended(columns.asserted_at, asserted_at)
    graph.of_proposition.add(proposition, row)
    graph.by_actor.add(actor, row)
    if graph.slot_assertions.add(slot, row) > LARGE:
        graph.live.added(slot, row)
    if cited >= 0:
        graph.cited_by.add(cited, row)
    return row


def claim_all(
    graph: "Graph",
    packed: Sequence[tuple[Any, ...]],
    slots: Sequence[int],
    moments: Sequence[int],
    confidences: Sequence[float],
    cited: Sequence[int],
) -> None:
    """Append Assertions, what `claim` takes in columns: the members of the packed record, slots, times of assertion,
    confidences, the rows of the Evidence that each cites."""
    columns = graph.assertions
    first = len(columns.asserted_at)
    block = b"".join([_PACK(*members) for members in packed])
    try:
        columns.hot += block
    except BufferError:
        columns.hot = columns.hot + block
    columns.cited = extended(columns.cited, cited)
    columns.confidence = extended(columns.confidence, confidences)
    columns.asserted_at = extended(columns.asserted_at, moments)
    graph.of_proposition.add_all([members[6] for members in packed], first)
    graph.by_actor.add_all([members[4] for members in packed], first)
    for slot, row in graph.slot_assertions.add_all(slots, first, LARGE):
        graph.live.added(slot, row)
    for row, evidence in enumerate(cited, first):
        if evidence >= 0:
            graph.cited_by.add(evidence, row)
