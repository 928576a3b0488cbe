"""What a caller may do, said to the caller: the answers of DESCRIBE ACCESS (specification §31.3, §31.6, §98).

Without an operand it is what the Principal holds somewhere in the Space. With `{element: x}` it is what holds for
one element that the caller may see, how that is classified, and whether it is in quarantine; with
`{permission: name}` whether that is held at all. Rules themselves are not told: they name others.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.govern.authority import AUTHORITY_CLASSES, Authority
from kipql.govern.permissions import PERMISSIONS
from kipql.govern.visibility import facts_of
from kipql.lang.words import near
from kipql.model import element_id, parse_id
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View

_BY_ELEMENT = PERMISSIONS - {
    "search", "import", "manage_schema", "manage_policy", "manage_grants", "manage_delegation", "manage_actor_binding",
    "manage_trust", "propose_schema", "read_audit", "read_raw_origin",
}  # fmt: skip


def describe(authority: Authority, view: "View") -> dict[str, Json]:
    """What a Principal holds in a Space."""
    shown = [actor for actor in sorted(authority.actors) if view.code(actor) is not None]
    return {
        "principal_id": authority.principal.id,
        "configured": authority.policy.configured,
        "permissions": sorted(authority.permissions),
        "authority_classes": list(AUTHORITY_CLASSES) if authority.holds("elevate_authority") else [],
        "actor_bindings": [{"id": actor} for actor in shown],
        "classification_labels": list(authority.policy.labels.order),
        "requires_approval": sorted(authority.policy.approvals & authority.permissions),
        "authorization_view": authority.view_id,
    }


def describe_element(authority: Authority, view: "View", reference: Json) -> dict[str, Json]:
    """What a Principal may do with one element. Raises NotFoundOrNotVisible, TypeMismatch for what names none."""
    named = reference.get("id") if isinstance(reference, Mapping) else reference
    if not isinstance(named, str):
        raise KipError("TypeMismatch", "an element is named by its id", hint='pass an id, or {"id": ...}')
    code = parse_id(named)
    if code is None or not view.exists(code):
        raise KipError("NotFoundOrNotVisible", f"there is no element {named!r} to see")
    record = view.record(code)
    whole = view.stored()
    facts = facts_of(whole.graph, view.environment, code)
    return {
        "element": {"id": element_id(code)},
        "permissions": sorted(name for name in _BY_ELEMENT & authority.permissions if authority.may(name, facts, code)),
        "classification": record.classification,
        "authority_class": record.authority_class or AUTHORITY_CLASSES[0],
        "quarantined": record.quarantined,
        "legal_hold": record.retention.legal_hold,
    }


def describe_permission(authority: Authority, name: Json) -> dict[str, Json]:
    """Whether a Principal holds a permission somewhere. Raises ConstraintViolation for a name that is none."""
    if not isinstance(name, str) or name not in PERMISSIONS:
        close = near(str(name), PERMISSIONS)
        hint = f"did you mean {close!r}?" if close else None
        raise KipError("ConstraintViolation", f"there is no permission {name!r}", hint=hint)
    return {
        "permission": name,
        "held": authority.holds(name),
        "everywhere": authority.everywhere(name),
        "requires_approval": name in authority.policy.approvals and not authority.full,
    }
