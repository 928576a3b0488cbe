"""A graph held still, to be written to a snapshot while writers go on (decision 0014).

Copied is what changes in place: columns, heads of postings, the tables of what was written since the last snapshot.
Shared is what does not: records and their states, the frozen tables, and the rows of a posting, which only grow: they
are cut at the bounds of the moment when they are written. A purge is the one change that reaches further back; it
stops a snapshot that is under way.
"""

from array import array

from kipql.model import ASSERTION, CONCEPT, PROPOSITION
from kipql.store.columns import Assertions, Propositions
from kipql.store.frozen import still
from kipql.store.graph import Graph
from kipql.store.postings import EVERY, Keyed
from kipql.store.symbols import Symbols


def still_graph(graph: Graph) -> Graph:
    """What `freeze` reads of a graph, as it is now. The caller keeps writers out until it is made."""
    found, bounds = Graph(graph.space_id), graph.counts()
    found.symbols = _symbols(graph.symbols)
    found.fields = dict(graph.fields)
    found.literals = graph.literals.still()
    found.history = graph.history.still()
    found.propositions = _propositions(graph.propositions)
    found.assertions = _assertions(graph.assertions)
    found.objects = {kind: records[:] for kind, records in graph.objects.items()}
    found.frozen = graph.frozen
    found.side = {kind: still(held) for kind, held in graph.side.items()}
    found.keys = {kind: still(held) for kind, held in graph.keys.items()}
    found.client_keys = still(graph.client_keys)
    found.types = graph.types[:]
    firsts, nexts = graph.slots.freeze()
    found.slots.thaw([column[:] for column in firsts], nexts[:])
    found.slot_propositions = graph.slot_propositions.still(bounds[PROPOSITION])
    for name in ("slot_assertions", "of_proposition", "cited_by", "by_actor"):
        setattr(found, name, getattr(graph, name).still(bounds[ASSERTION]))
    for name in ("outgoing", "incoming"):
        setattr(found, name, getattr(graph, name).still(bounds[PROPOSITION]))
    for name in ("by_predicate", "of_type"):
        setattr(found, name, [rows[:] for rows in getattr(graph, name)])
    for name in ("keyed", "named"):
        setattr(found, name, getattr(graph, name).still(bounds[CONCEPT].__gt__))
    found.referrers = graph.referrers.still(lambda code: code >> 3 < bounds[code & 7])
    found.ever_left = {kind: _left(rows) for kind, rows in graph.ever_left.items()}
    found.left_seqs = {kind: seqs[:] for kind, seqs in graph.left_seqs.items()}
    found.identity_seqs = graph.identity_seqs[:]
    found.merged_from = dict(graph.merged_from)
    found.controls = graph.controls[:]
    found.inputs, found.kept_entries = dict(graph.inputs), dict(graph.kept_entries)
    return found


def _symbols(symbols: Symbols) -> Symbols:
    found = Symbols()
    found.refs, found.lineages, found.lineage_of = symbols.refs[:], symbols.lineages[:], symbols.lineage_of[:]
    found._numbers, found._lineage_numbers = dict(symbols._numbers), dict(symbols._lineage_numbers)
    return found


def _propositions(tables: Propositions) -> Propositions:
    found = Propositions()
    found.subjects, found.predicates, found.objects = tables.subjects[:], tables.predicates[:], tables.objects[:]
    return found


def _assertions(claims: Assertions) -> Assertions:
    found = Assertions()
    for name in ("hot", "asserted_at", "confidence", "cited"):
        setattr(found, name, getattr(claims, name)[:])
    for name in ("citations", "contexts", "intervals"):
        setattr(found, name, still(getattr(claims, name)))
    return found


def _left(rows: Keyed) -> Keyed:
    found = Keyed()
    found.hold(None, array("q", rows.get(None, EVERY)))
    return found
