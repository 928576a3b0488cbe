"""Which fields of which variables a plan reads, so that a record is fetched once for all of them."""

from dataclasses import fields, is_dataclass

from kipql.lang.node import Node
from kipql.plan import nodes

Fields = dict[str, set[nodes.Steps]]


def fields_read(plan: nodes.Plan) -> Fields:
    """The field paths of each variable: of items, sort keys, filters, and the tests of element patterns."""
    found: Fields = {}
    stack: list[object] = [plan]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(node)
        elif isinstance(node, Node) and is_dataclass(node):
            if isinstance(node, nodes.Member):
                found.setdefault(node.name, set()).add(node.steps)
            elif isinstance(node, nodes.Elements):
                tested = {test.steps for test in node.tests if isinstance(test, nodes.Equals)}
                found.setdefault(node.variable, set()).update(tested)
            stack.extend(getattr(node, field.name) for field in fields(node))
    return found
