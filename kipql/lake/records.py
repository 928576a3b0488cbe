"""From the wire element that a lake holds back to the record it was made from (specification §6.2, §10-§16).

Exact for everything that a belief reads; what nothing computes with (`input_references`) is left behind.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

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
    Origin,
    Planes,
    Proposition,
    Retention,
    parse_id,
)
from kipql.store.elements import HIDDEN_REPAIR
from kipql.times import Interval, parse_bound, parse_instant
from kipql.values import Json

Wire = Mapping[str, Any]


def record_of(kind: int, wire: Wire, term: int | None = None, payload: Json = None) -> AnyRecord:
    """The record of a wire element.

    term     the object of a Proposition
    payload  of an Evidence, which the wire element of a lake is without
    """
    system, governance, retention = wire["_system"], wire["governance"], wire["retention"]
    authority = governance["authority_class"]
    common: dict[str, Any] = {
        "state": system["state"],
        "client_key": wire.get("client_key"),
        "retention": Retention(
            retention["retention_class"], _instant(retention["expires_at"]), bool(retention["legal_hold"])
        ),
        "facets": wire["facets"],
        "structural": {ref: _edges(edges) for ref, edges in wire.get("structural", {}).items()},
        "origin": Origin(**system["origin"]),
        "classification": governance["classification"],
        "authority_class": None if authority == "descriptive" else authority,
        "quarantined": governance.get("quarantined", False),
        "repaired_by": _repair(system.get("recording_validity")),
        "version": system["version"],
        "planes": Planes(**system["plane_versions"]),
        "seq": int(system["updated_tx"].rpartition("#")[2]),
    }
    own = _OWN[kind](wire)
    if kind == PROPOSITION:
        own["object"] = term
    elif kind == EVIDENCE:
        own["payload"] = payload
    made: AnyRecord = _CLASSES[kind](**common, **own)
    return made


def _concept(wire: Wire) -> dict[str, Any]:
    return {
        "schema": wire["schema_ref"],
        "key": wire["key"],
        "name": wire["name"],
        "canonical_id": wire["canonical_id"],
        "aliases": tuple(wire["aliases"]),
        "attributes": wire["attributes"],
        "merged_into": _code(wire["merged_into"]),
    }


def _proposition(wire: Wire) -> dict[str, Any]:
    return {"subject": _code(wire["subject"]), "predicate": wire["predicate_ref"]}


def _assertion(wire: Wire) -> dict[str, Any]:
    valid, lifecycle = wire["valid_time"], wire["lifecycle"]
    return {
        "proposition": _code(wire["proposition"]),
        "asserted_by": _code(wire["asserted_by"]),
        "stance": wire["stance"],
        "mode": wire["mode"],
        "asserted_at": parse_instant(wire["asserted_at"]),
        "confidence": wire["confidence"],
        "valid": Interval(parse_bound(valid["from"], "from"), parse_bound(valid["until"], "until")),
        "evidence": _edges(wire["evidence"]),
        "context": _codes(wire["context_refs"]),
        "status": lifecycle["status"],
        "supersedes": _codes(lifecycle["supersedes"]),
        "superseded_by": _codes(lifecycle["superseded_by"]),
        "retracted_at": _instant(lifecycle["retracted_at"]),
    }


def _evidence(wire: Wire) -> dict[str, Any]:
    lifecycle, generated_by = wire["lifecycle"], wire["generated_by"]
    return {
        "evidence_class": wire["evidence_class"],
        "content_digest": wire["content_digest"],
        "media_type": wire["media_type"],
        "observed_at": _instant(wire["observed_at"]),
        "source": _edges(wire["source"]),
        "generated_by": _edges([generated_by] if generated_by is not None else []),
        "status": lifecycle["status"],
        "corrects": _codes(lifecycle["corrects"]),
        "corrected_by": _codes(lifecycle["corrected_by"]),
    }


def _activity(wire: Wire) -> dict[str, Any]:
    system = wire["_system"]
    return {
        "activity_class": wire["activity_class"],
        "status": wire["status"],
        "started_at": _instant(wire["started_at"]),
        "ended_at": _instant(wire["ended_at"]),
        "parameters_digest": wire["parameters_digest"],
        "inputs": _edges(wire["inputs"]),
        "outputs": _edges(wire["outputs"]),
        "associated_actors": _edges(wire["associated_actors"]),
        "input_versions": system.get("input_versions", {}),
        "output_versions": system.get("output_versions", {}),
        "output_plane_versions": system.get("output_plane_versions", {}),
    }


_OWN: Mapping[int, Callable[[Wire], dict[str, Any]]] = {
    CONCEPT: _concept,
    PROPOSITION: _proposition,
    ASSERTION: _assertion,
    EVIDENCE: _evidence,
    ACTIVITY: _activity,
}
_CLASSES: Mapping[int, Callable[..., AnyRecord]] = {
    CONCEPT: Concept,
    PROPOSITION: Proposition,
    ASSERTION: Assertion,
    EVIDENCE: Evidence,
    ACTIVITY: Activity,
}


def _code(reference: Any) -> int | None:
    """The code of `{id}` or of an id."""
    named = reference["id"] if isinstance(reference, Mapping) else reference
    return None if named is None else parse_id(named)


def _codes(references: Iterable[Any]) -> tuple[int, ...]:
    return tuple(code for code in map(_code, references) if code is not None)


def _edges(references: Iterable[Any]) -> tuple[Edge, ...]:
    found = ((_code(each), each.get("role")) for each in references)
    return tuple(Edge(code, role) for code, role in found if code is not None)


def _instant(text: str | None) -> int | None:
    return None if text is None else parse_instant(text)


def _repair(validity: Wire | None) -> int | None:
    """The repair that invalidated a recording; that it was invalidated stays known where the repair is withheld."""
    if validity is None or validity["status"] == "valid":
        return None
    known = _code(validity["repair_ref"])
    return HIDDEN_REPAIR if known is None else known
