"""Projection policies as data (§21.10, §21.13, §27.3).

Every policy applies the same eligibility, succession, roots and candidate rules; a policy says which modes it
admits besides the standard ones, which precedence rules settle a slot conflict and in what order, and
whether it discloses a score. Only a weighted policy lets a number decide.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from kipql.belief.core.claims import MODES
from kipql.errors import KipError
from kipql.lang.words import listed, near
from kipql.model import MODES as ASSERTION_MODES

SCORE_MODELS = ("none", "noisy_or", "weighted")
PRECEDENCE_RULES = ("context_specificity", "first_person_testimony", "recency")
SCORE_SEMANTICS = "normalized_support_not_probability"


@dataclass(frozen=True, slots=True)
class Weights:
    """What makes a policy weighted (§22): a side counts from this much score on.

    accept_at      support score at or above which a candidate is supported
    reject_at      opposition score at or above which it is opposed
    default_trust  weight of an actor without a trust record
    unstated       confidence taken for a claim that states none
    """

    accept_at: float
    reject_at: float
    default_trust: float = 1.0
    unstated: float = 1.0


@dataclass(frozen=True, slots=True)
class Policy:
    """A Projection Policy: `id` and `version` go into every basis."""

    id: str
    version: str = "1"
    description: str = ""
    modes: frozenset[str] = MODES
    precedence: tuple[str, ...] = ()
    scored: bool = False
    weights: Weights | None = None


STRUCTURAL = Policy("kip:policy:structural", description="The structural baseline: no numbers, no precedence (§21.10).")
BASELINE = Policy(
    "kip:policy:baseline",
    description="The structural baseline with a disclosed score that decides nothing (§27.3).",
    scored=True,
)
MEMORY_DEFAULT = Policy(
    "kip:memory-default",
    description="The standard memory policy: context specificity, first-person testimony, recency (§21.13).",
    precedence=PRECEDENCE_RULES,
)
SHIPPED = {policy.id: policy for policy in (BASELINE, STRUCTURAL, MEMORY_DEFAULT)}


def policy_from_artifact(artifact: Mapping[str, Any]) -> Policy:
    """A Policy from a KIP-Epistemic-Policy artifact: `policy_id`, `version`, and of the rest
    `eligibility.modes`, `precedence.order`, `method.score_model` and `weights`.

    Raises ConstraintViolation for a missing id, an unknown rule, mode or score model. What else an artifact may say
    is looked at when it is installed (`belief.artifact`).
    """
    policy_id = artifact.get("policy_id")
    if not isinstance(policy_id, str) or not policy_id:
        raise KipError("ConstraintViolation", "a policy needs a policy_id")
    model = _member(artifact, "method", "score_model", default="none")
    if model not in SCORE_MODELS:
        raise KipError("ConstraintViolation", f"no score model {model!r}", hint=_hint(model, SCORE_MODELS))
    return Policy(
        policy_id,
        str(artifact.get("version", "1")),
        str(artifact.get("description", "")),
        _modes(_member(artifact, "eligibility", "modes", default={})),
        _order(_member(artifact, "precedence", "order", default=None)),
        scored=model != "none",
        weights=_weights(artifact.get("weights")) if model == "weighted" else None,
    )


def _member(artifact: Mapping[str, Any], section: str, name: str, default: Any) -> Any:
    value = artifact.get(section) or {}
    if not isinstance(value, Mapping):
        raise KipError("ConstraintViolation", f"policy member {section!r} must be an object")
    return value.get(name, default)


def _hint(found: object, known: Collection[str]) -> str:
    close = near(found, known) if isinstance(found, str) else None
    return f"did you mean {close!r}?" if close else f"there are {listed(list(known))}"


def _names(value: object, where: str) -> list[str]:
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise KipError("ConstraintViolation", f"{where} must be a list of names")
    return list(value)


def _order(declared: Any) -> tuple[str, ...]:
    order = _names([] if declared is None else declared, "precedence.order")
    if unknown := [rule for rule in order if rule not in PRECEDENCE_RULES]:
        raise KipError(
            "ConstraintViolation", f"no precedence rule {unknown[0]!r}", hint=_hint(unknown[0], PRECEDENCE_RULES)
        )
    return tuple(order)


def _modes(declared: Any) -> frozenset[str]:
    if not isinstance(declared, Mapping):
        raise KipError("ConstraintViolation", "eligibility.modes must be an object")
    stated = "include" in declared
    modes = frozenset(_names(declared["include"], "eligibility.modes.include")) if stated else MODES
    imported = declared.get("imported") or {}
    if isinstance(imported, Mapping) and imported.get("default") == "include":
        modes |= {"imported"}
    if unknown := sorted(modes.difference(ASSERTION_MODES)):
        raise KipError(
            "ConstraintViolation", f"no assertion mode {unknown[0]!r}", hint=_hint(unknown[0], ASSERTION_MODES)
        )
    return modes


def _weights(declared: Any) -> Weights:
    if not isinstance(declared, Mapping):
        raise KipError("ConstraintViolation", "a weighted policy needs weights {accept_at, reject_at}")
    names = {"accept_at", "reject_at", "default_trust", "unstated"}
    if unknown := set(declared) - names:
        raise KipError("ConstraintViolation", f"weights has no member {min(unknown)!r}")
    for name, value in declared.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise KipError("ConstraintViolation", f"weights.{name} must be a number in [0, 1]")
    if not {"accept_at", "reject_at"} <= set(declared):
        raise KipError("ConstraintViolation", "weights needs accept_at and reject_at")
    return Weights(**declared)
