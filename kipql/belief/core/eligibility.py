"""Which claims may take part at all (§14, §21.1, §25.3, §26). Time plays no part here."""

from kipql.belief.core.claims import Claim, Request


def exclusion(claim: Claim, request: Request) -> str | None:
    """Why a claim is not eligible, or None. A lifecycle status is the reason of what else would be eligible."""
    if claim.barred is not None:
        return claim.barred
    if claim.mode not in request.modes:
        return f"mode_{claim.mode}"
    if not claim.context <= request.context:
        return "context_mismatch"
    return None if claim.status == "active" else claim.status
