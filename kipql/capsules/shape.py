"""The baseline shape of a Capsule, as kip-capsule and kip-element fix it (specification §37.6, §37.7).

Nothing that the format does not name is let in: a member that one reader ignores and another obeys is how two readers
of one artifact come to disagree.
"""

import re
from collections.abc import Mapping

from kipql.capsules.artifact import DIGEST_PROFILE, FORMAT, FORMAT_VERSION
from kipql.capsules.forms import (
    Check,
    Notes,
    anything,
    array,
    integer,
    note,
    nullable,
    object_of,
    one_of,
    parsed,
    text,
    typed,
)
from kipql.model import KINDS
from kipql.schema import core
from kipql.schema.refs import CORE_REF
from kipql.times import parse_instant, parse_interval
from kipql.values import Json, json_type

_SYMBOL = re.compile(r"kip://[^@]+@[^/]+/.+", re.DOTALL)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def shape_problems(artifact: Json) -> Notes:
    """What is wrong with the shape of a decoded artifact, at most `forms.MOST` problems."""
    notes: Notes = []
    _CAPSULE(artifact, "", notes)
    return notes


_ANY_OBJECT = object_of({}, rest=anything)
_NAME = text()
_INSTANT = parsed(parse_instant)
_SEQUENCE = integer(0)
_VERSION = integer(1)
_VERSIONS = object_of({}, rest=_VERSION)
_REFERENCE = object_of({"id": _NAME}, ["id"])
_REFERENCES = array(_REFERENCE)
_DIGEST_TEXT = text(_DIGEST, what="sha256 digest")
_SYMBOL_TEXT = text(_SYMBOL, what="exact symbol ref")


def _interval(value: Json, path: str, notes: Notes) -> None:
    if not isinstance(value, Mapping):
        note(notes, path, f"it must be an object, not {json_type(value)}")
        return
    parsed(parse_interval)(value, path, notes)


def _confidence(value: Json, path: str, notes: Notes) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        note(notes, path, "it must be a number in [0, 1]")


def _term(value: Json, path: str, notes: Notes) -> None:
    if isinstance(value, Mapping):
        _REFERENCE(value, path, notes)
    elif isinstance(value, list):
        note(notes, path, "a term is a reference or a Literal, not an array")


_PAYLOADS = {
    "inline": object_of({"mode": anything, "inline": anything}, ["mode", "inline"]),
    "external": object_of({"mode": anything, "content_ref": _NAME}, ["mode", "content_ref"]),
}


def _payload(value: Json, path: str, notes: Notes) -> None:
    if isinstance(value, Mapping) and "status" in value:
        object_of({"status": one_of("purged")}, ["status"])(value, path, notes)
    elif isinstance(value, Mapping) and isinstance(value.get("mode"), str) and value["mode"] in _PAYLOADS:
        _PAYLOADS[value["mode"]](value, path, notes)
    else:
        note(notes, path, 'a payload is {mode: "inline"}, {mode: "external"} or {status: "purged"}')


# --- elements -------------------------------------------------------------------------------------------

_ORIGIN = object_of(
    {"principal_id": _NAME, "channel": _NAME, "import_id": nullable(_NAME)}, ["principal_id", "channel"]
)
_INPUT = object_of(
    {
        "supplied": _NAME, "resolved": _NAME, "decision_id": nullable(_NAME), "identity_version": _SEQUENCE,
        "path": _NAME, "op_id": _NAME,
    },
    ["supplied", "resolved", "identity_version", "path", "op_id"],
)  # fmt: skip
_REPAIR = object_of({"status": one_of("valid", "invalidated"), "repair_ref": nullable(_NAME)}, ["status", "repair_ref"])
_SYSTEM = object_of(
    {
        "version": _VERSION,
        "state": _NAME,
        "created_at": _INSTANT,
        "updated_at": _INSTANT,
        "created_tx": _NAME,
        "updated_tx": _NAME,
        "origin": _ORIGIN,
        "plane_versions": _ANY_OBJECT,
        "input_versions": _VERSIONS,
        "output_versions": _VERSIONS,
        "output_plane_versions": object_of({}, rest=object_of({}, rest=_SEQUENCE, least=1)),
        "input_references": array(_INPUT),
        "dependency_validity": _ANY_OBJECT,
        "recording_validity": _REPAIR,
        "space_seq": _SEQUENCE,
    },
    ["version", "state", "origin"],
)
_GOVERNANCE = object_of(
    {
        "classification": _NAME,
        "authority_class": one_of("descriptive", "advisory", "behavioral", "executable"),
        "policy_ref": _NAME,
    }
)
_RETENTION = object_of({"retention_class": _NAME, "expires_at": nullable(_INSTANT), "legal_hold": typed("boolean")})
_LIFECYCLE = object_of(
    {
        "status": _NAME,
        "supersedes": _REFERENCES,
        "superseded_by": _REFERENCES,
        "corrects": _REFERENCES,
        "corrected_by": _REFERENCES,
        "retracted_at": nullable(_INSTANT),
    },
    ["status"],
)
_ROLES = tuple(sorted(core.EVIDENCE_ROLES))
_COMMON: Mapping[str, Check] = {
    "id": _NAME,
    "kind": one_of(*KINDS),
    "space_id": _NAME,
    "_system": _SYSTEM,
    "governance": _GOVERNANCE,
    "retention": _RETENTION,
    "facets": object_of({}, rest=_ANY_OBJECT),
}
_ENVELOPE = ("id", "kind", "space_id", "_system")


def _element(members: Mapping[str, Check], *required: str) -> Check:
    return object_of({**_COMMON, **members}, (*_ENVELOPE, *required))


_ELEMENTS: Mapping[str, Check] = {
    "concept": _element(
        {
            "schema_ref": _SYMBOL_TEXT,
            "key": _NAME,
            "name": text(empty=True),
            "canonical_id": nullable(_NAME),
            "aliases": array(_NAME),
            "attributes": _ANY_OBJECT,
            "structural": object_of({}, rest=_REFERENCES),
            "merged_into": nullable(_REFERENCE),
        },
        "schema_ref",
    ),
    "proposition": _element(
        {"subject": _REFERENCE, "predicate_ref": _SYMBOL_TEXT, "object": _term}, "subject", "predicate_ref", "object"
    ),
    "assertion": _element(
        {
            "proposition": _REFERENCE,
            "asserted_by": _REFERENCE,
            "stance": one_of(*core.REGISTRIES["stance"]),
            "mode": one_of(*core.REGISTRIES["mode"]),
            "confidence": _confidence,
            "asserted_at": _INSTANT,
            "valid_time": _interval,
            "context_refs": _REFERENCES,
            "evidence": array(object_of({"id": _NAME, "role": one_of(*_ROLES)}, ["id", "role"])),
            "lifecycle": _LIFECYCLE,
        },
        "proposition", "asserted_by", "stance", "mode", "asserted_at", "lifecycle",
    ),
    "evidence": _element(
        {
            "evidence_class": _NAME,
            "payload": _payload,
            "content_digest": _DIGEST_TEXT,
            "media_type": _NAME,
            "observed_at": _INSTANT,
            "source": _REFERENCES,
            "generated_by": nullable(_REFERENCE),
            "lifecycle": _LIFECYCLE,
        },
        "evidence_class", "payload", "content_digest", "observed_at",
    ),
    "activity": _element(
        {
            "activity_class": _NAME,
            "status": one_of(*sorted(core.ACTIVITY_STATUSES)),
            "started_at": nullable(_INSTANT),
            "ended_at": nullable(_INSTANT),
            "parameters_digest": _DIGEST_TEXT,
            "inputs": _REFERENCES,
            "outputs": _REFERENCES,
            "associated_actors": _REFERENCES,
        },
        "activity_class", "status", "inputs", "outputs",
    ),
}  # fmt: skip


def _record(value: Json, path: str, notes: Notes) -> None:
    kind = value.get("kind") if isinstance(value, Mapping) else None
    known = _ELEMENTS.get(kind) if isinstance(kind, str) else None
    (known or object_of(_COMMON, _ENVELOPE, rest=anything))(value, path, notes)


# --- the artifact ---------------------------------------------------------------------------------------

_MANIFEST = object_of(
    {
        "kind": one_of("snapshot", "delta"),
        "closure": one_of("closed", "referential", "selective"),
        "roots": array(_NAME),
        "base_seq": _SEQUENCE,
        "target_seq": _SEQUENCE,
    },
    ["kind", "closure", "roots"],
)


def _manifest(value: Json, path: str, notes: Notes) -> None:
    _MANIFEST(value, path, notes)
    if isinstance(value, Mapping) and value.get("kind") == "delta":
        object_of({}, ["base_seq", "target_seq"], rest=anything)(value, path, notes)


def _dependency(value: Json, path: str, notes: Notes) -> None:
    object_of({"package_ref": _NAME, "content_digest": _DIGEST_TEXT}, ["package_ref"])(value, path, notes)
    if isinstance(value, Mapping) and value.get("package_ref") != CORE_REF and "content_digest" not in value:
        note(notes, path, "it has no content_digest")


_EXTERNAL = object_of(
    {
        "id": _NAME,
        "kind": one_of(
            "source_element", "canonical_identity", "semantic_locator", "external_artifact", "redacted", "unavailable"
        ),
        "locator": _ANY_OBJECT,
    },
    ["id", "kind"],
)
_CAPSULE = object_of(
    {
        "format": one_of(FORMAT),
        "format_version": one_of(FORMAT_VERSION),
        "payload": object_of(
            {
                "manifest": _manifest,
                "source": object_of({"space_id": _NAME, "snapshot_seq": _SEQUENCE}, ["space_id", "snapshot_seq"]),
                "schema_dependencies": array(_dependency),
                "records": array(_record),
                "external_refs": array(_EXTERNAL),
                "blobs": object_of({}, rest=text(empty=True)),
                "handling": _ANY_OBJECT,
                "changes": array(_ANY_OBJECT),
            },
            ["manifest", "source", "schema_dependencies", "records", "external_refs", "blobs", "handling"],
        ),
        "integrity": object_of(
            {
                "digest_profile": one_of(DIGEST_PROFILE),
                "content_digest": _DIGEST_TEXT,
                "covers": _NAME,
                "signatures": array(_ANY_OBJECT),
            },
            ["digest_profile", "content_digest"],
        ),
    },
    ["format", "format_version", "payload", "integrity"],
)
