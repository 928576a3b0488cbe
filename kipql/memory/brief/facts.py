"""Claims about a subject and the beliefs in them (specification §21, §25).

What is stored is not what is true: a claim is an answer only where its belief is accepted. A contested one is shown as
contested, one that rests on something that changed as such, and one that was never made as insufficient.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kipql.memory.brief.asking import ENOUGH, Asked, asked
from kipql.memory.brief.items import FACT, STALE, Channel, Plain, Warned, best_first, called, local, shown
from kipql.memory.brief.memories import share
from kipql.memory.brief.naming import Subject, folded
from kipql.memory.brief.reading import Ask, Found, Reading


def facts(reading: Reading, subject: Subject, *, incoming: bool = True) -> Channel:
    """The claims about a subject, each with the status of its belief; those first that answer what is asked.

    Of each end at most as many as the budget has items: what the question is about, then the oldest. Only for these
    beliefs are made.
    """
    channel = Channel("facts")
    if subject.chosen is None:
        return channel
    named, wanting = [one.id for one in subject.also], asked(reading.asked, subject)
    asks = [
        Ask("fact_ids", {"subject": subject.id}),
        Ask("relevance", {"subject": subject.id, "text": wanting.text or reading.asked.goal}),
    ]
    asks += [Ask("fact_named", {"subject": subject.id, "objects": named})] if named else []
    asks += [Ask("fact_incoming_ids", {"subject": subject.id})] if incoming else []
    asks += [] if wanting.open else [Ask(name, {"subject": subject.id, "text": wanting.text}) for name in _VALUES]
    found = {one.name: one for one in reading.batch(*asks)}
    reads, items = [found["fact_ids"], *([found["fact_incoming_ids"]] if incoming else [])], []
    scores = {identity: score for identity, _, score in found["relevance"].rows}
    wanting = replace(wanting, described=_described(found["relevance"]))
    scores |= {hit.id: hit.score for hit in subject.hits}
    about = [*(found["fact_named"].rows if named else ()), *(row[0] for row in found["relevance"].rows)]
    of, by = ([row[0] for row in found[name].rows] if name in found else [] for name in _VALUES)
    ends = [("fact", [*about, *of, *found["fact_ids"].rows])]
    ends += [("fact_incoming", [*by, *found["fact_incoming_ids"].rows])] if incoming else []
    wanted = {name: list(dict.fromkeys(ids))[: reading.asked.budget.items] for name, ids in ends}
    for one in reading.batch(*[Ask(name, {"subject": subject.id, "ids": ids}) for name, ids in wanted.items() if ids]):
        turned = one.name == "fact_incoming"
        label = subject.chosen.label
        items += [_fact(row, label, scores, wanting, channel.warnings, incoming=turned) for row in one.rows]
        reads.append(one)
    channel.items = sorted(best_first(items), key=lambda item: -item["match"])
    channel.completed = all(one.error is None for one in reads)
    channel.truncated = any(one.truncated for one in reads)
    return channel


def _described(found: Found) -> frozenset[str]:
    """The claims whose Predicate speaks of what is asked in its description only, as SEARCH finds it."""
    return frozenset(identity for identity, _, score in found.rows if (share(score) or 0) >= ENOUGH)


_VALUES = ("fact_value", "fact_value_incoming")


def _fact(
    row: Sequence[Any],
    label: str,
    scores: Mapping[str, Any],
    wanting: Asked,
    warnings: list[Warned],
    *,
    incoming: bool,
) -> Plain:
    identity, predicate, end, name, status, validity, support, opposition, reasons, conflicts = row
    other = value_label(end, name)
    words = local(predicate)
    text = f"{other} {words} {label}" if incoming else f"{label} {words} {other}"
    value = {"id": end["id"]} if isinstance(end, Mapping) and "id" in end else end
    found = [scores.get(identity), scores.get(str(value.get("id"))) if isinstance(value, dict) else None]
    relevance = sum(score for score in found if score is not None)
    end_id = value.get("id") if isinstance(value, dict) else None
    match = max(wanting.match(predicate, other, end_id), ENOUGH if identity in wanting.described else 0.0)
    item = {
        "ref": identity,
        "role": FACT,
        "text": text,
        "status": status,
        "predicate": predicate,
        "value": value,
        "value_label": other,
        "incoming": incoming,
        "support": list(support or ()),
        "opposition": list(opposition or ()),
        "conflicts": list(conflicts or ()),
        "reasons": list(reasons or ()),
        "dependency_validity": validity or "current",
        "answers": match >= ENOUGH,
        "match": match,
        "relevance": round(relevance, 6),
        "salience": None,
        "effective_strength": None,
    }
    if validity in STALE:
        caveat = f"this rests on something that changed or can not be checked ({validity}): {text}"
        warnings.append(Warned("warning", "stale_dependency", caveat, (identity,)))
    if status == "contested":
        warnings.append(Warned("warning", "contested", f"contested: {text}", (identity,)))
    return item


def value_label(value: Any, name: str | None) -> str:
    """What a value is called."""
    if isinstance(value, Mapping):
        return name or called(value)
    return str(value)


def accepted(items: Sequence[Plain]) -> list[Plain]:
    """Those that are believed."""
    return [item for item in items if item["status"] == "accepted"]


def answering(items: Sequence[Plain]) -> list[Plain]:
    """Those that speak of what is asked; the others are background."""
    return [item for item in items if item["answers"]]


def background(items: Sequence[Plain]) -> list[Plain]:
    """Those that are about somebody whom a question names, and not about what it asks."""
    return [item for item in items if not item["answers"]]


def disputed(items: Sequence[Plain]) -> list[Plain]:
    """Those that are not settled although somebody said so: contested, or resting on what changed."""
    return [item for item in items if item["status"] == "contested" or item["dependency_validity"] in STALE]


def outranked(items: Sequence[Plain]) -> list[Plain]:
    """Those that somebody said and that a rule of the policy ranked behind another value."""
    return [item for item in items if "outranked" in item["reasons"]]


def slot_of(reading: Reading, subject: Subject) -> str | None:
    """The Predicate that a question about a subject means: the given one, else the best match among its claims."""
    asked = reading.asked
    if asked.predicate is not None or subject.id is None:
        return asked.predicate
    found = reading.ask("relevance", subject=subject.id, text=asked.goal)
    if found.rows:
        return str(found.rows[0][1])
    return next((ref for ref in predicates(reading) if _spoken(ref, asked.query)), None)


def predicates(reading: Reading) -> list[str]:
    """The Predicates of this memory."""
    return [row["ref"] for row in reading.meta("LIST PREDICATES").rows if isinstance(row, Mapping) and "ref" in row]


def _spoken(ref: str, query: str) -> bool:
    words = set(folded(query).split())
    return all(word in words or word.rstrip("s") in words for word in local(ref).split())


def belief(reading: Reading, subject: Subject, predicate: str) -> Found:
    """The belief in a slot, or in one claim of it where an object is given."""
    values = {"subject": subject.id, "predicate": predicate}
    if reading.asked.object is not None:
        return reading.ask("belief_claim", **values, object=reading.asked.object)
    return reading.ask("belief", **values)


def citations(reading: Reading, subject: str, wanted: set[str]) -> dict[str, Plain]:
    """The claims of these ids: who said so, when, and the sources that they cite. Erased sources are told as erased."""
    found = reading.ask("claims", subject=subject, limit=max(200, reading.asked.budget.items))
    claims: dict[str, Plain] = {}
    for row in found.rows:
        identity = row[0]
        if identity in wanted:
            claim = claims.setdefault(identity, _claim(row))
            claim["evidence"] += list(_evidence(row[10:13]))
    return claims


def _claim(row: Sequence[Any]) -> Plain:
    return {
        "ref": row[0],
        "proposition": row[1],
        "by": row[3],
        "mode": row[4],
        "stance": row[5],
        "at": row[6],
        "valid_time": row[7],
        "lifecycle": row[8],
        "remote": row[9] is not None,
        "evidence": [],
    }


def _evidence(cells: Sequence[Any]) -> Iterator[Plain]:
    identity, kind, payload = cells
    if identity is not None:
        text, redacted = shown(payload)
        yield {"ref": identity, "class": kind, "text": text, "redacted": redacted}
