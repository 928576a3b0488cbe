"""The second decision that some operations wait for (specification §29.11)."""

from kipql.errors import KipError
from kipql.govern.permissions import checked
from kipql.runtime import rules
from kipql.runtime.deciding import Deciding
from kipql.runtime.receipt import Receipt
from kipql.values import Json


class Approving(Deciding):
    """The approvals of a Space."""

    __slots__ = ()

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
        known = pending.get(request) if isinstance(request, str) else None
        if known is None:
            raise KipError("NotFoundOrNotVisible", f"no request {request!r} waits", hint="nexus.govern.pending()")
        approver = self._session.principal.id
        if approver == known["principal_id"]:
            raise KipError("NotAuthorized", "a request is approved by somebody else", details={"permission": "approve"})
        receipt = self._change([{"op": "approve", "request": request, "by": approver}])
        pending.pop(request, None)
        return receipt
