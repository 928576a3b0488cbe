"""A misrecording is repaired in the record and never withdrawn in the actor's name (§4, specification §57.8).

The source that was misread stays; what was read out of it wrongly counts nowhere from then on. Read again, the same
source may say something else about the same predicate: that is the replacement, at the time of the original statement.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.interface.forming import Claim, Formation, Heard, form, vocabulary
from kipql.memory.interface.hearing import assertion_of, heard
from kipql.memory.interface.intake import Intake
from kipql.memory.interface.scopes import Scope
from kipql.memory.interface.sources import Captured, captured
from kipql.memory.interface.targets import target
from kipql.memory.interface.writing import Written, assertion, object_of, subject_of

if TYPE_CHECKING:
    from kipql import Nexus

NOT_NAMED = "which recording is wrong is not clear: name the claim in target_ref"
NO_SOURCE = "the recording cites no one source that is still there to be read again"


def supported(nexus: "Nexus") -> bool:
    """Whether a recording can be repaired here, and by this caller."""
    entry = nexus.query("DESCRIBE CAPABILITIES").one()["capabilities"]["recording_repair"]
    return bool(entry["supported"] and entry["available"])


def repair(
    nexus: "Nexus", formation: Formation | None, intake: Intake, intent: Mapping[str, Any], request: Captured
) -> Written:
    """Repair what a revision says was misrecorded. Raises what the repair raises."""
    wrong = _wrong(nexus, intent.get("target_ref"))
    found = assertion_of(nexus, wrong) if wrong is not None else None
    if found is None:
        return Written(gaps=[NOT_NAMED])
    original = captured(nexus, found["evidence"][0]) if len(found["evidence"]) == 1 else None
    if original is None or not original.held:
        return Written(gaps=[NO_SOURCE])
    if _repaired(nexus, found["assertion_id"]):  # an interrupted run came this far
        return Written(refs=[found["assertion_id"]])
    scope = Scope(task_id=intake.scope.task_id, contexts=tuple(sorted(found["context_refs"])))
    told = heard(nexus, intake, intent, original, "misrecorded")
    told = replace(told, speaker=found["asserted_by"], context_refs=scope.contexts, request=request.content)
    claim = _again(nexus, formation, told, found)
    written = Written(refs=[found["assertion_id"]])
    statement, parameters = _replacement(nexus, told, claim, scope)
    made = nexus.repair.recording(
        source_ref=original.id,
        source_digest=_digest(nexus, original.id),
        source_locator=_locator(original.content),
        invalidated_refs=[found["assertion_id"]],
        reason="extraction_error",
        expected_versions={found["assertion_id"]: found["version"]},
        replacement_refs=["?right"] if claim else [],
        statement=statement,
        parameters=parameters,
    )
    written.refs += list(made.result["replacement_refs"]) if isinstance(made.result, Mapping) else []
    written.claims = len(written.refs) - 1
    return written


def _wrong(nexus: "Nexus", ref: str | None) -> str | None:
    """The one recorded claim that a target ref names."""
    named = target(ref) if ref is not None else None
    if named is None or named.id[0] not in "AP":
        return None
    if named.id[0] == "A":
        return named.id
    text = 'FIND(?a.id) WHERE { ?a ASSERTION {proposition: :p} FILTER(?a.lifecycle.status == "active") }'
    found = [each for each in nexus.query(text, {"p": named.id}).rows if not _repaired(nexus, each)]
    return found[0] if len(found) == 1 else None


def _repaired(nexus: "Nexus", identity: str) -> bool:
    text = (
        'FIND(?x.id) WHERE { ?x ACTIVITY {activity_class: "recording_repair"} STRUCTURAL (?x, "inputs", :a) } LIMIT 1'
    )
    return bool(nexus.query(text, {"a": identity}).rows)


def _again(nexus: "Nexus", formation: Formation | None, told: Heard, wrong: Mapping[str, Any]) -> Claim | None:
    """What the source says about the same predicate when it is read again, if that is another value."""
    formed = form(formation, told)
    name = _local(wrong["predicate"])
    fitting = [claim for claim in formed.claims if _local(claim.predicate) == name]
    if len(fitting) != 1 or fitting[0].object == wrong["object"]:
        return None
    vocabulary(nexus, formed)
    return fitting[0]


def _replacement(
    nexus: "Nexus", told: Heard, claim: Claim | None, scope: Scope
) -> tuple[str | None, Mapping[str, Any] | None]:
    if claim is None:
        return None, None
    with nexus.transaction() as tx:
        subject, _ = subject_of(tx, told, claim, scope)
        value, _ = object_of(tx, claim.object)
    interval = {name: each for name, each in (("from", claim.since), ("until", claim.until)) if each}
    return assertion(told, claim, scope, {"s": subject, "o": value, "valid": interval}, handle="right")


def _digest(nexus: "Nexus", identity: str) -> str:
    found = nexus.query("FIND(?e.content_digest) WHERE { ?e EVIDENCE {id: :id} }", {"id": identity}).scalar()
    if not isinstance(found, str):
        raise kipql.KipError("ArtifactUnavailable", "the source has no digest to repair against")
    return found


def _locator(content: Any) -> str:
    return f"bytes:0-{len(content.encode())}" if isinstance(content, str) else "kipql:whole"


def _local(symbol: str) -> str:
    return symbol.rsplit("/", 1)[-1]
