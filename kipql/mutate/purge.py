"""PURGE and PURGE PAYLOAD: bytes are destroyed, identity is not (§60.3, §60.6).

A hold comes first and blocks erasure for everyone, also as another element's dependent. Then the reference policy:

    deny_if_referenced   refuse while anything else refers to the element (the default)
    tombstone_reference  erase it; what can not stand without it is tombstoned, other references name the stub
    authorized_cascade   erase what refers to it too, and what refers to that; a hold anywhere refuses the whole

What is left is a stub: kind, id, class, digest and observation time.
"""

from collections.abc import Mapping

from kipql.errors import KipError
from kipql.lang import ast
from kipql.model import (
    EVIDENCE,
    Activity,
    AnyRecord,
    Assertion,
    Concept,
    Evidence,
    Proposition,
    element_id,
)
from kipql.mutate import guards
from kipql.mutate.draft import Draft
from kipql.mutate.holders import Holders, named
from kipql.mutate.inputs import Scope
from kipql.mutate.inputs import kind_of as type_of
from kipql.mutate.plan import Plan, code_of
from kipql.mutate.targets import select
from kipql.mutate.transition import archive
from kipql.spans import Span

DENY, TOMBSTONE, CASCADE = POLICIES = ("deny_if_referenced", "tombstone_reference", "authorized_cascade")
PURGED = {"mode": "purged"}


def plan_purge(plan: Plan, statement: ast.Purge) -> None:
    """Plan the erasure of every element, or payload, that a PURGE selects."""
    policy = _policy(plan, statement)
    drafts = [
        _draft(plan, statement, target)
        for target, _ in select(plan, statement.target, statement.where, statement.limit)
    ]
    for draft in drafts:
        _check_kind(draft, statement)
        _check_hold(draft, statement.target.span)
    if statement.payload:
        for draft in drafts:
            _plan_payload(draft, statement)
        return
    going = {code_of(draft): draft for draft in drafts if draft.base is not None and draft.base.state != "purged"}
    if policy == CASCADE:
        going |= _dependents(plan, going, statement.target.span)
    for draft in going.values():
        draft.assign(("purged",), True, statement.span)
    if policy == TOMBSTONE:
        _tombstone(plan, going, statement.span)
    codes = tuple(going)
    plan.checks.append(lambda final: _check_rest(final, codes, policy, statement.target.span))


def _policy(plan: Plan, statement: ast.Purge) -> str:
    node = statement.reference_policy
    if node is None:
        return DENY
    value = Scope(plan).evaluate(node)
    if not isinstance(value, str):
        message = f"a reference policy must be a string, not {type_of(value)}"
        raise KipError("TypeMismatch", message, span=node.span)
    if value not in POLICIES:
        hint = f"one of {', '.join(POLICIES)}"
        raise KipError("ConstraintViolation", f"{value!r} is no reference policy", span=node.span, hint=hint)
    return value


def _draft(plan: Plan, statement: ast.Purge, target: "int | Draft") -> Draft:
    draft = plan.draft(target, statement.span)
    guards.check(plan, statement.guards, draft.base, plan.describe(target))
    return draft


def _check_kind(draft: Draft, statement: ast.Purge) -> None:
    if statement.payload and draft.kind != EVIDENCE:
        raise KipError("ConstraintViolation", "only Evidence has a payload to purge", span=statement.target.span)
    if draft.base is None:
        message = "an element is not created and purged in one plan"
        raise KipError("DuplicateMutationTarget", message, span=statement.target.span)


def _check_hold(draft: Draft, span: Span) -> None:
    if draft.base is not None and draft.base.retention.legal_hold:
        raise KipError(
            "LegalHoldConflict",
            f"{draft.name} is held",
            span=span,
            hint="a hold blocks erasure for everyone until it is lifted (§60.3)",
            details={"held": draft.name},
        )


def _plan_payload(draft: Draft, statement: ast.Purge) -> None:
    assert isinstance(draft.base, Evidence)
    if draft.base.state != "purged" and draft.base.payload != PURGED:
        draft.assign(("payload",), PURGED, statement.span)


# --- reference policies -------------------------------------------------------------------------------


def _dependents(plan: Plan, going: Mapping[int, Draft], span: Span) -> dict[int, Draft]:
    """What refers to the elements that go, directly or through others. Raises LegalHoldConflict at a held one."""
    holders = Holders(plan.whole)
    found: dict[int, Draft] = {}
    pending = list(going)
    while pending:
        for holder, _ in holders.of(pending.pop()):
            if holder in going or holder in found:
                continue
            plan.write.budget.spend()
            found[holder] = plan.draft(holder, span)
            _check_hold(found[holder], span)
            pending.append(holder)
    return found


def _tombstone(plan: Plan, going: Mapping[int, Draft], span: Span) -> None:
    """Tombstone what can not stand without an element that goes; counts as if those were gone already."""
    holders = Holders(plan.whole)
    for code in going:
        for holder, required in holders.of(code):
            needed = required or _left_below_minimum(plan, holder, going)
            if holder not in going and needed and plan.whole.state(holder) in ("active", "archived"):
                archive(plan.draft(holder, span), "tombstoned")


def _left_below_minimum(plan: Plan, holder: int, going: Mapping[int, Draft]) -> bool:
    """Whether a required Structural Field of a holder loses its last allowed target with what goes."""
    record, environment = plan.whole.record(holder), plan.environment
    for ref, edges in record.structural.items():
        field = environment.find_structural_field(ref)
        left = [e for e in edges if e.target not in going and plan.whole.state(e.target) != "purged"]
        if field is not None and len(left) < field.min:
            return True
    return False


def _check_rest(plan: Plan, codes: tuple[int, ...], policy: str, span: Span) -> None:
    """Judge the final state: nothing may refer to what is gone but what the policy lets stand.

    Raises PurgeDenied; DuplicateMutationTarget when the plan also writes what it purges.
    """
    for code in codes:
        if len(plan.existing[code].assigned) > 1:
            raise KipError(
                "DuplicateMutationTarget", f"{element_id(code)} is purged and written in one plan", span=span
            )
    holders = Holders(plan.tx.view)
    for code in codes:
        left = [each for each in holders.of(code) if not (policy == TOMBSTONE and _stands(plan, *each))]
        if left:
            held = list(dict.fromkeys(holder for holder, _ in left))
            raise KipError(
                "PurgeDenied",
                f"{named(held)} still refers to {element_id(code)}",
                span=span,
                hint="archive or tombstone it instead, remove what refers to it, or name another REFERENCE POLICY",
                details={"referenced_by": element_id(held[0])},
            )
    if any(isinstance(base := plan.existing[code].base, Concept) and base.merged_into is not None for code in codes):
        plan.tx.control("identity", {"purged": [element_id(code) for code in codes]})


def _stands(plan: Plan, holder: int, required: bool) -> bool:
    """Whether a reference may be kept beside a stub: it was there before, and its holder does not live by it."""
    return plan.whole.exists(holder) and (not required or plan.tx.view.state(holder) not in ("active", "archived"))


def stub(record: AnyRecord) -> AnyRecord:
    """What is left of a purged element: nothing that was said, only that there was one (§60.3)."""
    common = {
        "state": "purged",
        "origin": record.origin,
        "classification": record.classification,
        "version": record.version,
        "planes": record.planes,
    }
    match record:
        case Concept():
            return Concept(schema=record.schema, **common)  # type: ignore[arg-type]
        case Proposition():
            ends = {"subject": record.subject, "predicate": record.predicate, "object": record.object}
            return Proposition(**ends, **common)  # type: ignore[arg-type]
        case Assertion():
            return Assertion(
                proposition=record.proposition,
                asserted_by=record.asserted_by,
                stance=record.stance,
                mode=record.mode,
                asserted_at=record.asserted_at,
                status="retracted",
                **common,  # type: ignore[arg-type]
            )
        case Evidence():
            return Evidence(
                evidence_class=record.evidence_class,
                payload=PURGED,
                content_digest=record.content_digest,
                observed_at=record.observed_at,
                **common,  # type: ignore[arg-type]
            )
        case Activity():
            return Activity(activity_class=record.activity_class, status=record.status, **common)  # type: ignore[arg-type]
