"""MERGE CONCEPT: two identities become one, and nothing is rewritten (§11, §61).

The source keeps its id, its values and every reference to it, and forwards to the target from now on. Each endpoint
must be exactly one visible Concept; an arbitrary pair is never merged.
"""

from kipql.errors import KipError
from kipql.lang import ast, walk
from kipql.model import CONCEPT, Concept, element_id, kind_of
from kipql.mutate import guards
from kipql.mutate.draft import Draft, Handle, Target
from kipql.mutate.inputs import Scope
from kipql.mutate.plan import Plan, code_of
from kipql.mutate.targets import solutions


def plan_merge(plan: Plan, statement: ast.MergeConcept) -> None:
    """Plan the redirection of the source to the target."""
    ends = _endpoints(plan, statement)
    if ends is None:
        return
    source, target = ends
    draft = plan.draft(source, statement.source.span)
    guards.check(plan, statement.guards, draft.base, plan.describe(source))
    if source == target or _redirected(plan, draft, target, statement):
        return
    _compatible(plan, draft, plan.draft(target, statement.into.span), statement)
    draft.assign(("merged_into",), target, statement.span)
    draft.assign(("state",), "merged", statement.span)
    plan.checks.append(lambda final: _acyclic(final, code_of(source), statement))


def _endpoints(plan: Plan, statement: ast.MergeConcept) -> tuple[Target, Target] | None:
    """Source and target, None when both are named directly and the WHERE that guards them finds nothing."""
    nodes = (statement.source, statement.into)
    where = statement.where
    bound = set() if where is None else {variable.name for variable in walk.variables(where)}
    names = [node.name for node in nodes if isinstance(node, ast.Var) and node.name in bound]
    columns = list(dict.fromkeys(names))
    rows = [] if where is None else solutions(plan, where, columns)
    if where is not None and not rows and not names:
        return None
    found = {name: {row[index] for row in rows} for index, name in enumerate(columns)}
    source, target = (
        _one(node, found[node.name]) if isinstance(node, ast.Var) and node.name in found else Scope(plan).target(node)
        for node in nodes
    )
    for end, node in ((source, statement.source), (target, statement.into)):
        if (end.kind if isinstance(end, Draft) else kind_of(end)) != CONCEPT:
            raise KipError("NotFoundOrNotVisible", "MERGE CONCEPT names two Concepts", span=node.span)
    return source, target


def _one(node: ast.Var, values: set[Handle]) -> Target:
    if not values:
        raise KipError("NotFoundOrNotVisible", f"no Concept was found for ?{node.name}", span=node.span)
    if len(values) > 1:
        raise KipError(
            "IdentityMergeConflict",
            f"?{node.name} stands for {len(values)} elements",
            span=node.span,
            hint="name one by id, or by type and key; a name is not identity (§7.2)",
        )
    (value,) = values
    if not isinstance(value, Handle):
        raise KipError("NotFoundOrNotVisible", f"?{node.name} stands for no Concept", span=node.span)
    return value.target


def _redirected(plan: Plan, draft: Draft, target: Target, statement: ast.MergeConcept) -> bool:
    """Whether the source already resolves to the target. Raises IdentityMergeConflict when it resolves elsewhere."""
    base = draft.base
    if not isinstance(base, Concept) or base.merged_into is None:
        return False
    if isinstance(target, int) and plan.view.canonical(target) == plan.view.canonical(code_of(draft)):
        return True
    message = f"{draft.name} was merged into {element_id(base.merged_into)} before"
    raise KipError("IdentityMergeConflict", message, span=statement.source.span)


def _compatible(plan: Plan, source: Draft, target: Draft, statement: ast.MergeConcept) -> None:
    """Both ends must be of one Concept Type lineage and still stand (§20.14, §61)."""
    for end, node in ((source, statement.source), (target, statement.into)):
        if end.base is not None and end.base.state in ("tombstoned", "purged"):
            message = f"{end.name} is {end.base.state} and can not be merged"
            raise KipError("IdentityMergeConflict", message, span=node.span)
    if plan.lineage(_type(source)) != plan.lineage(_type(target)):
        message = f"{source.name} and {target.name} are of different Concept Types"
        raise KipError("IdentityMergeConflict", message, span=statement.span)


def _type(draft: Draft) -> str:
    return draft.base.schema if isinstance(draft.base, Concept) else str(draft.value("fields", "schema"))


def _acyclic(plan: Plan, source: int, statement: ast.MergeConcept) -> None:
    """Raise IdentityMergeConflict when following `merged_into` comes back to the source (§11.1)."""
    view = plan.tx.view
    seen = {source}
    record = view.record(source)
    while isinstance(record, Concept) and record.merged_into is not None:
        if record.merged_into in seen:
            message = f"{element_id(source)} would resolve to itself"
            raise KipError("IdentityMergeConflict", message, span=statement.span)
        seen.add(record.merged_into)
        record = view.record(record.merged_into)
