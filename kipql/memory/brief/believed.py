"""What stands for a belief and against it: the claims with who made them and what they cite, and the caveats."""

from collections.abc import Mapping, Sequence
from typing import Any

from kipql.memory.brief import facts
from kipql.memory.brief.draft import Draft
from kipql.memory.brief.items import STALE, Plain, Warned, called
from kipql.memory.brief.naming import Subject
from kipql.memory.brief.reading import Ask, Reading


def with_claims(reading: Reading, subject: Subject, draft: Draft, candidates: Sequence[Plain]) -> None:
    """Who is for it and who against. What supports a value that a rule of the policy ranked behind is against it."""
    ends: dict[str, list[str]] = {"support": [], "opposition": []}
    for one in candidates:
        ends["opposition" if outranked(one) else "support"] += one["support"]["assertion_ids"]
        ends["opposition"] += one["opposition"]["assertion_ids"]
    draft.thin = draft.thin or any(outranked(one) for one in candidates)
    wanted = {ref for refs in ends.values() for ref in refs}
    if not wanted:
        return
    claims = facts.citations(reading, str(subject.id), wanted)
    draft.support = [claims[ref] for ref in dict.fromkeys(ends["support"]) if ref in claims]
    draft.opposition = [claims[ref] for ref in dict.fromkeys(ends["opposition"]) if ref in claims]
    for claim in (*draft.support, *draft.opposition):
        if any(source["redacted"] for source in claim["evidence"]):
            text = "a source of this was erased or is withheld; what it said is not known any more"
            draft.warnings.append(Warned("warning", "redacted", text, (claim["ref"],)))
        if claim["remote"]:
            draft.warnings.append(Warned("note", "remote", "this claim came with an import", (claim["ref"],)))


def outranked(candidate: Plain) -> bool:
    """Whether another value prevailed over this one by a rule of the policy: a conflict, and a settled one."""
    return (candidate.get("precedence") or {}).get("outranked_by") is not None


def caveats(candidate: Plain, label: str, draft: Draft) -> None:
    validity = (candidate.get("dependency_validity") or {}).get("status")
    refs = tuple(filter(None, (candidate.get("proposition_id"),)))
    if validity in STALE:
        draft.thin = True
        text = f"{label}: this rests on something that changed or can not be checked ({validity})"
        draft.warnings.append(Warned("warning", "stale_dependency", text, refs))
    if candidate["status"] == "contested":
        draft.warnings.append(Warned("warning", "contested", f"contested: {label}", refs))


def value_of(candidate: Plain) -> Any:
    entries = (candidate.get("explanation") or {}).get("entries") or ()
    return entries[0]["value"] if entries else None


def labels(reading: Reading, values: Sequence[Any]) -> dict[Any, str]:
    """What values are called; those that are Concepts by name."""
    refs = [value["id"] for value in values if isinstance(value, Mapping) and "id" in value]
    found = reading.batch(*[Ask("entity", {"subject": ref}) for ref in dict.fromkeys(refs)])
    names = {one.rows[0][0]: called(dict(zip(_ENTITY, one.rows[0], strict=False))) for one in found if one.rows}
    return {same(value): names.get(same(value), str(same(value))) for value in values}


_ENTITY = ("id", "schema_ref", "name", "key", "aliases", "attributes")


def same(value: Any) -> Any:
    plain = bare(value)
    return plain["id"] if isinstance(plain, Mapping) and "id" in plain else str(plain)


def bare(value: Any) -> Any:
    return {"id": value["id"]} if isinstance(value, Mapping) and "id" in value else value
