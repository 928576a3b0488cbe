"""EXPORT CAPSULE: from a selection to a sealed artifact (specification §41.1, §63.4).

One view is one snapshot: everything in a Capsule was so at one sequence. The view is that of the caller for the
permission `export`, so what it may not see or may not hand on is not there, and what reads redacted stays redacted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kipql.capsules import closure, symbols
from kipql.capsules.artifact import sealed
from kipql.capsules.identity import source_of
from kipql.capsules.portable import Assembly, why_outside
from kipql.errors import KipError
from kipql.limits import Budget
from kipql.model import KINDS, element_code, element_id
from kipql.values import Json, json_type

if TYPE_CHECKING:
    from kipql.store.view import View

PAYLOADS = ("inline", "omitted")
OPTIONS = ("closure", "provenance_depth", "include_schema", "include_blobs", "payloads", "proof_profile")


@dataclass(frozen=True, slots=True)
class Request:
    """The options of an export.

    closure         "closed", "referential" or "selective"
    depth           steps of provenance that are followed; None is the closure's own
    include_schema  whether the Schema Packages are embedded, to look at
    include_blobs   whether the bytes behind external payloads must be inside: they are not kept here
    payloads        "inline", or "omitted" for the digests of Evidence without what it says
    """

    closure: str = closure.CLOSED
    depth: int | None = None
    include_schema: bool = False
    include_blobs: bool = False
    payloads: str = "inline"


def request(options: Mapping[str, Json]) -> Request:
    """The options of a WITH object. Raises ConstraintViolation, TypeMismatch, UnsupportedCapability."""
    for name in options:
        if name not in OPTIONS:
            raise KipError("ConstraintViolation", f"EXPORT CAPSULE has no option {name!r}", hint=", ".join(OPTIONS))
    if options.get("proof_profile") is not None:
        raise KipError(
            "UnsupportedCapability",
            "this runtime signs nothing",
            hint="leave proof_profile out, and sign the content_digest yourself",
            details={"capability": "capsule_signatures"},
        )
    kind = _chosen(options, "closure", closure.CLOSURES)
    depth = options.get("provenance_depth")
    if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int)):
        raise KipError("TypeMismatch", f"provenance_depth is an integer, not {json_type(depth)}")
    if depth is not None and depth < 0:
        raise KipError("ConstraintViolation", f"provenance_depth is {depth}; it must be 0 or more")
    flags = [options.get(name, False) for name in ("include_schema", "include_blobs")]
    if not all(isinstance(flag, bool) for flag in flags):
        raise KipError("TypeMismatch", "include_schema and include_blobs are true or false")
    return Request(kind, depth, flags[0], flags[1], _chosen(options, "payloads", PAYLOADS))


def everything(view: "View") -> list[int]:
    """Every element of a view that a record can carry."""
    codes = (element_code(kind, row) for kind in range(len(KINDS)) for row in view.rows(kind))
    return [code for code in codes if why_outside(view, code) is None]


def export(
    view: "View",
    roots: Sequence[int],
    asked: Request,
    budget: Budget,
    *,
    lineage: str | None = None,
    self_id: str | None = None,
) -> dict[str, Json]:
    """The Capsule of some elements of a view.

    lineage  which memory this is, so that its elements are recognised when they come again (`identity`)
    self_id  the Concept that the Space takes for itself; a Capsule that holds it says so, so that no destination takes
             it for its own (§38.4)

    Raises NotFoundOrNotVisible for a root that no record can carry, BlobUnavailable for `include_blobs` over payloads
    whose bytes are elsewhere.
    """
    for root in roots:
        why = why_outside(view, root)
        if why is not None:
            raise KipError("NotFoundOrNotVisible", f"{element_id(root)} can not be exported: it is {why[0]}")
    depth = closure.DEPTH[asked.closure] if asked.depth is None else asked.depth
    found = closure.collect(
        view, sorted(set(roots)), asked.closure, depth, asked.payloads, source_of(view.space_id, lineage), budget
    )
    records = [found.records[code] for code in sorted(found.records, key=lambda code: (code & 7, code >> 3))]
    if asked.include_blobs:
        _refuse_elsewhere(records)
    packages = symbols.dependencies(view.environment, records)
    payload: dict[str, Json] = {
        "manifest": {
            "kind": "snapshot",
            "closure": asked.closure,
            "roots": [element_id(code) for code in sorted(set(roots), key=lambda code: (code & 7, code >> 3))],
        },
        "source": {"space_id": view.space_id, "snapshot_seq": view.seq},
        "schema_dependencies": packages,
        "records": records,
        "external_refs": [found.external[name] for name in sorted(found.external)],
        "blobs": symbols.embedded(view.environment, packages) if asked.include_schema else {},
        "handling": _handling(found, depth, lineage, self_id),
    }
    return sealed(payload)


def _handling(found: Assembly, depth: float, lineage: str | None, self_id: str | None) -> dict[str, Json]:
    """What a reader must know about the records that their shape has no member for."""
    handling: dict[str, Json] = {"payloads": found.payloads}
    if lineage is not None:
        handling["source_lineage"] = lineage
    if depth != closure.DEPTH[closure.CLOSED]:
        handling["provenance_depth"] = depth
    if found.undated:
        handling["observed_at_unknown"] = sorted(found.undated)
    if found.left_out:
        handling["left_out"] = {name: found.left_out[name] for name in sorted(found.left_out)}
    if self_id is not None and any(record["id"] == self_id for record in found.records.values()):
        handling["source_self"] = self_id
    return handling


def _refuse_elsewhere(records: Sequence[Mapping[str, Any]]) -> None:
    for record in records:
        payload = record.get("payload")
        if isinstance(payload, Mapping) and payload.get("mode") == "external":
            raise KipError(
                "BlobUnavailable",
                f"the bytes behind {record['id']} are not kept here",
                hint="leave include_blobs out; the record names them",
                details={"id": record["id"]},
            )


def _chosen(options: Mapping[str, Json], name: str, allowed: Sequence[str]) -> str:
    value = options.get(name, allowed[0])
    if value not in allowed:
        raise KipError("ConstraintViolation", f"{name} can not be {value!r}", hint=f"one of {', '.join(allowed)}")
    return str(value)
