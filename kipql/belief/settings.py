"""What settles a projection beside the claims, and the basis that says so (specification §21.12, §27.1, §49)."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kipql.belief.core import Policy
from kipql.model import element_id
from kipql.times import format_instant

if TYPE_CHECKING:
    from kipql.store.view import View


@dataclass(frozen=True, slots=True)
class Settings:
    """What WITH EPISTEMIC, FOR TIME and the caller settle for one query (§27.1, §49)."""

    valid_at: int
    policy: Policy
    context: frozenset[int] = frozenset()
    include_hypothetical: bool = False
    include_historical: bool = False
    explanation: str = "none"
    purpose: str = "unspecified"
    risk: str = "unspecified"
    trust: Mapping[Hashable, float] = field(default_factory=dict)
    trust_version: str = "0"
    authorization_view: str = "full"


def basis(view: "View", settings: Settings, next_invalid_at: int | None) -> dict[str, Any]:
    """The closed ProjectionBasis (§21.12). A transaction under way reads on the last commit."""
    return {
        "space_id": view.space_id,
        "snapshot_seq": view.last_commit,
        "schema_environment_version": view.environment.version,
        "identity_version": view.identity_version,
        "policy": {"id": settings.policy.id, "version": settings.policy.version},
        "trust_version": settings.trust_version,
        "authorization_view": settings.authorization_view,
        "context_refs": sorted(element_id(code) for code in settings.context),
        "purpose": settings.purpose,
        "risk": settings.risk,
        "valid_at": format_instant(settings.valid_at),
        "next_invalid_at": None if next_invalid_at is None else format_instant(next_invalid_at),
    }
