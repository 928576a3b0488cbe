"""MemorySession: the receipts of a session, kept so that its recalls see what it wrote (§5.1).

Each receipt is accounted for by itself: a later one that is done never stands for an earlier one that is not.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.interface.wire import MOST, MUTATIONS, echo, wire_error

if TYPE_CHECKING:
    from kipql.memory.interface.binding import MemoryInterface

_FORMAT = 1


class MemorySession:
    """A MemoryInterface that supplies `after` by itself.

    outstanding  the receipts that are not available yet, oldest first; one that failed stays until it is dismissed
    """

    __slots__ = ("_memory", "outstanding")

    def __init__(self, memory: "MemoryInterface", checkpoint: Mapping[str, Any] | None = None) -> None:
        """`checkpoint` is what `checkpoint()` answered before. Raises ConstraintViolation, NotFoundOrNotVisible."""
        self._memory = memory
        self.outstanding: list[str] = [] if checkpoint is None else _restored(memory, checkpoint)

    def request(self, envelope: Any) -> dict[str, Any]:
        """Answer a request; a recall waits for every outstanding receipt beside the ones that it names itself.

        A mutation beyond 128 outstanding receipts is refused with ResourceExhausted before anything is written.
        """
        operation = envelope.get("operation") if isinstance(envelope, Mapping) else None
        if operation not in (*MUTATIONS, "recall"):
            return self._memory.request(envelope)
        self._prune()
        if operation in MUTATIONS:
            if len(self.outstanding) >= MOST:
                return self._refused(envelope)
            return self._account(self._memory.request(envelope))
        if isinstance(envelope.get("input"), Mapping):
            return self._memory.request(self._with_barriers(envelope))
        return self._memory.request(envelope)

    def dismiss(self, receipt_ref: str) -> None:
        """Take note that a receipt failed: recalls no longer name it. PreconditionFailed while it is recorded."""
        if self._memory.progress(receipt_ref)["phase"] == "recorded":
            raise kipql.KipError("PreconditionFailed", "this receipt is not settled yet")
        self.outstanding = [each for each in self.outstanding if each != receipt_ref]

    def checkpoint(self) -> dict[str, Any]:
        """What a restart needs, as JSON."""
        return {
            "format": _FORMAT,
            "space_id": self._memory.nexus.space_id,
            "principal": self._memory.nexus.principal.id,
            "outstanding": list(self.outstanding),
        }

    def _with_barriers(self, envelope: Mapping[str, Any]) -> dict[str, Any]:
        given = dict(envelope["input"])
        named = given.get("after", [])
        # An expansion, a page and a fixed state keep the barriers that they had.
        fixed = "target_ref" in given or "as_of_seq" in (given.get("time") or {})
        if isinstance(named, list) and not fixed and self.outstanding:
            given["after"] = [*self.outstanding, *(each for each in named if each not in self.outstanding)]
        return {**envelope, "input": given}

    def _account(self, response: dict[str, Any]) -> dict[str, Any]:
        ref = response.get("receipt", {}).get("receipt_ref")
        if ref is not None and ref not in self.outstanding:
            self.outstanding.append(ref)
        return response

    def _prune(self) -> None:
        """Let go of what is available: every recall from now on reads a state that has it."""
        self.outstanding = [ref for ref in self.outstanding if self._memory.progress(ref)["phase"] != "available"]

    def _refused(self, envelope: Any) -> dict[str, Any]:
        error = kipql.KipError(
            "ResourceExhausted",
            f"{MOST} receipts of this session are outstanding",
            hint="have them processed, and dismiss what failed",
        )
        return {**echo(envelope), "status": "failed", "error": wire_error(error)}


def _restored(memory: "MemoryInterface", checkpoint: Mapping[str, Any]) -> list[str]:
    wanted = {"format": _FORMAT, "space_id": memory.nexus.space_id, "principal": memory.nexus.principal.id}
    held = checkpoint.get("outstanding") if isinstance(checkpoint, Mapping) else None
    if not isinstance(held, list) or any(checkpoint.get(name) != value for name, value in wanted.items()):
        raise kipql.KipError("ConstraintViolation", "this is no checkpoint of a session of this memory and Principal")
    for ref in held:
        memory.progress(ref)  # an unknown, forged or foreign receipt is NotFoundOrNotVisible
    return list(held)
