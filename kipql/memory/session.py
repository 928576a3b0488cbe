"""AgentMemory: the memory of one agent session, on the public surface of kipql alone.

Everything it keeps is on the graph and readable with KQL; what it only notices (reads, progress, repeated failures)
is beside it. Tool-facing calls answer, they do not raise; the rest raises KipError.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory import ledger, pinning, primitives
from kipql.memory.answers import Pin, PinResult, RecallResult, Recorded, Seeded, UnpinResult
from kipql.memory.condensing import Condensing
from kipql.memory.core import refusal
from kipql.memory.graph import now, session_row, snake, timestamp
from kipql.memory.messages import checked
from kipql.memory.recalling import recall
from kipql.memory.recording import record, turns_of
from kipql.memory.searching import search

if TYPE_CHECKING:
    from kipql import Result


class AgentMemory(Condensing):
    """The turns, pins and summary of one session.

    nexus                an open memory; one that is read-only recalls and refuses to write
    session              the session's name; put the agent's name into it, as in "run-1/planner"
    window_tokens        the context window of the model
    pin_budget_fraction  the share of it that pins in effect may take
    estimate_tokens      tokens of a text; half a token per Han character, a quarter per other one when not given
    trace                the file of the trace; without one the last events are kept in the process
    cognitive_primitives what `tools()` offers when it is not told
    on_progress          called with the progress of a compaction

    >>> import kipql
    >>> memory = AgentMemory(kipql.open(), session="run-1/planner")
    >>> memory.record_turn(1, [{"role": "user", "content": "plan?"}]).recorded
    True
    >>> memory.recall(1).messages
    [{'role': 'user', 'content': 'plan?'}]
    """

    # turns

    def record_turn(self, turn: int, messages: Sequence[Mapping[str, Any]], *, at: datetime | None = None) -> Recorded:
        """Keep the messages of a turn word for word, as one transaction.

        turn      from 1; gaps are allowed
        messages  `{role, content, tool_calls?, tool_call_id?, ...}`, kept as they are
        at        when they were said; now when not given

        The same turn again adds what is new after the messages it has. Raises TypeMismatch for what is no message,
        ConstraintViolation for a turn below 1, ClientKeyConflict when the turn holds other messages. A memory that
        may not be written answers `recorded: False` with code readonly_violation or not_authorized.
        """
        given, moment = checked(messages), now() if at is None else timestamp(at)
        try:
            with self._nexus.transaction() as tx:
                added = record(tx, self.session, turn, given, moment, self._count)
        except kipql.KipError as error:
            seq = self._nexus.space_seq
            return Recorded(recorded=False, turn=turn, messages=0, code=refusal(error), snapshot_seq=seq)
        seq = self._nexus.space_seq
        self.trace.write(ledger.TURN, turn, seq, messages=added, roles=[message["role"] for message in given])
        return Recorded(recorded=True, turn=turn, messages=added, code="ok", snapshot_seq=seq)

    def seed_history(self, messages: Sequence[Mapping[str, Any]], *, at: datetime | None = None) -> Seeded:
        """Begin a session with a history from elsewhere, as one transaction and one event of the trace.

        Each turn begins with a user message. The same history again changes nothing; a session that holds another
        one answers `seeded: False` with code session_not_empty.
        """
        turns, moment = list(turns_of(checked(messages))), now() if at is None else timestamp(at)
        try:
            with self._nexus.transaction() as tx:
                held = session_row(tx, self.session).last_turn
                added = sum(
                    record(tx, self.session, number, turn, moment, self._count) for number, turn in enumerate(turns, 1)
                )
                if held and (added or held != len(turns)):
                    raise kipql.KipError("ClientKeyConflict", "the session holds another history")
        except kipql.KipError as error:
            code = "session_not_empty" if error.code == "ClientKeyConflict" else refusal(error)
            return Seeded(seeded=False, turns=[], messages=0, code=code, snapshot_seq=self._nexus.space_seq)
        seq, numbers = self._nexus.space_seq, list(range(1, len(turns) + 1))
        self.trace.write(ledger.SEEDED, len(turns), seq, turns=numbers, messages=added)
        return Seeded(seeded=True, turns=numbers, messages=added, code="ok", snapshot_seq=seq)

    def recall(self, turn: int, include: str = "all") -> RecallResult:
        """The messages of a turn as they were recorded; what is wrong is in `code` and `note`.

        include  "all", "assistant_only", or "tool_calls" (calls and their results)

        Never raises: arguments that do not fit are InvalidArguments.
        """
        arguments = {"turn": turn, "include": include}
        try:
            answer = recall(self._nexus, self.session, **primitives.parse_arguments("recall", arguments))
        except kipql.KipError as error:
            code, note = primitives.refusal(error)
            seq = self._nexus.space_seq
            answer = RecallResult(turn=turn, found=False, messages=[], note=note, code=code, snapshot_seq=seq)
        self._write("recall", arguments, answer)
        return answer

    # pins

    def pin(self, content: str, label: str | None = None, until_turn: int | None = None) -> PinResult:
        """Keep a text in view until a turn, or until it is unpinned.

        Refused with a reason: empty_content, pin_budget_exceeded (with the figures), until_turn_passed,
        readonly_violation, invalid_arguments; never raises. A text whose pin is in effect answers that pin, with its
        first label and last turn.
        """
        arguments = {"content": content, "label": label, "until_turn": until_turn}
        try:
            given = primitives.parse_arguments("pin", arguments)
            answer = pinning.pin(self._nexus, self.session, **given, cap=self._cap, count=self._count)
        except kipql.KipError as error:
            code, _ = primitives.refusal(error)
            answer = pinning.refused(snake(code), self._nexus.space_seq, label, until_turn)
        self._write("pin", arguments, answer)
        return answer

    def unpin(self, pin_id: str) -> UnpinResult:
        """End a pin by its `pin_id`; the element stays, so its history does. Never raises."""
        try:
            primitives.parse_arguments("unpin", {"pin_id": pin_id})
            answer = pinning.unpin(self._nexus, self.session, pin_id)
        except kipql.KipError as error:
            code, note = primitives.refusal(error)
            seq = self._nexus.space_seq
            answer = UnpinResult(unpinned=False, pin_id=pin_id, note=note, code=snake(code), snapshot_seq=seq)
        self._write("unpin", {"pin_id": pin_id}, answer)
        return answer

    def pins(self, turn: int | None = None, *, as_of_seq: int | None = None) -> list[Pin]:
        """The pins in effect now, at a turn, or as the memory stood at a sequence (then at the turn it had)."""
        return pinning.pins(self._nexus, self.session, turn, as_of_seq)

    # tools

    def tools(self, enabled: Iterable[str] | None = None, user_tools: Iterable[Any] = ()) -> list[dict[str, Any]]:
        """The specifications of the enabled primitives, `{name, description, parameters}`; `pin` brings `unpin`.

        enabled     "recall", "pin"; the session's own list when not given
        user_tools  the host's tools, as names or specifications

        Raises ValueError for a tool of the host that has the name of an enabled primitive.
        """
        return primitives.tool_specs(self._enabled if enabled is None else enabled, user_tools)

    def call(self, name: str, arguments: str | Mapping[str, Any]) -> dict[str, Any]:
        """Call a primitive as a model did, with JSON text or an object. Always a dict, never an exception."""
        understood, answer = primitives.dispatch(
            {"recall": self.recall, "pin": self.pin, "unpin": self.unpin}, name, arguments
        )
        if isinstance(answer, dict):
            answer = {**answer, "snapshot_seq": self._nexus.space_seq}
            self._write(str(name), understood, answer)
            return answer
        shown: dict[str, Any] = answer.to_dict()
        return shown

    # asking

    def query(
        self,
        text: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        limits: "kipql.Limits | None" = None,
        cancel: threading.Event | None = None,
    ) -> "Result":
        """`nexus.query` under the repeat guard: what failed three times the same way is not run again until a commit.

        Raises KipError; the fourth time it has `details.repeat` and retry class requires_different_input.
        """
        return self._guard.query(text, parameters, limits=limits, cancel=cancel)

    def search(self, text: str, threshold: float = 0.5, *, limit: int = 10) -> dict[str, Any]:
        """What was said in this session about a text: `{ok, outcome, results}`.

        With nothing at or above the threshold the outcome is "no_confident_match": neither that it was said nor that
        it was not.
        """
        return search(self._nexus, self.session, text, threshold=threshold, limit=limit)
