"""A Space as a networkx graph: for pictures and for algorithms that kipql does not have."""

from typing import TYPE_CHECKING

from kipql.model import CONCEPT, KINDS, PROPOSITION, Concept, Proposition, element_code, element_id
from kipql.values import literal_key

if TYPE_CHECKING:
    import networkx

    from kipql.store.view import View


def to_networkx(view: "View") -> "networkx.MultiDiGraph[str]":
    """Concepts as vertices and Propositions as edges from subject to object, keyed by their ids.

    A vertex has `kind`, and a Concept `type`, `name` and `key`; a Literal object is a vertex of kind
    `literal` with `value`. An edge has `predicate`, the exact ref. What default recall leaves out is left out.
    """
    import networkx

    graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph(space_id=view.space_id, space_seq=view.seq)
    hidden = view.left_out(CONCEPT) or frozenset()
    for row in view.rows(CONCEPT):
        if row in hidden:
            continue
        code = element_code(CONCEPT, row)
        record = view.record(code)
        assert isinstance(record, Concept)
        graph.add_node(element_id(code), kind="concept", type=record.schema, name=record.name, key=record.key)
    for row in view.rows(PROPOSITION):
        if row in (view.left_out(PROPOSITION) or ()):
            continue
        code = element_code(PROPOSITION, row)
        record = view.record(code)
        assert isinstance(record, Proposition)
        subject, target = _vertex(graph, view, record.subject), _vertex(graph, view, record.object)
        graph.add_edge(subject, target, key=element_id(code), predicate=record.predicate)
    return graph


def _vertex(graph: "networkx.MultiDiGraph[str]", view: "View", term: int) -> str:
    if term >= 0:
        vertex = element_id(term)
        if vertex not in graph:
            graph.add_node(vertex, kind=KINDS[term & 7])
        return vertex
    kind, value = literal_key(view.literal(term))
    vertex = f"{kind}:{value}"
    graph.add_node(vertex, kind="literal", value=value)
    return vertex
