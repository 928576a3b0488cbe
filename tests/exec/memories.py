"""The memories that `.kqt` cases read, built by KML as any client would."""

from functools import cache

import kipql
from tests.belief.world import MERGED, PEOPLE, TEXTS

LAB = {
    "manifest": {"package_id": "kip://test/lab", "version": "1.0.0"},
    "definitions": {
        "concept_types": {
            "Robot": {"description": "A machine.", "attributes": {"open": True}},
            "Part": {"description": "A piece of a machine.", "attributes": {"open": True}},
            "Room": {"description": "A place.", "attributes": {"open": True}},
        },
        "predicates": {
            "has_part": {"description": "Consists of.", "object": {"concept_types": ["Part"]}},
            "stands_in": {"description": "Is located in.", "object": {"concept_types": ["Room"]}},
            "leads_to": {"description": "A door.", "object": {"concept_types": ["Room"]}},
            "faces": {"description": "A window.", "object": {"concept_types": ["Room"]}},
            "label": {"description": "A text on it.", "object": {"literal_types": ["string"]}},
            "weight": {"description": "In kilograms.", "object": {"literal_types": ["number"]}},
            "marked": {"description": "Anything.", "object": {}},
            "noted": {"description": "A remark about a statement.", "object": {"kinds": ["Proposition"]}},
            "void": {"description": "May be null.", "object": {"literal_types": ["string"], "nullable": True}},
        },
        "facets": {
            "Wear": {
                "description": "How worn it is.",
                "fields": {"level": {"type": "number"}, "seen": {"type": ["string", "null"]}},
            }
        },
        "structural_fields": {
            "goes_through": {
                "description": "Ordered steps.",
                "source": {"kinds": ["Concept"]},
                "target": {"kinds": ["Concept"]},
                "ordered": True,
            },
            "beside": {
                "description": "Unordered neighbours.",
                "source": {"kinds": ["Concept", "Activity"]},
                "target": {"kinds": ["Concept"]},
                "ordered": False,
            },
        },
    },
}

_CREATE = """MUTATE {
  CREATE CONCEPT ?r1 { TYPE "Robot" NAME "Ada" SET FIELDS {key: "r1", aliases: ["A", "First"]}
    SET ATTRIBUTES {arms: 2, speed: 1.5, on: true, tags: ["red", "fast"], note: null,
                    maker: {name: "Acme", city: "Bern"}} }
  CREATE CONCEPT ?r2 { TYPE "Robot" NAME "Bob" SET FIELDS {key: "r2"}
    SET ATTRIBUTES {arms: 4, on: false, tags: ["red"], maker: {name: "Bolt"}} }
  CREATE CONCEPT ?r3 { TYPE "Robot" NAME "Ada" SET FIELDS {key: "r3"} SET ATTRIBUTES {arms: "many"} }
  CREATE CONCEPT ?leg { TYPE "Part" NAME "Leg" SET FIELDS {key: "leg"} SET FACET "Wear" {level: 0.5, seen: null} }
  CREATE CONCEPT ?arm { TYPE "Part" NAME "Arm" SET FIELDS {key: "arm"} SET FACET "Wear" {level: 0.9} }
  CREATE CONCEPT ?key { TYPE "Part" NAME "Key" SET FIELDS {key: "r1"} }
  CREATE CONCEPT ?hall { TYPE "Room" NAME "Hall" SET FIELDS {key: "hall"} }
  CREATE CONCEPT ?attic { TYPE "Room" NAME "Attic" SET FIELDS {key: "attic"} }
  CREATE CONCEPT ?cellar { TYPE "Room" NAME "Cellar" SET FIELDS {key: "cellar"} }
  CREATE CONCEPT ?yard { TYPE "Room" NAME "Yard" SET FIELDS {key: "yard"} }
  ENSURE PROPOSITION ?p1 (?r1, "has_part", ?leg)
  ENSURE PROPOSITION ?p2 (?r1, "has_part", ?arm)
  ENSURE PROPOSITION ?p3 (?r2, "has_part", ?leg)
  ENSURE PROPOSITION ?p4 (?r1, "stands_in", ?hall)
  ENSURE PROPOSITION ?p5 (?r2, "stands_in", ?attic)
  ENSURE PROPOSITION ?p6 (?hall, "leads_to", ?attic)
  ENSURE PROPOSITION ?p7 (?attic, "leads_to", ?cellar)
  ENSURE PROPOSITION ?p8 (?cellar, "leads_to", ?hall)
  ENSURE PROPOSITION ?p9 (?hall, "faces", ?yard)
  ENSURE PROPOSITION ?p10 (?r1, "label", "C-5")
  ENSURE PROPOSITION ?p11 (?r1, "weight", 12)
  ENSURE PROPOSITION ?p12 (?r2, "weight", 7.5)
  ENSURE PROPOSITION ?p13 (?r1, "marked", true)
  ENSURE PROPOSITION ?p14 (?r2, "marked", 1)
  ENSURE PROPOSITION ?p15 (?r3, "marked", ?r1)
  ENSURE PROPOSITION ?p16 (?r1, "void", null)
  CREATE EVIDENCE ?e1 {
    SET FIELDS {evidence_class: "measurement", payload: :payload, observed_at: "2026-01-02T03:04:05.006Z"}
    SET STRUCTURAL {("source", ?r1)} }
  CREATE EVIDENCE ?e2 { SET FIELDS {evidence_class: "message", payload: "hello"} }
  CREATE ASSERTION ?a1 {
    SET FIELDS {proposition: ?p1, asserted_by: ?r2, stance: "support", mode: "observed", confidence: 0.9,
                asserted_at: "2026-01-02T00:00:00.000Z"}
    SET STRUCTURAL {("evidence", ?e1) {role: "support"} ("evidence", ?e2) {role: "context"}} }
  CREATE ASSERTION ?a2 {
    SET FIELDS {proposition: ?p1, asserted_by: ?r3, stance: "reject", mode: "stated",
                asserted_at: "2026-01-03T00:00:00.000Z"} }
  CREATE ASSERTION ?a3 {
    SET FIELDS {proposition: ?p3, asserted_by: ?r2, stance: "support", mode: "stated", confidence: 0.5,
                context_refs: [?hall], asserted_at: "2026-01-04T00:00:00.000Z"} }
  CREATE ACTIVITY ?x1 { SET FIELDS {activity_class: "inspection", status: "completed"}
    SET STRUCTURAL {("inputs", ?r1) ("outputs", ?leg) ("associated_actors", ?r2) ("beside", ?yard)} }
}"""

_LAB = (
    _CREATE,
    'UPDATE "C-1" SET STRUCTURAL {("goes_through", "C-5") ("goes_through", "C-4") ("beside", "C-7")}',
    'ENSURE PROPOSITION ?n ((id: "P-1"), "noted", (id: "P-3"))',
    'TRANSITION "A-2" TO "retracted"',
)

_MERGED = (
    *_LAB,
    'TRANSITION "C-6" TO "archived"',
    """MUTATE {
      CREATE CONCEPT ?old { TYPE "Robot" NAME "Old Ada" SET FIELDS {key: "old"} }
      ENSURE PROPOSITION ?p (?old, "has_part", "C-4")
      ENSURE PROPOSITION ?q (?old, "stands_in", "C-9")
    }""",
    'MERGE CONCEPT "C-11" INTO "C-1"',
    'TRANSITION "P-9" TO "tombstoned"',
    """CREATE ACTIVITY ?x { SET FIELDS {activity_class: "import", status: "completed"}
       SET STRUCTURAL {("inputs", "C-2") ("outputs", "C-3")} }""",
)

_TEXTS: dict[str, tuple[str, ...]] = {
    "empty": (),
    "lab": _LAB,
    "merged": _MERGED,
    "beliefs": TEXTS,
    "merged_beliefs": MERGED,
}


@cache
def memory(name: str) -> kipql.Nexus:
    """A memory by name: `empty`, `lab` (ten Concepts), `merged` (lab with a merge, an archived Concept and a
    tombstoned Proposition), `beliefs` and `merged_beliefs` (tests/belief/world.py)."""
    nexus = kipql.open()
    nexus.install_packages([PEOPLE if "beliefs" in name else LAB])
    payload = {"dia": "D1:3", "value": 3, "tags": ["x", "y"]}
    for text in _TEXTS[name]:
        nexus.execute(text, {"payload": payload})
    return nexus
