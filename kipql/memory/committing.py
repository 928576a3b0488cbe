"""Committing a compaction: the summary, what it concludes, and where it comes from, as one transaction or not at all.

The WorkingState gets the summary and the sequence the plan was made at; an Activity records the condensed turns as
its inputs and pins the Evidence at the versions that were read. The turns leave the live window; their messages stay.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import kipql
from kipql.memory.block import Block
from kipql.memory.graph import now, session_row
from kipql.memory.names import actor_key, state_key
from kipql.memory.window import Live, WindowPlan, read_state, read_window

if TYPE_CHECKING:
    from kipql import Nexus, Transaction

SHORTEST_SUMMARY = 30
PER_GROUP = 500

_STATE = """UPSERT CONCEPT ?state {
    MATCH {type: "kip://profiles/cognitive-memory/WorkingState", key: :state_key}
    SET ATTRIBUTES {summary: :summary, basis_seq: :basis_seq, refreshed_at: :now, session: :session,
      through_turn: :through_turn, in_window: true}
  }"""
_ACTIVITY = """CREATE ACTIVITY ?compaction {
    SET FIELDS {activity_class: "context_compaction", status: "completed", started_at: :started, ended_at: :now}
    SET FACET "kip://profiles/cognitive-memory/DependencyBasis" {
      basis_seq: :basis_seq, groups: :groups, policy_basis: :basis
    }
    SET STRUCTURAL { %s }
  }"""
_ACTOR = """UPSERT CONCEPT ?agent {
    MATCH {type: "kip://profiles/cognitive-memory/Person", key: :actor_key}
    SET ATTRIBUTES {description: :actor}
  }"""
_BASIS = 'FIND(?belief.status) WHERE { ?belief BELIEF (:subject, "kip://kipql/agent/noted", "") }'


def usable(summary: object) -> bool:
    """Whether a summary may stand for turns: a text of at least 30 characters."""
    return isinstance(summary, str) and len(summary.strip()) >= SHORTEST_SUMMARY


def commit(nexus: "Nexus", plan: WindowPlan, summary: str | None, facts: Sequence[Any], started: str) -> dict[str, Any]:
    """`{committed: True, reason: "ok", basis_seq, space_seq, turns, facts}`, or `{committed: False, reason}`.

    The reasons are the plan's when it was not triggered, summary_unusable, and plan_outdated when a turn of its
    middle changed, was condensed or left the window since. Raises KipError for facts that do not fit the schema.
    """
    if not plan.triggered:
        return _not(plan.reason)
    if not usable(summary):
        return _not("summary_unusable")
    with nexus.transaction() as tx:
        if not _current(tx, plan):
            return _not("plan_outdated")
        block, written = _block(tx, plan, str(summary), facts, started)
        receipt = tx.execute(block.text, block.parameters)
        assert isinstance(receipt, kipql.Receipt)
        ids = [receipt.handles[handle] for handle in written]
    seq = tx.receipt.space_seq if tx.receipt is not None else nexus.space_seq
    held = {"basis_seq": plan.basis_seq, "space_seq": seq, "turns": list(plan.turns), "facts": ids}
    return {"committed": True, "reason": "ok", **held}


def _not(reason: str) -> dict[str, Any]:
    return {"committed": False, "reason": reason}


def _current(tx: "Transaction", plan: WindowPlan) -> bool:
    """Whether the turns of the middle are in the window as the plan saw them."""
    chosen = set(plan.turns)
    return _of(read_window(tx, plan.session), chosen) == _of(plan.live, chosen)


def _of(live: Sequence[Live], turns: set[int]) -> list[Live]:
    return [each for each in live if each.turn in turns]


def _block(
    tx: "Transaction", plan: WindowPlan, summary: str, facts: Sequence[Any], started: str
) -> tuple[Block, list[str]]:
    """The statement of a compaction, and the handles of its facts."""
    middle, previous = _of(plan.live, set(plan.turns)), read_state(tx, plan.session)
    session = session_row(tx, plan.session).id
    block = Block(
        state_key=state_key(plan.session),
        session=plan.session,
        summary=summary,
        basis_seq=plan.basis_seq,
        through_turn=max(*plan.turns, 0 if previous is None else previous.through_turn),
        now=now(),
        started=started,
        groups=_groups(middle),
        basis=dict(tx.query(_BASIS, {"subject": session}).basis or {}),
    )
    block.add(_STATE)
    sources = dict.fromkeys(each.turn_id for each in middle)
    if previous is not None:
        sources[previous.id] = None
    for number, turn_id in enumerate(dict.fromkeys(each.turn_id for each in middle)):
        block.add(f"UPDATE :turn{number} SET ATTRIBUTES {{in_window: false}}", **{f"turn{number}": turn_id})
    edges = [_edge(block, "inputs", source) for source in sources] + ['("outputs", ?state)']
    if facts:
        block.add(_ACTOR, actor_key=actor_key(plan.session), actor=f"the agent of session {plan.session}")
    written = [_fact(block, number, fact, middle, session) for number, fact in enumerate(facts)]
    block.add(_ACTIVITY % " ".join([*edges, *(f'("outputs", ?{handle})' for handle in written)]))
    return block, written


def _edge(block: Block, field: str, target: str) -> str:
    """One structural entry whose target is a parameter."""
    name = f"to{len(block.parameters)}"
    block.parameters[name] = target
    return f'("{field}", :{name})'


def _groups(middle: Sequence[Live]) -> list[dict[str, Any]]:
    """The Evidence of the middle at the versions that were read."""
    pins = [{"id": each.evidence_id, "version": each.evidence_version} for each in middle]
    return [{"role": "all_of", "pins": pins[first : first + PER_GROUP]} for first in range(0, len(pins), PER_GROUP)]


def _fact(block: Block, number: int, fact: Any, middle: Sequence[Live], session: str | None) -> str:
    """The claim of one fact, inferred from the Evidence of its turns; its handle."""
    given = {"object": fact} if isinstance(fact, str) else fact
    if isinstance(fact, (tuple, list)) and len(fact) == 3:
        given = dict(zip(("subject", "predicate", "object"), fact, strict=True))
    if not isinstance(given, Mapping) or "object" not in given:
        hint = 'a text, or {"subject", "predicate", "object", "turns"}'
        raise kipql.KipError("TypeMismatch", f"fact {number} has no object", hint=hint)
    turns = set(given.get("turns") or (each.turn for each in middle))
    cited = [each.evidence_id for each in middle if each.turn in turns]
    if not cited:
        raise kipql.KipError(
            "TypeMismatch", f"fact {number} cites no turn of the middle", details={"turns": list(turns)}
        )
    handle = f"fact{number}"
    block.add(
        f"ASSERT ?{handle} (:s{number}, :p{number}, :o{number}) "
        f'{{by: ?agent, mode: "inferred", evidence: :e{number}, at: :now}}',
        **{
            f"s{number}": given.get("subject", session),
            f"p{number}": given.get("predicate", "kip://kipql/agent/noted"),
            f"o{number}": given["object"],
            f"e{number}": cited,
        },
    )
    return handle
