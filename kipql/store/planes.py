"""Version planes: which counters a change advances (specification §6.3, §35.1).

`attributes` is fields and attributes, `structural` the Structural References (Core's too), `retention` the
retention record, `facets` one counter per Facet. The lifecycle of a record (its status, who supersedes or
corrects it, its end) belongs to no plane, nor does `_system.state` or `merged_into`.
"""

from kipql.model import (
    NO_PLANES,
    NO_RETENTION,
    Activity,
    AnyRecord,
    Assertion,
    Concept,
    Evidence,
    Planes,
    Proposition,
)
from kipql.values import value_key

CONTENT: dict[type, tuple[str, ...]] = {
    Concept: ("key", "name", "canonical_id", "aliases", "attributes"),
    Proposition: (),
    Assertion: (
        "proposition",
        "asserted_by",
        "stance",
        "mode",
        "asserted_at",
        "confidence",
        "valid",
        "context",
    ),
    Evidence: ("evidence_class", "payload", "content_digest", "media_type", "observed_at"),
    Activity: ("activity_class", "parameters_digest"),
}
"""Members of the attributes plane, by record class."""

EDGES: dict[type, tuple[str, ...]] = {
    Concept: (),
    Proposition: (),
    Assertion: ("evidence",),
    Evidence: ("source", "generated_by"),
    Activity: ("inputs", "outputs", "associated_actors"),
}
"""Core Structural References, by record class."""

LIFECYCLE: dict[type, tuple[str, ...]] = {
    Concept: (),
    Proposition: (),
    Assertion: ("status", "supersedes", "superseded_by", "retracted_at"),
    Evidence: ("status", "corrects", "corrected_by"),
    Activity: ("status", "started_at", "ended_at"),
}
"""Members that belong to no plane, by record class."""

_ATTRIBUTES = Planes(attributes=1)
_BOTH = Planes(attributes=1, structural=1)
_STRUCTURAL = Planes(structural=1)


def first_planes(record: AnyRecord) -> Planes:
    """The counters of a new element: 1 for each plane its creation wrote, 0 for the others."""
    cls = type(record)
    attributes = any(_written(getattr(record, name)) for name in CONTENT[cls])
    structural = bool(record.structural) or any(getattr(record, name) for name in EDGES[cls])
    retention = record.retention != NO_RETENTION
    if retention or record.facets:
        return Planes(int(attributes), int(structural), int(retention), dict.fromkeys(record.facets, 1))
    if attributes:
        return _BOTH if structural else _ATTRIBUTES
    return _STRUCTURAL if structural else NO_PLANES


def next_planes(old: AnyRecord, new: AnyRecord) -> Planes:
    """The counters after a change from `old`, whose counters are right, to `new`."""
    cls, before = type(new), old.planes
    attributes = any(differs(getattr(old, name), getattr(new, name)) for name in CONTENT[cls])
    structural = old.structural != new.structural or any(getattr(old, n) != getattr(new, n) for n in EDGES[cls])
    retention = old.retention != new.retention
    changed = changed_facets(old, new)
    if not (attributes or structural or retention or changed):
        return before
    facets = before.facets
    if changed:
        facets = {**facets, **{ref: facets.get(ref, 0) + 1 for ref in changed}}
    return Planes(before.attributes + attributes, before.structural + structural, before.retention + retention, facets)


def changed_facets(old: AnyRecord, new: AnyRecord) -> list[str]:
    """The exact refs of Facets that differ."""
    if old.facets is new.facets:
        return []
    refs = sorted(set(old.facets) | set(new.facets))
    return [ref for ref in refs if differs(old.facets.get(ref), new.facets.get(ref))]


def differs(old: object, new: object) -> bool:
    """Whether two member values are two: Python's 1 == True is not JSON's."""
    return old is not new and (old != new or value_key(old) != value_key(new))


def _written(value: object) -> bool:
    return value is not None and value != () and value != {}
