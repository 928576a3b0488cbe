"""The Governance of one Space as a value: labels, roles, groups, grants, bindings, approvals (specification §28-§31).

It is folded from the `authorization` control changes of the Space in their order, and nothing else: what a memory
contains grants nothing (§28.1). Each change is a list of operations, `{"op": name, ...}`, committed together.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kipql.errors import KipError
from kipql.govern.permissions import PRESET
from kipql.govern.scopes import EVERYTHING, NO_LABELS, Labels, Scope
from kipql.values import Json

EVERYONE = "everyone"
CONTROL = "authorization"


@dataclass(frozen=True, slots=True)
class Grant:
    """One rule: whom it is for, what it allows or denies, about which elements.

    subject  "principal:ID", "group:NAME" or "everyone"
    fields   of a rule about `read`: only these fields are read (allow), or these are not (deny)
    """

    id: str
    allow: bool
    subject: str
    permissions: frozenset[str]
    scope: Scope = EVERYTHING
    fields: frozenset[str] | None = None

    def to_dict(self) -> dict[str, Json]:
        """The rule as JSON."""
        found: dict[str, Json] = {
            "id": self.id,
            "effect": "allow" if self.allow else "deny",
            "subject": self.subject,
            "permissions": sorted(self.permissions),
            "scope": self.scope.to_dict(),
        }
        if self.fields is not None:
            found["fields"] = sorted(self.fields)
        return found


def _nothing() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Policy:
    """Governance after some changes.

    configured  whether rules decide: from the first one on, what none allows is denied (§30.2)
    bindings    Principal id -> element ids of the actors it represents (§28.3)
    reserved    actors that only a bound Principal speaks for (§28.4)
    self_id     the Concept that the Space takes for itself (§5.6)
    approvals   permissions that wait for a second decision, and the decisions: request id -> who approved
    """

    configured: bool = False
    labels: Labels = NO_LABELS
    roles: Mapping[str, frozenset[str]] = field(default_factory=lambda: {k: frozenset(v) for k, v in PRESET.items()})
    groups: Mapping[str, frozenset[str]] = field(default_factory=_nothing)
    grants: Mapping[str, Grant] = field(default_factory=_nothing)
    bindings: Mapping[str, frozenset[str]] = field(default_factory=_nothing)
    reserved: frozenset[str] = frozenset()
    self_id: str | None = None
    approvals: frozenset[str] = frozenset()
    approved: Mapping[str, str] = field(default_factory=_nothing)
    issued: int = 0

    def after(self, operations: Iterable[Mapping[str, Json]]) -> "Policy":
        """The policy after the operations of one change. Raises MemoryDamaged for what is none."""
        found = self
        try:
            for operation in operations:
                found = _OPERATIONS[operation["op"]](found, operation)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise KipError("MemoryDamaged", f"an authorization change can not be read: {error!r}") from error
        return found

    def subjects(self, principal_id: str) -> frozenset[str]:
        """The subjects whose rules hold for a Principal: itself, its groups, everyone."""
        groups = {f"group:{name}" for name, members in self.groups.items() if principal_id in members}
        return frozenset((f"principal:{principal_id}", EVERYONE, *groups))

    def to_dict(self) -> dict[str, Json]:
        """All of it as JSON, for people and for a dump."""
        return {
            "configured": self.configured,
            "labels": {"order": list(self.labels.order), "unclassified": self.labels.unclassified},
            "roles": {name: sorted(names) for name, names in sorted(self.roles.items())},
            "groups": {name: sorted(members) for name, members in sorted(self.groups.items())},
            "grants": [grant.to_dict() for grant in self.grants.values()],
            "actor_bindings": {name: sorted(ids) for name, ids in sorted(self.bindings.items())},
            "reserved_actors": sorted(self.reserved),
            "self": self.self_id,
            "approvals": sorted(self.approvals),
        }


Operation = Mapping[str, Json]


def _labels(policy: Policy, given: Operation) -> Policy:
    return replace(policy, labels=Labels(tuple(given["order"]), given["unclassified"]))


def _role(policy: Policy, given: Operation) -> Policy:
    return replace(policy, roles={**policy.roles, given["name"]: frozenset(given["permissions"])})


def _group(policy: Policy, given: Operation) -> Policy:
    groups = {**policy.groups, given["name"]: frozenset(given["members"])}
    return replace(policy, groups={name: members for name, members in groups.items() if members})


def _grant(policy: Policy, given: Operation) -> Policy:
    grant = Grant(
        given["id"],
        given["effect"] == "allow",
        given["subject"],
        frozenset(given["permissions"]),
        Scope.of_dict(given["scope"]),
        frozenset(given["fields"]) if given.get("fields") is not None else None,
    )
    return replace(
        policy, configured=True, grants={**policy.grants, grant.id: grant}, issued=max(policy.issued, int(grant.id[2:]))
    )


def _revoke(policy: Policy, given: Operation) -> Policy:
    return replace(policy, grants={name: grant for name, grant in policy.grants.items() if name != given["id"]})


def _bind(policy: Policy, given: Operation) -> Policy:
    held = policy.bindings.get(given["principal"], frozenset())
    bound = held | {given["actor"]} if given["bound"] else held - {given["actor"]}
    bindings = {**policy.bindings, given["principal"]: bound}
    return replace(policy, bindings={name: ids for name, ids in bindings.items() if ids})


def _reserve(policy: Policy, given: Operation) -> Policy:
    actors = policy.reserved | {given["actor"]} if given["reserved"] else policy.reserved - {given["actor"]}
    return replace(policy, reserved=actors)


def _self(policy: Policy, given: Operation) -> Policy:
    return replace(policy, self_id=given["actor"])


def _approvals(policy: Policy, given: Operation) -> Policy:
    return replace(policy, approvals=frozenset(given["permissions"]))


def _approve(policy: Policy, given: Operation) -> Policy:
    return replace(policy, approved={**policy.approved, given["request"]: given["by"]})


def _use(policy: Policy, given: Operation) -> Policy:
    return replace(policy, approved={name: by for name, by in policy.approved.items() if name != given["request"]})


def _element(policy: Policy, given: Operation) -> Policy:
    """A change of elements' own governance: the elements hold it, the policy does not."""
    return policy


_OPERATIONS: dict[Any, Callable[[Policy, Operation], Policy]] = {
    "labels": _labels,
    "role": _role,
    "group": _group,
    "grant": _grant,
    "revoke": _revoke,
    "bind": _bind,
    "reserve": _reserve,
    "self": _self,
    "approvals": _approvals,
    "approve": _approve,
    "use": _use,
    "classify": _element,
    "elevate": _element,
    "quarantine": _element,
    "release": _element,
}
