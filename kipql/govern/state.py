"""The Governance of an open Space: its policy as of the last commit, and what each Principal holds under it.

The policy is folded from the `authorization` control changes that the store replayed, and follows the commits. An
Authority is made once per Principal and policy; a commit that changes the policy, or how elements are classified,
makes new ones.
"""

from collections.abc import Callable, Sequence
from threading import RLock
from typing import Any

from kipql.govern.authority import OWNING, Authority
from kipql.govern.policy import CONTROL, Policy
from kipql.govern.principals import OWNER, Principal

_MOST = 256  # Authorities kept per policy


class Governance:
    """Made with a Space. `controls` is the store's list of (sequence, kind, payload), which only grows."""

    __slots__ = ("_authorities", "_controls", "_lock", "_policy", "_read", "epoch", "pending")

    def __init__(self, controls: Sequence[tuple[int, str, Any]]) -> None:
        self._controls = controls
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
        with self._lock:
            known = self._authorities.get(principal.id)
        if known is not None and known.full is not policy.configured and (policy.configured or not elsewhere()):
            return known
        if policy.configured:
            made = Authority(principal, policy, self.epoch)
        elif elsewhere():
            return Authority(principal, Policy(configured=True))
        else:
            made = Authority(principal)
        with self._lock:
            if policy is self._policy:
                if len(self._authorities) >= _MOST:
                    self._authorities.clear()
                self._authorities[principal.id] = made
        return made

    def _catch_up(self) -> None:
        with self._lock:
            while self._read < len(self._controls):
                seq, kind, payload = self._controls[self._read]
                if kind == CONTROL:
                    self._policy = self._policy.after(payload["operations"])
                    self.epoch = seq
                    self._authorities = {}
                self._read += 1
