"""The Governance of an open Space: its policy as of the last commit, and what each Principal holds under it.

The policy is folded from the `authorization` control changes that the store replayed, and follows the commits. An
Authority is made once per Principal and policy; a commit that changes the policy, or how elements are classified,
makes new ones.
"""

from collections.abc import Callable, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any

from kipql.govern.authority import OWNING, Authority
from kipql.govern.policy import CONTROL, Policy
from kipql.govern.principals import OWNER, Principal

if TYPE_CHECKING:
    from kipql.schema.environment import Environment

_MOST = 256  # Authorities kept per policy, requests that wait


class Governance:
    """Made with a Space.

    controls     the store's list of (sequence, kind, payload), which only grows
    environment  the Schema Environment of now
    """

    __slots__ = (
        "_authorities", "_controls", "_environment", "_lock", "_policy", "_read", "_version", "epoch", "pending",
    )  # fmt: skip

    def __init__(self, controls: Sequence[tuple[int, str, Any]], environment: "Callable[[], Environment]") -> None:
        self._controls = controls
        self._environment = environment
        self._version = 0
        self._lock = RLock()
        self._policy = Policy()
        self._read = 0
        self._authorities: dict[str, Authority] = {}
        self.epoch = 0
        self.pending: dict[str, dict[str, Any]] = {}  # requests that wait for an approval, as far as we were open

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        if self._read != len(self._controls):
            self._catch_up()
        return self._policy

    def authority(self, principal: Principal, elsewhere: Callable[[], bool]) -> Authority:
        """What a Principal holds here.

        elsewhere  whether another Space of the memory is governed; then one that is not is the owner's alone
        """
        if principal == OWNER:
            return OWNING
        policy = self.policy
        if not policy.configured:
            return Authority(principal, Policy(configured=True)) if elsewhere() else self._made(principal, None)
        environment = self._environment()
        if environment.version != self._version:
            with self._lock:
                self._authorities, self._version = {}, environment.version
        return self._made(principal, policy, environment.lineage)

    def _made(
        self, principal: Principal, policy: Policy | None, lineage: Callable[[str], str] | None = None
    ) -> Authority:
        with self._lock:
            known = self._authorities.get(principal.id)
            if known is None or known.full is not (policy is None) or not (known.full or known.policy is policy):
                if len(self._authorities) >= _MOST:
                    self._authorities.clear()
                known = self._authorities[principal.id] = Authority(principal, policy, self.epoch, lineage)
        return known

    def wait(self, request: dict[str, Any]) -> None:
        """Remember a request that failed for want of an approval; the oldest are forgotten first."""
        while len(self.pending) >= _MOST:
            del self.pending[next(iter(self.pending))]
        self.pending[request["request"]] = request

    def _catch_up(self) -> None:
        with self._lock:
            while self._read < len(self._controls):
                seq, kind, payload = self._controls[self._read]
                if kind == CONTROL:
                    self._policy = self._policy.after(payload["operations"])
                    self.epoch = seq
                    self._authorities = {}
                self._read += 1
