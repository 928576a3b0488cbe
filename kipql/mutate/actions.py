"""SET and UNSET: from action clauses to planned assignments (§58.3).

SET merges by key: a key given replaces the whole old value, a key omitted keeps it; null is a value. UNSET removes.
A numeric expression over a missing operand plans nothing for its key (§59).
"""

from collections.abc import Iterable
from typing import Any

from kipql.errors import KipError
from kipql.lang import ast
from kipql.mutate import fields, structural
from kipql.mutate.context import placed
from kipql.mutate.draft import REMOVED, Draft
from kipql.mutate.inputs import SKIPPED, Scope, text
from kipql.schema.definitions import FacetDefinition


def plan(scope: Scope, draft: Draft, actions: Iterable[ast.Action]) -> None:
    """Plan every action on one element. The kind's own rules are the caller's (`update`, `records`)."""
    for action in actions:
        match action:
            case ast.SetFields(values=values):
                for member in values.members:
                    fields.assign(scope, draft, member.name, scope.evaluate(member.value), member.value)
            case ast.SetAttributes(values=values):
                _assign(scope, draft, ("attributes",), values)
            case ast.SetFacet(facet=facet, values=values):
                _assign(scope, draft, ("facets", facet_ref(scope, facet)), values)
            case ast.SetStructural(entries=entries):
                for entry in entries:
                    structural.assign(scope, draft, entry)
            case ast.UnsetAttributes(names=names):
                _remove(draft, ("attributes",), names, action)
            case ast.UnsetFacet(facet=facet, names=names):
                ref = facet_ref(scope, facet)
                _refuse_computed(scope.plan.environment.facet(ref), names, action)
                _remove(draft, ("facets", ref), names, action)
            case ast.UnsetStructural(entries=entries):
                for entry in entries:
                    structural.remove(scope, draft, entry)


def facet_ref(scope: Scope, node: ast.Value) -> str:
    """The exact ref of the Facet that a symbol names."""
    name = text(scope.evaluate(node), "a Facet", node)
    try:
        return scope.plan.environment.facet(name).ref
    except KipError as error:
        raise placed(error, node.span) from None


def _assign(scope: Scope, draft: Draft, prefix: tuple[Any, ...], values: ast.Object) -> None:
    for member in values.members:
        value = scope.evaluate(member.value)
        if value is not SKIPPED:
            draft.assign((*prefix, member.name), value, member.value.span)


def _refuse_computed(facet: FacetDefinition, names: Iterable[str], node: ast.Node) -> None:
    """A computed member is not there to be removed: writing it fails, whatever it says (§18.2)."""
    for name in names:
        field = facet.fields.get(name)
        if facet.computed or (field is not None and field.computed):
            message = f"{facet.local_name}.{name} is computed and can not be written"
            raise KipError("ConstraintViolation", message, span=node.span)


def _remove(draft: Draft, prefix: tuple[Any, ...], names: Iterable[str], node: ast.Node) -> None:
    for name in names:
        draft.assign((*prefix, name), REMOVED, node.span)
