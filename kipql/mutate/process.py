"""Process records: what an Activity's typed Facet says must be what its inputs show (Profile §6.4, Learning §2).

A decision names in its inputs every revision it applied; an attempt names its decision there and has an id of its own
in the Space. The Facets themselves are immutable once the Activity is terminal (§16.6).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kipql.errors import KipError
from kipql.model import ACTIVITY, Activity, element_code, element_id, parse_id
from kipql.mutate.fields import TERMINAL
from kipql.store.computed import held

if TYPE_CHECKING:
    from kipql.store import Transaction, View


def check(tx: "Transaction", code: int, activity: Activity) -> None:
    """Raise ConstraintViolation when a process record and its Activity disagree."""
    view = tx.view
    decision = held(view, activity, "DecisionRecord")
    if decision is not None:
        require_inputs(activity, decision["applied_revisions"], "a DecisionRecord's applied revision")
    basis = held(view, activity, "DependencyBasis")
    imported = tx.origin.import_id is not None  # its coordinates are the source's, and stay so (§41.7)
    if basis is not None and activity.status in TERMINAL and not imported:
        _check_basis(tx, basis)
    attempt = held(view, activity, "AttemptRecord")
    if attempt is not None:
        _check_attempt(view, code, activity, attempt)


def _check_basis(tx: "Transaction", basis: Mapping[str, Any]) -> None:
    """A pin names a version that was there to be read; an older one is honest, a later one is not (§57.6)."""
    if basis["basis_seq"] > tx.base.seq:
        raise KipError("ConstraintViolation", f"a DependencyBasis at {basis['basis_seq']} lies beyond {tx.base.seq}")
    for pin in (pin for group in basis["groups"] for pin in group["pins"]):
        code = parse_id(pin["id"])
        if code is None or not tx.view.exists(code):
            continue  # the package's reference paths say so already
        known = tx.base.record(code).version if tx.base.exists(code) else 1
        changed = tx.base.exists(code) and tx.view.record(code) != tx.base.record(code)
        if pin["version"] > known + changed:
            raise KipError(
                "ConstraintViolation", f"the pin of {pin['id']} names version {pin['version']}; it has {known}"
            )


def require_inputs(activity: Activity, refs: "list[str]", what: str) -> None:
    """Raise ConstraintViolation unless every id is an input of the Activity."""
    inputs = {element_id(edge.target) for edge in activity.inputs}
    for ref in refs:
        if ref not in inputs:
            raise KipError(
                "ConstraintViolation",
                f"{what} {ref} is not among the inputs of its Activity",
                hint=f'SET STRUCTURAL {{ ("inputs", "{ref}") }} beside it',
            )


def _check_attempt(view: "View", code: int, activity: Activity, attempt: Mapping[str, Any]) -> None:
    require_inputs(activity, [attempt["decision_ref"]], "an AttemptRecord's decision")
    for other, record in attempts(view):
        known = held(view, record, "AttemptRecord")
        if other != code and known is not None and known["attempt_id"] == attempt["attempt_id"]:
            raise KipError(
                "ConstraintViolation",
                f"the attempt_id {attempt['attempt_id']!r} is taken by {element_id(other)}",
                hint="an attempt_id is one sampling unit of the Space",
            )


def attempts(view: "View") -> "list[tuple[int, Activity]]":
    """Every `action_attempt` Activity of a view."""
    rows = view.with_value(ACTIVITY, ("activity_class",), "action_attempt")
    found = []
    for row in view.rows(ACTIVITY) if rows is None else rows:
        code = element_code(ACTIVITY, row)
        record = view.record(code)
        if isinstance(record, Activity) and record.activity_class == "action_attempt" and record.state != "purged":
            found.append((code, record))
    return found
