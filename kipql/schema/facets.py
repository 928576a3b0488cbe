"""Facets on an element (specification §18, §20.5): what may carry one, when, and what may still change.

Evidence, Assertions and Propositions are complete when they are created, and an Activity when it reaches a
terminal status: from then on the immutable fields of their Facets are *sealed*.
"""

from collections.abc import Mapping
from typing import TypeAlias

from kipql.errors import KipError
from kipql.model import A_KIND, ACTIVITY, CONCEPT, Activity, AnyRecord, Concept
from kipql.schema.core import TERMINAL_STATUSES
from kipql.schema.definitions import FacetDefinition
from kipql.schema.elements import Elements, admitted
from kipql.schema.environment import Environment
from kipql.schema.fields import check_shape
from kipql.values import Json

_Facet: TypeAlias = Mapping[str, Json]


def check_facets(env: Environment, kind: int, new: AnyRecord, old: AnyRecord | None, elements: Elements) -> None:
    """The final state of every Facet of a record."""
    before = old.facets if old is not None else {}
    if new.facets is before and kind != ACTIVITY:
        return
    seal = is_sealed(kind, old)
    for ref, facet in new.facets.items():
        definition = env.facet(ref)
        was = before.get(ref)
        if was is None or facet is not was:
            _check_carrier(definition, kind, new)
        if kind == ACTIVITY and isinstance(new, Activity):
            _check_attachment(definition, new)
        check_facet(definition, facet, was, elements, sealed=seal)
    for ref, was in before.items():
        if ref not in new.facets:
            check_facet(env.facet(ref), {}, was, elements, sealed=seal)


def check_facet(
    definition: FacetDefinition,
    new: _Facet,
    old: _Facet | None,
    elements: Elements,
    *,
    sealed: bool,
) -> None:
    """One Facet: `old` is None when the element did not carry it before the transaction.

    Raises ImmutableField when an immutable field is added to a sealed record, ConstraintViolation otherwise.
    """
    what = f"Facet {definition.local_name}"
    if definition.computed:
        if new != (old or {}):
            raise KipError("ConstraintViolation", f"{what} is computed and can not be written")
        return
    if old is None and sealed:
        old = {}  # attaching the Facet afterwards is adding every field of it
    check_shape(definition.shape, new, old, elements, what, sealed=sealed)


def is_sealed(kind: int, old: AnyRecord | None) -> bool:
    """Whether the element's immutable Facet fields can no longer be added to."""
    if old is None or kind == CONCEPT:
        return False
    return not isinstance(old, Activity) or old.status in TERMINAL_STATUSES


def _check_carrier(definition: FacetDefinition, kind: int, record: AnyRecord) -> None:
    concept_type = record.schema if isinstance(record, Concept) else None
    if not definition.applicable_to.admits(kind, concept_type):
        carrier = concept_type or A_KIND[kind]
        raise KipError(
            "ConstraintViolation",
            f"Facet {definition.local_name} does not belong on {carrier}",
            hint=admitted(definition.applicable_to),
        )


def _check_attachment(definition: FacetDefinition, activity: Activity) -> None:
    """Binding for as long as the Activity carries the Facet, so a change of class or status can not get round it."""
    classes = definition.activity_classes
    if classes and activity.activity_class not in classes:
        raise KipError(
            "ConstraintViolation",
            f"Facet {definition.local_name} does not belong on an Activity of class {activity.activity_class!r}",
            hint=f"it belongs on {' or '.join(sorted(classes))}",
        )
    if definition.terminal_only and activity.status not in TERMINAL_STATUSES:
        raise KipError(
            "ConstraintViolation",
            f"Facet {definition.local_name} belongs on a terminal Activity, and this one is {activity.status}",
        )
