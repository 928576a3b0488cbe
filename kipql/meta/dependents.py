"""LIST DEPENDENTS: what was derived from an element, through the provenance of Activities (§63.5, §57.5).

`X` is among an Activity's inputs, so each of that Activity's outputs is a dependent of `X` at distance 1, and so
on up to DEPTH (1 by default), nearest first. Reachability is topology, not a verdict. The traversal reads the
authorized view: it neither shows nor passes through what the caller may not discover.
"""

from typing import TYPE_CHECKING

from kipql.errors import KipError
from kipql.lang import ast
from kipql.limits import Budget
from kipql.meta.paging import fingerprint, paged
from kipql.meta.session import MetaResult, MetaSession
from kipql.model import KINDS, element_id, kind_of, parse_id
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View


def list_dependents(statement: ast.List, session: MetaSession) -> MetaResult:
    """LIST DEPENDENTS id [DEPTH n]: rows `{id, kind, distance, via: {activity}}`; an unknown root has none.

    Raises TypeMismatch for an operand of the wrong type, ConstraintViolation for DEPTH 0.
    """
    root = session.text(statement.subject, "the root of LIST DEPENDENTS")
    depth = 1 if statement.depth is None else _depth(statement.depth, session)
    shape = fingerprint(session, statement.target, root, depth)

    def rows(seq: int) -> list[Json]:
        view, code = session.at(seq), parse_id(root)
        return [] if code is None or not view.exists(code) else dependents(view, code, depth, session.budget)

    answer = paged(session, "list", shape, rows, statement.limit, statement.cursor)
    return answer._replace(context={**answer.context, "coverage_scope": "authorized_view"})


def dependents(view: "View", root: int, depth: int, budget: Budget) -> list[Json]:
    """The dependents of an element within `depth`, each once, by distance and then by Activity."""
    found: list[Json] = []
    seen, reached = {root}, [root]
    for distance in range(1, depth + 1):
        level, reached = reached, []
        for activity, output in _derived(view, level, budget):
            if output not in seen:
                seen.add(output)
                reached.append(output)
                found.append(_row(output, distance, activity))
        if not reached:
            break
    return found


def _derived(view: "View", level: list[int], budget: Budget) -> list[tuple[int, int]]:
    """(Activity, output) of every Activity with an input among `level`, in the order they were recorded."""
    activities = sorted({activity for code in level for activity in view.referrers(code, "inputs")})
    derived = [(activity, edge.target) for activity in activities for edge in view.edges(activity, "outputs")]
    budget.spend(len(activities) + len(derived) + 1)
    return derived


def _row(code: int, distance: int, activity: int) -> dict[str, Json]:
    return {
        "id": element_id(code),
        "kind": KINDS[kind_of(code)],
        "distance": distance,
        "via": {"activity": element_id(activity)},
    }


def _depth(node: ast.Value, session: MetaSession) -> int:
    value = session.value(node)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise KipError("TypeMismatch", "DEPTH is a non-negative integer", span=node.span)
    if value == 0:
        raise KipError(
            "ConstraintViolation",
            "DEPTH 0 asks for the element itself, which is not one of its dependents",
            span=node.span,
            hint="leave DEPTH out for the nearest, or write DEPTH 2",
        )
    return value
