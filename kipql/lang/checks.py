"""Rules that the text alone decides and the grammar does not say: InvalidSyntax with a span.

Patterns that are legal only in some places come in as `marks`, in the order in which they end; the rest is
looked up in the statement. No schema, no parameters, no store: what a parameter may change is checked where
parameters are bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from kipql.errors import KipError
from kipql.lang import ast, words
from kipql.spans import Span

# What no command can name in SET FIELDS (§30, §58.1), with the clause that is meant, if there is one.
PROTECTED: Mapping[str, str | None] = {
    "_system": None,
    "governance": None,
    "id": None,
    "kind": None,
    "space_id": None,
    "merged_into": "MERGE CONCEPT ... INTO ...",
    "lifecycle": "TRANSITION ... TO ...",
    "retention": "SET RETENTION ...",
    "attributes": "SET ATTRIBUTES {...}",
    "facets": 'SET FACET "..." {...}',
    "structural": "SET STRUCTURAL {...}",
}

# What an UPDATE or UPSERT can not name besides (§13.7, §12.5, §58.1): history is corrected, never edited.
_EPISTEMIC = "a new Assertion: ASSERT ... SUPERSEDING ..."
_TUPLE = "another Proposition: ENSURE PROPOSITION (...)"
HISTORICAL: Mapping[str, str] = {
    **dict.fromkeys(
        ("proposition", "asserted_by", "stance", "mode", "confidence", "asserted_at", "valid_time", "context_refs"),
        _EPISTEMIC,
    ),
    "evidence": _EPISTEMIC,
    **dict.fromkeys(("subject", "predicate", "predicate_ref", "object"), _TUPLE),
}

ASSERT_MEMBERS = ("by", "mode", "stance", "confidence", "at", "valid", "context", "evidence", "key")
SUCCEEDED = frozenset({"superseded", "corrected"})
ACTIVITY_STATES = frozenset({"running", "completed", "failed", "cancelled"})
SEARCH_MODES = ("keyword", "semantic", "hybrid")
PRIMER_MODES = ("compact", "full")


def check(statements: Sequence[ast.Statement], marks: Sequence[ast.Node]) -> None:
    """Raise InvalidSyntax (or DuplicateLocalHandle) for the first rule that a statement breaks."""
    at = 0
    for statement in statements:
        begin = at
        while at < len(marks) and marks[at].span.start < statement.span.end:
            at += 1
        if at > begin:
            _places(statement, marks[begin:at])
        rule = _RULES.get(type(statement))
        if rule is not None:
            rule(statement)


def _refuse(message: str, span: Span, hint: str | None = None) -> NoReturn:
    raise KipError("InvalidSyntax", message, span=span, hint=hint)


# --- where patterns may stand (§43.8, §45, §46, §58.4, §63.4) -------------------------------------------


def _places(statement: ast.Statement, marks: Sequence[ast.Node]) -> None:
    if isinstance(statement, ast.Find):
        negated = [mark.span for mark in marks if isinstance(mark, ast.Not)]
        for mark in marks:
            if isinstance(mark, ast.SearchPattern) and any(_inside(mark.span, span) for span in negated):
                _refuse("SEARCH inside NOT: a search that finds nothing proves no absence", mark.span)
        for mark in marks:
            _mode(mark)
        return
    place = "the WHERE of an EXPORT" if isinstance(statement, ast.ExportCapsule) else "a mutation"
    for mark in marks:
        if isinstance(mark, ast.BeliefPattern | ast.BeliefSlotPattern):
            _refuse(f"BELIEF is not allowed in {place}", mark.span, "read the belief first, with FIND")
        if isinstance(mark, ast.SearchPattern):
            _refuse(
                f"SEARCH is not allowed in {place}", mark.span, "search first, with FIND or SEARCH, and use the ids"
            )
        if isinstance(mark, ast.PredicatePath):
            _refuse(f"a Predicate in {place} is exact: no quantifier, no alternative", mark.span)


def _inside(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _mode(mark: ast.Node) -> None:
    if isinstance(mark, ast.SearchPattern):
        _one_of(mark.mode, SEARCH_MODES, "mode")


def _one_of(value: ast.Value | None, allowed: tuple[str, ...], what: str) -> None:
    """A literal must be one of `allowed`; a parameter is looked at when it is bound."""
    if isinstance(value, ast.Literal) and value.value not in allowed:
        quoted = [f'"{name}"' for name in allowed]
        _refuse(f"the {what} is {words.listed(quoted)}", value.span)


# --- KML ------------------------------------------------------------------------------------------------


def _fields(actions: Sequence[ast.Action], *, edits: bool) -> None:
    """SET FIELDS names nothing protected, and an edit nothing historical."""
    for action in actions:
        if not isinstance(action, ast.SetFields):
            continue
        for member in action.values.members:
            if member.name in PROTECTED:
                clause = PROTECTED[member.name]
                hint = f"use {clause}" if clause else "it belongs to the engine"
                _refuse(f"SET FIELDS can not name {member.name}", member.span, hint)
            if edits and member.name in HISTORICAL:
                _refuse(f"{member.name} is never edited in place", member.span, f"write {HISTORICAL[member.name]}")


def _guards(guards: Sequence[ast.ExpectVersion]) -> None:
    """One guard for each plane (§35.1)."""
    seen: set[tuple[str | None, str | None, object]] = set()
    for guard in guards:
        facet = guard.facet
        name = None if facet is None else facet.name if isinstance(facet, ast.Param) else facet.value
        plane = (guard.plane, None if facet is None else type(facet).__name__, name)
        if plane in seen:
            _refuse("EXPECT VERSION names this plane twice", guard.span, "keep one guard for each plane")
        seen.add(plane)


def _created(node: ast.CreateConcept | ast.CreateRecord) -> None:
    _fields(node.actions, edits=False)


def _upsert(node: ast.UpsertConcept) -> None:
    if node.match.get("id") is None and node.match.get("key") is None:
        _refuse(
            "MATCH needs an id or a key: a name is no identity",
            node.match.span,
            'write MATCH {type: "...", key: "..."}',
        )
    _fields(node.actions, edits=True)
    _guards(node.guards)


def _structure(target: ast.Tuple | ast.PropositionId) -> None:
    if isinstance(target, ast.PropositionId):
        _refuse("an id alone can not be created", target.span, 'write the tuple: (subject, "predicate", object)')


def _ensure(node: ast.EnsureProposition) -> None:
    _structure(node.target)
    _guards(node.guards)


def _assert(node: ast.Assert) -> None:
    _structure(node.target)
    for member in node.members.members:
        if member.name not in ASSERT_MEMBERS:
            meant = words.near(member.name, ASSERT_MEMBERS)
            hint = f"did you mean {meant}?" if meant else f"the members are {', '.join(ASSERT_MEMBERS)}"
            _refuse(f"ASSERT has no member {member.name}", member.span, hint)
    for name in ("by", "mode"):
        if node.members.get(name) is None:
            what = "whose claim it is" if name == "by" else 'how it was made, for example mode: "stated"'
            _refuse(f"ASSERT needs the member {name}", node.members.span, f"say {what}")


def _update(node: ast.Update) -> None:
    _fields(node.actions, edits=True)
    _guards(node.guards)


def _transition(node: ast.Transition) -> None:
    """BY, SET FIELDS and SET STRUCTURAL belong to some states only (§52.5)."""
    _fields(node.actions, edits=False)
    _guards(node.guards)
    if not isinstance(node.state, ast.Literal) or not isinstance(node.state.value, str):
        return
    state = node.state.value
    if node.by is None and state in SUCCEEDED:
        _refuse(f'TRANSITION TO "{state}" needs BY', node.state.span, "name the newer record: BY ...")
    if node.by is not None and state not in SUCCEEDED:
        _refuse(f'TRANSITION TO "{state}" takes no BY', node.by.span, 'BY belongs to "superseded" and "corrected"')
    if node.actions and state not in ACTIVITY_STATES:
        _refuse(
            f'TRANSITION TO "{state}" sets nothing else',
            node.actions[0].span,
            "SET FIELDS and SET STRUCTURAL belong to the states of an Activity",
        )


def _guarded(node: ast.SetRetention | ast.Purge | ast.MergeConcept) -> None:
    _guards(node.guards)


def _mutate(node: ast.Mutate) -> None:
    """Each statement by its own rules; each handle declared once (§53.2)."""
    declared: set[str] = set()
    for statement in node.statements:
        rule = _RULES.get(type(statement))
        if rule is not None:
            rule(statement)
        handle = getattr(statement, "handle", None)
        if handle is None:
            continue
        if handle.name in declared:
            raise KipError(
                "DuplicateLocalHandle",
                f"the handle ?{handle.name} is declared twice in one MUTATE",
                span=handle.span,
                hint="give each new element its own handle",
            )
        declared.add(handle.name)


# --- META -----------------------------------------------------------------------------------------------


def _describe(node: ast.Describe) -> None:
    _one_of(node.mode, PRIMER_MODES, "mode")


def _search(node: ast.Search) -> None:
    _one_of(node.mode, SEARCH_MODES, "mode")


def _export(node: ast.ExportCapsule) -> None:
    if not _selects(node.where):
        _refuse("an export selects something: its WHERE needs a pattern", node.where.span)


def _selects(block: ast.Block) -> bool:
    return any(
        _selects(clause.block)
        if isinstance(clause, ast.Union)
        else not isinstance(clause, ast.Filter | ast.Not | ast.Optional)
        for clause in block.clauses
    )


_RULES: Mapping[type, Callable[[Any], None]] = {
    ast.CreateConcept: _created,
    ast.CreateRecord: _created,
    ast.UpsertConcept: _upsert,
    ast.EnsureProposition: _ensure,
    ast.Assert: _assert,
    ast.Update: _update,
    ast.Transition: _transition,
    ast.SetRetention: _guarded,
    ast.Purge: _guarded,
    ast.MergeConcept: _guarded,
    ast.Mutate: _mutate,
    ast.Describe: _describe,
    ast.Search: _search,
    ast.ExportCapsule: _export,
}
