"""Which element a value names (§8, §7.3, §54.3).

A reference is a handle, a bare id, `{id}`, `{type, key}`, `{key}` or `{canonical_id}`; a whole element, as a query
returns it, stands for its id. Further members constrain the element that the identity names, they never choose
one. A name is not identity.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.exec import references as read
from kipql.lang import ast
from kipql.model import Concept, element_id, parse_id
from kipql.mutate.context import placed
from kipql.mutate.draft import Handle, Target
from kipql.values import json_type

if TYPE_CHECKING:
    from kipql.mutate.inputs import Scope
    from kipql.store.view import View

IDENTITY = ("id", "key", "canonical_id")
_CONSTRAINTS = frozenset({"id", "key", "canonical_id", "type", "name"})


def element(scope: "Scope", node: ast.Expression) -> Target:
    """The element that a node names. Raises NotFoundOrNotVisible when there is none."""
    return named(scope.plan.view, scope.evaluate(node), node)


def named(view: "View", value: Any, node: ast.Node, *, stubs: bool = False) -> Target:
    """The element that an evaluated reference names; with `stubs` also what is left of a purged one."""
    try:
        if isinstance(value, Handle):
            return value.target
        found = read.resolve(view, value) if stubs else lookup(view, value)
    except KipError as error:
        raise placed(error, node.span) from None
    if found is None:
        raise missing(value, node)
    return found


def lookup(view: "View", value: Any) -> int | None:
    """The code that a bare id or a selector names, None when nothing visible carries that identity."""
    if isinstance(value, str):
        return living(view, view.code(value))
    if isinstance(value, Mapping):
        if len(value) == 1 and isinstance(known := value.get("id"), str):
            return living(view, view.code(known))
        return by_selector(view, value)
    raise KipError("TypeMismatch", f"an element reference must be an id or an object, not {json_type(value)}")


def living(view: "View", code: int | None) -> int | None:
    """The code, unless its element was purged: a stub takes no new references."""
    return None if code is None or view.state(code) == "purged" else code


def by_selector(view: "View", selector: Mapping[str, Any]) -> int | None:
    """The element with the identity of an object reference.

    Raises IdentitySelectorRequired without an identity, IdentityConflict when a key names several Concepts.
    """
    if "_system" in selector and "kind" in selector:
        return lookup(view, selector["id"])
    if not any(name in selector for name in IDENTITY):
        raise KipError(
            "IdentitySelectorRequired",
            "this describes an element instead of naming one",
            hint="give an id, a type and key, or a canonical_id; a name is not identity (§7.2)",
        )
    if unknown := set(selector) - _CONSTRAINTS:
        raise KipError("ConstraintViolation", f"a reference has no member {min(unknown)!r}")
    for name, value in selector.items():
        if not isinstance(value, str):
            raise KipError("TypeMismatch", f"{name} of a reference must be a string, not {json_type(value)}")
    code = _by_identity(view, selector)
    return code if code is not None and fits(view, code, selector) else None


def _by_identity(view: "View", selector: Mapping[str, str]) -> int | None:
    if "id" in selector:
        return living(view, view.code(selector["id"]))
    if "key" in selector:
        return keyed(view, selector["key"], selector.get("type"))
    found = read.canonical_concepts(view, selector["canonical_id"])
    return _one(view, found, f"the canonical_id {selector['canonical_id']!r}")


def keyed(view: "View", key: str, type_name: str | None) -> int | None:
    """The Concept that carries `key`, within a type's lineage when one is named (§7.3).

    Raises IdentityConflict when a key without a type names several, SchemaSymbolNotFound for an unknown type.
    """
    return _one(view, read.keyed(view, type_name, key), f"the key {key!r}")


def _one(view: "View", codes: list[int], what: str) -> int | None:
    """The only code; several that were merged into one another are one, the survivor."""
    if len(codes) < 2:
        return codes[0] if codes else None
    survivors = {view.canonical(code) for code in codes}
    if len(survivors) > 1:
        raise KipError(
            "IdentityConflict",
            f"{what} names {len(survivors)} Concepts: {', '.join(element_id(code) for code in sorted(survivors))}",
            hint="name the type too: a key is identity within its Concept Type (§7.3)",
        )
    return survivors.pop()


def fits(view: "View", code: int, selector: Mapping[str, Any]) -> bool:
    """Whether an element meets every member of a selector besides the one that named it."""
    record = view.record(code)
    for name, wanted in selector.items():
        if name == "id":
            if element_id(code) != wanted:
                return False
        elif not isinstance(record, Concept):
            return False
        elif name == "type":
            if not of_type(view, record, wanted):
                return False
        elif getattr(record, name) != wanted:
            return False
    return True


def of_type(view: "View", record: Concept, type_name: str) -> bool:
    """Whether a Concept's type is of the lineage that a name resolves to (§54.4)."""
    environment = view.environment
    return environment.lineage(record.schema) == environment.concept_type(type_name).lineage


def named_by(selector: Any) -> str:
    """A reference as people write it, with what identifies and nothing else: `{type: "Person", key: "ada"}`."""
    if not isinstance(selector, Mapping):
        return "the element that this names"
    names = ("id",) if "_system" in selector else ("id", "type", "key", "canonical_id")
    members = (f"{name}: {json.dumps(selector[name], ensure_ascii=False)}" for name in names if name in selector)
    return f"{{{', '.join(members)}}}"


def missing(value: Any, node: ast.Node) -> KipError:
    """The error for a reference that resolves to nothing the caller may see."""
    if isinstance(value, str) and parse_id(value) is None:
        hint = (
            f'an id looks like C-1; name it by its key as {{type: "...", key: {json.dumps(value, ensure_ascii=False)}}}'
        )
        return KipError("NotFoundOrNotVisible", f"{value!r} is no id: it names nothing", span=node.span, hint=hint)
    shown = value if isinstance(value, str) else named_by(value)
    return KipError("NotFoundOrNotVisible", f"{shown} is not there or not visible", span=node.span)
