"""Selections that a derivation relied on: captured once, made anew at every read of it (specification §57.7).

A selector is an Evidence whose payload is the query, its parameters and the basis it was read on. It is run again at
the read basis at hand, under the caller's view, charged to the read that asked; what can not be proven there has no
selection, and what rests on it is `unverifiable`. A selection that leads to itself is no proof of anything.

Of beliefs the judgement counts, not what it was made of: the status of each, and what a slot accepts.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kipql.belief.dependency import Selected
from kipql.errors import KipError
from kipql.govern.reads import needs
from kipql.lang import ast, parse
from kipql.limits import Budget
from kipql.model import EVIDENCE, Evidence, kind_of, parse_id
from kipql.plan.parameters import bind
from kipql.times import parse_instant
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.exec.reading import Projections
    from kipql.exec.rows import Rows
    from kipql.store.view import View

EXPECTATIONS = ("snapshot", "accepted", "empty", "complete")
EVIDENCE_CLASS = "kipql:selector"
_DEEPEST = 8  # selections that rest on selections
_BELIEVING = (ast.BeliefPattern, ast.BeliefSlotPattern)
_SPENT = ("ResourceExhausted", "ExecutionTimeout")

Mark = tuple[str, str, str, tuple[str, ...]]
"""One selection under one policy and context."""


@dataclass(frozen=True, slots=True)
class Selector:
    """A query that is asked again: its kind, its tree, its parameters."""

    kind: str
    find: ast.Find
    parameters: Mapping[str, Json]

    @classmethod
    def of(cls, kind: str | None, text: str, parameters: Mapping[str, object]) -> "Selector":
        """Raises ConstraintViolation for a query that does not say the present, one of a past or of a page, and for one
        of another kind than the one that is given."""
        find = parse(text)
        if not isinstance(find, ast.Find):
            raise KipError("ConstraintViolation", "a selector is a FIND")
        if find.as_of is not None or find.cursor is not None or find.limit is not None:
            raise KipError(
                "ConstraintViolation",
                "a selector selects all there is at the read that asks",
                hint="leave out AS OF SEQ, LIMIT and CURSOR",
            )
        found = kind_of_query(find)
        if kind not in (None, found):
            raise KipError("ConstraintViolation", f"this query is no selector of the kind {kind!r}")
        return cls(found, find, bind(find, parameters))


def kind_of_query(find: ast.Find) -> str:
    """The kind of selector that a query is."""
    clauses = list(_judged(find).values())
    slots = all(isinstance(clause, ast.BeliefSlotPattern) for clause in clauses)
    return "query" if not clauses else "slot" if slots else "belief"


def _judged(find: ast.Find) -> dict[str, ast.Node]:
    """The belief variables of a query, with their patterns."""
    from kipql.lang import walk

    return {node.var.name: node for node in walk.iterate(find.where) if isinstance(node, _BELIEVING)}


def selected(
    selector: Selector, view: "View", projections: "Projections", budget: Budget, epistemic: ast.Object | None = None
) -> tuple[Selected, dict[str, Json] | None]:
    """A selection, and the ProjectionBasis of the beliefs in it.

    epistemic  WITH EPISTEMIC, where the selector has none of its own

    Raises what a query raises.
    """
    judged = _judged(selector.find)
    find = replace(
        selector.find,
        items=_items(selector.find, judged),
        epistemic=selector.find.epistemic or epistemic,
        order_by=() if judged else selector.find.order_by,
    )
    ask = projections.ask or _ask
    rows = ask(find, view, selector.parameters, budget, projections)
    values: list[Any] = [[row] for row in rows.rows] if len(rows.columns) == 1 else [list(row) for row in rows.rows]
    statuses = [row[at] for row in values for at in _statuses(find, judged)]
    basis: Any = rows.context.get("basis")
    until = None if basis is None else basis["next_invalid_at"]
    found = Selected(
        digest_of(values, ordered=bool(find.order_by)),
        bool(statuses) and all(status == "accepted" for status in statuses),
        not values,
        None if until is None else parse_instant(until),
    )
    return found, basis


def _ask(
    find: ast.Find, view: "View", parameters: Mapping[str, Json], budget: Budget, projections: "Projections"
) -> "Rows":
    """A query over a store's view."""
    from kipql.exec.prepared import prepare_find

    return prepare_find(find, view.environment).run(view, parameters, budget, projections=projections)


def digest_of(rows: list[Any], *, ordered: bool) -> str:
    """The digest of rows; without ORDER BY they have no order."""
    import rfc8785

    written = [rfc8785.dumps(row) for row in rows]
    content = b"\n".join(written if ordered else sorted(written))
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _items(find: ast.Find, judged: Mapping[str, ast.Node]) -> tuple[ast.Expression, ...]:
    """What is selected: the items as written, of beliefs their judgement."""

    def about(item: ast.Expression) -> str | None:
        name = item.name if isinstance(item, ast.Var) else item.var.name if isinstance(item, ast.Path) else None
        return name if name in judged else None

    found = [item for item in find.items if about(item) is None]
    for name, clause in judged.items():
        members = ("status", "accepted_values") if isinstance(clause, ast.BeliefSlotPattern) else ("status",)
        var = ast.Var(name, span=find.span)
        found += [ast.Path(var, (member,), span=find.span) for member in members]
    return tuple(found)


def _statuses(find: ast.Find, judged: Mapping[str, ast.Node]) -> list[int]:
    return [
        at
        for at, item in enumerate(find.items)
        if isinstance(item, ast.Path) and item.var.name in judged and item.steps == ("status",)
    ]


class Selections:
    """Makes the selections of one read again, each once. `budget` is of the read."""

    __slots__ = ("_budget", "_known", "_projections", "_valid_at", "_view")

    def __init__(self, view: "View", projections: "Projections", valid_at: int, budget: Callable[[], Budget]) -> None:
        self._view = view
        self._projections = projections
        self._valid_at = valid_at
        self._budget = budget
        self._known: dict[Mark, Selected | None] = {}

    def __call__(self, query: Mapping[str, Any], policy_basis: Mapping[str, Any]) -> Selected | None:
        """What a QueryDependency selects now; None when that can not be proven to this caller."""
        policy, context = policy_basis["policy"]["id"], tuple(policy_basis["context_refs"])
        mark = (query["kind"], query["selector"]["content_digest"], policy, context)
        above = self._projections.above
        if mark in above or len(above) >= _DEEPEST:
            return None
        if query["authorization_view"] != self._projections.authorization_view != "full":
            return None  # it was complete for somebody who may have seen more
        if mark not in self._known:
            self._known[mark] = self._made(query, policy_basis, above | {mark})
        return self._known[mark]

    def _made(
        self, query: Mapping[str, Any], policy_basis: Mapping[str, Any], above: frozenset[Mark]
    ) -> Selected | None:
        artifact = self._artifact(query["selector"])
        if artifact is None:
            return None
        try:
            selector = Selector.of(query["kind"], artifact["query"], artifact.get("parameters", {}))
            epistemic = _epistemic(artifact.get("basis") or policy_basis, selector.find)
        except KipError:
            return None  # anybody can write Evidence; this is no selector
        if not all(map(self._projections.holds, needs(selector.find))):
            return None
        budget, valid_at = self._budget(), self._valid_at
        inner = replace(self._projections, above=above, budget=budget, clock=lambda: valid_at)
        try:
            return selected(selector, self._view, inner, budget, epistemic)[0]
        except KipError as error:
            if error.code in _SPENT:
                raise
            return None  # a symbol, a policy or a context that is not there any more

    def _artifact(self, pin: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The selector that a pin names, as long as it is what was pinned."""
        code = parse_id(pin["artifact_ref"])
        if code is None or kind_of(code) != EVIDENCE or not self._view.exists(code):
            return None
        record = self._view.record(code)
        assert isinstance(record, Evidence)
        if record.status != "active" or record.quarantined or record.content_digest != pin["content_digest"]:
            return None
        payload = record.payload.get("inline") if isinstance(record.payload, Mapping) else None
        return payload if isinstance(payload, Mapping) and isinstance(payload.get("query"), str) else None


def _epistemic(basis: Any, find: ast.Find) -> ast.Object:
    """The policy, context, purpose and risk that it was selected under, as WITH EPISTEMIC. Raises TypeMismatch for what
    is no ProjectionBasis."""

    def literal(value: Any) -> ast.Literal:
        if not isinstance(value, str):
            raise KipError("TypeMismatch", "a ProjectionBasis names its policy, context, purpose and risk by strings")
        return ast.Literal(value, span=find.span)

    def member(of: Any, name: str) -> Any:
        return of.get(name) if isinstance(of, Mapping) else None

    references = member(basis, "context_refs")
    context = references if isinstance(references, list | tuple) else (references,)
    given: dict[str, ast.Expression] = {
        "policy": literal(member(member(basis, "policy"), "id")),
        "purpose": literal(member(basis, "purpose")),
        "risk": literal(member(basis, "risk")),
        "context_refs": ast.Array(tuple(map(literal, context)), span=find.span),
    }
    return ast.Object(tuple(ast.Member(name, value, span=find.span) for name, value in given.items()), span=find.span)
