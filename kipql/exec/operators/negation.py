"""NOT: a correlated existence test (specification §44.3).

The block sees the solution's bindings; the solution passes unchanged when the block has no match with it. What
the block binds is its own. An error inside is an error, never an absence.
"""

from collections.abc import Iterator

from kipql.exec.context import Context
from kipql.exec.emit import Emitter, Place, Scope, Then
from kipql.exec.frames import Build, Frame, Step
from kipql.exec.write import block, used_names
from kipql.plan import nodes


def step(operator: nodes.Without, context: Context, build: Build) -> Step:
    """The closure of a NOT."""
    block = build(operator.block)

    def run(frame: Frame) -> Iterator[None]:
        # The block may bind; whatever it found last is taken back before the solution goes on.
        for _ in block(list(frame)):
            return
        yield

    return run


def emit(operator: nodes.Without, code: Emitter, scope: Scope, then: Then) -> None:
    """The source of a NOT: a function that says whether the block has a match."""
    name = code.fresh("found")
    mentioned = used_names(operator.block.operators)
    inner = {variable: Place(place.name, place.sure) for variable, place in scope.items() if variable in mentioned}
    arguments = list(dict.fromkeys(place.name for place in inner.values()))

    def matched(_: Scope) -> None:
        code.settle()
        code.line("return True")

    with code.looking():
        code.function(name, arguments, lambda: block(operator.block.operators, code, inner, matched), ["return False"])
    code.charge("1")
    with code.block(f"if not {name}({', '.join(arguments)}):"):
        then(scope)
