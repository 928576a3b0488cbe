"""The action briefing: twelve fields, constraints and warnings before anything that is graded.

Two batches read everything: one for what does not depend on the subject, one for what does. Then the budget is applied
from the least binding end; constraints and warnings are never cut.
"""

import json
from typing import Any

import kipql
from kipql.memory.brief import memories
from kipql.memory.brief.answers import Briefing
from kipql.memory.brief.constraints import constraint_asks, constraints
from kipql.memory.brief.coverage import coverage
from kipql.memory.brief.facts import accepted, answering, background, disputed, facts
from kipql.memory.brief.items import Channel, Plain, Warned, ordered
from kipql.memory.brief.naming import Subject, resolve
from kipql.memory.brief.reading import Ask, Reading
from kipql.memory.brief.skills import skills, unverified
from kipql.memory.brief.sources import matching, source_asks, sources
from kipql.memory.tokens import estimate_text

ALSO = 2
UNANSWERED = "no accepted claim answers what is asked; that is not a no, and sources are no beliefs"
PARTLY = "what is accepted speaks of a part of what is asked"
_CUT = (
    ("knowledge", "evidence"),
    ("successful_experiences", "experiences"),
    ("skills", "skills"),
    ("contested_assumptions", "evidence"),
    ("failed_experiences", "failures"),
    ("open_commitments", "commitments"),
)


def briefing(reading: Reading, owner: str | None, *, plans: bool = False) -> Briefing:
    """The briefing of a recall. Raises ResultLimitExceeded where constraints and warnings alone pass the budget."""
    subject = resolve(reading)
    channels = _read(reading, subject, owner)
    missing = unverified(reading, channels["skills"])
    known, shown = channels["facts"].items, channels["evidence"].items
    held, unanswered = accepted(known), _unanswered(reading, subject, accepted(known))
    near = matching(shown)
    far = [item for item in shown if item not in near]
    warnings = [*_about(reading, subject), *(one for channel in channels.values() for one in channel.warnings)]
    warnings += _failures(channels["failures"]) + _preconditions(missing)
    warnings += [unanswered] if unanswered else []
    warnings += [Warned("critical", "not_read", gap) for gap in reading.gaps]
    fields: dict[str, Any] = {
        "goal": reading.asked.action.goal or reading.asked.query,
        "knowledge": [*answering(held), *near, *background(held), *far],
        "contested_assumptions": disputed(known),
        "skills": channels["skills"].items,
        "successful_experiences": channels["experiences"].items,
        "failed_experiences": channels["failures"].items,
        "open_commitments": channels["commitments"].items,
        "constraints": channels["constraints"].items,
        "unverified_preconditions": missing,
        "basis": reading.basis,
        "warnings": ordered(warnings),
    }
    if not subject.ambiguous and channels["facts"].truncated:
        channels["evidence"].truncated = True
    _fit(fields, channels, reading.asked.budget.max_output_tokens)
    revisions = [str(one["revision"]) for one in missing]
    record = coverage(reading, channels, revisions, plans=plans)
    if subject.ambiguous or unanswered is not None or _forbids(fields["warnings"]):
        record["action_eligible"] = False
    return Briefing(coverage=record, **fields)


def _read(reading: Reading, subject: Subject, owner: str | None) -> dict[str, Channel]:
    text = {"text": reading.asked.goal}
    rules = constraint_asks(reading)
    asks = [*rules, Ask("commitment", {"limit": 200}), Ask("failure", text), Ask("success", text)]
    asks += [Ask("procedure", text), Ask("procedure_text", text), *source_asks(reading)]
    found = reading.batch(*asks)
    owed, failed, worked, by_name, by_text, *said = found[len(rules) :]
    channels = {
        "constraints": constraints(reading, *found[: len(rules)]),
        "commitments": memories.commitments(reading, owed),
        "failures": memories.experiences(reading, failed, owner, critical=True),
        "experiences": memories.experiences(reading, worked, owner),
        "skills": skills(reading, by_name, by_text),
        "facts": _facts(reading, subject),
        "evidence": sources(reading, subject, *said),
    }
    channels["dependencies"] = _dependencies(channels)
    return channels


def _facts(reading: Reading, subject: Subject) -> Channel:
    """The claims about the subject, then those about what else the question names."""
    channel = facts(reading, subject)
    for one in subject.also[:ALSO]:
        more = facts(reading, Subject(one, "named", hits=subject.hits))
        known = {item["ref"] for item in channel.items}
        channel.items += [item for item in more.items if item["ref"] not in known]
        channel.warnings += more.warnings
        channel.completed, channel.truncated = channel.completed and more.completed, channel.truncated or more.truncated
    return channel


def _unanswered(reading: Reading, subject: Subject, held: list[Plain]) -> Warned | None:
    """What is asked, of somebody or as a question, and not or only in part answered by a claim. A goal asks nothing."""
    asks = subject.id is not None or reading.asked.query.rstrip().endswith(("?", "？"))
    if not asks or reading.asked.action.goal is not None:
        return None
    best = max((item["match"] for item in answering(held)), default=None)
    if best is None:
        return Warned("warning", "unanswered", UNANSWERED)
    refs = tuple(item["ref"] for item in held if item["match"] == best)
    return None if best == 1 else Warned("warning", "partly_answered", PARTLY, refs)


def _dependencies(channels: dict[str, Channel]) -> Channel:
    """Whether what is shown still rests on what it was made from; it was read if its channels were."""
    read = all(channels[name].completed for name in ("facts", "experiences", "skills", "constraints"))
    return Channel("dependencies", completed=read)


def _about(reading: Reading, subject: Subject) -> list[Warned]:
    warnings = []
    if subject.ambiguous:
        named = ", ".join(f"{one.label} ({one.id})" for one in subject.others)
        text = f"the name fits several, and none was chosen: {named}"
        warnings.append(Warned("warning", "ambiguous", text, tuple(one.id for one in subject.others)))
    if reading.asked.time.as_of_seq is not None:
        warnings.append(Warned("note", "historical", f"this is what the memory held at sequence {reading.seq}"))
    return warnings


def _failures(channel: Channel) -> list[Warned]:
    return [
        Warned("warning", "failed_before", f"this failed before: {item['text']}", (item["ref"],))
        for item in channel.items
        if (item["relevance"] or 0) >= memories.CONFIDENT
    ]


def _preconditions(missing: list[Plain]) -> list[Warned]:
    return [
        Warned("warning", "precondition", f"not known to hold: {one['preconditions']}", (one["skill"],))
        for one in missing
    ]


def _forbids(warnings: list[Plain]) -> bool:
    """Whether a warning forbids automatic action: something not read, not settled, or resting on what changed."""
    return any(one["kind"] in ("unsettled_constraint", "not_read", "stale_dependency") for one in warnings)


def _fit(fields: dict[str, Any], channels: dict[str, Channel], budget: int | None) -> None:
    """Cut items from the least binding end until the answer fits."""
    if budget is None:
        return
    used = _size(fields)
    for name, channel in _CUT:
        while used > budget and fields[name]:
            used -= _size(fields[name].pop())
            channels[channel].truncated = True
    if used > budget:
        hint = "ask for more room: constraints and warnings are not cut"
        details = {"needed": used, "budget": budget}
        raise kipql.KipError(
            "ResultLimitExceeded", f"constraints and warnings alone take {used} tokens", hint=hint, details=details
        )


def _size(value: Any) -> int:
    return estimate_text(json.dumps(value, ensure_ascii=False))
