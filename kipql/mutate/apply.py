"""From a plan that stands to the Transaction: Drafts become records, new ones in the order of their clauses.

Codes are given first, so references may point forward and in circles (§53.3). Propositions are created before the
Assertions about them; within a kind the order of the clauses is the order of the ids.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kipql.errors import KipError
from kipql.model import (
    ACTIVITY,
    ASSERTION,
    CONCEPT,
    EVIDENCE,
    PROPOSITION,
    Activity,
    AnyRecord,
    Assertion,
    Concept,
    Edge,
    Evidence,
    Facets,
    Proposition,
    element_id,
)
from kipql.mutate import digests, purge
from kipql.mutate.context import placed
from kipql.mutate.draft import REMOVED, Draft, Handle, Placement
from kipql.mutate.plan import Plan, code_of
from kipql.mutate.proposition import LiteralTerm
from kipql.mutate.structural import place

_CREATION_ORDER = (CONCEPT, EVIDENCE, ACTIVITY, PROPOSITION, ASSERTION)


def apply(plan: Plan) -> None:
    """Write the whole plan into the Transaction, then judge what only the whole can show."""
    plan.number()
    for kind in _CREATION_ORDER:
        for draft in plan.new:
            if draft.kind == kind:
                _create(plan, draft)
    for draft in plan.existing.values():
        if draft.assigned:
            _put(plan, draft)
    for target, path, given, resolved in plan.redirected:
        plan.tx.supplied(code_of(target), path, given, resolved)
    _match_echoes(plan)
    for check in plan.checks:
        check(plan)


def _create(plan: Plan, draft: Draft) -> None:
    record = build(plan, draft)
    code = plan.tx.create(record)
    if code != draft.code:
        raise KipError("InternalError", f"{draft.name} was created as {element_id(code)}")
    plan.write.touched[code] = draft
    if draft.client_key is not None:
        plan.tx.remember(draft.kind, draft.client_key, digests.fingerprint(draft), code)


def _put(plan: Plan, draft: Draft) -> None:
    assert draft.code is not None
    record = build(plan, draft)
    if record == draft.base:
        return
    plan.tx.put(draft.code, record)
    plan.write.touched[draft.code] = draft


def _match_echoes(plan: Plan) -> None:
    """Every creation under a client key must say what the first one said (§7.5)."""
    for echo, target in plan.echoes:
        assert echo.client_key is not None
        known = plan.tx.view.client_key(echo.kind, echo.client_key)
        if known is not None and known[1] != digests.fingerprint(echo):
            raise KipError(
                "ClientKeyConflict",
                f"the client key {echo.client_key!r} already made {element_id(code_of(target))}, with other content",
                span=echo.span,
                hint="a new creation needs a new key; a retry repeats the old content exactly",
            )


# --- records ------------------------------------------------------------------------------------------


def build(plan: Plan, draft: Draft) -> AnyRecord:
    """The record that a Draft describes."""
    try:
        return _BUILDERS[draft.kind](plan, draft)
    except KipError as error:
        raise placed(error, draft.span) from None


def _concept(plan: Plan, draft: Draft) -> AnyRecord:
    base = draft.base
    changes = _fields(draft)
    if draft.base is None:
        base = Concept(schema=changes.pop("schema"))
    assert isinstance(base, Concept)
    attributes = _merged(base.attributes, draft, "attributes")
    if attributes is not base.attributes:
        changes["attributes"] = attributes
    merged = draft.value("merged_into")
    if merged is not None:
        changes["merged_into"] = code_of(merged)
    return _finished(plan, draft, base, changes)


def _proposition(plan: Plan, draft: Draft) -> AnyRecord:
    base = draft.base
    if base is None:
        object_ = draft.value("fields", "object")
        term = plan.tx.literal(object_.value) if isinstance(object_, LiteralTerm) else code_of(object_)
        subject = code_of(draft.value("fields", "subject"))
        return Proposition(subject=subject, predicate=draft.value("fields", "predicate"), object=term)
    return _finished(plan, draft, base, {})


def _assertion(plan: Plan, draft: Draft) -> AnyRecord:
    base, changes = draft.base, _fields(draft)
    if base is None:
        if "valid_time" in changes:
            changes["valid"] = changes.pop("valid_time")
        changes["proposition"] = code_of(changes["proposition"])
        changes["asserted_by"] = code_of(changes["asserted_by"])
        changes.setdefault("asserted_at", plan.tx.at)
        base = Assertion(**changes)
        changes = {}
    assert isinstance(base, Assertion)
    evidence, context = _edges(draft, "evidence", base.evidence), _edges(draft, "context", ())
    if evidence is not base.evidence:
        changes["evidence"] = evidence
    if context:
        changes["context"] = tuple(sorted(edge.target for edge in context))
    changes |= _lifecycle(draft, base, ("supersedes", "superseded_by"))
    return _finished(plan, draft, base, changes)


def _evidence(plan: Plan, draft: Draft) -> AnyRecord:
    base, changes = draft.base, _fields(draft)
    if base is None:
        changes["payload"] = _settled(changes.get("payload"))
        digest = digests.content_digest(changes["payload"], plan.write.budget.limits.payload)
        if changes.get("content_digest") is None:
            changes["content_digest"] = digest
        base = Evidence(**changes)
        changes = {}
    assert isinstance(base, Evidence)
    for name in ("source", "generated_by"):
        edges = _edges(draft, name, getattr(base, name), single=name == "generated_by")
        if edges is not getattr(base, name):
            changes[name] = edges
    if draft.value("payload") is not None:
        changes["payload"] = draft.value("payload")
    changes |= _lifecycle(draft, base, ("corrects", "corrected_by"))
    return _finished(plan, draft, base, changes)


def _activity(plan: Plan, draft: Draft) -> AnyRecord:
    base, changes = draft.base, _fields(draft)
    if base is None:
        base = Activity(**changes)
        changes = {}
    assert isinstance(base, Activity)
    for name in ("inputs", "outputs", "associated_actors"):
        edges = _edges(draft, name, getattr(base, name))
        if edges is not getattr(base, name):
            changes[name] = edges
    return _finished(plan, draft, base, changes)


_BUILDERS = {
    CONCEPT: _concept,
    PROPOSITION: _proposition,
    ASSERTION: _assertion,
    EVIDENCE: _evidence,
    ACTIVITY: _activity,
}


def _finished(plan: Plan, draft: Draft, base: AnyRecord, changes: dict[str, Any]) -> AnyRecord:
    """The record with what every kind may carry: state, retention, Facets, package fields, client key."""
    if draft.value("purged"):
        return purge.stub(base)
    if draft.base is None and draft.client_key is not None:
        changes["client_key"] = draft.client_key
    state, retention = draft.value("state"), draft.value("retention")
    if state is not None:
        changes["state"] = state
    if retention is not None:
        changes["retention"] = retention
    facets = _facets(plan, base.facets, draft)
    if facets is not base.facets:
        changes["facets"] = facets
    structural = _structural(plan, draft, base)
    if structural is not base.structural:
        changes["structural"] = structural
    return replace(base, **changes) if changes else base


def _fields(draft: Draft) -> dict[str, Any]:
    return {path[1]: given.value for path, given in draft.under("fields")}


def _merged(held: Mapping[str, Any], draft: Draft, *prefix: Any) -> Mapping[str, Any]:
    """An object after SET and UNSET of its keys; the same object when nothing was planned for it."""
    changed: dict[str, Any] | None = None
    for path, (value, _) in draft.under(*prefix):
        if changed is None:
            changed = dict(held)
        if value is REMOVED:
            changed.pop(path[-1], None)
        else:
            changed[path[-1]] = _settled(value)
    return held if changed is None else changed


def _facets(plan: Plan, held: Facets, draft: Draft) -> Facets:
    refs = dict.fromkeys(path[1] for path, _ in draft.under("facets"))
    if not refs:
        return held
    changed = dict(held)
    for ref in refs:
        written = _written_ref(plan, held, ref)
        facet = _merged(held.get(written, {}), draft, "facets", ref)
        if facet:
            changed[written] = facet
        else:
            changed.pop(written, None)
    return changed


def _written_ref(plan: Plan, held: Mapping[str, Any], ref: str) -> str:
    """The ref under which a record keeps a symbol: the version it was written with stays (§20.14)."""
    if not held or ref in held:
        return ref
    lineage = plan.lineage(ref)
    return next((written for written in held if plan.lineage(written) == lineage), ref)


def _structural(plan: Plan, draft: Draft, base: AnyRecord) -> Mapping[str, tuple[Edge, ...]]:
    refs = dict.fromkeys(path[1] for path, _ in draft.under("edges") if "/" in path[1])
    if not refs:
        return base.structural
    changed = dict(base.structural)
    for ref in refs:
        field = plan.environment.structural_field(ref)
        written = _written_ref(plan, base.structural, ref)
        held = base.structural.get(written, ())
        edges = _edges(draft, ref, held, ordered=field.ordered, single=field.single)
        if edges:
            changed[written] = edges
        else:
            changed.pop(written, None)
    return changed


def _edges(
    draft: Draft, field: str, held: tuple[Edge, ...], *, ordered: bool = False, single: bool = False
) -> tuple[Edge, ...]:
    changes: dict[int, Placement | object] = {}
    for path, (value, _) in draft.under("edges", field):
        changes[code_of(path[2])] = value
    return place(held, changes, ordered, single) if changes else held


def _lifecycle(draft: Draft, base: AnyRecord, links: tuple[str, str]) -> dict[str, Any]:
    changes = {path[1]: given.value for path, given in draft.under("lifecycle")}
    for name in links:
        held = getattr(base, name)
        added = [code_of(path[2]) for path, _ in draft.under("links", name)]
        fresh = [code for code in added if code not in held]
        if fresh:
            changes[name] = (*held, *fresh)
    return changes


def _settled(value: Any) -> Any:
    """A value with every handle in it replaced by the id it stands for."""
    if isinstance(value, Handle):
        return element_id(code_of(value.target))
    if isinstance(value, dict):
        return {name: _settled(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_settled(item) for item in value]
    return value
