"""A small package and a few elements in memory, for tests of the schema."""

from collections.abc import Mapping
from typing import Any

from kipql.errors import KipError
from kipql.model import AnyRecord, Concept, Edge, element_code, kind_of
from kipql.schema.environment import Environment
from kipql.schema.packages import Package
from kipql.schema.rules import check
from kipql.values import Json

LAB = "kip://lab/things@1.0.0"


def package(
    definitions: Mapping[str, Any], *, version: str = "1.0.0", path: str = "kip://lab/things", **rest: Any
) -> Package:
    """An abbreviated package, as hosts write them."""
    return Package.load({"manifest": {"package_id": path, "version": version}, "definitions": definitions, **rest})


def environment(*packages: Package, version: int = 1) -> Environment:
    return Environment.of(packages, version)


THINGS = {
    "concept_types": {
        "Robot": {
            "attributes": {
                "fields": {
                    "label": {"type": "string", "required": True},
                    "serial": {"type": "string", "mutable": False},
                    "speed": {"type": "number", "minimum": 0, "maximum": 10},
                    "wheels": {"type": "integer"},
                    "mood": {"type": ["string", "null"], "enum": ["calm", "loud", None]},
                    "built_at": {"type": ["timestamp", "null"]},
                    "checked": {"type": "string", "format": "timestamp"},
                    "home": {"type": "string", "format": "uri"},
                    "parts": {"type": ["array", "object"]},
                    "on": {"type": "boolean"},
                    "age": {"type": "number", "computed": True},
                }
            }
        },
        "Room": {"attributes": {"open": True, "fields": {}}},
        "Plain": {},
        "Captain": {},
    },
    "predicates": {
        "stands_in": {"subject": {"concept_types": ["Robot"]}, "object": {"concept_types": [f"{LAB}/Room"]}},
        "named": {"subject": {"kinds": ["Concept"]}, "object": {"datatypes": ["kip:string"]}},
        "shown_as": {"object": {"kinds": ["Concept"], "literal_types": ["string"], "nullable": True}},
        "moment": {"object": {"literal_types": ["string"], "format": "timestamp"}},
        "page": {"object": {"format": "uri"}},
        "about": {},
    },
    "facets": {
        "Wear": {"applicable_to": {"concept_types": ["Robot"]}, "fields": {"level": {"type": "number", "maximum": 1}}},
        "Loose": {"closed": False, "fields": {}},
        "Derived": {"computed": True, "fields": {"n": {"type": "number"}}},
        "Grade": {
            "applicable_to": {"kinds": ["Evidence", "Assertion", "Activity"]},
            "reference_paths": [{"path": "/of", "target": "element", "namespace": "source"}],
            "fields": {
                "score": {"type": "number", "required": True, "mutable": False},
                "note": {"type": "string", "mutable": False},
                "of": {"type": ["string", "null"], "mutable": False},
            },
        },
        "Verdict": {
            "applicable_to": {"kinds": ["Activity"]},
            "attachment": {"activity_classes": ["verdict"], "terminal_only": True},
            "fields": {"text": {"type": "string", "mutable": False}},
        },
    },
    "structural_fields": {
        "has_part": {
            "source": {"concept_types": ["Robot"]},
            "target": {"concept_types": ["Robot", "Plain"]},
            "cardinality": {"min": 0, "max": 2},
            "ordered": True,
            "unique": True,
        },
        "led_by": {
            "source": {"concept_types": ["Captain"]},
            "target": {"kinds": ["Concept"]},
            "cardinality": {"min": 1, "max": 1},
        },
        "evidence": {"source": {"kinds": ["Concept", "Activity"]}, "target": {"kinds": ["Concept"]}},
        "derived": {"target": {"kinds": ["Concept"]}, "computed": True},
    },
}


class Small:
    """Elements by code, and Literals by negative code, as the rules read them."""

    def __init__(self, *types: str) -> None:
        self.types = {element_code(0, row): f"{LAB}/{name}" for row, name in enumerate(types)}
        self.literals: list[Json] = []

    def kind(self, code: int) -> int:
        return kind_of(code)

    def concept_type(self, code: int) -> str:
        return self.types[code]

    def literal(self, code: int) -> Json:
        return self.literals[-code - 1]

    def exists(self, code: int) -> bool:
        return code in self.types or (kind_of(code) != 0 and code >> 3 < 5)

    def intern(self, value: Json) -> int:
        self.literals.append(value)
        return -len(self.literals)


def concept(schema: str = "Robot", edges: Mapping[str, tuple[int, ...]] | None = None, **members: Any) -> Concept:
    structural = {f"{LAB}/{name}": tuple(Edge(code) for code in codes) for name, codes in (edges or {}).items()}
    facets = {f"{LAB}/{name}": facet for name, facet in members.pop("facets", {}).items()}
    return Concept(schema=f"{LAB}/{schema}", structural=structural, facets=facets, **members)


def verdict(env: Environment, new: AnyRecord, old: AnyRecord | None = None, elements: Small | None = None) -> str:
    """The code of the breach, or "ok"."""
    try:
        check(env, new, old, elements or Small("Robot", "Room", "Plain", "Captain"))
    except KipError as error:
        return error.code
    return "ok"
