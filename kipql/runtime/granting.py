"""Grants, denials, roles and groups (specification §28.5, §29, §30.2)."""

from collections.abc import Collection, Iterable, Sequence
from typing import TypedDict, Unpack

from kipql.errors import KipError
from kipql.govern.permissions import checked
from kipql.govern.principals import Principal, principal_of
from kipql.runtime import rules
from kipql.runtime.deciding import Deciding
from kipql.runtime.guard import reraise
from kipql.runtime.receipt import Receipt
from kipql.runtime.rules import Conditions, Names
from kipql.values import json_type


class Given(TypedDict, total=False):
    """The conditions of a rule; see `Granting.grant`."""

    kinds: Names | None
    types: Names | None
    predicates: Names | None
    classification: Names | None
    up_to: str | None
    ids: Sequence[object] | str | None
    fields: Names | None


class Granted(Given, total=False):
    """The conditions of a grant."""

    facets: Names | None


class Granting(Deciding):
    """The rules of a Space."""

    __slots__ = ()

    def grant(self, subject: Principal | str, *permissions: str, **conditions: Unpack[Granted]) -> str:
        """Allow something; the id of the rule, that of the same rule if there is one.

        subject         a Principal or its id, "group:NAME", or "everyone"
        permissions     names of §29, or "role:NAME" for all that a role holds
        kinds ... ids   which elements it is about; conditions that are given must all hold (`Scope`)
        classification  labels; "" stands for elements without one
        up_to           the highest label
        facets          Facets that `maintain` or `update` reaches
        fields          with `read` alone: the only fields that are read, "attributes.salary" for a member

        Raises ConstraintViolation for a name that nothing would ask for, SchemaSymbolNotFound, NotFoundOrNotVisible,
        NotAuthorized without `manage_grants`, ReadonlyViolation.

        >>> import kipql
        >>> nexus = kipql.open()
        >>> _ = nexus.govern.labels("public", "internal", "secret")
        >>> nexus.govern.grant("group:staff", "discover", "read", up_to="internal")
        'g-1'
        """
        return self._rule("allow", subject, permissions, Conditions(**conditions))

    def deny(self, subject: Principal | str, *permissions: str, **conditions: Unpack[Given]) -> str:
        """Deny something, whatever else allows it; arguments as in `grant`. `fields` of `read` are not read.

        >>> import kipql
        >>> nexus = kipql.open()
        >>> _ = nexus.govern.labels("public", "secret")
        >>> nexus.govern.deny("everyone", "discover", classification="secret")
        'g-1'
        """
        if "facets" in conditions:
            raise KipError("ConstraintViolation", "a denial reaches every Facet", hint="leave facets out")
        return self._rule("deny", subject, permissions, Conditions(**conditions))

    def revoke(self, rule: str) -> Receipt:
        """Take back a grant or a denial; it holds no more for any call that starts, or commits, from now on."""
        self._require("manage_grants")
        if not isinstance(rule, str) or rule not in self._policy.grants:
            raise KipError(
                "NotFoundOrNotVisible", f"there is no rule {rule!r}", hint="nexus.govern.policy() lists them"
            )
        return self._change([{"op": "revoke", "id": rule}])

    def role(self, name: str, permissions: Collection[str]) -> Receipt:
        """Name a set of permissions; rules say "role:NAME" and follow when it changes (§28.5)."""
        self._require("manage_grants")
        names = checked(permissions, rules.allowed(self._session))
        return self._change([{"op": "role", "name": rules.named(name, "a role"), "permissions": sorted(names)}])

    def group(self, name: str, members: Iterable[Principal | str]) -> Receipt:
        """Say which Principals a group has; none dissolves it. Rules say "group:NAME" (§28.5)."""
        self._require("manage_grants")
        if isinstance(members, str) or not isinstance(members, Iterable):
            raise KipError("TypeMismatch", f"the members of a group are a list, not {json_type(members)}")
        ids = sorted({principal_of(member).id for member in members})
        return self._change([{"op": "group", "name": rules.named(name, "a group"), "members": ids}])

    def _rule(self, effect: str, subject: object, permissions: Sequence[str], conditions: Conditions) -> str:
        try:
            self._require("manage_grants")
            wanted = rules.rule(self._session, effect, subject, permissions, conditions)
            for known in self._policy.grants.values():
                if rules.same(known, wanted):
                    return known.id
            self._change([wanted])
            return str(wanted["id"])
        except Exception as error:
            reraise(error)
