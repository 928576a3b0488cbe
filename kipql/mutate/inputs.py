"""From the values of a statement to Python values: parameters bound, handles and variables looked up (§74, §53.2).

A Scope is what the values of one statement can see: the parameters, the plan's handles, the bindings of one row of
the statement's own WHERE, and the target whose paths an update expression may read.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.words import near
from kipql.mutate import expressions
from kipql.mutate.draft import Handle, Target
from kipql.store import fields
from kipql.values import MAX_SAFE_INTEGER, Json, json_type

if TYPE_CHECKING:
    from kipql.mutate.plan import Plan


class Skipped:
    """The value of a numeric expression over a missing operand: the key keeps what it has (§59)."""

    __slots__ = ()


SKIPPED = Skipped()


class Scope:
    """What the values of one statement, for one row of its WHERE, can see."""

    __slots__ = ("code", "name", "parameters", "plan", "row")

    def __init__(
        self,
        plan: "Plan",
        row: Mapping[str, Any] | None = None,
        name: str | None = None,
        code: int | None = None,
    ) -> None:
        self.plan = plan
        self.parameters = plan.parameters
        self.row: Mapping[str, Any] = row or {}
        self.name = name
        self.code = code

    def evaluate(self, node: ast.Expression) -> Any:
        """The value of a node: JSON in which a variable is a Handle, or SKIPPED."""
        match node:
            case ast.Literal(value=value):
                return value
            case ast.Param(name=name):
                return self.parameter(name, node)
            case ast.Object(members=members):
                return {member.name: self._inner(member.value) for member in members}
            case ast.Array(items=items):
                return [self._inner(item) for item in items]
            case ast.Var():
                return self.variable(node)
            case ast.Path():
                return self.read(node)
            case ast.Call():
                number = expressions.evaluate(node, self.read, self._bound)
                return SKIPPED if number is None else number
            case _:
                raise KipError("InvalidSyntax", "this is no value for an assignment", span=node.span)

    def _inner(self, node: ast.Expression) -> Any:
        value = self.evaluate(node)
        return None if value is SKIPPED else value

    def parameter(self, name: str, node: ast.Node) -> Json:
        """A bound parameter. Raises ReferenceError for one the call does not give."""
        try:
            return self.parameters[name]
        except KeyError:
            close = near(name, self.parameters)
            hint = f"did you mean :{close}?" if close else f"pass {{{name!r}: ...}}"
            raise KipError("ReferenceError", f"no value for parameter :{name}", span=node.span, hint=hint) from None

    def _bound(self, name: str) -> Json:
        return self.parameter(name, ast.Param(name))

    def variable(self, node: ast.Var) -> Any:
        """What a variable stands for: the WHERE's binding, else the plan's handle. An element is a Handle."""
        if node.name in self.row:
            return self.row[node.name]
        return Handle(self.plan.handle(node))

    def read(self, node: ast.Path) -> Json:
        """A path on the target, in the state from before the statement; missing is null."""
        if node.var.name != self.name:
            raise KipError(
                "InvalidSyntax",
                f"an expression may read only its own target, not ?{node.var.name} (§59)",
                span=node.span,
            )
        return None if self.code is None else fields.read(self.plan.view, self.code, node.steps)

    def target(self, node: ast.Expression) -> Target:
        """The element that a reference names."""
        from kipql.mutate import references

        return references.element(self, node)


def text(value: Any, what: str, node: ast.Node) -> str:
    """A non-empty string. Raises TypeMismatch, or ConstraintViolation when it is empty."""
    if not isinstance(value, str):
        raise KipError("TypeMismatch", f"{what} must be a string, not {kind_of(value)}", span=node.span)
    if not value:
        raise KipError("ConstraintViolation", f"{what} must not be empty", span=node.span)
    return value


def count(value: Any, what: str, node: ast.Node) -> int:
    """A non-negative safe integer. Raises TypeMismatch."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_SAFE_INTEGER:
        return value
    raise KipError("TypeMismatch", f"{what} must be a non-negative integer", span=node.span)


def kind_of(value: Any) -> str:
    """The JSON type of a value for a message; an element is one too."""
    return "an element" if isinstance(value, Handle) else json_type(value)
