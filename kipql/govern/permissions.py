"""The names of permissions (specification §29), and the roles of the single-agent preset (§30.5).

A name that nothing would ask for is refused where a grant names it (§29.6): authority that looks conferred and
is not shows during an incident. The extended names exist where the capability that gates them is supported.
"""

from collections.abc import Collection, Iterable, Mapping

from kipql.errors import KipError
from kipql.lang.words import near
from kipql.values import json_type

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "Discovery / Read": ("discover", "read", "search", "project"),
    "Cognitive Mutation": ("create", "update"),
    "Epistemic Mutation": (
        "assert", "record_attributed_assertion", "assert_as_actor", "retract_own", "supersede_own",
    ),
    "Identity": ("merge_identity",),
    "Maintenance": ("maintain", "manage_retention", "manage_legal_hold"),
    "Sharing": ("export", "import"),
    "Lifecycle": ("archive", "tombstone", "purge"),
    "Schema": ("manage_schema",),
    "Governance": (
        "manage_policy", "manage_grants", "manage_delegation", "manage_actor_binding", "quarantine", "declassify",
        "approve",
    ),
    "Authority": ("elevate_authority",),
    "Audit": ("read_audit", "read_history", "read_raw_origin"),
}  # fmt: skip
"""The Core permissions by family."""

CORE = frozenset(name for names in FAMILIES.values() for name in names)
EXTENDED: Mapping[str, str] = {
    "derive": "derive_permission",
    "record_outcome": "record_outcome_permission",
    "repair_recording": "recording_repair",
    "manage_trust": "weighted_projection",
    "propose_schema": "draft_vocabulary",
}
"""The extended permissions with the capability that gates each (§67.4)."""

PERMISSIONS = CORE | EXTENDED.keys()

_READING = ("discover", "read", "search", "project")
AGENT = (
    *_READING, "create", "update", "assert", "record_attributed_assertion", "retract_own", "supersede_own", "archive",
    "export", "propose_schema", "repair_recording",
)  # fmt: skip
MAINTENANCE = (
    *_READING, "create", "update", "assert", "maintain", "merge_identity", "manage_retention", "tombstone",
    "read_history", "read_audit", "derive",
)  # fmt: skip
INSTRUMENT = ("discover", "read", "create", "record_outcome")
PRESET: Mapping[str, tuple[str, ...]] = {
    "agent": AGENT,
    "maintenance": MAINTENANCE,
    "instrument": INSTRUMENT,
    "owner": tuple(sorted(PERMISSIONS)),
}
"""The roles of §30.5 by name."""


def offered(supported: Collection[str]) -> frozenset[str]:
    """The names that may be granted where these capabilities are supported."""
    return CORE | {name for name, capability in EXTENDED.items() if capability in supported}


def texts(names: object) -> list[str]:
    """A list of names, as it was given. Raises TypeMismatch."""
    if not isinstance(names, Iterable) or isinstance(names, str | bytes | Mapping):
        raise KipError("TypeMismatch", f"permissions are a list of names, not {json_type(names)}")
    found = list(names)
    for name in found:
        if not isinstance(name, str):
            hint = "name them one by one: 'discover', 'read'"
            raise KipError("TypeMismatch", f"a permission is a name, not {json_type(name)}", hint=hint)
    return found


def checked(names: Iterable[str], allowed: Collection[str]) -> frozenset[str]:
    """The names, each known and asked for by something. Raises ConstraintViolation, TypeMismatch for what is no list of
    names."""
    found = frozenset(texts(names))
    for name in sorted(found):
        if name in allowed:
            continue
        if name in EXTENDED:
            message = f"nothing would ask for {name!r}: the capability {EXTENDED[name]} is not supported here"
            raise KipError("ConstraintViolation", message, hint="leave it out")
        close = near(str(name), allowed)
        hint = f"did you mean {close!r}?" if close else "kipql.govern.permissions lists them (§29)"
        raise KipError("ConstraintViolation", f"there is no permission {name!r}", hint=hint)
    return found
