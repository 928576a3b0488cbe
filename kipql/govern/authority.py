"""What a Principal may do in a Space (specification §29, §30.2): the one question every operation asks.

Deny overrides allow, and what no rule allows is denied. Without configured Governance there is one answer: the
memory runs as its owner, who has every permission, so `require` returns at once and views are used as they are.
The authority of a Principal is that of the present policy, also for reads of the past (§48.5).
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import blake2b
from threading import RLock
from typing import Any, NamedTuple

from kipql.errors import KipError
from kipql.govern.permissions import PERMISSIONS
from kipql.govern.policy import Grant, Policy
from kipql.govern.principals import OWNER, Principal
from kipql.govern.scopes import Facts

AUTHORITY_CLASSES = ("descriptive", "advisory", "behavioral", "executable")
"""How far an element may influence behaviour, weakest first (§31.3)."""


class FieldRule(NamedTuple):
    """Which fields of an element read: those of `keep` (None: all) without those of `drop`."""

    keep: frozenset[str] | None = None
    drop: frozenset[str] = frozenset()

    def shows(self, path: str) -> bool:
        """Whether a field, or a member of one (`attributes.salary`), is read."""
        if any(_below(path, name) for name in self.drop):
            return False
        return self.keep is None or any(_below(path, name) or _below(name, path) for name in self.keep)


NO_FIELDS = FieldRule(frozenset())


class Authority:
    """A Principal with the permissions it holds in one Space under one policy; the owner's when that is None.

    epoch    the last `authorization` commit: what may be seen changes with it only
    lineage  what a symbol of a rule is called in the Schema Environment of now

    `view_id` names the authorization view for a ProjectionBasis and for stream coverage (§21.12, §36.3):
    two callers with the same one see the same elements.
    """

    __slots__ = (
        "_allow", "_deny", "_fields", "_memo", "_narrow", "cache", "epoch", "full", "lock", "permissions", "policy",
        "principal", "sees_all", "view_id",
    )  # fmt: skip

    def __init__(
        self,
        principal: Principal,
        policy: Policy | None = None,
        epoch: int = 0,
        lineage: Callable[[str], str] | None = None,
    ) -> None:
        self.principal = principal
        self.policy = policy or Policy()
        self.epoch = epoch
        self.full = policy is None
        self.cache: dict[Any, Any] = {}  # what is computed once for this caller (`govern.view`)
        self.lock = RLock()
        self._memo: dict[tuple[str, Facts], bool] = {}
        self._allow: dict[str, list[Grant]] = {}
        self._deny: dict[str, list[Grant]] = {}
        self._fields: list[Grant] = []
        if policy is not None:
            self._sort(lineage or (lambda ref: ref))
        self._narrow = {
            name
            for sides in (self._allow, self._deny)
            for name, grants in sides.items()
            if any(grant.scope.ids is not None for grant in grants)
        }
        held = (name for name in self._allow if not self._nowhere(name))
        self.permissions = PERMISSIONS if self.full else frozenset(held)
        self.sees_all = self.full or self._sees_all()
        self.view_id = "full" if self.sees_all else self._view_id()

    # what is held

    def holds(self, permission: str) -> bool:
        """Whether the permission is held for some element at least."""
        return permission in self.permissions

    def require(self, *permissions: str) -> None:
        """Raise NotAuthorized unless one of the permissions is held (default deny, §30.2)."""
        if self.full or not self.permissions.isdisjoint(permissions):
            return
        error = self.refusal(permissions[0])
        if len(permissions) > 1:
            error.message = f"{self.principal.id} holds none of the permissions {', '.join(permissions)}"
            error.details["one_of"] = list(permissions)
        raise error

    def require_full(self, what: str) -> None:
        """Raise NotAuthorized unless this is the owner of a memory, whom nothing is withheld from."""
        if not self.full:
            raise KipError("NotAuthorized", f"{what} is for the owner", details={"permission": "owner"})

    def refusal(self, permission: str, about: str = "") -> KipError:
        """The NotAuthorized of a permission that is not held, or not for the element in question."""
        where = f" for {about}" if about else ""
        return KipError(
            "NotAuthorized",
            f"{self.principal.id} does not hold the permission {permission}{where}",
            hint="DESCRIBE ACCESS shows what is held; nexus.govern.grant gives more",
            details={"permission": permission},
        )

    def everywhere(self, permission: str) -> bool:
        """Whether the permission is held for every element there can be."""
        if self.full:
            return True
        allowed = any(grant.scope.everything for grant in self._allow.get(permission, ()))
        return allowed and permission not in self._deny and not (permission == "read" and self._fields)

    def uniform(self, permission: str) -> bool:
        """Whether the permission is held for every element or for none, so that no element need be looked at."""
        return self.everywhere(permission) or permission not in self.permissions

    def may(self, permission: str, facts: Facts, code: int) -> bool:
        """Whether the permission is held for an element: no rule denies it and one allows it."""
        if self.full:
            return True
        if permission in self._narrow:
            return self._may(permission, facts, code)
        known = self._memo.get((permission, facts))
        if known is None:
            known = self._memo[permission, facts] = self._may(permission, facts, code)
        return known

    def fields(self, facts: Facts, code: int) -> FieldRule | None:
        """Which fields of a readable element read; None when all of them do."""
        if not self._fields:
            return None
        labels = self.policy.labels
        rules = [grant for grant in self._fields if grant.scope.matches(facts, code, labels)]
        whole = any(grant.fields is None for grant in self._matching(self._allow, "read", facts, code))
        keep = None if whole else _named(grant for grant in rules if grant.allow)
        drop = _named(grant for grant in rules if not grant.allow)
        return None if keep is None and not drop else FieldRule(keep, drop)

    def facets(self, permission: str, facts: Facts, code: int) -> frozenset[str] | None:
        """The Facet lineages that a permission reaches on an element; None for every Facet there is."""
        matching = self._matching(self._allow, permission, facts, code)
        if self.full or any(grant.scope.facets is None for grant in matching):
            return None
        return frozenset(ref for grant in matching for ref in grant.scope.facets or ())

    @property
    def actors(self) -> frozenset[str]:
        """The ids of the actors that this Principal represents (§28.3)."""
        return self.policy.bindings.get(self.principal.id, frozenset())

    # inside

    def _sort(self, lineage: Callable[[str], str]) -> None:
        policy = self.policy
        subjects = policy.subjects(self.principal.id)
        for rule in policy.grants.values():
            if rule.subject not in subjects:
                continue
            grant = replace(rule, scope=rule.scope.renamed(lineage))
            if grant.fields is not None:
                self._fields.append(grant)
            side = self._allow if grant.allow else self._deny
            if not grant.allow and grant.fields is not None:
                continue
            for name in expanded(grant.permissions, policy):
                side.setdefault(name, []).append(grant)

    def _nowhere(self, permission: str) -> bool:
        return any(grant.scope.everything for grant in self._deny.get(permission, ()))

    def _may(self, permission: str, facts: Facts, code: int) -> bool:
        if self._matching(self._deny, permission, facts, code):
            return False
        return bool(self._matching(self._allow, permission, facts, code))

    def _matching(self, side: dict[str, list[Grant]], permission: str, facts: Facts, code: int) -> list[Grant]:
        labels = self.policy.labels
        return [grant for grant in side.get(permission, ()) if grant.scope.matches(facts, code, labels)]

    def _sees_all(self) -> bool:
        whole = self.everywhere("discover") and self.everywhere("read")
        return whole and self.uniform("search") and self.uniform("project")

    def _view_id(self) -> str:
        reading = ("discover", "read", "search", "project")
        rules = [
            (side is self._allow, name, sorted(map(str, grant.scope.to_dict().items())), sorted(grant.fields or ()))
            for side in (self._allow, self._deny)
            for name in reading
            for grant in side.get(name, ())
        ]
        rules += [(False, "fields", [str(grant.scope)], sorted(grant.fields or ())) for grant in self._fields]
        text = repr((sorted(rules), self.policy.labels))
        return f"restricted:{blake2b(text.encode(), digest_size=6).hexdigest()}@{self.epoch}"


def expanded(permissions: Iterable[str], policy: Policy) -> frozenset[str]:
    """Permission names with roles (`role:agent`) replaced by what they stand for."""
    found: set[str] = set()
    for name in permissions:
        if name.startswith("role:"):
            found |= policy.roles.get(name.removeprefix("role:"), frozenset())
        else:
            found.add(name)
    return frozenset(found)


def _below(path: str, name: str) -> bool:
    return path == name or path.startswith(f"{name}.")


def _named(grants: Iterable[Grant]) -> frozenset[str]:
    return frozenset(name for grant in grants for name in grant.fields or ())


OWNING = Authority(OWNER)
