"""What a commit changed, as change-envelope entries: names and versions, never values (specification §36.1).

Entries are computed from the states before and after when someone asks; only where the older states of an
element were erased are they kept, since nothing is left to compute them from.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kipql.model import (
    CONCEPT,
    KINDS,
    Activity,
    AnyRecord,
    Assertion,
    Concept,
    Evidence,
    Planes,
    Proposition,
    element_id,
)
from kipql.store.graph import Graph
from kipql.store.history import Commit
from kipql.store.planes import CONTENT, EDGES, LIFECYCLE, changed_facets, differs
from kipql.store.states import state_at

if TYPE_CHECKING:
    from kipql.store.view import View

Entry = dict[str, Any]

GOVERNED = ("classification", "authority_class", "quarantined")
WIRE_NAMES = {"valid": "valid_time", "context": "context_refs"}
KIP = "2.0"


def commit_at(view: "View", seq: int) -> Commit:
    """The Commit of a sequence."""
    graph = view.graph
    history = graph.history
    return Commit(
        space_id=graph.space_id,
        seq=seq,
        at=history.at(seq),
        transaction_class=history.transaction_class(seq),
        environment_version=view.environment_at(seq).version,
        origin=history.origin(seq),
        control_changes=history.controls.get(seq, ()),
        entries=lambda: entries_at(graph, seq),
    )


def entries_at(graph: Graph, seq: int) -> list[Entry]:
    """The entries of a commit: creations by kind and row, then changes in the order they were made."""
    low, high = graph.history.bounds(seq - 1), graph.history.bounds(seq)
    created = [created_entry(graph, row * 8 + kind, seq) for kind in range(5) for row in range(low[kind], high[kind])]
    return created + [changed_entry(graph, code, seq) for code in graph.history.changed(seq)]


def created_entry(graph: Graph, code: int, seq: int) -> Entry:
    """The entry of a new element."""
    record = state_at(graph, code, seq)
    return {"op": "create", **_identity(code, record), "new_version": 1, **_refs(record)}


def changed_entry(graph: Graph, code: int, seq: int) -> Entry:
    """The entry of an element that existed before."""
    kept = graph.kept_entries.get((seq, code))
    if kept is not None:
        return dict(kept)
    return difference(code, state_at(graph, code, seq - 1), state_at(graph, code, seq))


def difference(code: int, old: AnyRecord, new: AnyRecord) -> Entry:
    """The entry that says how `new` differs from `old`; versions and planes are those of the records."""
    op = operation(old, new)
    entry: Entry = {"op": op, **_identity(code, new), "old_version": old.version, "new_version": new.version}
    if op == "lifecycle":
        entry["state"] = _moved(old, new)
    if op == "merge" and isinstance(new, Concept) and new.merged_into is not None:
        entry["refs"] = {"merged_into": element_id(new.merged_into)}
    entry |= _refs(new)
    if touched := touched_paths(old, new):
        entry["touched"] = touched
    if planes := touched_planes(old.planes, new):
        entry["planes"] = planes
    return entry


def operation(old: AnyRecord, new: AnyRecord) -> str:
    """The `op` of a change; the weightier one when a commit did two things to an element."""
    if new.state == "purged" and old.state != "purged":
        return "purge"
    if isinstance(new, Concept) and isinstance(old, Concept) and new.merged_into != old.merged_into:
        return "lifecycle" if new.merged_into is None else "merge"
    if isinstance(new, Evidence) and isinstance(old, Evidence) and is_purged(new) and not is_purged(old):
        return "payload_purge"
    if old.state != new.state or _status(old) != _status(new):
        return "lifecycle"
    if old.retention != new.retention and touched_paths(old, new) == _retention_paths(old, new):
        return "retention"
    return "update"


def is_purged(record: Evidence) -> bool:
    """Whether the payload bytes were erased (§60.6)."""
    return isinstance(record.payload, Mapping) and record.payload.get("mode") == "purged"


def touched_paths(old: AnyRecord, new: AnyRecord) -> list[str]:
    """The changed paths, sorted: `fields.*`, `attributes.*`, `facets.*`, `structural.*`, `retention.*`."""
    if new.state == "purged":
        return []
    found = set(_retention_paths(old, new))
    for name in (*CONTENT[type(new)], *EDGES[type(new)], *LIFECYCLE[type(new)]):
        before, after = getattr(old, name), getattr(new, name)
        if not differs(before, after):
            continue
        if name == "attributes":
            found.update(f"attributes.{key}" for key in _changed_keys(before, after))
        elif name in EDGES[type(new)]:
            found.add(f"structural.{name}")
        else:
            found.add(f"fields.{WIRE_NAMES.get(name, name)}")
    if isinstance(new, Concept) and isinstance(old, Concept) and old.merged_into != new.merged_into:
        found.add("fields.merged_into")
    if old.state != new.state:
        found.add("_system.state")
    if old.repaired_by != new.repaired_by:
        found.add("_system.recording_validity")
    found.update(f"governance.{name}" for name in GOVERNED if getattr(old, name) != getattr(new, name))
    facet_names = local_names({*old.facets, *new.facets})
    found.update(f"facets.{facet_names[ref]}" for ref in changed_facets(old, new))
    field_names = local_names({*old.structural, *new.structural})
    found.update(f"structural.{field_names[ref]}" for ref in _changed_keys(old.structural, new.structural))
    return sorted(found)


def touched_planes(before: Planes, new: AnyRecord) -> Entry:
    """The counters after the change, of each plane it advanced."""
    after = new.planes
    found: Entry = {
        name: getattr(after, name)
        for name in ("attributes", "structural", "retention")
        if getattr(after, name) != getattr(before, name)
    }
    advanced = [ref for ref, count in after.facets.items() if count != before.facets.get(ref, 0)]
    if advanced:
        names = local_names(after.facets)
        found["facets"] = {names[ref]: after.facets[ref] for ref in advanced}
    return found


def local_names(refs: Iterable[str]) -> dict[str, str]:
    """Exact refs with their local names; refs whose local names collide keep their exact form."""
    found: dict[str, list[str]] = {}
    for ref in refs:
        found.setdefault(ref.rpartition("/")[2], []).append(ref)
    return {ref: name if len(same) == 1 else ref for name, same in found.items() for ref in same}


def _identity(code: int, record: AnyRecord) -> Entry:
    entry: Entry = {"kind": KINDS[code & 7], "id": element_id(code)}
    if code & 7 == CONCEPT and isinstance(record, Concept):
        entry["schema_ref"] = record.schema
    return entry


def _refs(record: AnyRecord) -> Entry:
    if isinstance(record, Assertion):
        return {"refs": {"proposition": element_id(record.proposition)}}
    if isinstance(record, Proposition):
        return {"refs": {"subject": element_id(record.subject), "predicate_ref": record.predicate}}
    return {}


def _status(record: AnyRecord) -> str | None:
    return record.status if isinstance(record, Assertion | Evidence | Activity) else None


def _moved(old: AnyRecord, new: AnyRecord) -> dict[str, str]:
    before, after = _status(old), _status(new)
    if before is not None and after is not None and before != after:
        return {"from": before, "to": after}
    return {"from": old.state, "to": new.state}


def _retention_paths(old: AnyRecord, new: AnyRecord) -> list[str]:
    names = ("expires_at", "legal_hold", "retention_class")
    return [f"retention.{n}" for n in names if getattr(old.retention, n) != getattr(new.retention, n)]


def _changed_keys(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    keys = sorted({*before, *after})
    return [key for key in keys if (key in before) != (key in after) or differs(before.get(key), after.get(key))]
