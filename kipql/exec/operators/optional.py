"""OPTIONAL: the left join of a block (specification §44.4).

Each solution is extended by every match of the whole block; where there is none it passes once, with the
block's new variables unbound. An error inside aborts the query: a failure to look is not a miss.
"""

from collections.abc import Iterator

from kipql.exec.context import Context
from kipql.exec.emit import Emitter, Scope, Then
from kipql.exec.frames import Build, Frame, Step
from kipql.exec.write import block, collect, unpack
from kipql.plan import nodes
from kipql.plan.variables import bound_by


def step(operator: nodes.Maybe, context: Context, build: Build) -> Step:
    """The closure of an OPTIONAL."""
    block = build(operator.block)

    def run(frame: Frame) -> Iterator[None]:
        matched = False
        for _ in block(frame):
            matched = True
            yield
        if not matched:
            yield

    return run


def emit(operator: nodes.Maybe, code: Emitter, scope: Scope, then: Then) -> None:
    """The source of an OPTIONAL: its matches are collected, a miss is one row."""
    found = code.fresh("m")
    bound = [name for name in bound_by(operator.block) if name in operator.fresh or not _sure(name, scope)]
    names = list(dict.fromkeys([*operator.fresh, *bound]))
    code.line(f"{found} = []")
    with code.collecting(found):
        block(operator.block.operators, code, scope, lambda inner: collect(code, found, names, inner))
    with code.block(f"if not {found}:"):
        collect(code, found, names, scope)
    unpack(code, found, names, dict.fromkeys(names, False), scope, then)


def _sure(name: str, scope: Scope) -> bool:
    return name in scope and scope[name].sure
