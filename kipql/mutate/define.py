"""DEFINE: one more symbol in the draft vocabulary of the Space (§20.16).

It only adds, it makes no element, and it is a transaction of its own: a `schema` control change that advances the
environment version. Parameters are bound before anything is checked.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.lang import ast
from kipql.mutate.context import Outcome, WriteContext, placed
from kipql.mutate.draft import Handle
from kipql.mutate.inputs import Scope
from kipql.mutate.plan import Plan
from kipql.schema import draft
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store import Transaction


def define(statement: ast.Define, tx: "Transaction", parameters: Mapping[str, Json], write: WriteContext) -> Outcome:
    """Add the symbol, and answer its exact ref.

    Raises InvalidSyntax beside other writes, and what `kipql.schema.draft.define` raises.
    """
    if tx.controls or tx.created or write.touched:
        raise KipError("InvalidSyntax", "a DEFINE is a transaction of its own (§20.16)", span=statement.span)
    scope = Scope(Plan(tx, parameters, write, {}))
    name = _plain(scope.evaluate(statement.name), statement.name)
    definition = _plain(scope.evaluate(statement.definition), statement.definition)
    try:
        added = draft.addition(tx.view.environment, statement.kind, name, definition)
    except KipError as error:
        raise placed(error, statement.span) from None
    version = tx.control("schema", {"define": [[added.group, added.name, dict(added.definition)]]})
    return Outcome(
        result={"ref": added.ref, "kind": statement.kind, "schema_environment_version": int(version)},
    )


def _plain(value: Any, node: ast.Node) -> Json:
    if isinstance(value, Handle):
        raise KipError("TypeMismatch", "a definition holds no element", span=node.span)
    return value
