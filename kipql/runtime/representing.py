"""Actors: who speaks for whom, and which Concept the Space takes for itself (specification §28.3, §28.4, §5.6)."""

from kipql.errors import KipError
from kipql.govern.principals import Principal, principal_of
from kipql.runtime import rules
from kipql.runtime.deciding import Deciding
from kipql.runtime.receipt import Receipt
from kipql.runtime.rules import Operation
from kipql.values import json_type


class Representing(Deciding):
    """The ActorBindings of a Space."""

    __slots__ = ()

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
        if not isinstance(reserved, bool):
            raise KipError("TypeMismatch", f"reserved is true or false, not {json_type(reserved)}")
        return self._change([{"op": "reserve", "actor": rules.concept(self._session, actor), "reserved": reserved}])

    def designate_self(self, actor: object) -> Receipt:
        """Say which Concept the Space takes for itself (§5.6); None for none."""
        self._require("manage_policy")
        return self._change([{"op": "self", "actor": None if actor is None else rules.concept(self._session, actor)}])

    def _bind(self, principal: Principal | str, actor: object, bound: bool) -> Receipt:
        self._require("manage_actor_binding")
        return self._change([binding(principal_of(principal).id, rules.concept(self._session, actor), bound)])


def binding(principal: str, actor: str, bound: bool) -> Operation:
    """The operation that binds a Principal to an actor, or takes the binding back."""
    return {"op": "bind", "principal": principal, "actor": actor, "bound": bound}
