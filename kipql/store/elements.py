"""The wire projection of a whole element (specification §6.2, §10.2, §12.2, §13.2, §15.3, §16.3).

References read as `{id}`, citations as `{id, role}`, times in the protocol form. A purged stub keeps its identity
and says so in `governance.purged`; its content members are null or empty.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kipql.model import (
    ACTIVITY,
    ASSERTION,
    CONCEPT,
    EVIDENCE,
    KINDS,
    PROPOSITION,
    Activity,
    AnyRecord,
    Assertion,
    Edge,
    Evidence,
    Planes,
    Retention,
    element_id,
)
from kipql.schema.core import TERMINAL_STATUSES
from kipql.store.graph import CORE_FIELDS, Graph
from kipql.store.identity import decision_behind
from kipql.store.states import kept_state, state_at
from kipql.times import format_bound, format_instant
from kipql.values import Json

if TYPE_CHECKING:
    from kipql.store.view import View


def element(view: "View", code: int, record: AnyRecord | None = None) -> dict[str, Json]:
    """The whole element, as a new dict the caller may keep; of its record where the caller has that."""
    record = record or view.record(code)
    head = {"id": element_id(code), "kind": KINDS[code & 7], "space_id": view.space_id}
    if record.client_key is not None:
        head["client_key"] = record.client_key
    body = {name: member(view, record) for name, member in MEMBERS[code & 7].items()}
    if record.structural:
        body["structural"] = structural(record)
    return {
        **head,
        **body,
        "governance": governance(record),
        "retention": retention(record.retention),
        "facets": facets(record),
        "_system": system(view, code, record),
    }


def system(view: "View", code: int, record: AnyRecord) -> dict[str, Json]:
    """`_system` (§6.3)."""
    created = view.creation(code)[0]
    found: dict[str, Json] = {
        "version": record.version,
        "plane_versions": plane_versions(record.planes),
        "created_at": format_instant(view.committed_at(created)),
        "updated_at": format_instant(view.committed_at(record.seq)),
        "created_tx": f"{view.space_id}#{created}",
        "updated_tx": f"{view.space_id}#{record.seq}",
        "state": record.state,
        "origin": {
            "principal_id": record.origin.principal_id,
            "channel": record.origin.channel if view.raw_origin else None,
            "import_id": record.origin.import_id if view.raw_origin else None,
        },
    }
    if isinstance(record, Activity) and record.status in TERMINAL_STATUSES:
        found["input_versions"] = dict(record.input_versions)
        found["output_versions"] = dict(record.output_versions)
        if record.output_plane_versions:
            found["output_plane_versions"] = copied(record.output_plane_versions)
    if record.repaired_by is not None:
        found["recording_validity"] = recording_validity(record)
    if view.graph.inputs and (references := input_references(view, code)):
        found["input_references"] = references
    return found


HIDDEN_REPAIR = -1
"""Stands in `repaired_by` for a repair that the caller may not discover; that it was repaired stays known."""


def recording_validity(record: AnyRecord) -> dict[str, Json]:
    """Whether the recording stands, and the repair that says it does not (§57.8)."""
    repaired = record.repaired_by
    reference = None if repaired == HIDDEN_REPAIR else _identifier(repaired)
    return {"status": "valid" if repaired is None else "invalidated", "repair_ref": reference}


def input_references(view: "View", code: int) -> list[Json]:
    """The references that writes supplied and a merge redirected (§11.3), the transaction as the operation."""
    return [
        {
            "supplied": element_id(each.supplied),
            "resolved": element_id(each.resolved),
            "decision_id": decision_behind(view, each.supplied, each.seq),
            "identity_version": each.identity_version,
            "path": each.path,
            "op_id": f"{view.space_id}#{each.seq}",
        }
        for each in view.input_references(code)
    ]


def plane_versions(planes: Planes) -> dict[str, Json]:
    """The counters of the version planes, Facets by exact ref."""
    return {
        "attributes": planes.attributes,
        "structural": planes.structural,
        "retention": planes.retention,
        "facets": dict(planes.facets),
    }


def governance(record: AnyRecord) -> dict[str, Json]:
    """The governance hook; an Assertion's `authority_lineage` is what it cites (§31.5)."""
    found: dict[str, Json] = {
        "classification": record.classification,
        "authority_class": record.authority_class or "descriptive",
    }
    if isinstance(record, Assertion):
        found["authority_lineage"] = [element_id(edge.target) for edge in record.evidence]
    if record.quarantined:
        found["quarantined"] = True
    if record.state == "purged":
        found["purged"] = True
    return found


def retention(hook: Retention) -> dict[str, Json]:
    """The retention hook (§19.1)."""
    return {
        "retention_class": hook.retention_class,
        "expires_at": instant(hook.expires_at),
        "legal_hold": hook.legal_hold,
    }


def facets(record: AnyRecord) -> dict[str, Json]:
    """Facets by exact ref (§18.1)."""
    return {ref: copied(members) for ref, members in record.facets.items()}


def structural(record: AnyRecord) -> dict[str, Json]:
    """Package-declared references by exact field symbol."""
    return {
        ref: [cited(edge) if edge.role else reference(edge.target) for edge in edges]
        for ref, edges in record.structural.items()
    }


def reference(code: int) -> dict[str, str]:
    """`{id}`."""
    return {"id": element_id(code)}


def references(codes: Iterable[int]) -> list[dict[str, str]]:
    """`[{id}]`."""
    return [{"id": element_id(code)} for code in codes]


def cited(edge: Edge) -> dict[str, Json]:
    """`{id, role}`."""
    return {"id": element_id(edge.target), "role": edge.role}


def term(view: "View", code: int) -> Json:
    """An object term: `{id}`, the Literal, or `{canonical_id}` for an identity that no element carries (§8.2)."""
    return reference(code) if code >= 0 else view.literal(code)


def instant(value: int | None) -> str | None:
    """A timestamp, null where there is none."""
    return None if value is None else format_instant(value)


def valid_time(record: Assertion) -> dict[str, Json]:
    """`{from, until}` as written."""
    return {"from": format_bound(record.valid.start), "until": format_bound(record.valid.end)}


def assertion_lifecycle(record: Assertion) -> dict[str, Json]:
    """The stored lifecycle (§14); `expired` is never stored."""
    return {
        "status": record.status,
        "supersedes": references(record.supersedes),
        "superseded_by": references(record.superseded_by),
        "retracted_at": instant(record.retracted_at),
    }


def evidence_lifecycle(record: Evidence) -> dict[str, Json]:
    """The lifecycle of Evidence (§57.2)."""
    return {
        "status": record.status,
        "corrects": references(record.corrects),
        "corrected_by": references(record.corrected_by),
    }


def core_edges(graph: Graph, code: int, field: str, seq: int) -> tuple[Edge, ...] | None:
    """The references of a Core field, None when the kind has no such field."""
    kind, row = code & 7, code >> 3
    if field not in CORE_FIELDS.get(kind, ()):
        return None
    if kind == ASSERTION and row not in graph.side[kind]:
        if field == "context":
            return tuple(Edge(target) for target in graph.assertions.contexts.get(row, ()))
        return graph.assertions.evidence(row, graph.assertions.read(row).flags)
    record = kept_state(graph, code, seq) or state_at(graph, code, seq)
    if isinstance(record, Assertion) and field == "context":
        return tuple(Edge(target) for target in record.context)
    edges: tuple[Edge, ...] = getattr(record, field)
    return edges


def copied(value: Json) -> Json:
    """A JSON value the caller may change: containers new, scalars shared."""
    if isinstance(value, Mapping):
        return {key: copied(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [copied(item) for item in value]
    return value


def _identifier(code: int | None) -> str | None:
    return None if code is None else element_id(code)


def _first(edges: Sequence[Edge]) -> Json:
    return reference(edges[0].target) if edges else None


def _targets(edges: Sequence[Edge]) -> Json:
    return references(edge.target for edge in edges)


Read = Callable[["View", Any], Json]

MEMBERS: dict[int, dict[str, Read]] = {
    CONCEPT: {
        "schema_ref": lambda view, record: record.schema,
        "key": lambda view, record: record.key,
        "name": lambda view, record: record.name,
        "canonical_id": lambda view, record: record.canonical_id,
        "aliases": lambda view, record: list(record.aliases),
        "attributes": lambda view, record: copied(record.attributes),
        "merged_into": lambda view, record: _identifier(record.merged_into),
        "structural": lambda view, record: structural(record),
    },
    PROPOSITION: {
        "subject": lambda view, record: reference(record.subject),
        "predicate_ref": lambda view, record: record.predicate,
        "object": lambda view, record: term(view, record.object),
    },
    ASSERTION: {
        "proposition": lambda view, record: reference(record.proposition),
        "asserted_by": lambda view, record: reference(record.asserted_by),
        "stance": lambda view, record: record.stance,
        "mode": lambda view, record: record.mode,
        "confidence": lambda view, record: record.confidence,
        "asserted_at": lambda view, record: format_instant(record.asserted_at),
        "valid_time": lambda view, record: valid_time(record),
        "evidence": lambda view, record: [cited(edge) for edge in record.evidence],
        "context_refs": lambda view, record: references(record.context),
        "lifecycle": lambda view, record: assertion_lifecycle(record),
    },
    EVIDENCE: {
        "evidence_class": lambda view, record: record.evidence_class,
        "payload": lambda view, record: copied(record.payload),
        "content_digest": lambda view, record: record.content_digest,
        "media_type": lambda view, record: record.media_type,
        "observed_at": lambda view, record: instant(record.observed_at),
        "source": lambda view, record: _targets(record.source),
        "generated_by": lambda view, record: _first(record.generated_by),
        "lifecycle": lambda view, record: evidence_lifecycle(record),
    },
    ACTIVITY: {
        "activity_class": lambda view, record: record.activity_class,
        "status": lambda view, record: record.status,
        "started_at": lambda view, record: instant(record.started_at),
        "ended_at": lambda view, record: instant(record.ended_at),
        "parameters_digest": lambda view, record: record.parameters_digest,
        "inputs": lambda view, record: _targets(record.inputs),
        "outputs": lambda view, record: _targets(record.outputs),
        "associated_actors": lambda view, record: _targets(record.associated_actors),
    },
}
"""What each kind adds to the common envelope, member by member."""
