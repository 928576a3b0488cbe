"""The virtual Core Package `kip://core@2.0.0` (specification §20.13).

It has no artifact, is active in every Schema Environment and is never listed beside installed symbols.
Core structural fields are resolved by the kind of the source element, never through a package, which is why
a package may give a Structural Field of its own the same name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kipql import model
from kipql.model import ACTIVITY, ASSERTION, CONCEPT, EVIDENCE, KIND_NAMES, PROPOSITION
from kipql.schema.refs import CORE_PACKAGE, CORE_REF, CORE_VERSION

STANCES = frozenset(model.STANCES)
MODES = frozenset(model.MODES)
ASSERTION_STATUSES = frozenset(model.ASSERTION_STATUSES)
EVIDENCE_STATUSES = frozenset(model.EVIDENCE_STATUSES)
EVIDENCE_ROLES = frozenset(model.ROLES)
ACTIVITY_STATUSES = frozenset(model.ACTIVITY_STATUSES)
TERMINAL_STATUSES = frozenset(model.TERMINAL_STATUSES)
BELIEF_STATUSES = frozenset(model.BELIEF_STATUSES)
ELEMENT_STATES = frozenset(model.STATES)

ANY_KIND = frozenset({CONCEPT, PROPOSITION, ASSERTION, EVIDENCE, ACTIVITY})
RESERVED_TYPE_NAMES = frozenset(KIND_NAMES)
"""Names that no Concept Type may take: in a type position they would shadow a Core kind."""


@dataclass(frozen=True, slots=True)
class CoreField:
    """A reserved structural field: its plain name, the kind that carries it, the kinds it may point to.

    `cited` fields take a role on each reference; a `single` field holds at most one.
    """

    name: str
    source: int
    targets: frozenset[int]
    cited: bool = False
    single: bool = False


CORE_FIELDS: Mapping[tuple[int, str], CoreField] = {
    (field.source, field.name): field
    for field in (
        CoreField("evidence", ASSERTION, frozenset({EVIDENCE}), cited=True),
        CoreField("context", ASSERTION, frozenset({CONCEPT})),
        CoreField("source", EVIDENCE, frozenset({CONCEPT, EVIDENCE})),
        CoreField("generated_by", EVIDENCE, frozenset({ACTIVITY}), single=True),
        CoreField("inputs", ACTIVITY, ANY_KIND),
        CoreField("outputs", ACTIVITY, ANY_KIND),
        CoreField("associated_actors", ACTIVITY, frozenset({CONCEPT})),
    )
}

REGISTRIES: Mapping[str, tuple[str, ...]] = {
    "stance": model.STANCES,
    "mode": model.MODES,
    "assertion_lifecycle": (*model.ASSERTION_STATUSES, "expired"),
    "evidence_lifecycle": model.EVIDENCE_STATUSES,
    "evidence_role": model.ROLES,
    "activity_status": model.ACTIVITY_STATUSES,
    "activity_terminal": model.TERMINAL_STATUSES,
    "belief_status": model.BELIEF_STATUSES,
}


def description() -> dict[str, Any]:
    """What DESCRIBE PACKAGE "kip://core@2.0.0" has to say, in the shape of a package artifact."""
    return {
        "format": "KIP-Schema-Package",
        "manifest": {"package_id": CORE_PACKAGE, "version": CORE_VERSION, "package_ref": CORE_REF, "virtual": True},
        "definitions": {},
        "element_kinds": [f"{CORE_REF}/{name}" for name in KIND_NAMES],
        "structural_fields": {
            f"{KIND_NAMES[field.source]}.{field.name}": sorted(KIND_NAMES[kind] for kind in field.targets)
            for field in CORE_FIELDS.values()
        },
        "registries": {name: list(values) for name, values in REGISTRIES.items()},
    }
