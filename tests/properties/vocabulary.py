"""The small world that generated memories and queries speak about."""

from typing import Any

PACKAGE: dict[str, Any] = {
    "format": "KIP-Schema-Package",
    "manifest": {"package_id": "kip://test/world", "version": "1.0.0"},
    "definitions": {
        "concept_types": {
            "Robot": {
                "kind": "ConceptType",
                "description": "A machine.",
                "attributes": {
                    "open": True,
                    "fields": {"size": {"type": ["number", "null"]}, "color": {"type": ["string", "null"]}},
                },
            },
            "Place": {"kind": "ConceptType", "description": "Somewhere.", "attributes": {"open": True, "fields": {}}},
        },
        "predicates": {
            "at": {
                "kind": "PredicateType",
                "description": "The subject is at the object.",
                "subject": {"kinds": ["Concept"]},
                "object": {"kinds": ["Concept"]},
            },
            "knows": {"kind": "PredicateType", "description": "The subject knows the object."},
            "weighs": {
                "kind": "PredicateType",
                "description": "The subject weighs the object.",
                "object": {"literal_types": ["number", "string", "boolean"], "nullable": True},
            },
        },
        "facets": {
            "Mood": {
                "kind": "FacetDefinition",
                "description": "How it feels.",
                "applicable_to": {"kinds": ["Concept"]},
                "fields": {"level": {"type": "number", "mutable": True}},
            }
        },
        "structural_fields": {
            "part": {
                "kind": "StructuralFieldDefinition",
                "description": "Its parts, in order.",
                "source": {"kinds": ["Concept"]},
                "target": {"kinds": ["Concept"]},
                "ordered": True,
                "unique": True,
            },
            "seen_with": {
                "kind": "StructuralFieldDefinition",
                "description": "What it was seen with.",
                "source": {"kinds": ["Concept"]},
                "target": {"kinds": ["Concept"]},
            },
        },
    },
}

ROBOTS = ("r0", "r1", "r2", "r3")
PLACES = ("p0", "p1")
PEOPLE = ("a0", "a1")
KEYS = ROBOTS + PLACES + PEOPLE
TYPE_OF_KEY = {"r": "Robot", "p": "Place", "a": "Person"}
NAMES = ("north", "south", "Zoë")
COLORS = ("red", "green")
NUMBERS = (0, 1, 2, 2.5, -1)
LITERALS = ("red", "2", 2, 0, 2.5, True, False, None)
PREDICATES = ("at", "knows", "weighs")
FIELDS = ("part", "seen_with")


def reference(key: str) -> str:
    """The text of a reference by type and key."""
    return f'{{type: "{TYPE_OF_KEY[key[0]]}", key: "{key}"}}'


def text(value: object) -> str:
    """A scalar as command text."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f'"{value}"' if isinstance(value, str) else repr(value)
