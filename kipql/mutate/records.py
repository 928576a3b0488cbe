"""CREATE EVIDENCE, CREATE ASSERTION and CREATE ACTIVITY (§56): one body, a client key and the record's own fields."""

from kipql.lang import ast
from kipql.model import KIND_OF_NAME
from kipql.mutate import actions, fields
from kipql.mutate.draft import Draft, Target
from kipql.mutate.inputs import Scope, text
from kipql.mutate.plan import Plan


def make(plan: Plan, statement: ast.CreateRecord) -> Target:
    """The record that a CREATE stands for."""
    scope = Scope(plan)
    key = statement.client_key
    client_key = None if key is None else text(scope.evaluate(key), "CLIENT KEY", key)
    return plan.opened(statement, KIND_OF_NAME[statement.kind], client_key)


def fill(plan: Plan, statement: ast.CreateRecord, draft: Draft) -> None:
    """Plan what a CREATE assigns."""
    actions.plan(Scope(plan), draft, statement.actions)
    fields.require(draft)
