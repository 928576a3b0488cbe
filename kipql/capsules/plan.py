"""The Import Plan: what the host has decided about a Capsule (specification §38.2, §39, §41.2).

    {"capsule_digest": "sha256:...", "space_id": "...", "mode": "merge" | "isolate",
     "records": [{"id": "C-1", "action": "create" | "match" | "skip", "target": "C-9"}, ...],
     "symbols": {"kip://local/draft@0.0.0/likes": "enjoys"},
     "trust_canonical_ids": false, "same_owner": false, "classification": "internal"}

PREVIEW answers one with every record in it; the host changes rows and gives it back. A record without a row is resolved
by the conservative order of §38.2. `same_owner` says that the Capsule is the destination's own cognition, so that
local keys mean here what they meant there and an agent's working state comes in as its own (§11.6, §38.1). A plan
reserves nothing: what it says is judged again when it is carried out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kipql.errors import KipError
from kipql.lang.words import near
from kipql.values import Json, check_json, json_type

MERGE, ISOLATE = MODES = ("merge", "isolate")
CREATE, MATCH, SKIP, CONFLICT = ACTIONS = ("create", "match", "skip", "conflict")
_TRUSTING = ("trust_canonical_ids", "same_owner")
_MEMBERS = ("capsule_digest", "space_id", "mode", "records", "symbols", *_TRUSTING, "classification")
_ROW = ("id", "kind", "action", "target", "reason", "left_out", "quarantined", "candidates", "problem")


class Decision(NamedTuple):
    """What the host says about one record, or about one ExternalRef (then it is always `match`)."""

    action: str
    target: str | None = None


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """A read plan; the empty one leaves everything to the conservative order."""

    mode: str = MERGE
    capsule_digest: str | None = None
    space_id: str | None = None
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    symbols: Mapping[str, str] = field(default_factory=dict)
    trust_canonical_ids: bool = False
    same_owner: bool = False
    classification: str | None = None

    def to_dict(self, digest: str, space_id: str, rows: list[dict[str, Json]]) -> dict[str, Json]:
        """The plan as JSON, with the rows that it was resolved to."""
        found: dict[str, Json] = {"capsule_digest": digest, "space_id": space_id, "mode": self.mode, "records": rows}
        if self.symbols:
            found["symbols"] = dict(self.symbols)
        found.update({name: True for name in _TRUSTING if getattr(self, name)})
        if self.classification is not None:
            found["classification"] = self.classification
        return found


def read_plan(value: object) -> ImportPlan:
    """The plan in a JSON object; None is the empty plan.

    Raises TypeMismatch, ConstraintViolation, and UnsupportedCapability for the mode `restore`.
    """
    if value is None:
        return ImportPlan()
    plan = check_json(value) if isinstance(value, Mapping) else None
    if plan is None:
        raise KipError("TypeMismatch", f"an Import Plan is an object, not {json_type(value)}")
    _only(plan, _MEMBERS, "an Import Plan")
    for name in ("capsule_digest", "space_id", "classification"):
        if plan.get(name) is not None and not (isinstance(plan[name], str) and plan[name]):
            raise KipError("TypeMismatch", f"{name} of an Import Plan is a string")
    trusted = {name: plan.get(name, False) for name in _TRUSTING}
    for name, said in trusted.items():
        if not isinstance(said, bool):
            raise KipError("TypeMismatch", f"{name} of an Import Plan is true or false")
    return ImportPlan(
        mode=_mode(plan.get("mode", MERGE)),
        capsule_digest=plan.get("capsule_digest"),
        space_id=plan.get("space_id"),
        decisions=_decisions(plan.get("records", [])),
        symbols=_symbols(plan.get("symbols", {})),
        classification=plan.get("classification"),
        **trusted,
    )


def _mode(value: Json) -> str:
    if value == "restore":
        raise KipError(
            "UnsupportedCapability",
            "restore needs a verified owner, self and backup lineage, which a Capsule without a signature can not give",
            hint="back the memory up as a folder; same_owner brings keys and an agent's state along, but no authority",
            details={"capability": "capsule_restore"},
        )
    if value not in MODES:
        raise KipError("ConstraintViolation", f"there is no import mode {value!r}", hint=" or ".join(MODES))
    return str(value)


def _decisions(rows: Json) -> dict[str, Decision]:
    if not isinstance(rows, list):
        raise KipError("TypeMismatch", f"records of an Import Plan are an array, not {json_type(rows)}")
    found: dict[str, Decision] = {}
    for at, row in enumerate(rows):
        what = f"records/{at} of an Import Plan"
        if not isinstance(row, Mapping):
            raise KipError("TypeMismatch", f"{what} is an object, not {json_type(row)}")
        _only(row, _ROW, what)
        name, action, target = row.get("id"), row.get("action"), row.get("target")
        if not isinstance(name, str) or name in found:
            raise KipError("ConstraintViolation", f"{what} names no record, or one that another row names")
        if action not in ACTIONS:
            raise KipError("ConstraintViolation", f"{what} has no action but {action!r}", hint=", ".join(ACTIONS[:3]))
        if (action == MATCH) != isinstance(target, str):
            raise KipError("ConstraintViolation", f"{what} has a target exactly when its action is match")
        found[name] = Decision(action, target)
    return found


def _symbols(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(target, str) for target in value.values()):
        raise KipError("TypeMismatch", "symbols of an Import Plan map symbols to symbols")
    return dict(value)


def _only(value: Mapping[str, Json], allowed: tuple[str, ...], what: str) -> None:
    for name in value:
        if name not in allowed:
            close = near(str(name), allowed)
            hint = f"did you mean {close}?" if close else ", ".join(allowed)
            raise KipError("ConstraintViolation", f"{what} has no member {name!r}", hint=hint)
