"""The modes about a subject: who it is, what is claimed and believed of it, and where that comes from."""

from collections.abc import Mapping
from typing import Any

from kipql.memory.brief import facts, memories
from kipql.memory.brief.believed import bare, caveats, labels, same, value_of, with_claims
from kipql.memory.brief.draft import Draft, about
from kipql.memory.brief.items import STALE, Channel, Plain, Warned, local, shown
from kipql.memory.brief.naming import Subject
from kipql.memory.brief.reading import Reading
from kipql.memory.brief.sources import matching, source_asks, sources


def entity(reading: Reading, subject: Subject) -> Draft:
    """Who or what is this?"""
    draft = about(subject)
    if subject.id is None:
        return draft
    found = reading.ask("entity", subject=subject.id)
    for identity, ref, name, key, aliases, attributes, validity, imported in found.rows:
        item = {"ref": identity, "type": ref, "name": name, "key": key, "aliases": aliases, "attributes": attributes}
        item["text"] = f"{name or key or identity} is a {local(ref)}" + _described(attributes)
        item["remote"] = imported is not None
        draft.show([item])
        draft.thin = validity in STALE
    return draft


def fact(reading: Reading, subject: Subject) -> Draft:
    """What is so about the subject? Only what is accepted; where nothing is, the sources that mention it."""
    draft = about(subject)
    channel = facts.facts(reading, subject)
    believed, asked_for = facts.accepted(channel.items), facts.answering(channel.items)
    answers = facts.answering(believed)
    draft.show(answers, channel, "facts")
    draft.opposition = [*facts.disputed(asked_for), *facts.outranked(asked_for)]
    draft.thin = bool(draft.opposition)
    if answers:
        draft.match = max(item["match"] for item in answers)
        return draft
    rest = facts.background(believed)
    said = "no accepted claim answers this" if rest else "no claim about this is accepted"
    draft.gaps.append(f"{said}; recorded sources follow where there are any, which are no beliefs")
    _from_sources(reading, subject, draft)
    if rest and subject.chosen is not None:
        draft.beside(rest)
        draft.gaps.append(f"what is accepted of {subject.chosen.label} is background: it is not about what is asked")
    return draft


def belief(reading: Reading, subject: Subject) -> Draft:
    """What should be believed of one slot or claim? Never stored is insufficient, and that is not rejected."""
    draft = about(subject)
    if subject.id is None:
        return draft
    predicate = facts.slot_of(reading, subject)
    if predicate is None:
        draft.gaps.append("no Predicate of this memory fits the question: give `predicate`")
        return draft
    found = facts.belief(reading, subject, predicate)
    if not found.rows:
        if found.absent:
            draft.gaps.append(found.absent)
        return draft
    seen = found.rows[0]
    candidates = seen.get("candidate_projections", [seen])
    draft.belief = seen["status"]
    draft.found = draft.belief != "insufficient"
    draft.thin = draft.belief in ("contested", "uncertain")
    with_claims(reading, subject, draft, candidates)
    values = seen.get("accepted_values")
    called = labels(reading, [value for one in candidates for value in [value_of(one)]] + list(values or ()))
    if values is None:
        draft.answer = {"claim": {"predicate": predicate, "object": reading.asked.object}, "status": draft.belief}
    else:
        draft.answer = [{"value": value, "label": called[same(value)]} for value in values]
    draft.refs += [one["proposition_id"] for one in candidates if one.get("proposition_id")]
    name = subject.chosen.label if subject.chosen else subject.id
    said = ", ".join(called[same(value)] for value in values or ()) or str(reading.asked.object or "")
    draft.lines.append(f"{name} {local(predicate)} {said}".rstrip() + f": {draft.belief}")
    for one in candidates:
        caveats(one, f"{name} {local(predicate)}", draft)
    if draft.belief == "insufficient":
        draft.gaps.append("nothing that counts was said about this; that is not a no")
    return draft


def preferences(reading: Reading, subject: Subject) -> Draft:
    """What does the subject prefer, by kind of option?"""
    draft = about(subject)
    if subject.id is None:
        return draft
    found = reading.ask("preference", subject=subject.id)
    kinds: dict[str, list[Plain]] = {}
    for identity, option, name, ref, status, validity, support, opposition, reasons in found.rows:
        item = {"ref": identity, "option": option, "text": str(name or option), "status": status, "reasons": reasons}
        item |= {"support": support, "opposition": opposition, "dependency_validity": validity or "current"}
        kinds.setdefault(local(ref or "?"), []).append(item)
    answered = {kind: facts.accepted(items) for kind, items in kinds.items()}
    draft.answer = {kind: items for kind, items in answered.items() if items}
    every = [item for items in kinds.values() for item in items]
    draft.opposition = facts.disputed(every)
    draft.lines = [f"{kind}: {', '.join(one['text'] for one in items)}" for kind, items in draft.answer.items()]
    draft.refs = [item["ref"] for item in every]
    draft.found, draft.thin = bool(draft.answer), bool(draft.opposition)
    draft.warnings += [
        Warned("warning", "contested", f"contested preference: {item['text']}", (item["ref"],))
        for item in draft.opposition
    ]
    draft.take(Channel("preferences", completed=found.error is None, truncated=found.truncated))
    return draft


def history(reading: Reading, subject: Subject) -> Draft:
    """How did it change? Every claim in the order it was made, the withdrawn ones included."""
    draft = about(subject)
    if subject.id is None:
        return draft
    found = reading.ask("history", subject=subject.id, limit=200)
    wanted = reading.asked.predicate
    for identity, proposition, predicate, value, name, by, stance, at, valid, lifecycle in found.rows:
        if wanted is not None and wanted not in (predicate, predicate.rsplit("/", 1)[-1]):
            continue
        item = {"ref": identity, "proposition": proposition, "predicate": predicate, "at": at, "by": by}
        item |= {"value": bare(value), "stance": stance, "valid_time": valid, "lifecycle": lifecycle}
        status = lifecycle["status"]
        denied = "not " if stance == "reject" else ""
        item["text"] = f"{at}: {denied}{local(predicate)} {facts.value_label(value, name)} ({status})"
        draft.show([item])
    versions = reading.meta("HISTORY ELEMENT :id", {"id": subject.id})
    draft.take(Channel("history", completed=found.error is None, truncated=found.truncated))
    if versions.error is None:
        rows = [row for row in versions.rows if row["space_seq"] <= reading.seq]
        draft.support = [{"ref": subject.id, "space_seq": row["space_seq"], "at": row["committed_at"]} for row in rows]
    return draft


def existence(reading: Reading, subject: Subject) -> Draft:
    """Is anything recorded about this? What is found exists in the record; what is not may still be so."""
    found = reading.ask("existence", text=reading.asked.query)
    draft = Draft()
    for identity, kind, payload, at, score in found.rows:
        text, redacted = shown(payload)
        if (memories.share(score) or 0) >= memories.CONFIDENT:
            item = {"ref": identity, "role": "source", "class": kind, "at": at, "redacted": redacted}
            draft.show([item | {"text": "[erased]" if redacted else text, "relevance": memories.share(score)}])
    if subject.chosen is not None:
        draft.show([{"ref": subject.id, "role": "entity", "text": f"{subject.chosen.label} is recorded"}])
    draft.thin = subject.chosen is None
    draft.take(Channel("evidence", completed=found.error is None, truncated=memories.cut(found)))
    draft.answer = {"recorded": True if draft.found else None, "items": draft.answer or []}
    return draft


def domain(reading: Reading, subject: Subject) -> Draft:
    """What is there around this?"""
    draft = about(subject)
    if subject.id is None:
        _from_sources(reading, subject, draft)
        return draft
    found = reading.ask("domain", subject=subject.id)
    for identity, ref, name, key, summary, goal in found.rows:
        text = f"{local(ref)}: {summary or goal or name or key or identity}"
        draft.show([{"ref": identity, "type": ref, "key": key, "text": text}])
    channel = facts.facts(reading, subject)
    draft.show(facts.accepted(channel.items), channel, "facts")
    draft.opposition = facts.disputed(channel.items)
    draft.take(Channel("domain", completed=found.error is None, truncated=found.truncated))
    return draft


def audit(reading: Reading, subject: Subject) -> Draft:
    """Where does it come from? Provenance, not anybody's reasoning."""
    draft = about(subject)
    if subject.id is None:
        return draft
    found = reading.ask("audit", subject=subject.id, limit=200)
    names = (
        *("ref", "proposition", "predicate", "by", "mode", "stance", "confidence", "at", "lifecycle", "recorded_at"),
        *("tx", "origin", "dependency_validity", "evidence", "evidence_class", "content_digest"),
    )
    for row in found.rows:
        item = dict(zip(names, row, strict=True))
        item["text"] = f"{item['ref']}: {local(item['predicate'])}, {item['mode']} at {item['at']}, {item['lifecycle']}"
        draft.show([item])
    draft.take(Channel("evidence", completed=found.error is None, truncated=found.truncated))
    return draft


def _from_sources(reading: Reading, subject: Subject, draft: Draft) -> None:
    channel = sources(reading, subject, *reading.batch(*source_asks(reading)))
    draft.thin, before, shown = True, draft.found, matching(channel.items)
    draft.show(shown, channel, "evidence")
    draft.found = before or any(item["answers"] for item in shown)


def _described(attributes: Any) -> str:
    words = attributes.get("description") or attributes.get("summary") if isinstance(attributes, Mapping) else None
    return f": {words}" if words else ""
