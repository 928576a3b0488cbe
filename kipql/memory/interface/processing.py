"""Processing: what is recorded becomes memory, or is honestly said not to (§5).

One intake is one transaction: what was formed and the end of the intake commit together, so an interruption leaves the
intake recorded and nothing else, and running again repeats nothing. A source waits for the ones before it (§5.1).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.interface import forgetting, repairing
from kipql.memory.interface.forgetting import Surface
from kipql.memory.interface.forming import Formation, form, vocabulary
from kipql.memory.interface.hearing import heard
from kipql.memory.interface.intake import INTENT, Intake, close_intake, noted, of_source, pending
from kipql.memory.interface.sources import captured
from kipql.memory.interface.writing import ERASED, Written, write

if TYPE_CHECKING:
    from kipql import Nexus

DEFERRED = "safe_same_request"
"""The retry class of errors that leave an intake recorded: a model that is busy is no failure of the source."""

UNSPECIFIED = "the kind of change was not given: it is kept as a new statement of its time, and supersedes nothing"
_STATUS = "FIND(?x.status) WHERE { ?x ACTIVITY {id: :id} }"


@dataclass(frozen=True, slots=True)
class Processor:
    """What processing needs of a binding."""

    nexus: "Nexus"
    formation: Formation | None
    surfaces: Sequence[Surface] = ()

    def process(self) -> list[str]:
        """Settle everything recorded that can be, and answer the receipts that were; those of blocked ones stay."""
        settled: list[str] = []
        while True:
            done = [intake.receipt_ref for intake in pending(self.nexus) if self.settle(intake)]
            if not done:
                return settled
            settled += done

    def settle(self, intake: Intake) -> bool:
        """Settle one intake. Answers whether it is settled now; raises nothing for what its source does."""
        intent = noted(self.nexus, intake, INTENT)
        if intake.status != "running" or blockers(self.nexus, intent):
            return intake.status != "running"
        try:
            if intake.operation == "forget":
                return forgetting.resume(self.nexus, intake, intent, self.surfaces)
            return self._remember(intake, intent)
        except kipql.KipError as error:
            if error.retry == DEFERRED or error.code in ("ReadonlyViolation", "OutcomeUnknown"):
                return False
            return self._fail(intake, {"code": error.code, "category": error.category})
        except Exception as error:  # a host's formation may raise anything, and a queue has to go on
            named = {"code": "InternalError", "category": "system"}
            return self._fail(intake, named, f" with {type(error).__name__}")

    def _remember(self, intake: Intake, intent: Mapping[str, Any]) -> bool:
        source = captured(self.nexus, intent["source_ref"])
        if source is None or not source.held or intake.operation == "feedback":
            gaps = [] if source is not None and source.held else [ERASED]
            return self._finish(intake, Written(gaps=gaps))
        if intent.get("change_kind") == "misrecorded":
            return self._finish(intake, repairing.repair(self.nexus, self.formation, intake, intent, source))
        told = heard(self.nexus, intake, intent, source, intent.get("change_kind"))
        formed = form(self.formation, told)
        vocabulary(self.nexus, formed)
        with self.nexus.transaction() as tx:
            if tx.query(_STATUS, {"id": intake.id}).rows == ["running"]:
                written = write(tx, told, formed, intake.scope)
                close_intake(tx, intake.id, outcome(written), written.refs)
        return True

    def _finish(self, intake: Intake, written: Written) -> bool:
        with self.nexus.transaction() as tx:
            if tx.query(_STATUS, {"id": intake.id}).rows == ["running"]:
                close_intake(tx, intake.id, outcome(written), written.refs)
        return True

    def _fail(self, intake: Intake, error: Mapping[str, Any], how: str = "") -> bool:
        # The message of an error may repeat what the source says, and this record outlives the source.
        said = {**error, "message": f"processing failed{how}: {error['code']}"}
        try:
            with self.nexus.transaction() as tx:
                if tx.query(_STATUS, {"id": intake.id}).rows == ["running"]:
                    close_intake(tx, intake.id, {"error": said}, failed=True)
        except kipql.KipError as refused:
            if refused.code != "NotAuthorized":
                raise
            return False  # whoever may not settle an intake leaves it to a worker who may
        return True


def outcome(written: Written) -> dict[str, Any]:
    """What an intake came to, as it is kept."""
    found = {"disposition": "formed" if written.refs else "evidence_only", "summary": written.summary}
    return found | ({"reason": "; ".join(dict.fromkeys(written.gaps))[:2000]} if written.gaps else {})


def blockers(nexus: "Nexus", intent: Mapping[str, Any]) -> list[str]:
    """The predecessors of a source that have not come to an end yet, or failed."""
    found = []
    for ref in intent.get("after", ()):
        source = captured(nexus, ref)
        if source is None or not any(each.status == "completed" for each in of_source(nexus, source.id)):
            found.append(ref)
    return found
