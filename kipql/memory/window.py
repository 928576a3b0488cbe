"""The live window: the messages that a model would be shown now, and the plan to condense it.

In it are the turns that no compaction condensed and no reset took out. A plan made from it knows the sequence it read
and the turns that lie wholly in its middle; only whole turns are condensed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from kipql.memory.compaction import Plan, plan_compaction, prune_tool_results, sanitize_pairs
from kipql.memory.graph import Reader, Row, found, rows
from kipql.memory.messages import shown
from kipql.memory.names import state_key
from kipql.memory.queries import query

if TYPE_CHECKING:
    from kipql import Nexus, Transaction


@dataclass(frozen=True, slots=True)
class Live:
    """One message of the window, with the elements it comes from at the versions that were read."""

    turn: int
    index: int
    message: dict[str, Any]
    turn_id: str
    turn_version: int
    evidence_id: str
    evidence_version: int

    @property
    def redacted(self) -> bool:
        """Whether the message was erased or may not be seen."""
        return set(self.message) == {"role", "redacted"}


@dataclass(frozen=True, slots=True)
class State:
    """The rolling summary of a session."""

    id: str
    version: int
    summary: str
    basis_seq: int
    through_turn: int
    in_window: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPlan(Plan):
    """A plan for the live window of a session.

    basis_seq  the head it was made at
    turns      the turns wholly in the middle, which a commit condenses
    live       the window it was made from
    previous   the summary so far, None before the first
    """

    session: str
    basis_seq: int
    turns: list[int]
    live: tuple[Live, ...]
    previous: State | None

    def middle_messages(self) -> list[Mapping[str, Any]]:
        """What a summary has to stand for: the messages of `turns`, long old tool results pruned, pairs whole."""
        chosen = set(self.turns)
        return sanitize_pairs(
            prune_tool_results([each.message for each in self.live if each.turn in chosen], keep_last=0)
        )

    def to_dict(self) -> dict[str, Any]:
        """The plan without the messages themselves."""
        shown = {field.name: getattr(self, field.name) for field in fields(Plan)}
        own = {"session": self.session, "basis_seq": self.basis_seq, "turns": self.turns}
        return {**{name: list(value) if isinstance(value, tuple) else value for name, value in shown.items()}, **own}


def read_window(reader: Reader, session: str) -> list[Live]:
    """The live window, oldest message first."""
    return [_live(row) for row in rows(reader, "live_window", {"session": session})]


def read_state(reader: Reader, session: str) -> State | None:
    """The rolling summary, or None before the first compaction."""
    states = rows(reader, "working_state", {"state_key": state_key(session)})
    if not states:
        return None
    identity, version, summary, basis_seq, through, in_window = states[0]
    return State(identity, version, summary, basis_seq, through or 0, bool(in_window))


def plan_window(nexus: "Nexus", session: str, **settings: Any) -> WindowPlan:
    """The plan for the live window as it is now; see `plan_compaction` for the settings."""
    result = found(nexus, "live_window", {"session": session})
    live = tuple(_live(row) for row in result.rows) if result else ()
    seq: int = result.context["snapshot_seq"] if result else nexus.space_seq
    previous = read_state(nexus, session)
    summary = previous.summary if previous is not None and previous.in_window else ""
    system = "\n".join(text for text in (settings.pop("system", ""), summary) if text)
    plan = plan_compaction([each.message for each in live], system=system, **settings)
    turns = whole_turns(live, plan.middle) if plan.triggered else []
    held = {field.name: getattr(plan, field.name) for field in fields(Plan)}
    if plan.triggered and not turns:
        held |= {"triggered": False, "reason": "no_compactable_window"}
    return WindowPlan(**held, session=session, basis_seq=seq, turns=turns, live=live, previous=previous)


def whole_turns(live: Sequence[Live], middle: tuple[int, int]) -> list[int]:
    """The turns all of whose messages are between two indices."""
    start, end = middle
    outside = {each.turn for at, each in enumerate(live) if not start <= at < end}
    return sorted({each.turn for each in live[start:end]} - outside)


def leave_window(tx: "Transaction", session: str) -> None:
    """Take every turn and the summary out of the live window."""
    elements = list(rows(tx, "live_turns", {"session": session}))
    state = read_state(tx, session)
    for element in [*elements, *([state.id] if state is not None else [])]:
        tx.execute(query("leave_window"), {"element": element})


def _live(row: Row) -> Live:
    turn, turn_id, turn_version, index, evidence_id, evidence_version, evidence, payload = row
    return Live(turn, index, shown(evidence, payload), turn_id, turn_version, evidence_id, evidence_version)
