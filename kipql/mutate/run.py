"""One KML statement against a Transaction (§51-§61).

Read, plan, apply: every WHERE reads the start view, the whole plan must stand before anything is written, and a
statement that fails leaves the Transaction exactly as it found it.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kipql.lang import ast
from kipql.limits import exhausted
from kipql.model import element_id
from kipql.mutate import (
    assertion,
    concept,
    direct,
    merge,
    proposition,
    purge,
    records,
    retention,
    transition,
    update,
)
from kipql.mutate.apply import apply
from kipql.mutate.context import Outcome, WriteContext
from kipql.mutate.define import define
from kipql.mutate.draft import Target
from kipql.mutate.plan import Maker, Plan, code_of
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store import Transaction

_MAKERS: Mapping[type, Maker] = {
    ast.CreateConcept: concept.make,
    ast.UpsertConcept: concept.resolve,
    ast.CreateRecord: records.make,
    ast.EnsureProposition: proposition.resolve,
    ast.Assert: assertion.make,
}
_MOVES: Mapping[type, Callable[[Plan, Any], None]] = {
    ast.Update: update.plan_update,
    ast.Transition: transition.plan_transition,
    ast.SetRetention: retention.plan_retention,
    ast.Purge: purge.plan_purge,
    ast.MergeConcept: merge.plan_merge,
}


def run(statement: ast.Kml, tx: "Transaction", parameters: Mapping[str, Json], write: WriteContext) -> Outcome:
    """Apply one statement to a Transaction.

    parameters   bound values (`kipql.plan.parameters.bind`)
    write        the facts of this Transaction; the same one for all its statements

    Raises KipError with the span of what is wrong, and leaves `tx` as before. Answers the ids of the handles.
    `finish` must follow before the Transaction is sealed.
    """
    write.budget.check()
    write.statements += 1
    if isinstance(statement, ast.Define):
        return define(statement, tx, parameters, write)
    if (
        type(statement) is ast.Assert
        and write.seen is None
        and (outcome := direct.assert_(statement, tx, parameters)) is not None
    ):
        return outcome
    if (
        type(statement) is ast.Mutate
        and write.seen is None
        and len(statement.statements) <= write.budget.limits.statements
        and (outcome := direct.mutate(statement, tx, parameters, write)) is not None
    ):
        return outcome
    mark = tx.savepoint()
    try:
        clauses = statement.statements if isinstance(statement, ast.Mutate) else (statement,)
        if len(clauses) > (most := write.budget.limits.statements):
            exhausted("statements", most, f"the MUTATE has {len(clauses)} statements")
        plan = Plan(tx, parameters, write, _MAKERS)
        compose(plan, clauses)
        apply(plan)
    except BaseException:
        tx.restore(mark)
        raise
    return Outcome({name: element_id(code_of(target)) for name, target in plan.outputs()})


def compose(plan: Plan, clauses: tuple[ast.Mutation, ...]) -> None:
    """Plan every clause: first what each makes, then what it assigns, then what moves what is there."""
    making = [clause for clause in clauses if type(clause) in _MAKERS]
    for clause in making:
        plan.declare(clause, handle_of(clause))
    plan.write.budget.spend(len(clauses))
    targets = [plan.make(clause) for clause in making]
    for clause, target in zip(making, targets, strict=True):
        fill(plan, clause, target)
        plan.attribute(target)
    for clause in clauses:
        if (move := _MOVES.get(type(clause))) is not None:
            move(plan, clause)
    for clause, target in zip(making, targets, strict=True):
        if isinstance(clause, ast.Assert):
            assertion.supersede(plan, clause, target)


def fill(plan: Plan, clause: ast.Mutation, target: Target) -> None:
    """Plan what a creating clause assigns, and keep it apart as the content of that creation."""
    if isinstance(clause, ast.UpsertConcept):
        concept.fill_upsert(plan, clause, target)
        return
    if isinstance(clause, ast.EnsureProposition):
        return
    draft = plan.contents[id(clause)]
    match clause:
        case ast.CreateConcept():
            concept.fill(plan, clause, draft)
            if draft is target:
                concept.claim_key(plan, draft)
        case ast.CreateRecord():
            records.fill(plan, clause, draft)
        case ast.Assert():
            assertion.fill(plan, clause, draft)
    draft.created = dict(draft.assigned)


def handle_of(clause: ast.Mutation) -> ast.Var | None:
    """The handle that a creating clause declares."""
    match clause:
        case ast.CreateConcept() | ast.UpsertConcept() | ast.CreateRecord() | ast.EnsureProposition() | ast.Assert():
            return clause.handle
        case _:
            return None
