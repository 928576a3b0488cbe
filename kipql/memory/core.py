"""What every part of an agent's session rests on: the memory, the session's name, its window, and its trace."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory import ledger, primitives, progress
from kipql.memory.graph import prepare, session_row, snake
from kipql.memory.guard import RepeatGuard
from kipql.memory.tokens import Estimate, estimate_text

if TYPE_CHECKING:
    from kipql import Nexus

WINDOW_TOKENS = 128_000
_REFUSALS = ("ReadonlyViolation", "NotAuthorized")


class Core:
    """The state of a session and its trace; `AgentMemory` says what the arguments are."""

    def __init__(
        self,
        nexus: "Nexus",
        *,
        session: str,
        window_tokens: int = WINDOW_TOKENS,
        pin_budget_fraction: float = 0.5,
        estimate_tokens: Estimate | None = None,
        trace: str | Path | None = None,
        cognitive_primitives: Sequence[str] = (),
        on_progress: progress.Progress | None = None,
    ) -> None:
        if not isinstance(session, str) or not session:
            raise kipql.KipError("TypeMismatch", "a session is a text that is not empty")
        prepare(nexus)
        primitives.active(cognitive_primitives)
        self.session = session
        self.window_tokens = window_tokens
        self.trace = ledger.Trace(trace, session)
        self._nexus = nexus
        self._cap = int(window_tokens * pin_budget_fraction)
        self._given_estimate = estimate_tokens
        self._count = estimate_tokens or estimate_text
        self._enabled = tuple(cognitive_primitives)
        self._guard = RepeatGuard(nexus)
        self._on_progress = on_progress

    def __repr__(self) -> str:
        return f"<AgentMemory {self.session} at turn {self.turn}>"

    @property
    def turn(self) -> int:
        """The last turn recorded, 0 before the first; pins are made in it."""
        return session_row(self._nexus, self.session).last_turn

    def _write(self, primitive: str, arguments: Any, answer: Any) -> None:
        shown = answer if isinstance(answer, dict) else answer.to_dict()
        seq = shown["snapshot_seq"]
        try:
            turn = self.turn
        except kipql.KipError:  # of a memory that is closed; the answer says so
            turn = 0
        self.trace.write(ledger.PRIMITIVE, turn, seq, primitive=primitive, args=arguments, result=shown)

    def _tell(self, event: dict[str, Any], seq: int) -> None:
        self.trace.write(ledger.COMPACTION, self.turn, seq, **event)
        if self._on_progress is not None:
            self._on_progress(event)


def refusal(error: kipql.KipError) -> str:
    """The code of an answer that nothing may be written; any other error goes on."""
    if error.code not in _REFUSALS:
        raise error
    return snake(error.code)
