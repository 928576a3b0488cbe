"""Which endpoint variables keep every merged identity (specification §11, §43.2).

A tuple matches through merges and binds the canonical identity. A variable that also stands where identities
are taken as written (a record's reference, a Structural Reference, a pattern that reaches merged Concepts) is
decided there: the tuple then offers every identity of the endpoint, so that the order of patterns does not
matter. Without merges in the view there is nothing to offer but the element itself.
"""

from dataclasses import replace

from kipql.plan import nodes


def marked(block: nodes.Block, outer: frozenset[str] = frozenset()) -> nodes.Block:
    """The block with `spread` set on tuples and paths; `outer` are names taken as written around it."""
    written = outer | frozenset(name for operator in block.operators for name in _as_written(operator))
    return nodes.Block(tuple(_marked(operator, written) for operator in block.operators))


def _marked(operator: nodes.Operator, written: frozenset[str]) -> nodes.Operator:
    match operator:
        case nodes.Triple(subject=subject, object=object_) | nodes.Reach(subject=subject, object=object_):
            ends = {term.name for term in (subject, object_) if isinstance(term, nodes.Variable)}
            return replace(operator, spread=tuple(sorted(ends & written)))
        case nodes.Without(block=block) | nodes.Maybe(block=block):
            return replace(operator, block=marked(block))
        case nodes.Either(left=left, right=right):
            kept = None if left is None else marked(left, written)
            return replace(operator, left=kept, right=marked(right, written))
        case _:
            return operator


def _as_written(operator: nodes.Operator) -> list[str]:
    match operator:
        case nodes.Elements(variable=variable, recall=recall, tests=tests):
            names = [] if recall == "active" else [variable]
            for test in tests:
                if isinstance(test, nodes.Refers) and isinstance(test.term, nodes.Variable):
                    names.append(test.term.name)
                elif isinstance(test, nodes.Binds) and test.natural != "symbol":
                    names.append(test.variable)
            return names
        case nodes.Edges(source=source, target=target):
            return [term.name for term in (source, target) if isinstance(term, nodes.Variable)]
        case _:
            return []
