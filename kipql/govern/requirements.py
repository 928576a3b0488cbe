"""Which permissions a change of an element needs (specification §28.4, §29): read off the states before and after.

What a statement is called decides nothing: an ASSERT, a CREATE and a loaded record that leave the same Assertion
need the same. `own` marks a need that holds for the actor's own records only; `one_of` are alternatives.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from kipql.model import (
    NO_RETENTION,
    Activity,
    AnyRecord,
    Assertion,
    Concept,
    Edge,
    Evidence,
    Retention,
)
from kipql.store.changes import is_purged
from kipql.store.planes import CONTENT, EDGES, changed_facets, differs

Observed: TypeAlias = Callable[[int], bool]
"""Whether an element is Evidence of an outcome."""

OUTCOME = "outcome"
_STATES = {"archived": "archive", "tombstoned": "tombstone", "merged": "merge_identity", "active": "update"}


class Need(NamedTuple):
    """One permission, or one of several, that a change needs."""

    one_of: tuple[str, ...]
    own: bool = False
    speaks: bool = False  # it makes an Assertion: the actor decides which permission it is
    facets: tuple[str, ...] = ()


def creation(record: AnyRecord, observed: Observed) -> Iterator[Need]:
    """What making an element needs."""
    if isinstance(record, Assertion):
        yield Need((), speaks=True)
    else:
        yield Need(("create",))
    if isinstance(record, Evidence) and record.evidence_class == OUTCOME:
        yield Need(("record_outcome",))
    if isinstance(record, Activity):
        yield from _derivation((), (), record, observed)
    yield from _retained(NO_RETENTION, record.retention)


def change(old: AnyRecord, new: AnyRecord, observed: Observed) -> Iterator[Need]:
    """What giving an element another state needs."""
    if new.state == "purged" and old.state != "purged":
        yield Need(("purge",))
        return
    if isinstance(new, Evidence) and isinstance(old, Evidence) and is_purged(new) and not is_purged(old):
        yield Need(("purge",))
        return
    if isinstance(new, Concept) and isinstance(old, Concept) and new.merged_into != old.merged_into:
        yield Need(("merge_identity",))
    elif old.state != new.state:
        yield Need((_STATES[new.state],))
    yield from _retained(old.retention, new.retention)
    yield from _governed(old, new)
    yield from _said(old, new, observed)
    if facets := changed_facets(old, new):
        yield Need(("update", "maintain"), facets=tuple(facets))


def _governed(old: AnyRecord, new: AnyRecord) -> Iterator[Need]:
    if old.quarantined != new.quarantined:
        yield Need(("quarantine",))
    if old.authority_class != new.authority_class:
        yield Need(("elevate_authority",))
    if old.repaired_by != new.repaired_by:
        yield Need(("repair_recording",))


def _said(old: AnyRecord, new: AnyRecord, observed: Observed) -> Iterator[Need]:
    """Lifecycle and content of records."""
    if isinstance(new, Assertion) and isinstance(old, Assertion) and new.status != old.status:
        yield Need(("retract_own" if new.status == "retracted" else "supersede_own",), own=True)
    if isinstance(new, Evidence) and isinstance(old, Evidence) and new.status != old.status:
        yield Need(("update",))
    names = [*CONTENT[type(new)], *EDGES[type(new)]]
    if isinstance(new, Activity) and isinstance(old, Activity):
        names += ["status", "started_at", "ended_at"]
        yield from _derivation(old.inputs, old.outputs, new, observed)
    if old.structural != new.structural or any(differs(getattr(old, name), getattr(new, name)) for name in names):
        yield Need(("update",))


def _retained(old: Retention, new: Retention) -> Iterator[Need]:
    if old.legal_hold != new.legal_hold:
        yield Need(("manage_legal_hold",))
    if (old.retention_class, old.expires_at) != (new.retention_class, new.expires_at):
        yield Need(("manage_retention",))


def _derivation(
    inputs: tuple[Edge, ...], outputs: tuple[Edge, ...], activity: Activity, observed: Observed
) -> Iterator[Need]:
    """An edge from an input to an output is a derivation (§29.6), unless all it puts out are outcomes (§29.8)."""
    fresh = [edge for edge in activity.outputs if edge not in outputs]
    if activity.inputs and not inputs:
        fresh = list(activity.outputs)
    if not activity.inputs or not fresh:
        return
    watched = all(observed(edge.target) for edge in fresh)
    yield Need(("record_outcome",) if watched else ("derive",))
