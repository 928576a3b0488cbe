"""Intake: every mutation is acknowledged by an Activity before anything is made of it (§5).

The Activity is the acknowledgement and its status the progress: `running` is recorded, `completed` is available (the
search index follows each commit, so what is processed can be recalled at once), `failed` is failed. Its client key is
the idempotency key in the name of the Principal and the intent; `parameters_digest` is what the request meant. Its
inputs are the source and an Evidence of the intent, its outputs what was formed and an Evidence of the outcome.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.interface.scopes import FACET, Scope, of_facet
from kipql.memory.interface.sources import digest
from kipql.memory.interface.wire import MUTATIONS

if TYPE_CHECKING:
    from kipql import Nexus, Transaction
    from kipql.memory.graph import Reader

CLASS = "kipql:memory_"
INTENT = "kipql:memory_intent"
OUTCOME = "kipql:memory_outcome"
_COLUMNS = f"""?x.id, ?x.activity_class, ?x.status, ?x.client_key, ?x.parameters_digest, ?x.facets["{FACET}"],
  ?x._system.origin.principal_id, ?x.inputs, ?x.outputs, ?x._system.created_tx"""
_BY = f"FIND({_COLUMNS}) WHERE {{{{ ?x ACTIVITY {{{{{{member}}: :named}}}} }}}} ORDER BY ?x.id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """An acknowledged mutation as the graph has it."""

    id: str
    operation: str
    status: str
    key: str
    meaning: str
    scope: Scope
    principal: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    accepted_seq: int
    space_id: str

    @property
    def receipt_ref(self) -> str:
        """The opaque ref of its receipt; nobody has it who was not given it."""
        tag = digest(self.space_id, self.id, self.key, self.meaning)[-20:]
        return f"mr:{self.id}:{tag}"


def key_of(principal: str, operation: str, key: str) -> str:
    """The client key of an idempotency key: its scope is the Principal, the Space and the intent."""
    name = hashlib.sha256("\0".join((principal, operation, key)).encode()).hexdigest()
    return f"kip_memory:{operation}:{name}"


def acknowledged(nexus: "Nexus", reader: "Reader", key: str) -> Intake | None:
    """The intake under a client key."""
    found = reader.query(_BY.format(member="client_key"), {"named": key}).rows
    return _intake(found[0], nexus.space_id) if found else None


def receipt(nexus: "Nexus", ref: str) -> Intake:
    """The intake of a receipt. Raises NotFoundOrNotVisible for one that is unknown, forged, foreign or hidden."""
    parts = ref.split(":")
    if len(parts) == 3 and parts[0] == "mr" and parts[1][:2] == "X-" and parts[1][2:].isdecimal():
        found = nexus.query(_BY.format(member="id"), {"named": parts[1]}).rows
        intake = _intake(found[0], nexus.space_id) if found else None
        if intake and intake.receipt_ref == ref and intake.principal == nexus.principal.id:
            return intake
    raise kipql.KipError("NotFoundOrNotVisible", "there is no such receipt here")


def pending(nexus: "Nexus") -> list[Intake]:
    """What is recorded and not yet settled, as far as it may be seen; oldest first."""
    rows = nexus.query(_BY.format(member="status"), {"named": "running"}).rows
    found = (_intake(row, nexus.space_id) for row in rows)
    return sorted((each for each in found if each is not None), key=lambda each: int(each.id[2:]))


def of_source(nexus: "Nexus", evidence_id: str) -> list[Intake]:
    """The intakes of a source."""
    text = f'FIND({_COLUMNS}) WHERE {{ ?x ACTIVITY {{}} STRUCTURAL (?x, "inputs", :e) }}'
    found = (_intake(row, nexus.space_id) for row in nexus.query(text, {"e": evidence_id}).rows)
    return [each for each in found if each is not None]


def _intake(row: Sequence[Any], space_id: str) -> Intake | None:
    identity, name, status, key, meaning, facet, principal, inputs, outputs, created = row
    operation = str(name).removeprefix(CLASS)
    if not str(name).startswith(CLASS) or operation not in MUTATIONS or not key:
        return None
    return Intake(
        id=identity,
        operation=operation,
        status=status,
        key=key,
        meaning=meaning,
        scope=of_facet(facet),
        principal=principal,
        inputs=tuple(each["id"] for each in inputs),
        outputs=tuple(each["id"] for each in outputs),
        accepted_seq=sequence_of(created),
        space_id=space_id,
    )


# --- writing --------------------------------------------------------------------------------------------

_OPEN = f"""MUTATE {{{{
  CREATE EVIDENCE ?intent {{{{ SET FIELDS {{{{evidence_class: "{INTENT}", payload: :intent}}}} }}}}
  CREATE ACTIVITY ?x {{{{
    CLIENT KEY :key
    SET FIELDS {{{{activity_class: :class, status: "running", parameters_digest: :meaning}}}}
    SET FACET "{FACET}" {{{{task_ref: :task, context_refs: :contexts}}}}
    SET STRUCTURAL {{{{ ("inputs", ?intent) {{inputs}} }}}}
  }}}}
}}}}"""
_CLOSE = f"""MUTATE {{{{
  CREATE EVIDENCE ?outcome {{{{ SET FIELDS {{{{evidence_class: "{OUTCOME}", payload: :outcome}}}} }}}}
  TRANSITION :x TO "{{status}}" SET STRUCTURAL {{{{ ("outputs", ?outcome) {{outputs}} }}}}
}}}}"""


def open_intake(
    tx: "Transaction",
    *,
    operation: str,
    key: str,
    meaning: str,
    scope: Scope,
    intent: Mapping[str, Any],
    inputs: Sequence[str],
) -> str:
    """Write the acknowledgement; the id of its Activity."""
    listed = {f"input{number}": each for number, each in enumerate(dict.fromkeys(inputs))}
    text = _OPEN.format(inputs=" ".join(f'("inputs", :{name})' for name in listed))
    values = {
        "key": key,
        "class": CLASS + operation,
        "meaning": meaning,
        "intent": {"mode": "inline", "inline": intent},
    }
    made = tx.execute(text, {**values, "task": scope.task_id, "contexts": list(scope.contexts), **listed})
    assert isinstance(made, kipql.Receipt)
    return made.handles["x"]


def close_intake(
    tx: "Transaction", intake: str, outcome: Mapping[str, Any], outputs: Sequence[str] = (), *, failed: bool = False
) -> None:
    """Settle an intake: what came of it, for good."""
    listed = {f"output{number}": each for number, each in enumerate(dict.fromkeys(outputs))}
    text = _CLOSE.format(
        status="failed" if failed else "completed", outputs=" ".join(f'("outputs", :{name})' for name in listed)
    )
    tx.execute(text, {"x": intake, "outcome": {"mode": "inline", "inline": dict(outcome)}, **listed})


# --- reading --------------------------------------------------------------------------------------------

_NOTE = "FIND(?e.payload, ?e._system.created_tx) WHERE { ?e EVIDENCE {id: :id, evidence_class: :class} }"


def noted(nexus: "Nexus", intake: Intake, evidence_class: str) -> Mapping[str, Any]:
    """The intent or the outcome of an intake; empty where it is not there."""
    row = _note(nexus, intake, evidence_class)
    inline = row[0].get("inline") if row is not None and isinstance(row[0], Mapping) else None
    return inline if isinstance(inline, Mapping) else {}


def _note(nexus: "Nexus", intake: Intake, evidence_class: str) -> Sequence[Any] | None:
    for each in intake.inputs if evidence_class == INTENT else intake.outputs:
        rows = nexus.query(_NOTE, {"id": each, "class": evidence_class}).rows if each[0] == "E" else ()
        if rows:
            found: Sequence[Any] = rows[0]
            return found
    return None


def formed_refs(intake: Intake) -> list[str]:
    """What was formed: the outputs without the Evidence of the outcome."""
    return [each for each in intake.outputs if each[0] != "E"]


def acknowledgement(intake: Intake) -> dict[str, Any]:
    """The immutable receipt of an intake."""
    return {
        "receipt_ref": intake.receipt_ref,
        "operation": intake.operation,
        "space_id": intake.space_id,
        "accepted_seq": intake.accepted_seq,
    }


def progress(nexus: "Nexus", intake: Intake) -> dict[str, Any]:
    """How far an intake has come by now."""
    found: dict[str, Any] = {"receipt_ref": intake.receipt_ref, "phase": "recorded"}
    if intake.status == "running":
        return found
    outcome = noted(nexus, intake, OUTCOME)
    reason = {"reason": outcome["reason"]} if outcome.get("reason") else {}
    if intake.status != "completed":
        return {**found, "phase": "failed", **reason, "error": outcome.get("error") or _LOST}
    settled = _settled(nexus, intake)
    disposition = outcome.get("disposition") or ("formed" if formed_refs(intake) else "evidence_only")
    pinned = {"disposition": disposition, "resolved_seq": settled, "available_seq": settled}
    return {**found, "phase": "available", **pinned, **reason}


_LOST = {"code": "InternalError", "category": "system", "message": "what went wrong is no longer recorded"}


def _settled(nexus: "Nexus", intake: Intake) -> int:
    """The sequence of the commit that settled an intake: that of its outcome."""
    row = _note(nexus, intake, OUTCOME)
    if row is not None:
        return sequence_of(row[1])
    updated = nexus.query("FIND(?x._system.updated_tx) WHERE { ?x ACTIVITY {id: :id} }", {"id": intake.id}).scalar()
    return sequence_of(str(updated))


def sequence_of(tx_id: str) -> int:
    """The sequence of a commit from its transaction id, which is `<space>#<sequence>`."""
    return int(tx_id.rpartition("#")[2])
