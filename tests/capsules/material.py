"""A small memory with every kind of element in it, and Capsules made by hand."""

import copy
from collections.abc import Callable
from typing import Any

import kipql
from kipql.capsules.artifact import sealed
from tests.mutate.kml_space import THINGS

NOON = "2026-05-01T12:00:00.000Z"
STORY = """MUTATE {
  CREATE CONCEPT ?ada { TYPE "Person" NAME "Ada" SET FIELDS {key: "ada", aliases: ["Countess"]} }
  CREATE CONCEPT ?bo { TYPE "Person" NAME "Bo" SET FIELDS {key: "bo", canonical_id: "did:bo"} }
  CREATE CONCEPT ?work { TYPE "Thing" NAME "Work" SET ATTRIBUTES {floor: 3, open: true} }
  CREATE CONCEPT ?box { TYPE "Box" NAME "Box" SET ATTRIBUTES {size: 2.5} SET FACET "Wear" {level: 1}
    SET STRUCTURAL { ("part", ?work) ("part", ?ada) ("tag", ?bo) } }
  CREATE EVIDENCE ?said { CLIENT KEY "msg:1" SET FIELDS {evidence_class: "message", payload: "I like the box.",
    observed_at: "2026-05-01T12:00:00.000Z", media_type: "text/plain"} SET STRUCTURAL { ("source", ?ada) } }
  CREATE EVIDENCE ?summary { SET FIELDS {evidence_class: "derived_result", payload: {likes: "box"}} }
  CREATE ACTIVITY ?reading { SET FIELDS {activity_class: "extraction", status: "completed"}
    SET STRUCTURAL { ("inputs", ?said) ("outputs", ?summary) ("associated_actors", ?bo) } }
  ENSURE PROPOSITION ?near (?ada, "near", ?box)
  CREATE ASSERTION ?claim { CLIENT KEY "claim:1" SET FIELDS {proposition: ?near, asserted_by: ?ada, stance: "support",
    mode: "stated", confidence: 0.75, asserted_at: "2026-05-01T12:00:00.000Z",
    valid_time: {from: "2026-05-01T00:00:00.000Z"}, context_refs: [?work]}
    SET STRUCTURAL { ("evidence", ?summary) {role: "support"} } }
  ASSERT ?guess (?bo, "says", "fünf") {by: ?bo, mode: "hypothetical", confidence: 0.25}
  ASSERT ?count (?bo, "says", 5) {by: ?bo, mode: "stated", stance: "reject"}
}"""
EVERYTHING = (
    "{ ?x CONCEPT {} } UNION { ?x PROPOSITION (?s, ?p, ?o) } UNION { ?x ASSERTION {} } "
    "UNION { ?x EVIDENCE {} } UNION { ?x ACTIVITY {} }"
)


def empty(**options: Any) -> kipql.Nexus:
    """A memory with the package that the story needs."""
    return kipql.open(packages=[THINGS], **options)


def told(**options: Any) -> tuple[kipql.Nexus, dict[str, str]]:
    """The memory of the story, and its ids by handle."""
    nexus = empty(**options)
    return nexus, dict(nexus.execute(STORY).handles)  # type: ignore[union-attr]


def resealed(capsule: dict[str, Any], change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """A copy whose payload was changed and sealed again: only its content can be at fault."""
    payload = copy.deepcopy(capsule["payload"])
    change(payload)
    return sealed(payload)


def record_of(payload: dict[str, Any], kind: str, at: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = [record for record in payload["records"] if record["kind"] == kind][at]
    return found
