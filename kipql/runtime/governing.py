"""`nexus.govern`: the host's side of Governance (specification §28-§31).

Every call here is a decision of the host, never a command: it is one commit of its own with an `authorization`
control change, so it has a sequence, is replayed when the memory is opened, and holds from then on for every
caller. What changes nothing commits nothing.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kipql.errors import KipError
from kipql.govern.access import describe
from kipql.govern.authority import AUTHORITY_CLASSES, Authority
from kipql.govern.permissions import PRESET, checked
from kipql.govern.policy import CONTROL, Policy
from kipql.govern.principals import OWNER, Principal, principal_of
from kipql.govern.trust import Trust
from kipql.model import AnyRecord, element_id
from kipql.runtime import rules
from kipql.runtime.guard import reraise
from kipql.runtime.memory import Memory
from kipql.runtime.receipt import Receipt
from kipql.runtime.rules import Conditions, Names, Operation
from kipql.runtime.session import Session
from kipql.runtime.trusting import trust_of
from kipql.runtime.work import Work
from kipql.values import Json


class Govern:
    """Who may do what in a memory, and how its elements are protected.

    Until the first rule every Principal acts with the owner's rights. From then on what no rule allows is denied,
    and a denial overrides every allowance; the owner, whom a call without a Principal runs as, keeps every right.

    >>> import kipql
    >>> nexus = kipql.open()
    >>> nexus.govern.configured
    False
    >>> _ = nexus.govern.grant("reader", "discover", "read")
    >>> try:
    ...     nexus.as_principal("reader").execute('CREATE CONCEPT ?a { TYPE "Person" NAME "Ada" }')
    ... except kipql.KipError as error:
    ...     print(error.code, error.message)
    NotAuthorized reader does not hold the permission create
    """

    __slots__ = ("_memory", "_session")

    def __init__(self, memory: Memory, session: Session) -> None:
        self._memory = memory
        self._session = session

    # what holds

    @property
    def configured(self) -> bool:
        """Whether rules decide in this Space."""
        return self._policy.configured

    @property
    def owner(self) -> Principal:
        """The Principal that every call runs as when the host names none; it holds every permission."""
        return OWNER

    @property
    def trust(self) -> Trust:
        """How much weighted policies let an actor's word weigh: `set`, `remove`, `list` (§22.5)."""
        return trust_of(self._memory, self._session)

    def authority(self, principal: object = None) -> Authority:
        """What a Principal (or the owner) holds now."""
        return self._session.authority_of(principal_of(principal))

    def describe(self, principal: object = None) -> dict[str, Json]:
        """What a Principal holds, as DESCRIBE ACCESS answers it."""
        return describe(self.authority(principal), self._session.view())

    def policy(self) -> dict[str, Json]:
        """All rules as JSON. Raises NotAuthorized without `manage_grants` or `read_audit`."""
        self._require("manage_grants", "read_audit")
        return self._policy.to_dict()

    # rules

    def grant(
        self,
        subject: Principal | str,
        *permissions: str,
        kinds: Names | None = None,
        types: Names | None = None,
        predicates: Names | None = None,
        classification: Names | None = None,
        up_to: str | None = None,
        ids: Sequence[object] | str | None = None,
        facets: Names | None = None,
        fields: Names | None = None,
    ) -> str:
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
        conditions = Conditions(
            kinds=kinds,
            types=types,
            predicates=predicates,
            classification=classification,
            up_to=up_to,
            ids=ids,
            facets=facets,
            fields=fields,
        )
        return self._rule("allow", subject, permissions, conditions)

    def deny(
        self,
        subject: Principal | str,
        *permissions: str,
        kinds: Names | None = None,
        types: Names | None = None,
        predicates: Names | None = None,
        classification: Names | None = None,
        up_to: str | None = None,
        ids: Sequence[object] | str | None = None,
        fields: Names | None = None,
    ) -> str:
        """Deny something, whatever else allows it; arguments as in `grant`. `fields` of `read` are not read.

        >>> import kipql
        >>> nexus = kipql.open()
        >>> _ = nexus.govern.labels("public", "secret")
        >>> nexus.govern.deny("everyone", "discover", classification="secret")
        'g-1'
        """
        conditions = Conditions(
            kinds=kinds,
            types=types,
            predicates=predicates,
            classification=classification,
            up_to=up_to,
            ids=ids,
            fields=fields,
        )
        return self._rule("deny", subject, permissions, conditions)

    def revoke(self, rule: str) -> Receipt:
        """Take back a grant or a denial; it holds no more for any call that starts, or commits, from now on."""
        self._require("manage_grants")
        if rule not in self._policy.grants:
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
        ids = sorted({principal_of(member).id for member in members})
        return self._change([{"op": "group", "name": rules.named(name, "a group"), "members": ids}])

    # actors

    def bind(self, principal: Principal | str, actor: object) -> Receipt:
        """Let a Principal represent an actor: claims by the actor are then its own to make and take back (§28.3)."""
        return self._bind(principal, actor, True)

    def unbind(self, principal: Principal | str, actor: object) -> Receipt:
        """Take a representation back."""
        return self._bind(principal, actor, False)

    def reserve(self, actor: object, reserved: bool = True) -> Receipt:
        """Let only Principals that are bound to an actor write claims by it (§28.4): others fail with
        ActorBindingRequired instead of recording what it is said to have said."""
        self._require("manage_actor_binding")
        return self._change([{"op": "reserve", "actor": rules.concept(self._session, actor), "reserved": reserved}])

    def designate_self(self, actor: object) -> Receipt:
        """Say which Concept the Space takes for itself (§5.6); None for none."""
        self._require("manage_policy")
        return self._change([{"op": "self", "actor": None if actor is None else rules.concept(self._session, actor)}])

    # elements

    def labels(self, *order: str, unclassified: str | None = None) -> Receipt:
        """Declare the classification labels, least restricted first (§31.1).

        unclassified  the label that an element without one counts as under `up_to`; without it, any ceiling admits it

        >>> import kipql
        >>> kipql.open().govern.labels("public", "internal", "secret").status
        'committed'
        """
        self._require("manage_policy")
        if len(set(order)) != len(order) or not all(isinstance(label, str) and label for label in order):
            raise KipError("ConstraintViolation", "labels are distinct, non-empty strings")
        if unclassified is not None and unclassified not in order:
            raise KipError("ConstraintViolation", f"{unclassified!r} is none of the labels")
        return self._change([{"op": "labels", "order": list(order), "unclassified": unclassified}])

    def classify(self, targets: object, label: str | None) -> Receipt:
        """Classify elements, or take their classification away with None (§31.1).

        targets  an id, a reference, an element, or a list of them

        Lowering a label needs `declassify`, raising one `manage_policy`. Raises NotFoundOrNotVisible,
        ConstraintViolation for a label that is not declared, NotAuthorized, ReadonlyViolation.
        """
        labels = self._policy.labels
        if label is not None:
            rules.check_label(self._policy, label)
        rank = -1 if label is None else labels.rank(label)
        codes = rules.codes(self._session, targets)
        for code in codes:
            held = self._session.space.view().record(code).classification
            lower = held is not None and rank < labels.rank(held)
            self._require("declassify" if lower else "manage_policy")
        return self._elements("classify", codes, {"classification": label})

    def elevate(self, targets: object, authority_class: str) -> Receipt:
        """Say how far elements may influence behaviour (§31.3): descriptive, advisory, behavioral or executable."""
        self._require("elevate_authority")
        if authority_class not in AUTHORITY_CLASSES:
            hint = f"one of {', '.join(AUTHORITY_CLASSES)}"
            raise KipError("ConstraintViolation", f"{authority_class!r} is no authority class", hint=hint)
        value = None if authority_class == AUTHORITY_CLASSES[0] else authority_class
        return self._elements("elevate", rules.codes(self._session, targets), {"authority_class": value})

    def quarantine(self, targets: object) -> Receipt:
        """Take elements out of recall and out of projection without saying anything about them (§31.6)."""
        self._require("quarantine")
        return self._elements("quarantine", rules.codes(self._session, targets), {"quarantined": True})

    def release(self, targets: object) -> Receipt:
        """Release elements from quarantine."""
        self._require("quarantine")
        return self._elements("release", rules.codes(self._session, targets), {"quarantined": False})

    # approval

    def require_approval(self, *permissions: str) -> Receipt:
        """Let operations that need these permissions wait for a second decision (§29.11); none lifts the rule.

        Such an operation fails with RequiresApproval, whose `details.request` another Principal approves; then
        the same operation of the same Principal goes through, once.
        """
        self._require("manage_policy")
        names = checked(permissions, rules.allowed(self._session))
        return self._change([{"op": "approvals", "permissions": sorted(names)}])

    def pending(self) -> list[dict[str, Json]]:
        """The requests that failed for want of an approval since the memory was opened, oldest first:
        `{request, principal_id, permission, elements}`."""
        self._require("approve")
        return [dict(each) for each in self._session.space.governance.pending.values()]

    def approve(self, request: str) -> Receipt:
        """Approve a request; who approves is not who asked. Raises NotFoundOrNotVisible, NotAuthorized."""
        self._require("approve")
        pending = self._session.space.governance.pending
        known = pending.get(request)
        if known is None:
            raise KipError("NotFoundOrNotVisible", f"no request {request!r} waits", hint="nexus.govern.pending()")
        approver = self._session.principal.id
        if approver == known["principal_id"]:
            raise KipError("NotAuthorized", "a request is approved by somebody else", details={"permission": "approve"})
        receipt = self._change([{"op": "approve", "request": request, "by": approver}])
        pending.pop(request, None)
        return receipt

    # the preset

    def single_agent(
        self,
        *,
        agent: Principal | str,
        maintenance: Principal | str,
        instrument: Principal | str,
        owner: Principal | str,
        self_identity: object,
        merged: bool = False,
    ) -> Receipt:
        """Set up a memory of one acting Agent (§30.5) in one commit.

        agent          wakes, forms, recalls; speaks for the self
        maintenance    sleeps: sweeps, merges, retires; speaks for the self
        instrument     measures and records outcomes; never speaks for the self
        owner          the human: every permission, the approver
        self_identity  the Concept that the memory takes for itself; only agent and maintenance write claims by it
        merged         say so when two of the four are one Principal: the channel is then self-graded (§29.8)

        Everything else is denied. More is granted, or denied, with `grant` and `deny`.

        >>> import kipql
        >>> nexus = kipql.open()
        >>> me = nexus.execute('CREATE CONCEPT ?me { TYPE "Person" NAME "Iris" }').handles["me"]
        >>> people = dict(agent="agent", maintenance="sleep", instrument="probe", owner="ada")
        >>> nexus.govern.single_agent(**people, self_identity=me).status
        'committed'
        >>> nexus.govern.describe("probe")["permissions"]
        ['create', 'discover', 'read', 'record_outcome']
        """
        self._require("manage_grants")
        people = {"agent": agent, "maintenance": maintenance, "instrument": instrument, "owner": owner}
        ids = {role: principal_of(each).id for role, each in people.items()}
        if len(set(ids.values())) < len(ids) and not merged:
            raise KipError(
                "ConstraintViolation",
                "two of the four Principals are one",
                hint="separate them, or say merged=True: whoever acts then grades itself",
            )
        allowed, actor = rules.allowed(self._session), rules.concept(self._session, self_identity)
        operations: list[Operation] = []
        for number, (role, principal) in enumerate(ids.items(), self._policy.issued + 1):
            names = sorted(allowed.intersection(PRESET[role]))
            operations.append({"op": "role", "name": role, "permissions": names})
            operations.append(rules.granting(number, "allow", f"principal:{principal}", [f"role:{role}"]))
        operations += [_binding(ids[role], actor, True) for role in ("agent", "maintenance")]
        operations.append({"op": "self", "actor": actor})
        operations.append({"op": "reserve", "actor": actor, "reserved": True})
        return self._change(operations)

    # inside

    @property
    def _policy(self) -> Policy:
        return self._session.space.governance.policy

    def _require(self, *permissions: str) -> None:
        self._session.authority.require(*permissions)

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

    def _bind(self, principal: Principal | str, actor: object, bound: bool) -> Receipt:
        self._require("manage_actor_binding")
        return self._change([_binding(principal_of(principal).id, rules.concept(self._session, actor), bound)])

    def _elements(self, op: str, codes: Sequence[int], members: Mapping[str, Any]) -> Receipt:
        def changed(record: AnyRecord) -> AnyRecord:
            return replace(record, **members)

        view = self._session.space.view()
        moved = [code for code in codes if changed(view.record(code)) != view.record(code)]
        ids = [element_id(code) for code in moved]
        return self._change([{"op": op, "elements": ids, **members}] if moved else [], dict.fromkeys(moved, changed))

    def _change(
        self, operations: Sequence[Operation], elements: Mapping[int, Callable[[AnyRecord], AnyRecord]] | None = None
    ) -> Receipt:
        """One commit with these operations, and with what they do to elements."""
        session, policy = self._session, self._policy
        try:
            session.refuse_writing()
            if policy.after(operations).configured:
                self._memory.remember_governed()  # before the rule: a crash between must not leave others open
            with Work(session, session.budget()) as work:

                def decide(tx: Any, write: Any) -> None:
                    for code, changed in (elements or {}).items():
                        tx.put(code, changed(tx.view.record(code)))
                    if elements or policy.after(operations) != policy:
                        tx.control(CONTROL, {"operations": list(operations)})

                work.protected(decide)
                return work.commit()
        except Exception as error:
            reraise(error)


def _binding(principal: str, actor: str, bound: bool) -> Operation:
    return {"op": "bind", "principal": principal, "actor": actor, "bound": bound}
