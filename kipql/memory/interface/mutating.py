"""Mutations: a request is recorded as an intake before anything is made of it, and answered from that record (§4, §5).

Everything that makes a request impossible is found before anything is written. Source, intake and what forgetting
erases commit together; what is formed commits with the end of the intake, so a repeated request repeats nothing.
"""

from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.interface import forgetting, repairing
from kipql.memory.interface.intake import (
    INTENT,
    OUTCOME,
    Intake,
    acknowledged,
    acknowledgement,
    close_intake,
    formed_refs,
    key_of,
    noted,
    open_intake,
    progress,
)
from kipql.memory.interface.processing import UNSPECIFIED, Processor
from kipql.memory.interface.reading import reading
from kipql.memory.interface.scopes import FACET, Scope, resolve
from kipql.memory.interface.sources import (
    CLASSES,
    Admission,
    Captured,
    Source,
    Sources,
    captured,
    check,
    digest,
    speaker_id,
)
from kipql.memory.interface.wire import MOST, Request

if TYPE_CHECKING:
    from kipql import Nexus, Transaction


class Mutations:
    """observe, revise, feedback and forget of a binding; `MemoryInterface` says what its members are."""

    nexus: "Nexus"
    _processor: Processor
    _resolver: Sources | None
    _admit: Admission | None
    _defer: bool
    _staged: dict[str, Source]

    def _mutate(self, request: Request) -> dict[str, Any]:
        scope = resolve(self.nexus, request.task_ref, request.context_refs)
        key = key_of(self.nexus.principal.id, request.operation, request.key)
        meaning = digest(request.operation, scope.facet, dict(request.input))
        found = acknowledged(self.nexus, self.nexus, key)
        if found is None:
            intent = self._intent(request)
            with self.nexus.transaction() as tx:
                if acknowledged(self.nexus, tx, key) is None:
                    self._intake(tx, request, scope, key, meaning, intent)
            self._settle(key)
            found = acknowledged(self.nexus, self.nexus, key)
            assert found is not None
        self._same(request, found, meaning)
        return self._response(request, found)

    def _intent(self, request: Request) -> dict[str, Any]:
        """What the intake is to do, kept with it. Raises what makes it impossible, before anything is written."""
        given = request.input
        if request.operation == "forget":
            return {"mode": given["mode"], **forgetting.choose(self.nexus, given["target_ref"], given["mode"])}
        if given.get("change_kind") == "misrecorded" and not repairing.supported(self.nexus):
            raise kipql.KipError(
                "UnsupportedCapability",
                "recordings can not be repaired here, and a misrecording is no correction by the speaker",
                details={"capability": "recording_repair"},
            )
        for name, activity_class in (("decision_ref", "action_gate"), ("attempt_ref", "action_attempt")):
            if given.get(name) is not None:
                self._check_activity(given[name], activity_class)
        live = self._live(given["source_ref"])
        known = captured(self.nexus, given["source_ref"])
        if live is None and known is None:
            hint = "a source is staged by the host before it is cited"
            raise kipql.KipError("NotFoundOrNotVisible", "there is no such source here", hint=hint)
        if "outcome" in (CLASSES.get(live.role) if live else None, CLASSES.get(known.role) if known else None):
            raise kipql.KipError(
                "UnsupportedCapability",
                "an outcome that is observed by an instrument needs memory_learning",
                details={"capability": "memory_learning"},
            )
        _check_same(live, known)
        kept = {name: value for name, value in given.items() if value is not None}
        if live is not None:
            order = {"stream": live.stream, "ordinal": live.ordinal, "after": list(live.after)}
            kept |= {name: value for name, value in order.items() if value not in (None, [])}
        return kept

    def _intake(
        self, tx: "Transaction", request: Request, scope: Scope, key: str, meaning: str, intent: dict[str, Any]
    ) -> None:
        inputs = [intent[name] for name in ("decision_ref", "attempt_ref") if name in intent]
        refusal = None
        if request.operation == "forget":
            forgetting.erase(tx, intent["targets"])
        else:
            live = self._live(intent["source_ref"])
            known = captured(tx, intent["source_ref"])
            refusal = self._admit(live) if self._admit is not None and live is not None and known is None else None
            if refusal is None:
                inputs.append(known.id if known is not None else self._capture(tx, live, scope))
        made = open_intake(
            tx,
            operation=request.operation,
            key=key,
            meaning=meaning,
            scope=scope,
            intent={"source_ref": intent["source_ref"]} if refusal is not None else intent,
            inputs=inputs,
        )
        if refusal is not None:
            close_intake(tx, made, {"disposition": "skipped", "summary": "skipped by policy", "reason": str(refusal)})

    def _capture(self, tx: "Transaction", source: Source | None, scope: Scope) -> str:
        assert source is not None
        at = source.observed_at or reading(self.nexus, Scope(), None, None).valid_at
        speaker = speaker_id(tx, tx, source.speaker)
        text = _CAPTURE + ("" if speaker is None else ' SET STRUCTURAL { ("source", :speaker) }') + " }"
        values = {"key": source.client_key, "class": CLASSES[source.role], "at": at, "speaker": speaker}
        payload = {"mode": "inline", "inline": source.content}
        given = {**values, "payload": payload, "task": scope.task_id, "contexts": list(scope.contexts)}
        made = tx.execute(text, given)
        assert isinstance(made, kipql.Receipt)
        return made.handles["e"]

    def _settle(self, key: str) -> None:
        found = acknowledged(self.nexus, self.nexus, key)
        if found is None:
            return
        if found.operation == "forget":
            self._processor.settle(found)
        elif not self._defer:
            self._processor.process()

    def _same(self, request: Request, intake: Intake, meaning: str) -> None:
        """Hold a repeated key against what it stood for. Raises IdempotencyConflict."""
        ref = request.input.get("source_ref")
        try:
            if ref is not None:
                _check_same(self._live(ref), captured(self.nexus, ref))
        except kipql.KipError as error:
            raise kipql.KipError("IdempotencyConflict", error.message) from None
        if intake.meaning != meaning:
            raise kipql.KipError(
                "IdempotencyConflict", "this idempotency key stands for another request", hint="use a new key"
            )

    def _response(self, request: Request, intake: Intake) -> dict[str, Any]:
        state = progress(self.nexus, intake)
        done: dict[str, Any] = {"receipt": acknowledgement(intake), "progress": state}
        if state["phase"] == "failed":
            return {**done, "status": "failed", "error": state["error"]}
        status = "succeeded" if state["phase"] == "available" else "pending"
        if intake.operation == "forget":
            result = forgetting.result(self.nexus, intake)
            return {**done, "status": status if status == "succeeded" else "partial", "result": result}
        outcome = noted(self.nexus, intake, OUTCOME)
        waiting = "recorded; nothing is formed of it yet"
        result = {
            "summary": outcome.get("summary") or ("settled" if state["phase"] == "available" else waiting),
            "memory_refs": formed_refs(intake)[:MOST],
        }
        warnings = [UNSPECIFIED] if noted(self.nexus, intake, INTENT).get("change_kind") == "unspecified" else []
        warnings += [outcome["reason"][:4096]] if outcome.get("reason") else []
        return {**done, "status": status, "result": result, **({"warnings": warnings} if warnings else {})}

    def _live(self, ref: str) -> Source | None:
        found = self._staged.get(ref)
        if found is None and self._resolver is not None:
            found = self._resolver(ref)
            if found is not None and check(found).ref != ref:
                raise kipql.KipError("DigestMismatch", "the host's resolver answered another source")
        return found

    def _check_activity(self, ref: str, activity_class: str) -> None:
        text = "FIND(?x.id) WHERE { ?x ACTIVITY {id: :id} FILTER(?x.activity_class == :class) }"
        known = ref[:2] == "X-" and ref[2:].isdecimal()
        if not known or not self.nexus.query(text, {"id": ref, "class": activity_class}).rows:
            raise kipql.KipError("NotFoundOrNotVisible", "there is no such decision or attempt here")


_CAPTURE = f"""CREATE EVIDENCE ?e {{
  CLIENT KEY :key
  SET FIELDS {{evidence_class: :class, payload: :payload, observed_at: :at}}
  SET FACET "{FACET}" {{task_ref: :task, context_refs: :contexts}}
 """


def _check_same(live: Source | None, known: Captured | None) -> None:
    """Raise DigestMismatch where a source that is offered is not the one that was captured under its ref."""
    if live is None or known is None or not known.held or known.ref != live.ref:
        return
    if digest(live.content) != digest(known.content) or live.role != known.role:
        raise kipql.KipError(
            "DigestMismatch", "another source was captured under this ref", hint="sources never change"
        )
