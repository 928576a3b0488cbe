"""Installing a Projection Policy: what a host may put into force (specification §21.10, §21.13, §48.6).

A policy is data, `{policy_id, version, ...}`. A version never changes: other content under one that was installed
before is refused, and so is the id of a policy that ships.
"""

from collections.abc import Mapping
from typing import Any

from kipql.belief import artifact as form
from kipql.belief.control import Control
from kipql.belief.core.policy import SHIPPED, policy_from_artifact
from kipql.errors import KipError
from kipql.values import Json, check_json, json_type, value_key


def checked(artifact: object, control: Control, head: int) -> dict[str, Json] | None:
    """The artifact as it is kept; None when it is in force at the head already.

    Raises TypeMismatch for what is no object, ConstraintViolation for a malformed policy or a changed version, and
    what `artifact.check` raises.
    """
    if not isinstance(artifact, Mapping):
        raise KipError("TypeMismatch", f"a policy is an object, not {json_type(artifact)}")
    kept: dict[str, Json] = check_json(dict(artifact))
    form.check(kept)
    policy = policy_from_artifact(kept)
    shipped = SHIPPED.get(policy.id)
    if shipped is not None:
        same = (policy.version, policy.modes, policy.precedence, policy.scored, policy.weights) == (
            shipped.version,
            shipped.modes,
            shipped.precedence,
            shipped.scored,
            shipped.weights,
        )
        if same:
            return None
        raise KipError("ConstraintViolation", f"{policy.id} ships with kipql", hint="give your policy an id of its own")
    known = control.installed(f"{policy.id}@{policy.version}", head)
    if known is not None and value_key(known.artifact) != value_key(kept):
        raise KipError(
            "ConstraintViolation",
            f"version {policy.version} of {policy.id} was installed with other content; a version never changes",
            hint="give the changed policy a new version",
        )
    current = control.installed(policy.id, head)
    return None if current is not None and current.policy.version == policy.version else kept


def described(policy_id: str, control: Control, seq: int) -> dict[str, Any] | None:
    """What DESCRIBE EPISTEMIC POLICY answers; None for a policy that is not in force."""
    found = control.installed(policy_id, seq)
    if found is None:
        return None
    policy = found.policy
    return {
        "id": policy.id,
        "version": policy.version,
        "description": policy.description,
        "deterministic": True,
        "modes": sorted(policy.modes),
        "precedence": list(policy.precedence),
        "score_model": "weighted" if policy.weights else "noisy_or" if policy.scored else "none",
        "weights": None
        if policy.weights is None
        else {
            "accept_at": policy.weights.accept_at,
            "reject_at": policy.weights.reject_at,
            "default_trust": policy.weights.default_trust,
            "unstated": policy.weights.unstated,
        },
        "source": "shipped" if policy.id in SHIPPED else "installed",
        "in_force_since": found.seq,
        "artifact": dict(found.artifact) or None,
    }
