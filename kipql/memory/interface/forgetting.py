"""Forgetting: a bounded ErasurePlan that is completed only when nothing in scope is left (§4, specification §60.7).

What a plan reaches is fixed when it is asked for. What is held stays and is said; copies that the host controls
(backups, caches, replay inputs) are surfaces of the host, asked until each says that it is erased.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.interface.intake import OUTCOME, Intake, close_intake
from kipql.memory.interface.sources import captured, digest
from kipql.memory.interface.targets import target

if TYPE_CHECKING:
    from kipql import Nexus, Transaction
    from kipql.memory.graph import Reader

PLAN = "kipql:erasure_plan"
SURFACES = ("summary", "replay", "index", "cache", "blob", "backup")
STATES = ("pending", "erased", "held", "unavailable")


@dataclass(frozen=True, slots=True)
class Surface:
    """Copies outside the memory that the host controls: `erase` is handed element ids and answers their state:
    "erased" when none is left, else "pending", "held" or "unavailable"."""

    kind: str
    erase: Callable[[Sequence[str]], str]

    def run(self, refs: Sequence[str]) -> str:
        """Erase, and the state. Raises TypeMismatch for an answer that is none."""
        state = self.erase(refs)
        if state not in STATES or self.kind not in SURFACES:
            raise kipql.KipError("TypeMismatch", "a surface has a kind and answers a state of the ErasurePlan")
        return state


def choose(nexus: "Nexus", ref: str, mode: str) -> dict[str, Any]:
    """What a request to forget reaches: `{sources, targets: [[ref, surface], ...]}` in the order of erasing.

    Raises NotFoundOrNotVisible for a target that is not there, ConstraintViolation for one that can not be forgotten.
    """
    named = target(ref)
    source = captured(nexus, ref if named is None else named.id)
    if source is not None:
        return _of_source(nexus, source.id, mode)
    if named is None or not _there(nexus, named.id):
        raise kipql.KipError("NotFoundOrNotVisible", "there is nothing here to forget under this ref")
    if named.id[0] in "AP":
        return _of_claim(nexus, named.id, mode)
    if named.id[0] == "C" and mode == "semantic":
        sources = nexus.query(_MADE_FROM, {"id": named.id}).rows
        return {"sources": sources, "targets": [*([each, "payload"] for each in sources), [named.id, "element"]]}
    raise kipql.KipError(
        "ConstraintViolation", f"{mode} does not reach this kind of element", hint="name its source, or a claim"
    )


_CITING = 'FIND(?a.id, ?a.proposition.id, ?a.evidence) WHERE { ?a ASSERTION {} STRUCTURAL (?a, "evidence", :id) }'
_MADE_FROM = """FIND DISTINCT(?e.id) WHERE {
  STRUCTURAL (?x, "outputs", :id) STRUCTURAL (?x, "inputs", ?e) ?e EVIDENCE {}
  FILTER(!STARTS_WITH(?e.evidence_class, "kipql:"))
}"""
_FORMED = 'FIND(?x.id, ?o.id) WHERE { STRUCTURAL (?x, "inputs", :id) STRUCTURAL (?x, "outputs", ?o) }'
_CLAIMED = "FIND(?a.id) WHERE { ?a ASSERTION {proposition: :p} }"
_USED = "FIND(?p.id) WHERE { ?p (?s, ?r, ?o) FILTER(?s.id == :id || ?o.id == :id) }"


def _of_source(nexus: "Nexus", source: str, mode: str) -> dict[str, Any]:
    if mode == "payload_only":
        return {"sources": [source], "targets": [[source, "payload"]]}
    claims = [(row[0], row[1]) for row in nexus.query(_CITING, {"id": source}).rows if len(row[2]) == 1]
    targets = [[claim, "element"] for claim, _ in claims]
    propositions = _left_empty(nexus, claims)
    targets += [[each, "element"] for each in propositions]
    outputs = dict.fromkeys(row[1] for row in nexus.query(_FORMED, {"id": source}).rows)
    for each in outputs:
        if each[0] == "C" and set(nexus.query(_USED, {"id": each}).rows) <= set(propositions):
            targets.append([each, "element"])
        elif each[0] == "E" and _class(nexus, each) == OUTCOME:
            targets.append([each, "summary"])
    return {"sources": [source], "targets": [*targets, [source, "payload"], [source, "element"]]}


def _of_claim(nexus: "Nexus", identity: str, mode: str) -> dict[str, Any]:
    text = "FIND(?a.id, ?a.proposition.id, ?a.evidence) WHERE { ?a ASSERTION {%s: :id} }"
    rows = nexus.query(text % ("id" if identity[0] == "A" else "proposition"), {"id": identity}).rows
    sources = list(dict.fromkeys(each["id"] for row in rows for each in row[2]))
    payloads = [[each, "payload"] for each in sources]
    if mode == "payload_only":
        return {"sources": sources, "targets": payloads}
    claims = [(row[0], row[1]) for row in rows]
    elements = [*(claim for claim, _ in claims), *_left_empty(nexus, claims)]
    return {"sources": sources, "targets": [*([each, "element"] for each in elements), *payloads]}


def _left_empty(nexus: "Nexus", claims: Sequence[tuple[str, str]]) -> list[str]:
    """The Propositions that nobody claims once these claims are gone."""
    gone = {claim for claim, _ in claims}
    propositions = dict.fromkeys(proposition for _, proposition in claims)
    return [each for each in propositions if set(nexus.query(_CLAIMED, {"p": each}).rows) <= gone]


def erase(tx: "Transaction", targets: Sequence[Sequence[str]]) -> None:
    """Erase what is not held. Raises NotAuthorized, RequiresApproval and the like: then nothing is erased."""
    for ref, surface in targets:
        if state(tx, ref, surface) != "pending":
            continue
        payload = surface in ("payload", "summary")
        text = 'PURGE PAYLOAD :id CONFIRM "PURGE"'
        if not payload:
            text = 'PURGE :id REFERENCE POLICY "tombstone_reference" CONFIRM "PURGE"'
        try:
            tx.execute(text, {"id": ref})
        except kipql.KipError as error:
            if error.code not in ("LegalHoldConflict", "PurgeDenied"):
                raise


def state(reader: "Reader", ref: str, surface: str) -> str:
    """The state of a target, read from the memory."""
    rows = reader.query(_WHERE[ref[0]], {"id": ref}).rows
    if not rows or (surface in ("payload", "summary") and rows[0].get("payload", {}).get("mode") == "purged"):
        return "erased"
    return "held" if rows[0]["retention"]["legal_hold"] else "pending"


_WHERE = {
    "C": "FIND(?x) WHERE { ?x CONCEPT {id: :id} }",
    "P": "FIND(?x) WHERE { ?x (id: :id) }",
    "A": "FIND(?x) WHERE { ?x ASSERTION {id: :id} }",
    "E": "FIND(?x) WHERE { ?x EVIDENCE {id: :id} }",
    "X": "FIND(?x) WHERE { ?x ACTIVITY {id: :id} }",
}


def resume(nexus: "Nexus", intake: Intake, intent: Mapping[str, Any], surfaces: Sequence[Surface]) -> bool:
    """Carry a plan on, and settle its intake when it is completed."""
    targets = intent["targets"]
    with nexus.transaction() as tx:
        erase(tx, targets)
    found = plan(nexus, intent, [(each, each.run(_refs(targets))) for each in surfaces])
    with nexus.transaction() as tx:
        kept = _keep(tx, intake, found)
        if found["status"] == "completed":
            close_intake(tx, intake.id, {"disposition": "erased"}, [kept])
    return bool(found["status"] == "completed")


def plan(nexus: "Nexus", intent: Mapping[str, Any], surfaces: Sequence[tuple[Surface, str]]) -> dict[str, Any]:
    """The ErasurePlan as it stands."""
    listed = [{"ref": ref, "surface": name, "state": state(nexus, ref, name)} for ref, name in intent["targets"]]
    listed += [
        {"ref": ref, "surface": surface.kind, "state": found}
        for surface, found in surfaces
        for ref in _refs(intent["targets"])
    ]
    states = {each["state"] for each in listed}
    status = "completed" if states <= {"erased"} else "blocked" if "held" in states else "partial"
    return {
        "scope": "payload_only" if intent["mode"] == "payload_only" else "semantic_forgetting",
        "basis_seq": nexus.space_seq,
        "source_event_refs": list(intent["sources"]),
        "targets": listed,
        "external_exports": [],
        "status": status,
        "receipts": [intent["receipt"]] if intent.get("receipt") else [],
    }


def result(nexus: "Nexus", intake: Intake) -> dict[str, Any]:
    """The ForgetResult of an intake: its last plan."""
    rows = nexus.query(_PLANS, {"prefix": _plan_key(intake, "")}).rows
    if not rows:
        nothing = {"status": "pending", "summary": "nothing is erased yet"}
        return {**nothing, "plan_ref": intake.id, "coverage_ref": intake.id}
    identity, payload = max(rows, key=lambda row: int(row[0][2:]))
    found = payload["inline"]
    erased = sum(each["state"] == "erased" for each in found["targets"])
    summary = f"{erased} of {len(found['targets'])} targets erased"
    held = sum(each["state"] == "held" for each in found["targets"])
    summary += f", {held} under a hold" if held else ""
    return {"status": found["status"], "plan_ref": intake.id, "summary": summary, "coverage_ref": identity}


_PLANS = """FIND(?e.id, ?e.payload) WHERE {
  ?e EVIDENCE {evidence_class: "kipql:erasure_plan"} FILTER(STARTS_WITH(?e.client_key, :prefix))
}"""
_PLAN = f"""CREATE EVIDENCE ?e {{
  CLIENT KEY :key SET FIELDS {{evidence_class: "{PLAN}", payload: :plan}}
}}"""


def _keep(tx: "Transaction", intake: Intake, found: Mapping[str, Any]) -> str:
    """Keep a plan; one that is as it was, is the one that is there."""
    key = _plan_key(intake, digest(found["targets"]))
    there = tx.query("FIND(?e.id) WHERE { ?e EVIDENCE {client_key: :key} }", {"key": key}).rows
    if there:
        return str(there[0])
    receipt = tx.execute(_PLAN, {"key": key, "plan": {"mode": "inline", "inline": dict(found)}})
    assert isinstance(receipt, kipql.Receipt)
    return receipt.handles["e"]


def _plan_key(intake: Intake, states: str) -> str:
    return f"kip_memory:plan:{intake.id}:{states}"


def _refs(targets: Sequence[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(ref for ref, _ in targets))


def _there(nexus: "Nexus", identity: str) -> bool:
    return bool(nexus.query(_WHERE[identity[0]], {"id": identity}).rows)


def _class(nexus: "Nexus", identity: str) -> Any:
    rows = nexus.query("FIND(?e.evidence_class) WHERE { ?e EVIDENCE {id: :id} }", {"id": identity}).rows
    return rows[0] if rows else None
