"""Provenance over a view: the independent roots behind a claim (§23, §56, §60.6).

Evidence is a root unless it was made from something else: a source that is Evidence, or an Activity that put
it out. Then what that was made from counts instead, through any number of steps. Corrected Evidence gives no
root (§22.4), a purged one still does, and a circle without an outside root gives none (§23.5).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from kipql.model import ACTIVITY, ASSERTION, EVIDENCE, Activity, Assertion, Evidence, kind_of

if TYPE_CHECKING:
    from kipql.store.view import View

Root: TypeAlias = int | tuple[str, int]


def claim_roots(view: "View", code: int, record: Assertion) -> frozenset[Root] | None:
    """The roots of an Assertion, or None when it rests on nothing but its actor's own account."""
    cited = [edge.target for edge in record.evidence if edge.role in (None, "support")]
    made_from = list(inputs_of(view, code))
    if not cited and not made_from:
        return None
    seen = {code}
    return frozenset(root for source in (*cited, *made_from) for root in _roots(view, source, seen))


def producers(view: "View", code: int) -> list[int]:
    """The Activities that put an element out, in creation order."""
    return [activity for activity in view.referrers(code, "outputs") if kind_of(activity) == ACTIVITY]


def inputs_of(view: "View", code: int) -> Iterator[int]:
    """What an element was made from: the inputs of the Activities that put it out."""
    for producer in producers(view, code):
        activity = view.record(producer)
        assert isinstance(activity, Activity)
        if activity.activity_class != "dependency_validation" and activity.status not in ("failed", "cancelled"):
            yield from (edge.target for edge in activity.inputs)


def _roots(view: "View", code: int, seen: set[int]) -> frozenset[Root]:
    if code in seen:
        return frozenset()
    seen.add(code)
    kind = kind_of(code)
    record = view.record(code)
    if kind == EVIDENCE:
        assert isinstance(record, Evidence)
        if record.status == "corrected" or record.quarantined:
            return frozenset()
        upstream = [edge.target for edge in record.source if kind_of(edge.target) == EVIDENCE]
        for edge in record.generated_by:
            activity = view.record(edge.target)
            assert isinstance(activity, Activity)
            upstream += [source.target for source in activity.inputs]
    elif kind == ASSERTION:
        assert isinstance(record, Assertion)
        upstream = [edge.target for edge in record.evidence if edge.role in (None, "support")]
    else:
        upstream = []
    upstream += inputs_of(view, code)
    if upstream:
        return frozenset(root for source in upstream for root in _roots(view, source, seen))
    if isinstance(record, Assertion):
        return frozenset((("actor", view.canonical(record.asserted_by)),))
    return frozenset((code,))
