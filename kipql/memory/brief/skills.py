"""Skills by verified standing (Profile §14): what is written of a Skill counts only as far as its evaluation holds.

Adopted counts when the current evaluation is of the current revision, promoted it or kept it so, and stands on
nothing that changed; where that can not be checked, it may be recommended and not used automatically (§57.6).
Everything else that is not revoked is unproven; a revoked Skill is a warning and nothing more. No standing is a
permission.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kipql.memory.brief.items import STALE, Channel, Plain, Warned, best_first, ranks
from kipql.memory.brief.memories import cut, share
from kipql.memory.brief.reading import Ask, Found, Reading

_TIER = {"adopted": 0, "trialed": 1, "proposed": 2}


@dataclass(frozen=True, slots=True)
class Standing:
    """What may be said of a Skill. `validated` is standing, never authority."""

    status: str
    validated: bool
    reason: str
    revision: str | None = None
    evaluation: str | None = None

    @property
    def standing(self) -> str:
        """In the words of the Memory Interface: validated, unproven, revoked or unverifiable."""
        if self.status == "revoked":
            return "revoked"
        return "validated" if self.validated else "unverifiable" if self.status == "adopted" else "unproven"


def judged(row: Sequence[Any]) -> Standing:
    """The standing of a Skill from a row of `skill.kql`."""
    _, _, status, revision, evaluation, finished, record, trial, grades, validity, stale = row

    def unproven(reason: str) -> Standing:
        return Standing(status, False, reason, revision, evaluation)

    if status == "revoked":
        return unproven("it was revoked")
    if status != "adopted":
        return unproven(f"it is {status}: no evaluation has adopted it")
    if evaluation is None or not isinstance(record, Mapping):
        return unproven("it is called adopted, but no evaluation of it can be read")
    if finished != "completed" or record.get("to_status") != "adopted":
        return unproven("its current evaluation did not adopt it")
    if revision not in record.get("revision_refs", ()):
        return unproven("its evaluation is of another revision")
    if not isinstance(grades, Mapping) or grades.get("revision_ref") != revision:
        return unproven("its grades are not of the current revision")
    if record.get("trial_ref") is None or (trial is not None and record["trial_ref"] != trial):
        return unproven("its evaluation is of another trial")
    if record.get("from_status") == "trialed" and record.get("comparison", {}).get("status") != "improved":
        return unproven("its evaluation found no improvement")
    if "needs_review" in (validity, stale):
        return unproven("what it was derived from changed since")
    reason = "adopted by an evaluation of the current revision"
    if "unverifiable" in (validity, stale):
        reason += "; what it was derived from can not be checked, so it is not for automatic use"
    return Standing(status, True, reason, revision, evaluation)


def skills(reading: Reading, *found: Found) -> Channel:
    """Skills, proven ones first; revoked ones are among the warnings only."""
    channel = Channel("skills")
    rows = {row[0]: row for one in reversed(found) for row in one.rows}
    standings = _standings(reading, list(rows))
    items = []
    for identity, row in rows.items():
        standing = standings.get(identity) or Standing(row[4], False, "its standing could not be read", row[7])
        item = _item(row, standing)
        if standing.status == "revoked":
            text = f"revoked, do not use: {item['name']}: {item['text']}"
            channel.warnings.append(Warned("critical", "revoked_skill", text, (identity,)))
            continue
        items.append(item)
        _cautions(item, channel.warnings)
    items = best_first(items)
    channel.items = sorted(items, key=lambda item: (not item["validated"], _TIER.get(item["standing"], 3)))
    channel.completed = all(one.error is None for one in found)
    channel.truncated = any(cut(one) for one in found)
    return channel


def unverified(reading: Reading, channel: Channel) -> list[Plain]:
    """The preconditions of listed Skills that no assessment of the current revision found satisfied."""
    held = [item for item in channel.items if item["preconditions"]]
    asks = [Ask("assessment", {"revision": item["revision"], "revision_id": item["revision"]}) for item in held]
    missing = []
    for item, found in zip(held, reading.batch(*asks), strict=True):
        result = found.rows[0][1] if found.rows else None
        if result != "satisfied":
            entry = {"skill": item["ref"], "revision": item["revision"], "preconditions": item["preconditions"]}
            missing.append({**entry, "assessment": result or "none"})
    return missing


def check_procedure_status(reading: Reading, skill: str) -> Plain:
    """Whether a Skill may be recommended: `{recommendation_allowed, reason, revision, evaluation, review_deadline}`.

    skill  its id, or its key

    What is recommended is still not permitted: that is the host's decision.
    """
    row = _row(reading, skill)
    if row is None:
        reason = "there is no such Skill, or it is not visible"
        return _status(False, reason, None, None, None)
    standing = judged(row)
    due = reading.ask("review", skill=row[0])
    deadline = due.rows[0][1] if due.rows else None
    allowed, reason = standing.validated, standing.reason
    if allowed and deadline is not None and deadline <= reading.when:
        allowed, reason = False, f"its review is overdue since {deadline}"
    return _status(allowed, reason, standing.revision, standing.evaluation, deadline)


def _status(allowed: bool, reason: str, revision: Any, evaluation: Any, deadline: Any) -> Plain:
    return {
        "recommendation_allowed": allowed,
        "reason": reason,
        "revision": revision,
        "evaluation": evaluation,
        "review_deadline": deadline,
    }


def _row(reading: Reading, skill: str) -> Sequence[Any] | None:
    by_id, by_key = reading.batch(Ask("skill", {"skill": skill}), Ask("skill_named", {"key": skill}))
    if by_id.rows or not by_key.rows:
        return by_id.rows[0] if by_id.rows else None
    named = reading.ask("skill", skill=by_key.rows[0])
    return named.rows[0] if named.rows else None


def _standings(reading: Reading, skills: Sequence[str]) -> dict[str, Standing]:
    found = reading.batch(*[Ask("skill", {"skill": identity}) for identity in skills])
    return {one.rows[0][0]: judged(one.rows[0]) for one in found if one.rows}


def _item(row: Sequence[Any], standing: Standing) -> Plain:
    identity, key, name, summary, status, failures, counters, revision, family, procedure, before, applies, *rest = row
    grades, utility, authority, imported, validity, salience, strength, score = rest
    proven = standing.validated
    label = name or key or identity
    return {
        "ref": identity,
        "key": key,
        "role": "procedure",
        "name": label,
        "text": str(summary) if proven else f"unproven ({status}): {summary}",
        "standing": status,
        "validated": proven,
        "standing_reason": standing.reason,
        "utility": utility,
        "grades": grades if isinstance(grades, Mapping) and grades.get("revision_ref") == revision else None,
        "provenance": {"remote": imported is not None, "dependency_validity": validity or "current"},
        "authority": {"class": authority or "descriptive", "grants_execution": False},
        "revision": revision,
        "evaluation": standing.evaluation,
        "task_family": family,
        "procedure": procedure,
        "preconditions": before,
        "applicability": applies,
        "failure_modes": failures,
        "counterexamples": counters,
        "relevance": share(score),
        **ranks(salience, strength),
    }


def _cautions(item: Plain, warnings: list[Warned]) -> None:
    """What a Skill is known to fail at, and what its standing lacks."""
    label, refs = item["name"], (item["ref"],)
    warnings += [
        Warned("warning", kind, f"{label}: known {kind.replace('_', ' ')}: {item[kind]}", refs)
        for kind in ("failure_modes", "counterexamples")
        if item[kind]
    ]
    if item["standing"] == "adopted" and not item["validated"]:
        warnings.append(Warned("warning", "unverified_standing", f"{label}: {item['standing_reason']}", refs))
    validity = item["provenance"]["dependency_validity"]
    if validity in STALE:
        warnings.append(Warned("warning", "stale_dependency", f"{label} rests on what changed ({validity})", refs))
