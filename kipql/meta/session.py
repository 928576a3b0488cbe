"""What a META statement may look at, and the values of its operands (§63, §74).

A MetaSession is read-only by construction: it holds an authorized view, the chronology of the Space, and
facts about the memory that the runtime gathered. VALIDATE and PREVIEW come in as functions, because what
they run belongs to the runtime.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kipql.belief.control import Control
from kipql.cursors import Cursors
from kipql.errors import KipError
from kipql.govern.authority import Authority
from kipql.lang import ast
from kipql.limits import Budget, Limits
from kipql.model import parse_id
from kipql.values import Json, json_type

if TYPE_CHECKING:
    from kipql.capsules import Request
    from kipql.store.store import Store
    from kipql.store.view import View


class Outcome(Protocol):
    """A retained transaction outcome (§34.3)."""

    @property
    def status(self) -> str: ...
    @property
    def space_seq(self) -> int | None: ...
    def to_dict(self) -> dict[str, Json]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaSession:
    """The reading side of one call.

    view          the head, as the caller may see it
    at            the same at another sequence
    store         commits, by sequence and by transaction id
    control       epistemic policies and trust, by sequence
    spaces        id and head of every visible Space
    outcome       the retained outcome of an idempotency key of this caller, or None
    validate      `(language, text, parameters) -> result` of VALIDATE; None for the parameters of the call
    preview       `(text) -> result` of PREVIEW KML
    exporting     `(sequence or None) -> view` of what the caller may export
    seal          `(view, roots, options) -> Capsule` of EXPORT CAPSULE
    preview_import  `(capsule, plan or None) -> result` of PREVIEW IMPORT
    self_id       the Concept that the Space takes for itself (§5.6)
    """

    view: "View"
    at: "Callable[[int], View]"
    store: "Store"
    control: Control
    authority: Authority
    limits: Limits
    budget: Budget
    cursors: Cursors
    capabilities: Mapping[str, Json]
    spaces: Callable[[], list[dict[str, Json]]]
    outcome: Callable[[str], Outcome | None]
    validate: Callable[[str, str, Mapping[str, Json] | None], Json]
    preview: Callable[[str], Json]
    exporting: "Callable[[int | None], View]"
    seal: "Callable[[View, Sequence[int], Request], Json]"
    preview_import: Callable[[Json, Json], Json]
    readonly: bool = False
    self_id: str | None = None
    parameters: Mapping[str, Json] = field(default_factory=dict)

    def value(self, node: ast.Expression | None) -> Json:
        """The value of a literal or bound parameter; arrays and objects of them too. None when absent."""
        match node:
            case None:
                return None
            case ast.Literal(value):
                return value
            case ast.Param(name):
                return self.parameters[name]
            case ast.Array(items):
                return [self.value(item) for item in items]
            case ast.Object(members):
                return {member.name: self.value(member.value) for member in members}
        raise KipError("InvalidSyntax", "an operand is a value or a parameter", span=node.span)

    def text(self, node: ast.Value | None, what: str) -> str:
        """A string operand. Raises TypeMismatch."""
        value = self.value(node)
        if isinstance(value, str):
            return value
        raise _mismatch(node, what, "a string", value)

    def count(self, node: ast.Value | None, what: str, least: int = 0) -> int:
        """An integer operand, at least `least`. Raises TypeMismatch, ConstraintViolation below it."""
        value = self.value(node)
        if not isinstance(value, int) or isinstance(value, bool):
            raise _mismatch(node, what, "an integer", value)
        if value < least:
            span = node.span if node is not None else None
            raise KipError("ConstraintViolation", f"{what} is {value}; it must be {least} or more", span=span)
        return value

    def options(self, statement: ast.Validate, *known: str) -> dict[str, Json]:
        """The members of WITH. Raises ConstraintViolation for one that the statement's target does not know."""
        given: dict[str, Json] = {} if statement.options is None else self.value(statement.options)
        if unknown := sorted(given.keys() - set(known)):
            hint = f"known: {', '.join(known)}" if known else "leave WITH out"
            message = f"VALIDATE {statement.target} has no option {unknown[0]!r}"
            raise KipError("ConstraintViolation", message, span=statement.span, hint=hint)
        return given

    def element(self, node: ast.Value) -> int:
        """The element that an operand names: an id or `{"id": ...}`. Raises NotFoundOrNotVisible."""
        value = self.value(node)
        named = value.get("id") if isinstance(value, dict) else value
        if not isinstance(named, str):
            raise _mismatch(node, "an element reference", 'an id or {"id": ...}', value)
        code = parse_id(named)
        if code is None or not self.view.exists(code):
            raise KipError("NotFoundOrNotVisible", f"there is no element {named!r} to see", span=node.span)
        return code


def _mismatch(node: ast.Value | None, what: str, wanted: str, value: Json) -> KipError:
    span = node.span if node is not None else None
    return KipError("TypeMismatch", f"{what} must be {wanted}, not {json_type(value)}", span=span)


class MetaResult(NamedTuple):
    """A META answer: `result` is one description or a list of rows; `context` adds to the call's."""

    result: Json
    next_cursor: str | None = None
    truncated: bool = False
    context: Mapping[str, Json] = {}  # read only
