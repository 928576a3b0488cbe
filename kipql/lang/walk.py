"""Walking a syntax tree without recursion."""

from collections.abc import Iterator
from dataclasses import fields

from kipql.lang.ast import Node, Param, Var

_FIELDS: dict[type, tuple[str, ...]] = {}


def members(cls: type[Node]) -> tuple[str, ...]:
    """The fields of a kind of node in their order, without its span."""
    names = _FIELDS.get(cls)
    if names is None:
        names = _FIELDS[cls] = tuple(item.name for item in fields(cls) if item.name != "span")
    return names


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below, in the order of the text as far as the fields keep it."""
    for name in members(type(node)):
        value = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif type(value) is tuple:
            for item in value:
                if isinstance(item, Node):
                    yield item


def iterate(node: Node) -> Iterator[Node]:
    """The node and everything below it, parents before children, left to right."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(list(children(node))))


def parameters(node: Node) -> tuple[Param, ...]:
    """The parameters of a statement: the first occurrence of each name, in order (§74)."""
    found: dict[str, Param] = {}
    for item in iterate(node):
        if type(item) is Param:
            found.setdefault(item.name, item)
    return tuple(found.values())


def variables(node: Node) -> tuple[Var, ...]:
    """The variables (and KML handles) below a node: the first occurrence of each name, in order."""
    found: dict[str, Var] = {}
    for item in iterate(node):
        if type(item) is Var:
            found.setdefault(item.name, item)
    return tuple(found.values())
