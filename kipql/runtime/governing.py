"""`nexus.govern`: the host's side of Governance (specification §28-§31).

Every call here is a decision of the host, never a command: it is one commit of its own with an `authorization`
control change, so it has a sequence, is replayed when the memory is opened, and holds from then on for every
caller. What changes nothing commits nothing.
"""

from kipql.errors import KipError
from kipql.govern.access import describe
from kipql.govern.authority import Authority
from kipql.govern.permissions import PRESET
from kipql.govern.principals import OWNER, Principal, principal_of
from kipql.govern.trust import Trust
from kipql.runtime import rules
from kipql.runtime.approving import Approving
from kipql.runtime.granting import Granting
from kipql.runtime.labelling import Labelling
from kipql.runtime.receipt import Receipt
from kipql.runtime.representing import Representing, binding
from kipql.runtime.rules import Operation
from kipql.runtime.trusting import trust_of
from kipql.values import Json


class Govern(Granting, Representing, Labelling, Approving):
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

    __slots__ = ()

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
        return trust_of(self._session)

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
        operations += [binding(ids[role], actor, True) for role in ("agent", "maintenance")]
        operations.append({"op": "self", "actor": actor})
        operations.append({"op": "reserve", "actor": actor, "reserved": True})
        return self._change(operations)
