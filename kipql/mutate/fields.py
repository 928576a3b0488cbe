"""Core fields: what SET FIELDS may name on each kind, and what its values must be (§10.2, §13.2, §15.3, §16.3).

A parser turns an evaluated value into what the record holds: instants to milliseconds, references to targets. What
can be said of one value alone is checked here, with its position; what needs the whole record is checked at the end
(`kipql.mutate.finish`).
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from kipql.errors import KipError
from kipql.lang import ast
from kipql.lang.words import near
from kipql.model import (
    A_KIND,
    ACTIVITY,
    ASSERTION,
    CONCEPT,
    EVIDENCE,
    KIND_NAMES,
    PROPOSITION,
    Concept,
    kind_of,
)
from kipql.mutate.context import placed
from kipql.mutate.draft import Draft, Handle, Placement, Target
from kipql.mutate.inputs import SKIPPED, Scope, text
from kipql.mutate.inputs import kind_of as type_of
from kipql.mutate.references import named
from kipql.schema.core import REGISTRIES
from kipql.times import parse_instant, parse_interval
from kipql.values import Json

STANCES = REGISTRIES["stance"]
MODES = REGISTRIES["mode"]
ROLES = REGISTRIES["evidence_role"]
STATUSES = REGISTRIES["activity_status"]
TERMINAL = REGISTRIES["activity_terminal"]

Parser: TypeAlias = Callable[[Scope, Any, ast.Node, str], Any]


def string(scope: Scope, value: Any, node: ast.Node, what: str) -> str:
    return text(value, what, node)


def optional_string(scope: Scope, value: Any, node: ast.Node, what: str) -> str | None:
    return None if value is None else text(value, what, node)


def strings(scope: Scope, value: Any, node: ast.Node, what: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise KipError("TypeMismatch", f"{what} must be an array of strings, not {type_of(value)}", span=node.span)
    return tuple(text(item, f"each of {what}", node) for item in value)


def one_of(names: tuple[str, ...]) -> Parser:
    """A parser for a closed registry of Core (§20.13)."""

    def parse(scope: Scope, value: Any, node: ast.Node, what: str) -> str:
        if not isinstance(value, str):
            raise KipError("TypeMismatch", f"{what} must be a string, not {type_of(value)}", span=node.span)
        if value not in names:
            close = near(value, names)
            hint = f"did you mean {close!r}?" if close else f"one of {', '.join(names)}"
            raise KipError("ConstraintViolation", f"{value!r} is no {what}", span=node.span, hint=hint)
        return value

    return parse


def instant(scope: Scope, value: Any, node: ast.Node, what: str) -> int:
    try:
        return parse_instant(_plain(value, what, node), what)
    except KipError as error:
        raise placed(error, node.span) from None


def interval(scope: Scope, value: Any, node: ast.Node, what: str) -> Any:
    try:
        return parse_interval(_plain(value, what, node))
    except KipError as error:
        raise placed(error, node.span) from None


def confidence(scope: Scope, value: Any, node: ast.Node, what: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise KipError("TypeMismatch", f"confidence must be a number, not {type_of(value)}", span=node.span)
    if not 0 <= value <= 1:
        raise KipError("ConstraintViolation", f"confidence must lie within [0, 1], not {value}", span=node.span)
    return value


def reference(kind: int) -> Parser:
    """A parser for a reference to one element of a kind; a Concept resolves to its survivor (§11.3)."""

    def parse(scope: Scope, value: Any, node: ast.Node, what: str) -> Target:
        return referenced(scope, value, node, what, kind)

    return parse


def referenced(scope: Scope, value: Any, node: ast.Node, what: str, kind: int) -> Target:
    """The element of `kind` that a value names."""
    target = named(scope.plan.view, value, node)
    found = target.kind if isinstance(target, Draft) else kind_of(target)
    if found != kind:
        message = f"{what} must be {A_KIND[kind]}, not {A_KIND[found]}"
        raise KipError("ConstraintViolation", message, span=node.span)
    return scope.plan.survivor(target, what.removeprefix("each of "))


def payload(scope: Scope, value: Any, node: ast.Node, what: str) -> Json:
    return wire_payload(value)


def wire_payload(value: Json) -> Json:
    """The wire object of an Evidence payload: a plain value is held inline (§15.3)."""
    if isinstance(value, dict) and value.get("mode") in ("inline", "external") and not value.keys() - _PAYLOAD:
        return {name: value[name] for name in ("mode", "inline", "content_ref") if value.get(name) is not None}
    return {"mode": "inline", "inline": value}


_PAYLOAD = {"mode", "inline", "content_ref"}

FIELDS: dict[int, dict[str, Parser]] = {
    CONCEPT: {"name": optional_string, "key": string, "canonical_id": optional_string, "aliases": strings},
    PROPOSITION: {},
    ASSERTION: {
        "proposition": reference(PROPOSITION),
        "asserted_by": reference(CONCEPT),
        "stance": one_of(STANCES),
        "mode": one_of(MODES),
        "confidence": confidence,
        "asserted_at": instant,
        "valid_time": interval,
    },
    EVIDENCE: {
        "evidence_class": string,
        "payload": payload,
        "content_digest": optional_string,
        "media_type": optional_string,
        "observed_at": instant,
    },
    ACTIVITY: {
        "activity_class": string,
        "status": one_of(STATUSES),
        "started_at": instant,
        "ended_at": instant,
        "parameters_digest": optional_string,
    },
}

REQUIRED: dict[int, tuple[str, ...]] = {
    CONCEPT: (),
    PROPOSITION: (),
    ASSERTION: ("proposition", "asserted_by", "stance", "mode"),
    EVIDENCE: ("evidence_class",),
    ACTIVITY: ("activity_class",),
}
_EXAMPLES = {"evidence_class": "message", "activity_class": "review"}


def assign(scope: Scope, draft: Draft, name: str, value: Any, node: ast.Node) -> None:
    """Plan one Core field. Raises SchemaFieldNotFound for a name the kind does not have."""
    if value is SKIPPED:
        return
    if name == "context_refs" and draft.kind == ASSERTION:
        assign_context(scope, draft, value, node)
        return
    if isinstance(draft.base, Concept) and name in IDENTITY:
        keep_identity(draft.base, name, value, node)
        return
    parser = FIELDS[draft.kind].get(name)
    if parser is None:
        raise unknown(draft.kind, name, node)
    draft.assign(("fields", name), parser(scope, value, node, name), node.span)


IDENTITY = ("key", "schema_ref", "type")


def keep_identity(base: Concept, name: str, value: Any, node: ast.Node) -> None:
    """A Concept keeps its key and its type for good (§7.3, §10.3); saying the same again is no change."""
    held = base.key if name == "key" else base.schema
    if value != held:
        raise KipError("ImmutableField", f"{name} of a Concept never changes", span=node.span)


def assign_context(scope: Scope, draft: Draft, value: Any, node: ast.Node) -> None:
    """Plan the context set of an Assertion: an array of Concept references (§25.3)."""
    if not isinstance(value, list):
        message = f"context_refs must be an array of references, not {type_of(value)}"
        raise KipError("TypeMismatch", message, span=node.span)
    for item in value:
        target = referenced(scope, item, node, "each of context_refs", CONCEPT)
        draft.assign(("edges", "context", target), Placement(), node.span)


def unknown(kind: int, name: str, node: ast.Node) -> KipError:
    """The error for a field that a kind does not have."""
    names = list(FIELDS[kind]) + (["context_refs"] if kind == ASSERTION else [])
    close = near(name, names)
    hint = f"did you mean {close}?" if close else f"it has {', '.join(names)}" if names else None
    message = f"{KIND_NAMES[kind]} has no Core field {name!r}"
    if kind == CONCEPT:
        hint = f"did you mean {close}?" if close else "a value that the type declares goes into SET ATTRIBUTES"
    return KipError("SchemaFieldNotFound", message, span=node.span, hint=hint)


def require(draft: Draft) -> None:
    """Raise ConstraintViolation unless a new record has the fields its kind requires."""
    for name in REQUIRED[draft.kind]:
        if ("fields", name) not in draft.assigned:
            message = f"{KIND_NAMES[draft.kind]} needs {name}"
            hint = f'add it, for example SET FIELDS {{{name}: "{_EXAMPLES[name]}"}}' if name in _EXAMPLES else None
            raise KipError("ConstraintViolation", message, span=draft.span, hint=hint)


def _plain(value: Any, what: str, node: ast.Node) -> Any:
    if isinstance(value, Handle):
        raise KipError("TypeMismatch", f"{what} must not be an element", span=node.span)
    return value
