"""A source as a formation hears it, and the claim of the speaker that a target ref is about (§4)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kipql.memory.interface.forming import Heard
from kipql.memory.interface.intake import Intake
from kipql.memory.interface.sources import Captured
from kipql.memory.interface.targets import target

if TYPE_CHECKING:
    from kipql import Nexus
    from kipql.memory.graph import Reader


def heard(
    nexus: "Nexus", intake: Intake, intent: Mapping[str, Any], source: Captured, change_kind: str | None
) -> Heard:
    """A source as a formation sees it."""
    assert source.observed_at is not None
    return Heard(
        operation=intake.operation,
        change_kind=change_kind,
        source_ref=source.ref,
        evidence_id=source.id,
        role=source.role,
        content=source.content,
        speaker=source.speaker,
        observed_at=source.observed_at,
        task_ref=intake.scope.task_id,
        context_refs=intake.scope.contexts,
        memory=nexus.readonly(),
        target=meant(nexus, intent.get("target_ref"), source.speaker),
    )


_OF_CLAIM = """FIND(?a.id) WHERE {
  ?a ASSERTION {proposition: :p, asserted_by: :by} FILTER(?a.lifecycle.status == "active")
}"""


def meant(reader: "Reader", ref: str | None, speaker: str | None) -> Mapping[str, Any] | None:
    """The active claim of a speaker that a target ref is about: `{assertion_id, predicate, object}`."""
    found = target(ref) if ref is not None else None
    if found is None or speaker is None:
        return None
    ids = [found.id]
    if found.id[0] == "P":
        ids = list(reader.query(_OF_CLAIM, {"p": found.id, "by": speaker}).rows)
    if len(ids) != 1 or ids[0][0] != "A":
        return None
    claim = assertion_of(reader, ids[0])
    if claim is None or claim["asserted_by"] != speaker or claim["status"] != "active":
        return None
    return claim


def assertion_of(reader: "Reader", identity: str) -> Mapping[str, Any] | None:
    """An Assertion with the predicate and object of its claim, None where it can not be seen."""
    rows = reader.query("FIND(?a) WHERE { ?a ASSERTION {id: :id} }", {"id": identity}).rows
    if not rows:
        return None
    proposition = rows[0]["proposition"]["id"]
    text = "FIND(?p.predicate_ref, ?p.object, ?p.subject.id) WHERE { ?p (id: :p) }"
    predicate, value, subject = reader.query(text, {"p": proposition}).rows[0]
    return {
        "assertion_id": identity,
        "proposition_id": proposition,
        "predicate": predicate,
        "subject": subject,
        "object": value,
        "asserted_by": rows[0]["asserted_by"]["id"],
        "status": rows[0]["lifecycle"]["status"],
        "evidence": [each["id"] for each in rows[0]["evidence"]],
        "context_refs": [each["id"] for each in rows[0]["context_refs"]],
        "version": rows[0]["_system"]["version"],
    }
