"""A small memory with something public, something internal and something secret in it."""

from dataclasses import dataclass

import pytest

import kipql

SETTING = """MUTATE {
  CREATE CONCEPT ?alice { TYPE "Person" NAME "Alice" SET FIELDS {key: "alice"} }
  CREATE CONCEPT ?bob { TYPE "Person" NAME "Bob" SET FIELDS {key: "bob"} }
  CREATE CONCEPT ?dave { TYPE "Person" NAME "Dave" SET FIELDS {key: "dave"} }
  CREATE CONCEPT ?dark { TYPE "Option" NAME "Dark mode" SET FIELDS {key: "dark"} }
  CREATE CONCEPT ?light { TYPE "Option" NAME "Light mode" SET FIELDS {key: "light"} }
  CREATE EVIDENCE ?said { SET FIELDS {evidence_class: "message", payload: "I like it dark."} }
  CREATE EVIDENCE ?told { SET FIELDS {evidence_class: "message", payload: "Dave likes it light."} }
  ASSERT ?a (?alice, "prefers", ?dark) {by: ?alice, mode: "stated", confidence: 0.5, evidence: ?said}
  ASSERT ?b (?bob, "prefers", ?dark) {by: ?bob, mode: "stated", confidence: 0.5}
  ASSERT ?d (?dave, "prefers", ?light) {by: ?dave, mode: "stated", confidence: 0.5, evidence: ?told}
}"""
PACKAGE = {
    "format": "KIP-Schema-Package",
    "manifest": {"package_id": "kip://test/govern", "version": "1.0.0"},
    "definitions": {
        "concept_types": {
            "Option": {"kind": "ConceptType", "description": "Anything.", "attributes": {"open": True}},
        },
        "structural_fields": {
            "seen_in": {
                "kind": "StructuralFieldDefinition",
                "description": "Where it was seen.",
                "source": {"kinds": ["Concept"]},
                "target": {"kinds": ["Evidence"]},
            },
        },
    },
}


@dataclass(slots=True)
class Setting:
    """`ids` by handle; Dave and what Dave was told are secret."""

    nexus: kipql.Nexus
    ids: dict[str, str]

    def as_(self, principal: str) -> kipql.Nexus:
        return self.nexus.as_principal(principal)


@pytest.fixture
def setting() -> Setting:
    """Nobody holds anything yet, so everybody holds everything."""
    nexus = kipql.open(packages=[PACKAGE])
    ids = dict(nexus.execute(SETTING).handles)
    return Setting(nexus, ids)


@pytest.fixture
def governed(setting: Setting) -> Setting:
    """`reader` reads up to internal; `everything` reads everything."""
    govern = setting.nexus.govern
    govern.labels("public", "internal", "secret")
    govern.classify([setting.ids["dave"], setting.ids["told"]], "secret")
    govern.classify(setting.ids["alice"], "internal")
    reading = ("discover", "read", "search", "project")
    govern.grant("reader", *reading, "read_history", up_to="internal")
    govern.grant("everything", *reading, "read_history")
    return setting
