"""The form of a Projection Policy artifact: which members it has and what they may say (specification §21.10, §21.13).

A policy decides what is believed, so nothing of it is passed over: a member that no policy has is refused with its
path, and so is one that asks of the engine what it does not do. `note` may stand in every section, and `extensions`
at the top, unless one is critical.
"""

import re
from collections.abc import Mapping
from typing import Any

from kipql.errors import KipError
from kipql.lang.words import listed, near
from kipql.values import Json, json_type, value_key

FORMAT = "KIP-Epistemic-Policy"
FORMAT_VERSION = "2.0-draft"
_LONGEST_ID, _LONGEST_VERSION = 512, 128

# A section is a mapping of its members; a leaf is free, `...` stands for members of any name.
_ANY = None
_LISTS = {"include": _ANY, "exclude": _ANY}
_STATUSES = ("contested", "accepted", "rejected", "uncertain", "insufficient")
_MEMBERS: Mapping[str, Any] = {
    **dict.fromkeys(("format", "format_version", "policy_id", "version", "name", "description", "purpose")),
    "deterministic": _ANY,
    "method": dict.fromkeys(("method_id", "method_version", "deterministic", "score_model", "score_semantics")),
    "time": dict.fromkeys(
        (
            "missing_valid_time",
            "validity_test",
            "non_overlapping_functional_values_conflict",
            "interval_bounds",
            "succession",
            "time_bounds",
        )
    ),
    "eligibility": {
        "assertion_lifecycle": _LISTS,
        "visibility": _ANY,
        "modes": {
            "include": _ANY,
            "exclude_by_default": _ANY,
            "imported": dict.fromkeys(("default", "include_if_source_trust_class")),
        },
        "confidence": dict.fromkeys(("affects_status", "minimum", "missing_allowed")),
        "context": _ANY,
        "evidence_lifecycle": {**_LISTS, "payload_purge": _ANY},
    },
    "trust": {
        "resolver": _ANY,
        "classes": {...: dict.fromkeys(("eligible_as_strong_root", "eligible_as_weak_material"))},
        "authority_effect": _ANY,
    },
    "independence": dict.fromkeys(
        (
            "unit",
            "same_underlying_root",
            "derived_summary_translation_copy",
            "repeat_same_source_event",
            "distinct_observation_events",
            "cycle_without_external_root",
        )
    ),
    "stance_mapping": dict.fromkeys(("support", "reject", "uncertain")),
    "projection": {
        "proposition_status": dict.fromkeys(("evaluation_order", "rules")),
        "belief_slot": dict.fromkeys(
            (
                "functional_predicate_rule",
                "non_overlapping_valid_time",
                "empty_slot_status",
                "empty_slot_accepted_values",
            )
        ),
        "open_world": dict.fromkeys(
            (
                "no_support_means",
                "absence_is_not_opposition",
                "boolean_reject_positive_equals_support_false",
                "closed_world_requires_explicit_schema_or_policy",
            )
        ),
        "leading": dict.fromkeys((*_STATUSES, "tie")),
        "final_conflict_rule": _ANY,
        "dependency_validity": _ANY,
    },
    "explanation": dict.fromkeys(("minimum_output", "ledger_when_requested", "private_chain_of_thought_required")),
    "non_effects": _ANY,
    "canonicalization": dict.fromkeys(("profile", "status", "description")),
    "precedence": {
        **dict.fromkeys(("applies_to", "order", "decision", "outranked_status", "outranked_reason")),
        "rules": dict.fromkeys(("context_specificity", "first_person_testimony", "recency")),
    },
    "weights": dict.fromkeys(("accept_at", "reject_at", "default_trust", "unstated")),
    "integrity": dict.fromkeys(("digest_profile", "content_digest", "covers", "signatures")),
    "extensions": {...: _ANY},
}

# What projection does under every policy here: a policy may say it, and nothing else in its place.
_FIXED: Mapping[str, Json] = {
    "format": FORMAT,
    "format_version": FORMAT_VERSION,
    "deterministic": True,
    "method.deterministic": True,
    "time.non_overlapping_functional_values_conflict": False,
    "time.interval_bounds": "[from,until)",
    "eligibility.assertion_lifecycle.include": ["active"],
    "eligibility.visibility": "caller_visible_only",
    "eligibility.confidence.minimum": None,
    "eligibility.confidence.missing_allowed": True,
    "eligibility.context": "assertion_context_subset_of_request_context",
    "eligibility.evidence_lifecycle.include": ["active"],
    "trust.authority_effect": "none",
    "stance_mapping.support": "support",
    "stance_mapping.reject": "opposition",
    "stance_mapping.uncertain": "uncertainty_material",
    "projection.belief_slot.empty_slot_status": "insufficient",
    "projection.belief_slot.empty_slot_accepted_values": [],
    "projection.open_world.no_support_means": "insufficient",
    "projection.open_world.absence_is_not_opposition": True,
    "projection.open_world.boolean_reject_positive_equals_support_false": False,
    "projection.leading.tie": "none",
    "precedence.outranked_status": "uncertain",
    "precedence.outranked_reason": "outranked",
}
_DECIDE: Mapping[str, str | None] = {
    "precedence.order": "leave it out in a policy that settles no conflict",
    "eligibility.modes.include": "such a policy would count no claim; leave it out for the standard modes",
    "eligibility.modes.exclude_by_default": None,
}
_TEXTS = ("name", "description", "purpose")


def check(artifact: Mapping[str, Json]) -> None:
    """Raise ConstraintViolation for a member that no policy has, for one of a wrong type, and for one that asks for
    what is not done here; UnsupportedCapability for a critical extension; DigestMismatch. `details.member` is the path.
    """
    _members(artifact, _MEMBERS, "")
    for path, wanted in _FIXED.items():
        _fixed(artifact, path, wanted)
    if _at(artifact, "method.score_model") != "weighted":
        _fixed(artifact, "eligibility.confidence.affects_status", False)
        if "weights" in artifact:
            hint = 'say method: {score_model: "weighted"}, or leave weights out'
            raise refuse("weights", "count under the score model weighted alone", hint)
    _identity(artifact)
    for name in _TEXTS:
        if not isinstance(artifact.get(name, ""), str):
            raise refuse(name, f"must be a string, not {json_type(artifact[name])}")
    _lists(artifact)
    _extensions(artifact.get("extensions") or {})
    _digest(artifact)


def refuse(path: str, problem: str, hint: str | None = None) -> KipError:
    """The error for a member of a policy, by its path."""
    return KipError("ConstraintViolation", f"policy member {path} {problem}", hint=hint, details={"member": path})


def _members(section: Mapping[str, Json], known: Mapping[Any, Any], path: str) -> None:
    for name, value in section.items():
        where = f"{path}.{name}" if path else name
        inner = known.get(name, known.get(..., ...))
        if inner is ...:
            if name == "note" and path:
                continue
            raise _unknown(name, known, path, where)
        if inner is not None:
            if not isinstance(value, Mapping):
                raise refuse(where, f"must be an object, not {json_type(value)}")
            _members(value, inner, where)


def _unknown(name: str, known: Mapping[Any, Any], path: str, where: str) -> KipError:
    """Near names of the same section first, then the section that has a member of that very name."""
    names = [each for each in known if isinstance(each, str)]
    hint = f"{path or 'a policy'} has {listed(names)}"
    if close := near(name, names):
        hint = f"did you mean {path}.{close}?" if path else f"did you mean {close}?"
    elif elsewhere := next((found for found in _paths(_MEMBERS, "") if found.rpartition(".")[2] == name), None):
        hint = f"did you mean {elsewhere}?"
    return refuse(where, "is none that a policy has", hint)


def _paths(known: Mapping[Any, Any], path: str) -> list[str]:
    found = []
    for name, inner in known.items():
        if isinstance(name, str):
            where = f"{path}.{name}" if path else name
            found += [where, *(_paths(inner, where) if isinstance(inner, Mapping) else ())]
    return found


class _Missing(tuple[()]):
    """No such member."""


_MISSING = _Missing()


def _at(artifact: Mapping[str, Json], path: str) -> Any:
    found: Any = artifact
    for name in path.split("."):
        if not isinstance(found, Mapping) or name not in found:
            return _MISSING
        found = found[name]
    return found


def _fixed(artifact: Mapping[str, Json], path: str, wanted: Json) -> None:
    found = _at(artifact, path)
    if found is not _MISSING and value_key(found) != value_key(wanted):
        hint = f"leave it out, or say {_shown(wanted)}: every policy here does that"
        raise refuse(path, f"asks for {_shown(found)}, which is not done here", hint)


def _shown(value: Json) -> str:
    import json

    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 64 else f"{text[:61]}..."


def _identity(artifact: Mapping[str, Json]) -> None:
    policy_id, version = artifact.get("policy_id"), artifact.get("version", "1")
    if not isinstance(policy_id, str) or not policy_id:
        raise refuse("policy_id", "must be a name")
    if len(policy_id) > _LONGEST_ID or re.search(r"[\s@\x00-\x1f\x7f]", policy_id):
        raise refuse("policy_id", f"must be a name of at most {_LONGEST_ID} characters without blanks and @")
    if isinstance(version, int) and not isinstance(version, bool) and version >= 0:
        return
    if not isinstance(version, str) or not 0 < len(version) <= _LONGEST_VERSION:
        raise refuse("version", "must be a name or a number that is not negative", 'for example "1"')


def _lists(artifact: Mapping[str, Json]) -> None:
    """The lists that decide: what counts, and which rules settle a conflict."""
    for path, why in _DECIDE.items():
        found = _at(artifact, path)
        if found is _MISSING:
            continue
        if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
            raise refuse(path, f"must be a list of names, not {_shown(found)}")
        if len(set(found)) != len(found):
            raise refuse(path, "names something twice")
        if not found and why:
            raise refuse(path, "is empty", why)
    default = _at(artifact, "eligibility.modes.imported.default")
    if default is not _MISSING and default not in ("include", "exclude"):
        raise refuse("eligibility.modes.imported.default", f"is {_shown(default)}", 'it is "include" or "exclude"')
    included = _at(artifact, "eligibility.modes.include")
    both = set(included).intersection(_at(artifact, "eligibility.modes.exclude_by_default"))
    if both:
        raise refuse("eligibility.modes", f"both includes and excludes {min(both)!r}")


def _extensions(extensions: Mapping[str, Json]) -> None:
    for name, value in extensions.items():
        if isinstance(value, Mapping) and value.get("critical") is True:
            raise KipError(
                "UnsupportedCapability",
                f"the critical extension {name} is not supported",
                hint="leave it out, or mark it as not critical if the policy may hold without it",
                details={"extension": name, "member": f"extensions.{name}"},
            )


def _digest(artifact: Mapping[str, Json]) -> None:
    stated = _at(artifact, "integrity.content_digest")
    if stated is _MISSING:
        return
    from kipql.schema.contracts import canonical_digest

    found = canonical_digest({name: member for name, member in artifact.items() if name != "integrity"})
    if stated != found:
        raise KipError(
            "DigestMismatch",
            f"the policy states the digest {_shown(stated)}, its content has {found}",
            hint="get the artifact anew, or state the digest of what it says now",
            details={"found": found, "member": "integrity.content_digest"},
        )
